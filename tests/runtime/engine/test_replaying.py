"""Recorded verdicts, run through another revision of the flow."""

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.operating import Verb
from stateward.runtime.engine.forking import Forked
from stateward.runtime.engine.replaying import Divergence, Replayed
from tests.runtime.engines import AGENT, PERSON, Desk
from tests.runtime.flows import FORK, flow
from tests.runtime.judgements import INDETERMINATE, MET


def lived() -> Desk:
    desk = Desk(actor=AGENT)
    desk.request("not yet", {"x": INDETERMINATE})
    desk.request("round", {"z": MET})
    desk.request("go", {"x": MET})
    return desk


def replayed(desk: Desk, other: CompiledFlowDefinition, worker: str | None = None) -> Replayed:
    answer = desk.engine.replay(worker or desk.worker, other)
    assert isinstance(answer, Replayed), answer
    return answer


def test_the_same_definition_leads_the_same_way() -> None:
    desk = lived()
    expected = Replayed(desk.flow.instance, "b", 3, (), None)
    assert expected == replayed(desk, FORK)


def test_another_target_is_where_the_two_part() -> None:
    other = flow("fork", a={"x": "c", "y": "b", "z": "a"}, b={"end": "done"}, c={"end": "done"}, done={})
    answer = replayed(lived(), other)
    assert (Divergence("E00000008", "a", "b", "c", "transition `x` is taken"), "a", 3) == (answer.divergence, answer.state, answer.judged)


def test_a_transition_that_is_new_was_never_judged() -> None:
    other = flow("fork", a={"x": "b", "y": "c", "z": "a", "w": "b"}, b={"end": "done"}, c={"end": "done"}, done={})
    divergence = replayed(lived(), other).divergence
    assert divergence is not None
    assert ("E00000004", "no verdict was given for transition `w`, which is new") == (divergence.entry, divergence.why)


def test_a_transition_that_is_gone_and_was_taken_is_where_the_two_part() -> None:
    other = flow("fork", a={"y": "c", "z": "a"}, c={"end": "done"}, done={})
    answer = replayed(lived(), other)
    assert answer.divergence is not None
    assert ("b", "a", ("state `a`: transition `x` is gone",)) == (answer.divergence.recorded, answer.divergence.elsewhere, answer.changes)


def test_a_changed_wording_is_said_and_leads_the_same_way() -> None:
    states = tuple(each.model_copy(update={"instructions": "Do it well."}) if each.id == "b" else each for each in FORK.states)
    changed = CompiledFlowDefinition(schema_version=1, name="fork", initial="a", states=states)
    answer = replayed(lived(), changed)
    assert (("state `b`: instructions",), None) == (answer.changes, answer.divergence)


def test_acts_of_operators_are_followed_and_forks_are_read_through() -> None:
    desk = lived()
    desk.engine.operate(desk.worker, Verb.REWIND, "once more", PERSON, state="a")
    fork = desk.engine.fork(desk.worker, "elsewhere", PERSON)
    desk.request("again", {"y": MET})
    assert "c" == replayed(desk, FORK).state
    assert isinstance(fork, Forked)
    assert "a" == replayed(desk, FORK, fork.worker).state
    other = flow("fork", b={"end": "done"}, done={})
    divergence = replayed(desk, other).divergence
    assert divergence is not None
    assert "the initial state is `b`" == divergence.why
