"""An agent's client over HTTP: a whole flow by a token, the tools under the rules of strict clients, and who is turned away."""

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from stateward.runtime.ports import Standing
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.wiring import host_channel
from tests.cli.program import STATEWARD
from tests.mcp.desk import INITIALIZE, REQUEST, Desk, connected, desk, form, run, served, text


@pytest.fixture
def at(tmp_path: Path) -> Desk:
    return desk(tmp_path, more='agent_selectors = ["builtin:coder-review"];')


# --- the tools under strict rules -----------------------------------------------------------------------------------------------------

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
UNIONS = {"anyOf", "oneOf", "allOf", "not", "if", "enum", "const"}
NOWHERE = {"$ref", "$defs", "definitions", "$schema", "$id", "$dynamicRef", "patternProperties", "format"}
KINDS = ("object", "array", "string", "integer", "number", "boolean")
DEPTH_MAX = 5
PROPERTIES_MAX = 100


def faults_of(schema: Any, where: str, depth: int = 1) -> Iterator[str]:
    """Tell what a strict client would reject in a schema: each object closed with all members required, one type, no references."""
    if depth > DEPTH_MAX:
        yield f"{where}: deeper than {DEPTH_MAX}"
    yield from (f"{where}: holds {word}" for word in sorted(NOWHERE.intersection(schema)))
    if schema.get("type") not in KINDS:
        yield f"{where}: its type is {schema.get('type')!r}"
    if schema.get("type") == "array":
        yield from faults_of(schema.get("items", {}), f"{where}[]", depth + 1)
    if schema.get("type") == "object":
        properties = schema.get("properties")
        if properties is None:
            yield f"{where}: has no properties"
            return
        if schema.get("additionalProperties") is not False:
            yield f"{where}: is open"
        if sorted(schema.get("required", ())) != sorted(properties):
            yield f"{where}: does not require each member"
        if len(properties) > PROPERTIES_MAX:
            yield f"{where}: has {len(properties)} members"
        for name, each in properties.items():
            if NAME.fullmatch(name) is None:
                yield f"{where}.{name}: the name"
            yield from faults_of(each, f"{where}.{name}", depth + 1)


def faults_of_tool(tool: dict[str, Any]) -> Iterator[str]:
    if NAME.fullmatch(tool["name"]) is None:
        yield f"{tool['name']}: the name"
    if not tool.get("description", "").strip():
        yield f"{tool['name']}: no description"
    if {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} != set(tool["annotations"]):
        yield f"{tool['name']}: annotations are left out"
    for part in ("inputSchema", "outputSchema"):
        schema = tool.get(part, {})
        if schema.get("type") != "object":
            yield f"{tool['name']}.{part}: no object"
        yield from (f"{tool['name']}.{part}: {word} at the top" for word in sorted(UNIONS.intersection(schema)))
        yield from faults_of(schema, f"{tool['name']}.{part}")


def test_the_rules_find_what_strict_clients_reject() -> None:
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    hints = dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), False)
    good = {"name": "a", "description": "b", "annotations": hints, "inputSchema": closed, "outputSchema": closed}
    assert [] == list(faults_of_tool(good))
    for bad in (
        {**good, "name": "a.b"},
        {**good, "description": " "},
        {**good, "annotations": {}},
        {**good, "inputSchema": {"type": "object"}},
        {**good, "inputSchema": {**closed, "anyOf": []}},
        {**good, "inputSchema": {**closed, "$schema": "x"}},
        {**good, "outputSchema": {**closed, "additionalProperties": True}},
        {**good, "outputSchema": {**closed, "properties": {"x": {"$ref": "#/y"}}, "required": ["x"]}},
        {**good, "outputSchema": {**closed, "properties": {"x": {"type": ["string", "null"]}}, "required": ["x"]}},
    ):
        assert [] != list(faults_of_tool(bad)), bad


# --- a flow ---------------------------------------------------------------------------------------------------------------------------


def test_an_agent_works_through_a_flow_over_http_and_its_token_says_which_worker_it_is(at: Desk) -> None:
    worker, _other = at.start(), at.start()
    shown = at.token(f"work:{worker}")

    async def first(address: str) -> None:
        async with connected(address, shown) as session:
            tools = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in (await session.list_tools()).tools]
            assert [REQUEST, "flow_status", "session_note", "set_variables", "submit_flow_input"] == [each["name"] for each in tools]
            assert [] == [fault for each in tools for fault in faults_of_tool(each)]
            assert worker == form(await session.call_tool("flow_status", {}))["worker"]
            assert "stays" == form(await session.call_tool(REQUEST, {"reason": "All tests pass."}))["result"]
            at.record(worker, "run_tests", "exit status 0", "use-1")
            assert "review" == form(await session.call_tool(REQUEST, {"reason": "The last run shows it."}))["state"]

    async def second(address: str) -> None:
        async with connected(address, shown) as session:
            at.record(worker, "review", "no findings", "use-2")
            assert "complete" == form(await session.call_tool(REQUEST, {"reason": "Reviewed."}))["state"]
            at.record(worker, "commit", "1 file changed", "use-3")
            ended = form(await session.call_tool(REQUEST, {"reason": "Committed."}))
            assert ("done", "completed") == (ended["state"], ended["status"])

    for part in (first, second):
        with served(at) as address:
            run(lambda part=part, address=address: part(address))  # type: ignore[misc]


def test_over_http_progress_is_told_and_a_call_that_is_cancelled_stops_the_verification(tmp_path: Path) -> None:
    at = desk(tmp_path, slow=True)
    worker = at.start()
    shown = at.token(f"work:{worker}")
    at.record(worker, "run_tests", "exit status 0", "use-1")

    async def cancelled(address: str) -> None:
        async with connected(address, shown) as session, anyio.create_task_group() as tasks:
            told = anyio.Event()

            async def heard(_progress: float, _total: float | None, message: str | None) -> None:
                assert str(message).startswith("verifying attempt ")
                told.set()

            async def call() -> None:
                await session.call_tool(REQUEST, {"reason": "Done."}, progress_callback=heard)

            tasks.start_soon(call)
            await told.wait()
            tasks.cancel_scope.cancel()

    with served(at) as address:
        run(lambda: cancelled(address))
        with at.environed(), host_channel(at.work, None, worker, Actor(ActorClass.HOST, "hook")) as channel:
            standing = channel.standing()
            while isinstance(standing, Standing) and standing.head.seq < 5:  # the note follows on the request
                standing = channel.standing()
        assert isinstance(standing, Standing)
        assert standing.flow is not None
        assert standing.flow.open is not None
        assert f"verifying attempt {standing.flow.open.attempt} was stopped by whoever asked" in at.run("log", "show", "--json")


# --- who is turned away ---------------------------------------------------------------------------------------------------------------


def asked(address: str, path: str = "/mcp", **headers: str) -> int:
    """Send a request with exactly these headers, and give its status."""
    there = urlsplit(address)
    body = json.dumps(INITIALIZE)
    connection = HTTPConnection(there.hostname or "", there.port)
    connection.putrequest("POST", path, skip_host=True)
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Content-Length": str(len(body))}
    for name, value in {**sent, **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(body.encode())
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_request_of_a_foreign_name_page_or_token_is_turned_away_before_any_work(at: Desk) -> None:
    worker = at.start()
    good = {"Authorization": f"Bearer {at.token(f'work:{worker}')}"}
    with served(at) as address:
        port = urlsplit(address).port
        for host in (f"127.0.0.1:{port}", "127.0.0.1", "localhost", f"localhost:{port}", "[::1]", f"[::1]:{port}"):
            assert (host, 200) == (host, asked(address, Host=host, **good))
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "[2001:db8::1]", "localhost@evil.example"):
            assert (host, 403) == (host, asked(address, Host=host, **good))
        for origin in ("https://evil.example", "null", f"http://localhost.evil.example:{port}"):
            assert (origin, 403) == (origin, asked(address, Host="localhost", Origin=origin, **good))
        assert 403 == asked(address, Host="evil.example")
        assert 401 == asked(address, Host="localhost")
        assert 401 == asked(address, Host="localhost", Authorization="Bearer unknown")
        assert 401 == asked(address, f"/mcp?token={good['Authorization'].split()[1]}", Host="localhost")
        for scopes in (["read"], [f"work:{worker}", f"work:{at.start()}"]):
            assert 403 == asked(address, Host="localhost", Authorization=f"Bearer {at.token(*scopes)}")


# --- without the extra ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--http", "0")])
def test_without_the_library_one_line_says_what_to_install(at: Desk, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n")
    environment = {**at.environment, "PYTHONPATH": str(tmp_path / "without")}
    done = subprocess.run(
        [STATEWARD, "mcp", *options], cwd=at.work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (3, "") == (done.returncode, done.stdout)
    assert ["error: serving an agent needs the package mcp", "  = help: install `stateward[mcp]`"] == done.stderr.splitlines()


def test_over_http_with_the_extra_for_agents_alone_one_line_names_the_other_one(at: Desk, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text("import sys\nsys.modules['structlog'] = None\n")
    environment = {**at.environment, "PYTHONPATH": str(tmp_path / "without")}
    done = subprocess.run([STATEWARD, "mcp", "--http", "0"], cwd=at.work, env=environment, capture_output=True, text=True, check=False)
    assert (3, "") == (done.returncode, done.stdout)
    assert [
        "error: serving agents over HTTP needs the package structlog",
        "  = help: install `stateward[mcp,server]`",
    ] == done.stderr.splitlines()


def test_where_files_of_the_machine_lie_is_told_to_no_agent_over_http(at: Desk) -> None:
    worker = at.start()
    shown = at.token(f"work:{worker}")
    profile = at.root / "config" / "stateward" / "profiles" / "judged.dcdl"

    async def calls(address: str) -> None:
        async with connected(address, shown) as session:
            profile.write_text("schema_version = ;", "utf-8")
            broken = text(await session.call_tool("flow_status", {}))
            profile.chmod(0o666)
            distrusted = text(await session.call_tool("flow_status", {}))
        assert broken.startswith("profile `judged` cannot be used: ")
        assert "\nWhat to do: tell the operator of the service" in broken
        assert "a file of the profile cannot be read by the service, or not trusted" in distrusted
        assert "/" not in broken + distrusted

    with served(at) as address:
        run(lambda: calls(address))


def test_a_port_that_is_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    at = desk(tmp_path)
    at.start()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [STATEWARD, "mcp", "--http", port]
        done = subprocess.run(command, cwd=at.work, env=at.environment, capture_output=True, text=True, check=False)
    assert ("", 3) == (done.stdout, done.returncode)
    told, remedy = done.stderr.splitlines()
    assert told.startswith(f"error: nothing can listen on port {port} of this machine: ")
    assert remedy == "  = help: name another port with `--http`, or 0 for any that is free"
