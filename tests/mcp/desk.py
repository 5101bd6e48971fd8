"""A desk for tests of the MCP server: a project with a Worker whose judge is a program, and the client of the protocol's own library."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from stateward.runtime.ports import HostRecord, RecordKey
from stateward.runtime.session.entries import Actor, ActorClass, Kind
from stateward.runtime.wiring import host_channel
from tests.cli.guarded import REFINE
from tests.cli.program import STATEWARD

REQUEST = "request_flow_transition"
GIVEN_UP_SECONDS = 60.0
"""After which a test is given up that would otherwise hang."""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
SLOW = """
import os
open(os.path.join({folder!r}, "asked"), "a").write("x")
os.open(os.path.join({folder!r}, "gate"), os.O_RDONLY)
"""
"""What a judge does first that thinks until it is let go on."""


@dataclass
class Desk:
    """A project in a folder of its own, with nothing of the user in it."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    held: list[int] = field(default_factory=list)
    """The gate, held open while the test lives."""

    @property
    def work(self) -> Path:
        return self.root / "work"

    def run(self, *arguments: str, **more: str) -> str:
        """Run a command, which is to succeed."""
        done = subprocess.run(
            [STATEWARD, *arguments], cwd=self.work, env={**self.environment, **more}, capture_output=True, text=True, check=False
        )
        assert 0 == done.returncode, done.stderr
        return done.stdout

    def start(self, *options: str, flow: str = "builtin:coder-review") -> str:
        """Start a Worker, and give its id."""
        told = json.loads(self.run("start", flow, "--profile", "judged", "--json", *options))
        return str(told["worker"])

    def refine(self) -> str:
        """Keep the flow `refine`, start a Worker on it, and give its id."""
        (self.work / "refine.dcdl").write_text(REFINE, "utf-8")
        self.run("flow", "save", "refine.dcdl")
        return self.start("--input", "topic=owls", flow="workspace:refine")

    def asked(self) -> int:
        """How often the slow judge was asked."""
        file = self.root / "asked"
        return len(file.read_text()) if file.exists() else 0

    def record(self, worker: str, tool: str, output: str, use: str) -> None:
        """Let the host record what a tool gave."""
        payload = json.dumps({"tool_name": tool, "tool_response": output}).encode()
        with (
            self.environed(),
            host_channel(self.work, None, worker, Actor(ActorClass.HOST, "hook", host_session="s-1")) as channel,
        ):
            channel.record((HostRecord(Kind.TOOL_RESULT, payload, RecordKey("test", "s-1", use, "result")),))

    @contextmanager
    def environed(self) -> Iterator[None]:
        """Give a context in which this process has the environment of the project."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            yield

    def token(self, *scopes: str) -> str:
        """Issue a token."""
        options = [each for scope in scopes for each in ("--scope", scope)]
        return str(json.loads(self.run("token", "issue", "--name", "agent", *options, "--json"))["token"])

    def go(self) -> None:
        """Let the slow judge go on, now and from now on."""
        self.held.append(os.open(self.root / "gate", os.O_RDWR))


def desk(root: Path, *, slow: bool = False, more: str = "", verifier: str = "") -> Desk:
    """Make a project whose profile `judged` is judged by the program of the examples, or by the verifier that is given."""
    profiles, judge = root / "config" / "stateward" / "profiles", root / "judge"
    profiles.mkdir(parents=True)
    (root / "work").mkdir()
    os.mkfifo(root / "gate")
    thinking = SLOW.format(folder=str(root)) if slow else ""
    judge.write_text(f"#!{sys.executable}\n{thinking}\n{(EXAMPLES / 'judge.py').read_text('utf-8')}", "utf-8")
    judge.chmod(0o700)
    named = verifier or f'{{ kind = "command"; program = ["{judge}"]; }}'
    (profiles / "judged.dcdl").write_text(f"schema_version = 1;\nverifier = {named};\n{more}\n", "utf-8")
    folders = {f"XDG_{name.upper()}_HOME": str(root / name) for name in ("config", "state", "data")}
    return Desk(root, {"PATH": os.environ["PATH"], "HOME": str(root), **folders})


@asynccontextmanager
async def client(at: Desk, *options: str, environment: Mapping[str, str] | None = None, **more: Any) -> AsyncIterator[ClientSession]:
    """Connect the library's own client to the installed program."""
    server = StdioServerParameters(
        command=str(STATEWARD), args=["mcp", *options], env={**at.environment, **(environment or {})}, cwd=at.work
    )
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing, **more) as session:
        await session.initialize()
        yield session


@contextmanager
def served(at: Desk, *options: str) -> Iterator[str]:
    """Serve over HTTP, and give the address."""
    command = [str(STATEWARD), "mcp", "--http", "0", *options]
    server = subprocess.Popen(command, cwd=at.work, env=at.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    told = server.stdout.readline()
    try:
        assert " at http://" in told, told or server.communicate()[1]
        yield told.split(" at ")[1].strip()
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate()


@asynccontextmanager
async def connected(address: str, shown: str) -> AsyncIterator[ClientSession]:
    """Connect the library's own client over HTTP."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {shown}"}, timeout=GIVEN_UP_SECONDS) as http,
        streamable_http_client(address, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        yield session


def form(result: CallToolResult) -> dict[str, Any]:
    """Give the structured content of an answer."""
    assert result.structured_content is not None, result.content
    found: dict[str, Any] = result.structured_content
    return found


def text(result: CallToolResult) -> str:
    """Give the text of an answer."""
    return "\n".join(each.text for each in result.content if each.type == "text")


def run(function: Callable[[], Awaitable[None]]) -> None:
    """Run what a client does, which is given up where it hangs."""

    async def bounded() -> None:
        with anyio.fail_after(GIVEN_UP_SECONDS):
            await function()

    anyio.run(bounded)
