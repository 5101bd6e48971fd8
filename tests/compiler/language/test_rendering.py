"""Values as text of the language: canonical, and the same value again when evaluated."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.language.render import may_be_printed, scalar_text, show
from stateward.compiler.predicates.constraints import INT_MAX, INT_MIN
from tests.compiler.language.evaluated import evaluated, evaluation_of

leaves = st.one_of(
    st.booleans(),
    st.integers(INT_MIN, INT_MAX),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=("Cc", "Cs")) | st.sampled_from('\n\r\t"\\{}#'), max_size=12),
)
keys = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=6) | st.sampled_from(["a", "in", "String", "a-b", "", "true"])
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12)


def shown(text: str) -> str:
    evaluation = evaluation_of(text)
    printed = show(evaluation)
    assert not evaluation.diagnostics, evaluation.diagnostics
    return printed


def typed(value: object) -> object:
    """Keep apart what Python holds for equal: 1, 1.0 and true, and the two zeros."""
    match value:
        case list():
            return [typed(item) for item in value]
        case dict():
            return {name: typed(item) for name, item in value.items()}
        case float():
            return ("float", value, math.copysign(1, value))
    return (type(value).__name__, value)


def written(value: object) -> str:
    """Write data in the plainest way, independently of the printer."""
    match value:
        case list():
            return f"[{', '.join(written(item) for item in value)}]"
        case dict():
            return "{" + "; ".join(f"{scalar_text(name)} = {written(item)}" for name, item in value.items()) + "}"
    assert isinstance(value, bool | int | float | str)
    return scalar_text(value)


@given(values)
def test_data_reads_back_as_it_was(value: object) -> None:
    printed = shown(written(value))
    again = evaluated(printed)
    assert typed(value) == typed(again.value)
    assert printed == shown(printed)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("{}", "{}"),
        ("{ a = 1; }", "{\n    a = 1;\n}"),
        ("a = 1; b.c = 2;", "{\n    a = 1;\n    b = {\n        c = 2;\n    };\n}"),
        ("[1, [2.5]]", "[1, [2.5]]"),
        ("[1, { a = 1; }]", "[\n    1,\n    {\n        a = 1;\n    },\n]"),
        ('{ "in" = 1; "a b" = 2; Int = 3; }', '{\n    "in" = 1;\n    "a b" = 2;\n    Int = 3;\n}'),
        ("1.0 * 100000000000000000000000.0", "100000000000000000000000.0"),
        ("0.00000001 * 1", "0.00000001"),
        ("-0.0", "-0.0"),
        ("-9223372036854775807 - 1", "-9223372036854775807 - 1"),
        (r'"a\n\t\r\"\\\q"'.replace(r"\q", ""), r'"a\n\t\r\"\\"'),
        ("Int & < 10 & >= 0", "Int & >= 0 & < 10"),
        ("< 10 & Int & > 3 & > 2", "Int & > 3 & < 10"),
        ("Int & Int", "Int"),
        ("Unknown & Unknown", "Unknown"),
        ("Unknown & String", "String"),
        ("> -5", "> -5"),
        ("> (-9223372036854775807 - 1)", "> (-9223372036854775807 - 1)"),
        (r"/a\/b/ & String & /c/ & Email", r"String & /a\/b/ & /c/ & Email"),
        ("Int default 1 + 2", "Int default 3"),
        ("let d = Int default 1; in d & > 0", "Int & > 0 default 1"),
        ("[...Int & > 0]", "[...Int & > 0]"),
        ("{...{ a = Int; }}", "{...{\n    a = Int;\n}}"),
        ("{ a = 1; ...[...String] }", "{\n    a = 1;\n    ...[...String]\n}"),
        ("(a, b: Int) => a + b", "(a, b: Int) => a + b"),
    ],
)
def test_a_value_is_printed_in_canonical_form(text: str, printed: str) -> None:
    assert printed == shown(text)
    assert printed == shown(printed)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("let T = { kids = [...T]; }; in T", "{\n    kids = [...T];\n}"),
        ("let T = [...T]; in [T]", "[[...[...T]]]"),
        ("let a = Unknown default [a]; in [a]", "[Unknown default [Unknown default [a]]]"),
        ("let a = Unknown default a; in [a]", "[Unknown default (Unknown default (a))]"),
    ],
)
def test_what_holds_itself_is_named_in_the_end(text: str, printed: str) -> None:
    assert printed == shown(text)


def test_a_line_break_inside_a_function_is_not_indented() -> None:
    text = '{ f = (x) => "a\nb"; }'
    assert '{\n    f = (x) => "a\nb";\n}' == shown(text)


def test_a_part_that_failed_is_a_blank_and_is_reported_with_its_path() -> None:
    evaluation = evaluation_of("{ a = [1, nope]; }")
    assert "{\n    a = [1, _];\n}" == show(evaluation)
    assert [("a", 1)] == [each.path for each in evaluation.diagnostics]


TOO_LONG = "the value takes more than 8,388,608 characters to print"


def test_a_value_that_is_too_long_to_print_is_a_limit() -> None:
    nest = "let nest = (n, v) => match n { 0: v; _: { v = nest(n - 1, v); }; }; in "
    evaluation = evaluation_of(f"{nest} nest(490, [{'{ a = 1; }, ' * 10_000}])")
    assert "_" == show(evaluation)
    assert [TOO_LONG] == [each.message for each in evaluation.diagnostics]


@pytest.mark.parametrize(
    "part", ['"{x}"', "{{ {x} = 1; }}", "/{x}/", '(a) => "{x}"', 'Int default "{x}"'], ids=["text", "key", "pattern", "function", "default"]
)
def test_what_is_short_because_it_is_used_in_many_places_is_counted_in_each(part: str) -> None:
    evaluation = evaluation_of(f"let s = {part.format(x='x' * 10_000)}; a = [{'s, ' * 300}]; in [{'a, ' * 300}]")
    assert "_" == show(evaluation)
    assert [TOO_LONG] == [each.message for each in evaluation.diagnostics if "print" in each.message]


@pytest.mark.parametrize("part", ['"{x}"', "{{ {x} = 1; }}"], ids=["text", "key"])
def test_data_is_counted_as_it_is_printed(part: str) -> None:
    evaluation = evaluation_of(f"let s = {part.format(x='x' * 10_000)}; a = [{'s, ' * 100}]; in [{'a, ' * 100}]")
    data = evaluation.data(evaluation.root)
    assert [] == evaluation.diagnostics
    assert not may_be_printed(evaluation, data)
    assert [TOO_LONG] == [each.message for each in evaluation.diagnostics]
    short = evaluation_of("[1, { a = true; }]")
    assert may_be_printed(short, short.data(short.root))


def test_long_parts_of_a_constraint_stay_in_the_author_s_order() -> None:
    long = "x" * 2_000
    assert f"/b{long}/ & /a{long}/ & /c/" == shown(f"/c/ & /b{long}/ & /a{long}/")
