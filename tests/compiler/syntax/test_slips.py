"""The slips that people make have words of their own, and fixes that mend them: slips.txt holds one each, with what is to be said."""

from pathlib import Path

import pytest

from stateward.compiler.diagnostics.model import Applicability, Diagnostic
from tests.compiler.syntax.asked import errors, marked, mended, parsed

CASES = [
    block.split("\n")
    for block in Path(__file__).with_name("slips.txt").read_text("utf-8").strip().split("\n\n")
    if not block.startswith("#")
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_slip_is_told_as_the_list_says(case: list[str]) -> None:
    text = case[0].replace("⟦", "").replace("⟧", "")
    shown = []
    for found in parsed(text).diagnostics:
        warning = "warning: " if found.severity.value == "warning" else ""
        shown += [marked(text, found), f"    {warning}{found.message} — {found.primary.text}"]
        shown += [f"    help: {found.help}"] if found.help else []
        shown += [f"    {fix.applicability} fix: {mended(text, fix)}" for fix in found.fixes]
    assert [line.rstrip() for line in case] == [line.rstrip() for line in shown]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_fix_of_a_slip_gives_a_text_that_parses(case: list[str]) -> None:
    text = case[0].replace("⟦", "").replace("⟧", "")
    fixes = [fix for found in parsed(text).diagnostics for fix in found.fixes]
    assert [[] for _ in fixes] == [errors(mended(text, fix)) for fix in fixes]


@pytest.mark.parametrize(
    ("text", "message", "after"),
    [
        ("1\x0c", "the control character U+000C has no meaning in DCDL", "1 "),
        ("a\u00a0=\u00a01;", "U+00A0 NO-BREAK SPACE has no meaning in DCDL", "a = 1;"),
        ("\u200ba = 1;", "U+200B ZERO WIDTH SPACE has no meaning in DCDL", "a = 1;"),
        ("1\ufeff", "U+FEFF ZERO WIDTH NO-BREAK SPACE has no meaning in DCDL", "1"),
        ("a = 1;\x00", "the control character U+0000 has no meaning in DCDL", "a = 1; "),
        ("a = 1; /* one\n * two */\nb = 2;", "`/*` begins no comment", "a = 1; # one\n# two\nb = 2;"),
        ("a = \u201cit's\u201d;", "U+201C LEFT DOUBLE QUOTATION MARK opens no string", 'a = "it\'s";'),
    ],
)
def test_what_cannot_be_seen_in_a_list_is_named_and_mended_too(text: str, message: str, after: str) -> None:
    (found,) = errors(text)
    (fix,) = found.fixes
    assert (message, Applicability.SAFE, after) == (found.message, fix.applicability, mended(text, fix))
    assert [] == errors(after)


@pytest.mark.parametrize("text", ['"a\x00b"', "# a\x00b\n1", "/a\x00/", '"a\x9fb"', '"\ud800"'])
def test_control_characters_and_lone_surrogates_are_refused_in_strings_comments_and_patterns(text: str) -> None:
    (found,) = errors(text)
    assert "stands in a text" in found.message
    assert 1 == found.primary.place.span.end - found.primary.place.span.start


def test_an_invisible_character_is_reported_once_with_all_its_places() -> None:
    (found,) = errors("a =\u00a01;\nb =\u00a0\u00a02;\nc =\u00a03;\n")
    assert ("it stands in 2 more places",) == found.notes
    assert 3 == len(found.fixes[0].edits)


@pytest.mark.parametrize("escape", ["\\n", "\\t", "\\r", "\\\\", '\\"', "\\/", "\\'", "\\\n"])
def test_an_escape_that_means_what_it_looks_like_is_no_matter_for_a_warning(escape: str) -> None:
    assert () == parsed(f'"{escape}"').diagnostics


def test_a_merge_conflict_is_one_fault_and_the_first_side_is_read_on() -> None:
    text = "a = 1;\n<<<<<<< ours\nb = 2;\n=======\nb = 3;\n>>>>>>> theirs\nc = ;\n"
    conflict, missing = errors(text)
    assert ("a merge conflict is left in the text", 7) == (conflict.message, conflict.primary.place.span.start)
    assert ["=======", ">>>>>>>"] == [text[each.place.span.start : each.place.span.end] for each in conflict.secondary]
    assert "an expression is missing after `=`" == missing.message


IN_TEXT = 'a = "x\n<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs\n";'


@pytest.mark.parametrize(
    "text", [IN_TEXT, f"{IN_TEXT}\nb = 1 2;", IN_TEXT.replace("\n", "\r\n"), f"{IN_TEXT}{IN_TEXT}".replace("a", "c", 1)]
)
def test_marks_of_a_merge_inside_of_a_string_are_text_of_which_a_warning_is_given(text: str) -> None:
    found = [each for each in parsed(text).diagnostics if each.code == "merge_marks_in_text"]
    assert [text.index("<<<<<<<"), text.rindex("<<<<<<<")][: text.count("<<<<<<<")] == [each.primary.place.span.start for each in found]
    assert {("a string holds the marks of a merge conflict", 7)} == {
        (each.message, each.primary.place.span.end - each.primary.place.span.start) for each in found
    }
    assert [] == [each for each in errors(text) if "merge" in each.message]


@pytest.mark.parametrize(
    "text",
    [
        'a = "Title\n=======\ntext\n";',
        'a = "\n<<<<<<< ours\n=======\n";',
        'a = "\n <<<<<<< ours\n=======\n>>>>>>> theirs\n";',
        'a = "\n<<<<<<< ours\n"; b = "\n=======\n>>>>>>> theirs\n";',
    ],
)
def test_marks_that_make_no_whole_conflict_are_plain_text(text: str) -> None:
    assert () == parsed(text).diagnostics


@pytest.mark.parametrize("mark", ["<<<<<<< HEAD", "=======", ">>>>>>> x", "||||||| base"])
@pytest.mark.parametrize(
    "text", ["{mark}\na = 1;\nb = 2;\n", "a = 1;\n{mark}\nb = 2;\n", "a = {{\n{mark}\n b = 2; }};\n", "a = 1;\n{mark}"]
)
def test_a_mark_that_was_left_of_a_conflict_is_named_and_taken_out_with_its_line(mark: str, text: str) -> None:
    whole = text.format(mark=mark)
    (found,) = errors(whole)
    at = whole.index(mark)
    assert ("a mark of a merge conflict is left in the text", at, at + 7) == (
        found.message,
        found.primary.place.span.start,
        found.primary.place.span.end,
    )
    assert [] == errors(mended(whole, found.fixes[0]))


def test_comments_of_another_language_are_told_one_by_one_and_hide_nothing_else() -> None:
    found = errors("-- one\n-- two words\n--\na = 1; -- three\nb = ;\n")
    assert ["`--` begins no comment"] * 4 + ["an expression is missing after `=`"] == [each.message for each in found]


def test_what_stands_after_a_string_without_its_opening_quote_is_read_on() -> None:
    text = 'a = one two";\nb = "x";\nc = f("y", (z) => z);\nd = ;\n'
    found = errors(text)
    assert ["the opening quote of a string is missing", "an expression is missing after `=`"] == [each.message for each in found]


DIFF = """\
 a = 1;
+b = 2;
-b = 3;
+
+c = { d = 1;
+};
 e = 4;
"""


def test_lines_of_a_diff_are_told_once_and_what_they_add_is_kept() -> None:
    (found,) = errors(DIFF)
    (fix,) = found.fixes
    assert ("a line of a diff is left in the text", ("it has 4 more lines of that kind",)) == (found.message, found.notes)
    assert (Applicability.UNSAFE, " a = 1;\nb = 2;\n\nc = { d = 1;\n};\n e = 4;\n") == (fix.applicability, mended(DIFF, fix))
    assert [] == errors(mended(DIFF, fix))


@pytest.mark.parametrize("text", ["a = 1\n- 2 3;", "a = 1\n+ 2;\nb = 1 2;", "a = 1 2;\n-- a remark\nb = 3;"])
def test_a_sign_at_the_margin_is_no_diff_where_a_value_can_go_on(text: str) -> None:
    assert [] == [each.message for each in errors(text) if "diff is left" in each.message]


def test_dots_on_a_line_of_their_own_are_no_rest() -> None:
    (found,) = errors("{\n    a = 1;\n    ...\n    b = 2;\n}")
    assert ("`...` stands where a field belongs", (3, 5)) == (found.message, _position(found))


@pytest.mark.parametrize(
    ("text", "message", "pointed", "after"),
    [
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n a = 1;\n", "the head of a diff is left in the text", "--- a/x", " a = 1;\n"),
        ("> a = 1;\n>\n> b = 2;\n", "each line begins with the `>` of quoted mail", ">", "a = 1;\n\nb = 2;\n"),
        ("a = &quot;x y.&quot;; b = 1;", "`&quot;` is a quote of HTML", "&quot;", 'a = "x y."; b = 1;'),
        ('a = <<EOT\nIt\'s "so".\nEOT\n; b = 1;', "`<<EOT` opens no string", "<<EOT", None),
        ("a = <<-END\nEND; b = 1;", "`<<-END` opens no string", "<<-END", None),
        ("a = 1;\n<!-- the end -->\nb = 2;", "`<!--` begins no comment", "<!--", None),
    ],
)
def test_what_was_copied_along_is_told_once(text: str, message: str, pointed: str, after: str | None) -> None:
    (found,) = errors(text)
    span = found.primary.place.span
    assert (message, pointed) == (found.message, text[span.start : span.end])
    assert ([after] if after is not None else []) == [mended(text, each) for each in found.fixes]


@pytest.mark.parametrize("text", ['a = "<!-- x --> &quot;"; b = 1 2;', "# <!-- x --> &quot; &quot;\nb = 1 2;"])
def test_what_looks_copied_along_in_a_string_or_a_comment_is_text(text: str) -> None:
    assert [] == [each.message for each in errors(text) if "HTML" in each.message or "<!--" in each.message]


NUMBERED = " 8 a = 1;\n 9 \n10 b = {\n11   c = 2;\n12 };\n"


def test_numbers_in_front_of_all_lines_are_told_once() -> None:
    (found,) = errors(NUMBERED)
    (fix,) = found.fixes
    assert ("each line begins with its number", (1, 2)) == (found.message, _position(found))
    assert "a = 1;\n\nb = {\n  c = 2;\n};\n" == mended(NUMBERED, fix)


@pytest.mark.parametrize("text", ["1 a = 1;\n2 b = 2;\n", "1 a = 1;\n3 b = 2;\n5 c = 3;\n", "1 a = 1;\n2 b = 2;\nc = 3;\n3 d = 4;\n"])
def test_other_numbers_are_no_line_numbers(text: str) -> None:
    assert [] == [each.message for each in errors(text) if "begins with its number" in each.message]


LEVELS = "a = {\n    b = {\n        c = 1;\n    };\n};\n"


def test_a_brace_whose_other_half_was_lost_with_its_line_says_so() -> None:
    (found,) = errors(LEVELS.replace("    b = {\n", ""))
    assert ("`}` closes nothing", (3, 5), ("its `{` may be missing above",)) == (found.message, _position(found), found.notes)


def test_a_brace_that_was_written_twice_lacks_no_other_half() -> None:
    (found,) = errors(LEVELS.replace("    };\n", "    };\n    };\n"))
    assert ("`}` closes nothing", ()) == (found.message, found.notes)


def _position(found: Diagnostic) -> tuple[int, int]:
    place = found.primary.place
    return place.source.line_column(place.span.start)
