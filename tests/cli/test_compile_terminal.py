"""What reaches a terminal: colours only where they are wanted, and nothing that an author wrote but text."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiler.flow.sources import changed

EVIL = changed(('target = "review"', 'target = "\u202ereveiw"'), ('"Read it."', '"[31m\u200bRead it."'))


def on_a_terminal(folder: Path, **environment: str) -> str:
    """Run the command with a terminal for its output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from stateward.runtime.surfaces.cli import main; main(['compile', 'paper.dcdl'])"]
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "TERM", "COLUMNS", "PYTHONIOENCODING"}}
    process = subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=theirs, env={**kept, "TERM": "xterm", **environment})
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


def test_what_is_hidden_in_a_source_is_shown_as_its_code_point(folder: Path) -> None:
    out = on_a_terminal(folder, NO_COLOR="1")
    assert [char for char in out if char not in "\r\n" and not char.isprintable()] == []
    assert "<U+202E>reveiw" in out
