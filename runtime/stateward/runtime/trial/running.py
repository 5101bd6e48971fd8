"""Running the tests of a flow: each from its beginning, through the runtime's own rules, and what they cover together.

Invariants: a test ends at its first failure, since what follows is judged elsewhere; the tests do not know of each other; covered is what a
step took, not the way that led to where a test begins. Nothing outside is touched.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import Verdict
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.trial.form import FlowTest, Step
from stateward.runtime.trial.machine import Moved, Stayed, Trial, begin
from stateward.runtime.trial.problems import AfterTheEnd, NoSuchCheck, NoSuchTransition, NotLedTo, NotTaken, OtherOutcome


class Edge(NamedTuple):
    """A transition of a state."""

    state: str
    transition: str


@dataclass(frozen=True, slots=True)
class Ran:
    """What a test came to."""

    test: FlowTest
    taken: tuple[Edge, ...]
    failure: Diagnostic | None
    """Why it failed; None when it passed."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which transitions of its author a flow's tests took, in order of declaration."""

    taken: tuple[Edge, ...]
    missed: tuple[Edge, ...]


def run_tests(definition: CompiledFlowDefinition, tests: Sequence[FlowTest]) -> tuple[Ran, ...]:
    """Run tests, one after the other."""
    return tuple(_Run(definition, test).whole() for test in tests)


def coverage(definition: CompiledFlowDefinition, ran: Sequence[Ran]) -> Coverage:
    """Say what tests covered."""
    taken = {edge for each in ran for edge in each.taken}
    edges = [Edge(state.id, each.id) for state in definition.states for each in state.transitions if not each.synthetic]
    return Coverage(tuple(each for each in edges if each in taken), tuple(each for each in edges if each not in taken))


class _Run:
    """One test being run."""

    def __init__(self, definition: CompiledFlowDefinition, test: FlowTest) -> None:
        self._definition, self._test = definition, test
        self._taken: list[Edge] = []

    def whole(self) -> Ran:
        """Run it to its end or its first failure."""
        failure = next(self._failures(), None)
        return Ran(self._test, tuple(self._taken), failure)

    def _failures(self) -> Iterator[Diagnostic]:
        given = self._test.inputs
        begun = begin(self._definition, {} if given is None else given.value)
        if isinstance(begun, Refusal):
            place = self._test.key if given is None else given.origin.place
            yield NotTaken(self._test.name, "the flow does not begin with these inputs", begun.message, place, begun.allowed).diagnostic()
            return
        self._trial = begun
        start = self._test.start
        if start is not None:
            led = _led_to(self._trial, start.value)
            if isinstance(led, _Astray):
                yield NotLedTo(self._test.name, start, led.state, led.why).diagnostic()
                return
            self._trial = led
        for step in self._test.steps:
            failed = self._failed(step)
            if failed is not None:
                yield failed
        ends = self._test.ends
        status = self._trial.instance.status.value
        if ends is not None and ends.value != status:
            happened = f"is {quoted(status)} in state {quoted(self._trial.state.id)} after the last step"
            yield OtherOutcome(self._test.name, f"been {quoted(ends.value)}", happened, ends).diagnostic()

    def _failed(self, step: Step) -> Diagnostic | None:
        here, name = self._trial.state, self._test.name
        if self._trial.is_over:
            return AfterTheEnd(name, here.id, step.place).diagnostic()
        known = tuple(each.id for each in here.transitions)
        for transition, said in step.verdicts.items():
            if transition not in known:
                return NoSuchTransition(name, here.id, transition, said.key, known).diagnostic()
        checks = tuple(dict.fromkeys(check for each in here.transitions for check in each.checks))
        for check, said in step.checks.items():
            if check not in checks:
                return NoSuchCheck(name, here.id, check, said.key, checks).diagnostic()
        if step.sets is not None:
            written = self._trial.set(step.sets.value)
            if isinstance(written, Refusal):
                what = f"state {quoted(here.id)} does not let these variables be set"
                return NotTaken(name, what, written.message, step.sets.origin.place, written.allowed).diagnostic()
            self._trial = written
        verdicts = {transition: said.verdict for transition, said in step.verdicts.items()}
        self._trial, outcome = self._trial.ask(verdicts, step.reason, {check: said.verdict for check, said in step.checks.items()})
        match outcome:
            case Moved(transition, state):
                self._taken.append(Edge(here.id, transition))
                return self._moved_wrongly(step, transition, state)
            case Stayed():
                return self._stayed_wrongly(step, here.id, outcome)

    def _moved_wrongly(self, step: Step, transition: str, state: str) -> Diagnostic | None:
        happened = f"entered {quoted(state)} by {quoted(transition)}"
        if step.enters is not None and step.enters.value != state:
            return OtherOutcome(self._test.name, f"entered {quoted(step.enters.value)}", happened, step.enters).diagnostic()
        if step.refused is not None:
            return OtherOutcome(self._test.name, "stayed where it was", happened, step.refused).diagnostic()
        return None

    def _stayed_wrongly(self, step: Step, state: str, stayed: Stayed) -> Diagnostic | None:
        happened = f"stayed in {quoted(state)}, refused with {quoted(stayed.code.value)}"
        if step.enters is not None:
            expected = f"entered {quoted(step.enters.value)}"
            return OtherOutcome(self._test.name, expected, happened, step.enters, stayed.message).diagnostic()
        if step.refused is not None and step.refused.value != stayed.code.value:
            expected = f"been refused with {quoted(step.refused.value)}"
            return OtherOutcome(self._test.name, expected, happened, step.refused, stayed.message).diagnostic()
        return None


class _Astray(NamedTuple):
    """Where a flow stays, or went, that was to be led elsewhere."""

    state: str
    why: str


def _led_to(trial: Trial, state: str) -> Trial | _Astray:
    """Lead a flow to a state on a shortest way, by verdicts alone; guards may keep it from going there."""
    ways: dict[str, tuple[str, str] | None] = {trial.state.id: None}
    todo = deque(ways)
    while todo and state not in ways:
        here = todo.popleft()
        for each in trial.definition.state(here).transitions:
            if each.target not in ways:
                ways[each.target] = (here, each.id)
                todo.append(each.target)
    steps: list[tuple[str, str]] = []
    at, target = ways[state], state
    while at is not None:
        steps.append((at[1], target))
        target = at[0]
        at = ways[target]
    for transition, target in reversed(steps):
        checks = {name: Verdict.MET for each in trial.state.transitions for name in each.checks}
        here = trial.state.id
        trial, outcome = trial.ask({transition: Verdict.MET}, checks=checks)
        if isinstance(outcome, Stayed):
            return _Astray(here, outcome.message)
        if outcome.state != target:
            return _Astray(here, f"guards lead to state {quoted(outcome.state)} from there")
    return trial
