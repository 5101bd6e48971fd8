"""Running the verdicts that a log recorded through another definition, to see where it would have gone elsewhere.

Invariants: nothing is judged again; a recorded verdict counts for the transition of the same id, whatever the wording of its condition
is by now, and a changed wording is said; the replay ends where the two part, for what was judged after that was judged elsewhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from stateward.runtime.core.events import (
    Judgement,
    StateEntered,
    TransitionCheckPassed,
    TransitionCheckRejected,
)
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.instance import JUDGED_CODES
from stateward.runtime.core.judging import Passed, rule_again
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.view import LoggedEvent
from stateward.runtime.session.entries import reference

CHANGES_MAX: Final = 256
"""Changed wordings that are said."""


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

    def take(self, logged: LoggedEvent) -> Divergence | None:
        """Follow one event."""
        event, entry = logged.event, reference(logged.id.seq)
        match event:
            case StateEntered(state=state, transition=None):
                return self._led(state, entry, by_act=bool(self.state))
            case StateEntered(state=state):
                return None if state == self.state else Divergence(entry, self.state, state, self.state, "another state is entered")
            case TransitionCheckPassed(judgements=judgements):
                return self._ruled(judgements, entry, self._target(event.transition))
            case TransitionCheckRejected(judgements=judgements, code=code) if code in JUDGED_CODES:
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
        here = self.other.state(self.state)
        ids = [each.id for each in here.transitions]
        added = [each for each in ids if each not in {judgement.transition for judgement in judgements}]
        if added:
            return Divergence(entry, self.state, recorded, "", f"no verdict was given for transition {shown(added[0])}, which is new")
        known = tuple(each for each in judgements if each.transition in ids)
        ruling = rule_again(here, known)
        target = self._other_target(ruling.transition) if isinstance(ruling, Passed) else self.state
        why = f"transition `{ruling.transition}` is taken" if isinstance(ruling, Passed) else ruling.message
        if target != recorded:
            return Divergence(entry, self.state, recorded, target, why)
        if isinstance(ruling, Passed):
            self._come_to(target)
        return None

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
        changed += [f"transition `{each}` is gone" for each in wordings if now.transition(each) is None]
        for what in changed:
            if len(self.changes) < CHANGES_MAX:
                self.changes[f"state `{state}`: {what}"] = None


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
