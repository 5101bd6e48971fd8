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
from tests.cli.guarded import kept
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

    def wait_for_anything(self) -> None:
        while not self.seen:
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
        typist.wait_for_anything()  # then the other side is open in the process, and need not be kept open here
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


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (b"x" * 5000, "the terminal cuts lines at 4,095 bytes"),
        (b"x" * 4095, "the terminal cuts lines at 4,095 bytes"),
        (b"gr\xfc\xdfe", "the line is no UTF-8"),
        (b"done \x1b[D", "the line holds a key that is no character"),
        (b"done\x00", "the line holds a key that is no character"),
    ],
)
def test_what_was_not_typed_as_it_was_meant_is_asked_for_again(here: Place, typed: bytes, says: str) -> None:
    with typing(here, "run", "builtin:single-step") as typist:
        typist.press(REASON, typed + b"\n")
        typist.press(REASON, END_OF_INPUT)
        assert 1 == typist.status()
    assert says in typist.seen
    assert 0 == here.status()["flow"]["attempts"]


def test_a_line_of_every_byte_that_fits_is_taken_whole(here: Place) -> None:
    with typing(here, "run", "builtin:single-step") as typist:
        typist.answer(REASON, "x" * 4094)
        typist.press(MET, INTERRUPT)
        assert 130 == typist.status()
    assert "x" * 4094 == here.status()["flow"]["attempt"]["reason"]


def test_what_was_typed_before_a_question_is_no_answer_to_it(here: Place) -> None:
    with typing(here, "run", "builtin:single-step") as typist:
        typist.answer(REASON, "a reason of several lines:\ny\nit is all there\nn\nnothing\nat all\n")
        typist.press(MET, END_OF_INPUT)
        assert 1 == typist.status()
    assert "what was typed before the question counts for nothing" in typist.seen
    assert (1, None) == (here.status()["flow"]["attempts"], here.status()["flow"]["last"])


def test_a_person_does_not_go_on_with_what_a_script_judges_nor_the_other_way_round(here: Place) -> None:
    here.call(*here.scripted(flow="builtin:single-step"))
    with typing(here, "run", "builtin:single-step", "--resume") as typist:
        assert 2 == typist.status()
    assert "is judged by answers out of a file" in typist.seen
    with typing(here, "run", "builtin:single-step") as typist:
        typist.press(REASON, END_OF_INPUT)
        assert 1 == typist.status()
    other = here.call(*here.scripted("--resume", flow="builtin:single-step"))
    assert (2, True) == (other.status, "leave out `--answers`" in other.err)


def test_an_open_request_that_is_refused_is_not_asked_again_and_again(here: Place) -> None:
    with typing(here, "run", "builtin:single-step") as typist:
        typist.answer(REASON, "it is written")
        typist.press(MET, INTERRUPT)
        assert 130 == typist.status()
    here.done("operate", "pause", here.status()["worker"], "--reason", "wait for the others")
    with typing(here, "run", "builtin:single-step", "--resume") as typist:
        assert 1 == typist.status()
    assert (1, 1) == (typist.seen.count("refused  instance_paused"), typist.seen.count("go on with the same command"))


def test_the_end_of_input_leaves_the_flow_where_it_is(here: Place) -> None:
    with typing(here, "run", "builtin:single-step") as typist:
        typist.press(REASON, END_OF_INPUT)
        assert 1 == typist.status()
    assert "--resume" in typist.seen
    assert ("active", 0) == (here.status()["flow"]["status"], here.status()["flow"]["attempts"])


def test_a_person_sets_variables_at_the_prompt_where_the_state_writes_some(here: Place) -> None:
    kept(here)
    with typing(here, "run", "workspace:refine", "--input", "topic=owls") as typist:
        typist.answer(REASON, "set attempts=many")
        typist.answer(REASON, "set bugs=true")
        typist.answer(REASON, "set title = My draft")
        typist.answer(REASON, "set about it, and it is written")
        typist.answer(REASON, "set bugs=false")
        typist.answer(REASON, "there are none")
        assert 0 == typist.status()
        for told in (
            "`set NAME=VALUE` sets a variable: attempts, files, title",
            "`many` is no JSON, and `attempts` holds no such text",
            "refused  variable_not_writable",
            'set     title = "My draft"',
            "moved  checked",
            "moved  good",
        ):
            assert told in typist.seen
    assert "set about it, and it is written" in here.done("log")


def test_a_person_who_judges_is_shown_what_variables_hold_and_who_wrote_them(here: Place) -> None:
    kept(here)
    with typing(here, "run", "workspace:refine", "--input", "topic=owls", "--max-requests", "2") as typist:
        typist.answer(REASON, "set title=My draft")
        typist.answer(REASON, "set attempts=3")
        typist.answer(REASON, "written")
        typist.answer(REASON, "set bugs=false")
        typist.answer(REASON, "good enough")
        typist.answer(MET, "y")
        typist.answer(WHY, "I read it")
        say_not_met(typist, "nothing exceptional")
        assert 0 == typist.status()
        assert 'title = "My draft"  worker, in work (visit 1), E00000003' in typist.seen
        assert "bugs = false  worker, in look (visit 2)" in typist.seen
