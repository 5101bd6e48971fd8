"""A person at a terminal: worker and judge in one, typing into a real pseudo-terminal."""

import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.cli.children import start
from tests.cli.program import Place, place

READ_BYTES = 65_536
REASON = "reason to leave this state: "
MET = "cannot tell: "
WHY = "why? "
MISSING = "what is missing? "
MORE = "(empty: nothing) "
END_OF_INPUT = "\x04"
INTERRUPT = "\x03"


@dataclass
class Typist:
    """Types only when asked."""

    process: BaseProcess
    terminal: int
    seen: str = ""

    def wait_for(self, prompt: str) -> None:
        while not self.seen.endswith(prompt):
            self._read()

    def answer(self, prompt: str, text: str) -> None:
        self.press(prompt, f"{text}\n")

    def press(self, prompt: str, keys: str | bytes) -> None:
        self.wait_for(prompt)
        self.seen += "⏎"  # so that the same prompt is waited for anew
        os.write(self.terminal, keys.encode() if isinstance(keys, str) else keys)

    def status(self) -> int | None:
        """Read to the end and give the exit status."""
        try:
            while True:
                self._read()
        except EOFError:
            self.process.join()
            return self.process.exitcode

    def _read(self) -> None:
        try:
            data = os.read(self.terminal, READ_BYTES)
        except OSError:  # how Linux tells that the other side is closed
            data = b""
        if not data:
            raise EOFError(self.seen)
        self.seen += data.decode("utf-8", "replace")


@contextmanager
def typing(here: Place, *arguments: str) -> Iterator[Typist]:
    ours, theirs = pty.openpty()
    process = start(here, *arguments, terminal=os.ttyname(theirs))
    typist = Typist(process, ours)
    try:
        typist.wait_for("\n")  # the other side is open in the process, and need not be kept open here
        os.close(theirs)
        yield typist
    finally:
        process.kill()
        process.join()
        os.close(ours)


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def say_not_met(typist: Typist, why: str) -> None:
    typist.answer(MET, "n")
    typist.answer(WHY, why)
    typist.answer(MISSING, f"something about: {why}")
    typist.answer(MORE, "")


def test_a_person_works_judges_is_told_what_is_missing_and_ends(here: Place) -> None:
    with typing(here, "run", "builtin:single-step", "--text", "Write a haiku.") as typist:
        typist.answer(REASON, "it is written")
        say_not_met(typist, "there is no file")
        say_not_met(typist, "nothing exceptional")
        typist.answer(REASON, "it is written now, in haiku.txt")
        typist.answer(MET, "perhaps")
        typist.answer(MET, "y")
        typist.answer(WHY, "haiku.txt holds one")
        say_not_met(typist, "nothing exceptional happened")
        assert 0 == typist.status()
    for told in ("Write a haiku.", "missing: something about: there is no file", "self-judged", "completed"):
        assert told in typist.seen
    status = here.status()
    assert ("person", True, "completed", 2) == (
        status["verifier"],
        status["self_judged"],
        status["flow"]["status"],
        status["flow"]["attempts"],
    )


def test_an_interruption_in_the_middle_of_judging_keeps_the_request_open(here: Place) -> None:
    with typing(here, "run", "builtin:single-step") as typist:
        typist.answer(REASON, "it is written")
        say_not_met(typist, "there is no file")
        typist.press(MET, INTERRUPT)
        assert 130 == typist.status()
    assert "nothing is lost" in typist.seen
    opened = here.status()["flow"]["attempt"]
    with typing(here, "run", "builtin:single-step", "--resume") as typist:
        typist.answer(MET, "y")
        typist.answer(WHY, "there it is")
        say_not_met(typist, "nothing exceptional")
        assert 0 == typist.status()
    assert "going on with the request that is open" in typist.seen
    assert (opened["id"], 1) == (here.status()["flow"]["last"]["attempt"], here.status()["flow"]["attempts"])


def test_the_end_of_input_leaves_the_flow_where_it_is(here: Place) -> None:
    with typing(here, "run", "builtin:single-step") as typist:
        typist.press(REASON, END_OF_INPUT)
        assert 1 == typist.status()
    assert "--resume" in typist.seen
    assert ("active", 0) == (here.status()["flow"]["status"], here.status()["flow"]["attempts"])
