"""Records to the typed Flow source, after the version has been settled.

A version that this compiler does not know stands alone: nothing else in such a source can be judged. A source that does not say its
version, or not rightly, is read as version 1, so that its other faults are found too.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar, cast

from stateward.compiler.flow.bind import Binder, Entry, FailedScalar, Record, Table
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.shape import UnsupportedVersion
from stateward.compiler.flow.schema import SCHEMAS, VERSION_ASSUMED
from stateward.compiler.flow.typed import FlowSource, Located, States, StateSource, Transitions, TransitionSource
from stateward.compiler.language.data import Scalar
from stateward.compiler.language.evaluation import Evaluation, ObjectShape
from stateward.compiler.source import Source, Span

T = TypeVar("T", bool, int, str)


class Read(NamedTuple):
    """What was read."""

    flow: FlowSource | None
    """None when there is nothing that could be checked further."""
    problems: tuple[Problem, ...]
    failed: tuple[FailedScalar, ...]
    """The fields whose expression has no value."""
    version_known: bool


def read_flow(evaluation: Evaluation, broken: Sequence[tuple[Source, Span]] = ()) -> Read:
    """Bind an evaluated source to the schema of its version. `broken` says where the syntax is at fault."""
    unsupported = _unsupported(evaluation)
    if unsupported is not None:
        return Read(None, (unsupported,), (), version_known=False)
    binder = Binder(evaluation, broken)
    record = binder.root(SCHEMAS[VERSION_ASSUMED])
    flow = _flow(record) if record is not None else None
    return Read(flow, tuple(binder.problems), tuple(binder.failed), version_known=True)


def _unsupported(evaluation: Evaluation) -> UnsupportedVersion | None:
    shape = evaluation.shape(evaluation.root)
    field = shape.fields.get("schema_version") if isinstance(shape, ObjectShape) else None
    if field is None:
        return None
    path = ("schema_version",)
    data = evaluation.data(field.cell, path)
    if not isinstance(data, Scalar) or type(data.value) is not int or data.value in SCHEMAS:
        return None
    return UnsupportedVersion(data.value, data.origin, path, tuple(SCHEMAS))


def _flow(record: Record) -> FlowSource:
    return FlowSource(
        schema_version=_value(record, "schema_version", int),
        name=_located(record, "name", str),
        initial=_located(record, "initial", str),
        states=_states(record),
    )


def _states(record: Record) -> States | None:
    field = record.fields.get("states")
    if field is None or not isinstance(field.value, Table):
        return None
    table = field.value
    return States(tuple(_state(entry) for entry in table.entries), field.key, table.path, table.complete)


def _state(entry: Entry) -> StateSource:
    record = entry.record
    if record is None:
        return StateSource(entry.id, entry.key, entry.path, None, None, None, None)
    terminal = _located(record, "terminal", bool)
    said = "terminal" in record.fields
    return StateSource(
        id=entry.id,
        key=entry.key,
        path=entry.path,
        instructions=_located(record, "instructions", str),
        terminal=terminal.value if terminal is not None else None if said or record.lossy else False,
        terminal_origin=terminal.origin if terminal is not None else None,
        transitions=_transitions(record),
    )


def _transitions(record: Record) -> Transitions | None:
    field = record.fields.get("transitions")
    if field is None:
        return Transitions((), None, (*record.path, "transitions"), complete=not record.lossy)
    if not isinstance(field.value, Table):
        return None
    table = field.value
    return Transitions(tuple(_transition(entry) for entry in table.entries), field.key, table.path, table.complete)


def _transition(entry: Entry) -> TransitionSource:
    record = entry.record
    if record is None:
        return TransitionSource(entry.id, entry.key, entry.path, None, None)
    return TransitionSource(
        entry.id, entry.key, entry.path, _located(record, "target", str), _located(record, "condition", str)
    )  # fmt: skip


def _located(record: Record, name: str, kind: type[T]) -> Located[T] | None:
    field = record.fields.get(name)
    if field is None or not isinstance(field.value, Located):
        return None
    assert isinstance(field.value.value, kind), "binding lets only the type of the schema through"
    return cast("Located[T]", field.value)


def _value(record: Record, name: str, kind: type[T]) -> T | None:
    found = _located(record, name, kind)
    return found.value if found is not None else None
