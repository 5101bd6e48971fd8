"""A hook that is plainly called is answered without the command line, and as the command line would."""

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from stateward.runtime.surfaces.cli.hook import hook_command
from stateward.runtime.surfaces.hooks.called import EVENTS, Called, plainly_called
from tests.cli.program import STATEWARD


@pytest.mark.parametrize(
    ("arguments", "called"),
    [
        (["stop", "--format", "claude"], Called("stop", "claude")),
        (["--format=codex", "post-tool"], Called("post-tool", "codex")),
        (["stop", "--format", "claude", "--worker", "w-1", "--workdir=/x", "--store", "/s"], Called("stop", "claude", "w-1", "/x", "/s")),
        (["stop", "--format", "claude", "--blocks", "2"], None),
        (["stop", "--format", "claude", "--server", "http://localhost"], None),
        (["stop", "--format", "claude", "--format", "codex"], None),
        (["stop", "stop", "--format", "claude"], None),
        (["stop", "--format"], None),
        (["stop"], None),
        (["--format", "claude"], None),
        (["go", "--format", "claude"], None),
        (["stop", "--format", "other"], None),
        (["stop", "--form", "claude"], None),
        (["--help"], None),
        ([], None),
    ],
)
def test_only_a_call_as_hosts_make_it_is_plain(arguments: list[str], called: Called | None) -> None:
    assert called == plainly_called(arguments, {})


def test_the_environment_names_a_worker_and_what_needs_the_command_line() -> None:
    plain = ["stop", "--format", "claude"]
    assert Called("stop", "claude", "w-2") == plainly_called(plain, {"STATEWARD_WORKER": "w-2"})
    assert Called("stop", "claude", "w-1") == plainly_called([*plain, "--worker", "w-1"], {"STATEWARD_WORKER": "w-2"})
    for variable in ("STATEWARD_SERVER", "STATEWARD_STOP_BLOCKS"):
        assert plainly_called(plain, {variable: "1"}) is None


def test_the_options_of_a_plain_call_are_those_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for event in EVENTS:
        arguments = [event, "--format", "claude", "--worker", "w", "--workdir", str(tmp_path), "--store", str(tmp_path / "s")]
        assert plainly_called(arguments, {}) is not None
        assert 1 == CliRunner().invoke(hook_command, arguments, input="no JSON").exit_code


@pytest.mark.parametrize("arguments", [["stop", "--format", "claude"], ["stop", "--format", "claude", "--blocks", "3"]])
def test_both_ways_say_the_same(tmp_path: Path, arguments: list[str]) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run([STATEWARD, "hook", *arguments], input=b"[", cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert (b"", 1) == (done.stdout, done.returncode)
    (line,) = done.stderr.splitlines()
    assert line.startswith(b"stateward hook stop: the input cannot be read: ")
