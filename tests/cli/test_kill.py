"""Killed at any moment, a scripted run that is resumed comes to the same end, and nothing is recorded twice."""

import os
import signal
from pathlib import Path

import pytest

from tests.cli.children import start
from tests.cli.program import Place, folded, place

MOMENTS = int(os.environ.get("STATEWARD_KILLS", "7"))
"""How many moments of a run are tried."""
WRITES = 30
"""Durable writes that a run has at least, from the making of its store on."""
PROCESSES_MAX = 200


def run_until(here: Place, writes: int) -> int | None:
    """Run the script and kill it right after some durable write; give its exit status, or None when it was killed."""
    process = start(here, *here.scripted("--resume"), writes=writes)
    process.join()
    return None if process.exitcode == -signal.SIGKILL else process.exitcode


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


@pytest.mark.parametrize("writes", sorted({1 + WRITES * moment // MOMENTS for moment in range(MOMENTS)}))
def test_killed_after_a_write_and_resumed(tmp_path: Path, writes: int) -> None:
    here = place(tmp_path)
    assert run_until(here, writes) is None
    assert 0 == here.call(*here.scripted("--resume")).status
    assert_one_whole_history(here)


def test_killed_again_and_again_until_it_gets_through(tmp_path: Path) -> None:
    here = place(tmp_path)
    ends = iter(run_until(here, 3 + at) for at in range(PROCESSES_MAX))
    killed = sum(1 for _ in iter(ends.__next__, 0))
    assert killed > 1
    assert_one_whole_history(here)
