"""What reaches a terminal: colours only where they are wanted, and nothing that an author wrote but text."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiler.flow.sources import GOOD, changed

EVIL = changed(('target = "review"', 'target = "\u202ereveiw"'), ('"Read it."', '"[31m\u200bRead it."'))


def on_a_terminal(folder: Path, *, command: str = "compile", to_file: str | None = None, **environment: str) -> str:
    """Run the command with a terminal for its output; one of the two streams may go to a file instead."""
    ours, theirs = pty.openpty()
    code = [sys.executable, "-c", f"from stateward.runtime.surfaces.cli import main; main(['{command}', 'paper.dcdl'])"]
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "TERM", "COLUMNS", "PYTHONIOENCODING"}}
    with (folder / "file").open("wb") as file:
        streams = {"stdout": theirs, "stderr": theirs, **({to_file: file.fileno()} if to_file else {})}
        process = subprocess.Popen(
            code, cwd=folder, stdout=streams["stdout"], stderr=streams["stderr"], env={**kept, "TERM": "xterm", **environment}
        )
    os.close(theirs)
    chunks: list[bytes] = []
    while True:
        try:
            chunk = os.read(ours, 65_536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    process.wait()
    os.close(ours)
    return b"".join(chunks).decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "paper.dcdl").write_text(EVIL, "utf-8")
    return tmp_path


def test_a_terminal_is_written_to_in_colours(folder: Path) -> None:
    assert "\x1b[1;31merror[transition_target_not_found]\x1b[0m" in on_a_terminal(folder)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colours_gets_none(folder: Path, environment: dict[str, str]) -> None:
    assert "\x1b" not in on_a_terminal(folder, **environment)


def test_the_width_of_the_terminal_is_kept(folder: Path) -> None:
    narrow = changed(("It is written.", "It is written, " + "and read again, " * 20))
    (folder / "paper.dcdl").write_text(narrow.replace('target = "review"', 'target = "reveiw"'))
    lines = on_a_terminal(folder, NO_COLOR="1", COLUMNS="70").splitlines()
    assert [line for line in lines if "│ " in line and len(line) > 100] == []


def test_an_encoding_without_boxes_gets_ascii(folder: Path) -> None:
    out = on_a_terminal(folder, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert out.isascii()
    assert "--> paper.dcdl:7:45" in out


def test_a_graph_is_drawn_in_ascii_where_nothing_else_can_be_shown(folder: Path) -> None:
    (folder / "paper.dcdl").write_text(GOOD)
    out = on_a_terminal(folder, command="graph", PYTHONIOENCODING="ascii")
    assert out.splitlines()[2:5] == [
        " +.>+- draft -----------+",
        " :  | submit > review   |--+",
        " :  +-------------------+  |",
    ]


@pytest.mark.parametrize(("to_file", "coloured"), [("stdout", "terminal"), ("stderr", "file")])
def test_each_stream_is_written_to_as_what_it_is(folder: Path, to_file: str, coloured: str) -> None:
    out = {"terminal": on_a_terminal(folder, command="graph", to_file=to_file), "file": (folder / "file").read_text()}
    assert ("\x1b[1;31merror" in out["terminal"], "\x1b" in out["file"]) == (coloured == "terminal", False)


def test_what_is_hidden_in_a_source_is_shown_as_its_code_point(folder: Path) -> None:
    out = on_a_terminal(folder, NO_COLOR="1")
    assert [char for char in out if char not in "\r\n" and not char.isprintable()] == []
    assert "<U+202E>reveiw" in out
