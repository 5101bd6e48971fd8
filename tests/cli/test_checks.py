"""Flows whose checks are run at the command line: allowed by a profile, with a real program, and what came of them."""

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from stateward.runtime.core.events import Part, PartKind, Verdict
from stateward.runtime.ports import Answered, InProgress
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.surfaces.cli.terminal import Terminal, say_checks
from stateward.runtime.wiring import agent_channel
from tests.cli.judged import asked, configured
from tests.cli.program import Place, place
from tests.contracts.verifiers import request_for
from tests.workdir.repositories import Repo

CHECKED = """schema_version = 2;
name = "checked";
initial = "work";
checks.tests = { command = ["sh", "tests.sh", "-q"]; timeout = "10m"; };
states = {
    work = {
        instructions = "Make the tests pass.";
        transitions = { ready = { target = "done"; checks = ["tests"]; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""
NO = """import json, sys
asked = json.load(sys.stdin)["questions"]
said = {"verdict": "not_met", "rationale": "no", "missing": ["a blocker"], "citations": []}
print(json.dumps({"results": [{"transition_id": each["transition_id"], **said} for each in asked]}))
"""
"""Says no to whatever it is asked."""
LONG = 600.0
"""Longer than any of these checks takes."""
ALLOW = 'checks.allow = [["sh", "tests.sh"]];'


def begun(folder: Path, more: str = ALLOW, script: str = "echo all of them") -> Place:
    """Start a Worker on a flow with a check, under a profile with this in it."""
    here = place(folder)
    judge = folder / "judge.py"
    judge.write_text(NO)
    configured(folder / ".config", strict=f'{{ kind = "command"; program = ["{sys.executable}", "{judge}"]; }};\n{more}\n')
    (here.work / "checked.dcdl").write_text(CHECKED)
    (here.work / "tests.sh").write_text(script)
    here.done("flow", "save", "checked.dcdl")
    here.done("start", "workspace:checked", "--profile", "strict")
    return here


def test_a_check_that_passes_lets_the_worker_on(tmp_path: Path) -> None:
    here = begun(tmp_path)
    status, told = asked(here)
    assert (0, "entered", "ready") == (status, told["answer"]["outcome"], told["answer"]["transition"])
    (run,) = [each for each in here.log() if "check.run.v1" in json.dumps(each)]
    assert ("engine", "engine") == (run["actor"]["class"], run["evidence"])
    assert "check tests: exit status 0 after" in here.done("log")


def test_a_check_that_fails_tells_the_worker_what_it_said(tmp_path: Path) -> None:
    here = begun(tmp_path, script="echo one of them failed; exit 7")
    status, told = asked(here)
    (result,) = [each for each in told["answer"]["results"] if each["transition"] == "ready"]
    assert (1, "not_met", ["check `tests`: `sh tests.sh -q` ended with exit status 7\none of them failed"]) == (
        status,
        result["verdict"],
        result["missing"],
    )
    shown = here.call("request", "--reason", "once more").out
    assert "check `tests`: `sh tests.sh -q` ended with exit status 7" in shown
    assert "one of them failed" in here.done("why")


def test_a_check_that_no_profile_allows_is_could_not_check_and_tells_the_operator_what_to_write(tmp_path: Path) -> None:
    here = begun(tmp_path, more="")
    status, told = asked(here)
    (result,) = [each for each in told["answer"]["results"] if each["transition"] == "ready"]
    assert (1, "indeterminate", "indeterminate") == (status, told["answer"]["code"], result["verdict"])
    assert "no profile lets `sh tests.sh -q` be run" in result["missing"][0]
    assert 'checks.allow = [["sh", "tests.sh", "-q"]];' in result["missing"][0]


def test_a_profile_shows_what_it_lets_be_run(tmp_path: Path) -> None:
    here = begun(tmp_path)
    shown = here.done("profile", "show", "strict")
    assert "sh tests.sh" in next(line for line in shown.splitlines() if line.startswith("checks.allow"))
    fields = json.loads(here.done("profile", "show", "strict", "--json"))["fields"]
    assert {"value": [["sh", "tests.sh"]], "set_by": ["role"]} == fields["checks.allow"]


def test_an_attempt_is_explained_with_what_came_of_its_checks(tmp_path: Path) -> None:
    here = begun(tmp_path, script="exit 1")
    attempt = asked(here)[1]["answer"]["attempt"]
    (part,) = json.loads(here.done("explain-attempt", attempt, "--json"))["parts"]
    (run,) = [each for each in here.log() if "check.run.v1" in json.dumps(each)]
    expected = {
        "transition": "ready",
        "kind": "check",
        "name": "tests",
        "verdict": "not_met",
        "missing": ["`sh tests.sh -q` ended with exit status 1"],
    }
    assert {**expected, "entry": run["reference"]} == part
    assert f"ready  check tests: not met  in {run['reference']}" in here.done("explain-attempt", attempt)


def test_a_log_with_checks_verifies(tmp_path: Path) -> None:
    here = begun(tmp_path)
    asked(here)
    assert here.done("log", "verify")


def test_an_agent_is_told_that_checks_are_run_may_stop_them_and_goes_on_with_the_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    here = begun(tmp_path, script=f"exec 3> {pipe}; echo up >&3; exec tail -f /dev/null")
    for name in {*os.environ} - {*here.environment}:
        monkeypatch.delenv(name)
    for name, value in here.environment.items():
        monkeypatch.setenv(name, value)
    worker = here.status()["worker"]
    with agent_channel(here.work, here.store, worker, Actor(ActorClass.AGENT, "mcp", "agent")) as channel:
        going = channel.ask("done", 0)
        assert isinstance(going, InProgress)
        with pipe.open() as listening:  # which ends when nobody of the check holds it any more
            assert "up\n" == listening.readline()
            assert channel.is_busy
            assert channel.cancel()
            assert not listening.read()
        assert not any("check.run.v1" in json.dumps(each) for each in here.log())
        (here.work / "tests.sh").write_text("exit 0")
        answered = channel.ask("done", LONG)
    assert isinstance(answered, Answered)
    assert (going.attempt, "done") == (answered.answer.attempt, answered.answer.state)


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "said"), [(_Screen, "running checks: tests, lint\n"), (io.StringIO, "")])
def test_somebody_at_a_terminal_is_told_that_checks_are_run(stream: type[io.StringIO], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = stream()
    monkeypatch.setattr(sys, "stderr", shown)
    say_checks(replace(request_for(), checks=("tests", "lint")))
    say_checks(request_for())
    assert said == shown.getvalue()


def test_a_person_who_judges_is_shown_what_came_of_the_checks(capsys: pytest.CaptureFixture[str]) -> None:
    typed = iter((b"y\n", b"it is fine\n"))
    terminal = Terminal(Console(width=100), read=lambda: next(typed), drop=lambda: False)
    missing = ("it ended with exit status 1", "\x1b[31mone failed")
    request = replace(request_for(), parts=(Part("other", PartKind.CHECK, Verdict.NOT_MET, "tests", missing, 7),))
    terminal.ask(request, request.questions[0], None)
    said = capsys.readouterr().out
    assert "other  check tests: not met  in E00000007" in said
    assert "missing: it ended with exit status 1" in said
    assert "\x1b[31m" not in said


def test_a_check_ends_with_the_command_that_runs_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    here = begun(tmp_path, script=f"exec 3> {pipe}; echo up >&3; exec tail -f /dev/null")
    with subprocess.Popen(here.command("request", "--reason", "done"), cwd=here.work, env=here.environment) as asking:
        with pipe.open() as listening:  # which ends when nobody of the check holds it any more
            assert "up\n" == listening.readline()
            asking.send_signal(signal.SIGTERM)
            assert not listening.read()
        assert 128 + signal.SIGTERM == asking.wait()
    assert here.status()["flow"]["attempt"] is not None


def test_a_check_is_of_the_tree_that_it_ran_on(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    here = begun(tmp_path, script=f"echo run >> {runs}; exit 1")
    tree = Repo(here.work, tmp_path / "mark")
    tree.git("init", "--quiet")
    tree.commit("a.txt", "one\n")
    asked(here, "first")
    asked(here, "second")
    assert "run\n" == runs.read_text()
    tree.write("a.txt", "two\n")
    asked(here, "third")
    tree.write("a.txt", "one\n")
    asked(here, "fourth")
    assert "run\n" * 3 == runs.read_text()
    found = [json.loads(each["payload"])["record"]["run"] for each in here.log() if "check.run.v1" in json.dumps(each)]
    assert found[0]["tree"] == found[0]["tree_after"] == found[2]["tree"] != found[1]["tree"]


def test_a_check_that_writes_into_the_work_is_told_what_it_wrote(tmp_path: Path) -> None:
    here = begun(tmp_path, script="echo x > report.txt")
    tree = Repo(here.work, tmp_path / "mark")
    tree.git("init", "--quiet")
    tree.commit("a.txt", "one\n")
    _, told = asked(here)
    (missing,) = next(each["missing"] for each in told["answer"]["results"] if each["transition"] == "ready")
    assert "check `tests`: the Workdir changed while it ran: `report.txt`" in missing
    assert "let git ignore what the check writes" in missing
