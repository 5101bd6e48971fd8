"""One behaviour everywhere: the same work, asked for through every surface, gets the same answers and leaves the same log."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.session import ClientSession

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Answered, HostRecord, RecordKey, WorkerChannel
from stateward.runtime.session.answers import ANSWER
from stateward.runtime.session.entries import Actor, ActorClass, Kind
from stateward.runtime.surfaces.agents.inside import inside
from stateward.runtime.surfaces.mcp.forms import ASKED
from stateward.runtime.wiring import host_channel
from stateward.runtime.wiring.reaching_workers import remote_agent_channel
from tests.cli.program import STATEWARD
from tests.mcp.desk import Desk, client, desk

WAIT_SECONDS = 60.0
NEEDLESS = re.compile(
    r"(?P<id>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})|(?P<digest>sha256:[0-9a-f]{64})|(?P<time>\d{4}-\d\d-\d\dT[0-9:.]+Z)"
)
"""What differs from one run to the next: ids, what is made of them, and times."""


@dataclass(frozen=True)
class Asked:
    """What came of a request, whatever surface told it."""

    result: str
    code: str
    message: str
    repeated: bool = False
    state: str = ""
    visit: int = 0
    status: str = ""
    instructions: str = ""
    transition: str = ""
    verdicts: str = ""


class Way(Protocol):
    """A surface that a Worker can be reached through."""

    def ask(self, reason: str) -> Asked: ...

    def standing(self) -> dict[str, Any]:
        """Give state, visit, status, instructions and conditions."""


def of_answer(answer: dict[str, Any], *, repeated: bool) -> Asked:
    moved = answer["outcome"] == "entered"
    return Asked(
        "moved" if moved else "stays",
        answer["code"],
        answer["message"],
        repeated,
        answer["state"],
        answer["visit"],
        answer["status"],
        answer["instructions"],
        answer["transition"] or "",
        json.dumps(answer["results"], sort_keys=True),
    )


class Command:
    """The command line."""

    def __init__(self, at: Desk, worker: str) -> None:
        self._at, self._worker = at, worker

    def ask(self, reason: str) -> Asked:
        command = [str(STATEWARD), "request", self._worker, "--reason", reason, "--json"]
        done = subprocess.run(command, cwd=self._at.work, env=self._at.environment, capture_output=True, text=True, check=False)
        told = json.loads(done.stdout)
        if told["result"] == "refused":
            return Asked("refused", told["code"], told["message"])
        return of_answer(told["answer"], repeated=told["repeated"])

    def standing(self) -> dict[str, Any]:
        flow = json.loads(self._at.run("status", self._worker, "--json"))["flow"]
        return {
            **{name: flow[name] for name in ("state", "visit", "status", "instructions")},
            "conditions": [each["condition"] for each in flow["transitions"]],
        }


class Channel:
    """A channel, in process or over HTTP."""

    def __init__(self, channel: WorkerChannel) -> None:
        self._channel = channel

    def ask(self, reason: str) -> Asked:
        asked = self._channel.ask(reason, WAIT_SECONDS)
        if isinstance(asked, Refusal):
            return Asked("refused", str(asked.code), asked.message)
        assert isinstance(asked, Answered), asked
        written = ANSWER.write(asked.answer)
        assert isinstance(written, dict)
        return of_answer(written, repeated=asked.repeated)

    def standing(self) -> dict[str, Any]:
        standing = self._channel.standing()
        assert not isinstance(standing, Refusal)
        flow = standing.flow
        assert flow is not None
        return {
            "state": flow.state,
            "visit": flow.visit,
            "status": flow.status,
            "instructions": flow.instructions,
            "conditions": [each.condition for each in flow.ways],
        }


class Mcp:
    """The MCP server, and a client of it."""

    def __init__(self, portal: BlockingPortal, session: ClientSession) -> None:
        self._portal, self._session = portal, session

    def _call(self, name: str, arguments: dict[str, str]) -> dict[str, Any]:
        found = self._portal.call(self._session.call_tool, name, arguments).structured_content
        assert found is not None
        return found

    def ask(self, reason: str) -> Asked:
        told = self._call("request_flow_transition", {"reason": reason})
        assert set(ASKED["properties"]) == set(told)
        if told["result"] == "refused":
            return Asked("refused", told["code"], told["message"])
        verdicts = json.dumps(told["verdicts"], sort_keys=True)
        same = ("result", "code", "message", "repeated", "state", "visit", "status", "instructions", "transition")
        return Asked(**{name: told[name] for name in same}, verdicts=verdicts)

    def standing(self) -> dict[str, Any]:
        told = self._call("flow_status", {})
        same = {name: told[name] for name in ("state", "visit", "status", "instructions")}
        return {**same, "conditions": [each["condition"] for each in told["ways"]]}


def played(at: Desk, worker: str, way: Way) -> list[object]:
    """Play the same work, and give everything that was told."""

    def evidence(tool: str, output: str, use: str) -> None:
        payload = json.dumps({"tool_name": tool, "tool_response": output}).encode()
        with host_channel(at.work, None, worker, Actor(ActorClass.HOST, "hook", host_session="s-1")) as channel:
            channel.record((HostRecord(Kind.TOOL_RESULT, payload, RecordKey("test", "s-1", use, "result")),))

    told: list[object] = [way.standing(), way.ask(" \n"), way.ask("Trust me."), way.ask("Trust me.")]
    evidence("run_tests", "exit status 0", "use-1")
    told += [way.ask("Trust me."), way.standing()]
    evidence("review", "no findings", "use-2")
    told += [way.ask("Reviewed.")]
    evidence("commit", "1 file changed", "use-3")
    return [*told, way.ask("Committed."), way.ask("Once more."), way.standing()]


@contextmanager
def served(at: Desk, worker: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the Workspace, and put the token for the Worker where clients look."""
    issued = json.loads(at.run("token", "issue", "--name", "agent", "--scope", f"work:{worker}", "--json"))
    monkeypatch.setenv("STATEWARD_TOKEN", issued["token"])
    command = [STATEWARD, "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=at.work, env=at.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
        server.terminate()


def log_of(at: Desk, worker: str) -> list[str]:
    """Give the log, without what differs from run to run and without who asked: the command line is a person, the others are agents."""
    lines = at.run("log", "show", worker, "--json").splitlines()
    entries = [json.loads(line) for line in lines]
    plain: list[str] = []
    for each in entries:
        payload, events = (
            NEEDLESS.sub(lambda found: f"‹{found.lastgroup}›", part).replace(str(at.root), "‹root›")
            for part in (each["payload"], json.dumps(each["events"], sort_keys=True))
        )
        who = "asker" if each["actor"]["class"] in {"person", "agent"} else each["actor"]["class"]
        plain.append(f"{each['kind']} {who} {each['evidence']} {payload} {events}")
    return plain


@pytest.fixture
def through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[list[object], list[str]]]:
    """Play through a surface, in a project of its own."""

    def play(name: str) -> tuple[list[object], list[str]]:
        (tmp_path / name).mkdir()
        at = desk(tmp_path / name)
        for variable, value in at.environment.items():
            monkeypatch.setenv(variable, value)
        worker = at.start("--text", "Ticket 41")
        if name == "http":
            with served(at, worker, monkeypatch) as server, remote_agent_channel(server, worker) as channel:
                told = played(at, worker, Channel(channel))
        elif name == "python":
            with inside(worker, session="s-1", folder=at.work) as opened:
                told = played(at, worker, Channel(opened.agent))
        elif name == "mcp":
            with start_blocking_portal() as portal, portal.wrap_async_context_manager(client(at, "--worker", worker)) as session:
                told = played(at, worker, Mcp(portal, session))
        else:
            told = played(at, worker, Command(at, worker))
        return told, log_of(at, worker)

    return play


def test_every_surface_gives_the_same_answers_and_leaves_the_same_log(through: Callable[[str], tuple[list[object], list[str]]]) -> None:
    told, log = through("command")
    results = [each.result for each in told if isinstance(each, Asked)]
    assert ["refused", "stays", "stays", "moved", "moved", "moved", "refused"] == results
    for name in ("python", "mcp", "http"):
        others, other_log = through(name)
        assert told == others, name
        assert log == other_log, name
