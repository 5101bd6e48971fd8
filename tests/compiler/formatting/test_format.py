"""The canonical form: idempotent, with every comment, and with the tree as it was."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.formatting import printer
from stateward.compiler.formatting.printer import format_source
from stateward.compiler.source import Source
from tests.compiler.dcdl_checks import check_format
from tests.compiler.dcdl_sources import damaged_sources, sources, written


def formatted(text: str) -> str:
    """Format a text that parses."""
    made = format_source(Source.from_text("main.dcdl", text))
    assert isinstance(made, str), made
    return made


def stays(text: str) -> None:
    """Check that a text is in canonical form."""
    assert text == formatted(text)


def becomes(text: str, expected: str) -> None:
    """Check what a text is formatted to."""
    assert expected == formatted(text)
    stays(expected)


@given(sources())
@settings(deadline=None, max_examples=60)
def test_formatting_keeps_tree_and_comments_and_is_idempotent(text: str) -> None:
    check_format(text)


@given(st.integers(0, 10**9))
@settings(deadline=None, max_examples=200)
def test_formatting_long_sources_keeps_tree_and_comments_and_is_idempotent(seed: int) -> None:
    check_format(written(seed))


@given(damaged_sources())
@settings(deadline=None, max_examples=60)
def test_a_broken_text_is_refused_with_its_errors_and_no_other(text: str) -> None:
    check_format(text)


def test_a_text_with_warnings_only_is_formatted() -> None:
    becomes('a="\\d"', 'a = "\\d";\n')


def test_a_comment_where_no_line_can_begin_leaves_its_part_as_it_was_written() -> None:
    stays("a = 1+ # why\n  2 +3;\nb = 1;\n")
    becomes("a=1+ # why\n  2 +3;b=1", "a = 1+ # why\n  2 +3;\nb = 1;\n")
    stays("a = f(1, # one\n  2).b;\n")
    stays("x = match y # why\n{ 1: 2 };\n")
    stays("a # key\n= 1;\n")
    stays("x = ( # why\n1);\n")
    stays("x = (a # first\n, b) => a;\n")


def test_such_a_part_has_lf_for_its_line_ends_but_in_strings() -> None:
    becomes('x=1+ # why\r\n"a\r\nb"', 'x = 1+ # why\n"a\r\nb";\n')


def test_comments_and_blank_lines_of_arrays_and_rests_are_kept() -> None:
    becomes("[ # open\n1 # one\n, 2\n\n\n# last\n]", "[\n    # open\n    1, # one\n    2,\n\n    # last\n]\n")
    becomes("{a=1; # one\n# own\n...Int # rest\n}", "{\n    a = 1; # one\n    # own\n    ...Int # rest\n}\n")
    becomes("{ # open\n...Int}", "{\n    # open\n    ...Int\n}\n")
    becomes("[...Int # rest\n]", "[\n    ...Int, # rest\n]\n")
    stays("{\n    ... # why\nInt\n}\n")


def test_comments_of_let_stay_at_their_words() -> None:
    stays("let # one\n    # two\n    a = 1; # three\n    # four\nin # five\n    # six\n    a # seven\n# eight\n")


def test_an_array_with_an_object_anywhere_in_it_has_an_item_a_line() -> None:
    becomes("[[{a=1}],{}]", "[\n    [\n        {\n            a = 1;\n        },\n    ],\n    {},\n]\n")
    becomes("[{...Int},[1,2]]", "[\n    {...Int},\n    [1, 2],\n]\n")
    stays('["a\nb", 1]\n')


def test_the_body_of_a_function_begins_a_line_if_it_takes_several_or_is_a_function() -> None:
    becomes("(x)=>[{a=x}]", "(x) =>\n    [\n        {\n            a = x;\n        },\n    ]\n")
    becomes("(x)=>{}", "(x) => {}\n")
    becomes("()=>(y)=>1", "() =>\n    (y) => 1\n")


def test_blank_lines_are_kept_one_at_a_time_and_only_between_lines_of_a_bracket() -> None:
    becomes("\n\n\na=\n\n1;\n\n\n\n# c\n\n\nb=2\n\n\n", "a = 1;\n\n# c\n\nb = 2;\n")


def test_a_byte_order_mark_is_left_out() -> None:
    becomes("\ufeffa=1", "a = 1;\n")


def test_keys_numbers_strings_and_patterns_keep_their_spelling() -> None:
    stays('"a" . b = 007;\n'.replace(" . ", "."))
    stays('a = ["\\q\\n\r\n", /a\\/b/, 1.50, -1, !true];\n')


def test_a_computed_bound_gets_parentheses_and_no_other_part_does() -> None:
    becomes(">=1+2", ">= (1 + 2)\n")
    stays("> (1 + 2)\n")
    stays("> -1\n")
    stays("> f(1 + 2).a\n")


@pytest.mark.parametrize("chain", [" + 1", ".a", "(1)", " // {}"])
def test_long_chains_are_formatted(chain: str) -> None:
    stays("a" + chain * 20_000 + "\n")


@pytest.mark.parametrize(
    "nest", [("(", "1", ")"), ("[", "1", "]"), ("-", "1", ""), ("(x) => ", "1", ""), ("f(", "1", ")"), ("!(1 + ", "1", ")")]
)
def test_deep_texts_are_formatted(nest: tuple[str, str, str]) -> None:
    opener, core, closer = nest
    check_format(opener * 250 + core + closer * 250)


def test_a_text_whose_form_would_be_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printer, "FORMATTED_MAX", 10)
    stays("a = 123;\n")
    made = format_source(Source.from_text("main.dcdl", "a = 12345678;"))
    assert ["the formatted text is longer than 10 characters"] == [each.message for each in made if not isinstance(each, str)]
