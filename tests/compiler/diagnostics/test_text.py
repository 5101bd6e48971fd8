"""How diagnostics look; the snapshots show source and rendering together."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.text import Look, render, render_one
from stateward.compiler.source import Place, Source, Span
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled, visible

SNAPSHOTS = Path(__file__).parent / "snapshots"

PAPER = """\
schema_version = 1;
name = "paper";
initial = "review";
states = {
    review = {
        instructions = "Read it,
line by line,
twice.";
        transitions = { done = { target = "reveiw"; condition = "…"; }; };
    };
};
"""


def _place(source: Source, text: str) -> Place:
    start = source.text.index(text)
    return Place(source, Span(start, start + len(text)))


def _fault(primary: Label, *secondary: Label, notes: tuple[str, ...] = (), help_: str | None = None) -> Diagnostic:
    return Diagnostic("some_code", Severity.ERROR, "something is wrong", primary, secondary, notes, help_)


def test_words_are_ascii_where_nothing_else_can_be_shown() -> None:
    source = Source("paper.dcdl", PAPER)
    fault = _fault(Label(_place(source, '"reveiw"'), "like `a…b`"), notes=("as in `x…`",), help_="add `states = { … };`")
    shown = render_one(fault, Look(boxes=False))
    assert ("like `a...b`" in shown, "note: as in `x...`" in shown, "help: add `states = { ... };`" in shown) == (True, True, True)


def test_the_exemplary_form() -> None:
    source = Source("flows/paper.dcdl", PAPER)
    diagnostic = Diagnostic(
        "transition_target_not_found",
        Severity.ERROR,
        "no state is named `reveiw`",
        Label(_place(source, '"reveiw"'), "not declared in flow `paper`"),
        help="did you mean `review`?",
    )
    assert (
        render_one(diagnostic)
        == """\
error[transition_target_not_found]: no state is named `reveiw`
   ┌─ flows/paper.dcdl:9:43
   │
 9 │         transitions = { done = { target = "reveiw"; condition = "…"; }; };
   │                                           ^^^^^^^^ not declared in flow `paper`
   │
   = help: did you mean `review`?
"""
    )


def _cases() -> dict[str, tuple[list[Source], Diagnostic]]:
    paper = Source("flows/paper.dcdl", PAPER)
    other = Source("flows/parts/ends.dcdl", "# ends\ndone = { terminal = true; };\n")
    odd = Source("odd.dcdl", '\tname = "日本語"; \te\u0301 = "\x1b[31m\u202e"; x = 1;\n')
    long = Source("long.dcdl", f'name = "{"a" * 90}"; initial = "{"b" * 300}"; states = 3; rest = "{"c" * 90}";\n')
    crlf = Source("crlf.dcdl", 'name = "x";\r\ninitial = 3;\r\n')
    return {
        "several_labels_in_one_line": (
            [paper],
            _fault(
                Label(_place(paper, '"reveiw"'), "not declared"),
                Label(_place(paper, "done"), "of this transition"),
                Label(_place(paper, "condition"), "last"),
                Label(_place(paper, '"paper"'), "in this flow"),
                notes=("one fact", "another fact"),
                help_="one change",
            ),
        ),
        "a_span_of_several_lines": (
            [paper],
            _fault(Label(_place(paper, '"Read it,\nline by line,\ntwice."'), "all of this"), Label(_place(paper, '"paper"'), "here")),
        ),
        "spans_that_nest": (
            [paper],
            _fault(
                Label(_place(paper, '"Read it,\nline by line,\ntwice."'), "the text"),
                Label(_place(paper, PAPER[PAPER.index("{\n    review") : -2]), "the states"),
                Label(_place(paper, "line"), "a word"),
            ),
        ),
        "another_file": (
            [paper, other],
            _fault(Label(_place(paper, '"reveiw"'), "used here"), Label(_place(other, "done"), "declared here")),
        ),
        "tabs_wide_and_combining_characters": (
            [odd],
            _fault(
                Label(_place(odd, '"日本語"'), "wide"),
                Label(_place(odd, "e\u0301"), "combining"),
                Label(_place(odd, "\x1b[31m\u202e"), "hidden"),
                Label(_place(odd, "= 1"), "after all"),
            ),
        ),
        "a_long_line": (
            [long],
            _fault(
                Label(_place(long, "states"), "in the middle"),
                Label(_place(long, "name"), "at the beginning"),
                Label(_place(long, f'"{"b" * 300}"'), "long"),
            ),
        ),
        "carriage_returns": ([crlf], _fault(Label(_place(crlf, "3"), "an Int"))),
        "the_end_of_the_text": ([paper], _fault(Label(Place(paper, paper.end), "something is missing"))),
        "an_empty_source": ([Source("empty.dcdl", "")], _fault(Label(Place(Source("empty.dcdl", ""), Span(0, 0)), "nothing here"))),
    }


@pytest.mark.parametrize("name", _cases())
def test_renderings(name: str) -> None:
    sources, diagnostic = _cases()[name]
    sections = [*((source.name, visible(source.text)) for source in sources), ("rendering", render_one(diagnostic, Look(width=80)))]
    assert_snapshot(SNAPSHOTS / f"{name}.txt", titled(sections))


def test_ascii_frames_hold_ascii_only() -> None:
    source = Source("a.dcdl", PAPER.replace("…", "x"))
    text = render([_fault(Label(_place(source, '"Read it,\nline by line,\ntwice."'), "all of this"))], Look(boxes=False))
    assert text.isascii()
    assert "--> a.dcdl:6:24" in text


def test_colours_change_nothing_but_colours() -> None:
    for _, diagnostic in _cases().values():
        coloured = render_one(diagnostic, Look(width=80, colour=True))
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_one(diagnostic, Look(width=80))
        assert "\x1b[1;31m" in coloured


def test_without_colour_no_escape_reaches_the_terminal() -> None:
    source = Source("\x1b]0;evil\x07.dcdl", 'x = "\x1b[2J";\n')
    place = Place(source, Span(0, 1))
    text = render([Diagnostic("c", Severity.WARNING, "no `\x1b[31m`", Label(place, "\x1b"), notes=("\x9b",), help="\u202e")])
    assert [char for char in text if char != "\n" and not char.isprintable()] == []


@given(st.text(alphabet=" a\tb日\u0301\n\r\x1b;{}", max_size=60), st.data())
def test_any_labels_are_drawn_without_an_escape_or_a_lost_text(text: str, data: st.DataObject) -> None:
    source = Source("s", text)
    bounds = st.integers(0, len(text))
    spans = [sorted((data.draw(bounds), data.draw(bounds))) for _ in range(data.draw(st.integers(1, 4)))]
    labels = [Label(Place(source, Span(start, end)), f"label{number}") for number, (start, end) in enumerate(spans)]
    out = render_one(_fault(labels[0], *labels[1:]), Look(width=data.draw(st.integers(20, 60))))
    assert [label.text for label in labels if label.text not in out] == []
    assert [char for char in out if char != "\n" and not char.isprintable()] == []
    assert all(line == line.rstrip() for line in out.splitlines())
