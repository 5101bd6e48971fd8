"""A program that is run ends, whatever it does, and gets nothing but what it is given."""

import os
import signal
import sys
from pathlib import Path

import pytest

from stateward.runtime.workdir.limits import ERROR_BYTES_MAX
from stateward.runtime.workdir.processes import Ended, Ran, run
from tests.workdir.trees import children, open_handles

LONG = 600.0
"""Longer than any of these programs takes."""


def python(code: str, *, seconds: float = LONG, output_bytes: int = 10_000, given: bytes = b"") -> Ran:
    command = (sys.executable, "-I", "-S", "-c", code)
    return run(command, environment={"GIVEN": "yes"}, seconds=seconds, output_bytes=output_bytes, given=given)


def test_what_a_program_says_and_how_it_ends_is_told() -> None:
    ran = python("import sys; print(sys.stdin.read()); print('no', file=sys.stderr); sys.exit(3)", given=b"question")
    assert Ran(Ended.BY_ITSELF, 3, b"question\n", b"no\n") == ran


def test_a_program_gets_no_more_of_the_environment_than_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "of the caller")
    ran = python("import os; print(sorted(set(os.environ) - {'LC_CTYPE'}), os.getcwd())")
    assert b"['GIVEN'] /\n" == ran.output


def test_a_program_inherits_no_open_file(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(handle, True)
    try:
        ran = python(f"import os; os.fstat({handle})")
    finally:
        os.close(handle)
    assert 1 == ran.status
    assert b"Bad file descriptor" in ran.errors


@pytest.mark.parametrize("code", ["while True: pass", "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {15, 2}); signal.pause()"])
def test_a_program_that_does_not_end_is_killed(code: str) -> None:
    ran = python(code, seconds=0.3)
    assert (Ended.KILLED_LATE, -signal.SIGKILL) == (ran.ended, ran.status)


def test_a_program_that_closes_its_ends_and_goes_on_is_killed() -> None:
    ran = python("import os, signal; [os.close(each) for each in (0, 1, 2)]; signal.pause()", seconds=0.5)
    assert (Ended.KILLED_LATE, -signal.SIGKILL) == (ran.ended, ran.status)


def test_a_program_that_says_too_much_is_killed() -> None:
    ran = python("while True: print('x' * 1000)", output_bytes=5000)
    assert (Ended.KILLED_LOUD, -signal.SIGKILL) == (ran.ended, ran.status)
    assert len(ran.output) < 200_000


def test_the_bound_on_what_is_said_accepts_its_exact_value() -> None:
    assert [Ended.BY_ITSELF, Ended.KILLED_LOUD] == [python("print('x' * 99)", output_bytes=size).ended for size in (100, 99)]


def test_only_the_beginning_of_complaints_is_kept() -> None:
    ran = python("import sys; sys.stderr.write('x' * 1_000_000)")
    assert (Ended.BY_ITSELF, 0, ERROR_BYTES_MAX) == (ran.ended, ran.status, len(ran.errors))


def test_a_program_that_does_not_listen_hinders_nobody() -> None:
    assert Ran(Ended.BY_ITSELF, 0, b"", b"") == python("pass", given=b"x" * 1_000_000)


def test_what_a_program_started_is_killed_with_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # The child holds the pipe open for writing; when it is killed, whoever reads comes to the end.
    child = f"import signal; held = open({str(pipe)!r}, 'w'); signal.pause()"
    silent = "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-I', '-S', '-c', {child!r}], {silent})"
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        ran = python(code)
        os.set_blocking(reading, True)
        assert (0, b"") == (ran.status, os.read(reading, 1))
    finally:
        os.close(reading)


def test_no_handle_and_no_dead_child_is_left() -> None:
    before = open_handles(), children()
    python("pass")
    python("while True: pass", seconds=0.2)
    assert before == (open_handles(), children())


def test_a_program_that_is_not_there_is_a_fault() -> None:
    with pytest.raises(FileNotFoundError):
        run(("/none",), environment={}, seconds=LONG, output_bytes=1)


def test_a_program_is_killed_when_its_caller_is_interrupted(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    code = f"import os, signal; held = open({str(pipe)!r}, 'w'); os.kill({os.getpid()}, signal.SIGINT); signal.pause()"
    try:
        with pytest.raises(KeyboardInterrupt):
            python(code)
        os.set_blocking(reading, True)
        assert b"" == os.read(reading, 1)
    finally:
        os.close(reading)
