"""A desk for tests of the MCP server: a project with a Worker whose judge is a program, and the client of the protocol's own library."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.program import STATEWARD

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

    def start(self, *options: str) -> str:
        """Start a Worker, and give its id."""
        told = json.loads(self.run("start", "builtin:coder-review", "--profile", "judged", "--json", *options))
        return str(told["worker"])

    def asked(self) -> int:
        """How often the slow judge was asked."""
        file = self.root / "asked"
        return len(file.read_text()) if file.exists() else 0

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
