"""The tools of an agent inside a Worker, whatever framework it is written with, and the recording of what its other tools did.

Invariants: a tool gives a text and raises for nothing that a model can act on; asking blocks no loop, and who is cancelled stops the
verification; what is recorded is the host's word and no claim of the agent.
"""

import asyncio
import json
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import HostChannel, HostRecord, InProgress, RecordKey, Standing, WorkerChannel
from stateward.runtime.session.entries import Kind
from stateward.runtime.surfaces.agents.inside import CHANNEL, Inside, Refused
from stateward.runtime.telling import asked_told, refusal_told, standing_told, written_told

WAIT_SECONDS: Final = 600.0
"""How long a tool waits for a verification; after that it says that it goes on."""
SLICE_SECONDS: Final = 2.0
"""How long a thread waits at a time, so that who is cancelled need not wait longer."""
NAMES: Final = ("request_flow_transition", "flow_status", "session_note", "set_variables")
DESCRIPTIONS: Final = {
    "request_flow_transition": (
        "Ask to leave the current state of the flow. Give the reason why its work is done, with where that can be seen. An independent "
        "verifier checks it; the answer is the next state with its instructions, or what is missing."
    ),
    "flow_status": "Say in which state the flow is, what is to be done there and how it is left.",
    "session_note": "Keep a note in the session log. A note is a claim; it is no evidence.",
    "set_variables": (
        "Set variables that the current state writes, all that are given or none: a value for each name. `flow_status` lists them with "
        "what each must be. Guards read them when a transition is asked for: set them before. A flow without variables has none to set."
    ),
}


class WorkerTools:
    """The tools, over a channel."""

    def __init__(self, channel: WorkerChannel, wait_seconds: float = WAIT_SECONDS) -> None:
        self._channel, self._wait = channel, wait_seconds

    async def request_flow_transition(self, reason: str) -> str:
        """Ask to leave the state, and give what came of it."""
        deadline = monotonic() + self._wait
        while True:
            rest = max(0.0, deadline - monotonic())
            try:
                asked = await asyncio.to_thread(self._channel.ask, reason, min(SLICE_SECONDS, rest))
            except asyncio.CancelledError:
                await asyncio.shield(asyncio.to_thread(self._channel.cancel))
                raise
            if not isinstance(asked, InProgress) or rest == 0.0:
                return asked_told(asked)

    async def flow_status(self) -> str:
        """Say where the Worker stands."""
        return await asyncio.to_thread(self.status)

    async def session_note(self, text: str) -> str:
        """Keep a note."""
        return await asyncio.to_thread(self.note, text)

    async def set_variables(self, values: dict[str, Any]) -> str:
        """Set variables."""
        return await asyncio.to_thread(self.assign, values)

    def request(self, reason: str) -> str:
        """Ask to leave the state, and give what came of it; for programs without a loop."""
        return asked_told(self._channel.ask(reason, self._wait))

    def status(self) -> str:
        """Say where the Worker stands; for programs without a loop."""
        standing = self._channel.standing()
        return refusal_told(standing) if isinstance(standing, Refusal) else standing_told(standing)

    def note(self, text: str) -> str:
        """Keep a note; for programs without a loop."""
        noted = self._channel.note(text)
        return refusal_told(noted) if isinstance(noted, Refusal) else f"Noted in entry {noted.head.seq}."

    def assign(self, values: dict[str, Any]) -> str:
        """Set variables; for programs without a loop."""
        return written_told(self._channel.set_variables(values))

    def unfinished(self) -> str | None:
        """Say what is still to be done, for an agent that would stop; None where nothing is, or an operator has a hand on the Worker."""
        standing = standing_of(self._channel)
        if not standing.is_active or standing.flow is None or standing.flow.paused:
            return None
        return standing_told(standing)


def standing_of(channel: WorkerChannel | HostChannel) -> Standing:
    """Give where a Worker stands. Raises Refused."""
    standing = channel.standing()
    if isinstance(standing, Refusal):
        raise Refused(standing)
    return standing


class Recorder:
    """Records what an agent's own tools were called with and gave, as evidence."""

    def __init__(self, inside: Inside) -> None:
        self._host, self._session = inside.host, inside.session

    def called(self, use: str, tool: str, arguments: Mapping[str, Any]) -> None:
        """Record a call, under the id that the framework gave it. Raises Refused."""
        self._record(Kind.TOOL_CALL, use, "call", {"tool_name": tool, "tool_input": arguments})

    def gave(self, use: str, tool: str, output: object) -> None:
        """Record what a call gave. Raises Refused."""
        self._record(Kind.TOOL_RESULT, use, "result", {"tool_name": tool, "tool_response": output})

    def failed(self, use: str, tool: str, problem: BaseException) -> None:
        """Record that a call failed. Raises Refused."""
        self._record(Kind.TOOL_RESULT, use, "result", {"tool_name": tool, "error": f"{type(problem).__name__}: {problem}"})

    def _record(self, kind: str, use: str, part: str, told: Mapping[str, Any]) -> None:
        payload = json.dumps(told, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
        answer = self._host.record((HostRecord(kind, payload, RecordKey(CHANNEL, self._session, use, part)),))
        if isinstance(answer, Refusal):
            raise Refused(answer)
