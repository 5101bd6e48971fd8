"""A lazy value to data: everything forced, defaults taken, a hole for each part that failed.

Invariants: walks without recursion; a fault inside is reported once, with the path on which it was met first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from stateward.compiler.diagnostics.model import PathPart
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.language.data import ArrayData, Data, FieldData, Hole, ObjectData, Origin, Scalar
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.guard import Guard
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.names import unknown_check
from stateward.compiler.language.reporting import PathStep, path_text
from stateward.compiler.language.symbols import refused
from stateward.compiler.language.values import (
    AnyValue,
    ArrayValue,
    Cell,
    ConstraintValue,
    DefaultValue,
    Failed,
    FunctionValue,
    ObjectValue,
    ScalarValue,
    Slot,
    SymbolicValue,
)
from stateward.compiler.predicates.constraints import HostCheck


def settled(machine: Machine, cell: Cell) -> AnyValue:
    """Force a cell and take its default where it has no value."""
    value = machine.force(cell)
    taken: set[int] = set()
    while isinstance(value, DefaultValue):
        if id(value.settled) in taken:
            return _own_default(machine, value)
        taken.add(id(value.settled))
        value = machine.force(value.settled)
    return value


def _own_default(machine: Machine, value: DefaultValue) -> Failed:
    """Report a default that is itself in the end."""
    place = value.default.place
    text = quoted(place.source.slice(place.span))
    fault = Fault(Kind.CYCLE, f"the default {text} depends on itself", place, "closes the circle")
    machine.reporter.report(fault, value.default.scope)
    failed = Failed(place.source, value.default.node, None)
    value.settled.value = failed
    return failed


@dataclass(slots=True)
class _Open:
    """An array or object whose parts are being materialized."""

    value: ArrayValue | ObjectValue
    step: PathStep | None
    parts: Iterator[tuple[PathPart, Slot | None, Cell]]
    made: list[Data] = field(default_factory=list)


class Materializer:
    """One walk over one value."""

    def __init__(self, machine: Machine, prefix: tuple[PathPart, ...]) -> None:
        self._machine = machine
        self._reporter = machine.reporter
        self._prefix = prefix
        self._open: list[_Open] = []
        self._unusable: list[tuple[tuple[PathPart, ...], Cell]] = []
        """What nobody can use but may hold faults, with its path."""
        self._guard = Guard(machine, machine.nodes)

    def data(self, cell: Cell) -> Data:
        """Materialize a cell."""
        reporter = self._reporter
        before = reporter.prefix, reporter.step
        reporter.prefix, reporter.step = self._prefix, None
        try:
            data = self._walk(cell)
            for path, unusable in self._unusable:  # grows while it is walked; each is walked once in an evaluation
                reporter.prefix, reporter.step = path, None
                self._walk(unusable)
            return data
        finally:
            reporter.prefix, reporter.step = before

    def _walk(self, cell: Cell) -> Data:
        done = self._begin(cell, None)
        while done is None:
            top = self._open[-1]
            if self._go_on(top):
                done = self._close()
                if self._open:
                    self._open[-1].made.append(done)
                    done = None
        return done

    def _go_on(self, top: _Open) -> bool:
        """Materialize the parts of a value until one is opened; true when all are done."""
        machine, guard, made = self._machine, self._guard, top.made
        for name, slot, cell in top.parts:
            value = machine.ready(cell)
            if type(value) is ScalarValue and guard.may_visit(cell):
                made.append(Scalar(value.value, value.origin))
                continue
            done = self._begin(cell, PathStep(top.step, name, slot, cell))
            if done is None:
                return False
            made.append(done)
        return True

    def _begin(self, cell: Cell, step: PathStep | None) -> Data | None:
        """Give the data of a cell, or None after an array or object was opened."""
        self._reporter.step = step
        if not self._guard.may_visit(cell):
            return Hole(Origin(cell.place))
        value = settled(self._machine, cell)
        if type(value) is ScalarValue:
            return Scalar(value.value, value.origin)
        if not isinstance(value, ArrayValue | ObjectValue):
            return self._no_data(value, cell)
        if not self._guard.may_enter(value, cell):
            return Hole(Origin(cell.place))
        self._open.append(_Open(value, step, _parts(value)))
        return None

    def _close(self) -> Data:
        closed = self._open.pop()
        value = closed.value
        self._guard.leave(value)
        self._reporter.step = closed.step
        if isinstance(value, ArrayValue):
            return ArrayData(tuple(closed.made), value.origin)
        fields = zip(value.fields.items(), closed.made, strict=True)
        return ObjectData({name: FieldData(slot.place, data) for (name, slot), data in fields}, value.origin)

    def _no_data(self, value: AnyValue, cell: Cell) -> Hole:
        if isinstance(value, Failed):
            self._unusable += ((self._reporter.path, each) for each in self._machine.unexplored(value))
        elif self._is_first():
            self._reporter.report(self._no_data_fault(value, cell), cell.scope)
        return Hole(value.origin)

    def _is_first(self) -> bool:
        """Tell whether this part of the value around it is met for the first time: a value used in many places lacks a part once."""
        if not self._open:
            return True
        around = self._open[-1].value
        parts = around.items if isinstance(around, ArrayValue) else around.fields
        step = self._reporter.step
        assert step is not None
        _, met = self._machine.lacking.setdefault(id(parts), (parts, set()))
        if step.part in met:
            return False
        met.add(step.part)
        return True

    def _no_data_fault(self, value: AnyValue, cell: Cell) -> Fault:
        """Describe a value that is no data."""
        if isinstance(value, SymbolicValue):
            return refused("data", cell.place, value)
        if isinstance(value, FunctionValue):
            return Fault(Kind.MATERIALIZE, "a function is not data", value.place, "cannot be data")
        assert isinstance(value, ConstraintValue)
        return _no_value(self._machine, value, path_text(self._reporter.path))


def _parts(value: ArrayValue | ObjectValue) -> Iterator[tuple[PathPart, Slot | None, Cell]]:
    if isinstance(value, ArrayValue):
        return ((at, None, cell) for at, cell in enumerate(value.items))
    return ((name, slot, slot.cell) for name, slot in value.fields.items())


def _no_value(machine: Machine, value: ConstraintValue, path: str) -> Fault:
    part = value.parts[0]
    notes: tuple[str, ...] = ()
    help_ = None
    if isinstance(part.atom, HostCheck):
        notes, help_ = unknown_check(machine, part.atom)
    what = f"`{path}`" if path else "the result"
    return Fault(Kind.MATERIALIZE, f"{what} has no value and no default", part.place, "only a constraint", (), notes, help_)
