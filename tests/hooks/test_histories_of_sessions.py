"""Random histories of a session: hooks and transcript tell of the same things in any order, files are cut and rewritten, programs die."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.ports import Fault
from stateward.runtime.session.entries import Kind
from stateward.runtime.surfaces.hooks import importing
from tests.hooks.bench import Bench
from tests.hooks.lines import claude_called, claude_came, claude_said, codex_called, codex_came, codex_said
from tests.hooks.test_importing import DyingChannel

STEPS = 60
OWN = "mcp__stateward__request_flow_transition"


class World:
    """A host that does things, and tells of them when it likes."""

    def __init__(self, folder: Path, host: str, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 -- a choice of events
        self.bench = Bench(folder, host)
        self.bench.start()
        self.lines: list[str] = []
        """What the transcript holds."""
        self.written = 0
        """How many of its characters are in the file."""
        self.used: list[str] = []
        self.said: list[str] = []
        self.owned = 0

    def step(self) -> None:
        """Let something happen."""
        self.chance.choice(
            [self.use, self.use, self.say, self.ask, self.flush, self.flush, self.take_in, self.die, self.rewrite, self.tell_again]
        )()

    def use(self) -> None:
        use = f"use-{len(self.used)}"
        self.used.append(use)
        if self.bench.host.name == "claude":
            self._line(claude_called(f"c-{use}", use, "Bash", {"command": use}))
            self._line(claude_came(f"r-{use}", use, "exit 0"))
        else:
            self._line(codex_called(f"c-{use}", use, "shell", {"command": [use]}))
            self._line(codex_came(f"r-{use}", use, "exit 0"))
        if self.chance.random() < 0.7:
            self.bench.hook("post-tool", tool_use_id=use)

    def say(self) -> None:
        text = f"word {len(self.said)}"
        self.said.append(text)
        self._line((claude_said if self.bench.host.name == "claude" else codex_said)(f"m-{len(self.said)}", text))

    def ask(self) -> None:
        self.owned += 1
        use = f"own-{self.owned}"
        if self.bench.host.name == "claude":
            self._line(claude_called(f"c-{use}", use, OWN, {}))
            self.flush()
            self.bench.hook("pre-tool", tool_name=OWN, tool_use_id=use)
            self._line(claude_came(f"r-{use}", use, "it stays"))
        else:
            self._line(codex_called(f"c-{use}", use, OWN, {}))
            self.flush()
            self.bench.hook("pre-tool", tool_name=OWN, tool_use_id=use)
            self._line(codex_came(f"r-{use}", use, "it stays"))
        self.bench.hook("post-tool", tool_name=OWN, tool_use_id=use)

    def tell_again(self) -> None:
        if self.used:
            self.bench.hook("post-tool", tool_use_id=self.chance.choice(self.used))

    def flush(self) -> None:
        """Write a part of what is to be written, perhaps half a line."""
        text = "".join(self.lines)
        end = self.chance.randint(self.written, len(text))
        with self.bench.transcript.open("a") as file:
            file.write(text[self.written : end])
        self.written = end

    def take_in(self) -> None:
        self.bench.hook("pre-compact")

    def die(self) -> None:
        bound = self.bench.opening.bindings().find(self.bench.host.name, self.bench.session)
        assert bound is not None
        with self.bench.opening.channel(self.bench.desk.worker, self.bench.session) as channel:
            dying = DyingChannel(channel, self.chance.randint(1, 2), after=self.chance.random() < 0.5)
            try:
                importing.take_in(dying, self.bench.host, bound, str(self.bench.transcript), self.bench.opening.secrets())
            except (Fault, FileNotFoundError):
                self.bench.desk.restart()

    def rewrite(self) -> None:
        """Put a line at the beginning of the file, and all of it anew."""
        if self.chance.random() < 0.3:
            self.say()
            self.lines.insert(0, self.lines.pop())
            self.written = self.chance.choice([0, len("".join(self.lines))])
            self.bench.transcript.write_text("".join(self.lines)[: self.written])

    def settle(self) -> None:
        """Write everything and take everything in."""
        with self.bench.transcript.open("a") as file:
            file.write("".join(self.lines)[self.written :])
        for _ in range(3):
            self.take_in()

    def _line(self, line: Any) -> None:
        self.lines.append(json.dumps(line) + "\n")


@pytest.mark.parametrize("host", ["claude", "codex"])
@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_each_thing_is_in_the_log_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, host: str) -> None:
    world = World(tmp_path, host, seed)
    monkeypatch.setattr(importing, "RECORDS_MAX", world.chance.choice([3, 500]))
    for _ in range(STEPS):
        world.step()
    world.settle()
    bench = world.bench
    for kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT):
        payloads = [json.loads(each) for each in bench.records(kind)]
        assert sorted(world.used) == sorted(each.get("tool_use_id") or each.get("call_id") or each.get("id") for each in payloads)
    assert sorted(world.said) == sorted(_text(json.loads(each)) for each in bench.records(Kind.ASSISTANT_MESSAGE))
    assert not any("own-" in each for each in bench.records())


def _text(message: Any) -> str:
    text = message["text"] if "text" in message else message["content"][0]["text"]
    assert isinstance(text, str)
    return text
