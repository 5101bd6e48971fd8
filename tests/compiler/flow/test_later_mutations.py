"""Flows of version 2 that were edited at random: whatever comes of it is answered, and what still compiles can be read by everybody."""

import pytest
from hypothesis import given, settings

from stateward.compiler.diagnostics.model import Severity, sort_key
from stateward.compiler.diagnostics.text import Look, render
from stateward.compiler.flow.canonical import canonical_bytes
from stateward.compiler.pipeline import compile_source
from stateward.runtime.session.pinned import read_pinned
from tests.compiler.flow.sources import GOOD_2
from tests.compiler.flow.test_mutations import assert_told_well, mutated

COMPUTED = """\
let
    small = Int & >= 0 & <= 9;
    tried = (most) => vars.attempts < most && !known.verdict;
    way = (to, guard) => { target = to; when = guard; };
    base = { instructions = "x"; writes = ["attempts", "verdict"]; };
in {
    schema_version = 2;
    name = "computed";
    initial = "a";
    variables = { attempts = small default 0; verdict = /^(good|bad)$/; plan = { title = String; ...Unknown }; };
    inputs = { attempts = small & <= 3 default 1; strict = Bool default true; };
    checks = { tests = { command = ["pytest", "-q"]; timeout = "2h"; }; };
    states = {
        a = base // {
            limits.visits = 3;
            select = "first";
            transitions = {
                go = way("b", match vars.verdict { "good": true; "bad": vars.attempts * 2 + 1 >= input.attempts; });
                again = way("a", tried(3) || spent.exceeded) // { checks = ["tests"]; };
                rest = { target = "b"; otherwise = true; };
            };
        };
        b = { terminal = 1 == 1; instructions = ""; };
    };
}
"""
SOURCES = (GOOD_2, COMPUTED)
PIECES = (
    *'{}[]()=;,.:"/!<',
    "&&",
    "||",
    "//",
    "vars",
    "vars.attempts",
    "input.topic",
    "visits.draft",
    "known.topic",
    "spent.exceeded",
    "when = ",
    "let vars = 1; in ",
    "match vars.attempts { 1: true; _: false; }",
    "as Int",
    "default 3",
    "variables",
    "otherwise = true;",
    'reads = ["topic"];',
    '"10 minutes"',
    "limits",
    "true",
    "String",
    "[...Int]",
    "1",
    "0.5",
    "\n",
    "é",
)


@given(mutated(SOURCES, PIECES))
@settings(max_examples=300)
def test_a_flow_that_was_edited_at_random_is_answered(text: str) -> None:
    done = compile_source(text.encode(), name="f", slug="paper")
    assert (done.data is None) == any(each.severity is Severity.ERROR for each in done.diagnostics)
    assert list(done.diagnostics) == sorted(done.diagnostics, key=sort_key)
    for each in done.diagnostics:
        assert_told_well(each)
    render(done.diagnostics, Look(width=100))
    if done.canonical is not None and done.definition is not None:
        assert done.canonical == canonical_bytes(done.definition)
        assert done.definition.schema_version == read_pinned(done.canonical).schema_version


@given(mutated(SOURCES, PIECES))
@settings(max_examples=150)
def test_nothing_is_told_twice(text: str) -> None:
    found = compile_source(text.encode()).diagnostics
    told = [(each.code, each.message, each.primary.place.span, each.path) for each in found]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("source", SOURCES, ids=range(len(SOURCES)))
def test_the_sources_that_are_edited_are_good_ones(source: str) -> None:
    assert compile_source(source.encode()).definition is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "computed"', "name = vars.verdict"),
        ('initial = "a"', "initial = input.strict"),
        ("attempts = small default 0", "attempts = vars"),
        ("attempts = small default 0", "attempts = Int default vars.attempts"),
        ("limits.visits = 3", "limits.visits = vars.attempts"),
        ("limits.visits = 3", "limits = vars"),
        ('select = "first"', "select = vars.verdict"),
        ('["attempts", "verdict"]', "[vars.verdict]"),
        ('["attempts", "verdict"]', "vars.verdict"),
        ('["pytest", "-q"]', "[input.strict]"),
        ('"2h"', "vars.verdict"),
        ('checks = ["tests"]', "checks = known.verdict"),
        ("otherwise = true", "otherwise = known.verdict"),
        ('way("b", match', "vars.plan; other = way(\"b\", match"),
        ("a = base // {", "a = vars // {"),
        ("states = {\n", "states = vars // {\n"),
        ('{ title = String; ...Unknown }', "vars.plan"),
        ('"bad": vars', '"bad": input.strict && "x"; "worse": vars'),
        ("tried(3) || spent.exceeded", "tried"),
        ("tried(3) || spent.exceeded", "small"),
        ("tried(3) || spent.exceeded", "visits"),
        ("tried(3) || spent.exceeded", "vars.plan"),
        ("tried(3) || spent.exceeded", "vars.plan.title.more == 1"),
        ("tried(3) || spent.exceeded", "(vars.attempts as String) == \"x\""),
    ],
)  # fmt: skip
def test_a_symbol_where_it_cannot_be_is_an_error_and_the_only_one(old: str, new: str) -> None:
    assert COMPUTED.count(old) == 1
    found = compile_source(COMPUTED.replace(old, new).encode()).diagnostics
    assert [each.severity for each in found if each.severity is Severity.ERROR] == [Severity.ERROR], [
        (each.message, each.primary.place.source.slice(each.primary.place.span)) for each in found
    ]
