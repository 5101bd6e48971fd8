"""What hooks do, by both hosts: a session works a flow and cannot leave it by saying so."""

import json
from pathlib import Path

import pytest

from stateward.runtime.core.operating import Verb
from stateward.runtime.ports import StoreUnavailable
from stateward.runtime.session.entries import ActorClass, Kind
from stateward.runtime.session.masking import Secrets
from stateward.runtime.surfaces.hooks.calls import HookEvent
from stateward.runtime.surfaces.hooks.choosing import Asked, answer_to
from stateward.runtime.surfaces.hooks.scanning import members_of
from tests.hooks.bench import STARTED, Bench
from tests.runtime.engines import PERSON, WORKSPACE, input_for, submitted

pytestmark = pytest.mark.parametrize("host", ["claude", "codex"])


@pytest.fixture
def bench(tmp_path: Path, host: str) -> Bench:
    return Bench(tmp_path, host)


def test_a_session_that_starts_is_told_where_it_stands_and_how_to_ask(bench: Bench) -> None:
    told = bench.start()
    flow = bench.standing.flow
    assert flow is not None
    assert flow.instructions in told
    assert all(each.condition in told for each in flow.ways)
    assert "request_flow_transition" in told
    assert [Kind.RUN_STARTED] == bench.kinds()


def test_an_active_flow_keeps_the_agent_from_stopping_with_what_is_to_be_done_and_what_was_missing(bench: Bench) -> None:
    bench.start()
    bench.ask("Trust me.")
    said = bench.hook("stop")
    flow = bench.standing.flow
    assert flow is not None
    assert "block" == said["decision"]
    assert flow.instructions in said["reason"]
    assert "missing: a record of it" in said["reason"]
    assert {"decision", "reason"} == said.keys()


def test_a_whole_session_is_kept_on_until_the_flow_has_ended(bench: Bench) -> None:
    bench.start()
    bench.hook("user-prompt")
    assert "blocked" == bench.stop()
    bench.hook("post-tool")
    bench.ask("The ticket is done.", "ready")
    assert "blocked" == bench.stop(again=True)
    bench.ask("It is good.", "good")
    assert ("completed", "let go") == (bench.standing.flow and bench.standing.flow.status, bench.stop(again=True))


def test_an_agent_that_records_nothing_new_is_let_go_and_its_worker_stays_active(bench: Bench) -> None:
    bench.start()
    assert ["blocked", "blocked", "blocked", "warned"] == [bench.stop(again=each > 0) for each in range(4)]
    assert Kind.WORKER_STOPPED == bench.kinds()[-1]
    assert b'"unfinished"' in bench.entries()[-1].payload
    assert bench.standing.is_active
    before = bench.kinds()
    assert "let go" == bench.stop(again=True)
    assert before == bench.kinds()


def test_anything_new_in_the_log_counts_from_the_beginning_again(bench: Bench) -> None:
    bench.start()
    assert ["blocked", "blocked"] == [bench.stop(), bench.stop(again=True)]
    bench.hook("post-tool")
    assert ["blocked", "blocked", "blocked", "warned"] == [bench.stop(again=True) for _ in range(4)]


def test_who_was_let_go_and_goes_on_is_kept_on_again(bench: Bench) -> None:
    bench.start()
    for _ in range(4):
        bench.stop(again=True)
    bench.hook("user-prompt", prompt="Go on.")
    assert "blocked" == bench.stop()


def test_how_often_an_agent_is_kept_on_can_be_chosen(bench: Bench) -> None:
    bench.start()
    given = bench.given("stop")
    answers = [bench.answer("stop", given, blocks=1).output, bench.answer("stop", given, blocks=1).output]
    assert ["decision", "systemMessage"] == [next(iter(json.loads(each))) for each in answers]
    assert "systemMessage" in bench.answer("stop", {**given, "session_id": "another"}, blocks=0).output


def test_a_paused_flow_lets_the_agent_go_and_says_why(bench: Bench) -> None:
    bench.start()
    bench.desk.engine.operate(bench.desk.worker, Verb.PAUSE, "lunch", PERSON)
    said = bench.hook("stop")
    assert {"systemMessage"} == said.keys()
    assert "lunch" in said["systemMessage"]


def test_a_call_and_its_result_are_recorded_as_the_hosts_with_its_session(bench: Bench) -> None:
    bench.hook("post-tool")
    call, result = bench.entries()
    assert [Kind.TOOL_CALL, Kind.TOOL_RESULT] == [call.kind, result.kind]
    assert {(ActorClass.HOST, "hook", bench.session, "")} == {
        (each.actor.actor_class, each.actor.channel, each.actor.host_session, each.actor.principal) for each in (call, result)
    }
    given = bench.given("post-tool")
    assert given["tool_input"] == json.loads(call.payload)["tool_input"]
    assert given["tool_response"] == json.loads(result.payload)["tool_response"]


def test_a_command_that_failed_is_recorded_with_what_it_said(bench: Bench) -> None:
    bench.hook("post-tool", "post-tool-failure")
    assert "1 failed, 2 passed" in bench.records(Kind.TOOL_RESULT)[0]


def test_a_call_that_is_told_twice_is_recorded_once(bench: Bench) -> None:
    bench.hook("post-tool")
    bench.hook("post-tool")
    assert [Kind.TOOL_CALL, Kind.TOOL_RESULT] == bench.kinds()


def test_what_the_user_typed_is_a_note_that_counts_for_nothing(bench: Bench) -> None:
    bench.hook("user-prompt")
    assert [{"prompt": "Mend the ticket, please."}] == [json.loads(each) for each in bench.records(Kind.NOTE)]


def test_what_has_no_id_goes_by_what_it_says_and_by_how_far_the_session_had_come(bench: Bench) -> None:
    nameless = {"prompt_id": None, "turn_id": None, "prompt": "Go on."}
    bench.hook("user-prompt", **nameless)
    bench.hook("user-prompt", **nameless)
    assert 1 == bench.kinds().count(Kind.NOTE)
    bench.write({"type": "system"})
    bench.hook("user-prompt", **nameless)
    assert 2 == bench.kinds().count(Kind.NOTE)
    bench.hook("post-tool", tool_use_id=None)
    bench.hook("post-tool", tool_use_id=None)
    assert 1 == bench.kinds().count(Kind.TOOL_RESULT)


def test_calls_of_stateward_itself_are_left_to_the_engine(bench: Bench) -> None:
    for tool in ("mcp__stateward__request_flow_transition", "mcp__plugin_stateward_stateward__flow_status"):
        bench.hook("post-tool", tool_name=tool)
    assert [] == bench.kinds()


def test_a_sub_agent_is_recorded_by_its_id_and_asks_for_nothing(bench: Bench) -> None:
    bench.hook("post-tool", agent_id="agent-7", agent_type="Explore")
    assert ["agent-7", "agent-7"] == [each.actor.principal for each in bench.entries()]
    tool = {"tool_name": "mcp__stateward__request_flow_transition", "tool_input": {"reason": "done"}}
    said = bench.hook("pre-tool", agent_id="agent-7", **tool)["hookSpecificOutput"]
    assert ("PreToolUse", "deny") == (said["hookEventName"], said["permissionDecision"])
    assert {} == bench.hook("pre-tool", **tool)
    assert {} == bench.hook("pre-tool", agent_id="agent-7", tool_name="mcp__stateward__flow_status")
    assert {} == bench.hook("stop", agent_id="agent-7")


def test_compaction_is_told_the_state_again_and_begins_no_run(bench: Bench) -> None:
    bench.start()
    bench.hook("pre-compact")
    told = bench.start(source="compact")
    flow = bench.standing.flow
    assert flow is not None
    assert flow.instructions in told
    assert [Kind.RUN_STARTED] == bench.kinds()


def test_a_session_that_is_resumed_runs_once_more(bench: Bench) -> None:
    bench.start()
    bench.hook("session-end")
    bench.start(source="resume")
    assert [Kind.RUN_STARTED, Kind.RUN_ENDED, Kind.RUN_STARTED] == bench.kinds()


def test_a_run_ends_once_even_where_its_session_is_resumed_after_the_flow_has_ended(bench: Bench) -> None:
    bench.start()
    bench.desk.engine.operate(bench.desk.worker, Verb.CANCEL, "not needed", PERSON)
    bench.hook("session-end", reason="logout")
    bench.hook("session-start", source="resume")
    bench.hook("session-end", reason="other")
    assert 1 == bench.kinds().count(Kind.RUN_ENDED)


def test_a_session_that_is_cleared_goes_on_in_the_same_worker_under_its_new_id(bench: Bench) -> None:
    bench.start()
    bench.hook("session-end", reason="clear")
    other = submitted(bench.desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON)).worker
    bench.opening.workers.append(other)  # so that nothing but the session before tells which one it is
    told = bench.start("another-session", source="clear")
    assert bench.desk.worker in told
    assert "blocked" == bench.stop()
    bench.hook("post-tool")
    bound = bench.opening.bindings().find(bench.host.name, "another-session")
    assert bound is not None
    assert bound.origin != bound.session


def test_a_session_is_known_again_when_its_host_does_not_say_that_the_one_before_was_cleared(bench: Bench) -> None:
    bench.start()
    other = submitted(bench.desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON)).worker
    bench.opening.workers.append(other)
    assert bench.desk.worker in bench.start("another-session", source="clear")


def test_a_call_that_was_told_before_a_session_was_cleared_is_the_same_after_it(bench: Bench) -> None:
    bench.start()
    bench.hook("post-tool")
    bench.hook("session-end", reason="clear")
    bench.start("another-session", source="clear")
    bench.hook("post-tool")
    assert 1 == bench.kinds().count(Kind.TOOL_RESULT)


def test_where_several_workers_are_active_and_none_is_named_nothing_happens_and_it_is_said_once(bench: Bench) -> None:
    other = submitted(bench.desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON)).worker
    bench.opening.workers.append(other)
    answer = bench.answer("session-start", bench.given("session-start"))
    assert ("", True) == (answer.output, "2 Workers are active" in answer.notice)
    assert {} == bench.hook("post-tool") == bench.hook("stop")
    assert [] == bench.kinds()
    assert other in bench.answer("session-start", bench.given("session-start"), worker=other).output


def test_where_no_worker_is_active_nothing_happens(bench: Bench) -> None:
    bench.desk.engine.operate(bench.desk.worker, Verb.CANCEL, "not needed", PERSON)
    before = bench.kinds()
    for event in ("session-start", "user-prompt", "post-tool", "stop", "pre-compact", "session-end"):
        assert {} == bench.hook(event)
    assert before == bench.kinds()


def test_a_session_whose_flow_has_ended_goes_on_in_the_next_one(bench: Bench) -> None:
    bench.start()
    bench.desk.engine.operate(bench.desk.worker, Verb.CANCEL, "not needed", PERSON)
    other = submitted(bench.desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON)).worker
    bench.opening.workers.append(other)
    assert "let go" == bench.stop()
    bench.hook("user-prompt")
    assert "blocked" == bench.stop()
    assert [Kind.NOTE] == [each.kind for each in bench.desk.sessions.entries(other)][STARTED:]


def test_secrets_are_never_in_the_log(tmp_path: Path, host: str) -> None:
    secret = "hunter2hunter2"  # noqa: S105 -- what is to be found nowhere
    bench = Bench(tmp_path, host, secrets=Secrets({"KEY": secret}, shapes=True))
    token = "ghp_" + "a" * 36
    bench.hook("post-tool", tool_input={"command": f"curl -H {secret}"}, tool_response={"stdout": f"{secret} {token}"})
    bench.hook("user-prompt", prompt=f"use {secret}")
    log = b"".join(each.payload for each in bench.desk.log())
    assert not any(each.encode() in log for each in (secret, token))
    assert b"\xc2\xabsecret:KEY\xc2\xbb" in log


def test_numbers_and_broken_characters_are_kept_as_they_were_written(bench: Bench) -> None:
    raw = json.dumps(bench.given("post-tool", tool_response={"n": 0})).replace('{"n": 0}', '{"n": 9007199254740993.10, "half": "\\ud800"}')
    answer_to(Asked(bench.host, bench.host.read(HookEvent.POST_TOOL, members_of(raw))), bench.opening)
    assert '{"n": 9007199254740993.10, "half": "\\ud800"}' in bench.records(Kind.TOOL_RESULT)[0]


def test_a_store_that_cannot_be_read_is_raised_to_whoever_lets_the_agent_go(bench: Bench) -> None:
    bench.opening.fault = StoreUnavailable("the store is gone")
    with pytest.raises(StoreUnavailable):
        bench.hook("stop")
