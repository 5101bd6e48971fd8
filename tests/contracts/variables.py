"""What setting variables does, through every way for an agent to reach its Worker (the port `WorkerChannel`).

A test module for an adapter imports everything here and offers the fixture `refine`: a Worker on the flow `refine`, begun with the inputs
`NEEDS`, judged by a program, under `RECORDED` secrets.
"""

from typing import Any

import pytest

from stateward.runtime.core.events import Verdict
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.showing import NOT_SHOWN, entry_of
from stateward.runtime.ports import Answered, EntryShown, FlowStanding, Submitted, ValueShown, Written
from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.segments import FlowSegment
from tests.contracts.work import Bench, page, told
from tests.runtime.engines import PERSON
from tests.runtime.guarded import NEEDS

REFINED = Profile("refined by a program", VerifierKind.COMMAND, program=("/bin/true",), agent_selectors=("workspace:refine",))
SECRET = "tok-en-é-1234"  # noqa: S105 -- a secret of nobody
RECORDED = Secrets({"TOKEN": SECRET})
PLACEHOLDER = "«secret:TOKEN»"


def written(bench: Bench, **values: object) -> Written:
    answer = bench.channel.set_variables(values)
    assert isinstance(answer, Written), answer
    return answer


def refused(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def sets(bench: Bench) -> list[tuple[EntryShown, dict[str, Any]]]:
    """Give the entries that set variables, each with its event."""
    return [(entry, dict(event)) for entry in whole(bench) for event in entry.events if event["type"] == "variables_set"]


def whole(bench: Bench) -> list[EntryShown]:
    """Give the log as an operator sees it."""
    return [entry_of(each) for each in bench.engine.log(bench.channel.worker)]


def values_of(event: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(each["name"], each["value"]) for each in event["values"]]


def looking(bench: Bench) -> FlowStanding:
    """Go on to the state `look`."""
    assert "look" == told(bench.channel.ask("It is done.", 0.0)).state
    return bench.flow


def test_what_a_flow_begins_with_is_recorded_with_where_it_comes_from(refine: Bench) -> None:
    found = [(entry.kind, event["source"], event["state"], values_of(event)) for entry, event in sets(refine)]
    assert [
        ("user_input", "definition", "work", [("attempts", {"int": "0"}), ("findings", [])]),
        ("user_input", "input", "work", [("topic", "owls")]),
    ] == found
    (started,) = [event for entry in whole(refine) for event in entry.events if event["type"] == "instance_started"]
    assert [("topic", "owls"), ("limit", {"int": "3"})] == [(each["name"], each["value"]) for each in started["inputs"]]


def test_a_worker_is_shown_what_its_state_reads_and_writes_and_nothing_else(refine: Bench) -> None:
    at_work = refine.flow
    assert () == at_work.reads
    assert [
        ("attempts", "Int & >= 0", "integer"),
        ("bugs", "Bool", "boolean"),
        ("findings", "[...{ file = String; severity = String }]", "array"),
    ] == [(each.name, each.constraint, each.form["type"]) for each in at_work.writes]
    written(refine, attempts=2, findings=[{"file": "a.py", "severity": "high"}])
    there = looking(refine)
    assert (ValueShown("attempts", is_set=True, holds=2),) == there.reads
    assert ("bugs",) == tuple(each.name for each in there.writes)


def test_a_log_shows_a_worker_no_value_that_its_state_does_not_let_it_see(refine: Bench) -> None:
    seen = page(refine.channel.log())
    assert "owls" not in "".join(f"{each.payload}{each.events}" for each in seen)
    (begun,) = [each for each in seen if each.kind == "user_input"]
    assert NOT_SHOWN == begun.payload
    assert [("attempts", {"int": "0"}), ("findings", []), ("topic", NOT_SHOWN)] == [
        (each["name"], each["value"]) for event in begun.events if event["type"] == "variables_set" for each in event["values"]
    ]
    written(refine, findings=[{"file": "secret.py", "severity": "high"}])
    assert "secret.py" in page(refine.channel.log())[-1].payload
    looking(refine)
    assert "secret.py" not in "".join(f"{each.payload}{each.events}" for each in page(refine.channel.log()))
    assert [each.digest for each in whole(refine)] == [each.digest for each in page(refine.channel.log())]


def test_a_way_out_shows_its_guard_as_it_is_written(refine: Bench) -> None:
    ways = {each.transition: (each.when, each.condition) for each in looking(refine).ways}
    assert ("!vars.bugs && vars.attempts < 9", "") == ways["good"]
    assert ("vars.bugs", "") == ways["again"]
    assert ("", "It is good enough.") == ways["judged"]


def test_a_write_is_one_entry_of_who_wrote_it_where(refine: Bench) -> None:
    answer = written(refine, attempts=1, bugs=False)
    entry, event = sets(refine)[-1]
    assert (refine.channel.worker, ("attempts", "bugs"), entry.reference) == (answer.worker, answer.names, answer.entry)
    assert ("agent", "extension", "worker", "work", 1) == (
        entry.actor_class,
        entry.kind,
        event["source"],
        event["state"],
        event["visit"],
    )
    assert [("attempts", {"int": "1"}), ("bugs", False)] == values_of(event)


def test_a_write_that_changes_nothing_writes_nothing(refine: Bench) -> None:
    first = written(refine, attempts=4)
    before = len(page(refine.channel.log()))
    again = written(refine, attempts=4)
    assert (True, ("attempts",), "") == (bool(first.entry), again.names, again.entry)
    assert before == len(page(refine.channel.log()))


def test_a_write_of_the_value_that_the_flow_began_with_is_the_workers_own_if_it_comes_after_a_move(refine: Bench) -> None:
    looking(refine)
    assert written(refine, bugs=True).entry
    assert "work" == told(refine.channel.ask("There are bugs.", 0.0)).state
    assert written(refine, bugs=True).entry


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"attempts": 1, "nothing": 1}, RefusalCode.VARIABLE_UNKNOWN),
        ({"attempts": 1, "topic": "cats"}, RefusalCode.VARIABLE_NOT_WRITABLE),
        ({"attempts": 1, "bugs": "yes"}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "attempts": -1}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "attempts": 1.5}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "attempts": True}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "attempts": None}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "attempts": 2**60}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "findings": [{"file": "a.py"}]}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "findings": [{"file": "a.py", "severity": "x" * 70_000}]}, RefusalCode.VARIABLES_TOO_LARGE),
        ({}, RefusalCode.VARIABLES_EMPTY),
        ({"bugs": True, "attempts": float("nan")}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "findings": [{"file": "a.py", "severity": "high", "more": 1}]}, RefusalCode.VARIABLE_MISFIT),
    ],
)  # fmt: skip
def test_a_write_with_one_wrong_value_writes_nothing_at_all(refine: Bench, values: dict[str, object], code: RefusalCode) -> None:
    before = len(page(refine.channel.log()))
    assert code == refused(refine.channel.set_variables(values))
    assert before == len(page(refine.channel.log()))


@pytest.mark.parametrize("half", [{"file": "a \ud800", "severity": ""}, {"file": "", "severity": "\udfff"}])
def test_half_a_character_is_no_text_that_a_variable_holds(refine: Bench, half: dict[str, str]) -> None:
    before = len(page(refine.channel.log()))
    assert refused(refine.channel.set_variables({"findings": [half]})) in {RefusalCode.VARIABLE_MISFIT, RefusalCode.TEXT_MALFORMED}
    assert before == len(page(refine.channel.log()))


def test_a_refusal_names_what_the_state_writes(refine: Bench) -> None:
    looking(refine)
    answer = refine.channel.set_variables({"attempts": 1})
    assert isinstance(answer, Refusal), answer
    assert ("state `look` does not write `attempts`; it writes `bugs`", ("set `bugs`",)) == (answer.message, answer.allowed)


def test_a_paused_flow_takes_no_write(refine: Bench) -> None:
    refine.engine.operate(refine.channel.worker, Verb.PAUSE, "lunch", PERSON)
    assert RefusalCode.INSTANCE_PAUSED == refused(refine.channel.set_variables({"attempts": 1}))
    refine.engine.operate(refine.channel.worker, Verb.RESUME, "back", PERSON)
    assert written(refine, attempts=1).entry


def test_a_flow_that_ended_takes_no_write(refine: Bench) -> None:
    refine.engine.operate(refine.channel.worker, Verb.CANCEL, "enough", PERSON)
    assert RefusalCode.NO_ACTIVE_INSTANCE == refused(refine.channel.set_variables({"attempts": 1}))


def test_no_secret_is_kept_in_a_variable(refine: Bench) -> None:
    written(refine, findings=[{"file": f"a {SECRET}.py", "severity": SECRET}])
    (_, event) = sets(refine)[-1]
    assert [("findings", [{"object": [["file", f"a {PLACEHOLDER}.py"], ["severity", PLACEHOLDER]]}])] == values_of(event)
    assert SECRET not in "".join(each.payload for each in page(refine.channel.log()))


def test_what_guards_decide_is_answered_at_once_and_nobody_is_asked(refine: Bench) -> None:
    looking(refine)
    written(refine, bugs=False)
    answer = told(refine.channel.ask("There are none.", 0.0))
    assert ("entered", "good", "done", "completed") == (answer.outcome, answer.transition, answer.state, answer.status)
    assert [] == refine.judge.asked
    assert ("completed", ()) == (refine.flow.status, refine.flow.writes)


def test_what_guards_leave_open_is_asked_and_nothing_else(refine: Bench) -> None:
    written(refine, attempts=9)
    looking(refine)
    written(refine, bugs=False)
    assert "done" == told(refine.asked("Nothing else can be done.", judged=Verdict.MET)).state
    (request,) = refine.judge.asked
    assert ["judged", "$cancel"] == [each.transition for each in request.questions]
    assert {"attempts": 9, "bugs": False, "findings": [], "topic": "owls"} == {each.name: each.value for each in request.variables}


def test_the_same_reason_after_a_write_is_judged_anew(refine: Bench) -> None:
    written(refine, attempts=9)
    looking(refine)
    written(refine, bugs=False)
    assert "no_condition_met" == told(refine.asked("Trust me.")).code
    again = refine.asked("Trust me.")
    assert isinstance(again, Answered), again
    assert (True, 1) == (again.repeated, len(refine.judge.asked))
    written(refine, bugs=True)
    anew = refine.asked("Trust me.")
    assert isinstance(anew, Answered), anew
    assert (False, "work", 1) == (anew.repeated, anew.answer.state, len(refine.judge.asked))


def test_what_was_told_after_a_move_by_guards_is_told_again_and_asks_nothing_of_the_next_state(refine: Bench) -> None:
    looking(refine)
    again = refine.channel.ask("It is done.", 0.0)
    assert isinstance(again, Answered), again
    assert (True, "look") == (again.repeated, refine.flow.state)


def test_a_flow_at_its_limit_is_halted_until_an_operator_lets_it_go_on(refine: Bench) -> None:
    for round_ in range(2):
        assert "look" == told(refine.channel.ask(f"Done {round_}.", 0.0)).state
        written(refine, bugs=True)
        answer = told(refine.channel.ask(f"Bugs {round_}.", 0.0))
    assert ("rejected", "limit_reached", "look") == (answer.outcome, answer.code, answer.state)
    assert "state `work` was entered 2 times, as often as it may be" == refine.flow.halted
    assert RefusalCode.INSTANCE_HALTED == refused(refine.channel.ask("Please.", 0.0))
    refine.engine.operate(refine.channel.worker, Verb.RESUME, "once more", PERSON)
    assert "" == refine.flow.halted
    assert "work" == told(refine.channel.ask("Bugs, and allowed.", 0.0)).state


# --- inputs ---------------------------------------------------------------------------------------------------------------------------


def test_a_flow_is_begun_with_inputs(refine: Bench) -> None:
    refine.engine.operate(refine.channel.worker, Verb.CANCEL, "enough", PERSON)
    begun = refine.channel.submit((FlowSegment("workspace:refine", {"topic": "cats", "limit": 5}),))
    assert isinstance(begun, Submitted), begun
    (_, seeded) = sets(refine)[-1]
    assert ("input", [("topic", "cats")]) == (seeded["source"], values_of(seeded))


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({}, RefusalCode.INPUT_MISSING),
        ({**NEEDS, "depth": 1}, RefusalCode.INPUT_UNKNOWN),
        ({**NEEDS, "limit": "3"}, RefusalCode.INPUT_MISFIT),
        ({"topic": 3}, RefusalCode.INPUT_MISFIT),
    ],
)
def test_inputs_that_do_not_fit_are_refused_and_nothing_is_written(refine: Bench, inputs: dict[str, object], code: RefusalCode) -> None:
    refine.engine.operate(refine.channel.worker, Verb.CANCEL, "enough", PERSON)
    before = len(page(refine.channel.log()))
    assert code == refused(refine.channel.submit((FlowSegment("workspace:refine", inputs),)))
    assert before == len(page(refine.channel.log()))


def test_no_secret_is_kept_in_an_input(refine: Bench) -> None:
    refine.engine.operate(refine.channel.worker, Verb.CANCEL, "enough", PERSON)
    assert isinstance(refine.channel.submit((FlowSegment("workspace:refine", {"topic": f"the {SECRET}"}),)), Submitted)
    assert SECRET not in "".join(each.payload for each in page(refine.channel.log()))
    (_, seeded) = sets(refine)[-1]
    assert [("topic", f"the {PLACEHOLDER}")] == values_of(seeded)
