"""The graph as boxes in the terminal."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.cells import text_width
from stateward.compiler.drawing.lanes import allot, bundled, draw_lanes
from stateward.compiler.drawing.marks import Answered, Marks
from stateward.compiler.drawing.order import drawing_order
from stateward.compiler.drawing.text import draw_text
from tests.compiler.diagnostics.snapshots import assert_snapshot
from tests.compiler.drawing.graphs import REVIEW, Ways, definition, wide_names

SNAPSHOTS = Path(__file__).parent / "snapshots"

CROSSING: Ways = {
    "a": {"far": "f", "near": "b", "mid": "d"},
    "b": {"far": "f", "on": "c"},
    "c": {"back": "a", "on": "d"},
    "d": {"back": "b", "further_back": "a", "on": "e"},
    "e": {"back": "b", "end": "f"},
    "f": {},
    "g": {},
}

UNDER_WAY = Marks(
    current="fix",
    visits={"implement": 1, "review": 2, "fix": 2},
    taken={("implement", "submit"): 1, ("review", "request-changes"): 2, ("fix", "resubmit"): 1},
    answers={"resubmit": Answered.NOT_MET, "try-again": Answered.UNCHECKED},
)


def test_a_flow_as_boxes() -> None:
    assert_snapshot(SNAPSHOTS / "review.txt", draw_text(definition("coder-review", REVIEW)))


def test_what_happened_in_a_run_is_marked() -> None:
    drawn = draw_text(definition("coder-review", REVIEW), UNDER_WAY)
    assert_snapshot(SNAPSHOTS / "review_under_way.txt", drawn)


def test_without_boxes_the_same_is_drawn_in_ascii() -> None:
    drawn = [
        draw_text(definition("crossing", CROSSING), Marks(current="c", visits={"c": 2}), width=60, boxes=boxes)
        for boxes in (True, False)
    ]  # fmt: skip
    assert [len(line) for line in drawn[0].splitlines()] == [len(line) for line in drawn[1].splitlines()]
    assert (drawn[0].isascii(), drawn[1].isascii()) == (False, True)
    assert_snapshot(SNAPSHOTS / "ascii.txt", drawn[1])


def test_crossing_lines() -> None:
    ways = {state: out for state, out in CROSSING.items() if state != "g"}
    assert_snapshot(SNAPSHOTS / "crossing.txt", draw_text(definition("crossing", ways)))


def test_a_cancelled_run_stands_at_the_folded_end() -> None:
    drawn = draw_text(definition("coder-review", REVIEW), Marks(current="$cancelled", visits={"implement": 1, "$cancelled": 1}))
    assert "▶ $cancelled  ×1: by $cancel from every state that is no end" in drawn.splitlines()


def test_the_synthetic_end_has_a_box_when_it_is_asked_for() -> None:
    rows = draw_text(definition("coder-review", REVIEW), cancelled=True).splitlines()
    assert 4 == sum("$cancel " in row and "→ $cancelled" in row for row in rows)
    assert 1 == sum("╔═ $cancelled ═" in row for row in rows)
    assert "$cancelled:" not in "".join(rows)


def at_column(row: str, column: int) -> str:
    taken = 0
    for char in row:
        if taken == column:
            return char
        taken += text_width(char)
    return " "


@pytest.mark.parametrize("width", [40, 60, 100])
def test_wide_names_keep_the_frames_upright(width: int) -> None:
    rows = draw_text(definition("wide", wide_names(8)), width=width).splitlines()[2:-3]
    left, right = (text_width(rows[-2][: rows[-2].index(corner)]) for corner in "╔╗")
    assert {"┌┐", "││", "└┘", "╔╗", "╚╝"} == {at_column(row, left) + at_column(row, right) for row in rows}
    assert [] == [row for row in rows if text_width(row) > width]


def test_what_would_act_on_a_terminal_is_shown_as_what_it_is() -> None:
    drawn = draw_text(definition("odd", {"a\x1b[2J": {"t\u202e": "end"}, "end": {}}))
    assert "a␛[2J" in drawn
    assert "t<U+202E>" in drawn
    assert drawn.replace("\n", "").isprintable()


def test_a_flow_of_one_end_has_no_way_to_be_cancelled() -> None:
    assert "$cancel" not in draw_text(definition("only", {"end": {}}))


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_a_large_flow_stays_within_the_width(width: int) -> None:
    ways = {f"state-{at}": {"on": f"state-{at + 1}", "far": f"state-{at * 7 % 60}", "end": "end"} for at in range(59)}
    drawn = draw_text(definition("large", {**ways, "state-59": {"end": "end"}, "end": {}}), width=width)
    rows = drawn.splitlines()[2:-3]
    assert [row for row in rows if len(row) > width] == []


def test_ids_of_the_greatest_length_are_cut() -> None:
    long = "s" * 128
    drawn = draw_text(definition("long", {long: {"t" * 128: "end"}, "end": {}}), width=80)
    assert [row for row in drawn.splitlines()[2:-3] if len(row) > 80] == []


@pytest.mark.parametrize("width", [20, 80, 200])
def test_a_long_id_leaves_room_for_the_sign_and_the_target(width: int) -> None:
    long = "s" * 128
    drawn = draw_text(definition("long", {long: {"a" * 128: "end", "b" * 128: long, "c": "end"}, "end": {}}), width=width)
    rows = [row for row in drawn.splitlines() if "│ a" in row or "│ b" in row or "│ c" in row]
    assert ["→ end" in row or "↻ ss" in row for row in rows] == [True, True, True]
    assert [row.count("…") for row in rows] == [1, 2, 0]


graphs = st.integers(1, 9).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size), max_size=3), min_size=size, max_size=size).map(
        lambda rows: {
            **{f"s{at}": {f"t{n}": f"s{to}" for n, to in enumerate([at + 1, *row])} for at, row in enumerate(rows)},
            f"s{size}": {},
        }
    )
)


@given(graphs)
def test_every_state_and_every_transition_is_named(ways: Ways) -> None:
    drawn = draw_text(definition("any", ways))
    for state, out in ways.items():
        assert f" {state} " in drawn
        assert all(any(id_ in row and target in row for row in drawn.splitlines()) for id_, target in out.items())


@given(graphs)
def test_each_state_is_drawn_once_beginning_with_the_initial_one_and_ending_with_ends(ways: Ways) -> None:
    order = drawing_order(definition("any", ways))
    assert sorted(state.id for state in order) == sorted(ways)
    assert order[0].id == "s0"
    terminals = [state.terminal for state in order]
    assert terminals == sorted(terminals)


edges = st.lists(st.tuples(st.integers(0, 30), st.integers(31, 60)), max_size=12)


@given(edges)
def test_no_two_bundles_share_a_lane_where_both_are(found: list[tuple[int, int]]) -> None:
    allotted = allot(bundled(found), 99)
    assert len(allotted) == len({target for _, target in found})
    for at, (one, lane) in enumerate(allotted):
        for other, other_lane in allotted[at + 1 :]:
            assert lane != other_lane or one.last < other.first or other.last < one.first


def test_what_finds_no_lane_is_left_out() -> None:
    allotted = allot(bundled([(0, 5), (1, 6), (2, 7)]), 2)
    assert [bundle.target for bundle, _ in allotted] == [5, 6]


def test_lines_join_and_cross_as_they_should() -> None:
    rows = draw_lanes(allot(bundled([(0, 4), (1, 3), (2, 4)]), 9), 5, left=False)
    assert [row.rstrip() for row in rows] == ["────┐", "──┐ │", "──┼─┤", "◀─┘ │", "◀───┘"]


def test_lines_at_the_left_are_broken_and_point_to_the_box() -> None:
    rows = draw_lanes(allot(bundled([(2, 0), (3, 0)]), 9), 4, left=True)
    assert rows == [" ┌┄▶", " ┆  ", " ├┄┄", " └┄┄"]
