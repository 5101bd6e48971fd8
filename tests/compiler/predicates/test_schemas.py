"""What fits a constraint, what is filled in, and what its JSON Schema lets through."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given

from stateward.compiler.predicates.constraints import Anything, Bounded, ElementsOf, EntriesOf, Family, Matching, OfType
from stateward.compiler.predicates.json_schema import json_schema
from stateward.compiler.predicates.schema import (
    DEPTH_MAX,
    AllOf,
    Exactly,
    Member,
    Misfit,
    Plain,
    RecordOf,
    Schema,
    TupleOf,
    completed,
    misfit,
)
from tests.compiler.predicates.closed_trees import SCHEMAS, VALUES

INT, FLOAT, STRING, BOOL = (AllOf((OfType(each),)) for each in (Family.INT, Family.FLOAT, Family.STRING, Family.BOOL))
SMALL = AllOf((OfType(Family.INT), Bounded(">=", 0), Bounded("<", 3)))
FINDING = RecordOf((Member("file", STRING), Member("line", INT, 1)))
ANYTHING = AllOf((Anything(),))

FITTING: list[tuple[Schema, Any]] = [
    (SMALL, 0),
    (SMALL, 2),
    (FLOAT, 1),
    (FLOAT, 1.5),
    (Exactly(1.0), 1),
    (AllOf((Bounded(">", 1),)), 1.5),
    (AllOf((Matching("^a+$"),)), "aa"),
    (AllOf((ElementsOf(FINDING),)), []),
    (AllOf((ElementsOf(FINDING),)), [{"file": "a"}, {"file": "b", "line": 2}]),
    (AllOf((EntriesOf(BOOL),)), {"x": True}),
    (TupleOf((INT, STRING)), [1, "a"]),
    (RecordOf((), BOOL), {"x": False}),
    (ANYTHING, [1, {"x": [1.5, "a", True, {}]}]),
]
MISFITTING: list[tuple[Schema, Any, Misfit]] = [
    (SMALL, 3, Misfit((), "`3` is not < 3")),
    (SMALL, True, Misfit((), "`true` is no Int")),
    (SMALL, 1.0, Misfit((), "`1.0` is no Int")),
    (INT, 2**53, Misfit((), "the Int lies beyond 2^53 - 1")),
    (INT, -(10**400), Misfit((), "the Int lies beyond 2^53 - 1")),
    (FLOAT, float("nan"), Misfit((), "the Float is not finite")),
    (FLOAT, "1.5", Misfit((), '`"1.5"` is no Float')),
    (STRING, None, Misfit((), "null is no value")),
    (BOOL, 0, Misfit((), "`0` is no Bool")),
    (BOOL, b"x", Misfit((), "bytes is no value")),
    (Exactly(1), 1.0, Misfit((), "`1.0` is not `1`")),
    (AllOf((ElementsOf(FINDING),)), [{"file": "a"}, {}], Misfit((1, "file"), "the field is missing")),
    (AllOf((ElementsOf(FINDING),)), [{"file": "a", "x": 1}], Misfit((0, "x"), "it has no such field")),
    (AllOf((ElementsOf(INT),)), [1, None], Misfit((1,), "null is no value")),
    (AllOf((EntriesOf(BOOL),)), {"x": 1}, Misfit(("x",), "`1` is no Bool")),
    (AllOf((EntriesOf(BOOL),)), {1: True}, Misfit((), "a key is no text")),
    (TupleOf((INT,)), [1, 2], Misfit((), "it has 2 items, not 1")),
    (TupleOf(()), {}, Misfit((), "an Object is no Array")),
    (FINDING, [], Misfit((), "an Array is no Object")),
    (AllOf((Matching("^a+$"),)), "b`\n" * 100, Misfit((), '`"' + ("b' " * 20) + '…"` does not match `/^a+$/`')),
]
UNHELD: list[tuple[Schema, Any, Misfit]] = [
    (ANYTHING, [None], Misfit((0,), "null is no value")),
    (ANYTHING, {"x": [1, float("inf")]}, Misfit(("x", 1), "the Float is not finite")),
    (ANYTHING, [[2**53]], Misfit((0, 0), "the Int lies beyond 2^53 - 1")),
    (ANYTHING, [{1: 2}], Misfit((0,), "a key is no text")),
    (RecordOf((), ANYTHING), {"x": {"y": None}}, Misfit(("x", "y"), "null is no value")),
    (AllOf((EntriesOf(ANYTHING),)), {"x": [float("nan")]}, Misfit(("x", 0), "the Float is not finite")),
]
"""What a constraint lets through, and no variable can hold."""


@pytest.mark.parametrize(("schema", "value"), FITTING)
def test_what_fits(schema: Schema, value: Any) -> None:
    assert None is misfit(schema, value)


@pytest.mark.parametrize(
    ("schema", "value", "expected"), MISFITTING + UNHELD, ids=lambda each: each.why if isinstance(each, Misfit) else ""
)
def test_what_does_not_fit_is_told_with_its_place(schema: Schema, value: Any, expected: Misfit) -> None:
    assert expected == misfit(schema, value)


def test_a_value_may_be_nested_as_deep_as_it_may_be() -> None:
    def lists(depth: int) -> tuple[Schema, Any]:
        schema: Schema = INT
        value: Any = 1
        for _ in range(depth):
            schema, value = AllOf((ElementsOf(schema),)), [value]
        return schema, value

    assert None is misfit(*lists(DEPTH_MAX))
    found = misfit(*lists(DEPTH_MAX + 1))
    assert found is not None
    assert f"it is nested deeper than {DEPTH_MAX}" == found.why
    assert None is misfit(ANYTHING, lists(DEPTH_MAX)[1])
    assert found == misfit(ANYTHING, lists(DEPTH_MAX + 1)[1])


def test_what_a_value_leaves_out_is_filled_in_and_an_int_is_made_the_float_that_is_wanted() -> None:
    schema = AllOf((ElementsOf(RecordOf((Member("file", STRING), Member("line", INT, 1), Member("share", FLOAT)))),))
    made = completed(schema, [{"share": 2, "file": "a"}])
    assert repr([{"share": 2.0, "file": "a", "line": 1}]) == repr(made)


@given(SCHEMAS, VALUES)
def test_what_was_completed_is_not_completed_further(schema: Schema, value: Plain) -> None:
    if misfit(schema, value) is None and misfit(schema, once := completed(schema, value)) is None:
        assert repr(once) == repr(completed(schema, once))


@given(SCHEMAS, VALUES)
def test_what_fits_passes_the_json_schema(schema: Schema, value: Plain) -> None:
    made = json_schema(schema)
    jsonschema.Draft202012Validator.check_schema(made)
    if misfit(schema, value) is None:
        jsonschema.validate(value, made, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(("schema", "value", "expected"), MISFITTING, ids=lambda each: each.why if isinstance(each, Misfit) else "")
def test_most_of_what_does_not_fit_does_not_pass_it_either(schema: Schema, value: Any, expected: Misfit) -> None:
    json_alone = isinstance(value, bytes) or expected.why in {"a key is no text", "the Float is not finite"} or type(value) is float
    if not json_alone:
        assert not jsonschema.Draft202012Validator(json_schema(schema)).is_valid(value)
