"""`stateward run`, `status`, `log` and `flow`: the installed program, one process after another."""

import json
import sqlite3
from pathlib import Path

import pytest

from stateward.runtime.engine.submit import worker_id_for
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.segments import FlowSegment
from stateward.runtime.wiring import Location, person_at_terminal, writing
from stateward.store.triggers import TRIGGERS
from tests.cli.program import ANSWERS, Place, folded, place

SOURCE = """schema_version = 1; name = "mine"; initial = "one";
states = { one = { instructions = "Do it."; transitions = { go = { target = "two"; condition = "Done."; }; }; };
           two = { instructions = ""; terminal = true; }; };
"""


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def answers(here: Place, *requests: object) -> Path:
    path = here.folder / "answers.json"
    path.write_text(json.dumps({"requests": requests}), "utf-8")
    return path


def test_a_scripted_run_ends_completed_and_its_log_folds_to_the_same_state(here: Place) -> None:
    done = here.call(*here.scripted())
    assert (0, "") == (done.status, done.err)
    status = here.status()
    instance = folded(status, here.log(), "builtin:coder-review").instance
    assert instance is not None
    assert ("completed", "done", 6, 6) == (status["flow"]["status"], status["flow"]["state"], status["flow"]["visit"], instance.attempts)
    assert ("completed", "done", 6) == (str(instance.status), instance.state, instance.visit)


def test_the_worker_is_told_state_instructions_conditions_and_what_is_missing(here: Place) -> None:
    done = here.call(*here.scripted("--max-requests", "1"))
    assert 1 == done.status
    for told in ("implement  visit 1", "Make the change that the task asks for.", "submit → review", "$cancel → $cancelled"):
        assert told in done.out
    assert "not moved  no_condition_met" in done.out
    assert "missing: a test with a middle name" in done.out
    assert "--resume" in done.out


def test_a_run_goes_on_in_new_processes_until_it_has_ended_and_then_says_so(here: Place) -> None:
    first = here.call(*here.scripted("--max-requests", "2"))
    second = here.call(*here.scripted("--resume"))
    third = here.call(*here.scripted("--resume"))
    assert [1, 0, 0] == [first.status, second.status, third.status]
    assert "not submitted again" in second.out
    assert "completed" in third.out
    assert [each["seq"] for each in here.log()] == list(range(1, 15))


def test_resuming_where_there_is_nothing_starts(here: Place) -> None:
    done = here.call(*here.scripted("--resume"))
    assert 0 == done.status
    assert "nothing to resume here: starting" in done.out
    assert ("revision 1\n" in here.done("status"), 1) == (True, here.status()["flow"]["current_revision"])


def test_a_script_that_ends_early_leaves_the_flow_active(here: Place) -> None:
    path = answers(here, {"reason": "ready", "verdicts": {"submit": "met"}})
    done = here.call(*here.scripted(answers=path))
    assert 1 == done.status
    assert "the answers file ends after 1 requests" in done.out
    assert "review" == here.status()["flow"]["state"]


def test_two_verdicts_met_move_nothing(here: Place) -> None:
    path = answers(here, {"reason": "ready", "verdicts": {"submit": "met", "$cancel": "met"}})
    done = here.call(*here.scripted(answers=path))
    assert "multiple_conditions_met" in done.out
    assert ("implement", 1) == (here.status()["flow"]["state"], here.status()["flow"]["visit"])


def test_what_could_not_be_checked_is_called_that(here: Place) -> None:
    path = answers(here, {"reason": "ready", "verdicts": {"submit": {"verdict": "indeterminate", "rationale": "no log of a test run"}}})
    done = here.call(*here.scripted(answers=path))
    assert "submit  could not check" in done.out


def test_the_way_out_of_an_impossible_task_ends_cancelled(here: Place) -> None:
    path = answers(here, {"reason": "the repository is gone", "verdicts": {"$cancel": "met"}})
    done = here.call(*here.scripted(answers=path))
    assert 0 == done.status
    assert ("cancelled", "$cancelled") == (here.status()["flow"]["status"], here.status()["flow"]["state"])


def test_control_characters_of_a_reason_do_not_reach_the_terminal(here: Place) -> None:
    path = answers(here, {"reason": "done \x1b[2J\u202e[bold]x[/bold]", "verdicts": {"submit": "met"}})
    done = here.call(*here.scripted(answers=path))
    shown = done.out + here.call("log").out + here.call("status").out
    assert ("\x1b" in shown, "\u202e" in shown) == (False, False)
    assert "[bold]x[/bold]" in shown


def test_a_flow_is_kept_and_run_from_the_workspace(here: Place) -> None:
    (here.work / "mine.dcdl").write_text(SOURCE, "utf-8")
    assert here.done("flow", "save", "mine.dcdl").endswith("\nsaved workspace:mine revision 1\n")
    assert "nothing changed: workspace:mine revision 1\n" == here.call("flow", "save", "mine.dcdl", "--base", "1").out
    path = answers(here, {"reason": "ready", "verdicts": {"go": "met"}})
    assert 0 == here.call("run", "workspace:mine", "--answers", str(path)).status
    assert ("two", 1) == (here.status()["flow"]["state"], here.status()["flow"]["flow_revision"])
    assert "workspace:mine" in here.call("flow", "list").out


def test_a_worker_keeps_the_revision_it_began_with(here: Place) -> None:
    source = here.work / "mine.dcdl"
    source.write_text(SOURCE, "utf-8")
    here.call("flow", "save", "mine.dcdl")
    path = answers(here, {"reason": "not yet"}, {"reason": "ready", "verdicts": {"go": "met"}})
    here.call("run", "workspace:mine", "--answers", str(path), "--max-requests", "1")
    source.write_text(SOURCE.replace("one", "first"), "utf-8")
    assert "saved workspace:mine revision 2\n" == here.call("flow", "save", "mine.dcdl", "--base", "1").out
    source.unlink()
    done = here.call("run", "workspace:mine", "--answers", str(path), "--resume")
    assert 0 == done.status
    flow = here.status()["flow"]
    assert ("two", 1, 2) == (flow["state"], flow["flow_revision"], flow["current_revision"])
    assert "workspace:mine  revision 1  revision 2 is current" in here.done("status")


def test_a_save_from_a_stale_revision_is_refused_and_says_who_was_quicker(here: Place) -> None:
    source = here.work / "mine.dcdl"
    source.write_text(SOURCE, "utf-8")
    here.call("flow", "save", "mine.dcdl")
    source.write_text(SOURCE.replace("Do it.", "Do it well."), "utf-8")
    (here.work / ".stateward" / "bases.json").unlink()
    refused = here.call("flow", "save", "mine.dcdl")
    assert 1 == refused.status
    assert "is at revision 1" in refused.err
    assert "--base 1" in refused.err


def test_several_workers_are_told_apart_by_a_part_of_their_id(here: Place) -> None:
    here.call(*here.scripted())
    first = here.status()["worker"]
    here.call(*here.scripted("--max-requests", "1"))
    second = here.status()["worker"]
    assert first != second
    assert first in here.call("status", first[-8:]).out
    assert second in here.call("status").out
    unknown = here.call("status", "00000000")
    assert (2, True) == (unknown.status, "no Worker" in unknown.err)


def test_a_person_is_not_asked_where_there_is_no_terminal(here: Place) -> None:
    done = here.call("run", "builtin:single-step")
    assert (2, "") == (done.status, done.out)
    assert "no terminal" in done.err
    assert [] == list(here.work.iterdir())


def test_answers_that_repeat_a_reason_are_refused_before_anything_is_written(here: Place) -> None:
    path = answers(here, {"reason": "a"}, {"reason": "a"})
    done = here.call(*here.scripted(answers=path))
    assert 2 == done.status
    assert "requests 1 and 2 have the same reason" in done.err
    assert [] == list(here.work.iterdir())


def test_the_installed_program_does_what_this_process_does(here: Place) -> None:
    done = here.process(*here.scripted())
    assert (0, "") == (done.status, done.err)
    assert "completed  coder-review in state done" in done.out
    shown = here.process("status", "--json")
    assert (0, here.status()) == (shown.status, json.loads(shown.out))


def test_a_run_that_was_moved_goes_on_when_its_worker_is_named(here: Place) -> None:
    here.call(*here.scripted("--max-requests", "1"))
    worker = here.status()["worker"]
    here.work.rename(here.folder / "moved")
    here.work.mkdir()
    moved = here.call(*here.scripted("--resume", "--worker", worker, "--workdir", str(here.folder / "moved")))
    assert 0 == moved.status
    assert "it was started for" in moved.out
    assert ("completed", 6) == tuple(
        json.loads(here.done("status", "--json", "--workdir", str(here.folder / "moved")))["flow"][name] for name in ("status", "attempts")
    )


def test_a_worker_of_another_flow_is_not_gone_on_with(here: Place) -> None:
    here.call(*here.scripted("--max-requests", "1"))
    worker = here.status()["worker"]
    done = here.call(*here.scripted("--resume", "--worker", worker, flow="builtin:single-step"))
    assert (2, f"error: Worker `{worker}` does not run `builtin:single-step`\n  = help: see `stateward status`\n") == (
        done.status,
        done.err,
    )
    assert 1 == here.call(*here.scripted("--resume", flow="builtin:single-step")).status
    assert worker != here.status()["worker"]


def test_damage_to_another_worker_is_no_matter_unless_it_hides_what_that_one_runs(here: Place) -> None:
    here.call(*here.scripted("--max-requests", "1"))
    ours = here.status()["worker"]
    here.call(*here.scripted(flow="builtin:single-step"))
    other = here.status()["worker"]
    damage(here, other, 3)
    assert 0 == here.call(*here.scripted("--resume")).status
    damage(here, other, 1)
    hidden = here.call(*here.scripted("--resume"))
    assert (3, True) == (hidden.status, "--worker ID" in hidden.err)
    assert 0 == here.call(*here.scripted("--resume", "--worker", ours)).status


def damage(here: Place, worker: str, seq: int) -> None:
    """Change an entry, past the rules that guard it."""
    connection = sqlite3.connect(here.store, isolation_level=None)
    connection.execute("DROP TRIGGER entries_no_update")
    connection.execute("UPDATE entries SET payload = x'7b7d' WHERE worker = ? AND seq = ?", (worker, seq))
    connection.execute(TRIGGERS["entries_no_update"])
    connection.close()


def test_the_latest_worker_is_the_youngest_one_whatever_its_id(here: Place) -> None:
    here.call(*here.scripted("--max-requests", "1"))
    workspace = here.status()["workspace"]
    # Ids that follow from submissions are in no order; these two are in the wrong one.
    older, younger = sorted(("one", "two"), key=lambda name: worker_id_for(workspace, name), reverse=True)
    with writing(Location(workspace, here.store), DEMONSTRATION) as runtime:
        for name in (older, younger):
            runtime.engine.start_worker(workspace, (FlowSegment("builtin:single-step"),), person_at_terminal(), name)
        assert [worker_id_for(workspace, older), worker_id_for(workspace, younger)] == runtime.worker_ids()[1:]
    assert worker_id_for(workspace, younger) == here.status()["worker"]


def test_names_in_an_error_do_not_act_on_a_terminal(here: Place) -> None:
    here.call(*here.scripted("--max-requests", "1"))
    odd = "\x1b[2J\u202e\udcff"
    for arguments in (["status", odd], here.scripted("--resume", "--worker", odd), here.scripted("--workdir", odd), ["flow", "save", odd]):
        ended = here.call(*arguments)
        assert (2, False) == (ended.status, bool({*odd} - {*"[2J"} & {*ended.err}))


def test_a_run_that_is_held_says_who_can_lift_that(here: Place) -> None:
    path = answers(here, *({"reason": f"try {number}"} for number in range(1, 6)))
    done = here.call(*here.scripted(answers=path))
    assert (1, 3) == (done.status, here.status()["flow"]["attempts"])
    assert f"stateward operate clear {here.status()['worker']} --reason" in done.out.replace("\n", " ")


def test_the_demonstration_is_marked_as_one(here: Place) -> None:
    here.call("run", "builtin:coder-review", "--answers", str(ANSWERS), "--max-requests", "1")
    assert (True, "scripted") == (here.status()["demonstration"], here.status()["verifier"])
    assert "demonstration" in here.call("status").out
