"""The evaluator's engine: runs tasks on a stack of its own, forces cells, spends the limits.

Invariants: the interpreter's stack never grows with the source, so no source can exhaust it; a cell that was begun ends with a value, a
failed one at worst; every task spends at least one step; what is spent never comes back, and after `steps` or `items` ran out nothing
is evaluated any more.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import GeneratorType
from typing import Any, Final, TypeAlias

from stateward.compiler.diagnostics.model import PathPart
from stateward.compiler.language.circles import Link, circle
from stateward.compiler.language.declared import Types
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.reporting import Reporter
from stateward.compiler.language.values import AnyValue, Cell, Failed, Request, ScalarValue, Scope, Task, Use
from stateward.compiler.limits import Limits
from stateward.compiler.predicates.patterns import PatternCosts
from stateward.compiler.syntax.tree import BoolLit, FloatLit, IntLit, Node, StringLit

Handler: TypeAlias = Callable[["Machine", Any, Scope], AnyValue | Task]
"""Evaluates one type of expression: at once, or as a task."""

LITERALS: Final = frozenset({IntLit, FloatLit, StringLit, BoolLit})
"""What needs no task to be evaluated."""
SCOPES_PER_STEP: Final = 8
"""Scopes that a search for a name may pass for the price of one step."""
WAITING_PER_STEP: Final = 32
"""What waits on the stack that the search for the beginning of a circle may pass for the price of one step."""


class LimitReachedError(Exception):
    """A limit ran out; what is under way cannot go on. Caught by the machine, never seen outside."""

    def __init__(self, fault: Fault, scope: Scope) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.scope = scope


@dataclass(slots=True)
class NodeBudget:
    """The nodes that may still be visited, and whether it was told that there are too many."""

    left: int
    is_told: bool = False


class Machine:
    """One evaluation under way."""

    def __init__(self, handlers: Mapping[type, Handler], limits: Limits, reporter: Reporter, roots: Collection[str] = ()) -> None:
        self.handlers = handlers
        self.roots: Final = roots
        """Names that are symbols where no scope binds them."""
        self.types: Types | None = None
        """What the flow declares, while a guard is evaluated."""
        self.limits = limits
        self.reporter = reporter
        self.steps = limits.steps
        """Steps left."""
        self.items = limits.items
        """Array items left."""
        self.nodes: Final = NodeBudget(limits.nodes)
        """Of everything that is materialized, in however many walks: a value is not cheaper for being asked for part by part."""
        self.patterns: Final = PatternCosts()
        self.calls = 0
        """Calls under way."""
        self.waiting = 0
        """Cells being made."""
        self._spent = False
        """Whether steps or items ran out."""
        self.lacking: dict[int, tuple[object, set[PathPart]]] = {}
        """Parts that were told to have no value, by the identity of the array or object they are parts of, which is kept alive here."""
        self._explored: dict[int, Failed] = {}
        self.scopes: Final[list[Scope]] = []
        """The scopes whose names are bound to expressions that see them."""
        self.closing: Final[list[Cell]] = []
        """Cells whose values lead back to them."""
        self.asking: Use | None = None
        """The use that is about to ask for a cell."""

    # What tasks call ----------------------------------------------------------------------------------------------------------------

    def fail(self, fault: Fault, node: Node, scope: Scope) -> Failed:
        """Report a fault and give the failed value of an expression."""
        self.reporter.report(fault, scope)
        if self.reporter.is_full:
            raise LimitReachedError(fault, scope)
        return Failed(scope.module.source, node, None)

    def unexplored(self, failed: Failed) -> tuple[Cell, ...]:
        """Give the cells that nobody can use because of a failed value, when they are asked for first."""
        if not failed.also or id(failed) in self._explored:
            return ()
        self._explored[id(failed)] = failed
        return failed.also

    def spend(self, steps: int, node: Node, scope: Scope) -> None:
        """Spend steps beyond the one for each expression."""
        self.steps -= steps
        if self.steps < 0:
            self._run_out(f"the evaluation takes more than {self.limits.steps:,} steps", "stopped here", node, scope)

    def make_items(self, count: int, node: Node, scope: Scope) -> None:
        """Spend items for an array that is about to be made."""
        self.items -= count
        if self.items < 0:
            self._run_out(f"the evaluation makes more than {self.limits.items:,} array items", "one array too many", node, scope)

    def begin_call(self, node: Node, scope: Scope) -> None:
        """Count a call; the task ends it with `self.calls -= 1`."""
        self.calls += 1
        if self.calls > self.limits.calls:
            self.refuse(f"calls are nested deeper than {self.limits.calls:,}", "one call too deep", node, scope)

    def check_depth(self, depth: int, node: Node, scope: Scope) -> None:
        """Refuse to walk into values that are nested too deep."""
        if depth > self.limits.nesting:
            self.refuse(f"the values are nested deeper than {self.limits.nesting:,}", "combined here", node, scope)

    def refuse(self, message: str, label: str, node: Node, scope: Scope) -> None:
        """Stop everything under way: a limit was passed at an expression."""
        raise LimitReachedError(Fault(Kind.LIMIT, message, Use(node, scope).place, label), scope)

    def _run_out(self, message: str, label: str, node: Node, scope: Scope) -> None:
        self._spent = True
        self.refuse(message, label, node, scope)

    def release(self) -> None:
        """Let go of what refers back to what holds it: then counting references frees the rest, and no search for circles has to."""
        for scope in self.scopes:
            scope.names.clear()
        for cell in self.closing:
            cell.value = None
        self.scopes.clear()
        self.closing.clear()
        self.lacking.clear()
        self._explored.clear()

    # Running ------------------------------------------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether a limit ran out for good, so that nothing more is evaluated."""
        return self._spent or self.reporter.is_full

    def force(self, cell: Cell) -> AnyValue:
        """Give the value of a cell. Only for callers outside of tasks: a task asks by yielding the cell."""
        return self.ready(cell) or self._made(cell)

    def ready(self, cell: Cell) -> AnyValue | None:
        """Give the value of a cell if there is nothing to run for it."""
        if cell.value is not None:
            return cell.value
        if type(cell.node) in LITERALS and cell.make is None and self.steps > 0 and not self._spent:
            self.steps -= 1
            cell.value = ScalarValue(cell.scope.module.source, cell.node, None, cell.node.value)  # type: ignore[union-attr]  # a literal
            return cell.value
        return None

    def _made(self, cell: Cell) -> AnyValue:
        """Make the value of a cell. A limit that is passed on the way fails all that was under way; it is reported once."""
        stack: list[Task | Cell] = []
        if self.is_over:
            return _give_up(cell)
        try:
            return self._run(cell, stack)
        except LimitReachedError as reached:
            self.reporter.report(reached.fault, reached.scope)
            for waiting in stack:
                if isinstance(waiting, Cell):
                    _give_up(waiting)
            self.calls = self.waiting = 0
            self.asking = None
            return _give_up(cell)

    def _run(self, request: Request, stack: list[Task | Cell]) -> AnyValue:
        """Run with an explicit stack: a cell on it waits for its value, a task for what it asked for."""
        handlers = self.handlers
        while True:
            outcome: Any
            if type(request) is tuple:
                node, scope = request
                self.steps -= 1
                if self.steps < 0:
                    self.spend(0, node, scope)
                outcome = handlers[type(node)](self, node, scope)
            elif type(request) is Cell:
                outcome = request.value
                if outcome is None:
                    if not request.busy:
                        stack.append(request)
                        request = self._begin(request)
                        continue
                    outcome = self._cycle(request, stack)
            else:
                outcome = request
            value: Any = outcome
            if type(outcome) is GeneratorType:
                stack.append(outcome)
                value = None
            while True:
                if not stack:
                    done: AnyValue = value
                    return done
                top: Any = stack[-1]
                if type(top) is Cell:
                    top.value = value
                    top.busy = False
                    top.use = None
                    self.waiting -= 1
                    stack.pop()
                    continue
                try:
                    request = top.send(value)
                    break
                except StopIteration as returned:
                    value = returned.value
                    stack.pop()

    def _begin(self, cell: Cell) -> Request:
        cell.busy = True
        cell.use, self.asking = self.asking, None
        self.waiting += 1
        if self.waiting > self.limits.forcing:
            self.refuse(f"more than {self.limits.forcing:,} values wait for each other", "one value too many", cell.node, cell.scope)
        return cell.make(self) if cell.make is not None else (cell.node, cell.scope)

    def _cycle(self, cell: Cell, stack: list[Task | Cell]) -> Failed:
        """Report that a cell needs itself: at the use that closes the circle, with the uses around it."""
        closing, self.asking = self.asking, None
        links: list[Link] = [(closing, cell)]
        passed = 0
        for waiting in reversed(stack):
            if waiting is cell:
                break
            passed += 1
            if isinstance(waiting, Cell):
                links.append((waiting.use, waiting))
        self.spend(passed // WAITING_PER_STEP, cell.node, cell.scope)
        return self.fail(circle(links[::-1]), cell.node, cell.scope)


def _give_up(cell: Cell) -> Failed:
    """Fail a cell without a word: a limit ran out, which is reported where it did."""
    failed = Failed(cell.scope.module.source, cell.node, None)
    cell.value = failed
    cell.busy = False
    cell.use = None
    return failed
