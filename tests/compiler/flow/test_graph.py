"""Reachability, against an oracle that tries every way an unknown may be filled in; and the stories from the field."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.flow.graph import check_graph
from stateward.compiler.flow.problems.graph import TerminalMissing, TerminalUnreachable, Unreachable
from stateward.compiler.flow.typed import FlowSource, Located, States, StateSource, Transitions, TransitionSource
from stateward.compiler.language.data import Origin
from stateward.compiler.pipeline import compile_source
from stateward.compiler.source import Place, Source, Span

TEXT = Source("graph.dcdl", " " * 10_000)


def _place(at: int) -> Place:
    return Place(TEXT, Span(at, at + 1))


@dataclass(frozen=True)
class Sketch:
    """A state: whether it is an end (None: not known) and where it leads (None: not known)."""

    terminal: bool | None
    targets: tuple[int | None, ...]
    complete: bool = True

    @property
    def open(self) -> bool:
        return not self.complete or None in self.targets or (not self.targets and self.terminal is not True)


def _typed(sketches: Sequence[Sketch], initial: int | None) -> FlowSource:
    return FlowSource(
        1,
        None,
        Located(f"s{initial}", Origin(_place(9_000)), ("initial",)) if initial is not None else None,
        States(tuple(_state(at, sketch) for at, sketch in enumerate(sketches)), _place(9_001), ("states",), complete=True),
    )


def _state(at: int, sketch: Sketch) -> StateSource:
    path = ("states", f"s{at}")
    ways = [
        TransitionSource(
            f"t{number}",
            _place(at * 100 + number + 1),
            (*path, "transitions", f"t{number}"),
            Located(f"s{target}", Origin(_place(at * 100 + 50 + number)), ()) if target is not None else None,
            None,
        )
        for number, target in enumerate(sketch.targets)
    ]
    transitions = Transitions(tuple(ways), _place(at * 100), (*path, "transitions"), sketch.complete)
    return StateSource(f"s{at}", _place(at * 100), path, None, sketch.terminal, None, transitions)


def _closure(size: int, edges: set[tuple[int, int]]) -> list[list[bool]]:
    reach = [[row == column or (row, column) in edges for column in range(size)] for row in range(size)]
    for middle in range(size):
        for row in range(size):
            for column in range(size):
                reach[row][column] = reach[row][column] or (reach[row][middle] and reach[middle][column])
    return reach


def _edges(sketches: Sequence[Sketch], *, most: bool) -> set[tuple[int, int]]:
    """Give the edges of the richest or of the poorest flow that a sketch may stand for."""
    found = {(at, target) for at, each in enumerate(sketches) for target in each.targets if target is not None}
    if most:
        return found | {(at, target) for at, each in enumerate(sketches) if each.open for target in range(len(sketches))}
    return {(at, target) for at, target in found if sketches[at].terminal is False}


def _targets(size: int) -> st.SearchStrategy[tuple[int | None, ...]]:
    return st.lists(st.one_of(st.integers(0, size - 1), st.none() if size % 2 else st.integers(0, size - 1)), max_size=3).map(tuple)


def _sketch(size: int) -> st.SearchStrategy[Sketch]:
    ends = st.just(Sketch(terminal=True, targets=()))
    plain = st.builds(Sketch, st.just(value=False), _targets(size))
    odd = st.builds(Sketch, st.sampled_from([True, False, None]), _targets(size), st.booleans())
    return st.one_of(ends, plain, plain, odd)


flows = st.integers(1, 7).flatmap(
    lambda size: st.tuples(
        st.lists(_sketch(size), min_size=size, max_size=size),
        st.one_of(st.integers(0, size - 1), st.none() if size == 3 else st.integers(0, size - 1)),
    )
)


@given(flows)
def test_what_is_reported_holds_however_unknowns_are_filled_in_and_nothing_else_is(flow: tuple[list[Sketch], int | None]) -> None:
    sketches, initial = flow
    size = len(sketches)
    problems = check_graph(_typed(sketches, initial))
    most, least = _closure(size, _edges(sketches, most=True)), _closure(size, _edges(sketches, most=False))
    leads_out = [at for at, each in enumerate(sketches) if each.open or each.terminal is not False]
    no_end = not leads_out
    unreachable = {at for at in range(size) if initial is not None and not most[initial][at]}
    trapped = {
        at
        for at in range(size)
        if initial is not None and not no_end and least[initial][at] and not any(most[at][out] for out in leads_out)
    }
    assert {int(name[1:]) for each in problems if isinstance(each, Unreachable) for name in each.named} == unreachable
    assert {int(name[1:]) for each in problems if isinstance(each, TerminalUnreachable) for name in each.named} == trapped
    assert any(isinstance(each, TerminalMissing) for each in problems) == no_end


@given(flows)
def test_each_state_is_named_by_one_diagnostic_of_a_kind_and_parts_are_what_they_are_said_to_be(
    flow: tuple[list[Sketch], int | None],
) -> None:
    sketches, initial = flow
    edges = {(at, target) for at, each in enumerate(sketches) for target in each.targets if target is not None}
    reach = _closure(len(sketches), edges)
    for kind in (Unreachable, TerminalUnreachable):
        found = [each for each in check_graph(_typed(sketches, initial)) if isinstance(each, kind)]
        named = [name for each in found for name in each.named]
        assert len(named) == len(set(named))
        for each in found:
            members = [int(state.id[1:]) for state in each.members]
            assert all(reach[one][other] for one in members for other in members)
            if isinstance(each, TerminalUnreachable):
                assert not [edge for edge in edges if edge[0] in members and edge[1] not in members]
                inside = {int(name[1:]) for name in each.named}
                assert (each.entry is None) == (initial in inside)
            else:
                unreachable = {int(name[1:]) for name in named}
                assert not [edge for edge in edges if edge[1] in members and edge[0] in unreachable - set(members)]


def _source(**states: str) -> str:
    """Write a flow in which each state leads to the states named, in that order; a state that names none is an end."""
    written = []
    for state, targets in states.items():
        ways = " ".join(f'to_{each} = {{ target = "{each}"; condition = "{each}"; }};' for each in targets.split())
        body = f"transitions = {{ {ways} }};" if ways else "terminal = true;"
        written.append(f'    {state} = {{ instructions = "x"; {body} }};\n')
    return f'schema_version = 1; name = "g"; initial = "{next(iter(states))}"; states = {{\n{"".join(written)}}};\n'


def _found(**states: str) -> list[Diagnostic]:
    return list(compile_source(_source(**states).encode()).diagnostics)


def _told(diagnostics: Sequence[Diagnostic]) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.code, each.states) for each in diagnostics]


def test_a_state_that_points_into_the_graph_but_is_not_reached() -> None:
    found = _found(a="done", orphan="done", done="")
    assert _told(found) == [("unreachable_state", ("orphan",))]
    place = found[0].primary.place
    assert place.source.slice(place.span) == "orphan"


def test_orphans_that_lead_to_each_other_are_both_named() -> None:
    assert _told(_found(a="done", one="two", two="one", done="")) == [("unreachable_state", ("one", "two"))]


def test_what_is_reached_only_from_an_orphan_is_folded_into_it() -> None:
    found = _found(a="done", done="", lost="deeper", deeper="deepest", deepest="done")
    assert _told(found) == [("unreachable_state", ("lost", "deeper", "deepest"))]


def test_orphans_that_do_not_know_each_other_are_two_faults() -> None:
    assert _told(_found(a="done", one="done", two="done", done="")) == [
        ("unreachable_state", ("one",)),
        ("unreachable_state", ("two",)),
    ]


def test_a_ring_without_an_end_names_all_of_it() -> None:
    assert _told(_found(a="b", b="c", c="a", done="")) == [
        ("terminal_unreachable", ("a", "b", "c")),
        ("unreachable_state", ("done",)),
    ]


def test_only_the_closed_part_is_named_with_the_edge_that_enters_it() -> None:
    found = _found(a="done b", b="c", c="b", done="")
    assert _told(found) == [("terminal_unreachable", ("b", "c"))]
    entered = found[0].secondary[-1]
    assert (entered.text, entered.place.source.slice(entered.place.span)) == ("entered here", '"b"')
    assert entered.place.span.start < found[0].primary.place.span.start


def test_a_state_that_can_only_lead_into_a_closed_part_is_named_with_it() -> None:
    found = _found(a="done lead", lead="b", b="c", c="b", done="")
    assert _told(found) == [("terminal_unreachable", ("lead", "b", "c"))]
    assert [label.text for label in found[0].secondary] == ["nor from here", "leads only there", "entered here"]


def test_two_closed_parts_are_two_faults_and_a_state_before_both_is_named_once() -> None:
    assert _told(_found(a="done fork", fork="b c", b="b", c="c", done="")) == [
        ("terminal_unreachable", ("fork", "b")),
        ("terminal_unreachable", ("c",)),
    ]


def test_a_ring_that_is_fine_does_not_hide_one_that_is_not() -> None:
    assert _told(_found(a="b done", b="a c", c="d", d="c", done="")) == [("terminal_unreachable", ("c", "d"))]


@pytest.mark.parametrize(
    "states",
    [
        {"a": "a done", "done": ""},
        {"a": "b", "b": "a c", "c": "a d", "d": ""},
        {"a": ""},
        {"a": "b", "b": "c d", "c": "b", "d": ""},
    ],
)
def test_loops_with_an_exit_and_lone_ends_are_fine(states: dict[str, str]) -> None:
    assert _found(**states) == []


def test_a_dangling_target_silences_what_would_follow_from_it() -> None:
    assert _told(_found(a="reveiw", review="done", done="")) == [("transition_target_not_found", ())]


def test_a_dangling_target_that_is_not_reached_itself_silences_nothing() -> None:
    found = _found(a="done", lost="nowhere", done="")
    assert _told(found) == [("unreachable_state", ("lost",)), ("transition_target_not_found", ())]


def test_a_part_that_a_dangling_target_may_lead_out_of_is_not_called_closed() -> None:
    assert _told(_found(a="b done", b="c", c="b nowhere", done="")) == [("transition_target_not_found", ())]


def test_a_state_that_has_to_be_renamed_is_not_called_unreachable() -> None:
    text = _source(a="done", lost="after", after="done", done="").replace("    lost = ", '    "lo st" = ')
    assert [each.code for each in compile_source(text.encode()).diagnostics] == ["invalid_state_id"]


def test_a_reserved_target_may_be_meant_for_any_state() -> None:
    text = _source(a="b done", b="b", done="").replace('target = "b"', 'target = "$b"')
    assert {each.code for each in compile_source(text.encode()).diagnostics} == {"reserved_transition_target"}


def test_an_undeclared_target_may_be_the_end_that_is_missing() -> None:
    assert _told(_found(a="b", b="done a")) == [("transition_target_not_found", ())]


def test_an_unknown_initial_state_leaves_reachability_open() -> None:
    text = _source(a="done", b="done", done="").replace('initial = "a"', 'initial = "x"')
    assert _told(compile_source(text.encode()).diagnostics) == [("initial_not_found", ())]
