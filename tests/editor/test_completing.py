"""What is offered at the cursor, in texts that are half written: each row is a text and what is offered there."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.completing import complete
from tests.conformance.cases import read_cases
from tests.editor.texts import cursor

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    *(path.read_text("utf-8") for folder in ("flows", "profiles") for path in sorted(ROOT.glob(f"resources/{folder}/*.dcdl"))),
    *(each.source for path in sorted(ROOT.glob("tests/conformance/*/*.jsonl")) for each in read_cases(path) if "source" in each.fields),
]

FLOW = """schema_version = 1;
name = "paper";
initial = "draft";
states = {
    draft = {
        instructions = "Write the paper.
x = 1; y =
And read it.";
        transitions = { send = { target = "done"; condition = "It is written."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""
BEGINNING = ["let", "match", "import"]
JOINING = ["default", "as"]


def in_flow(before: str, after: str) -> str:
    assert FLOW.count(before) == 1, before
    return FLOW.replace(before, after)


def shown(text: str) -> list[str]:
    """Show what is offered, each with what it replaces where that is something."""
    analysis, offset = cursor(text)
    found = [(each.label, analysis.source.slice(each.span)) for each in complete(analysis, offset)]
    return [f"{label} for {written}" if written else label for label, written in found]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        (in_flow('"draft"', "‸"), ["draft", "done", *BEGINNING]),
        (in_flow('"draft";', "‸"), ["draft", "done", *BEGINNING]),
        (in_flow('"draft";', '"‸'), ['draft for "', 'done for "']),
        (in_flow('"draft";', '"d‸'), ['draft for "d', 'done for "d']),
        (in_flow('"draft"', '"some ‸id"'), ['draft for "some id"', 'done for "some id"']),
        (in_flow('"done"; c', '"d‸; c'), ['draft for "d', 'done for "d']),
        (in_flow('"done"; c', "‸ c"), ["draft", "done", *BEGINNING]),
        (in_flow("terminal = true", "terminal = ‸"), ["true", "false", *BEGINNING]),
        (in_flow('instructions = ""', "instructions = ‸"), ['"…"', *BEGINNING]),
        (in_flow("    done =", "    ‸\n    done ="), ["state"]),
        (in_flow("send =", "‸ send ="), ["transition"]),
        ("states = { draft = ‸", ["state", *BEGINNING]),
        ("states = { draft = { transitions = { send = ‸", ["transition", *BEGINNING]),
        ('name = "paper"\n‸', ["schema_version", "initial", "states"]),
        ("schema_version = 1 ‸", JOINING),
        ("states = all // { draft = { ‸", ["instructions", "terminal", "transitions"]),
        ('let a = ["x"]; in { states = f(a); ‸', ["schema_version", "name", "initial"]),
        ("let a = { ‸", []),
        ("let ‸", []),
        ("let a = 1; ‸", ["in"]),
        ("let a = 1; i‸", ["in for i"]),
        ("let a = 1; in ‸", ["a", *BEGINNING]),
        ("let a = 1; f = (b) => ‸", ["b", "a", "f", *BEGINNING]),
        ("match ‸", BEGINNING),
        ("match 1 { ‸", []),
        ('initial = match 1 { _: "‸', []),
        ("states = [{ ‸", []),
    ],
)  # fmt: skip
def test_what_fits_the_place_is_offered_in_a_text_that_is_half_written(text: str, offered: list[str]) -> None:
    assert offered == shown(text)


@pytest.mark.parametrize(
    "text",
    [
        in_flow("x = 1; y =", "x = 1; ‸ y ="),
        in_flow("x = 1; y =", "x = ‸"),
        in_flow("It is written.", "It is ‸"),
        in_flow("It is written.", 'She said \\"it ‸ is\\".'),
        in_flow('name = "paper";', 'name = "paper"; # the n‸ame'),
        in_flow("schema_version = 1", "schema_version = 1‸"),
        in_flow('name = "paper"', 'name = "paper"‸'),
        "x = /ab‸c/;",
        "x = y.‸",
        'import "./‸',
        "x = $a‸",
    ],
)
def test_nothing_is_offered_in_texts_comments_numbers_and_patterns(text: str) -> None:
    assert [] == shown(text)


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ("na‸me = 1;", "name", "name = 1;"),
        ("states = { a = { term‸; }; };", "terminal", "states = { a = { terminal = true; }; };"),
        ("states = { a = { term‸ }; };", "terminal", "states = { a = { terminal = true; }; };"),
        ('initial = "b‸ad";\nstates = { ok = {}; };', "ok", 'initial = "ok";\nstates = { ok = {}; };'),
        ("initial = o‸\nstates = { ok = {}; };", "ok", 'initial = "ok"\nstates = { ok = {}; };'),
        (
            "states = { a = { transitions = { ‸ }; }; };",
            "transition",
            'states = { a = { transitions = { done = { target = ""; condition = ""; }; }; }; };',
        ),
        ("states = { a = { transitions = { b = ‸; }; }; };", "transition",
         'states = { a = { transitions = { b = { target = ""; condition = ""; }; }; }; };'),
    ],
)  # fmt: skip
def test_what_is_taken_fits_into_what_is_written(text: str, label: str, expected: str) -> None:
    analysis, offset = cursor(text)
    (item,) = [each for each in complete(analysis, offset) if each.label == label]
    assert expected == analysis.source.text[: item.span.start] + item.text + analysis.source.text[item.span.end :]


@given(st.sampled_from(SOURCES), st.data())
def test_completing_fails_nowhere_and_changes_only_what_is_written_at_the_cursor(source: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(source)))
    text = source[:offset] + source[data.draw(st.integers(offset, len(source))) :]
    analysis = Analysis("paper.dcdl", text, "paper")
    offset = min(offset, len(analysis.source.text))
    for each in complete(analysis, offset):
        written = analysis.source.slice(each.span)
        assert each.span.start <= offset <= each.span.end
        assert not {"\n", "\r"} & set(written)
