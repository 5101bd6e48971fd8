"""`stateward hook` as hosts call it: on a real store, by several at once, killed at any write, and on what is no input at all."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime import wiring
from stateward.runtime.surfaces.cli import main
from stateward.runtime.surfaces.hooks import called as hook
from stateward.runtime.wiring import active_workers
from tests.cli.children import start
from tests.cli.program import Ended, Place, place
from tests.hooks.bench import recorded
from tests.hooks.lines import claude_said

SESSION = "5d1f0c2e-7a44-4c1e-9d55-0b6f3f1f2a10"
SECRET = "hunter2hunter2"  # noqa: S105 -- what is to be found nowhere
LINES = 1_300
"""More than two commits take."""


def given(here: Place, name: str, host: str = "claude", **changed: Any) -> bytes:
    """Give a recorded input, as it is of a session in this place."""
    own = {"session_id": SESSION, "cwd": str(here.work), "transcript_path": str(here.folder / f"{SESSION}.jsonl")}
    return json.dumps({**recorded(host, name), **own, **changed}).encode()


def call(here: Place, event: str, data: bytes, *options: str, **environment: str) -> Ended:
    """Run the hook in this process, with its input on standard input; it is called in a folder without a Workspace."""
    streams = {name: io.TextIOWrapper(io.BytesIO(data if name == "stdin" else b""), "utf-8") for name in ("stdin", "stdout", "stderr")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here.folder)
        for name in {*os.environ} - {*here.environment}:
            patch.delenv(name)
        for name, value in {**here.environment, **environment}.items():
            patch.setenv(name, value)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as end:
            main(["hook", event, "--format", "claude", *options])
    said = []
    for name in ("stdout", "stderr"):
        streams[name].flush()
        buffer = streams[name].buffer
        assert isinstance(buffer, io.BytesIO)
        said.append(buffer.getvalue().decode())
    return Ended(int(end.value.code or 0), *said)


@pytest.fixture
def here(tmp_path: Path) -> Place:
    made = place(tmp_path)
    assert 0 == made.call("start", "builtin:coder-review", "--text", "Ticket 41").status
    return made


def payloads(here: Place, *kinds: str) -> list[Any]:
    return [json.loads(each["payload"]) for each in here.log() if each["kind"] in kinds and each["actor"]["class"] == "host"]


def test_a_session_on_a_store_is_kept_on_and_listed_as_stopped_when_it_was_let_go(here: Place) -> None:
    assert "Instructions of the state" in call(here, "session-start", given(here, "session-start")).out
    ends = [call(here, "stop", given(here, "stop", stop_hook_active=each > 0)) for each in range(4)]
    assert ["decision"] * 3 + ["systemMessage"] == [next(iter(json.loads(each.out))) for each in ends]
    assert {(0, "")} == {(each.status, each.err) for each in ends}
    (row,) = [json.loads(line) for line in here.done("ps", "--json").splitlines()]
    assert ("active", "stopped: unfinished") == (row["flow"]["status"], row["flow"]["stuck"])


def test_how_often_an_agent_is_kept_on_comes_from_option_or_environment(here: Place) -> None:
    assert "systemMessage" in call(here, "stop", given(here, "stop"), "--blocks", "0").out
    assert "systemMessage" in call(here, "stop", given(here, "stop", session_id="other"), STATEWARD_STOP_BLOCKS="0").out


def test_a_folder_without_a_workspace_is_never_disturbed(tmp_path: Path) -> None:
    bare = place(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    for event in hook.EVENTS:
        assert Ended(0, "", "") == call(bare, event, given(bare, event))
        assert Ended(0, "", "") == call(bare, event, given(bare, event, cwd=str(tmp_path / "gone")))
    assert before == sorted(tmp_path.rglob("*"))


def test_a_store_that_cannot_be_read_lets_the_agent_go_with_a_warning(here: Place) -> None:
    call(here, "session-start", given(here, "session-start"))
    here.store.write_bytes(b"no store at all" * 500)
    ended = call(here, "stop", given(here, "stop"))
    assert (0, "", ["systemMessage"]) == (ended.status, ended.err, list(json.loads(ended.out)))
    ended = call(here, "post-tool", given(here, "post-tool"))
    assert (1, "", 1) == (ended.status, ended.out, ended.err.count("\n"))


def test_a_hook_makes_no_store(here: Place) -> None:
    call(here, "session-start", given(here, "session-start"))
    for each in here.store.parent.glob("store.db*"):
        each.unlink()
    assert "has no store" in json.loads(call(here, "stop", given(here, "stop")).out)["systemMessage"]
    assert Ended(0, "", "") == call(here, "stop", given(here, "stop", session_id="another"))
    assert not here.store.exists()


def test_a_marker_that_is_none_lets_the_agent_go_with_a_warning(here: Place) -> None:
    (here.work / ".stateward" / "workspace").write_text("none\n")
    assert ["systemMessage"] == list(json.loads(call(here, "stop", given(here, "stop")).out))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no object in JSON"),
        (b"[1, 2]", "no object in JSON"),
        (b'{"hook_event_name": "Stop", "session_id": "s"} {}', "no object in JSON"),
        (b"[" * 100_000, "no object in JSON"),
        (b'{"hook_event_name": "Stop", "n": ' + b"[" * 100_000, "no object in JSON"),
        (b'\xff{"hook_event_name": "Stop"}', "no object in JSON"),
        (b'{"hook_event_name": "PostToolUse", "session_id": "s"}', "is of the event `PostToolUse`, not of `stop`"),
        (b'{"hook_event_name": "Stop"}', "names no session"),
        (b'{"hook_event_name": "Stop", "session_id": "a\\nb"}', "names no session"),
        (b'{"hook_event_name": "Stop", "session_id": "' + b"s" * 200 + b'"}', "names no session"),
        (b'{"hook_event_name": "Stop", "session_id": "s", "cwd": "a\\u0000b"}', "`cwd` of the input is no path"),
        (b'{"hook_event_name": "Stop", "session_id": "s", "agent_id": "' + b"s" * 600 + b'"}', "`agent_id` of the input is longer"),
    ],
    ids=range(12),
)
def test_what_is_no_input_is_told_in_one_line_and_keeps_nobody_from_going_on(here: Place, data: bytes, said: str) -> None:
    before = here.log()
    ended = call(here, "stop", data)
    assert (1, "", 1, True) == (ended.status, ended.out, ended.err.count("\n"), said in ended.err)
    assert before == here.log()


def test_an_input_over_the_limit_is_told_in_one_line(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "INPUT_BYTES_MAX", 100)
    ended = call(here, "post-tool", given(here, "post-tool"))
    assert (1, "", True) == (ended.status, ended.out, "more than 100 bytes" in ended.err)


def test_a_folder_of_a_workspace_that_is_gone_is_left_alone(here: Place) -> None:
    assert Ended(0, "", "") == call(here, "stop", given(here, "stop", cwd=str(here.work / "gone")))


def test_a_store_is_looked_through_again_only_after_somebody_wrote(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = here.status()["worker"]
    here.done("operate", "cancel", worker, "--reason", "not needed")
    looked: list[str] = []
    monkeypatch.setattr(wiring, "active_workers", lambda *given: looked.append("again") or active_workers(*given))
    for number in range(3):
        assert Ended(0, "", "") == call(here, "post-tool", given(here, "post-tool", session_id=f"s-{number}"))
    assert 1 == len(looked)
    assert 0 == here.call("start", "builtin:coder-review", "--text", "Ticket 42").status
    assert "Instructions of the state" in call(here, "session-start", given(here, "session-start")).out
    assert 2 == len(looked)


def test_a_worker_that_is_none_is_told_and_keeps_nobody_from_stopping(here: Place) -> None:
    ended = call(here, "stop", given(here, "stop"), "--worker", "nobody")
    assert "there is no Worker `nobody`" in json.loads(ended.out)["systemMessage"]
    ended = call(here, "post-tool", given(here, "post-tool"), STATEWARD_WORKER="w" * 9000)
    assert (1, "", 1) == (ended.status, ended.out, ended.err.count("\n"))


def test_a_worker_that_is_none_leaves_nothing_behind(here: Place) -> None:
    call(here, "stop", given(here, "stop", session_id="another"), "--worker", "nobody")
    assert "block" == json.loads(call(here, "stop", given(here, "stop", session_id="another")).out)["decision"]


def test_an_agent_that_goes_elsewhere_stays_in_the_workspace_of_its_project(here: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".stateward").mkdir(parents=True)
    (elsewhere / ".stateward" / "workspace").write_text("of its own making\n")
    for folder in (tmp_path, elsewhere, here.work):
        ended = call(here, "stop", given(here, "stop", cwd=str(folder)), CLAUDE_PROJECT_DIR=str(here.work))
        assert (0, "block") == (ended.status, json.loads(ended.out)["decision"])


def test_a_project_without_a_workspace_leaves_it_to_the_folder_of_now(here: Place, tmp_path: Path) -> None:
    ended = call(here, "stop", given(here, "stop"), CLAUDE_PROJECT_DIR=str(tmp_path))
    assert "block" == json.loads(ended.out)["decision"]


def test_what_is_said_of_a_problem_is_one_line_that_no_terminal_obeys_and_without_secrets(here: Place) -> None:
    name = f"Stop\n\x1b[31m{SECRET}\u202e"
    ended = call(here, "stop", given(here, "stop", hook_event_name=name), MY_TOKEN=SECRET)
    said = "stateward hook stop: the input is of the event `Stop\\n\\x1b[31m«secret:MY_TOKEN»\\u202e`, not of `stop`\n"
    assert Ended(1, "", said) == ended


def test_a_secret_in_any_name_that_a_host_gives_is_nowhere_among_the_users_state(here: Place) -> None:
    folder = here.work / SECRET
    folder.mkdir()
    own: Any = {"session_id": SECRET, "cwd": str(folder), "transcript_path": f"/{SECRET}.jsonl"}
    said = [call(here, "session-start", given(here, "session-start", **own), MY_TOKEN=SECRET)]
    said += [call(here, "post-tool", given(here, "post-tool", **own, agent_id=SECRET, tool_use_id=SECRET), MY_TOKEN=SECRET)]
    said += [call(here, "user-prompt", given(here, "user-prompt", **own, prompt_id=SECRET), MY_TOKEN=SECRET)]
    said += [call(here, "stop", given(here, "stop", **own), MY_TOKEN=SECRET)]
    said += [call(here, "session-end", given(here, "session-end", **own, reason=SECRET), MY_TOKEN=SECRET)]
    said += [call(here, "stop", given(here, "stop", **own), "--worker", SECRET, MY_TOKEN=SECRET)]
    assert [0] * 6 == [each.status for each in said]
    assert not any(SECRET in f"{each.out}{each.err}" for each in said)
    kept = [each for each in here.store.parent.rglob("*") if each.is_file()]
    assert [] == [each.name for each in kept if SECRET.encode() in each.read_bytes()]
    assert {"run_started", "tool_result", "note", "run_ended"} <= {each["kind"] for each in here.log()}


def test_a_secret_that_is_kept_only_later_is_not_told(here: Place) -> None:
    here.done("operate", "pause", here.status()["worker"], "--reason", f"wait for {SECRET}")
    told = [call(here, event, given(here, event), MY_TOKEN=SECRET).out for event in ("session-start", "stop")]
    assert [(False, True)] * 2 == [(SECRET in each, "secret:MY_TOKEN" in each) for each in told]


@pytest.mark.parametrize("options", [("--format", "emacs"), ("--blocks", "many"), ("--nothing",)])
def test_a_wrong_call_never_ends_with_the_status_that_refuses(here: Place, options: tuple[str, ...]) -> None:
    ended = call(here, "stop", given(here, "stop"), *options)
    assert (1, "") == (ended.status, ended.out)


def test_several_at_once_record_each_call_once(here: Place, tmp_path: Path) -> None:
    call(here, "session-start", given(here, "session-start"))
    processes = []
    for number in range(9):
        file = tmp_path / f"input-{number}"
        file.write_bytes(given(here, "post-tool", tool_use_id=f"use-{number % 6}"))
        processes.append(start(here, "hook", "post-tool", "--format", "claude", terminal=str(file)))
    for each in processes:
        each.join()
    assert [0] * 9 == [each.exitcode for each in processes]
    assert [f"use-{number}" for number in range(6)] == sorted(each["tool_use_id"] for each in payloads(here, "tool_result"))
    here.done("log", "verify")


def test_an_import_that_is_killed_at_any_write_brings_each_line_once_in_the_end(here: Place, tmp_path: Path) -> None:
    call(here, "session-start", given(here, "session-start"))
    with (here.folder / f"{SESSION}.jsonl").open("w") as file:
        file.writelines(json.dumps(claude_said(f"l-{number}", f"word {number}")) + "\n" for number in range(LINES))
    ends = []
    for writes in (1, 2, 1, 3, 2, None):
        file_in = tmp_path / f"input-{len(ends)}"
        file_in.write_bytes(given(here, "pre-compact"))
        process = start(here, "hook", "pre-compact", "--format", "claude", terminal=str(file_in), writes=writes)
        process.join()
        ends.append(process.exitcode)
    assert (-signal.SIGKILL, 0) == (ends[0], ends[-1])
    assert [f"word {number}" for number in range(LINES)] == [each["text"] for each in payloads(here, "assistant_message")]
    here.done("log", "verify")


def test_the_installed_program_answers_a_host(here: Place) -> None:
    arguments = here.command("hook", "session-start", "--format", "codex")
    ended = subprocess.run(
        arguments, cwd=here.folder, env=here.environment, input=given(here, "session-start", "codex"), capture_output=True, check=False
    )
    assert (0, b"") == (ended.returncode, ended.stderr)
    assert "SessionStart" == json.loads(ended.stdout)["hookSpecificOutput"]["hookEventName"]
