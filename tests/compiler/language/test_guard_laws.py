"""What a guard comes to: the same as the truth tables say, and the same as the language says where nothing is missing."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stateward.compiler.language.data import Scalar
from stateward.compiler.predicates.forms import guard_data, read_guard
from stateward.compiler.predicates.guards import NODES_MAX, Bag, evaluate, parts_of
from stateward.compiler.predicates.schema import Plain
from tests.compiler.language.evaluated import evaluated
from tests.compiler.language.guarded import Declarations, declared, typed
from tests.compiler.language.kleene import DOMAINS, Guarded, Known, bags, guards

TYPES = Declarations(
    declared(
        "flag = Bool; other = Bool; count = Int; few = Int & >= 0 & <= 2; rate = Float; text = String; size = String & /^(small|large)$/;"
    )
)

ANY = Declarations(declared("any = Unknown;"))


def bag_of(known: Known) -> Bag:
    return Bag({name: value for name, value in known.items() if value is not None}, {}, {})


@given(guards, st.lists(bags, min_size=1, max_size=8))
def test_a_guard_comes_to_what_the_truth_tables_say(guarded: Guarded, many: list[Known]) -> None:
    guard, evaluation = typed(guarded.text, TYPES)
    assume(not {"limit", "conflict"} & {each.kind for each in evaluation.diagnostics})  # too large, or a constant beyond the numbers
    assert [] == evaluation.diagnostics
    assert guard is not None
    assert NODES_MAX >= sum(1 for _ in parts_of(guard))
    assert [guarded.read(known) for known in many] == [evaluate(guard, bag_of(known)) for known in many]


@given(guards)
def test_a_guard_is_read_back_as_it_was_written(guarded: Guarded) -> None:
    guard, _ = typed(guarded.text, TYPES)
    assume(guard is not None)
    assert guard is not None
    assert guard == read_guard(guard_data(guard))


@given(guards, bags)
def test_a_guard_comes_to_what_the_language_says_where_nothing_is_missing(guarded: Guarded, known: Known) -> None:
    given_values = {name: value if value is not None else DOMAINS[name][0] for name, value in known.items()}
    guard, _ = typed(guarded.text, TYPES)
    assume(guard is not None)
    assert guard is not None
    fields = "".join(f"{name} = {_written(value)}; " for name, value in given_values.items())
    names = "".join(f"{name} = true; " for name in given_values)
    found = evaluated(f"let vars = {{ {fields} }}; known = {{ {names} }}; in {guarded.text}")
    expected = evaluate(guard, bag_of(given_values))
    if expected is None:
        assert {"conflict"} == {each.kind for each in found.diagnostics}, "the result lies beyond the numbers"
    else:
        assert isinstance(found.data, Scalar) or {"conflict"} == {each.kind for each in found.diagnostics}
        assert not isinstance(found.data, Scalar) or expected == found.data.value


def _written(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case _:
            return str(value)


_VALUES: "dict[str, Plain]" = {
    "true": True,
    "1": 1,
    "2.0": 2.0,
    "1.5": 1.5,
    '"a"': "a",
    "[]": [],
    "[1]": [1],
    '[1, "a"]': [1, "a"],
    "{}": {},
    "{ a = 1; }": {"a": 1},
    "{ a = 1; b = true; }": {"a": 1, "b": True},
}
_PATTERNS = (
    "true", "1", "2", "2.0", '"a"', "Bool", "Int", "Float", "String", "Unknown", "> 1", "Int & >= 1 & < 2", "/a/", "[...Int]", "[]",
    "[Int]", "[Int, String]", "{...Int}", "{...Unknown}", "{}", "{ a = Int; }", "{ a = 1; ...Bool }", "{ a = Int; b = Bool default true; }",
)  # fmt: skip
DIFFERENT = {("1", "Float"), ("{}", "{ a = Int; }"), ("{}", "{ a = 1; ...Bool }"), ("{}", "{ a = Int; b = Bool default true; }")}
"""Where a value from JSON fits otherwise than one of the language: an Int where a Float is wanted, an object that lacks a field."""


@pytest.mark.parametrize("pattern", _PATTERNS)
def test_a_value_fits_the_same_patterns_at_run_time_as_in_the_language(pattern: str) -> None:
    guard, evaluation = typed(f"match vars.any {{ {pattern}: true; _: false; }}", ANY)
    assert guard is not None, evaluation.diagnostics
    found = {written: evaluated(f"match {written} {{ {pattern}: true; _: false; }}").value for written in _VALUES}
    asked = {written: evaluate(guard, Bag({"any": value}, {}, {})) for written, value in _VALUES.items()}
    assert {written for written, each in DIFFERENT if each == pattern} == {
        written for written in _VALUES if found[written] != asked[written]
    }
    assert evaluate(guard, Bag({}, {}, {})) is None
