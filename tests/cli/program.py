"""The program, run as a user runs it: in this process, which costs no start, or as the process that a shell would start."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.core.events import EventId, Recorded
from stateward.runtime.core.instance import FlowState
from stateward.runtime.core.replay import replay
from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.runtime.ports import Snapshot
from stateward.runtime.session.event_codec import EVENT
from stateward.runtime.surfaces.cli import main

STATEWARD = Path(sys.executable).with_name("stateward")
ANSWERS = Path(__file__).resolve().parents[2] / "docs" / "demo" / "answers.json"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Place:
    """A folder of work with a store of its own."""

    folder: Path

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def store(self) -> Path:
        return self.folder / "state" / "store.db"

    @property
    def environment(self) -> Mapping[str, str]:
        # Compiled modules are kept, as they are where the program is installed.
        left_out = ("STATEWARD_", "XDG_", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        return {**kept, "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state"), "STATEWARD_STORE": str(self.store)}

    def command(self, *arguments: str) -> list[str]:
        return [str(STATEWARD), *arguments]

    def call(self, *arguments: str, encoding: str = "utf-8", **environment: str) -> Ended:
        """Run the program in this process; nothing lies on its standard input."""
        streams = {name: io.TextIOWrapper(io.BytesIO(), encoding, newline="") for name in ("stdin", "stdout", "stderr")}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.work)
            for name in {*os.environ} - {*self.environment}:
                patch.delenv(name)
            for name, value in {**self.environment, **environment}.items():
                patch.setenv(name, value)
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            with pytest.raises(SystemExit) as end:
                main(arguments)
        status = end.value.code or 0
        assert isinstance(status, int)
        return Ended(status, _written(streams["stdout"]), _written(streams["stderr"]))

    def process(self, *arguments: str) -> Ended:
        """Run the installed program."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def scripted(self, *more: str, flow: str = "builtin:coder-review", answers: Path = ANSWERS) -> list[str]:
        return ["run", flow, "--text", "Ticket 41", "--answers", str(answers), *more]

    def done(self, *arguments: str, encoding: str = "utf-8") -> str:
        """Call what must succeed and give what it printed."""
        ended = self.call(*arguments, encoding=encoding)
        assert (0, "") == (ended.status, ended.err)
        return ended.out

    def status(self, encoding: str = "utf-8") -> Any:
        return json.loads(self.done("status", "--json", encoding=encoding))

    def log(self, encoding: str = "utf-8") -> list[Any]:
        return [json.loads(line) for line in self.done("log", "--json", encoding=encoding).split("\n")[:-1]]


def folded(status: Any, entries: Sequence[Any], flow: str) -> FlowState:
    """Fold the events as the log prints them; raises where they are no history."""
    snapshot = WorkspaceSnapshots(status["workspace"], None).resolve(flow)
    assert isinstance(snapshot, Snapshot)
    return replay(recorded(entries), {status["flow"]["definition_digest"]: snapshot.definition})


def place(folder: Path) -> Place:
    made = Place(folder)
    made.work.mkdir()
    return made


def recorded(entries: Sequence[Any]) -> list[Recorded]:
    return [Recorded(EventId(entry["seq"], at), EVENT.read(event)) for entry in entries for at, event in enumerate(entry["events"])]


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode(stream.encoding)
