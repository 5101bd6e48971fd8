"""The static pass: what evaluation would pass over, since it is lazy."""

from collections.abc import Collection

import pytest

from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.language.inspect import INVISIBLE_TOLD_MAX, inspect
from stateward.compiler.predicates.guards import ROOTS
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse
from tests.compiler.language.evaluated import MAIN, evaluated, story


def findings(text: str, roots: Collection[str] = ()) -> list[tuple[str, str]]:
    """Give each finding as its code and the text it points at."""
    return [(each.code, story(each)[0][0]) for each in inspected(text, roots)]


def inspected(text: str, roots: Collection[str] = ()):  # type: ignore[no-untyped-def]  # as `inspect` gives
    source = Source.from_text(MAIN, text)
    parsed = parse(source)
    assert not parsed.diagnostics
    found = inspect(source, parsed.module, roots)
    assert all(each.severity is Severity.WARNING for each in found)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "let a = 1; in a",
        "let a = b; b = 1; in a",
        "let even = (n) => odd(n); odd = (n) => even(n); in even",
        "a = 1; b = a;",
        "let f = (x) => 1; in f",
        "let x = 1; in { x = x; }",
        "match 1 { _: 2; }",
        "let o = { a = 1; }; in o.b",
        "import a",
        "Email & String",
        "{ a.b = 1; a.c = 2; }",
        "{ a = { b = 1; }; a.c = 2; }",
        '{ a = "é日本 👩\u200d💻"; }',
    ],
)
def test_what_is_sound_gets_no_warning(text: str) -> None:
    assert [] == inspected(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let a = 1; in 2", [("unused_binding", "a")]),
        ("let a = a; in 2", [("unused_binding", "a")]),
        ("let a = b; b = a; c = 1; in c", [("unused_binding", "a"), ("unused_binding", "b")]),
        ("let f = (x) => let y = x; in x; in f", [("unused_binding", "y")]),
        ("let a = 1; in let a = 2; in a", [("unused_binding", "a"), ("shadowed_name", "a")]),
        ("a = 1; b = (a) => a;", [("shadowed_name", "a")]),
        ("(x) => (x) => x", [("shadowed_name", "x")]),
        ("let f = (x) => nope; in f", [("unresolved_in_unused_code", "nope")]),
        ("true || nope", [("unresolved_in_unused_code", "nope")]),
        ("let f = (x: x) => x; in f", [("unresolved_in_unused_code", "x")]),
        ("{ a = 1; b = () => a; }", [("unresolved_in_unused_code", "a")]),
        ("() => { a = 1; a = 2; }", [("duplicate_in_unused_code", "a")]),
        ("() => { a.b = 1; a.b = 2; }", [("duplicate_in_unused_code", "b")]),
        ("() => { a = { b = 1; }; a.b = 2; }", [("duplicate_in_unused_code", "b")]),
        ("() => let a = 1; a = 2; in a", [("duplicate_in_unused_code", "a")]),
        ("(x, x) => x", [("duplicate_in_unused_code", "x")]),
        ('{ a = "x\u202ey"; }', [("invisible_character", "\u202e")]),
        ("1 # x\u200by", [("invisible_character", "\u200b")]),
        ('"a\u200db"', [("invisible_character", "\u200d")]),
    ],
)
def test_a_likely_slip_is_told(text: str, expected: list[tuple[str, str]]) -> None:
    assert expected == findings(text)


def test_what_hides_a_name_shows_the_hidden_one() -> None:
    found = inspected("(name) => (name) => name")
    assert [("name", "hides the outer one"), ("name", "the outer one")] == story(found[0])
    assert 1 == found[0].secondary[0].place.span.start


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let vars = 1; in vars", [("shadowed_name", "vars")]),
        ("(input) => input", [("shadowed_name", "input")]),
        ("visits = 1; b = visits;", [("shadowed_name", "visits")]),
        ("{ known = 1; }", []),
        (
            "let spent = 1; in let spent = 2; in spent",
            [("shadowed_name", "spent"), ("unused_binding", "spent"), ("shadowed_name", "spent")],
        ),
        ("() => vars.x && input.y", []),
        ("() => vras.x", [("unresolved_in_unused_code", "vras")]),
    ],
)
def test_what_hides_a_root_is_told_where_there_are_roots(text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(expected) == sorted(findings(text, ROOTS))


def test_what_hides_a_root_says_what_is_hidden() -> None:
    (found,) = inspected("let vars = 1; in vars", ROOTS)
    assert ("`vars` hides what guards read of a run", [("vars", "hides the root")]) == (found.message, story(found))
    assert [] == inspected("let vars = 1; in vars")


def test_a_character_that_turns_the_reading_is_named() -> None:
    assert "the text holds U+202E RIGHT-TO-LEFT OVERRIDE, which turns the reading direction" == inspected('"\u202e"')[0].message
    assert "the text holds U+200B ZERO WIDTH SPACE, which shows nothing" == inspected('"\u200b"')[0].message


def test_a_flood_of_invisible_characters_is_cut() -> None:
    assert INVISIBLE_TOLD_MAX == len(inspected('"' + "\u200b." * (INVISIBLE_TOLD_MAX + 50) + '"'))


@pytest.mark.parametrize(
    "text",
    [
        "{ a = nope; }",
        "{ a = 1; a = 2; }",
        "{ a.b = 1; a.b = 2; }",
        "a = { b = 1; }; a.b = 2;",
        "let a = 1; a = 2; in a",
        "((x, x) => x)(1, 2)",
    ],
)
def test_a_warning_about_code_that_is_used_stands_where_the_error_does(text: str) -> None:
    errors = {each.primary.place.span for each in evaluated(text).diagnostics}
    warnings = {each.primary.place.span for each in inspected(text) if each.code.endswith("_in_unused_code")}
    assert errors == warnings


@pytest.mark.parametrize(
    "text",
    ["1" + " + 1" * 20_000, "f" + "(1)" * 20_000, "let a = 1; in " * 200 + "a", "(a) => " * 200 + "a", "[" * 200 + "]" * 200],
    ids=["sum", "calls", "lets", "functions", "arrays"],
)
def test_depth_costs_no_recursion(text: str) -> None:
    assert {each.code for each in inspected(text)} <= {"unused_binding", "shadowed_name", "unresolved_in_unused_code"}
