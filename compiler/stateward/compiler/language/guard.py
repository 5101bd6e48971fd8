"""What keeps a walk over a lazy value finite: its nodes are counted, its nesting is bounded, a value inside itself ends it.

Invariants: each limit is told once where it was passed; what lies beyond is not forced.
"""

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.language.circles import modules_around
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.machine import Machine, NodeBudget
from stateward.compiler.language.values import ArrayValue, Cell, ObjectValue


class Guard:
    """The limits of one walk."""

    def __init__(self, machine: Machine, nodes: NodeBudget) -> None:
        self._machine = machine
        self._nodes = nodes
        self._on_path: set[int] = set()

    def may_visit(self, cell: Cell) -> bool:
        """Count a node; false when there are too many."""
        self._nodes.left -= 1
        if self._nodes.left < 0 and not self._nodes.is_told:
            self._nodes.is_told = True
            self._report(f"the value has more than {self._machine.limits.nodes:,} nodes", "one node too many", cell)
        return self._nodes.left >= 0

    def may_enter(self, value: ArrayValue | ObjectValue, cell: Cell) -> bool:
        """Begin with the parts of a value; false when it is inside itself or too deep. To be ended with `leave`."""
        if self.is_inside(value):
            notes, imports = modules_around(cell, value)
            self._machine.closing.append(cell)
            self._report("the value contains itself", "closes the circle", cell, *imports, Label(value.place, "the value"), notes=notes)
            return False
        if len(self._on_path) >= self._machine.limits.nesting:
            self._report(f"the value is nested deeper than {self._machine.limits.nesting:,}", "one level too deep", cell)
            return False
        self._on_path.add(identity(value))
        return True

    def is_inside(self, value: ArrayValue | ObjectValue) -> bool:
        """Tell whether the walk is inside a value."""
        return identity(value) in self._on_path

    def leave(self, value: ArrayValue | ObjectValue) -> None:
        """Be done with the parts of a value."""
        self._on_path.discard(identity(value))

    def _report(self, message: str, label: str, cell: Cell, *labels: Label, notes: tuple[str, ...] = ()) -> None:
        self._machine.reporter.report(Fault(Kind.LIMIT, message, cell.place, label, labels, notes), cell.scope)


def identity(value: ArrayValue | ObjectValue) -> int:
    """Give what all uses of one value share: its parts, not the value, which each use sees with an origin of its own."""
    return id(value.items if isinstance(value, ArrayValue) else value.fields)
