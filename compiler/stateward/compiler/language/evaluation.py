"""One evaluation: a module in; its lazy value, its shape and data, and every fault found, out.

Invariants: evaluation is pure and deterministic: what is asked for in which order changes neither a value nor its faults, only which are
found, until a limit runs out; nothing is read but through the loader; each fault is reported once. When an evaluation goes, nothing of it
is left in circles of references.
"""

from collections.abc import Collection, Mapping
from typing import Final

from stateward.compiler.diagnostics.model import Diagnostic, PathPart
from stateward.compiler.language.collecting import uncollected
from stateward.compiler.language.data import Data, Hole, Origin, Scalar
from stateward.compiler.language.declared import Types
from stateward.compiler.language.faults import UNTOLD, Fault, Kind, family_of, told, with_article, written_at
from stateward.compiler.language.handlers import HANDLERS
from stateward.compiler.language.loader import REFUSING, Loader
from stateward.compiler.language.machine import Handler, LimitReachedError, Machine
from stateward.compiler.language.materialize import Materializer, settled
from stateward.compiler.language.modules import Modules
from stateward.compiler.language.reporting import Reporter
from stateward.compiler.language.residues import Literal, Residue, wanted_in
from stateward.compiler.language.shapes import ArrayShape, FieldCell, ObjectShape, OtherShape, ScalarShape, Shape
from stateward.compiler.language.symbols import unfinished
from stateward.compiler.language.values import AnyValue, ArrayValue, Cell, DefaultValue, Failed, ObjectValue, ScalarValue, SymbolicValue
from stateward.compiler.limits import LIMITS, Limits
from stateward.compiler.predicates.guards import Guard
from stateward.compiler.predicates.schema import Plain, Schema
from stateward.compiler.source import Source
from stateward.compiler.syntax.tree import Import, Module

__all__ = ["ArrayShape", "Cell", "Evaluation", "FieldCell", "ObjectShape", "OtherShape", "ScalarShape", "Shape"]


STEPS_PER_PART: Final = 4
"""Steps that it costs to type and store a part of a guard, and to judge it beside others."""


class Evaluation:
    """A module being evaluated, as far as it is asked for."""

    def __init__(
        self, source: Source, module: Module, *, loader: Loader = REFUSING, limits: Limits = LIMITS, roots: Collection[str] = ()
    ) -> None:
        """Begin; `roots` are the names that are known only at run time where no scope binds them."""
        self._reporter = Reporter(limits.faults)
        self.modules: Final = Modules(loader, limits, self._reporter.diagnostics)
        handlers: Mapping[type, Handler] = {**HANDLERS, Import: self.modules.evaluate}
        self.machine: Final = Machine(handlers, limits, self._reporter, frozenset(roots))
        self.root: Final = self.modules.root(source, module)

    def __del__(self) -> None:
        """End the evaluation: nobody can force its cells any more."""
        self.machine.release()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Everything found so far, in the order in which it was found."""
        return self._reporter.diagnostics

    def shape(self, cell: Cell, path: tuple[PathPart, ...] = ()) -> Shape:
        """Force one level of a value, its default where it has nothing else."""
        match self._settled(cell, path):
            case ObjectValue() as value:
                return ObjectShape(value.origin, {name: FieldCell(slot.place, slot.cell) for name, slot in value.fields.items()})
            case ArrayValue() as value:
                return ArrayShape(value.origin, value.items)
            case ScalarValue() as value:
                return ScalarShape(value.value, value.origin)
            case Failed() as value:
                for also in self.machine.unexplored(value):
                    self.data(also, path)
                return Hole(value.origin)
            case SymbolicValue() as value:
                return OtherShape(UNTOLD, value.origin)
            case value:
                return OtherShape(with_article(family_of(value)), value.origin)

    def data(self, cell: Cell, path: tuple[PathPart, ...] = ()) -> Data:
        """Force all of a value that is found at a path of the result. What fails becomes a hole and is reported."""
        value = self.machine.ready(cell)
        if isinstance(value, ScalarValue):
            return Scalar(value.value, value.origin)
        with uncollected():
            return Materializer(self.machine, path).data(cell)

    def residue(self, cell: Cell, path: tuple[PathPart, ...] = ()) -> Residue | Hole:
        """Force a guard that is found at a path of the result: what is left of it for the run, a literal where all is known."""
        value = self._settled(cell, path)
        match value:
            case Failed():
                for also in self.machine.unexplored(value):
                    self.data(also, path)
                return Hole(value.origin)
            case SymbolicValue(residue=residue):
                fault = unfinished(value)
                if fault is None:
                    return residue if self._takes_down(residue, path) else Hole(value.origin)
            case ScalarValue(value=bool() | int() | float() as scalar):
                return Literal(value.source, value.node, cell.scope, 1, scalar)
            case _:
                fault = _no_guard(value, cell)
        self._reporter.prefix = path
        self._reporter.report(fault, cell.scope)
        self._reporter.prefix = ()
        return Hole(value.origin)

    def guard(self, cell: Cell, types: Types, path: tuple[PathPart, ...] = ()) -> Guard | None:
        """Give the guard that a field at a path of the result comes to, typed by what the flow declares; None when that failed."""
        from stateward.compiler.language.typing import typed  # noqa: PLC0415 - most flows have no guards

        self.machine.types = types
        residue = self.residue(cell, path)
        self.machine.types = None
        if isinstance(residue, Hole) or not self._may_type(residue, cell):
            return None
        guard, findings = typed(residue, types)
        self._reporter.prefix = path
        for fault, scope in findings:
            self._reporter.report(fault, scope)
        self._reporter.prefix = ()
        return guard

    def _may_type(self, residue: Residue, cell: Cell) -> bool:
        """Spend what typing costs; false when that is more than there is."""
        try:
            self.machine.spend(STEPS_PER_PART * residue.size, cell.node, cell.scope)
        except LimitReachedError as reached:
            self._reporter.report(reached.fault, reached.scope)
            return False
        return True

    def schema(self, cell: Cell, path: tuple[PathPart, ...] = ()) -> "tuple[Schema, Plain | None] | Hole":
        """Take what a variable may hold down to a closed constraint, with its default; None: it has none."""
        from stateward.compiler.language.schemas import SchemaMaker  # noqa: PLC0415 - most flows declare nothing

        self._reporter.prefix = path
        with uncollected():
            declared = SchemaMaker(self.machine).declared(cell, path)
        self._reporter.prefix = ()
        return declared if declared is not None else Hole(Origin(cell.place))

    def _takes_down(self, residue: Residue, path: tuple[PathPart, ...]) -> bool:
        """Take down the constraints in a residue; false when one cannot be."""
        from stateward.compiler.language.schemas import SchemaMaker  # noqa: PLC0415 - most flows have no guards

        self._reporter.prefix = path
        sound = True
        with uncollected():
            for wanted in wanted_in(residue):
                if wanted.schema is None:
                    wanted.schema = SchemaMaker(self.machine).schema(wanted.value, wanted.node, wanted.scope, path)
                    sound = sound and wanted.schema is not None
        self._reporter.prefix = ()
        return sound

    def _settled(self, cell: Cell, path: tuple[PathPart, ...]) -> AnyValue:
        value = self.machine.ready(cell)
        if value is not None and not isinstance(value, DefaultValue):
            return value
        self._reporter.prefix = path
        with uncollected():
            value = settled(self.machine, cell)
        self._reporter.prefix = ()
        return value


def _no_guard(value: AnyValue, cell: Cell) -> Fault:
    """Describe what can be no guard."""
    labels = written_at(value, cell.place, "written here")
    if isinstance(value, ScalarValue):
        help_ = "write the expression without the quotes"
        return Fault(Kind.TYPE_MISMATCH, "a guard is an expression, not a text", cell.place, "a text", labels, help=help_)
    return Fault(Kind.TYPE_MISMATCH, f"a guard comes to a Bool, and this is {told(value)}", cell.place, "not a Bool", labels)
