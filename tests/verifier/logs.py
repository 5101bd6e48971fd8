"""Captured logs for tests of what a judge is shown: entries of our choice, and requests over them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from stateward.runtime.core.instance import Aside
from stateward.runtime.ports import Question, VerificationRequest
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Entry, Kind, NewEntry

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ACTORS = {each: Actor(each, "hook" if each is ActorClass.HOST else "mcp") for each in ActorClass}
READY = Question("ready", "check", "The test suite passes.", synthetic=False)
CANCEL = Question("$cancel", "$cancelled", "It is impossible to go on.", synthetic=True)


@dataclass(frozen=True)
class Said:
    """An entry before it has a place."""

    kind: str
    by: ActorClass
    payload: bytes

    def new(self) -> NewEntry:
        return NewEntry(self.kind, ACTORS[self.by], NOON, self.payload)


def said(kind: str, by: ActorClass, payload: object) -> Said:
    """Bytes as they are; a text as UTF-8; anything else as JSON."""
    data = payload if isinstance(payload, bytes) else payload.encode() if isinstance(payload, str) else json.dumps(payload).encode()
    return Said(kind, by, data)


def note(text: object = "by the way") -> Said:
    return said(Kind.NOTE, ActorClass.AGENT, text)


def host_result(payload: object = "2 passed") -> Said:
    return said(Kind.TOOL_RESULT, ActorClass.HOST, payload)


def ran(command: object, status: int = 0, output: str = "1 failed") -> Said:
    """What a host records of a command that was run."""
    return host_result({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {"exit_code": status, "stdout": output}})


def log(*entries: Said) -> tuple[Entry, ...]:
    return link_all("w", GENESIS, [each.new() for each in entries])


def asked(
    *entries: Said,
    reason: str = "all tests pass",
    questions: Sequence[Question] = (READY, CANCEL),
    aside: tuple[Aside, ...] = (),
    attempt: str = "0198c0de-0000-7000-8000-000000000001",
) -> VerificationRequest:
    return VerificationRequest(
        worker="w",
        attempt=attempt,
        attempt_number=1,
        flow="paper",
        state="work",
        visit=1,
        instructions="Make the tests pass.",
        reason=reason,
        questions=tuple(questions),
        captured=log(*entries),
        aside=aside,
    )
