"""Two flows compared as graphs."""

from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.drawing.differences import Came, EndChanged, Renamed, Retargeted, Reworded, Went, changes
from stateward.compiler.flow.definition import CompiledFlowDefinition
from tests.compiler.drawing.test_covering_walks import whole_flows
from tests.runtime.flows import REVIEW, flow


def reworded(definition: CompiledFlowDefinition, state: str, **changed: object) -> CompiledFlowDefinition:
    states = tuple(each.model_copy(update=changed) if each.id == state else each for each in definition.states)
    return definition.model_copy(update={"states": states})


@given(whole_flows(), st.randoms())
def test_a_flow_does_not_differ_from_itself_in_whatever_order_its_states_are_declared(
    definition: CompiledFlowDefinition, random: object
) -> None:
    states = list(definition.states)
    random.shuffle(states)  # type: ignore[attr-defined]
    assert () == changes(definition, definition.model_copy(update={"states": tuple(states)}))


@given(whole_flows(), whole_flows())
def test_two_flows_that_do_not_differ_are_the_same_but_for_the_order(one: CompiledFlowDefinition, other: CompiledFlowDefinition) -> None:
    same = {each.id: each for each in one.states} == {each.id: each for each in other.states} and one.initial == other.initial
    assert same or changes(one, other)


def test_a_state_in_other_words_is_told_with_both() -> None:
    assert (Reworded("check", None, REVIEW.state("check").instructions, "Look."),) == changes(
        REVIEW, reworded(REVIEW, "check", instructions="Look.")
    )


def test_a_renamed_state_is_no_state_that_went_and_one_that_came_and_what_leads_to_it_did_not_change() -> None:
    renamed = flow("review", implement={"ready": "audit"}, audit={"good": "done", "bad": "fix"}, fix={"fixed": "audit"}, done={})
    renamed = reworded(renamed, "audit", instructions=REVIEW.state("check").instructions)
    assert (Renamed("state", "check", "audit"),) == changes(REVIEW, renamed)


def test_an_initial_state_that_was_renamed_is_still_the_beginning() -> None:
    old = flow("a", first={"on": "done"}, done={})
    new = reworded(flow("a", begin={"on": "done"}, done={}), "begin", instructions=old.state("first").instructions)
    assert (Renamed("state", "first", "begin"),) == changes(old, new)


def test_two_states_that_could_each_be_the_renamed_one_are_told_as_gone_and_new() -> None:
    old = reworded(flow("a", a={"x": "b", "y": "c"}, b={}, c={}), "b", instructions="same")
    old = reworded(old, "c", instructions="same")
    new = flow("a", a={"x": "d", "y": "e"}, d={}, e={})
    for state in ("d", "e"):
        new = reworded(new, state, instructions="same")
    found = changes(old, new)
    assert {Went("b"), Went("c"), Came("d"), Came("e")} <= set(found)
    assert not [each for each in found if isinstance(each, Renamed)]


def test_transitions_come_go_and_lead_elsewhere() -> None:
    old = flow("a", a={"x": "b", "y": "b"}, b={}, c={})
    new = flow("a", a={"x": "c", "z": "b"}, b={}, c={})
    assert (Went("a", "y", "b"), Retargeted("a", "x", "b", "c"), Came("a", "z", "b")) == changes(old, new)


def test_a_state_that_became_an_end_is_told_with_the_ways_it_lost() -> None:
    old, new = flow("a", a={"x": "b"}, b={"y": "c"}, c={}), flow("a", a={"x": "b"}, b={}, c={})
    assert (EndChanged("b", terminal=True), Went("b", "y", "c")) == changes(old, new)
