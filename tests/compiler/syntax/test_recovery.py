"""One run reports every independent fault and none that only follows from another, and the rest of the text is read."""

import random

import pytest

from stateward.compiler.syntax.tree import Array, Bad, Binary, Bound, Field, Key, Let, Match, Object, TypeWord, Unary
from tests.compiler.dcdl_trees import nodes
from tests.compiler.syntax.asked import errors, parsed, said

FLOW = """\
version = 1;
name = "review";
initial = "draft";
states = {
    draft = {
        instructions = "write it";
        transitions = { done = { target = "check"; condition = "it is written"; }; };
    };
    check = {
        instructions = "read it";
        transitions = {
            back = { target = "draft"; condition = "a point is open"; };
            done = { target = "ended"; condition = "no point is open"; };
        };
    };
    ended = { terminal = true; };
};
"""


def keys(text: str) -> list[str]:
    """Give the names of the fields of the outermost object that was read."""
    body = parsed(text).module.body
    assert isinstance(body, Object)
    return [field.path[0].text for field in body.fields]


def test_a_missing_semicolon_is_reported_where_it_is_missing_and_the_rest_is_checked() -> None:
    text = 'a = {\n    instructions = "x"\n    # why\n    transitions = {};\n    other = ;\n};\n'
    assert [
        (text.index('"x"') + 3, "a semicolon is missing after the field `instructions`"),
        (text.index("= ;") + 1, "an expression is missing after `=`"),
    ] == said(text)


@pytest.mark.parametrize("surplus", ["}", "x", "\x00", ")", '"s"', "= 1"])
@pytest.mark.parametrize("source", ["{ a = 1; } ", "let a = 1; in { b = a; } ", "a = 1; "])
def test_what_follows_a_complete_module_is_reported_at_its_first_character(source: str, surplus: str) -> None:
    assert [len(source)] == [at for at, _ in said(source + surplus)]


def test_a_second_module_is_surplus_as_a_whole() -> None:
    assert [11] == [at for at, _ in said("{ a = 1; } states = { b = ; };")]


@pytest.mark.parametrize("tail", ["", " ", "\n", "\r\n", "\t", "# end", "\n# end\n"])
def test_blanks_and_comments_after_a_module_are_no_surplus(tail: str) -> None:
    assert [] == errors("{ a = 1; }" + tail)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a = 1 2; b = 3;", ["a", "b"]),
        ("a = 1 2\nb = 3;", ["a", "b"]),
        ("a = (1 + ; b = 3;", ["a", "b"]),
        ("a = [1, 2; b = 3;", ["a", "b"]),
        ("= 1; b = 3;", ["b"]),
        ("a b c; b = 3;", ["a", "b"]),
        ("a = let x = ; in x y; b = 3;", ["a", "b"]),
        ("a = match x { 1 2 3 4; 5: 6; }; b = 3;", ["a", "b"]),
        ("a = f(1 +, 2; b = 3;", ["a", "b"]),
        ("a = { x = 1; y }; b = 3;", ["a", "b"]),
        ("a = 1; % b = 3; c = 4;", ["a", "b", "c"]),
        ("a = import ; b = 3;", ["a", "b"]),
        ("a = {\n    x = 1;\n\nb = 3;\n", ["a", "b"]),
    ],
)
def test_the_fields_after_a_broken_one_are_read(text: str, kept: list[str]) -> None:
    assert kept == keys(text)


def test_an_object_keeps_every_field_that_cannot_be_read_so_that_nobody_misses_fields_in_it() -> None:
    text = "{ a = 1; = 5; e = 2; , = 6; ...Int }"
    body = parsed(text).module.body
    assert isinstance(body, Object)
    assert isinstance(body.rest, TypeWord)
    assert (["a", "e"], ["= 5", "= 6"]) == (
        [field.path[0].text for field in body.fields],
        [text[at.start : at.end] for at in body.broken],
    )


def test_a_let_and_a_match_keep_the_parts_that_cannot_be_read() -> None:
    text = "let a , = 1; b = 2; in match b { = 1: 2; 2: 3; }"
    body = parsed(text).module.body
    assert isinstance(body, Let)
    assert isinstance(body.body, Match)
    assert [["a , = 1"], ["= 1: 2"]] == [[text[at.start : at.end] for at in node.broken] for node in (body, body.body)]
    assert [1, 1] == [len(body.bindings), len(body.body.arms)]


def test_a_function_with_a_broken_parameter_is_broken_as_a_whole() -> None:
    body = parsed("(x, = 1) => x").module.body
    assert isinstance(body, Bad)


@pytest.mark.parametrize("text", ["{ a-b = 1; }", "a-b = 1;", "c = 1; a-b = 1;", "{ x.a-b.c = 1; }", "let a-b = 1; in 2"])
def test_a_name_with_a_hyphen_is_one_key(text: str) -> None:
    keys = [each.text for each in nodes(parsed(text).module) if isinstance(each, Key)]
    assert "a-b" in keys
    assert "a" not in keys


def test_an_operator_that_does_not_exist_is_no_value() -> None:
    body = parsed("0 | 1").module.body
    assert isinstance(body, Bad)


def test_a_mark_that_looks_like_an_operator_is_that_operator() -> None:
    operators = [
        each.operator for each in nodes(parsed("[1 \uff0b 2, \uff011, \uff1c 1]").module) if isinstance(each, Binary | Unary | Bound)
    ]
    assert ["!", "+", "<"] == sorted(operators)


def test_a_bad_value_is_the_value_of_its_field() -> None:
    (field,) = (node for node in nodes(parsed("a = 1 2;").module) if isinstance(node, Field))
    assert ("a", True, 4, 7) == (field.path[0].text, isinstance(field.value, Bad), field.value.start, field.value.end)


def test_an_open_string_is_reported_at_its_quote_and_nothing_after_it_is() -> None:
    assert [(4, "a string is never closed")] == said('a = "x;\nb = ;\nc = { d = [ 1;\n')


def test_an_open_string_that_took_the_next_quote_is_reported_where_it_was_opened() -> None:
    assert [(4, "a string is never closed")] == said('a = "one;\nb = "two";\nc = "three";\n')


def test_faults_before_an_open_string_are_reported() -> None:
    assert [(3, "an expression is missing after `=`"), (9, "a string is never closed")] == said('a = ; b= "x')


def test_a_pattern_ends_with_its_line() -> None:
    assert [4, 18] == [at for at, _ in said("a = /x;\nb = 2;\nc = ;\n")]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("{\n    a = {\n        b = 1;\n    c = 2;\n}\n", 26),
        ("{\n    a = {\n        b = {\n            d = 1;\n        };\n    c = 2;\n}\n", 55),
        ("a = {\n    b = 1;\n\nc = {\n    d = 2;\n};\n", 16),
        ("{\n    a = [\n        1,\n    b = 2;\n}\n", 22),
    ],
)
def test_a_missing_closer_is_reported_where_the_lines_show_it(text: str, at: int) -> None:
    (found,) = errors(text)
    assert ("never closed" in found.message, at) == (True, found.primary.place.span.start)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("{\n    a = {\n        b = 1;\n    };\n    };\n    c = 1;\n}\n", 38),
        ("a = 1;\n};\nb = 2;\n", 7),
        ("a = 1);\nb = 2;\n", 5),
    ],
)
def test_a_closer_too_many_is_reported_itself(text: str, at: int) -> None:
    assert [at] == [found for found, _ in said(text)]


def test_brackets_left_open_at_one_place_are_one_fault() -> None:
    (found,) = errors("a = [{ b = (1")
    assert (13, [11, 5, 4]) == (found.primary.place.span.start, [each.place.span.start for each in found.secondary])


def _slip(line: str, kind: int) -> str:
    """Damage a line `name = "text";` in one of the ways people do."""
    name, _, value = line.partition(" = ")
    return (
        f"{name} = {value[:-1]}",
        f"{name}: {value}",
        f"{name} == {value}",
        f"{name} = {value[:-1]},",
        f"{name} = {value};",
        f"{name} = ;",
        f"{name} = {value[:-1]} 5;",
        f"{name} {value}",
        f"{name} = '{value[1:-2]}';",
        f"{name}-x = {value}",
        f"{name} = {value} // the text of it",
    )[kind]


@pytest.mark.parametrize("seed", range(60))
def test_as_many_faults_are_reported_as_there_are_in_lines_of_their_own(seed: int) -> None:
    choices = random.Random(seed)  # noqa: S311 - no secret
    lines = [f'    name{number} = "text {number}";' for number in range(20)]
    damaged = sorted(choices.sample(range(0, 20, 2), 5))
    for number in damaged:
        lines[number] = _slip(lines[number], choices.randrange(11))
    text = "a = {\n" + "\n".join(lines) + "\n};\n" if seed % 2 else "\n".join(lines) + "\n"
    first = 2 if seed % 2 else 1
    source = [found.primary.place.source.line_column(found.primary.place.span.start)[0] for found in errors(text)]
    # A brace-less module may leave a semicolon out.
    optional = [number for number in damaged if not seed % 2 and lines[number].endswith('"')]
    assert [number + first for number in damaged if number not in optional] == source


MARKS = [at for at, char in enumerate(FLOW) if char in '{}[]();="']


@pytest.mark.parametrize("at", MARKS)
def test_a_flow_without_one_of_its_marks_has_one_fault_or_two(at: int) -> None:
    assert len(errors(FLOW[:at] + FLOW[at + 1 :])) in ({0, 1} if FLOW[at] == ";" else {1, 2})


def test_of_all_the_marks_of_a_flow_one_at_most_has_two_faults_when_it_is_left_out() -> None:
    assert 1 >= sum(len(errors(FLOW[:at] + FLOW[at + 1 :])) > 1 for at in MARKS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("let x = 1; , = 2; in x + y", "nothing stands before a comma"),
        ("let x = 1; = 2; in x + y", "the name of a binding is missing"),
        ("let x = 1; y = { 2; in x + y", "`{` is never closed"),
        ("let x = 1; y [ 2; in x + y", "`[` is never closed"),
        ("a = { ? b = 1; c = 2; };", "`?` has no meaning in DCDL"),
        ("a = x[1;", "`[` is never closed"),
        ("a = . ; b = 1;", "an expression is missing after `=`"),
        ("let f = +x) => x; in f(2)", "an expression is missing after `=`"),
        ("match 1 { 1: { 2; _: 3; }", "`{` is never closed"),
        ("a = 1; ) = 2; c = 3;", "`)` closes nothing"),
    ],
)
def test_one_slip_is_told_once(text: str, message: str) -> None:
    assert [message] == [each.message for each in errors(text)]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("{ a = ; b = ; }", ["an expression is missing after `=`"] * 2),
        ("[1, 2 3, 4 5]", ["a comma is missing between two items"] * 2),
        (
            "{ 'a': 'b'; c = 1; }",
            ["`'` opens no string", "`:` stands where `=` belongs", "`'` opens no string"],
        ),
        ("a = 1 2;\nb = 3 4;", ["something is left over after the value of `a`", "something is left over after the value of `b`"]),
    ],
)
def test_slips_that_do_not_follow_from_each_other_are_told_together(text: str, messages: list[str]) -> None:
    assert messages == [each.message for each in errors(text)]


def test_warnings_never_crowd_out_errors() -> None:
    text = '"\\d" & ' * 200 + "9223372036854775808 & 1 2"
    found = parsed(text).diagnostics
    assert ["an Int does not fit 64 bits", "something is left over after the expression of the module"] == [
        each.message for each in errors(text)
    ]
    assert 100 == sum(each.severity.value == "warning" for each in found)


def test_after_a_hundred_faults_the_rest_is_left_alone() -> None:
    assert 100 == len(errors("a = ;\n" * 1_000))


@pytest.mark.parametrize("text", ["{ ...Int, b = 1 }", "{ a = 1; ...Int; b = 2; }", "[...Int, 1]", "{ ...Int; b = 1; }"])
def test_a_rest_that_something_follows_is_bad(text: str) -> None:
    body = parsed(text).module.body
    assert isinstance(body, Object | Array)
    assert isinstance(body.rest, Bad)


def test_a_rest_with_a_semicolon_too_many_is_as_it_was_written() -> None:
    body = parsed("{ ...Int; }").module.body
    assert isinstance(body, Object)
    assert isinstance(body.rest, TypeWord)


@pytest.mark.parametrize("junk", ["1", " 1", "...", "_", ' "s"', " in", " x y"])
@pytest.mark.parametrize("separator", [";\n", "\n"])
def test_an_object_is_kept_whatever_stands_after_it(junk: str, separator: str) -> None:
    text = f"a = {{ b = 1; c = 2; }}{junk}{separator}d = 3;\n"
    body = parsed(text).module.body
    assert isinstance(body, Object)
    first = body.fields[0].value
    assert isinstance(first, Object)
    assert ["a", "d"] == [field.path[0].text for field in body.fields]
    assert ["b", "c"] == [field.path[0].text for field in first.fields]
    assert 1 == len(errors(text))


def test_what_is_broken_after_a_value_in_brackets_is_not_put_into_them() -> None:
    body = parsed("a = f({ b = 1; }) 2; c = 3;").module.body
    assert isinstance(body, Object)
    assert ["a", "c"] == [field.path[0].text for field in body.fields]
