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


@dataclass(frozen=True)
class Set:
    """What came of setting variables, whatever surface told it."""

    result: str
    told: str
    """The code of a refusal, or what was set."""


class Way(Protocol):
    """A surface that a Worker can be reached through."""

    def ask(self, reason: str) -> Asked: ...

    def set(self, **values: object) -> Set: ...

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

    def _run(self, *arguments: str) -> dict[str, Any]:
        command = [str(STATEWARD), *arguments, "--json"]
        done = subprocess.run(command, cwd=self._at.work, env=self._at.environment, capture_output=True, text=True, check=False)
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def set(self, **values: object) -> Set:
        told = self._run("set", self._worker, *(f"{name}={json.dumps(value)}" for name, value in values.items()))
        if told["result"] == "refused":
            return Set("refused", told["code"])
        return Set("set", f"{told['names']} {told['entry']}")

    def ask(self, reason: str) -> Asked:
        told = self._run("request", self._worker, "--reason", reason)
        if told["result"] == "refused":
            return Asked("refused", told["code"], told["message"])
        return of_answer(told["answer"], repeated=told["repeated"])

    def standing(self) -> dict[str, Any]:
        flow = json.loads(self._at.run("status", self._worker, "--json"))["flow"]
        return {
            **{name: flow[name] for name in ("state", "visit", "status", "instructions")},
            "ways": [
                tuple(each[name] for name in ("id", "target", "condition", "when", "checks", "otherwise")) for each in flow["transitions"]
            ],
            "reads": [(each["name"], each["is_set"], each["holds"]) for each in flow["variables"] if each["read_here"]],
            "writes": [(each["name"], each["constraint"]) for each in flow["variables"] if each["set_here"]],
            "halted": flow["halted"] is not None,
        }


class Channel:
    """A channel, in process or over HTTP."""

    def __init__(self, channel: WorkerChannel) -> None:
        self._channel = channel

    def set(self, **values: object) -> Set:
        written = self._channel.set_variables(values)
        if isinstance(written, Refusal):
            return Set("refused", str(written.code))
        return Set("set", f"{list(written.names)} {written.entry}")

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
            "ways": [(each.transition, each.target, each.condition, each.when, list(each.checks), each.otherwise) for each in flow.ways],
            "reads": [(each.name, each.is_set, each.holds) for each in flow.reads],
            "writes": [(each.name, each.constraint) for each in flow.writes],
            "halted": bool(flow.halted),
        }


class Mcp:
    """The MCP server, and a client of it."""

    def __init__(self, portal: BlockingPortal, session: ClientSession) -> None:
        self._portal, self._session = portal, session

    def _call(self, name: str, arguments: dict[str, str]) -> dict[str, Any]:
        found = self._portal.call(self._session.call_tool, name, arguments).structured_content
        assert found is not None
        return found

    def set(self, **values: object) -> Set:
        told = self._portal.call(self._session.call_tool, "set_variables", {"values": json.dumps(values)})
        if told.is_error:
            (said,) = told.content
            assert said.type == "text"
            return Set("refused", said.text.removeprefix("Refused (").partition(")")[0])
        assert told.structured_content is not None
        return Set("set", f"{told.structured_content['names']} {told.structured_content['entry']}")

    def ask(self, reason: str) -> Asked:
        told = self._call("request_flow_transition", {"reason": reason})
        assert set(ASKED["properties"]) == set(told)
        if told["result"] == "refused":
            return Asked("refused", told["code"], told["message"])
        verdicts = json.dumps(told["verdicts"], sort_keys=True)
        same = ("result", "code", "message", "repeated", "state", "visit", "status", "instructions", "transition")
        said = {name: told[name] for name in same}
        stays = told["result"] == "could_not_check"  # that it is no "no" the other surfaces say by the code
        return Asked(**{**said, "result": "stays" if stays else told["result"]}, verdicts=verdicts)

    def standing(self) -> dict[str, Any]:
        told = self._call("flow_status", {})
        same = {name: told[name] for name in ("state", "visit", "status", "instructions")}
        parts = ("transition", "target", "condition", "when", "checks", "otherwise")
        return {
            **same,
            "ways": [tuple(each[name] for name in parts) for each in told["ways"]],
            "reads": [(each["name"], each["is_set"], json.loads(each["holds"] or "null")) for each in told["reads"]],
            "writes": [(each["name"], each["constraint"]) for each in told["writes"]],
            "halted": bool(told["halted"]),
        }


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


def refined(_at: Desk, _worker: str, way: Way) -> list[object]:
    """Set variables, move by guards up to the limit of visits, and give everything that was told."""
    told: list[object] = [way.standing(), way.ask("Not yet."), way.set(bugs=True), way.set(attempts=-1)]
    told += [way.set(title="The \u00e9 draft", attempts=2, files=["a.py"]), way.set(attempts=2), way.set(title="Draft")]
    told += [way.ask("Done."), way.standing(), way.ask("Trust me."), way.set(bugs=True), way.ask("Trust me.")]
    told += [way.standing(), way.ask("Again."), way.set(bugs=True), way.ask("There are bugs."), way.standing()]
    return [*told, way.set(bugs=False), way.ask("There are none.")]


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


def begun(at: Desk) -> str:
    return at.start("--text", "Ticket 41")


Play = Callable[[Desk, str, Way], list[object]]
Through = Callable[..., tuple[list[object], list[str]]]


@pytest.fixture
def through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Through:
    """Play through a surface, in a project of its own."""

    def play(name: str, begin: Callable[[Desk], str] = begun, played: Play = played) -> tuple[list[object], list[str]]:
        (tmp_path / name).mkdir()
        at = desk(tmp_path / name)
        for variable, value in at.environment.items():
            monkeypatch.setenv(variable, value)
        worker = begin(at)
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


def test_every_surface_gives_the_same_answers_and_leaves_the_same_log(through: Through) -> None:
    told, log = through("command")
    results = [each.result for each in told if isinstance(each, Asked)]
    assert ["refused", "stays", "stays", "moved", "moved", "moved", "refused"] == results
    for name in ("python", "mcp", "http"):
        others, other_log = through(name)
        assert told == others, name
        assert log == other_log, name


def test_variables_are_set_and_guards_decide_alike_through_every_surface(through: Through) -> None:
    told, log = through("command", Desk.refine, refined)
    asked = [(each.result, each.code or each.state) for each in told if isinstance(each, Asked)]
    assert [
        ("stays", "no_condition_met"),
        ("moved", "look"),
        ("stays", "indeterminate"),
        ("moved", "work"),
        ("moved", "look"),
        ("stays", "limit_reached"),
        ("refused", "instance_halted"),
    ] == asked
    sets = [(each.result, each.told.partition(" E")[0]) for each in told if isinstance(each, Set)]
    assert [("refused", "variable_not_writable"), ("refused", "variable_misfit")] == sets[:2]
    assert ["set"] * 6 == [result for result, _ in sets[2:]]
    for name in ("python", "mcp", "http"):
        others, other_log = through(name, Desk.refine, refined)
        assert told == others, name
        assert log == other_log, name
