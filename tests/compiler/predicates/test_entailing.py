"""Whether one constraint provably holds whenever another does: what is proved is so, and the plain cases are proved."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.predicates.constraints import Anything, Bounded, ElementsOf, EntriesOf, Family, Matching, OfType
from stateward.compiler.predicates.entailing import entails
from stateward.compiler.predicates.schema import AllOf, Exactly, Member, Plain, RecordOf, Schema, TupleOf, misfit
from tests.compiler.predicates.closed_trees import SCHEMAS

INT, FLOAT, STRING = (AllOf((OfType(family),)) for family in (Family.INT, Family.FLOAT, Family.STRING))
SCALARS: list[Plain] = [True, False, -2, -1, 0, 1, 2, -1.5, 0.0, 0.5, 1.0, 2.0, "", "a", "b", "ab"]
POOL: list[Plain] = [
    *SCALARS,
    [],
    *([each] for each in SCALARS),
    *([one, other] for one in (1, 0.5, "a") for other in (2, "b", True)),
    {},
    *({"a": each} for each in SCALARS),
    *({"a": one, "b": other} for one in (1, 0.5, "a") for other in (2, "b", True)),
    {"b": 1},
    {"c": "a"},
    [[1]],
    [{"a": 1}],
    {"a": [1]},
]
"""Values that tell the constraints below apart."""

_ATOMS = st.one_of(
    st.sampled_from([Family.INT, Family.FLOAT, Family.STRING, Family.BOOL]).map(OfType),
    st.builds(Bounded, st.sampled_from(["<", "<=", ">", ">="]), st.sampled_from([-1, 0, 1, 0.5])),
    st.sampled_from(["^a", "^(a|b)$", "^(a)$", "^(a|ab)$"]).map(Matching),
    st.just(Anything()),
)


def _containers(below: "st.SearchStrategy[Schema]") -> "st.SearchStrategy[Schema]":
    members = st.lists(
        st.builds(Member, st.sampled_from(["a", "b"]), below, st.sampled_from([None, 1])), max_size=2, unique_by=lambda each: each.name
    )
    return (
        below.map(lambda item: AllOf((ElementsOf(item),)))
        | below.map(lambda item: AllOf((EntriesOf(item),)))
        | st.lists(below, max_size=2).map(lambda items: TupleOf(tuple(items)))
        | st.builds(RecordOf, members.map(tuple), st.none() | below)
    )


SMALL: "st.SearchStrategy[Schema]" = st.recursive(
    st.sampled_from([0, 1, 0.5, "a", True]).map(Exactly) | st.lists(_ATOMS, min_size=1, max_size=2).map(lambda atoms: AllOf(tuple(atoms))),
    _containers,
    max_leaves=3,
)


@given(SMALL, SMALL)
@settings(max_examples=400)
def test_what_is_proved_holds_of_every_value(schema: Schema, wanted: Schema) -> None:
    if entails(schema, wanted):
        assert [value for value in POOL if misfit(schema, value) is None and misfit(wanted, value) is not None] == []


@given(SCHEMAS)
def test_every_constraint_is_as_narrow_as_itself(schema: Schema) -> None:
    assert entails(schema, schema)


@given(st.lists(_ATOMS, min_size=1, max_size=3), st.lists(_ATOMS, max_size=3))
def test_more_demands_are_narrower(atoms: list[object], more: list[object]) -> None:
    assert entails(AllOf((*atoms, *more)), AllOf(tuple(atoms)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("schema", "wanted", "proved"),
    [
        (INT, FLOAT, True),
        (FLOAT, INT, False),
        (Exactly(3), AllOf((OfType(Family.INT), Bounded(">=", 0))), True),
        (Exactly(-3), AllOf((OfType(Family.INT), Bounded(">=", 0))), False),
        (Exactly("a"), Exactly("a"), True),
        (Exactly(1), Exactly(True), False),
        (AllOf((OfType(Family.INT), Bounded(">", 0))), AllOf((Bounded(">=", 1),)), True),
        (AllOf((Bounded(">", 0),)), AllOf((Bounded(">=", 1),)), False),
        (AllOf((Matching("^a"),)), STRING, True),
        (STRING, AllOf((Matching("^a"),)), False),
        (AllOf((Matching("^(a|ab)$"),)), AllOf((Matching("^a"),)), True),
        (AllOf((Matching("^(a)$"),)), AllOf((OfType(Family.STRING), Matching("^(a|b)$"))), True),
        (AllOf((Matching("^(a|c)$"),)), AllOf((Matching("^(a|b)$"),)), False),
        (TupleOf((INT, INT)), AllOf((ElementsOf(INT),)), True),
        (TupleOf((INT, STRING)), AllOf((ElementsOf(INT),)), False),
        (TupleOf((INT,)), TupleOf((INT, INT)), False),
        (RecordOf((Member("a", INT),)), AllOf((EntriesOf(INT),)), True),
        (RecordOf((Member("a", INT),), INT), RecordOf((Member("a", INT),)), False),
        (RecordOf((Member("a", INT), Member("b", INT))), RecordOf((Member("a", INT),), INT), True),
        (RecordOf((Member("a", INT, 1),)), RecordOf((Member("a", INT),)), False),
        (RecordOf((Member("a", INT),)), RecordOf((Member("a", INT), Member("b", INT, 1))), True),
        (RecordOf((), STRING), RecordOf((Member("a", INT, 1),), STRING), False),
        (AllOf((ElementsOf(INT),)), AllOf((ElementsOf(FLOAT),)), True),
        (AllOf((EntriesOf(INT),)), AllOf((EntriesOf(STRING),)), False),
        (STRING, AllOf((Anything(),)), True),
    ],
)
def test_plain_cases(schema: Schema, wanted: Schema, proved: bool) -> None:
    assert entails(schema, wanted) is proved
