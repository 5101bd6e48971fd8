"""What a fault of the evaluation tells: the author's text first, then where its parts came from and the uses it came through."""

import pytest

from tests.compiler.language.evaluated import evaluated, located, story, told


def the_story(text: str, files: dict[str, str] | None = None) -> list[tuple[str, str]]:
    found = evaluated(text, files)
    assert len(found.diagnostics) == 1, told(found)
    return story(found.diagnostics[0])


def test_a_violation_points_at_the_constraint_then_at_the_value() -> None:
    expected = [("Int", "an Int is wanted"), ('"x"', 'this is the String `"x"`'), ("port", "needed for `port`")]
    assert expected == the_story('let Port = Int; given = "x"; in { port = given as Port; }')


def test_a_violation_inside_the_field_needs_no_word_about_the_field() -> None:
    assert [("Int", "an Int is wanted"), ('"x"', 'this is the String `"x"`')] == the_story('{ port = "x" as Int; }')


def test_a_fault_in_a_function_points_into_the_function_then_at_its_calls_innermost_first() -> None:
    text = 'let half = (x) => x / 2; both = (a) => [half(a)]; in { r = both("one"); }'
    expected = [("x", "not a number"), ('"one"', "written here"), ("half(a)", "called here"), ('both("one")', "called here")]
    assert expected == the_story(text)


def test_a_recursive_call_is_told_once_and_the_outermost_one_last() -> None:
    text = "let down = (n) => match n { 0: nope; _: down(n - 1); }; in down(7)"
    assert [("nope", "not defined"), ("down(n - 1)", "called here"), ("down(7)", "called here")] == the_story(text)


def test_many_different_calls_are_cut_in_the_middle() -> None:
    text = "let a = (x) => nope; b = (x) => a(x); c = (x) => b(x); d = (x) => c(x); e = (x) => d(x); in e(1)"
    assert [("nope", "not defined"), ("a(x)", "called here"), ("b(x)", "called here"), ("e(1)", "called here")] == the_story(text)


def test_a_fault_in_a_module_tells_the_import() -> None:
    files = {"lib.dcdl": "half = (x) => x / 2;"}
    expected = [
        ("lib.dcdl: x", "not a number"),
        ('"one"', "written here"),
        ('import "lib.dcdl".half("one")', "called here"),
        ('import "lib.dcdl"', "imported here"),
    ]
    assert expected == the_story('import "lib.dcdl".half("one")', files)


def test_a_constraint_of_another_module_is_the_primary_place() -> None:
    files = {"types.dcdl": "Port = Int & > 0;"}
    text = 'let types = import "types.dcdl"; in { port = 0 as types.Port; }'
    assert [("types.dcdl: > 0", "bounded here"), ("0", "this is the Int `0`")] == the_story(text, files)


def test_a_value_that_arrives_by_a_name_is_labelled_where_it_was_written() -> None:
    assert [("k", "not a number"), ('"x"', "written here")] == the_story('let k = "x"; in 1 + k')


def test_two_values_that_do_not_agree_are_both_shown() -> None:
    expected = [("a & b", "these do not combine"), ("1", "the Int `1`"), ("2", "the Int `2`")]
    assert expected == the_story("let a = 1; b = 2; in a & b")


def test_two_demands_that_exclude_each_other_are_both_shown() -> None:
    expected = [("A & B", "nothing can meet this"), ("> 5", "this demand"), ("< 3", "this demand")]
    assert expected == the_story("let A = Int & > 5; B = < 3; in A & B")


def test_a_repeated_field_shows_the_first_one() -> None:
    assert [("a", "set again here"), ("a", "first set here")] == the_story("{ a = 1; b = 2; a = 3; }")


def test_a_field_that_is_not_allowed_shows_the_object_that_does_not_allow_it() -> None:
    text = "let T = { name = String; }; in { nmae = 1; } as T"
    assert [("nmae", "not allowed"), ("{ name = String; }", "the fields that are")] == the_story(text)


def test_a_circle_is_told_at_the_use_that_closes_it_with_the_uses_around_it() -> None:
    found = evaluated("a = b; b = c + 1; c = a;")
    assert ["cycle: `a` depends on itself"] == told(found)
    fault = found.diagnostics[0]
    assert [("a", "closes the circle"), ("b", "needs `b`"), ("c", "needs `c`")] == story(fault)
    assert ("the circle is `a -> b -> c -> a`",) == fault.notes


def test_a_default_that_is_itself_is_a_circle() -> None:
    assert ["cycle: the default `a` depends on itself"] == told(evaluated("let a = Unknown default a; in a"))
    through_another = evaluated("let a = Unknown default b; b = Unknown default a; in [a, b, a]")
    assert ["cycle: the default `b` depends on itself"] == told(through_another)


def test_a_fault_is_told_once_however_often_its_value_is_used() -> None:
    uses = "{ a = t; b = u; c = [t, t]; d = { x = t; }.x; e = t as Int; f = match t { _: 1; }; }"
    found = evaluated(f"let t = 1 / 0; u = t + 1; in {uses}")
    assert ["conflict: division by zero"] == told(found)


def test_a_fault_of_a_function_that_does_not_come_from_its_arguments_is_told_once() -> None:
    assert 1 == len(evaluated("let f = (x) => x + nope; in [f(1), f(2), f(3)]").diagnostics)


def test_a_fault_that_comes_from_the_arguments_is_told_for_each() -> None:
    found = evaluated('let f = (x: Int) => x; in [f("a"), f(1), f("b")]')
    assert [("[0]", "Int"), ("[2]", "Int")] == located(found)


def test_each_independent_fault_is_told() -> None:
    found = evaluated('{ a = 1 + "b" + nope; b = { c = 1 / 0; d = Int; }; e = [{}.x, 2 & 3]; }')
    assert [("a", '"b"'), ("a", "nope"), ("b.c", "1 / 0"), ("b.d", "Int"), ("e[0]", "x"), ("e[1]", "2 & 3")] == located(found)


def test_all_fields_that_do_not_fit_are_told_at_once() -> None:
    found = evaluated('{ a = "s"; b = 1; c = true; } as { a = Int; b = Int; c = String; }')
    assert ['constraint_violation: the String `"s"` is not an Int', "constraint_violation: the Bool `true` is not a String"] == told(found)


def test_a_misspelt_field_is_one_fault_and_not_a_missing_one_too() -> None:
    found = evaluated("{ nmae = 1; } as { name = Int; }")
    assert ["constraint_violation: the field `nmae` is not allowed here"] == told(found)
    assert "did you mean `name`?" == found.diagnostics[0].help


@pytest.mark.parametrize("text", ["{ a = 1; } as {} as {}", "({ a = 1; } as { b = Int default 1; }) as { b = Int; }"])
def test_a_field_that_was_refused_is_not_refused_again(text: str) -> None:
    found = evaluated(text)
    assert ["constraint_violation: the field `a` is not allowed here"] == told(found)


def test_a_part_of_a_shared_object_that_has_no_value_is_told_once() -> None:
    found = evaluated("let shared = { port = Int; }; in { a = shared; b = shared; }")
    assert ["materialize: `a.port` has no value and no default"] == told(found)


def test_each_object_that_lacks_a_field_of_its_type_is_told() -> None:
    found = evaluated("let T = { port = Int; }; in { a = {} as T; b = {} as T; }")
    assert ["materialize: `a.port` has no value and no default", "materialize: `b.port` has no value and no default"] == told(found)


def test_what_was_written_twice_is_searched_for_faults_on_both_sides() -> None:
    found = evaluated("{ a = { b = 1; b = 2; }; a = nope; c = 3; }")
    expected = [
        "conflict: the field `a` is set twice",
        "conflict: the field `b` is set twice",
        "unresolved_identifier: `nope` is not defined",
    ]
    assert expected == told(found)


def test_each_repetition_is_told_though_one_stands_inside_another() -> None:
    state = '{ instructions = "1"; instructions = "2"; transitions = {}; transitions = {}; }'
    found = evaluated(f"states = {{ a = {state}; a = {{}}; }};")
    assert [("states", "a"), ("states.a", "instructions"), ("states.a", "transitions")] == sorted(located(found))


def test_what_was_written_twice_may_need_itself() -> None:
    assert ["conflict: the field `y` is set twice"] == told(evaluated("x = y; y = y; y = { a = x; };"))
    assert ["conflict: the field `b` is set twice"] == told(evaluated("let o = { b = o.b; b = [o]; }; in o"))


def test_a_name_that_is_a_field_beside_it_gets_help_of_its_own() -> None:
    fault = evaluated("{ a = 1; b = { c = a; }; }").diagnostics[0]
    assert ("fields between braces do not see each other",) == fault.notes
    assert [("a", "not in scope"), ("a", "this field is not in scope")] == story(fault)


def test_a_slip_in_a_name_gets_the_nearest_one() -> None:
    assert "did you mean `target`?" == evaluated("let target = 1; in taregt").diagnostics[0].help
    assert "did you mean `target`?" == evaluated("let o = { target = 1; }; in o.taregt").diagnostics[0].help
    assert evaluated("let target = 1; in unlike").diagnostics[0].help is None


def test_words_of_other_languages_for_types_get_ours() -> None:
    for foreign, ours in (("Integer", "Int"), ("Boolean", "Bool"), ("List", "[...T]"), ("Strng", "String"), ("Any", "Unknown")):
        fault = evaluated(f"1 as {foreign}").diagnostics[0]
        assert ("unsupported_feature", f"did you mean `{ours}`?") == (fault.kind, fault.help)
        assert (f"`{foreign}` is no known type, and there is no check of that name",) == fault.notes


def test_an_array_word_and_a_null_word_are_explained() -> None:
    assert "write `[...T]` for an array of `T`" == evaluated("1 as Array").diagnostics[0].help
    assert ("the language has no null",) == evaluated("{ a = null; }").diagnostics[0].notes
    assert 1 == evaluated("let null = 1; in null").value


def test_messages_follow_the_wording_of_the_house() -> None:
    texts = (
        '1 + "a"', "true < false", "[] ++ 1", "- true", "> true", "5(1)", "(() => 1)(2)", "1.a", "{}.a", "1 as String", "{ a = 1; } as {}",
        "[1] as []", "1 as {}", "1 as 2", "Int as String", "{ a = 1; ...Int } as { a = Int; }", "1 as ((x) => x)", "1 & 2", "Int & String",
        "Int & > 3.5", "String & > 3", "Int & > 3 & < 4", "(Int default 1) & (Int default 2)", "match 1 { 2: 3; }", "1 / 0", "/a(/",
        "9223372036854775807 + 1", "Email & 1", "{ a = (x) => x; }", "Int", "let a = a; in a", "let a.b = 1; in 1",
        "let a = 1; a = 2; in 1",
        "((x, x) => 1)(1, 2)", "{ a = 1; a.b = 2; }", 'import "none.dcdl"', 'import ""', 'import "main.dcdl"', "match 1 { _ + 1: 2; }",
        "let x = [x]; in x", "let f = (x) => f(x); in f(1)", '"a" & /b/', "1 & /b/", "1 == true", "true && 1", "!1",
    )  # fmt: skip
    for text in texts:
        found = evaluated(text)
        assert found.diagnostics, text
        for each in found.diagnostics:
            assert each.message[0].islower() or each.message.startswith("`"), each.message
            assert not each.message.endswith("."), each.message
            assert each.primary.text, text
            assert len(each.primary.text.split()) <= 6, each.primary.text
