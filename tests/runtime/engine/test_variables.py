"""Flows with variables and guards through what is done with any log: rewinding, forking, checkpoints, replaying, holding."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.flow.definition import CompiledFlowDefinition, CompiledState, CompiledTransition
from stateward.compiler.predicates.constraints import Anything
from stateward.compiler.predicates.forms import guard_data
from stateward.compiler.predicates.guards import Compare, Guard, Lit
from stateward.compiler.predicates.schema import DEPTH_MAX, AllOf
from stateward.runtime.core.events import Verdict
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.forking import Forked
from stateward.runtime.engine.operating import Operated
from stateward.runtime.engine.replaying import Divergence, Replayed
from stateward.runtime.engine.view import FlowView, WorkerView
from stateward.runtime.ports import Written
from stateward.runtime.session.entries import Kind
from tests.histories.history import History, RecordedStore
from tests.runtime.engines import AGENT, PERSON, Catalog, Desk, Judge, engine_on, saying
from tests.runtime.guarded import ATTEMPTS, NEEDS, REFINE, declared, guarded, state, way
from tests.runtime.judgements import MET, NOT_MET

NOBODY: Mapping[str, Verdict] = {}


def refining(**more: int) -> Desk:
    return Desk("refine", actor=AGENT, inputs=NEEDS, **more)


def write(desk: Desk, worker: str | None = None, **values: object) -> None:
    answer = desk.engine.set_variables(worker or desk.worker, values, AGENT)
    assert isinstance(answer, Written), answer


def held(desk: Desk, worker: str | None = None) -> dict[str, object]:
    """Give what the variables hold, as the next judge would be given them."""
    request = desk.engine.preview(worker or desk.worker, "just looking")
    assert not isinstance(request, Refusal), request
    return {each.name: each.value for each in request.variables}


def rewind(desk: Desk, state: str, worker: str | None = None) -> None:
    done = desk.engine.operate(worker or desk.worker, Verb.REWIND, "again", PERSON, state=state)
    assert isinstance(done, Operated), done


def round_trip(desk: Desk) -> None:
    """Work, find bugs, and be back at work."""
    write(desk, attempts=1)
    desk.request("Done.", NOBODY)
    write(desk, bugs=True)
    desk.request("There are bugs.", NOBODY)
    write(desk, attempts=2, bugs=False)


# --- rewinding --------------------------------------------------------------------------------------------------------------------------


def test_after_a_rewind_variables_hold_what_they_held_when_that_state_was_entered() -> None:
    desk = refining()
    round_trip(desk)
    assert {"attempts": 2, "bugs": False, "findings": [], "topic": "owls"} == held(desk)
    rewind(desk, "look")
    assert {"attempts": 1, "findings": [], "topic": "owls"} == held(desk)


def test_the_values_of_a_rewind_keep_who_wrote_them_where() -> None:
    desk = refining()
    round_trip(desk)
    rewind(desk, "look")
    request = desk.engine.preview(desk.worker, "just looking")
    assert not isinstance(request, Refusal)
    assert [("attempts", "worker", "work", 1, 3), ("findings", "definition", "work", 1, 2), ("topic", "input", "work", 1, 2)] == sorted(
        (each.name, str(each.source), each.state, each.visit, each.entry) for each in request.variables
    )


def test_a_rewind_after_a_rewind_goes_on_from_what_the_first_one_left() -> None:
    desk = refining()
    write(desk, attempts=1)
    rewind(desk, "work")
    assert {"attempts": 0, "findings": [], "topic": "owls"} == held(desk)
    write(desk, attempts=5)
    desk.request("Done.", NOBODY)
    write(desk, bugs=True)
    rewind(desk, "work")
    assert {"attempts": 0, "findings": [], "topic": "owls"} == held(desk)


def test_a_fork_is_rewound_to_what_its_variables_held_in_the_log_it_came_from() -> None:
    desk = refining()
    round_trip(desk)
    forked = desk.engine.fork(desk.worker, "another way", PERSON)
    assert isinstance(forked, Forked)
    assert held(desk) == held(desk, forked.worker)
    rewind(desk, "look", forked.worker)
    assert {"attempts": 1, "findings": [], "topic": "owls"} == held(desk, forked.worker)
    write(desk, forked.worker, bugs=True)
    assert {"attempts": 2, "bugs": False, "findings": [], "topic": "owls"} == held(desk)


# --- what cannot be held ------------------------------------------------------------------------------------------------------------------


def nested(depth: int) -> object:
    value: object = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([None], "null is no value"),
        ({"a": [float("inf")]}, "the Float is not finite"),
        ([10**30], "the Int lies beyond 2^53 - 1"),
        (nested(DEPTH_MAX + 1), f"it is nested deeper than {DEPTH_MAX}"),
        (nested(5_000), f"it is nested deeper than {DEPTH_MAX}"),
    ],
    ids=["null", "infinite", "long", "deep", "bottomless"],
)
def test_what_no_log_can_hold_is_refused_also_where_a_constraint_lets_anything_through(value: object, why: str) -> None:
    open_flow = guarded(
        "open", state("work", way("on", "done", condition="x"), writes=("any",)), state("done"),
        variables=(declared("any", AllOf((Anything(),))),),
    )  # fmt: skip
    desk = Desk("open", actor=AGENT, catalog=Catalog(open_flow))
    answer = desk.engine.set_variables(desk.worker, {"any": value}, AGENT)
    assert isinstance(answer, Refusal)
    assert (RefusalCode.VARIABLE_MISFIT, True) == (answer.code, answer.message.endswith(f": {why}"))
    write(desk, any=nested(DEPTH_MAX))
    desk.restart()
    assert {"any": nested(DEPTH_MAX)} == held(desk)


# --- forks and checkpoints ----------------------------------------------------------------------------------------------------------------


def test_a_fork_at_an_entry_holds_what_was_held_there() -> None:
    desk = refining()
    round_trip(desk)
    forked = desk.engine.fork(desk.worker, "another way", PERSON, at=3)
    assert isinstance(forked, Forked)
    assert {"attempts": 1, "findings": [], "topic": "owls"} == held(desk, forked.worker)


def test_a_worker_restored_from_a_checkpoint_is_the_one_that_was_folded_entry_by_entry() -> None:
    desk = refining(checkpoint_entries=4)
    round_trip(desk)
    desk.request("Done again.", NOBODY)
    write(desk, bugs=True)
    desk.request("Bugs again.", NOBODY)
    live, values = desk.view, held(desk)
    assert desk.sessions.latest(desk.worker, Kind.CHECKPOINT) is not None
    desk.restart()
    assert (live, values) == (desk.view, held(desk))
    digest = desk.flow.pin.definition_digest
    whole = RecordedStore(History({digest: desk.sessions.definition(digest) or b""}, tuple(desk.log()), {}))
    whole.latest = lambda worker, kind: None  # type: ignore[method-assign]
    view = engine_on(whole).view(desk.worker)
    assert isinstance(view, WorkerView)
    assert (live.flow, live.head) == (view.flow, view.head)


# --- replaying ----------------------------------------------------------------------------------------------------------------------------


def changed(state: str, way: str, *, when: Guard | None = None, **states: object) -> CompiledFlowDefinition:
    """Give the flow with another guard, or other fields of that state."""

    def transition(each: CompiledTransition) -> CompiledTransition:
        return each.model_copy(update={"when": guard_data(when)}) if each.id == way and when is not None else each

    def of(each: CompiledState) -> CompiledState:
        return each.model_copy(update={"transitions": tuple(map(transition, each.transitions)), **states}) if each.id == state else each

    data = REFINE.model_copy(update={"states": tuple(map(of, REFINE.states))}).model_dump_json()
    return CompiledFlowDefinition.model_validate_json(data)


def replayed(desk: Desk, other: CompiledFlowDefinition, worker: str | None = None) -> Replayed:
    answer = desk.engine.replay(worker or desk.worker, other)
    assert isinstance(answer, Replayed), answer
    return answer


def test_moves_by_guards_lead_the_same_way_under_the_same_definition() -> None:
    desk = refining()
    round_trip(desk)
    desk.request("Done again.", NOBODY)
    write(desk, bugs=True)
    desk.request("Bugs again.", NOBODY)
    assert (Replayed(desk.flow.instance, "look", 4, (), None)) == replayed(desk, REFINE)


def test_another_guard_is_judged_on_what_was_known_then_and_parts_where_it_comes_to_something_else() -> None:
    desk = refining()
    round_trip(desk)
    other = changed("look", "good", when=Compare("<", ATTEMPTS, Lit(2)))
    answer = replayed(desk, other)
    assert Divergence("E00000008", "look", "work", "done", "transition `good` is taken") == answer.divergence
    assert ("state `look`: guard of `good`",) == answer.changes


def test_a_tighter_limit_of_visits_parts_where_it_would_have_halted() -> None:
    desk = refining()
    round_trip(desk)
    divergence = replayed(desk, changed("work", "", visits_max=1)).divergence
    assert divergence is not None
    assert ("work", "look", "transition `again` leads to state `work`, which has no visit left") == (
        divergence.recorded,
        divergence.elsewhere,
        divergence.why,
    )


def test_what_guards_decided_and_would_now_be_asked_was_never_judged() -> None:
    desk = refining()
    write(desk, attempts=1)
    desk.request("Done.", NOBODY)
    write(desk, bugs=False)
    desk.request("No bugs.", NOBODY)
    divergence = replayed(desk, changed("look", "good", when=Compare(">", ATTEMPTS, Lit(5)))).divergence
    assert divergence is not None
    assert "no verdict was given for transition `judged`, of which nobody was asked" == divergence.why


def test_replaying_reads_through_forks_with_their_variables() -> None:
    desk = refining()
    round_trip(desk)
    write(desk, attempts=9)
    desk.request("Done again.", NOBODY)
    desk.begin("open")
    forked = desk.engine.fork(desk.worker, "another way", PERSON)
    assert isinstance(forked, Forked)
    write(desk, forked.worker, bugs=True)
    rewind(desk, "look", forked.worker)
    answer = replayed(desk, REFINE, forked.worker)
    assert ("look", None) == (answer.state, answer.divergence)


# --- holding ------------------------------------------------------------------------------------------------------------------------------


def test_a_held_flow_goes_on_when_a_write_changes_what_a_guard_comes_to_and_not_for_any_other() -> None:
    desk = refining()
    write(desk, attempts=9)
    desk.request("Done.", NOBODY)
    write(desk, bugs=False)
    for number in range(3):
        desk.request(f"Trust me {number}.", {"judged": NOT_MET})
    assert desk.flow.held is not None
    refused = desk.engine.begin(desk.worker, "Trust me at last.", AGENT)
    assert isinstance(refused, Refusal)
    assert "instance_held" == refused.code
    write(desk, bugs=True)
    assert "work" == desk.request("There are bugs after all.", NOBODY).answer.state
    assert desk.flow.held is None


def test_what_is_judged_after_a_write_is_told_with_what_the_judge_saw() -> None:
    desk = refining()
    write(desk, attempts=9)
    desk.request("Done.", NOBODY)
    assert "look" == desk.request("It is good enough.", {"judged": MET}).answer.state
    write(desk, bugs=False)
    assert "done" == desk.request("It is good enough.", {"judged": MET}).answer.state


# --- any history --------------------------------------------------------------------------------------------------------------------------

ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("attempts"), st.integers(0, 12)),
        st.tuples(st.just("bugs"), st.booleans()),
        st.just(("ask", None)),
        st.tuples(st.just("rewind"), st.sampled_from(("work", "look"))),
        st.just(("resume", None)),
        st.just(("fork", None)),
        st.just(("restart", None)),
    ),
    max_size=14,
)


@settings(max_examples=60)
@given(ACTS)
def test_whatever_was_done_a_rewind_gives_back_what_was_held_when_the_state_was_entered_last(acts: list[tuple[str, object]]) -> None:
    desk = refining(checkpoint_entries=5)
    worker = desk.worker
    entered: dict[int, dict[str, object]] = {}
    """What was held at each entry that entered a state."""

    def look() -> FlowView | None:
        view = desk.engine.view(worker)
        assert isinstance(view, WorkerView)
        assert view.flow is not None
        for at in view.flow.rewindable.values():
            entered.setdefault(at, {name: each.value for name, each in view.flow.variables.items()})
        return view.flow if view.flow.status == "active" else None

    for number, (act, given_) in enumerate(acts):
        flow = look()
        if flow is None:
            return
        match act:
            case "ask":
                desk.engine.request_transition(worker, f"so {number}", AGENT, Judge(saying({}), desk.view.verifier))
            case "rewind":
                at = flow.rewindable.get(str(given_))
                done = desk.engine.operate(worker, Verb.REWIND, "again", PERSON, state=str(given_))
                assert isinstance(done, Operated) == (at is not None)
                if at is not None:
                    after = desk.engine.view(worker)
                    assert isinstance(after, WorkerView)
                    assert after.flow is not None
                    assert entered[at] == {name: each.value for name, each in after.flow.variables.items()}
            case "resume":
                desk.engine.operate(worker, Verb.RESUME, "on", PERSON)
            case "fork":
                forked = desk.engine.fork(worker, "elsewhere", PERSON)
                assert isinstance(forked, Forked)
                worker = forked.worker
            case "restart":
                desk.restart()
            case _:
                desk.engine.set_variables(worker, {act: given_}, AGENT)
    assert replayed(desk, REFINE, worker).divergence is None
