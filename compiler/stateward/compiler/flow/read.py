"""Records to the typed Flow source, after the version has been settled.

A version that this compiler does not know stands alone: nothing else in such a source can be judged. A source that does not say its
version, or not rightly, is read as the one whose fields it has, so that its other faults are found too. A source of version 2 is evaluated
with the names through which a guard sees a run; one of version 1 knows none of them.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple, TypeVar, cast

from stateward.compiler.flow.bind import Binder, Entry, FailedScalar, Kept, KeptEntry, KeptTable, Record, Table
from stateward.compiler.flow.guarding import DeclaredTypes
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.shape import LaterFields, UnknownField, UnsupportedVersion
from stateward.compiler.flow.schema import LATER_VERSION, SCHEMAS, VERSION_ASSUMED
from stateward.compiler.flow.typed import (
    Checks,
    CheckSource,
    Declarations,
    DeclarationSource,
    FlowSource,
    GuardSource,
    Located,
    States,
    StateSource,
    Texts,
    Transitions,
    TransitionSource,
)
from stateward.compiler.language.data import Hole, Scalar
from stateward.compiler.language.evaluation import Evaluation, ObjectShape
from stateward.compiler.language.loader import REFUSING, Loader
from stateward.compiler.limits import LIMITS, Limits
from stateward.compiler.predicates.guards import ROOTS
from stateward.compiler.source import Source, Span
from stateward.compiler.syntax.tree import Module

T = TypeVar("T", bool, int, str)
LATER_PARTS: Final = frozenset({"reads", "writes", "select", "limits", "visits"})
"""What only version 2 says of a state itself."""
FEW: Final = 2
"""From so many fields of a later version on it is the version that is told to be wrong."""


class Read(NamedTuple):
    """What was read."""

    flow: FlowSource | None
    """None when there is nothing that could be checked further."""
    problems: tuple[Problem, ...]
    failed: tuple[FailedScalar, ...]
    """The fields whose expression has no value."""
    version: int | None
    """The version that the source was read as; None when it is not known."""
    evaluation: Evaluation
    roots: Collection[str] = ()
    """The names through which a guard sees a run, where there may be guards."""


def read_flow(
    source: Source,
    module: Module,
    broken: Sequence[tuple[Source, Span]] = (),
    limits: Limits = LIMITS,
    loader: Loader = REFUSING,
) -> Read:
    """Evaluate a source and bind it to the schema of its version.

    `broken` says where the syntax is at fault; `loader` is asked by a flow of version 2 alone.
    """
    evaluation = Evaluation(source, module, limits=limits)
    said = _version(evaluation)
    if said is None and "import" in source.text:
        said = _version(Evaluation(source, module, loader=loader, limits=limits, roots=ROOTS))
        said = LATER_VERSION if said == LATER_VERSION else None
    said = _assumed(evaluation) if said is None else said
    if isinstance(said, UnsupportedVersion):
        return Read(None, (said,), (), None, evaluation)
    if said == LATER_VERSION:
        evaluation = Evaluation(source, module, loader=loader, limits=limits, roots=ROOTS)
    evaluation.modules.broken += broken
    binder = Binder(evaluation, evaluation.modules.broken)
    record = binder.root(SCHEMAS[said])
    flow = _Reader(evaluation, said).flow(record) if record is not None else None
    is_later = said == LATER_VERSION or any(isinstance(each, UnknownField) and each.version is not None for each in binder.problems)
    roots = ROOTS if is_later else ()
    return Read(flow, tuple(_told_once(binder.problems)), tuple(binder.failed), said, evaluation, roots)


def _told_once(problems: Sequence[Problem]) -> list[Problem]:
    """Tell fields of a later version in one: it is the version that is wrong."""
    later = [each for each in problems if isinstance(each, UnknownField) and each.version is not None and each.near is None]
    if len(later) < FEW:
        return list(problems)
    others = [each for each in problems if each not in later]
    return [LaterFields(later, LATER_VERSION), *others]


def _version(evaluation: Evaluation) -> int | UnsupportedVersion | None:
    """Give the version that a source says; None where it says none, or not rightly."""
    shape = evaluation.shape(evaluation.root)
    field = shape.fields.get("schema_version") if isinstance(shape, ObjectShape) else None
    if field is None:
        return None
    path = ("schema_version",)
    data = evaluation.data(field.cell, path)
    if not isinstance(data, Scalar) or type(data.value) is not int:
        return None
    if data.value not in SCHEMAS:
        return UnsupportedVersion(data.value, data.origin, path, tuple(SCHEMAS))
    return data.value


def _assumed(evaluation: Evaluation) -> int:
    """Give the version that a source which says none is read as: the one that has the fields at its root."""
    shape = evaluation.shape(evaluation.root)
    later = SCHEMAS[LATER_VERSION].index.keys() - SCHEMAS[VERSION_ASSUMED].index.keys()
    has_later = isinstance(shape, ObjectShape) and not later.isdisjoint(shape.fields)
    return LATER_VERSION if has_later else VERSION_ASSUMED


class _Reader:
    """One reading of a record."""

    def __init__(self, evaluation: Evaluation, version: int) -> None:
        self._evaluation = evaluation
        self._version = version
        self._types: DeclaredTypes | None = None

    def flow(self, record: Record) -> FlowSource:
        """Take a whole record."""
        made = FlowSource(
            schema_version=_value(record, "schema_version", int),
            name=_located(record, "name", str),
            initial=_located(record, "initial", str),
            states=None,
            form=self._version,
            variables=self._declarations(record, "variables"),
            inputs=self._declarations(record, "inputs"),
            checks=_checks(record),
        )
        self._types = DeclaredTypes(made, _table(record, "states"))
        return made._replace(states=self._states(record))

    def _declarations(self, record: Record, name: str) -> Declarations:
        field = record.fields.get(name)
        if field is None or not isinstance(field.value, KeptTable):
            return Declarations((), None, (*record.path, name), complete=field is None and not record.lossy)
        table = field.value
        return Declarations(tuple(self._declaration(each) for each in table.entries), field.key, table.path, table.complete)

    def _declaration(self, entry: KeptEntry) -> DeclarationSource:
        cell, path = entry.kept
        read = self._evaluation.schema(cell, path)
        schema, default = (None, None) if isinstance(read, Hole) else read
        return DeclarationSource(entry.name, entry.key, path, cell.place, schema, default)

    def _states(self, record: Record) -> States | None:
        field, table = record.fields.get("states"), _table(record, "states")
        if field is None or table is None:
            return None
        return States(tuple(self._state(entry) for entry in table.entries), field.key, table.path, table.complete)

    def _state(self, entry: Entry) -> StateSource:
        record = entry.record
        if record is None:
            return StateSource(entry.id, entry.key, entry.path, None, None, None, None, complete=False)
        terminal = _located(record, "terminal", bool)
        said = "terminal" in record.fields
        made = StateSource(
            id=entry.id,
            key=entry.key,
            path=entry.path,
            instructions=_located(record, "instructions", str),
            terminal=terminal.value if terminal is not None else None if said or record.lossy else False,
            terminal_origin=terminal.origin if terminal is not None else None,
            transitions=self._transitions(record),
        )
        return _later_state(made, record) if self._version == LATER_VERSION else made

    def _transitions(self, record: Record) -> Transitions | None:
        field, table = record.fields.get("transitions"), _table(record, "transitions")
        if field is None:
            return Transitions((), None, (*record.path, "transitions"), complete=not record.lossy)
        if table is None:
            return None
        return Transitions(tuple(self._transition(entry) for entry in table.entries), field.key, table.path, table.complete)

    def _transition(self, entry: Entry) -> TransitionSource:
        record = entry.record
        if record is None:
            return TransitionSource(entry.id, entry.key, entry.path, None, None, complete=False)
        made = TransitionSource(
            entry.id, entry.key, entry.path, _located(record, "target", str), _located(record, "condition", str)
        )  # fmt: skip
        if self._version != LATER_VERSION:
            return made
        return made._replace(
            when=self._guard(record),
            checks=_texts(record, "checks"),
            otherwise=_located(record, "otherwise", bool),
            said=frozenset(record.fields),
            complete=not record.lossy,
        )

    def _guard(self, record: Record) -> GuardSource | None:
        field = record.fields.get("when")
        if field is None or not isinstance(field.value, Kept):
            return None
        cell, path = field.value
        assert self._types is not None, "what is declared is read first"
        return GuardSource(self._evaluation.guard(cell, self._types, path), cell.place, path)


def _later_state(state: StateSource, record: Record) -> StateSource:
    """Add what version 2 says of a state."""
    reads, writes = _texts(record, "reads"), _texts(record, "writes")
    limits = record.fields.get("limits")
    bounds = limits.value if limits is not None and isinstance(limits.value, Record) else None
    parts = {**record.fields, **(bounds.fields if bounds is not None else {})}
    failed = any(name in LATER_PARTS and field.value is None for name, field in parts.items())
    return state._replace(
        reads=reads,
        writes=writes,
        select=_located(record, "select", str),
        visits_max=_located(bounds, "visits", int) if bounds is not None else None,
        complete=not record.lossy and not failed and all(each is None or each.complete for each in (reads, writes)),
    )


def _table(record: Record, name: str) -> Table | None:
    field = record.fields.get(name)
    return field.value if field is not None and isinstance(field.value, Table) else None


def _checks(record: Record) -> Checks:
    field, table = record.fields.get("checks"), _table(record, "checks")
    if field is None or table is None:
        return Checks((), None, (*record.path, "checks"), complete=field is None and not record.lossy)
    return Checks(tuple(_check(entry) for entry in table.entries), field.key, table.path, table.complete)


def _check(entry: Entry) -> CheckSource:
    if entry.record is None:
        return CheckSource(entry.id, entry.key, entry.path, None, None)
    return CheckSource(entry.id, entry.key, entry.path, _texts(entry.record, "command"), _located(entry.record, "timeout", str))


def _texts(record: Record, name: str) -> Texts | None:
    field = record.fields.get(name)
    return field.value if field is not None and isinstance(field.value, Texts) else None


def _located(record: Record, name: str, kind: type[T]) -> Located[T] | None:
    field = record.fields.get(name)
    if field is None or not isinstance(field.value, Located):
        return None
    assert isinstance(field.value.value, kind), "binding lets only the type of the schema through"
    return cast("Located[T]", field.value)


def _value(record: Record, name: str, kind: type[T]) -> T | None:
    found = _located(record, name, kind)
    return found.value if found is not None else None
