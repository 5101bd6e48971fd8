"""The places of boxes, labels and lines, held against geometry."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.drawing.crossings import crossings, reduce_crossings
from stateward.compiler.drawing.figure import figure
from stateward.compiler.drawing.layers import ROW_WIDTH_MAX, What, layered
from stateward.compiler.drawing.layout import Layout, Line, Rect, lay_out
from stateward.compiler.drawing.marks import UNMARKED, Answered, Marks
from stateward.compiler.drawing.order import drawing_order
from stateward.compiler.flow.definition import CompiledFlowDefinition
from tests.compiler.drawing.graphs import REVIEW, SHAPES, at_random, built_in, chain, definition, fan, ladder

EPSILON = 0.01
FLOWS = {**{name: definition(name, ways) for name, ways in SHAPES.items()}, **built_in()}

MARKS = Marks(
    current="review",
    visits={"implement": 1, "review": 12, "fix": 11},
    taken={("implement", "submit"): 1, ("review", "request-changes"): 11, ("fix", "resubmit"): 11},
    answers={"approve": Answered.NOT_MET, "request-changes": Answered.UNCHECKED},
)


@cache
def laid(name: str, *, cancelled: bool = False) -> Layout:
    return lay_out(FLOWS[name], cancelled=cancelled)


def overlap(one: Rect, other: Rect) -> bool:
    beside = one.right <= other.x + EPSILON or other.right <= one.x + EPSILON
    return not beside and one.bottom > other.y + EPSILON and other.bottom > one.y + EPSILON


def reach(line: Line) -> Iterator[Rect]:
    """Give what the pieces of a line do not leave."""
    for (x, y), (to_x, to_y) in pairwise(line.points):
        yield Rect(min(x, to_x), min(y, to_y), abs(to_x - x), abs(to_y - y))


def bends(line: Line) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    return ((one, other) for one, other in pairwise(line.points) if abs(one[0] - other[0]) > EPSILON)


def hit(piece: Rect, other: Rect) -> bool:
    """Tell whether a piece of a line, which may be as thin as nothing, lies in more than the border of a place."""
    beside = piece.right < other.x + EPSILON or other.right < piece.x + EPSILON
    return not beside and piece.bottom > other.y + EPSILON and other.bottom > piece.y + EPSILON


def on_border(x: float, y: float, box: Rect) -> bool:
    across = box.x - EPSILON <= x <= box.right + EPSILON and min(abs(y - box.y), abs(y - box.bottom)) < EPSILON
    down = box.y - EPSILON <= y <= box.bottom + EPSILON and min(abs(x - box.x), abs(x - box.right)) < EPSILON
    return across or down


def check(layout: Layout) -> None:
    places = [(each.box.id, each.rect) for each in layout.boxes] + [(each.row.transition.id, each.rect) for each in layout.rows]
    assert [] == [(one, other) for (one, a), (other, b) in combinations(places, 2) if overlap(a, b)]
    outside = [name for name, rect in places if rect.x < -EPSILON or rect.y < 0 or rect.right > layout.width + EPSILON]
    assert [] == outside + [name for name, rect in places if rect.bottom > layout.height + EPSILON]
    boxes = {each.box.id: each.rect for each in layout.boxes}
    for line in layout.lines:
        ends = zip((line.points[0], line.points[-1]), (line.edge.source, line.edge.target), strict=True)
        assert [] == [state for (x, y), state in ends if not on_border(x, y, boxes[state])]
        assert [] == [(x, y) for x, y in line.points if not (-EPSILON <= x <= layout.width + EPSILON and 0 <= y <= layout.height + EPSILON)]
        others = [rect for _, rect in places if rect not in {row.rect for row in layout.rows if row.edge == line.edge}]
        assert [] == [(piece, rect) for piece in reach(line) for rect in others if hit(piece, rect)]


@pytest.mark.parametrize("cancelled", [False, True], ids=["as it is", "with the synthetic end"])
@pytest.mark.parametrize("name", FLOWS)
def test_nothing_overlaps_lines_meet_their_boxes_and_all_lies_on_the_canvas(name: str, cancelled: bool) -> None:
    check(laid(name, cancelled=cancelled))


@settings(max_examples=25)
@given(size=st.integers(1, 60), seed=st.integers(0, 10**6), more=st.floats(0, 1.2), cancelled=st.booleans())
def test_so_it_is_for_any_flow(size: int, seed: int, more: float, cancelled: bool) -> None:
    check(lay_out(definition("any", at_random(size, seed, more)), cancelled=cancelled))


def test_so_it_is_where_a_run_is_marked() -> None:
    check(lay_out(definition("marked", REVIEW), MARKS))


@pytest.mark.parametrize("name", FLOWS)
def test_every_state_and_every_transition_of_the_author_has_one_place(name: str) -> None:
    flow, layout = FLOWS[name], laid(name)
    assert [state.id for state in flow.states if state.id != "$cancelled"] == [each.box.id for each in layout.boxes]
    declared = [(state.id, each.id, each.target) for state in flow.states for each in state.transitions if not each.synthetic]
    placed = [(each.edge.source, each.row.transition.id, each.edge.target) for each in layout.rows]
    assert sorted(declared) == sorted(placed)


@pytest.mark.parametrize("name", FLOWS)
def test_a_label_lies_on_the_line_of_its_edge(name: str) -> None:
    layout = laid(name)
    lines = {(line.edge.source, line.edge.target): line for line in layout.lines}
    for each in layout.rows:
        line = lines[each.edge.source, each.edge.target]
        assert line.is_loop or any(hit(piece, each.rect) for piece in reach(line))


@pytest.mark.parametrize("name", FLOWS)
def test_all_lines_of_a_gap_bend_at_the_same_height(name: str) -> None:
    """Then two of them cross once at the most: how far they are apart changes in one direction only."""
    pieces = [sorted((one[1], other[1])) for line in laid(name).lines if not line.is_loop for one, other in bends(line)]
    gaps = sorted({(round(top, 3), round(bottom, 3)) for top, bottom in pieces})
    assert [] == [(one, other) for one, other in pairwise(gaps) if other[0] < one[1]]


@pytest.mark.parametrize("name", FLOWS)
def test_the_same_flow_has_the_same_places(name: str) -> None:
    assert laid(name) == lay_out(FLOWS[name])


def lead(flow: CompiledFlowDefinition) -> dict[tuple[str, str], bool]:
    """Tell for each edge whether its line leads up."""
    lines = [line for line in lay_out(flow).lines if not line.is_loop]
    assert all((line.points[-1][1] < line.points[0][1]) == line.leads_back for line in lines)
    return {(line.edge.source, line.edge.target): line.leads_back for line in lines}


def test_what_leads_back_leads_up_and_all_else_down() -> None:
    found = lead(definition("review", REVIEW))
    assert {("fix", "review")} == {edge for edge, back in found.items() if back}
    assert {("s0", "s0")} | {(f"s{at}", f"s{max(at - 1, 0)}") for at in range(1, 9)} > {
        edge for edge, back in lead(definition("ladder", ladder(9))).items() if back and edge[1] != "s0"
    }


def test_transitions_to_one_target_share_a_line_and_have_a_row_each() -> None:
    layout = lay_out(definition("two", {"a": {"one": "b", "other": "b"}, "b": {}}))
    assert [("a", "b")] == [(line.edge.source, line.edge.target) for line in layout.lines]
    assert ["one", "other"] == [each.row.transition.id for each in layout.rows]


def test_lines_into_a_box_arrive_under_one_head_at_each_side() -> None:
    layout = lay_out(definition("ladder", ladder(9)))
    arrivals = {(line.edge.target, line.leads_back): set() for line in layout.lines if not line.is_loop}  # type: ignore[var-annotated]
    for line in layout.lines:
        if not line.is_loop:
            arrivals[line.edge.target, line.leads_back].add(line.points[-1])
    assert {1} == {len(points) for points in arrivals.values()}


def test_a_chain_is_straight() -> None:
    layout = lay_out(definition("chain", chain(20)))
    assert 1 == len({round(x, 3) for line in layout.lines for x, _ in line.points})


def test_crossings_that_need_not_be_are_not_there() -> None:
    graph = layered(figure(definition("review", REVIEW), UNMARKED, cancelled=False), ["implement", "review", "complete", "fix", "done"])
    reduce_crossings(graph)
    assert 0 == crossings(graph)


def test_no_layer_of_boxes_is_wider_than_it_may_be() -> None:
    flow = definition("fan", fan(60))
    graph = layered(figure(flow, UNMARKED, cancelled=False), [state.id for state in drawing_order(flow)])
    widths = [
        sum(graph.nodes[node].left + graph.nodes[node].right for node in layer if graph.nodes[node].what is What.BOX)
        for layer in graph.layers
    ]
    assert max(widths) <= ROW_WIDTH_MAX


def test_the_synthetic_end_is_there_when_it_is_asked_for_or_was_entered() -> None:
    flow = definition("review", REVIEW)
    assert "$cancelled" not in {each.box.id for each in lay_out(flow).boxes}
    asked = lay_out(flow, cancelled=True)
    assert {"implement", "review", "fix", "complete"} == {line.edge.source for line in asked.lines if line.edge.target == "$cancelled"}
    entered = lay_out(flow, Marks(current="$cancelled", visits={"$cancelled": 1}, taken={("fix", "$cancel"): 1}))
    assert ["fix"] == [line.edge.source for line in entered.lines if line.edge.target == "$cancelled"]
    by_an_operator = lay_out(flow, Marks(current="$cancelled", visits={"$cancelled": 1}))
    assert [] == [line for line in by_an_operator.lines if line.edge.target == "$cancelled"]
    assert "$cancelled" in {each.box.id for each in by_an_operator.boxes}
    check(by_an_operator)


def test_what_names_nothing_of_the_flow_marks_nothing() -> None:
    strange = Marks(current="elsewhere", visits={"elsewhere": 3}, taken={("elsewhere", "x"): 1}, answers={"x": Answered.MET})
    assert lay_out(definition("review", REVIEW)) == lay_out(definition("review", REVIEW), strange)
