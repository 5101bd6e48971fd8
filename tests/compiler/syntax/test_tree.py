"""What the trees of sound texts are like."""

from typing import Any

import pytest

from stateward.compiler.syntax.tree import Arm, Field, Import, Key, Lambda, Let, Node, Object, RegexLit, StringLit, TypeWord, Wildcard
from tests.compiler.dcdl_trees import nodes, shape
from tests.compiler.syntax.asked import errors, parsed


def outline(text: str) -> str:
    """Write the tree of an expression with every operation in brackets."""
    return _outline(parsed(text).module.body)


def _outline(node: Any) -> str:
    match type(node).__name__:
        case "Binary":
            return f"({_outline(node.left)} {node.operator} {_outline(node.right)})"
        case "Unary" | "Bound":
            return f"({node.operator}{_outline(node.operand)})"
        case "Access":
            return f"({_outline(node.base)}.{node.key.text})"
        case "Call":
            return f"{_outline(node.callee)}[{', '.join(_outline(each) for each in node.arguments)}]"
        case "Paren":
            return f"<{_outline(node.inner)}>"
        case "Let":
            return f"(let in {_outline(node.body)})"
        case "Lambda":
            return f"(=> {_outline(node.body)})"
        case "Match":
            return f"(match {_outline(node.subject)})"
        case "Import":
            return f"(import {node.specifier})"
        case "IntLit" | "BoolLit":
            return str(node.value)
        case _:
            return str(node.text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a as b default c // d & e || f && g == h ++ i + j * -k.l",
         "(a as (b default (c // (d & (e || (f && (g == (h ++ (i + (j * (-(k.l))))))))))))"),
        ("a * b + c ++ d == e && f || g & h // i default j as k",
         "((((((((((a * b) + c) ++ d) == e) && f) || g) & h) // i) default j) as k)"),
        ("a - b - c", "((a - b) - c)"),
        ("a // b // c", "((a // b) // c)"),
        ("a as b as c", "((a as b) as c)"),
        ("a default b default c", "((a default b) default c)"),
        ("a < b < c", "((a < b) < c)"),
        ("a < b == c", "((a < b) == c)"),
        ("- - a", "(-(-a))"),
        ("!a && b", "((!a) && b)"),
        ("-a.b", "(-(a.b))"),
        ("-a - b", "((-a) - b)"),
        ("> a + b & c", "((>(a + b)) & c)"),
        (">= a ++ b", "(>=(a ++ b))"),
        ("> a > b", "((>a) > b)"),
        ("Int & >= a & < b", "((Int & (>=a)) & (<b))"),
        ("a + > b + c", "(a + (>(b + c)))"),
        ("a + let in b + c", "(a + (let in (b + c)))"),
        ("let in a as b", "(let in (a as b))"),
        ("-let in a + b", "(-(let in (a + b)))"),
        ("a * match b {} + c", "((a * (match b)) + c)"),
        ("match a + b {} . c", "((match (a + b)).c)"),
        ("() => a as b", "(=> (a as b))"),
        ("() => () => a + b", "(=> (=> (a + b)))"),
        ("a.b(c).d(e)(f)", "((a.b)[c].d)[e][f]"),
        ('import "m".a', "((import m).a)"),
        ('import "m"(a)', "(import m)[a]"),
        ("import m.a + b", "(((import m).a) + b)"),
        ("(a + b) * c", "(<(a + b)> * c)"),
        ("a / b / c", "((a / b) / c)"),
        ("1.a", "(1.a)"),
        ("a.b", "(a.b)"),
    ],
)  # fmt: skip
def test_operators_bind_as_the_table_of_levels_says(text: str, expected: str) -> None:
    assert expected == outline(text)


@pytest.mark.parametrize("level", ["as", "default", "//", "&", "||", "&&", "==", "!=", "<", "<=", ">", ">=", "++", "+", "-", "*", "/"])
def test_every_operator_leans_to_the_left(level: str) -> None:
    assert f"((a {level} b) {level} c)" == outline(f"a {level} b {level} c")


def fields(text: str) -> list[list[str]]:
    """Give the paths of the fields of a module."""
    body = parsed(text).module.body
    assert isinstance(body, Object)
    return [[key.text for key in field.path] for field in body.fields]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1; b = 2;", [["a"], ["b"]]),
        ("a = 1 b = 2", [["a"], ["b"]]),
        ("a.b = 1;", [["a", "b"]]),
        ('"a-b".c = 1', [["a-b", "c"]]),
        ("String = 1; Int = 2;", [["String"], ["Int"]]),
        ("a = let x = 1; in x b = 2", [["a"], ["b"]]),
        ("a = import m b = 2", [["a"], ["b"]]),
    ],
)
def test_a_module_that_begins_with_a_field_has_no_braces(text: str, expected: list[list[str]]) -> None:
    body = parsed(text).module.body
    assert isinstance(body, Object)
    assert (expected, False) == (fields(text), body.braced)


@pytest.mark.parametrize("text", ["a.b", '"a"', '"a"."b"', "a == 1", "{ a = 1; }", "x"])
def test_a_module_that_begins_otherwise_is_an_expression(text: str) -> None:
    body = parsed(text).module.body
    assert [] == errors(text)
    assert not isinstance(body, Object) or body.braced


@pytest.mark.parametrize(
    "text",
    [
        "{ a = 1; b = 2; ...Int; }", "{ a = 1; ...Int }", "{...Int}", "{}", "[]", "[1, 2,]", "[1, 2]", "[...Int]", "[...Int,]",
        "match 1 {}", "match 1 { 1: 2; _: 3; }", "match 1 { 1: 2 }", "let in 1", "() => 1", "(x, y: Int) => x", "f()", "f(1, 2)",
        "((x) => x)(1)",
    ],
)  # fmt: skip
def test_every_form_of_brackets_and_separators_parses(text: str) -> None:
    assert [] == errors(text)


@pytest.mark.parametrize(
    "text",
    [
        "{ a = 1;; }", "{ ...Int; }", "{ a = 1; ...Int;; }", "[,]", "[1,,]", "[...Int,,]", "f(1,)", "(x,) => 1", "match 1 { ; }",
        "let a = 1 in a", "{ a }", "{ 1 }", "()", "a = ", "x => x", "1 + (x) => x", "{ ...Int, }", "...Int", 'let a."b" = 1; in 2',
        "import 1", "x.1", "match { 1: 2 }",
    ],
)  # fmt: skip
def test_what_the_grammar_does_not_have_is_an_error(text: str) -> None:
    assert [] != errors(text)


def only(text: str, kind: type[Node]) -> Any:
    """Give the one node of a class in a text."""
    (found,) = (node for node in nodes(parsed(text).module) if isinstance(node, kind))
    return found


def test_a_string_has_its_escapes_resolved_and_keeps_everything_else() -> None:
    assert 'a\n\t\r\\"q/é😀\r\nb' == only('"a\\n\\t\\r\\\\\\"\\q\\/é😀\r\nb"', StringLit).value


def test_a_pattern_keeps_its_escapes_but_those_of_slashes() -> None:
    assert r"^a/\d\\/$" == only(r"/^a\/\d\\\/$/", RegexLit).pattern


def test_after_an_operand_a_slash_divides_and_elsewhere_it_begins_a_pattern() -> None:
    assert ["a", "a"] == [node.pattern for node in nodes(parsed("[/a/, 1 / 2, /a/ // 3, (4) / 5]").module) if isinstance(node, RegexLit)]


@pytest.mark.parametrize(
    ("text", "value"), [("007", 7), ("0", 0), ("9223372036854775807", 2**63 - 1), ("0009223372036854775807", 2**63 - 1)]
)
def test_an_int_may_have_leading_zeros_and_fits_64_bits(text: str, value: int) -> None:
    assert ["IntLit", str(value)] == shape(parsed(text).module.body)


@pytest.mark.parametrize(
    "text", ["9223372036854775808", "-9223372036854775808", "1" * 5_000, "1" * 400 + ".0", "0" * 10 + "9" * 310 + ".5"]
)
def test_a_number_out_of_range_is_an_error_at_the_number(text: str) -> None:
    (found,) = errors(text)
    assert text.lstrip("-") == text[found.primary.place.span.start : found.primary.place.span.end]


@pytest.mark.parametrize(
    "text", ["1.50", "0.1", "007.25", "1" + "0" * 308 + ".0", "0." + "0" * 400 + "1", "0.5" + "0" * 5_000, "1.7976931348623157" + "0" * 10]
)
def test_a_float_is_the_nearest_double(text: str) -> None:
    assert ["FloatLit", repr(float(text))] == shape(parsed(text).module.body)


def test_type_words_mean_types_in_expressions_and_are_plain_names_elsewhere() -> None:
    text = "let Int = 1; in { Int = Int; a = b.Int; f = (Int: Int) => Int; m = import Int; }"
    assert 3 == sum(isinstance(node, TypeWord) for node in nodes(parsed(text).module))


def test_quoted_keys_are_told_from_plain_ones_and_name_the_same() -> None:
    keys = [(node.text, node.quoted) for node in nodes(parsed('{ "a" = b."c-d"; e = 1; }').module) if isinstance(node, Key)]
    assert {("a", True), ("c-d", True), ("e", False)} == set(keys)


def test_spans_run_from_the_first_to_the_last_token_of_a_node() -> None:
    text = " { a . b = ( 1 + 2 ) ; f = (x : Int) => x ; } "
    seen = {type(node).__name__: text[node.start : node.end] for node in nodes(parsed(text).module)}
    assert "{ a . b = ( 1 + 2 ) ; f = (x : Int) => x ; }" == seen["Module"] == seen["Object"]
    assert ("( 1 + 2 )", "1 + 2", "x : Int", "(x : Int) => x") == (seen["Paren"], seen["Binary"], seen["Param"], seen["Lambda"])
    assert ["a . b = ( 1 + 2 )", "f = (x : Int) => x"] == [
        text[f.start : f.end] for f in nodes(parsed(text).module) if isinstance(f, Field)
    ][::-1]


def test_spans_of_let_match_and_import() -> None:
    text = 'let a = 1 ; in match a { _ : import "m" ; } . b'
    module = parsed(text).module
    seen = {type(node): text[node.start : node.end] for node in nodes(module)}
    assert (text, 'import "m"', '_ : import "m"', "_") == (seen[Let], seen[Import], seen[Arm], seen[Wildcard])
    binding = only(text, Let).bindings[0]
    assert "a = 1" == text[binding.start : binding.end]


def test_parameters_have_names_and_constraints() -> None:
    function = only("(x, y: Int) => x", Lambda)
    assert [("x", False), ("y", True)] == [(param.name.text, param.annotation is not None) for param in function.params]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_byte_order_mark_and_crlf_change_neither_tree_nor_lines_and_columns(mark: str, line_end: str) -> None:
    lines = ["a = {", "    b = 1;", "    c == 2;", "};", ""]
    parse = parsed(mark + line_end.join(lines))
    (found,) = parse.diagnostics
    assert (3, 7) == found.primary.place.source.line_column(found.primary.place.span.start)
    assert shape(parsed("\n".join(lines)).module) == shape(parse.module)


def test_comments_are_kept_beside_the_tree_without_their_line_ends() -> None:
    text = '# one\r\na = 1; # two\n#\nb = "# no"; # é😀\r\r\n# last'
    comments = parsed(text).trivia.comments
    assert ["# one", "# two", "#", "# é😀", "# last"] == [text[comment.start : comment.end] for comment in comments]


@pytest.mark.parametrize(
    "name", ["façade", "fac\u0327ade", "a\u202eb", "__proto__", "constructor", "$cancelled", "", "a/b", "a.b", "#", ">", "x" * 10_000]
)
def test_a_quoted_key_may_hold_any_text_and_keeps_it_as_it_is(name: str) -> None:
    assert [[name]] == fields(f'"{name}" = 1;')


@pytest.mark.parametrize(
    ("name", "char"), [("façade", "U+00E7"), ("fac\u0327ade", "U+0327"), ("a\u202eb", "U+202E"), ("a\u200bb", "U+200B"), ("$x", "`$`")]
)
def test_a_plain_name_is_ascii_and_the_character_that_is_not_is_named(name: str, char: str) -> None:
    assert char in errors(f"{name} = 1;")[0].message
