"""The classes of text: the language's own, and those of Pygments."""

import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.syntax.highlighting import CLASSES, TokenClass, classes
from stateward.compiler.syntax.pygments_lexer import TOKEN_TYPES, DcdlLexer
from tests.compiler.dcdl_sources import damaged_sources, token_soups

TEXTS = st.one_of(st.text(), token_soups(), damaged_sources())
ROOT = Path(__file__).resolve().parents[2]


def told(text: str) -> str:
    """Write the classes beside what they are of."""
    return " ".join(f"{text[start:end]}‹{of}›" for start, end, of in classes(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1;", "a‹field› =‹operator› 1‹number› ;‹punctuation›"),
        ('s."b-c".d = e.f', 's‹field› .‹punctuation› "b-c"‹string› .‹punctuation› d‹field› =‹operator› e‹name› .‹punctuation› f‹field›'),
        ("x == y", "x‹name› ==‹operator› y‹name›"),
        ("Int & > 1", "Int‹type› &‹operator› >‹operator› 1‹number›"),
        ("Int = a.Int", "Int‹field› =‹operator› a‹name› .‹punctuation› Int‹field›"),
        ("a / b / c", "a‹name› /‹operator› b‹name› /‹operator› c‹name›"),
        (r"[/a\/b/]", r"[‹punctuation› /a‹pattern› \/‹escape› b/‹pattern› ]‹punctuation›"),
        (r'"a\n\d"', r'"a‹string› \n‹escape› \d‹invalid› "‹string›'),
        ("true # yes", "true‹boolean› # yes‹comment›"),
        ("match _ default", "match‹keyword› _‹keyword› default‹keyword›"),
        ("'a'", "'a'‹invalid›"),
        ("a | b", "a‹name› |‹invalid› b‹name›"),
        ("// a", "//‹invalid› a‹invalid›"),
        ('a = "b', 'a‹field› =‹operator› "b‹invalid›'),
        ("a\u00a0= 1", "a‹field› \u00a0‹invalid› =‹operator› 1‹number›"),
        ('"a\x00b"', '"a‹string› \x00‹invalid› b"‹string›'),
    ],
)
def test_a_text_has_the_classes_that_its_tokens_have(text: str, expected: str) -> None:
    assert expected == told(text)


def test_every_class_is_of_some_text() -> None:
    assert set(TokenClass) - {TokenClass.FIELD, TokenClass.TYPE, TokenClass.ESCAPE, TokenClass.COMMENT} == set(CLASSES.values())


@given(TEXTS)
@settings(deadline=None)
def test_parts_of_any_text_come_in_order_and_leave_out_nothing_but_white_space(text: str) -> None:
    parts = classes(text)
    edges = [0, *(edge for start, end, _ in parts for edge in (start, end)), len(text)]
    assert sorted(edges) == edges
    assert [] == [part for part in parts if part[0] >= part[1]]
    assert "" == "".join(text[start:end] for start, end in list(pairwise(edges))[::2]).strip(" \t\r\n")


def test_a_text_that_is_too_deep_to_be_parsed_has_its_classes() -> None:
    assert {TokenClass.PUNCTUATION} == {of for *_, of in classes("[" * 10_000)}


@given(TEXTS)
@settings(deadline=None)
def test_pygments_covers_any_text(text: str) -> None:
    pieces = list(DcdlLexer().get_tokens_unprocessed(text))
    assert text == "".join(value for *_, value in pieces)
    assert [] == [at for at, _, value in pieces if not value or text[at : at + len(value)] != value]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_pygments_gives_the_classes_of_the_language(mark: str) -> None:
    text = 'a.b = "\\n" ++ /x/; # y'
    given_ = {at: kind for at, kind, value in DcdlLexer().get_tokens_unprocessed(mark + text) if value.strip("\ufeff ")}
    assert {start + len(mark): TOKEN_TYPES[of] for start, _, of in classes(text)} == given_


def test_no_two_classes_have_one_type_of_pygments() -> None:
    assert set(TokenClass) == set(TOKEN_TYPES)
    assert len(TOKEN_TYPES) == len(set(TOKEN_TYPES.values()))


def test_pygments_finds_the_lexer_by_the_entry_point() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    assert {"dcdl": f"{DcdlLexer.__module__}:{DcdlLexer.__name__}"} == points["pygments.lexers"]
