"""How much the analysis looks at, and which values stand for all."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.flow.analysis.analyse import analyse
from stateward.compiler.flow.analysis.domains import POINTS_MAX, Domain, Setting
from stateward.compiler.flow.analysis.tables import ROWS_MAX, SEARCH_MAX, STEPS_MAX, Budget, Demand, Exhausted, chosen, table_of
from stateward.compiler.flow.analysis.values import Question, every_value, representatives
from stateward.compiler.flow.analysis.ways import look_at
from stateward.compiler.predicates.constraints import Anything, Bounded, ElementsOf, HostCheck, Matching
from stateward.compiler.predicates.declarations import Declaration
from stateward.compiler.predicates.guards import And, Lit, Or
from stateward.compiler.predicates.schema import INT_EXACT_MAX, AllOf, Exactly, Member, Plain, RecordOf, Schema, misfit
from tests.compiler.flow.analysis.flows import BOOL, FLOAT, INT, STRING, State, WayOut, compare, flow, ints, one_of, ref

NOTHING = Question(frozenset(), frozenset(), 1, is_loose=False)


def asked(*numbers: float, texts: str = "", rank: int = 1, loose: bool = False) -> Question:
    return Question(frozenset(numbers), frozenset(texts), rank, loose)


@pytest.mark.parametrize(
    ("schema", "question", "expected"),
    [
        (BOOL, NOTHING, (False, True)),
        (INT, NOTHING, (0,)),
        (INT, asked(3), (2, 3, 4)),
        (INT, asked(3.5), (2, 3, 4, 5)),
        (ints(0, 10), asked(3), (0, 1, 3, 4, 10)),
        (ints(0, 10), asked(3, rank=2), (0, 1, 2, 3, 4, 5, 10)),
        (ints(0, 3), asked(loose=True), (0, 1, 2, 3)),
        (INT, asked(2**60), (INT_EXACT_MAX,)),
        (INT, asked(-(2**60)), (-INT_EXACT_MAX,)),
        (FLOAT, asked(1.0), (0.0, 1.0, 2.0)),
        (FLOAT, asked(1, 3), (0.0, 1.0, 2.0, 3.0, 4.0)),
        (FLOAT, asked(1.0, math.nextafter(1.0, 2)), (0.0, 1.0, math.nextafter(1.0, 2), 2.0)),
        (STRING, asked(texts="x"), ("x", "other")),
        (STRING, asked(texts="x", rank=2), ("x", "other", "another")),
        (one_of("a", "b", "c"), asked(texts="b"), ("b", "a")),
        (AllOf((Matching("^[a-z]$"),)), asked(texts="b"), ("b", "a")),
        (Exactly("a"), NOTHING, ("a",)),
        (Exactly(2), asked(5), (2,)),
        (Exactly(True), NOTHING, (True,)),
        (AllOf((Bounded(">", 2),)), NOTHING, (3, 3.0)),
        (AllOf((Anything(),)), NOTHING, (False, True, 0, 0.0, "other", [], {})),
    ],
)
def test_few_values_stand_for_all(schema: Schema, question: Question, expected: tuple[Plain, ...]) -> None:
    values, exact = representatives(schema, question)
    assert [(type(each), each) for each in expected] == [(type(each), each) for each in values]
    assert exact


@pytest.mark.parametrize(
    ("schema", "question"),
    [
        (AllOf((Matching("^only this one.$"),)), NOTHING),
        (AllOf((HostCheck("Email"),)), NOTHING),
        (INT, asked(loose=True)),
        (FLOAT, asked(loose=True)),
        (STRING, asked(loose=True)),
        (RecordOf((Member("a", INT),)), NOTHING),
    ],
)
def test_values_that_may_not_stand_for_all_say_so(schema: Schema, question: Question) -> None:
    assert not representatives(schema, question).exact


@pytest.mark.parametrize("schema", [INT, FLOAT, STRING, ints(0, 1_000), AllOf((ElementsOf(INT),)), AllOf((Anything(),))])
def test_what_has_too_many_values_is_not_enumerated(schema: Schema) -> None:
    assert every_value(schema) is None


@given(
    st.sets(st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False), max_size=4),
    st.integers(1, 3),
    st.sampled_from([INT, FLOAT, ints(-5, 5)]),
)
def test_between_two_numbers_that_are_named_there_is_a_value_wherever_there_can_be_one(
    numbers: set[float], rank: int, schema: Schema
) -> None:
    values = representatives(schema, Question(frozenset(numbers), frozenset(), rank, is_loose=False)).values
    assert all(misfit(schema, each) is None for each in values)
    for candidate in [*numbers, *(math.nextafter(float(each), side) for each in numbers for side in (-math.inf, math.inf))]:
        own = int(candidate) if schema is not FLOAT and float(candidate).is_integer() else float(candidate)
        if misfit(schema, own) is None and math.isfinite(own) and (schema is FLOAT) == isinstance(own, float):
            assert any(all((own < each, own == each) == (value < each, value == each) for each in numbers) for value in values)  # type: ignore[operator]


def _table_of(guard: Or | And, variables: dict[str, Declaration], budget: Budget) -> object:
    setting = Setting(variables, {}, "work", {}, frozenset())
    return table_of(guard, Domain([guard], setting), budget)


def test_a_table_has_no_more_rows_than_may_be() -> None:
    variables = {f"v{at}": Declaration(f"v{at}", BOOL, default=False) for at in range(15)}
    small, large = (Or(tuple(ref(f"vars.v{at}") for at in range(number))) for number in (14, 15))
    assert 2**14 <= ROWS_MAX < 2**15
    assert _table_of(small, variables, Budget(nodes=10**6)) is not None
    assert _table_of(large, variables, Budget(nodes=10**6)) is None


def test_a_large_guard_leaves_something_to_the_others() -> None:
    variables = {f"v{at}": Declaration(f"v{at}", BOOL, default=False) for at in range(13)}
    large, budget = Or(tuple(ref(f"vars.v{at}") for at in range(13))), Budget()
    tables = [_table_of(large, variables, budget) for _ in range(4)]
    assert [True, True, False, False] == [table is not None for table in tables]
    assert _table_of(Or((ref("vars.v0"), ref("vars.v1"))), variables, budget) is not None


def test_an_axis_has_no_more_points_than_may_be() -> None:
    guard = Or(tuple(compare("vars.n", "==", at) for at in range(60)))
    assert _table_of(guard, {"n": Declaration("n", INT, 0)}, Budget()) is not None
    assert 66 < POINTS_MAX < 66**2
    for number, expected in ((1, True), (2, False)):
        names = [f"f{at}" for at in range(number)]
        record = RecordOf(tuple(Member(name, INT) for name in names))
        several = Or(tuple(compare(f"vars.r.{name}", "==", at) for name in names for at in range(66)))
        assert expected == (_table_of(several, {"r": Declaration("r", record, {})}, Budget()) is not None)


def test_what_costs_more_than_is_left_is_left_alone() -> None:
    guard = compare("vars.n", ">=", 0)
    given_ = flow({"work": State(WayOut("go", "work", guard, judged=True))}, {"n": (ints(0, 3), 0)})
    variables = {each.name: each.declaration for each in given_.variables if each.declaration is not None}
    setting = Setting(variables, {}, "work", {}, frozenset())
    assert look_at(given_.states[0], setting, Budget()).ways[0].always
    assert not look_at(given_.states[0], setting, Budget(nodes=1)).ways[0].always
    first = flow({"work": State(WayOut("a", "work", guard), WayOut("b", "work", guard), first=True)}, {"n": (ints(0, 3), 0)})
    assert look_at(first.states[0], setting, Budget()).ways[1].hidden_by
    assert not look_at(first.states[0], setting, Budget(steps=0)).ways[1].hidden_by


def test_a_search_ends_with_its_budget() -> None:
    wide = [Demand((f"a{at}", f"a{at + 1}"), [(one, other) for one in range(9) for other in range(9)]) for at in range(8)]
    never = Demand(("a0", "a8"), [(0, 99)])
    budget = Budget()
    for _ in range(STEPS_MAX // SEARCH_MAX // 2):
        with pytest.raises(Exhausted):
            chosen([*wide, never], budget)
    assert chosen(wide, budget) is not None
    assert chosen([*wide, Demand(("a0", "a8"), [])], budget) is None
    with pytest.raises(Exhausted):
        chosen(wide, Budget(steps=100))


def test_the_largest_flow_is_looked_at_within_the_same_bounds() -> None:
    ways = tuple(WayOut(f"t{at}", f"s{at}", compare("vars.n", "==", at)) for at in range(32))
    states = {f"s{at}": State(*ways) for at in range(128)}
    found = [each.diagnostic().code for each in analyse(flow(states, {"n": (INT, 0)}))]
    assert set(found) <= {"guards_leave_gap"}


def test_a_constant_guard_needs_no_axis() -> None:
    table = table_of(Lit(True), Domain([Lit(True)], Setting({}, {}, "work", {}, frozenset())), Budget())
    assert table is not None
    assert {(): True} == table.truths
