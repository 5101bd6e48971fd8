"""Running the verdicts that a log recorded through another definition, to see where it would have gone elsewhere.

Invariants: nothing is judged and no check run again; a recorded verdict counts for the transition of the same id, and what came of a check
for the check of the same name, whatever their wording is by now, and a changed wording is said; guards are those of the other definition,
evaluated on what was known when the request was made; the replay ends where the two part, for what came after that was of elsewhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from stateward.runtime.core.events import (
    ChecksRun,
    InstanceStarted,
    Judgement,
    Part,
    PartKind,
    Recorded,
    RejectionCode,
    StateEntered,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    Verdict,
)
from stateward.runtime.core.evolve import evolve
from stateward.runtime.core.flow import Flow, Transition
from stateward.runtime.core.instance import JUDGED_CODES, NOTHING_YET, FlowState, Instance
from stateward.runtime.core.judging import Passed, Rejected, Ruling, rule_again
from stateward.runtime.core.selecting import Ask, Blocked, Run, Taken, guard_parts, next_of, visits_left
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.view import LoggedEvent
from stateward.runtime.session.entries import reference

CHANGES_MAX: Final = 256
"""Changed wordings that are said."""
_RUN_AGAIN: Final = JUDGED_CODES | {RejectionCode.LIMIT_REACHED}
"""The rejections that follow from what was found of the work, and so may be no rejections elsewhere."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where the other definition leads elsewhere."""

    entry: str
    """The entry that recorded the verdicts, or the act, by its reference."""
    state: str
    recorded: str
    """The state that the log stood in after it."""
    elsewhere: str
    """The state that the other definition leads to; empty when it has none to go on in."""
    why: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the recorded verdicts come to under another definition."""

    instance: str
    state: str
    """Where it stands in the end, or where the two part."""
    judged: int
    """Attempts whose verdicts were run."""
    changes: tuple[str, ...]
    """What of the states that were visited is worded differently."""
    divergence: Divergence | None
    """None when it goes the same way to the end."""


@dataclass
class _Replay:
    recorded: Flow
    other: Flow
    state: str = ""
    judged: int = 0
    changes: dict[str, None] = field(default_factory=dict)
    """In order, each once."""
    flow: FlowState = NOTHING_YET
    """What was recorded comes to."""
    guards: tuple[Part, ...] = ()
    """What the guards of the other definition come to at the open request."""
    checks: dict[str, Verdict] = field(default_factory=dict)
    """What came of the checks that were run for it, by name."""

    def take(self, logged: LoggedEvent) -> Divergence | None:
        """Follow one event."""
        divergence = self._followed(logged)
        if divergence is None:
            self.flow = evolve(_begun(self.flow, logged), Recorded(logged.id, logged.event))
        return divergence

    def _followed(self, logged: LoggedEvent) -> Divergence | None:
        event, entry = logged.event, reference(logged.id.seq)
        match event:
            case TransitionRequested():
                self.guards, self.checks = guard_parts(self.other, self._instance), {}
                return None
            case ChecksRun(parts=parts):
                self.checks |= {each.name: each.verdict for each in parts}
                return None
            case StateEntered(state=state, transition=None):
                return self._led(state, entry, by_act=bool(self.state))
            case StateEntered(state=state):
                return None if state == self.state else Divergence(entry, self.state, state, self.state, "another state is entered")
            case TransitionCheckPassed(judgements=judgements):
                return self._ruled(judgements, entry, self._target(event.transition))
            case TransitionCheckRejected(judgements=judgements, code=code) if code in _RUN_AGAIN:
                return self._ruled(judgements, entry, self.state)
            case _:
                return None

    def _led(self, state: str, entry: str, *, by_act: bool) -> Divergence | None:
        if not by_act and state != self.other.initial:
            return Divergence(entry, "", state, self.other.initial, f"the initial state is `{self.other.initial}`")
        if not self._has(state):
            return Divergence(entry, self.state, state, "", f"there is no state `{state}`")
        self._come_to(state)
        return None

    def _ruled(self, judgements: tuple[Judgement, ...], entry: str, recorded: str) -> Divergence | None:
        """Rule on recorded verdicts by the other definition."""
        self.judged += 1
        ruling = self._ruling({each.transition: each for each in judgements})
        if isinstance(ruling, str):
            return Divergence(entry, self.state, recorded, "", ruling)
        target, why = self._led_by(ruling)
        if target != recorded:
            return Divergence(entry, self.state, recorded, target, why)
        if isinstance(ruling, Passed) and target != self.state:
            self._come_to(target)
        return None

    def _ruling(self, judged: Mapping[str, Judgement]) -> Ruling | str:
        """Rule; or say what was never found out that this would need."""
        here = self.other.state(self.state)
        parts = (*self.guards, *(part for each in here.transitions for part in self._checked(each)))
        step = next_of(here, parts)
        match step:
            case Taken(transition):
                return Passed(transition, ())
            case Blocked(code, message):
                return Rejected(code, message)
            case Run(checks):
                return f"check {shown(checks[0])} was not run"
            case Ask(transitions):
                lacking = next((each for each in transitions if each not in judged), None)
                if lacking is None:
                    return rule_again(here, [judged[each] for each in transitions], parts)
                is_new = self.recorded.state(self.state).transition(lacking) is None
                return f"no verdict was given for transition {shown(lacking)}, {'which is new' if is_new else 'of which nobody was asked'}"

    def _checked(self, transition: Transition) -> Iterator[Part]:
        for name in transition.checks:
            if name in self.checks:
                yield Part(transition.id, PartKind.CHECK, self.checks[name], name)

    def _led_by(self, ruling: Ruling) -> tuple[str, str]:
        """Give where a ruling leads, and why."""
        if isinstance(ruling, Rejected):
            return self.state, ruling.message
        target = self._other_target(ruling.transition)
        if visits_left(self.other, self._instance, target) == 0:
            return self.state, f"transition `{ruling.transition}` leads to state `{target}`, which has no visit left"
        return target, f"transition `{ruling.transition}` is taken"

    @property
    def _instance(self) -> Instance:
        assert self.flow.instance is not None  # it began before anything was requested
        return self.flow.instance

    def _target(self, transition: str) -> str:
        taken = self.recorded.state(self.state).transition(transition)
        assert taken is not None  # the log was folded with this definition
        return taken.target

    def _other_target(self, transition: str) -> str:
        taken = self.other.state(self.state).transition(transition)
        assert taken is not None  # a ruling names only transitions of the state
        return taken.target

    def _has(self, state: str) -> bool:
        return any(each.id == state for each in self.other.states)

    def _come_to(self, state: str) -> None:
        self.state = state
        before, now = self.recorded.state(state), self.other.state(state)
        changed = ["instructions"] if before.instructions != now.instructions else []
        wordings: Mapping[str, str] = {each.id: each.condition for each in before.transitions}
        changed += [f"condition of `{each.id}`" for each in now.transitions if wordings.get(each.id, each.condition) != each.condition]
        changed += [f"{part} of `{each.id}`" for each in now.transitions for part in _parts_changed(before.transition(each.id), each)]
        changed += [f"transition `{each}` is gone" for each in wordings if now.transition(each) is None]
        for what in changed:
            if len(self.changes) < CHANGES_MAX:
                self.changes[f"state `{state}`: {what}"] = None


def _parts_changed(before: Transition | None, now: Transition) -> Iterator[str]:
    """Name the parts of a transition that the runtime answers itself and that are other ones by now."""
    if before is None:
        return
    if before.guard != now.guard:
        yield "guard"
    if before.checks != now.checks:
        yield "checks"


def _begun(flow: FlowState, logged: LoggedEvent) -> FlowState:
    """Give the state as a fork takes it over, where the event is the first one of a fork: another instance, and no open request."""
    instance = flow.instance
    if instance is None or isinstance(logged.event, InstanceStarted) or instance.id == logged.event.instance:
        return flow
    return replace(flow, instance=replace(instance, id=logged.event.instance, attempt=None, last=None))


def replay_against(events: Iterable[LoggedEvent], instance: str, recorded: Flow, other: Flow) -> Replayed:
    """Run the verdicts recorded for an instance, which pins `recorded`, through `other`.

    `events` are those since the instance began, in the log that it was forked off too.
    """
    replay = _Replay(recorded, other)
    for each in events:
        divergence = replay.take(each)
        if divergence is not None:
            return Replayed(instance, replay.state, replay.judged, tuple(replay.changes), divergence)
    return Replayed(instance, replay.state, replay.judged, tuple(replay.changes), None)
