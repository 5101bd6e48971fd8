"""Killed at any moment, a scripted run that is resumed comes to the same end, and nothing is recorded twice."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import Place, folded, place

MOMENTS = int(os.environ.get("STATEWARD_KILLS", "8"))
"""How many moments of a run are tried."""
WHOLE_RUN_SECONDS = 3.0
PROCESSES_MAX = 200


def run_for(here: Place, seconds: float) -> int | None:
    """Run the script and kill it with SIGKILL after some time; give its exit status, or None when it was killed."""
    process = subprocess.Popen(
        here.command(*here.scripted("--resume")),
        cwd=here.work,
        env=here.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def assert_one_whole_history(here: Place) -> None:
    entries, status = here.log(), here.status()
    instance = folded(status, entries, "builtin:coder-review").instance
    events = [event for entry in entries for event in entry["events"]]
    attempts = [event["attempt"] for event in events if event["type"] == "transition_requested"]
    assert instance is not None
    assert ("completed", "done", 6) == (str(instance.status), instance.state, instance.visit)
    assert ("completed", "done", 6) == (status["flow"]["status"], status["flow"]["state"], status["flow"]["visit"])
    assert list(range(1, 15)) == [entry["seq"] for entry in entries]
    assert 6 == len(attempts) == len(set(attempts))
    assert 1 == sum(event["type"] == "instance_started" for event in events)
    assert 1 == len({entry["worker"] for entry in entries})


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_once_at_some_moment_and_resumed(tmp_path: Path, moment: int) -> None:
    here = place(tmp_path)
    run_for(here, WHOLE_RUN_SECONDS * (moment + 1) / MOMENTS)
    assert 0 == here.call(*here.scripted("--resume")).status
    assert_one_whole_history(here)


def test_killed_again_and_again_until_it_gets_through(tmp_path: Path) -> None:
    here = place(tmp_path)
    seconds = 0.5
    for _ in range(PROCESSES_MAX):
        if run_for(here, seconds) is not None:
            break
        seconds *= 1.1
    assert_one_whole_history(here)
