"""What a guard comes to: Kleene's tables, exact numbers, and never a failure."""

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.predicates.constraints import Bounded, Family, OfType
from stateward.compiler.predicates.guards import (
    And,
    Bag,
    Compare,
    Compute,
    Fits,
    Guard,
    If,
    Lit,
    Not,
    Or,
    Ref,
    evaluate,
    holds,
    missing_in,
    parts_of,
    references,
)
from stateward.compiler.predicates.schema import AllOf, Plain, Schema
from tests.compiler.predicates.closed_trees import GUARDS, VALUES

A, B = Ref(("vars", "a")), Ref(("vars", "b"))
TRUTHS = (True, False, None)
NOTHING = Bag({}, {}, {})


def bag(**values: "Plain | None") -> Bag:
    return Bag({name: value for name, value in values.items() if value is not None}, {}, {})


@pytest.mark.parametrize(("left", "right"), list(product(TRUTHS, TRUTHS)))
def test_and_and_or_are_kleenes(left: bool | None, right: bool | None) -> None:
    known = bag(a=left, b=right)
    either = {left, right}
    assert (False if False in either else None if None in either else True) is holds(And((A, B)), known)
    assert (True if True in either else None if None in either else False) is holds(Or((A, B)), known)


@pytest.mark.parametrize(("given_", "expected"), [(True, False), (False, True), (None, None)])
def test_not_leaves_open_what_is_open(given_: bool | None, expected: bool | None) -> None:
    assert expected is holds(Not(A), bag(a=given_))


@pytest.mark.parametrize(
    ("sign", "left", "right", "expected"),
    [
        ("==", 1, 1.0, True),
        ("==", 2**53 + 1, float(2**53), False),
        ("<", 2**53, 2.0**53, False),
        ("<", float(2**53), 2**53 + 1, True),
        ("!=", "a", "b", True),
        ("==", True, True, True),
        ("==", True, 1, None),
        ("==", "1", 1, None),
        ("<", "a", "b", None),
        ("<", False, True, None),
        (">=", 3, 3, True),
        ("==", None, 1, None),
        ("!=", None, None, None),
    ],
)
def test_numbers_compare_exactly_and_other_pairs_not_at_all(
    sign: str, left: "Plain | None", right: "Plain | None", expected: bool | None
) -> None:
    assert expected is holds(Compare(sign, A, B), bag(a=left, b=right))


@pytest.mark.parametrize(
    ("sign", "left", "right", "expected"),
    [
        ("+", 1, 2, 3),
        ("+", 1, 0.5, 1.5),
        ("*", 2**62, 2, None),
        ("*", -(2**62), 2, -(2**63)),
        ("-", -(2**63) + 1, 2, None),
        ("*", 1e308, 10, None),
        ("+", 10**400, 0.5, None),
        ("+", True, 1, None),
        ("+", "a", "b", None),
        ("-", 1, None, None),
    ],
)
def test_a_number_that_nothing_can_hold_is_no_answer(
    sign: str, left: "Plain | None", right: "Plain | None", expected: "Plain | None"
) -> None:
    assert expected == evaluate(Compute(sign, A, B), bag(a=left, b=right))


def test_what_a_guard_reads_where_nothing_was_written() -> None:
    schema: Schema = AllOf((OfType(Family.INT), Bounded("<", 3)))
    guard = If(Ref(("known", "a")), Fits(A, schema), Lit(value=False))
    assert False is holds(guard, NOTHING)
    assert True is holds(guard, bag(a=2))
    assert None is holds(Fits(A, schema), NOTHING)
    assert 0 == evaluate(Ref(("visits", "never")), NOTHING)
    assert None is holds(If(A, Lit(value=True), Lit(value=True)), NOTHING)
    assert (A,) == missing_in(guard, NOTHING)


def test_a_field_of_what_is_no_object_is_nothing() -> None:
    deep = Ref(("vars", "a", "b", "c"))
    assert "x" == evaluate(deep, bag(a={"b": {"c": "x"}}))
    assert None is evaluate(deep, bag(a={"b": 1}))
    assert None is evaluate(deep, bag(a=[1]))


BAGS = st.builds(
    Bag,
    st.dictionaries(st.sampled_from(["a", "b", "r"]), VALUES, max_size=3),
    st.dictionaries(st.just("i"), VALUES),
    st.dictionaries(st.just("work"), st.integers(0, 9)),
    st.booleans(),
)


@given(GUARDS, BAGS)
def test_every_guard_comes_to_something_or_to_nothing_and_never_fails(guard: Guard, known: Bag) -> None:
    assert holds(guard, known) in TRUTHS


@given(GUARDS, BAGS, st.randoms(use_true_random=False))
def test_the_order_of_a_bag_changes_nothing(guard: Guard, known: Bag, random: Random) -> None:
    names = list(known.variables)
    random.shuffle(names)
    other = Bag({name: known.variables[name] for name in names}, known.inputs, known.visits, known.exceeded)
    assert repr(evaluate(guard, known)) == repr(evaluate(guard, other))


@given(GUARDS, BAGS)
def test_more_knowledge_never_turns_an_answer_round(guard: Guard, known: Bag) -> None:
    """What is decided while something is missing stays decided, but for `known`, which asks just that."""
    if not any(isinstance(each, Ref) and each.path[0] == "known" for each in parts_of(guard)):
        before = holds(guard, Bag({}, {}, known.visits, known.exceeded))
        assert before is None or before is holds(guard, known)


@given(GUARDS)
def test_references_are_those_of_all_parts(guard: Guard) -> None:
    assert set(references(guard)) == {each for each in parts_of(guard) if isinstance(each, Ref)}
