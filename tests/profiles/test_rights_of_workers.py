"""What the profile in force and the one that a log pins both have to grant, as the engine asks for it."""

from dataclasses import replace

import pytest

from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.rights import rights_of, start_problem
from stateward.runtime.ports import Damaged, Submitted
from stateward.runtime.profile import DEFAULT, DEMONSTRATION, Profile, VerifierKind
from stateward.runtime.profile.layers import granted
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import ActorClass, Assurance
from stateward.runtime.session.segments import FlowSegment
from tests.runtime.engines import AGENT, PERSON, Desk, Judge, saying

REASON = "It is done."
STRICT = replace(DEMONSTRATION, name="strict", operator_assurance=Assurance.TOKEN)
SURE = replace(PERSON, assurance=Assurance.TOKEN)


def code_of(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def start(selector: str, in_force: Profile, pinned: Profile, actor: ActorClass = ActorClass.PERSON) -> Refusal | None:
    return start_problem(selector, actor, granted(in_force, pinned.pinned()), pinned.name)


@pytest.mark.parametrize("narrow", [("workspace:a",), ("workspace:*",)])
def test_only_flows_that_both_profiles_let_through_are_started(narrow: tuple[str, ...]) -> None:
    limited = replace(DEFAULT, name="limited", selectors=narrow)
    for in_force, pinned in ((limited, DEFAULT), (DEFAULT, limited)):
        assert start("workspace:a", in_force, pinned) is None
        refusal = start("builtin:a", in_force, pinned)
        expected = Refusal(
            RefusalCode.SELECTOR_NOT_ALLOWED,
            f"profile `{pinned.name}` does not let `builtin:a` be started",
            tuple(f"submit `{each}`" for each in narrow),
        )
        assert expected == refusal


def test_what_is_no_selector_is_let_through_by_no_list_of_them() -> None:
    limited = replace(DEFAULT, selectors=("workspace:a",))
    for odd in ("a", "workspace:a@7", "workspace:", "other:a", "workspace:a/../b"):
        assert RefusalCode.SELECTOR_NOT_ALLOWED is code_of(start(odd, limited, DEFAULT))


def test_an_agent_starts_only_what_both_profiles_list_for_it() -> None:
    both = replace(DEFAULT, agent_selectors=("builtin:a", "workspace:a"))
    one = replace(DEFAULT, agent_selectors=("builtin:a",))
    assert start("builtin:a", both, one, ActorClass.AGENT) is None
    assert RefusalCode.SELECTOR_NOT_ALLOWED is code_of(start("workspace:a", both, one, ActorClass.AGENT))
    assert RefusalCode.SELECTOR_NOT_ALLOWED is code_of(start("workspace:a", one, both, ActorClass.AGENT))


def test_a_worker_is_started_only_with_a_flow_that_its_profile_lets_through() -> None:
    desk = Desk(profile=replace(DEMONSTRATION, selectors=("workspace:fork",)))
    assert desk.view.flow is not None
    refused = desk.engine.start_worker(desk.view.workspace, (FlowSegment("workspace:review"),), PERSON)
    assert RefusalCode.SELECTOR_NOT_ALLOWED is code_of(refused)
    started = desk.engine.start_worker(desk.view.workspace, (FlowSegment("workspace:fork"),), PERSON)
    assert isinstance(started, Submitted)


def test_a_bound_that_was_pinned_holds_under_a_wider_profile() -> None:
    desk = Desk(profile=replace(DEMONSTRATION, bounds=Bounds(hold_after=1)), actor=AGENT)
    desk.restart(replace(DEMONSTRATION, bounds=Bounds(hold_after=50)))
    desk.request(REASON, Judge(saying({})))
    assert RefusalCode.INSTANCE_HELD is code_of(desk.engine.begin(desk.worker, "It is done by now.", desk.actor))


def test_a_cap_that_was_pinned_holds_under_a_wider_profile() -> None:
    desk = Desk(profile=replace(DEMONSTRATION, bounds=Bounds(visit_verifications_max=1)), actor=AGENT)
    desk.restart(DEMONSTRATION)
    desk.request(REASON, Judge(saying({})))
    assert RefusalCode.BUDGET_EXHAUSTED is code_of(desk.engine.begin(desk.worker, "It is done by now.", desk.actor))


def test_nobody_judges_whom_the_profile_in_force_does_not_allow() -> None:
    desk = Desk(profile=DEFAULT)
    desk.restart(replace(DEFAULT, name="machines", verifiers=(VerifierKind.COMMAND, VerifierKind.MODEL)))
    refusal = desk.engine.begin(desk.worker, REASON, desk.actor)
    expected = Refusal(
        RefusalCode.VERIFIER_NOT_ALLOWED,
        "profile `machines` does not let `person` judge, which judges this Worker",
        ("use a profile under which `command` judges", "use a profile under which `model` judges"),
    )
    assert expected == refusal


@pytest.mark.parametrize(("begun_under", "in_force"), [(STRICT, DEMONSTRATION), (DEMONSTRATION, STRICT)], ids=["pinned", "in force"])
def test_an_operator_is_as_sure_as_either_profile_asks_for(begun_under: Profile, in_force: Profile) -> None:
    desk = Desk(profile=begun_under)
    desk.restart(in_force)
    before = desk.log()
    engine, worker = desk.engine, desk.worker
    for answer in (
        engine.operate(worker, Verb.PAUSE, "wait", PERSON),
        engine.fork(worker, "try another way", PERSON),
        engine.delete(worker, PERSON),
    ):
        assert RefusalCode.OPERATOR_ONLY is code_of(answer)
    assert before == desk.log()
    assert not isinstance(engine.operate(worker, Verb.PAUSE, "wait", SURE), Refusal)
    forked = engine.fork(worker, "try another way", SURE)
    assert not isinstance(forked, Refusal)
    entries = list(desk.sessions.entries(forked.worker))
    assert RefusalCode.OPERATOR_ONLY is code_of(engine.make_whole(forked.worker, "keep it", PERSON))
    assert entries == list(desk.sessions.entries(forked.worker))
    assert not isinstance(engine.make_whole(forked.worker, "keep it", SURE), Refusal)
    assert not isinstance(engine.delete(worker, SURE), Refusal)


def test_an_act_that_was_committed_is_told_again_whoever_asks() -> None:
    desk = Desk(profile=STRICT)
    desk.engine.operate(desk.worker, Verb.PAUSE, "wait", SURE, "act-1")
    desk.restart(DEMONSTRATION)
    again = desk.engine.operate(desk.worker, Verb.PAUSE, "wait", PERSON, "act-1")
    assert not isinstance(again, Refusal)
    assert again.repeated


def test_a_pinned_profile_that_is_none_is_damage() -> None:
    desk = Desk()
    value = '{"right.to.fly":true}'
    pinned = replace(DEFAULT.pinned(), value=value, digest=digest_of(value.encode()))
    with pytest.raises(Damaged, match="profile `default` cannot be read as a log pins it"):
        rights_of(desk.engine._means, pinned)
