"""A Worker whose agent was let go is listed as stopped while its flow stays active, until somebody goes on."""

from pathlib import Path

import pytest

from stateward.runtime.engine.overview import FlowRow, Why
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.entries import Kind
from tests.hooks.bench import Bench
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.start()
    for _ in range(4):
        made.stop(again=True)
    return made


def listed(bench: Bench) -> FlowRow:
    (row,) = bench.desk.engine.workers(WORKSPACE, 10)
    assert row.flow is not None
    return row.flow


def test_who_was_let_go_is_listed_as_stopped_and_not_as_ended(bench: Bench) -> None:
    why = bench.desk.engine.why(bench.desk.worker)
    assert isinstance(why, Why)
    assert ("active", "stopped: unfinished", "stopped: unfinished") == (listed(bench).status, listed(bench).stuck, why.stuck)


def test_the_end_of_its_run_is_no_going_on(bench: Bench) -> None:
    bench.hook("session-end")
    assert Kind.RUN_ENDED in bench.kinds()
    assert "stopped: unfinished" == listed(bench).stuck


@pytest.mark.parametrize("going_on", ["run", "call", "prompt", "request"])
def test_whoever_goes_on_is_not_stopped_any_more(bench: Bench, going_on: str) -> None:
    match going_on:
        case "run":
            bench.start(source="resume")
        case "call":
            bench.hook("post-tool")
        case "prompt":
            bench.hook("user-prompt")
        case _:
            bench.desk.engine.begin(bench.desk.worker, "done", AGENT)
    assert not listed(bench).stuck.startswith("stopped")


def test_a_stop_without_a_reason_is_told_as_one(bench: Bench) -> None:
    bench.hook("post-tool")
    bench.desk.engine.stop(bench.desk.worker, "", PERSON)
    bench.desk.engine.end_run(bench.desk.worker, "run", RunOutcome.COMPLETED, HOST)
    assert "stopped" == listed(bench).stuck
