"""A smallest set of walks that takes every transition."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.drawing.paths import Walk, covering_walks
from stateward.compiler.flow.definition import CompiledFlowDefinition
from tests.runtime.flows import FORK, NOTHING_TO_DO, REVIEW, flow


@st.composite
def whole_flows(draw: st.DrawFn) -> CompiledFlowDefinition:
    """A flow in which every state is reached and reaches an end."""
    size = draw(st.integers(1, 7))
    states: dict[str, dict[str, str]] = {f"s{at}": {"on": f"s{at + 1}"} for at in range(size)}
    states[f"s{size}"] = {}
    for number, (tail, head) in enumerate(draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size)), max_size=10))):
        states[f"s{tail}"][f"t{number}"] = f"s{head}"
    return flow("drawn", **states)


def authored(definition: CompiledFlowDefinition) -> set[tuple[str, str, str]]:
    return {(state.id, each.id, each.target) for state in definition.states for each in state.transitions if not each.synthetic}


def assert_is_a_walk(definition: CompiledFlowDefinition, walk: Walk) -> None:
    at = definition.initial
    for step in walk:
        assert at == step.state
        at = step.target
    assert definition.state(at).terminal


@settings(max_examples=150)
@given(whole_flows())
def test_every_walk_goes_from_the_beginning_to_an_end_and_together_they_take_every_transition(definition: CompiledFlowDefinition) -> None:
    walks = covering_walks(definition)
    for walk in walks:
        assert_is_a_walk(definition, walk)
    assert authored(definition) == {tuple(step) for walk in walks for step in walk}
    assert walks == covering_walks(definition)


@settings(max_examples=150)
@given(whole_flows())
def test_there_are_as_few_as_ways_that_cannot_be_taken_in_one_walk(definition: CompiledFlowDefinition) -> None:
    # By the theorem of Dilworth for edges: as many as the largest set of which no two can follow each other.
    edges = sorted(authored(definition))
    reached = {state.id: reachable(definition, state.id) for state in definition.states}

    def apart(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
        return other[0] not in reached[one[2]] and one[0] not in reached[other[2]]

    assert largest(edges, apart) == len(covering_walks(definition))


def reachable(definition: CompiledFlowDefinition, state: str) -> set[str]:
    found, todo = {state}, [state]
    while todo:
        for each in definition.state(todo.pop()).transitions:
            if each.target not in found:
                found.add(each.target)
                todo.append(each.target)
    return found


def largest(edges: list[tuple[str, str, str]], apart: object) -> int:
    assert callable(apart)
    if not edges:
        return 0
    first, *others = edges
    return max(largest(others, apart), 1 + largest([each for each in others if apart(first, each)], apart))


@pytest.mark.parametrize(
    ("definition", "count"),
    [(REVIEW, 1), (FORK, 2), (flow("fan", a={"x": "b", "y": "c", "z": "d"}, b={}, c={}, d={}), 3)],
    ids=lambda each: each.name if isinstance(each, CompiledFlowDefinition) else str(each),
)
def test_flows_of_known_shape_need_as_many_walks_as_one_sees(definition: CompiledFlowDefinition, count: int) -> None:
    assert count == len(covering_walks(definition))


def test_a_flow_that_begins_at_its_end_has_one_walk_without_steps() -> None:
    assert ((),) == covering_walks(NOTHING_TO_DO)


def test_two_transitions_between_the_same_states_are_both_taken() -> None:
    states: Mapping[str, Mapping[str, str]] = {"a": {"x": "b", "y": "b"}, "b": {"again": "a", "end": "c"}, "c": {}}
    (walk,) = covering_walks(flow("twice", **states))
    assert {("a", "x"), ("a", "y"), ("b", "again"), ("b", "end")} == {(step.state, step.transition) for step in walk}
    assert 4 == len(walk)
