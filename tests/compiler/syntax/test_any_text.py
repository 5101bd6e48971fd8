"""Properties of any text: it parses without an exception, spans lie inside of it and nest, and what is broken is said to be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.dcdl_checks import check_format, check_parse
from tests.compiler.dcdl_sources import damaged, damaged_sources, sources, token_soups, written
from tests.compiler.syntax.asked import errors


@given(st.text())
@settings(deadline=None)
def test_any_text_parses(text: str) -> None:
    check_parse(text)


@given(token_soups())
@settings(deadline=None, max_examples=300)
def test_tokens_in_any_order_parse(text: str) -> None:
    check_parse(text)


@given(damaged_sources())
@settings(deadline=None, max_examples=60)
def test_damaged_sources_parse(text: str) -> None:
    check_parse(text)


@given(st.integers(0, 10**9))
@settings(deadline=None, max_examples=300)
def test_long_damaged_sources_parse(seed: int) -> None:
    check_parse(damaged(seed))


@given(st.binary())
@settings(deadline=None)
def test_bytes_read_in_any_encoding_parse(data: bytes) -> None:
    check_parse(data.decode("latin-1"))
    check_parse(data.decode("utf-8", "surrogateescape"))


@given(sources())
@settings(deadline=None, max_examples=60)
def test_what_the_grammar_writes_has_no_errors(text: str) -> None:
    assert [] == errors(text)
    check_parse(text)


@given(st.integers(0, 10**9))
@settings(deadline=None, max_examples=200)
def test_long_sources_have_no_errors(seed: int) -> None:
    assert [] == errors(written(seed))


@pytest.mark.parametrize(
    "text",
    [
        "0Aª",
        ";",
        ' [a . "b" . c = "x;',
        'a = [let x = 1; y = 2; in z =\n"b";in "c\n" , x ,] . ""',
        "a = [ ... [1 / { b = 1 } ( (c, b : /x/ as 0.“x”) => () => as ) => true, 2], ]",
        "{ ... - a as true b }",
        "{ a = 1; ... b; c }",
        "match { { = 1",
        "let let in",
        "(a: (",
        "[=>",
        "<<<<<<< a\n=======\n>>>>>>> b\n(",
        "a = b = c; } ]",
        "a.b.c.d-",
        '"""',
        'a = """""";',
        "//{",
        "{ a = //{\n",
    ],
)
def test_what_was_found_by_fuzzing_stays_right(text: str) -> None:
    check_parse(text)
    check_format(text)
