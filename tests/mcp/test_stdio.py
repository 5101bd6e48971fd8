"""An agent's client at standard input and output: the tools, a whole flow, what takes long or is cancelled, and how the server ends."""

import json
import os
import select
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.wiring import host_channel
from tests.cli.program import STATEWARD
from tests.mcp.desk import INITIALIZE, REQUEST, Desk, client, desk, form, run, text

LEFT_SECONDS = 20.0
"""After which a test is given up that would otherwise hang."""


def test_an_agent_works_through_a_flow_with_a_rejection_and_a_restart_of_the_server(tmp_path: Path) -> None:
    at = desk(tmp_path)
    worker = at.start("--text", "Ticket 41")

    async def first() -> None:
        async with client(at) as session:
            status = form(await session.call_tool("flow_status", {}))
            assert (worker, "implement", 1, "active") == (status["worker"], status["state"], status["visit"], status["status"])
            rejected = form(await session.call_tool(REQUEST, {"reason": "All tests pass, trust me."}))
            assert ("stays", "implement", "no_condition_met") == (rejected["result"], rejected["state"], rejected["code"])
            assert {"transition": "submit", "missing": ["a recorded result of `run_tests` that says: exit status 0"]} == {
                name: rejected["verdicts"][0][name] for name in ("transition", "missing")
            }
            missing = form(await session.call_tool("flow_status", {}))["missing"]
            assert ["submit", "$cancel"] == [each["transition"] for each in missing]
            at.record(worker, "run_tests", "exit status 0", "use-1")
            moved = await session.call_tool(REQUEST, {"reason": "The last run shows it."})
            assert ("moved", "submit", "review") == tuple(form(moved)[name] for name in ("result", "transition", "state"))
            assert form(moved)["instructions"] in text(moved)

    async def second() -> None:
        async with client(at) as session:
            assert "review" == form(await session.call_tool("flow_status", {}))["state"]
            at.record(worker, "review", "no findings", "use-2")
            assert "complete" == form(await session.call_tool(REQUEST, {"reason": "Reviewed."}))["state"]
            at.record(worker, "commit", "1 file changed", "use-3")
            ended = form(await session.call_tool(REQUEST, {"reason": "Committed."}))
            assert ("moved", "done", "completed") == (ended["result"], ended["state"], ended["status"])
            again = await session.call_tool(REQUEST, {"reason": "Once more."})
            assert (True, "refused", "no_active_instance") == (again.is_error, form(again)["result"], form(again)["code"])

    run(first)
    run(second)


def test_a_tool_takes_its_arguments_and_nothing_else(tmp_path: Path) -> None:
    at = desk(tmp_path)
    at.start()

    async def calls() -> None:
        async with client(at) as session:
            for name, arguments, problem in (
                (REQUEST, {"reason": "x", "target": "done"}, "the argument `target` is not known; it takes `reason` and nothing else"),
                (REQUEST, {}, "the argument `reason` is missing; it takes `reason` and nothing else"),
                (REQUEST, {"reason": 7}, "the argument `reason` is no text"),
                ("flow_status", {"worker": "another"}, "the argument `worker` is not known; it takes no arguments"),
            ):
                result = await session.call_tool(name, arguments)
                assert (True, f"{name}: {problem}") == (result.is_error, text(result))
            noted = form(await session.call_tool("session_note", {"text": "All is well."}))
            assert noted["entry"].startswith("E0000")

    run(calls)
    assert "request" not in at.run("log", "show")


def test_a_sub_agent_may_not_ask_and_may_look(tmp_path: Path) -> None:
    at = desk(tmp_path)
    at.start()

    async def calls() -> None:
        async with client(at) as session:
            refused = await session.call_tool(REQUEST, {"reason": "Done."}, meta={"agent_id": "agent-7"})
            assert (True, "a sub-agent (agent-7) may not ask to leave the state; the agent that it works for may") == (
                refused.is_error,
                text(refused),
            )
            assert not (await session.call_tool("flow_status", {}, meta={"agent_id": "agent-7"})).is_error

    run(calls)


def test_what_is_read_of_a_worker_is_its_next_step_its_source_its_graph_and_its_log(tmp_path: Path) -> None:
    at = desk(tmp_path)
    worker = at.start()

    async def reads() -> None:
        async with client(at) as session:
            (prompt,) = (await session.list_prompts()).prompts
            assert "next_step" == prompt.name
            (message,) = (await session.get_prompt("next_step")).messages
            assert message.content.text.startswith(f"Worker {worker} is in state `implement`")
            read = {}
            for each in (await session.list_resources()).resources:
                (content,) = (await session.read_resource(each.uri)).contents
                assert each.mime_type == content.mime_type
                read[str(each.uri)] = content.text
            assert 'name = "coder-review";' in read["stateward://flow/source"]
            assert read["stateward://flow/graph"].startswith("flowchart") or "stateDiagram" in read["stateward://flow/graph"]
            assert read["stateward://flow/picture"].startswith("<svg")
            log = [json.loads(line) for line in read["stateward://session/log"].splitlines()]
            assert ["E00000001", "E00000002"] == [each["entry"] for each in log]

    run(reads)


def test_a_verification_longer_than_the_wait_answers_and_goes_on_with_the_next_call(tmp_path: Path) -> None:
    at = desk(tmp_path, slow=True)
    worker = at.start()
    at.record(worker, "run_tests", "exit status 0", "use-1")
    told: list[str | None] = []

    async def heard(_progress: float, _total: float | None, message: str | None) -> None:
        told.append(message)

    async def calls() -> None:
        async with client(at, "--wait", "1.5") as session:
            first = form(await session.call_tool(REQUEST, {"reason": "Done."}, progress_callback=heard))
            assert "verifying" == first["result"]
            assert {f"verifying attempt {first['attempt']}"} == set(told)
            looked = form(await session.call_tool("flow_status", {}))
            assert (first["attempt"], "Done.") == (looked["open_attempt"], looked["open_reason"])
            at.go()
            second = form(await session.call_tool(REQUEST, {"reason": "Done."}))
            assert (first["attempt"], "moved", "review") == (second["attempt"], second["result"], second["state"])

    run(calls)
    assert 1 == at.asked()


@pytest.mark.parametrize("several", [False, True])
def test_a_server_that_knows_no_worker_says_which_there_are_at_each_call(tmp_path: Path, *, several: bool) -> None:
    at = desk(tmp_path)
    workers = [at.start(), at.start()]
    if not several:
        for each in workers:
            at.run("operate", "cancel", each, "--reason", "enough")

    async def calls() -> None:
        async with client(at) as session:
            assert [REQUEST, "flow_status", "session_note", "set_variables"] == [each.name for each in (await session.list_tools()).tools]
            result = await session.call_tool("flow_status", {})
            assert result.is_error
            listed = "".join(f"\n  {each}" for each in workers)
            assert text(result).startswith(
                f"2 Workers of this Workspace are active:{listed}" if several else "no Worker of this Workspace is active"
            )
        async with client(at, environment={"STATEWARD_WORKER": workers[0]}) as session:
            assert workers[0] == form(await session.call_tool("flow_status", {}))["worker"]

    run(calls)


def test_a_flow_is_started_by_an_agent_only_where_the_profile_lists_it(tmp_path: Path) -> None:
    at = desk(tmp_path, more='agent_selectors = ["builtin:coder-review"];')
    worker = at.start()
    at.run("operate", "cancel", worker, "--reason", "enough")

    async def calls() -> None:
        async with client(at, "--worker", worker) as session:
            names = [each.name for each in (await session.list_tools()).tools]
            assert "submit_flow_input" in names
            refused = await session.call_tool("submit_flow_input", {"selector": "workspace:other", "text": ""})
            assert "selector_not_allowed" in text(refused)
            begun = form(await session.call_tool("submit_flow_input", {"selector": "builtin:coder-review", "text": "Ticket 42"}))
            assert begun["instance"]
            assert "implement" == form(await session.call_tool("flow_status", {}))["state"]

    run(calls)


# --- the wire ------------------------------------------------------------------------------------------------------------------------


def started(at: Desk, **environment: str) -> subprocess.Popen[bytes]:
    environment = {**at.environment, **environment}
    return subprocess.Popen(
        [STATEWARD, "mcp"], cwd=at.work, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def send(server: subprocess.Popen[bytes], *messages: object) -> None:
    assert server.stdin is not None
    for each in messages:
        server.stdin.write((each if isinstance(each, str) else json.dumps(each)).encode() + b"\n")
    server.stdin.flush()


def received(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert server.stdout is not None
    ready, _, _ = select.select([server.stdout], [], [], LEFT_SECONDS)
    assert ready, "the server says nothing"
    message: dict[str, Any] = json.loads(server.stdout.readline())
    return message


def initialized(server: subprocess.Popen[bytes]) -> None:
    send(server, INITIALIZE)
    assert "stateward" == received(server)["result"]["serverInfo"]["name"]
    send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})


def ended(server: subprocess.Popen[bytes]) -> tuple[list[Any], str, int]:
    out, err = server.communicate(timeout=LEFT_SECONDS)
    return [json.loads(line) for line in out.splitlines()], err.decode(), server.returncode


@pytest.fixture
def printing(tmp_path: Path) -> str:
    """A folder with a module that prints when it is imported, in place of one that the program imports."""
    folder = tmp_path / "printing"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import warnings, logging\nlogging.basicConfig(level=logging.DEBUG)\n"
        "class Loud:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'mcp': print('a banner'); warnings.warn('old')\n"
        "import sys\nsys.meta_path.insert(0, Loud())\n"
    )
    return str(folder)


def test_nothing_but_the_protocol_is_written_whatever_prints(tmp_path: Path, printing: str) -> None:
    at = desk(tmp_path)
    at.start()
    server = started(at, PYTHONPATH=printing, PYTHONWARNINGS="always", PYTHONUNBUFFERED="1")
    initialized(server)
    call = {"name": "flow_status", "arguments": {}}
    send(server, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}, "no message", '{"jsonrpc": "2.0"}')
    answers = [received(server) for _ in range(3)]
    lines, errors, status = ended(server)
    found = {each.get("id"): each for each in [*answers, *lines]}
    assert "implement" == found[2]["result"]["structuredContent"]["state"]
    assert [-32700, -32600] == [each["error"]["code"] for each in answers if each["id"] is None]
    assert (0, True) == (status, "a banner" in errors)


def test_what_cannot_be_served_is_told_at_the_call_and_not_on_the_wire(tmp_path: Path) -> None:
    at = desk(tmp_path)
    at.start()
    (at.root / "config" / "stateward" / "profiles" / "judged.dcdl").write_text("schema_version = ;")
    server = started(at)
    initialized(server)
    send(server, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "flow_status", "arguments": {}}})
    result = received(server)["result"]
    assert result["isError"]
    assert "profile `judged` cannot be used" in result["content"][0]["text"]
    assert ([], 0) == (ended(server)[0], server.returncode)


def test_a_server_whose_input_is_at_its_end_ends(tmp_path: Path) -> None:
    at = desk(tmp_path)
    done = subprocess.run([STATEWARD, "mcp"], cwd=at.work, env=at.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (b"", 0) == (done.stdout, done.returncode)


@pytest.mark.parametrize("how", ["input", "term", "interrupt"])
def test_a_server_ends_while_it_verifies_and_the_attempt_is_gone_on_with(tmp_path: Path, how: str) -> None:
    at = desk(tmp_path, slow=True)
    worker = at.start()
    at.record(worker, "run_tests", "exit status 0", "use-1")
    server = started(at)
    initialized(server)
    call = {"name": REQUEST, "arguments": {"reason": "Done."}}
    send(server, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    while at.asked() == 0:
        os.sched_yield()
    if how != "input":
        server.send_signal(signal.SIGTERM if how == "term" else signal.SIGINT)
    lines, _, status = ended(server)
    assert (0, [2] * len(lines)) == (status, [each.get("id") for each in lines])
    at.go()
    status_of = json.loads(at.run("status", "--json"))["flow"]
    assert status_of["attempt"] is not None
    answer = json.loads(at.run("request", "--reason", "Done.", "--json"))
    assert (status_of["attempt"]["id"], "review") == (answer["answer"]["attempt"], answer["answer"]["state"])


def test_a_call_that_is_cancelled_stops_the_verification_and_that_is_logged(tmp_path: Path) -> None:
    at = desk(tmp_path, slow=True)
    worker = at.start()
    at.record(worker, "run_tests", "exit status 0", "use-1")
    server = started(at)
    initialized(server)
    call = {"name": REQUEST, "arguments": {"reason": "Done."}}
    send(server, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    while at.asked() == 0:
        os.sched_yield()
    send(server, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "too long"}})
    with at.environed(), host_channel(at.work, None, worker, Actor(ActorClass.HOST, "hook")) as channel:
        standing = channel.standing()
        while standing.head.seq < 5:  # the note follows on the request
            standing = channel.standing()
    assert standing.flow.open is not None
    at.go()
    send(server, {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call})
    answers = {each["id"]: each for each in (received(server), *ended(server)[0])}
    moved = answers[3]["result"]["structuredContent"]
    assert (standing.flow.open.attempt, "moved") == (moved["attempt"], moved["result"])
    assert f"verifying attempt {moved['attempt']} was stopped by whoever asked" in at.run("log", "show", "--json")
