"""Faults to diagnostics: each is told once, with the calls and imports it came through and the path it was met on.

Invariants: labels of one diagnostic stand at different places; `CALLS_TOLD_MAX` bounds the calls that are told.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from stateward.compiler.diagnostics.model import Diagnostic, Label, PathPart, Severity
from stateward.compiler.diagnostics.wording import nearest
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.values import Cell, Scope, Slot, Use
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import node as record

CALLS_TOLD_MAX: Final = 3
"""Calls that a diagnostic labels: the innermost ones, and the outermost in place of the last."""
CALLS_WALKED_MAX: Final = 200
SEARCHES_MAX: Final = 200
"""Searches for what an author may have meant, in one evaluation: they are slow, and nobody reads more."""
CANDIDATES_MAX: Final = 500


@record
class PathStep:
    """One step of the way to a part of the result. `slot` is the field; None for an item."""

    parent: "PathStep | None"
    part: PathPart
    slot: Slot | None
    cell: Cell


@dataclass(slots=True)
class Reporter:
    """Collects what one evaluation finds."""

    faults_max: int
    diagnostics: list[Diagnostic] = field(default_factory=list)
    is_full: bool = False
    """Whether there were too many faults; nothing more is taken."""
    prefix: tuple[PathPart, ...] = ()
    """The path of the value that is being materialized."""
    step: PathStep | None = None
    """Where below it the evaluation is at."""
    _told: set[tuple[object, ...]] = field(default_factory=set)
    _searches: int = 0

    def report(self, fault: Fault, scope: Scope) -> None:
        """Tell a fault found in a scope, unless it was told before: the same of the same values, whatever calls led to it."""
        key = (fault.kind, fault.message, _key(fault.place), *(_key(label.place) for label in fault.secondary))
        if key in self._told or self.is_full:
            return
        if len(self._told) == self.faults_max:
            self.is_full = True
            fault = Fault(Kind.LIMIT, f"more than {self.faults_max:,} faults are found", fault.place, "the search ends here")
        self._told.add(key)
        story = [*fault.secondary, *_calls(scope), *_imports(fault.place, scope)]
        story += self._needed([fault.place, *(label.place for label in story)])
        labels = tuple(_distinct(fault.place, story))
        self.diagnostics.append(
            Diagnostic(
                code="dcdl_import" if fault.kind is Kind.IMPORT else "dcdl_evaluation",
                severity=Severity.ERROR,
                message=fault.message,
                primary=Label(fault.place, fault.label),
                secondary=labels,
                notes=fault.notes,
                help=fault.help,
                path=self.path,
                kind=fault.kind.value,
            )
        )

    @property
    def path(self) -> tuple[PathPart, ...]:
        """Where in the result the evaluation is at."""
        return (*self.prefix, *(each.part for each in reversed(list(_steps(self.step)))))

    def _needed(self, told: Sequence[Place]) -> Iterator[Label]:
        """Label the innermost field of the result whose own text holds nothing of what is told."""
        for each in _steps(self.step):
            if each.slot is None:
                continue
            if any(_holds(each.cell.place, place) for place in told):
                return
            yield Label(each.slot.place, f"needed for `{path_text(self.path)}`")
            return

    def may_search(self) -> bool:
        """Count a search for what an author may have meant; false when there were enough of them."""
        self._searches += 1
        return self._searches <= SEARCHES_MAX

    def nearest(self, name: str, candidates: Iterable[str]) -> str | None:
        """Give the name that was probably meant; None when none is near or enough has been searched."""
        if not self.may_search():
            return None
        return nearest(name, [candidate for candidate, _ in zip(candidates, range(CANDIDATES_MAX), strict=False)])


def path_text(path: tuple[PathPart, ...]) -> str:
    """Write a path as people do: `a.b[0].c`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _steps(step: PathStep | None) -> Iterator[PathStep]:
    while step is not None:
        yield step
        step = step.parent


def _key(place: Place) -> tuple[int, int, int]:
    return id(place.source), place.span.start, place.span.end


def _distinct(primary: Place, labels: Iterable[Label]) -> Iterator[Label]:
    seen = {_key(primary)}
    for label in labels:
        if _key(label.place) not in seen:
            seen.add(_key(label.place))
            yield label


def _calls(scope: Scope) -> Iterator[Label]:
    calls: dict[int, Use] = {}
    call = scope.call
    for _ in range(CALLS_WALKED_MAX):
        if call is None:
            break
        calls.setdefault(id(call.node), call)
        call = call.scope.call
    told = list(calls.values())
    if len(told) > CALLS_TOLD_MAX:
        told = [*told[: CALLS_TOLD_MAX - 1], told[-1]]
    return (Label(use.place, "called here") for use in told)


def _imports(primary: Place, scope: Scope) -> Iterator[Label]:
    if scope.module.imported is not None and primary.source is scope.module.source:
        yield Label(scope.module.imported.place, "imported here")


def _holds(outer: Place, inner: Place) -> bool:
    return outer.source is inner.source and outer.span.covers(inner.span)
