"""The commands of flows as a shell runs them: readers that leave, full disks, closed streams, terminals; two people at the same moment."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.flows import colleague, lines, saved, source, write
from tests.cli.program import Place, place
from tests.cli.test_person import typing
from tests.cli.test_streams import shell

FULL = "error: standard output cannot be written: no space left on device\n  = help: send it elsewhere\n"
READING = ("list --json", "show paper", "diff paper", "export -o -")


@pytest.fixture
def here(tmp_path: Path) -> Place:
    made = place(tmp_path)
    saved(made, "paper", "first", "second")
    return made


def test_a_reader_that_leaves_and_a_full_disk_are_told_like_everywhere(here: Place) -> None:
    assert [("", "141\n")] * 2 == shell(here, *(f"(sw flow {each}; echo $? >&2) | true" for each in ("list --json", "show paper")))
    assert [("3", FULL)] * len(READING) == shell(here, *(f"sw flow {each} > /dev/full; echo $?" for each in READING))


def test_what_nobody_sees_is_done_all_the_same(here: Place) -> None:
    write(here, "paper", "third")
    write(here, "other")
    assert [("", "0\n"), ("0", "")] == shell(here, "sw flow save paper.dcdl >&-; echo $? >&2", "(sw flow sync . <&- >&- 2>&-); echo $?")
    assert [("other", 1), ("paper", 3)] == [(each["slug"], each["revision"]) for each in lines(here.done("flow", "list", "--json"))]


def test_a_source_goes_through_a_pipe_byte_by_byte(here: Place) -> None:
    (here.work / "odd.dcdl").write_bytes(source("odd", "größer\t→").replace("\n", "\r\n").encode())
    here.done("flow", "save", "odd.dcdl")
    shell(here, "sw flow show odd > copy", "sw flow show odd --output - > again")
    assert (here.work / "odd.dcdl").read_bytes() == (here.work / "copy").read_bytes() == (here.work / "again").read_bytes()


def test_a_source_is_taken_from_standard_input_under_a_slug(here: Place) -> None:
    write(here, "other", "piped")
    told = shell(here, "sw flow save - --slug other < other.dcdl", "sw flow diff other - < paper.dcdl", "sw flow save - < paper.dcdl")
    assert ("saved workspace:other revision 1", "") == told[0]
    assert told[1][0].startswith("--- other revision 1\n+++ <stdin>\n")
    assert "error: what standard input holds has no name to be kept under\n  = help: name one with `--slug`\n" == told[2][1]


def test_a_difference_can_be_applied_by_another_program(here: Place) -> None:
    told = here.done("flow", "diff", "paper", "1", "2")
    (here.work / "patched").write_text(source(task="first"), "utf-8")
    subprocess.run(["patch", "patched"], input=told, cwd=here.work, check=True, capture_output=True, text=True)
    assert source(task="second") == (here.work / "patched").read_text("utf-8")


def test_on_a_terminal_nothing_acts_that_somebody_wrote(here: Place) -> None:
    odd = "\x1b[2J\x07\u202e"
    (here.work / "odd.dcdl").write_text(source(task=odd), "utf-8")
    write(here, "paper", "third")
    here.done("flow", "save", "paper.dcdl", "--note", odd)
    for command in (
        ["history", "paper"],
        ["list"],
        ["diff", "paper", "odd.dcdl"],
        ["remove", "paper"],
        ["save", "odd.dcdl", "--slug", "paper"],
    ):
        with typing(here, "flow", *command) as typist:
            if command[0] == "remove":
                typist.answer("[y/N]: ", "n")
            typist.status()
        assert ("[2J" in typist.seen, {*odd[:1], *odd[4:]} & {*typist.seen}) == (True, set())


def test_a_source_is_shown_on_a_terminal_line_by_line(here: Place) -> None:
    with typing(here, "flow", "show", "paper") as typist:
        assert 0 == typist.status()
    assert source(task="second") == typist.seen.replace("\r\n", "\n")


def test_several_who_save_at_the_same_moment_are_each_kept_or_told_who_was_quicker(here: Place) -> None:
    others = [colleague(here, f"colleague {number}") for number in range(4)]
    for number, other in enumerate(others):
        write(other, "paper", f"by {number}")
    command = here.command("flow", "save", "paper.dcdl", "--base", "2", "--json")
    processes = [subprocess.Popen(command, cwd=each.work, env=each.environment, stdout=subprocess.PIPE) for each in others]
    told = [json.loads(process.communicate()[0]) for process in processes]
    assert ["conflict"] * 3 + ["saved"] == sorted(each["result"] for each in told)
    assert {3} == {each["conflict"]["current"]["revision"] for each in told if each["result"] == "conflict"}
    assert [3, 2, 1] == [each["revision"] for each in lines(here.done("flow", "history", "paper", "--json"))]
