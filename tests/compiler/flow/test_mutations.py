"""Flows that were edited at random: whatever comes of it is answered, in order, with places that exist, and can be shown."""

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.diagnostics.json import diagnostic_json
from stateward.compiler.diagnostics.model import Diagnostic, Severity, sort_key
from stateward.compiler.diagnostics.text import Look, render
from stateward.compiler.pipeline import compile_source
from stateward.resources.catalog import builtins
from tests.compiler.flow.sources import GOOD

COMPUTED = """\
let way = (to) => { target = to; condition = "c \\d"; };
    base = { instructions = "x"; };
in {
    schema_version = Int default 1;
    name = "computed";
    initial = "a";
    states = {
        a = base // { transitions = { go = way("b"); again = way("a"); }; };
        b = { terminal = 1 == 1; instructions = ""; };
    } as { ...{ instructions = String; ...Unknown } };
}
"""
SOURCES = (GOOD, COMPUTED, *(each.content.decode() for each in builtins() if len(each.content) < 2_000))
PIECES = (
    *'{}[]()=;,.:"/\\#',
    "//",
    "&",
    "=>",
    "...",
    "let",
    "in",
    'import "x"',
    "match",
    "as",
    "default",
    "true",
    "String",
    '"$cancelled"',
    "review",
    "states",
    "transitions",
    "target",
    "terminal",
    "instructions",
    "\n",
    "é",
    "日本",
    "\u202e",
    "\x00",
    "1.5",
    "99999999999999999999",
    "<<<<<<< HEAD\n",
)
STYLE = re.compile(r"\b(?:illegal|please|you|your|I)\b")


@st.composite
def mutated(draw: st.DrawFn, sources: Sequence[str], pieces: Sequence[str]) -> str:
    """Edit one of some sources at random; what is put in is one of some pieces."""
    text = draw(st.sampled_from(sources))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(at + draw(st.integers(0, 40)), len(text))
        piece, other = draw(st.sampled_from(pieces)), draw(st.integers(0, len(text)))
        text = draw(
            st.sampled_from(
                [
                    text[:at] + text[end:],
                    text[:at] + piece + text[at:],
                    text[:at] + piece + text[end:],
                    text[:end] + text[at:],
                    text[:other] + text[at:end] + text[other:],
                    text[:at],
                ]
            )
        )
    return text


@given(mutated(SOURCES, PIECES), st.integers(20, 200), st.booleans())
@settings(max_examples=300)
def test_a_flow_that_was_edited_at_random_is_answered(text: str, width: int, boxes: bool) -> None:
    done = compile_source(text.encode(), name="f", slug="paper")
    assert (done.definition is None) == any(each.severity is Severity.ERROR for each in done.diagnostics)
    assert list(done.diagnostics) == sorted(done.diagnostics, key=sort_key)
    for each in done.diagnostics:
        assert_told_well(each)
        json.dumps(diagnostic_json(each))
    shown = render(done.diagnostics, Look(width=width, boxes=boxes))
    assert {"\x00", "\u202e"} & set(shown) == set()


def assert_told_well(diagnostic: Diagnostic) -> None:
    assert diagnostic.code in CODES
    assert not diagnostic.message.endswith(".")
    assert STYLE.search(re.sub(r"`[^`]*`", "", diagnostic.message)) is None
    for label in (diagnostic.primary, *diagnostic.secondary):
        assert 0 <= label.place.span.start <= label.place.span.end <= len(label.place.source.text)
    for fix in diagnostic.fixes:
        assert all(edit.span.end <= len(diagnostic.primary.place.source.text) for edit in fix.edits)


@given(mutated(SOURCES, PIECES))
@settings(max_examples=150)
def test_nothing_is_told_twice(text: str) -> None:
    found = compile_source(text.encode()).diagnostics
    told = [(each.code, each.message, each.primary.place.span, each.path) for each in found]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("source", SOURCES, ids=range(len(SOURCES)))
def test_the_sources_that_are_edited_are_good_ones(source: str) -> None:
    assert compile_source(source.encode()).definition is not None
