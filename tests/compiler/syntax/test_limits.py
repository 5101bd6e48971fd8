"""Depth and size are bounded exactly, and no text makes the parser raise, recurse or run away."""

import gc
import sys

import pytest

from stateward.compiler.limits import Limits
from stateward.compiler.syntax.tree import Bad
from tests.compiler.dcdl_trees import nodes
from tests.compiler.syntax.asked import errors, parsed

LIMIT = 500
TEN = Limits(nesting=10)

NESTED = {
    "parentheses": ("(", "1", ")"),
    "arrays": ("[", "1", "]"),
    "objects": ("{ a = ", "1", " }"),
    "calls": ("f(", "1", ")"),
    "signs": ("-", "1", ""),
    "negations": ("!", "a", ""),
    "bounds": ("> ", "1", ""),
    "let bodies": ("let in ", "1", ""),
    "let bindings": ("let a = ", "1", "; in a"),
    "functions": ("(x) => ", "1", ""),
    "parameters": ("(x: ", "1", ") => 2"),
    "match subjects": ("match ", "1", " {}"),
    "match arms": ("match 1 { 1: ", "1", " }"),
    "rests": ("[...", "1", "]"),
    "signs and brackets": ("-[", "1", "]"),
}


def nest(name: str, depth: int) -> str:
    """Write a text with so many levels."""
    opener, core, closer = NESTED[name]
    levels = 2 if name == "signs and brackets" else 1
    return opener * (depth // levels) + core + closer * (depth // levels)


@pytest.mark.parametrize("name", NESTED)
def test_the_limit_of_depth_accepts_its_value_and_refuses_one_more(name: str) -> None:
    assert [] == errors(nest(name, 10), TEN)
    more = 12 if name == "signs and brackets" else 11
    assert [("nested too deep (limit 10)", "limit")] == [(each.message, each.kind) for each in errors(nest(name, more), TEN)]


@pytest.mark.parametrize("name", NESTED)
def test_the_documented_depth_parses_and_one_more_does_not(name: str) -> None:
    assert [] == errors(nest(name, LIMIT))
    (found,) = errors(nest(name, LIMIT + 2))
    assert ("nested too deep (limit 500)", "limit", "dcdl_syntax") == (found.message, found.kind, found.code)


@pytest.mark.parametrize(
    ("text", "at"), [("[" * 20, 10), ("-" * 20 + "1", 10), ("[" * 5 + "-" * 20 + "1" + "]" * 5, 10), ("a = " + "(" * 20, 14)]
)
def test_the_place_where_the_limit_was_passed_is_named(text: str, at: int) -> None:
    (found,) = errors(text, TEN)
    assert at == found.primary.place.span.start


def test_levels_of_operators_are_no_depth() -> None:
    level = "1 as 1 default 1 // 1 & 1 || 1 && 1 == 1 ++ 1 + 1 * ("
    assert [] == errors(level * LIMIT + "1" + ")" * LIMIT)
    assert ["limit"] == [each.kind for each in errors(level * (LIMIT + 1) + "1" + ")" * (LIMIT + 1))]


@pytest.mark.parametrize("chain", [" + 1", ".a", "(1)", " as a", " // {}", " & > 1", " default 1"])
def test_chains_that_lean_to_the_left_are_no_depth(chain: str) -> None:
    parse = parsed("a" + chain * 20_000)
    assert () == parse.diagnostics
    assert 20_000 < sum(1 for _ in nodes(parse.module))


DEEP = 100_000


@pytest.mark.parametrize(
    "text",
    [
        *(opener * DEEP for opener in ("{", "- ", "!", "let in ", "let a = ", "(x) => ", "match ", "< ", "-[", "(let ", "f(")),
        "(" * DEEP + "1" + ")" * DEEP,
        "[" * DEEP + "]" * DEEP,
        "{a=" * DEEP + "1" + "}" * DEEP,
    ],
    ids=lambda text: text[:8],
)
def test_a_hundred_thousand_levels_are_one_error(text: str) -> None:
    assert ["limit"] == [each.kind for each in errors(text)]


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "}",
            ")]}",
            ";",
            ",",
            "=",
            "= ",
            "..",
            '"',
            "'",
            "'a ",
            "/",
            "/\n",
            "\x00",
            "\u00a0a ",
            "é ",
            "`",
            "\\",
            "%",
            "\ud800",
            "((]",
            "a.",
        ),
        *("a ", "a\n", "a b = ", "1 2 ", "a = ; ", "a: 1, ", "a = 1 // x y\n", "/* */", "// x\n", "<<<<<<< a\n=======\n", "...", "=> "),
        *("a = (1]; ", "a = b = 1; };\n", "a-b = 1; ", '"\\d" ', "match x { 1 ", "let a = 1 ", "{ ...a; ", "[1 2] ", "f(1, ) "),
        *("a = x => ", "(((", "if a { ", "0x1 "),
    ],
)
def test_any_piece_over_and_over_is_read_to_the_end(piece: str) -> None:
    found = parsed(piece * (60_000 // len(piece)))
    assert 1 <= len(found.diagnostics) <= 100


def test_a_module_may_have_so_many_bytes_and_not_one_more() -> None:
    limits = Limits(module_bytes=40)
    fits = '"' + "é" * 19 + '"'
    assert [] == errors(fits, limits)
    (found,) = errors(fits + " ", limits)
    assert ("the module is larger than 40 bytes", "limit") == (found.message, found.kind)


def test_the_byte_order_mark_counts_in_bytes() -> None:
    assert ["limit"] == [each.kind for each in errors("\ufeff" + "1" * 38, Limits(module_bytes=40))]


def test_a_text_that_is_refused_has_a_bad_tree() -> None:
    assert isinstance(parsed("(" * 600).module.body, Bad)


def test_parsing_leaves_the_limits_of_the_interpreter_and_its_collector_alone() -> None:
    before = sys.getrecursionlimit(), gc.isenabled()
    parsed("(" * 400 + "1" + ")" * 400)
    assert before == (sys.getrecursionlimit(), gc.isenabled())
