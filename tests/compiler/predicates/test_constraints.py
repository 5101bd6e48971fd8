"""The constraint tree: whether a value fits, what excludes what, what implies what."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.predicates.constraints import (
    INT_MAX,
    INT_MIN,
    SCALARS,
    Anything,
    Atom,
    Bounded,
    Clash,
    ElementsOf,
    EntriesOf,
    Family,
    Fit,
    HostCheck,
    Matching,
    OfType,
    clashing,
    essential,
    fits,
    implies,
)
from stateward.compiler.predicates.patterns import fault_of, matches

SIGNS = ("<", "<=", ">", ">=")
numbers = st.one_of(st.integers(INT_MIN, INT_MAX), st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3))
bounds = st.builds(Bounded, st.sampled_from(SIGNS), numbers)
whole_bounds = st.builds(Bounded, st.sampled_from(SIGNS), st.integers(-6, 6))
scalars = st.one_of(numbers, st.booleans(), st.sampled_from(["", "a", "ab", "b"]))
atoms: st.SearchStrategy[Atom[int]] = st.one_of(
    st.just(Anything()),
    st.sampled_from([OfType(family) for family in (Family.INT, Family.FLOAT, Family.STRING, Family.BOOL)]),
    bounds,
    st.sampled_from([Matching("^a"), Matching("b$")]),
)


def fit(atom: Atom[int], value: object) -> bool:
    return fits(atom, SCALARS[type(value)], value) is Fit.YES


def fit_all(several: list[Atom[int]], value: object) -> bool:
    return all(fit(atom, value) for atom in several)


@pytest.mark.parametrize(
    ("atom", "value", "expected"),
    [
        (OfType(Family.INT), 1, Fit.YES),
        (OfType(Family.INT), True, Fit.WRONG_FAMILY),
        (OfType(Family.INT), 1.0, Fit.WRONG_FAMILY),
        (OfType(Family.BOOL), True, Fit.YES),
        (Bounded(">", 3), True, Fit.WRONG_FAMILY),
        (Bounded(">", 3), 4.5, Fit.YES),
        (Bounded(">", 3), 3, Fit.OUTSIDE),
        (Bounded("<=", 9007199254740992.0), 9007199254740993, Fit.OUTSIDE),
        (Matching("^a"), "ab", Fit.YES),
        (Matching("^a"), "ba", Fit.NO_MATCH),
        (Matching("^a"), 1, Fit.WRONG_FAMILY),
        (HostCheck("Email"), "a@b", Fit.UNKNOWN),
        (Anything(), "a", Fit.YES),
    ],
)
def test_a_scalar_fits_or_not_for_one_reason(atom: Atom[int], value: object, expected: Fit) -> None:
    assert expected is fits(atom, SCALARS[type(value)], value)


def test_arrays_and_objects_are_judged_by_family() -> None:
    assert Fit.YES is fits(ElementsOf(0), Family.ARRAY, None)
    assert Fit.WRONG_FAMILY is fits(ElementsOf(0), Family.OBJECT, None)
    assert Fit.YES is fits(EntriesOf(0), Family.OBJECT, None)
    assert Fit.WRONG_FAMILY is fits(OfType(Family.INT), Family.ABSTRACT, None)


@pytest.mark.parametrize(
    ("several", "reason"),
    [
        ([OfType(Family.INT), OfType(Family.STRING)], Clash.FAMILIES),
        ([OfType(Family.INT), Matching("a")], Clash.FAMILIES),
        ([ElementsOf(0), EntriesOf(0)], Clash.FAMILIES),
        ([OfType(Family.BOOL), Bounded(">", 3)], Clash.RANGE_OF_NO_NUMBER),
        ([Bounded(">", 3), Matching("a")], Clash.RANGE_OF_NO_NUMBER),
        ([Bounded(">", 3.5), OfType(Family.INT)], Clash.FRACTION),
        ([Bounded(">", 3), Bounded("<", 3)], Clash.EMPTY),
        ([Bounded(">", 3), Bounded("<=", 3)], Clash.EMPTY),
        ([Bounded(">", 3), OfType(Family.INT), Bounded("<", 4)], Clash.EMPTY),
        ([OfType(Family.INT), Bounded(">", INT_MAX)], Clash.EMPTY),
        ([OfType(Family.INT), Bounded("<", INT_MIN)], Clash.EMPTY),
    ],
)
def test_what_no_value_meets_is_a_clash(several: list[Atom[int]], reason: Clash) -> None:
    found = clashing(several)
    assert found is not None
    assert reason is found.reason


@pytest.mark.parametrize(
    "several",
    [
        [Bounded(">=", 3), Bounded("<=", 3)],
        [Bounded(">", 3), Bounded("<", 4)],
        [OfType(Family.FLOAT), Bounded(">", 3), Bounded("<", 4)],
        [OfType(Family.INT), Bounded(">=", INT_MAX)],
        [OfType(Family.INT), Bounded(">", 3.0)],
        [HostCheck("Even"), OfType(Family.INT), Anything()],
        [OfType(Family.STRING), Matching("a"), Matching("b")],
    ],
)
def test_what_some_value_may_meet_is_no_clash(several: list[Atom[int]]) -> None:
    assert clashing(several) is None


@given(st.lists(atoms, min_size=1, max_size=5), scalars)
def test_a_value_that_fits_all_shows_that_there_is_no_clash(several: list[Atom[int]], value: object) -> None:
    fitting = [atom for atom in several if fit(atom, value)]
    found = clashing(fitting)
    assert found is None or found.reason is Clash.FRACTION


@given(st.lists(atoms, min_size=1, max_size=5))
def test_a_clash_does_not_depend_on_the_order(several: list[Atom[int]]) -> None:
    first, second = clashing(several), clashing(several[::-1])
    assert (first is None) == (second is None)


@given(st.lists(whole_bounds, min_size=1, max_size=4))
def test_an_int_range_clashes_exactly_when_no_whole_number_is_left(several: list[Bounded]) -> None:
    left = [number for number in range(-10, 11) if fit_all([*several], number)]
    demands: list[Atom[int]] = [OfType(Family.INT), *several]
    assert (clashing(demands) is None) == bool(left)


@given(st.lists(atoms, min_size=1, max_size=6), scalars)
def test_leaving_out_what_says_nothing_new_changes_nothing(several: list[Atom[int]], value: object) -> None:
    kept = [several[at] for at in essential(several)]
    assert fit_all(several, value) == fit_all(kept, value)


@given(st.lists(atoms, min_size=1, max_size=6))
def test_what_is_kept_is_all_needed(several: list[Atom[int]]) -> None:
    kept = [several[at] for at in essential(several)]
    assert list(range(len(kept))) == essential(kept)


@given(st.lists(atoms, min_size=1, max_size=4), atoms, scalars)
def test_what_is_implied_holds(several: list[Atom[int]], wanted: Atom[int], value: object) -> None:
    fitting = [atom for atom in several if fit(atom, value)]
    assert fit(wanted, value) or not implies(fitting, wanted)


@pytest.mark.parametrize(
    ("several", "wanted", "expected"),
    [
        ([OfType(Family.INT), Bounded(">", 3)], Bounded(">=", 4), True),
        ([Bounded(">", 3)], Bounded(">=", 4), False),
        ([Bounded(">", 3)], Bounded(">", 3), True),
        ([Bounded(">=", 3)], Bounded(">", 3), False),
        ([Matching("a")], OfType(Family.STRING), True),
        ([OfType(Family.STRING)], Matching("a"), False),
        ([Anything()], OfType(Family.INT), False),
        ([HostCheck("Even")], HostCheck("Even"), True),
        ([ElementsOf(1)], ElementsOf(2), True),
        ([ElementsOf(1)], EntriesOf(2), False),
    ],
)
def test_one_demand_implies_another_or_not(several: list[Atom[int]], wanted: Atom[int], expected: bool) -> None:
    assert expected == implies(several, wanted)


def test_a_pattern_is_searched_for_anywhere_and_counts_characters() -> None:
    assert matches("b", "abc")
    assert matches("^.$", "😀")
    assert not matches("^b", "abc")


@pytest.mark.parametrize("pattern", ["(?=a)", "a(", r"(a)\1", "[z-a]", "a**", "(a{1000}){1000}", "(" * 2_000])
def test_a_pattern_that_cannot_be_read_says_why(pattern: str) -> None:
    assert fault_of(pattern)


def test_a_pattern_that_others_choke_on_is_linear() -> None:
    assert not matches("^(a|aa)+$", "a" * 100_000 + "X")


def test_the_library_of_patterns_is_loaded_at_the_first_pattern() -> None:
    program = (
        "import sys; from stateward.compiler.language.evaluation import Evaluation; from stateward.compiler.source import Source; "
        "from stateward.compiler.syntax.parser import parse; source = Source.from_text('m', sys.argv[1]); "
        "evaluation = Evaluation(source, parse(source).module); evaluation.data(evaluation.root); print('re2' in sys.modules)"
    )
    for text, expected in (("1 as Int", "False"), ('"a" as /a/', "True")):
        ran = subprocess.run([sys.executable, "-c", program, text], check=True, capture_output=True, text=True)
        assert expected == ran.stdout.strip()


@pytest.mark.parametrize("sign", SIGNS)
def test_of_equal_bounds_the_int_is_kept_in_either_order(sign: str) -> None:
    whole, fraction = Bounded(sign, 2), Bounded(sign, 2.0)
    assert ([0], [1]) == (essential([whole, fraction]), essential([fraction, whole]))
