"""Standard streams that are closed, full, read by nobody, or unable to show what is printed: one clear line at most, never a traceback."""

import subprocess
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from shlex import quote

import pytest

from stateward.runtime.surfaces.cli.output import emit, emit_json
from tests.cli.program import ANSWERS, STATEWARD, Place, place

ODD = '{"requests": [{"reason": "done → \\ud800 \\u0000 \\u202e \\u001b[2J", "verdicts": {"finish": "indeterminate"}}]}'


@pytest.fixture
def here(tmp_path: Path) -> Place:
    made = place(tmp_path)
    made.done(*made.scripted())
    return made


def shell(here: Place, *lines: str) -> list[tuple[str, str]]:
    """Run lines of shell, each telling its exit status; give that and what was said on standard error. `sw` is the program."""
    told = []
    for line in lines:
        script = f'sw() {{ "{STATEWARD}" "$@"; }}; {line}'
        done = subprocess.run(["bash", "-c", script], cwd=here.work, env=here.environment, capture_output=True, text=True, check=False)
        told.append((done.stdout.strip(), done.stderr))
    return told


def test_a_reader_that_leaves_ends_a_command_with_a_status_of_its_own(here: Place) -> None:
    told = shell(here, "(sw log --json; echo $? >&2) | true", "(sw status; echo $? >&2) | true", "(sw run --help; echo $? >&2) | true")
    assert [("", "141\n")] * 3 == told


def test_output_that_cannot_be_written_is_one_clear_line(here: Place) -> None:
    told = shell(here, *(f"sw {command} > /dev/full; echo $?" for command in ("status", "log --json", "--help")))
    assert [("3", "error: standard output cannot be written: no space left on device\n  = help: send it elsewhere\n")] * 3 == told


def test_what_nobody_can_see_is_not_printed(here: Place) -> None:
    commands = ("status", "log --json", "log verify", "log export", "key list --json", "key public", "ps", "--help")
    assert [("", "0\n")] * len(commands) == shell(here, *(f"sw {command} >&-; echo $? >&2" for command in commands))


def test_a_run_that_nobody_sees_goes_on(here: Place) -> None:
    run = f"sw run builtin:coder-review --answers {quote(str(ANSWERS))} --max-requests 2 <&- >&- 2>&-; echo $?"
    assert [("1", "")] == shell(here, run)
    assert 2 == here.status()["flow"]["attempts"]


def test_a_run_whose_reader_leaves_can_be_resumed(here: Place) -> None:
    run = f"(sw run builtin:coder-review --answers {quote(str(ANSWERS))} < /dev/null; echo $? >&2) | true"
    assert [("", "141\n")] == shell(here, run)
    assert 0 == here.call(*here.scripted("--resume")).status
    assert ("completed", 6) == (here.status()["flow"]["status"], here.status()["flow"]["attempts"])


def test_a_person_is_not_asked_where_standard_input_is_closed(here: Place) -> None:
    ((status, said),) = shell(here, "sw run builtin:single-step <&-; echo $?")
    assert ("2", True) == (status, "standard input is no terminal" in said)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_what_a_stream_cannot_show_has_something_that_stands_for_it(here: Place, encoding: str) -> None:
    answers = here.folder / "odd.json"
    answers.write_text(ODD, "utf-8")
    arguments = ["run", "builtin:single-step", "--text", "größer → ☃", "--answers", str(answers)]
    ended = here.call(*arguments, encoding=encoding)
    assert (1, "", True) == (ended.status, ended.err, "finish -> done" in ended.out or "finish → done" in ended.out)
    for command in ("status", "log"):
        shown = here.call(command, encoding=encoding)
        assert (0, "") == (shown.status, shown.err)
        assert not {"\x1b", "\x00", "\u202e", "\ud800"} & {*shown.out}
    assert here.log() == here.log(encoding=encoding)
    assert here.status() == here.status(encoding=encoding)


def test_a_stream_in_memory_is_printed_to_like_any_other(here: Place) -> None:
    with redirect_stdout(StringIO()) as printed:
        emit("größer → \udcff\n")
        emit_json({"größer": "→"})
    assert 'größer -> \\udcff\n{"größer": "→"}\n' == printed.getvalue()
