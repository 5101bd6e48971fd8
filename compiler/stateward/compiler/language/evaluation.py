"""One evaluation: a module in; its lazy value, its shape and data, and every fault found, out.

Invariants: evaluation is pure and deterministic: what is asked for in which order changes neither a value nor its faults, only which are
found, until a limit runs out; nothing is read but through the loader; each fault is reported once. When an evaluation goes, nothing of it
is left in circles of references.
"""

from collections.abc import Mapping
from typing import Final

from stateward.compiler.diagnostics.model import Diagnostic, PathPart
from stateward.compiler.language.collecting import uncollected
from stateward.compiler.language.data import Data, Hole, Scalar
from stateward.compiler.language.faults import family_of, with_article
from stateward.compiler.language.handlers import HANDLERS
from stateward.compiler.language.loader import REFUSING, Loader
from stateward.compiler.language.machine import Handler, Machine
from stateward.compiler.language.materialize import Materializer, settled
from stateward.compiler.language.modules import Modules
from stateward.compiler.language.reporting import Reporter
from stateward.compiler.language.shapes import ArrayShape, FieldCell, ObjectShape, OtherShape, ScalarShape, Shape
from stateward.compiler.language.values import AnyValue, ArrayValue, Cell, DefaultValue, Failed, ObjectValue, ScalarValue
from stateward.compiler.limits import LIMITS, Limits
from stateward.compiler.source import Source
from stateward.compiler.syntax.tree import Import, Module

__all__ = ["ArrayShape", "Cell", "Evaluation", "FieldCell", "ObjectShape", "OtherShape", "ScalarShape", "Shape"]


class Evaluation:
    """A module being evaluated, as far as it is asked for."""

    def __init__(self, source: Source, module: Module, *, loader: Loader = REFUSING, limits: Limits = LIMITS) -> None:
        self._reporter = Reporter(limits.faults)
        modules = Modules(loader, limits, self._reporter.diagnostics)
        handlers: Mapping[type, Handler] = {**HANDLERS, Import: modules.evaluate}
        self.machine: Final = Machine(handlers, limits, self._reporter)
        self.root: Final = modules.root(source, module)

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
            case value:
                return OtherShape(with_article(family_of(value)), value.origin)

    def data(self, cell: Cell, path: tuple[PathPart, ...] = ()) -> Data:
        """Force all of a value that is found at a path of the result. What fails becomes a hole and is reported."""
        value = self.machine.ready(cell)
        if isinstance(value, ScalarValue):
            return Scalar(value.value, value.origin)
        with uncollected():
            return Materializer(self.machine, path).data(cell)

    def _settled(self, cell: Cell, path: tuple[PathPart, ...]) -> AnyValue:
        value = self.machine.ready(cell)
        if value is not None and not isinstance(value, DefaultValue):
            return value
        self._reporter.prefix = path
        with uncollected():
            value = settled(self.machine, cell)
        self._reporter.prefix = ()
        return value
