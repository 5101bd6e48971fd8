"""Constraints, values and guards as JSON: one spelling for each, and nothing else is read."""

import json
from typing import Any

import pytest
from hypothesis import given

from stateward.compiler.predicates.forms import (
    MalformedForm,
    guard_data,
    read_guard,
    read_schema,
    read_value,
    schema_data,
    value_data,
)
from stateward.compiler.predicates.guards import NODES_MAX, Guard
from stateward.compiler.predicates.schema import Plain, Schema
from tests.compiler.predicates.closed_trees import GUARDS, SCHEMAS, VALUES


def through_json(data: Any) -> Any:
    return json.loads(json.dumps(data))


def exact(value: object) -> str:
    """Tell 1, 1.0 and true apart, and 0.0 from -0.0."""
    return repr(value)


@given(VALUES)
def test_a_value_is_read_as_it_was_written(value: Plain) -> None:
    assert exact(value) == exact(read_value(through_json(value_data(value))))


@given(SCHEMAS)
def test_a_constraint_is_read_as_it_was_written(schema: Schema) -> None:
    assert exact(schema) == exact(read_schema(through_json(schema_data(schema))))


@given(GUARDS)
def test_a_guard_is_read_as_it_was_written(guard: Guard) -> None:
    assert exact(guard) == exact(read_guard(through_json(guard_data(guard))))


@given(GUARDS)
def test_no_number_stands_in_the_json_itself(guard: Guard) -> None:
    text = json.dumps(guard_data(guard))
    numbers: list[str] = []
    json.loads(text, parse_int=numbers.append, parse_float=numbers.append)
    assert [] == numbers


VALUES_REFUSED: list[object] = [
    None,
    1,
    1.5,
    {},
    {"int": 1},
    {"int": "01"},
    {"int": "+1"},
    {"int": "-0"},
    {"int": "1_0"},
    {"int": "٣"},
    {"int": "9" * 5000},
    {"int": str(2**63)},
    {"float": "1"},
    {"float": "nan"},
    {"float": "inf"},
    {"float": "1.50"},
    {"float": "x"},
    {"int": "1", "more": True},
    {"object": {}},
    {"object": [["a", True], ["a", True]]},
    {"object": [["a"]]},
]


@pytest.mark.parametrize("data", VALUES_REFUSED, ids=lambda data: repr(data)[:40])
def test_what_is_no_value_is_refused(data: object) -> None:
    with pytest.raises(MalformedForm):
        read_value(data)


def nested(depth: int, around: Any, inner: Any) -> Any:
    for _ in range(depth):
        inner = around(inner)
    return inner


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (read_value, nested(40, lambda each: [each], True)),
        (read_schema, nested(40, lambda each: {"elements": each}, {"type": "Int"})),
        (read_guard, nested(NODES_MAX, lambda each: {"not": each}, {"lit": True})),
        (read_guard, nested(8, lambda each: {"and": [each, each]}, {"lit": True})),
        (read_guard, nested(100_000, lambda each: {"not": each}, {"lit": True})),
    ],
    ids=["value", "constraint", "guard", "guard as a tree", "guard that is far too deep"],
)
def test_what_is_too_large_is_refused(read: Any, data: object) -> None:
    with pytest.raises(MalformedForm):
        read(data)


def test_a_guard_has_as_many_nodes_as_it_may_have() -> None:
    read_guard(nested(NODES_MAX - 1, lambda each: {"not": each}, {"lit": True}))


SCHEMAS_REFUSED: list[object] = [
    None,
    "Int",
    {},
    {"type": "Integer"},
    {"type": "Int", "more": 1},
    {"all": [{"type": "Int"}]},
    {"bound": ["==", {"int": "1"}]},
    {"bound": ["<", "1"]},
    {"bound": ["<", True]},
    {"matches": "("},
    {"exactly": []},
    {"record": [{"name": "a", "type": {"type": "Int"}}, {"name": "a", "type": {"type": "Int"}}]},
    {"record": [{"name": "a"}]},
    {"record": [], "more": 1},
]


@pytest.mark.parametrize("data", SCHEMAS_REFUSED, ids=lambda data: repr(data)[:40])
def test_what_is_no_constraint_is_refused(data: object) -> None:
    with pytest.raises(MalformedForm):
        read_schema(data)


GUARDS_REFUSED: list[object] = [
    None,
    True,
    {},
    {"lit": {"object": []}},
    {"lit": True, "not": {"lit": True}},
    {"ref": "vars.a"},
    {"ref": ["vars"]},
    {"ref": ["nothing", "a"]},
    {"ref": ["visits", "a", "b"]},
    {"ref": ["spent", "tokens"]},
    {"ref": ["vars", 1]},
    {"and": [{"lit": True}]},
    {"or": []},
    {"cmp": ["===", {"lit": True}, {"lit": True}]},
    {"cmp": ["==", {"lit": True}]},
    {"add": [{"lit": True}]},
    {"div": [{"lit": True}, {"lit": True}]},
    {"fits": [{"lit": True}, {"type": "Int"}]},
    {"if": [{"lit": True}, {"lit": True}]},
    {1: 2},
]


@pytest.mark.parametrize("data", GUARDS_REFUSED, ids=lambda data: repr(data)[:40])
def test_what_is_no_guard_is_refused(data: object) -> None:
    with pytest.raises(MalformedForm):
        read_guard(data)
