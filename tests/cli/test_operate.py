"""`stateward operate`, `ps`, `why` and `replay`: the installed program."""

import json
from pathlib import Path

import pytest

from tests.cli.program import ANSWERS, Place, place

FLOW = """schema_version = 1;
name = "mine";
initial = "one";
states = {
    one = { instructions = "Do it."; transitions = { go = { target = "two"; condition = "Done."; }; }; };
    two = { instructions = "Check it."; transitions = { end = { target = "three"; condition = "Right."; }; }; };
    three = { instructions = ""; terminal = true; };
};
"""
ELSEWHERE = """schema_version = 1;
name = "mine";
initial = "one";
states = {
    one = { instructions = "Do it."; transitions = { go = { target = "three"; condition = "Done."; }; }; };
    three = { instructions = ""; terminal = true; };
};
"""


@pytest.fixture
def here(tmp_path: Path) -> Place:
    made = place(tmp_path)
    (made.work / "mine.dcdl").write_text(FLOW, "utf-8")
    made.done("flow", "save", "mine.dcdl")
    path = made.folder / "answers.json"
    requests = [{"reason": "done", "verdicts": {"go": "met"}}, {"reason": "not yet"}, {"reason": "right", "verdicts": {"end": "met"}}]
    path.write_text(json.dumps({"requests": requests}), "utf-8")
    assert 1 == made.call("run", "workspace:mine", "--answers", str(path), "--max-requests", "2").status
    return made


def go_on(here: Place) -> int:
    return here.call("run", "workspace:mine", "--answers", str(here.folder / "answers.json"), "--resume").status


def test_a_paused_worker_refuses_requests_saying_by_whom_and_why_until_it_is_resumed(here: Place) -> None:
    worker = here.status()["worker"]
    assert "pause recorded" in here.done("operate", "pause", worker, "--reason", "waiting for the release")
    refused = here.call("run", "workspace:mine", "--answers", str(here.folder / "answers.json"), "--resume")
    assert 1 == refused.status
    assert "waiting for the release" in refused.out
    assert "waiting for the release" in here.done("ps", "--stuck")
    here.done("operate", "resume", worker, "--reason", "released")
    assert "no Worker is stuck" in here.done("ps", "--stuck")
    assert 0 == go_on(here)


def test_a_rewind_enters_an_earlier_state_at_a_new_visit(here: Place) -> None:
    assert "one (visit 3)" in here.done("operate", "rewind", here.status()["worker"], "--to", "one", "--reason", "done wrongly")
    assert ("one", 3) == (here.status()["flow"]["state"], here.status()["flow"]["visit"])


def test_an_operator_cancels_without_worker_or_verifier_and_nothing_leaves_an_end(here: Place) -> None:
    worker = here.status()["worker"]
    here.done("operate", "cancel", worker, "--reason", "not needed any more")
    assert "cancelled" == here.status()["flow"]["status"]
    again = here.call("operate", "rewind", worker, "--to", "one", "--reason", "after all")
    assert 1 == again.status
    assert "ended" in again.out


def test_a_fork_goes_on_by_itself(here: Place) -> None:
    parent = here.status()["worker"]
    here.done("operate", "fork", parent, "--reason", "try another way")
    fork = here.status()
    assert parent != fork["worker"]
    assert ("two", "active") == (fork["flow"]["state"], fork["flow"]["status"])
    refused = here.call("operate", "delete", parent, "--yes")
    assert 1 == refused.status
    log = here.done("log", fork["worker"])
    assert "make-whole recorded" in here.done("operate", "make-whole", fork["worker"], "--reason", "the parent has to go")
    here.done("operate", "delete", parent, "--yes")
    assert here.done("log", fork["worker"]).startswith(log.rstrip())
    assert "intact    yes" in here.done("log", "verify", fork["worker"])


def test_a_deleted_worker_is_gone_and_deleting_asks_back(here: Place) -> None:
    worker = here.status()["worker"]
    kept = here.call("operate", "delete", worker)
    assert kept.status != 0
    assert worker == here.status()["worker"]
    here.done("operate", "delete", worker, "--yes")
    assert 2 == here.call("status").status


def test_why_says_for_each_way_out_what_is_missing(here: Place) -> None:
    why = here.done("why")
    assert "in two, visit 2, active" in why
    assert "end → three" in why
    assert "not met" in why
    assert "judged on the log up to" in why
    assert "two" == json.loads(here.done("why", "--json"))["state"]


def test_ps_lists_where_each_worker_stands(here: Place) -> None:
    here.call("run", "builtin:coder-review", "--answers", str(ANSWERS))
    assert "workspace:mine" in here.done("ps")
    assert "builtin:coder-review" not in here.done("ps")
    rows = [json.loads(line) for line in here.done("ps", "--all", "--json").splitlines()]
    assert {"active", "completed"} == {row["flow"]["status"] for row in rows}


def test_recorded_verdicts_are_run_through_another_revision(here: Place) -> None:
    same = here.work / "same.dcdl"
    same.write_text(FLOW.replace("Check it.", "Check it twice."), "utf-8")
    assert "leads the same way" in here.done("replay", "--against", "same.dcdl")
    assert "state `two`: instructions" in here.done("replay", "--against", "same.dcdl")
    other = here.work / "other.dcdl"
    other.write_text(ELSEWHERE, "utf-8")
    elsewhere = here.call("replay", "--against", "other.dcdl")
    assert (1, True) == (elsewhere.status, "leads elsewhere at E" in elsewhere.out)


def test_an_act_without_a_reason_or_for_nobody_is_refused(here: Place) -> None:
    assert 2 == here.call("operate", "pause", here.status()["worker"]).status
    nobody = here.call("operate", "pause", "00000000", "--reason", "x")
    assert (2, True) == (nobody.status, "no Worker" in nobody.err)
