"""A Worker, a host that calls hooks, and the transcript that it writes: everything real but the clock and the store, which is in memory."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.hosting import EngineHostChannel
from stateward.runtime.ports import Fault, HostChannel, Standing
from stateward.runtime.ports.bindings import Bindings
from stateward.runtime.session.entries import Actor, ActorClass, Entry, Kind
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.surfaces.hooks.calls import HookEvent, Host
from stateward.runtime.surfaces.hooks.choosing import Asked, answer_to
from stateward.runtime.surfaces.hooks.claude import CLAUDE
from stateward.runtime.surfaces.hooks.codex import CODEX
from stateward.runtime.surfaces.hooks.handling import HookAnswer
from stateward.runtime.surfaces.hooks.scanning import members_of
from stateward.runtime.surfaces.hooks.triage import DENIED, is_for_nobody, is_refused
from stateward.store.bindings import FileBindings
from tests.runtime.engines import AGENT, Desk, Judge, saying
from tests.runtime.judgements import MET

RECORDED = Path(__file__).parent / "recorded"
HOSTS: Mapping[str, Host] = {"claude": CLAUDE, "codex": CODEX}
STARTED = 2
"""Entries of a Worker that was just started."""


def recorded(host: str, name: str) -> dict[str, Any]:
    """Give an input as a host sends it."""
    given = json.loads((RECORDED / host / f"{name}.json").read_text("utf-8"))
    assert isinstance(given, dict)
    return given


class Opened:
    """The port `Opening` over one engine in memory."""

    def __init__(self, desk: Desk, folder: Path, secrets: Secrets) -> None:
        self._desk, self._kept, self._secrets = desk, FileBindings(folder), secrets
        self.workers: list[str] = [desk.worker]
        self.fault: Fault | None = None

    def bindings(self) -> Bindings:
        """Give the bindings."""
        return self._kept

    def active(self) -> Sequence[str]:
        """Give the Workers whose flow is active."""
        return [each for each in self.workers if self._is_active(each)]

    def _is_active(self, worker: str) -> bool:
        standing = self._desk.engine.standing(worker)
        return not isinstance(standing, Refusal) and standing.is_active

    @contextmanager
    def channel(self, worker: str, session: str) -> Iterator[HostChannel]:
        """Open a Worker."""
        if self.fault is not None:
            raise self.fault
        yield EngineHostChannel(self._desk.engine, worker, Actor(ActorClass.HOST, "hook", host_session=session))

    def secrets(self) -> Secrets:
        """Give what is kept out of the log."""
        return self._secrets


class Bench:
    """A session of a host, in a folder with one Worker."""

    def __init__(self, folder: Path, host: str = "claude", flow: str = "review", secrets: Secrets = NO_SECRETS) -> None:
        self.host = HOSTS[host]
        self.folder = folder
        self.desk = Desk(flow, actor=AGENT, secrets=secrets)
        self.opening = Opened(self.desk, folder / "sessions", secrets)
        self.session = "5d1f0c2e-7a44-4c1e-9d55-0b6f3f1f2a10"
        self.transcript = folder / f"{self.session}.jsonl"

    def given(self, name: str, **changed: Any) -> dict[str, Any]:
        """Give a recorded input, as it is of this session."""
        here = {"session_id": self.session, "cwd": str(self.folder), "transcript_path": str(self.transcript)}
        return {**recorded(self.host.name, name), **here, **changed}

    def answer(self, event: str, given: Mapping[str, Any], worker: str = "", blocks: int = 3) -> HookAnswer:
        """Call a hook."""
        call = self.host.read(HookEvent(event), members_of(json.dumps(given)))
        if is_for_nobody(call):
            return HookAnswer()
        if is_refused(call):
            return HookAnswer(DENIED)
        return answer_to(Asked(self.host, call, worker, blocks), self.opening)

    def hook(self, event: str, name: str = "", **changed: Any) -> dict[str, Any]:
        """Call a hook with a recorded input of its name, expect no notice, and give what it answers."""
        answer = self.answer(event, self.given(name or event, **changed))
        assert "" == answer.notice
        said = json.loads(answer.output) if answer.output else {}
        assert isinstance(said, dict)
        return said

    def start(self, session: str | None = None, **changed: Any) -> str:
        """Begin a session and give what its agent is told."""
        if session is not None:
            self.session, self.transcript = session, self.folder / f"{session}.jsonl"
        said = self.hook("session-start", **changed)
        return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def stop(self, *, again: bool = False) -> str:
        """Try to stop, and say what came of it: `blocked`, `warned` or `let go`."""
        said = self.hook("stop", stop_hook_active=again)
        return "blocked" if said.get("decision") == "block" else "warned" if said else "let go"

    def write(self, *lines: Mapping[str, Any] | str) -> None:
        """Let the host write lines of its transcript; a text is written as it is, without an end of line."""
        with self.transcript.open("a", encoding="utf-8") as file:
            for each in lines:
                file.write(each if isinstance(each, str) else json.dumps(each) + "\n")

    def ask(self, reason: str, *ways: str) -> None:
        """Ask for a transition through the agent's own tool; these ways out are met."""
        cited = self.desk.record_evidence
        cited()
        self.desk.request(reason, Judge(saying(dict.fromkeys(ways, MET)), self.desk.view.verifier))

    def entries(self) -> list[Entry]:
        """Give what was written since the Worker was started."""
        return self.desk.log()[STARTED:]

    def kinds(self) -> list[str]:
        """Give the kinds of those entries, but for checkpoints."""
        return [each.kind for each in self.entries() if each.kind != Kind.CHECKPOINT]

    def records(self, *kinds: str) -> list[str]:
        """Give what entries of these kinds hold."""
        return [each.payload.decode() for each in self.entries() if each.kind in (kinds or RECORD_KINDS)]

    @property
    def standing(self) -> Standing:
        """Where the Worker stands."""
        standing = self.desk.engine.standing(self.desk.worker)
        assert not isinstance(standing, Refusal)
        return standing


RECORD_KINDS = (Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.NOTE)
