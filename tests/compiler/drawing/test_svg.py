"""SVG: sound XML by itself, escaped, told to those who cannot see it, and the same for the same flow."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from stateward.compiler.drawing.described import CHARACTERS_MAX
from stateward.compiler.drawing.marks import UNMARKED, Answered, Marks
from stateward.compiler.drawing.measure import text_width
from stateward.compiler.drawing.svg import draw_svg
from stateward.compiler.drawing.theme import Theme
from tests.compiler.diagnostics.snapshots import assert_snapshot
from tests.compiler.drawing.graphs import REVIEW, SHAPES, Ways, built_in, chain, definition

SVG = "{http://www.w3.org/2000/svg}"
SNAPSHOTS = Path(__file__).parent / "snapshots"
FLOWS = {**{name: definition(name, ways) for name, ways in SHAPES.items()}, **built_in()}
UNDER_WAY = Marks(
    current="fix",
    visits={"implement": 1, "review": 2, "fix": 2},
    taken={("implement", "submit"): 1, ("review", "request-changes"): 2, ("fix", "resubmit"): 1},
    answers={"resubmit": Answered.NOT_MET, "try-again": Answered.UNCHECKED},
)
SIZES = {"name": 14.0, "row": 12.0, "count": 12.0, "note": 12.0, "title": 17.0}


def parsed(drawn: str | bytes) -> ET.Element:
    return ET.fromstring(drawn)  # noqa: S314 - it was just drawn


def placed(root: ET.Element, x: float = 0.0, y: float = 0.0) -> Iterator[tuple[ET.Element, float, float]]:
    """Give each element with how far it was moved."""
    moved = re.fullmatch(r"translate\((\S+) (\S+)\)", root.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    yield root, x, y
    for child in root:
        yield from placed(child, x, y)


def extents(root: ET.Element) -> Iterator[tuple[str, float, float, float, float]]:
    """Give the kind and the borders of each rectangle and text of the graph and of what is around it."""
    for element, x, y in placed(root):
        kind = element.get("class", "").split(" ")[0]
        if element.tag == f"{SVG}rect" and kind != "paper":
            left, top = x + float(element.get("x", 0)), y + float(element.get("y", 0))
            yield kind, left, top, left + float(element.get("width", 0)), top + float(element.get("height", 0))
        elif element.tag == f"{SVG}text" and "textLength" in element.keys():  # noqa: SIM118 - no mapping
            left, base = x + float(element.get("x", 0)), y + float(element.get("y", 0))
            yield kind, left, base - 0.72 * SIZES[kind], left + float(element.get("textLength", 0)), base + 0.22 * SIZES[kind]


@cache
def drawn_once(name: str) -> str:
    return draw_svg(FLOWS[name])


@pytest.mark.parametrize("name", FLOWS)
def test_everything_lies_within_the_view_and_texts_within_what_holds_them(name: str) -> None:
    root = parsed(drawn_once(name))
    _, _, width, height = map(float, root.get("viewBox", "").split(" "))
    assert (str(width).removesuffix(".0"), str(height).removesuffix(".0")) == (root.get("width"), root.get("height"))
    found = list(extents(root))
    outside = [each for each in found if each[1] < 0 or each[2] < 0 or each[3] > width or each[4] > height]
    assert [] == outside
    frames = [each for each in found if each[0] in {"box", "label"}]
    texts = [each for each in found if each[0] in {"name", "row"}]
    loose = [
        text
        for text in texts
        if not any(f[1] <= text[1] + 0.2 and f[2] <= text[2] + 0.2 and text[3] <= f[3] + 0.2 and text[4] <= f[4] + 0.2 for f in frames)
    ]
    assert [] == loose


@pytest.mark.parametrize("name", FLOWS)
def test_texts_do_not_overlap_each_other(name: str) -> None:
    texts = [each[1:] for each in extents(parsed(drawn_once(name))) if each[0] in SIZES]
    for at, (left, top, right, bottom) in enumerate(texts):
        assert [] == [o for o in texts[at + 1 :] if left < o[2] - 0.2 and o[0] < right - 0.2 and top < o[3] - 0.2 and o[1] < bottom - 0.2]


@pytest.mark.parametrize("name", FLOWS)
def test_the_same_flow_gives_the_same_bytes(name: str) -> None:
    assert drawn_once(name) == draw_svg(FLOWS[name])


def test_a_picture_stands_by_itself() -> None:
    drawn = draw_svg(definition("coder-review", REVIEW), UNDER_WAY)
    root = parsed(drawn)
    assert {"svg", "title", "desc", "style", "rect", "g", "circle", "path", "text"} == {each.tag.removeprefix(SVG) for each in root.iter()}
    assert [] == re.findall(r"href|url\(|@import|script|\bon\w+=", drawn)
    assert ["http://www.w3.org/2000/svg"] == re.findall(r"https?://[^\"<]*", drawn)


def test_it_is_told_to_those_who_cannot_see_it() -> None:
    root = parsed(draw_svg(definition("coder-review", REVIEW), UNDER_WAY))
    title, description = root[0], root[1]
    assert ("img", f"{title.get('id')} {description.get('id')}") == (root.get("role"), root.get("aria-labelledby"))
    assert (f"{SVG}title", "coder-review", f"{SVG}desc") == (title.tag, title.text, description.tag)
    assert description.text == (
        "5 states, 7 transitions; begins in implement. The work stands in fix. "
        "implement, entered 1 time: submit to review (taken 1 time). "
        "review, entered 2 times: approve to complete, request-changes to fix (taken 2 times). "
        "fix, entered 2 times: resubmit to review (taken 1 time; last answer: not met), try-again to fix (last answer: could not check). "
        "complete: finish to done, reopen to fix. done is an end. "
        "$cancel leads from every state that is no end to $cancelled."
    )


def test_what_is_told_of_the_largest_flow_has_an_end() -> None:
    ways: Ways = {f"s{'s' * 120}{at}": {f"{'t' * 120}{to}": "end" for to in range(31)} for at in range(9)}
    states = [*ways, "end"]
    ways = {state: {**out, "on": after} for (state, out), after in zip(ways.items(), states[1:], strict=True)}
    description = parsed(draw_svg(definition("long", {**ways, "end": {}})))[1].text
    assert description is not None
    assert len(description) <= CHARACTERS_MAX


def test_texts_of_an_author_are_escaped_and_what_xml_cannot_hold_is_replaced() -> None:
    hostile = {'<script>alert("1")</script>': {"a&b": "\x00\ud800\x1b", "]]>": "\x00\ud800\x1b"}, "\x00\ud800\x1b": {}}
    root = parsed(draw_svg(definition("--><x>&", hostile)).encode("utf-8"))
    assert "--><x>&" == root[0].text
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    assert {"a&b", "]]>"} <= set(texts)
    assert [] == list(root.iter(f"{SVG}script"))


def test_what_was_cut_is_whole_in_a_title() -> None:
    name = "a_name_" * 18
    root = parsed(draw_svg(definition("long", {name: {name[1:]: "end"}, "end": {}})))
    titles = [each.text or "" for each in root.iter(f"{SVG}title")]
    assert {name, name[1:]} <= {title.split("\n")[0] for title in titles}
    shown = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert 2 == sum(text.endswith("…") for text in shown)


def test_each_text_is_fitted_to_the_width_that_was_measured() -> None:
    root = parsed(draw_svg(definition("coder-review", REVIEW)))
    names = {each.text: each.get("textLength") for each in root.iter(f"{SVG}text") if each.get("class") == "name"}
    assert {state: f"{text_width(state, 14, bold=True):.1f}".removesuffix(".0") for state in REVIEW} == names


def classes(drawn: str) -> set[str]:
    return {name for found in re.findall(r'class="([^"]+)"', drawn) for name in found.split(" ")}


def test_only_what_is_there_is_drawn_and_explained() -> None:
    flow = definition("coder-review", REVIEW)
    plain, marked, whole = draw_svg(flow), draw_svg(flow, UNDER_WAY), draw_svg(flow, cancelled=True)
    assert {"current", "visited", "count", "taken", "sign", "not_met", "question"} == classes(marked) - classes(plain)
    assert {"cancel", "cancelled"} == classes(whole) - classes(plain)
    assert ("leads back" in plain, "leads back" in draw_svg(definition("chain", chain(3)))) == (True, False)
    assert ("an end" in plain, "stands here" in plain, "stands here" in marked) == (True, False, True)


def test_an_end_at_once_has_no_way_to_be_cancelled() -> None:
    assert "$cancel" not in draw_svg(definition("only", {"end": {}}))


@pytest.mark.parametrize("theme", Theme)
def test_rules_reach_nothing_outside_of_the_picture(theme: Theme) -> None:
    style = parsed(draw_svg(definition("coder-review", REVIEW), theme=theme)).find(f"{SVG}style")
    assert style is not None
    rules = [line for line in (style.text or "").split("\n") if line.strip(" }")]
    assert [] == [rule for rule in rules if not rule.startswith((f".stateward-{theme} ", "@media (prefers-color-scheme:dark){"))]
    selectors = [each for rule in rules if rule.startswith(".") for each in rule.partition("{")[0].split(",")]
    assert [] == [each for each in selectors if not each.startswith(f".stateward-{theme} ")]
    assert (theme is Theme.AUTO) == ("prefers-color-scheme" in (style.text or ""))


def test_the_picture_of_a_run() -> None:
    assert_snapshot(SNAPSHOTS / "review_under_way.svg", draw_svg(definition("coder-review", REVIEW), UNDER_WAY, theme=Theme.LIGHT))


def test_nothing_marked_is_the_flow_itself() -> None:
    flow = definition("coder-review", REVIEW)
    assert draw_svg(flow) == draw_svg(flow, UNMARKED)
