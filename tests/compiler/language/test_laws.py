"""Laws of the language: what holds of every program, and of every program of a kind."""

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.language.data import ArrayData, Data, Hole, ObjectData, Scalar, plain
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.handlers import HANDLERS
from stateward.compiler.language.inspect import inspect
from stateward.compiler.language.loader import MemoryLoader
from stateward.compiler.language.render import show
from stateward.compiler.limits import LIMITS
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse
from stateward.compiler.syntax.tree import Expr, Import
from tests.compiler import dcdl_sources
from tests.compiler.language.evaluated import Evaluated, evaluated, evaluation_of, kinds
from tests.compiler.language.programs import Tree, circles, constraints, objects, over_one_skeleton, trees, values, written

TIGHT = replace(LIMITS, steps=5_000, nodes=500, items=1_000)
any_texts = st.one_of(dcdl_sources.sources(), dcdl_sources.damaged_sources(), dcdl_sources.token_soups(), circles)


def begun(text: str) -> Evaluation:
    source = Source.from_text("main.dcdl", text)
    return Evaluation(source, parse(source).module, loader=MemoryLoader({"main.dcdl": text, "a": "1", "x": "{"}), limits=TIGHT)


def essence(diagnostic: Diagnostic) -> tuple[object, ...]:
    span = diagnostic.primary.place.span
    return diagnostic.code, diagnostic.kind, diagnostic.message, span.start, span.end, diagnostic.path, len(diagnostic.secondary)


def outline(data: Data) -> list[object]:
    """Give data flat, in the order of a walk: as deep as values may be nested, no test may recurse."""
    flat: list[object] = []
    waiting = [data]
    while waiting:
        each = waiting.pop()
        match each:
            case ObjectData(fields=fields):
                flat.append(list(fields))
                waiting += (field.value for field in fields.values())
            case ArrayData(items=items):
                flat.append(len(items))
                waiting += items
            case Hole():
                flat.append("a hole")
            case Scalar():
                flat.append((type(each.value).__name__, each.value))
    return flat


def test_every_expression_of_the_tree_can_be_evaluated() -> None:
    assert set(get_args(Expr)) == {*HANDLERS, Import}


@given(any_texts)
@settings(max_examples=100)
def test_whatever_a_text_holds_its_evaluation_is_total_and_repeatable(text: str) -> None:
    evaluation, other = begun(text), begun(text)
    data, found = outline(evaluation.data(evaluation.root)), [essence(each) for each in evaluation.diagnostics]
    assert (data, found) == (outline(other.data(other.root)), [essence(each) for each in other.diagnostics])
    again = outline(evaluation.data(evaluation.root))
    # What is asked for again is paid for again, so that a limit may end it sooner.
    is_spent = any(each.kind == "limit" for each in evaluation.diagnostics)
    assert is_spent or (data, len(found)) == (again, len(evaluation.diagnostics))
    labels = [label for each in evaluation.diagnostics for label in (each.primary, *each.secondary)]
    assert all(label.place.span.end <= len(label.place.source.text) for label in labels)


@given(dcdl_sources.sources())
@settings(max_examples=50)
def test_a_sound_text_has_a_hole_only_where_something_was_reported(text: str) -> None:
    evaluation = begun(text)
    holes = "a hole" in repr(outline(evaluation.data(evaluation.root)))
    assert evaluation.diagnostics or not holes


@given(any_texts)
@settings(max_examples=50)
def test_the_static_pass_and_the_printer_never_raise(text: str) -> None:
    source = Source.from_text("main.dcdl", text)
    inspect(source, parse(source).module)
    show(begun(text))


# Order and merging ------------------------------------------------------------------------------------------------------------------


def value_of(text: str) -> object:
    return evaluated(text).value


def in_order(value: object) -> object:
    """Make the order of fields count."""
    return [(name, in_order(below)) for name, below in value.items()] if isinstance(value, Mapping) else value


def merged(left: Tree, right: Tree) -> Tree:
    if isinstance(left, int) or isinstance(right, int):
        return right
    both = {name: merged(below, right[name]) if name in right else below for name, below in left.items()}
    return {**both, **{name: below for name, below in right.items() if name not in left}}


@given(objects, objects)
def test_a_merge_has_the_fields_of_the_left_side_first(left: dict[str, Tree], right: dict[str, Tree]) -> None:
    assert in_order(merged(left, right)) == in_order(value_of(f"{written(left)} // {written(right)}"))


@given(objects)
def test_a_union_has_the_fields_of_the_left_side_first(tree: dict[str, Tree]) -> None:
    names = list(tree)
    left = {name: tree[name] for name in names[: len(names) * 2 // 3]}
    right = {name: tree[name] for name in reversed(names[len(names) // 3 :])}
    assert in_order(merged(left, right)) == in_order(value_of(f"{written(left)} & {written(right)}"))


@given(objects, st.integers(0, 4))
def test_a_refinement_has_the_fields_of_the_left_side_first_then_what_it_lacked(tree: dict[str, Tree], kept: int) -> None:
    left = {name: tree[name] for name in list(tree)[kept:]}
    demanded = dict(reversed(tree.items()))
    assert in_order({**left, **demanded} | left) == in_order(value_of(f"{written(left)} as {written(demanded)}"))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), unique=True, max_size=9))
def test_dotted_keys_stand_in_the_order_in_which_they_are_first_mentioned(paths: list[tuple[str, str]]) -> None:
    expected: dict[str, dict[str, int]] = {}
    for first, second in paths:
        expected.setdefault(first, {})[second] = 1
    text = "{" + "".join(f"{first}.{second} = 1; " for first, second in paths) + "}"
    assert in_order(expected) == in_order(value_of(text))


@given(over_one_skeleton())
def test_merging_is_associative_where_objects_meet_objects(three: tuple[dict[str, Tree], ...]) -> None:
    first, second, third = (written(each) for each in three)
    left = value_of(f"({first} // {second}) // {third}")
    assert in_order(left) == in_order(value_of(f"{first} // ({second} // {third})"))


@given(trees)
def test_merging_a_value_over_itself_changes_nothing(tree: Tree) -> None:
    assert value_of(written(tree)) == value_of(f"{written(tree)} // {written(tree)}")


@given(trees)
def test_every_value_is_as_itself(tree: Tree) -> None:
    assert value_of(written(tree)) == value_of(f"{written(tree)} as {written(tree)}")
    assert 1 == value_of(f"match {written(tree)} {{ {written(tree)}: 1; _: 2; }}")


# Composition ------------------------------------------------------------------------------------------------------------------------


def printed(text: str) -> tuple[str, set[str | None]]:
    """Give a constraint as canonical text with its fields sorted, and the kinds of its faults."""
    evaluation = evaluation_of(text)
    text = show(evaluation)
    return "\n".join(sorted(text.split("\n"))), {each.kind for each in evaluation.diagnostics}


def outcome(text: str) -> tuple[object, set[str | None]]:
    found: Evaluated = evaluated(text)
    sound = not found.diagnostics
    return (plain(found.data) if sound else None), set(kinds(found)) - {"materialize"}


@given(constraints, constraints)
def test_composing_constraints_is_commutative(left: str, right: str) -> None:
    assert printed(f"{left} & {right}") == printed(f"{right} & {left}")


@given(constraints)
def test_composing_a_constraint_with_itself_changes_nothing(constraint: str) -> None:
    assert printed(constraint) == printed(f"{constraint} & {constraint}")
    assert printed(constraint) == printed(f"let c = {constraint}; in c & c")


@given(constraints, values)
def test_composing_a_constraint_with_a_value_is_commutative(constraint: str, value: str) -> None:
    assert outcome(f"{constraint} & {value}") == outcome(f"{value} & {constraint}")


@given(constraints, constraints, values)
def test_a_value_meets_both_constraints_whatever_their_order(left: str, right: str, value: str) -> None:
    assert outcome(f"{value} & ({left} & {right})")[0] == outcome(f"{value} & ({right} & {left})")[0]


@given(constraints, values)
def test_a_pattern_fits_exactly_where_refining_is_accepted(constraint: str, value: str) -> None:
    refined = evaluated(f"let v = {value} as {constraint}; in match v {{ _: 1; }}")
    matched = evaluated(f"match {value} {{ {constraint}: 1; _: 2; }}")
    if matched.diagnostics:  # a constraint that nothing can meet is told in both cases
        assert refined.diagnostics
    else:
        assert (matched.value == 1) == (not refined.diagnostics)
