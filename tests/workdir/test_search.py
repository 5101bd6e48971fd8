"""What a glob and a grep find, in which order, and what they say was left out."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.workdir.limits import DEPTH_MAX, PATTERN_BYTES_MAX, ViewBounds
from stateward.runtime.workdir.patterns import BadPattern, compiled, compiled_glob, depth_of
from stateward.runtime.workdir.shown import Globbed, Grepped, Hit, RefusalCode, Refused
from stateward.runtime.workdir.view import WorkdirView
from tests.workdir.trees import Tree

FILES = ("README.md", ".hidden", "src/a.py", "src/b.ts", "src/deep/c.py", "src/deep/er/d.py", "test/a.py")


def names(answer: object) -> list[str]:
    assert isinstance(answer, Globbed), answer
    return [each.path for each in answer.entries]


def hits(answer: object) -> list[tuple[str, int, str]]:
    assert isinstance(answer, Grepped), answer
    return [(each.path, each.line, each.text) for each in answer.hits]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", ".hidden README.md src test"),
        ("*.md", "README.md"),
        ("src/*", "src/a.py src/b.ts src/deep"),
        ("**/*.py", "src/a.py src/deep/c.py src/deep/er/d.py test/a.py"),
        ("src/**/*.py", "src/a.py src/deep/c.py src/deep/er/d.py"),
        ("src/deep/**", "src/deep/c.py src/deep/er src/deep/er/d.py"),
        ("**/a.py", "src/a.py test/a.py"),
        ("*/[!a].ts", "src/b.ts"),
        ("{src,test}/?.{py,ts}", "src/a.py src/b.ts test/a.py"),
        (r"READM\E.md", "README.md"),
        ("none", ""),
        ("src[!x]a.py", ""),
    ],
)
def test_a_pattern_finds_whole_paths(place: Tree, view: WorkdirView, pattern: str, found: str) -> None:
    for each in FILES:
        place.write(each)
    assert found.split() == names(view.glob(pattern))


def test_a_glob_below_a_folder_takes_its_pattern_from_there(place: Tree, view: WorkdirView) -> None:
    for each in FILES:
        place.write(each)
    place.link("link", "src/deep")
    assert ["src/deep/c.py"] == names(view.glob("*.py", under="src/deep")) == names(view.glob("*.py", under="link"))
    assert isinstance(view.glob("*", under="none"), Refused)
    assert isinstance(view.glob("*", under="README.md"), Refused)


def test_a_pattern_of_known_depth_looks_no_deeper(place: Tree, view: WorkdirView) -> None:
    place.write("/".join("d" * (DEPTH_MAX + 2)) + "/below")
    assert Globbed((), False) == view.glob("*.txt")
    deep = view.glob("**/below")
    assert isinstance(deep, Globbed)
    assert ((), True, (f"folders more than {DEPTH_MAX} deep were not looked at",)) == (deep.entries, deep.truncated, deep.notices)
    assert [1, 3, None] == [depth_of(each) for each in ("*", "a/*/b", "a/**/b")]


def test_lines_are_found_in_order_with_their_numbers(place: Tree, view: WorkdirView) -> None:
    place.write("b/a.txt", "x one\n\nno\nx two")
    place.write("a.txt", "no\r\nx three\r\n")
    assert [("a.txt", 2, "x three"), ("b/a.txt", 1, "x one"), ("b/a.txt", 4, "x two")] == hits(view.grep("^x .*e?$"))
    assert [("b/a.txt", 2, "")] == hits(view.grep("^$"))
    assert [("b/a.txt", 4, "x two")] == hits(view.grep("TWO", ignore_case=True))
    assert [] == hits(view.grep("TWO"))


def test_which_files_are_searched_can_be_said(place: Tree, view: WorkdirView) -> None:
    for each in FILES:
        place.write(each, "x\n")
    assert ["src/b.ts"] == [path for path, _, _ in hits(view.grep("x", paths="*.ts"))]
    assert ["src/a.py"] == [path for path, _, _ in hits(view.grep("x", paths="src/*.py"))]
    assert ["src/deep/c.py"] == [path for path, _, _ in hits(view.grep("x", under="src/deep", paths="c*"))]
    assert ["src/a.py"] == [path for path, _, _ in hits(view.grep("x", under="src/a.py"))]


def test_a_match_stays_within_its_line(place: Tree, view: WorkdirView) -> None:
    place.write("a.txt", "one\ntwo\n")
    assert [] == hits(view.grep(r"one\s+two"))
    assert [] == hits(view.grep(r"(?s)one.*two"))
    assert [("a.txt", 1, "one"), ("a.txt", 2, "two")] == hits(view.grep(r"[^x]+"))


def test_what_is_no_text_is_searched_and_replaced_and_what_is_binary_counted(place: Tree, view: WorkdirView) -> None:
    place.write("latin.txt", b"caf\xe9 x\n")
    place.write("binary", b"x\0x")
    found = view.grep("x")
    assert Grepped((Hit("latin.txt", 1, "caf\ufffd x", False),), False, ("binary files that were not searched: 1",)) == found


def test_the_bounds_on_results_accept_their_exact_values(place: Tree) -> None:
    place.write("a.txt", "x\n" * 5)
    bounds = ViewBounds(results=5)
    with WorkdirView(place.root, bounds) as five, WorkdirView(place.root, replace(bounds, results=4)) as four:
        assert (5, False) == (len(hits(found := five.grep("x"))), isinstance(found, Grepped) and found.truncated)
        cut = four.grep("x")
        assert isinstance(cut, Grepped)
        assert (4, True, ("there are more than 4 results; the others are not shown",)) == (len(cut.hits), cut.truncated, cut.notices)
    with WorkdirView(place.root, replace(bounds, result_bytes=60)) as small:
        cut = small.grep("x")
        assert isinstance(cut, Grepped)
        assert (2, True) == (len(cut.hits), cut.truncated)


def test_a_long_line_is_shown_cut(place: Tree) -> None:
    place.write("a.txt", "\u20ac" * 10)
    with WorkdirView(place.root, ViewBounds(match_bytes=8)) as view:
        assert Grepped((Hit("a.txt", 1, "\u20ac" * 2, True),)) == view.grep("\u20ac$")


NO_PATTERNS = ["(", "a{2000}{2000}", "(?=a)", r"(a)\1", "[z-a]", "", "x" * (PATTERN_BYTES_MAX + 1), "\ud800", "a\0", r"\Aa", r"a\z"]


@pytest.mark.parametrize("pattern", NO_PATTERNS)
def test_a_pattern_that_is_none_is_an_ordinary_refusal(place: Tree, view: WorkdirView, pattern: str) -> None:
    place.write("a.txt")
    answer = view.grep(pattern)
    assert isinstance(answer, Refused)
    assert RefusalCode.BAD_PATTERN == answer.code
    assert "(?m)" not in answer.message
    assert "\n" not in answer.message


@pytest.mark.parametrize("pattern", ["{a", "", "[z-a]", "src[/]a", "x" * (PATTERN_BYTES_MAX + 1)])
def test_a_pattern_for_paths_that_is_none_is_refused(place: Tree, view: WorkdirView, pattern: str) -> None:
    place.write("a.txt")
    assert isinstance(view.glob(pattern), Refused)
    assert pattern == "" or isinstance(view.grep("x", paths=pattern), Refused)


@given(st.text(st.sampled_from("a*?[]!^-{},/\\.b+()|$"), min_size=1, max_size=24))
def test_every_text_is_a_pattern_for_paths_or_refused(pattern: str) -> None:
    try:
        found = compiled_glob(pattern)
    except BadPattern:
        return
    found.search(b"a/b")


@given(st.text(st.sampled_from("ab.+(){}[]|$^,! \u20ac"), min_size=1, max_size=16))
def test_an_escaped_name_matches_itself_only(name: str) -> None:
    pattern = compiled_glob("".join(f"\\{each}" for each in name))
    assert pattern.search(name.encode("utf-8")) is not None
    assert pattern.search(f"{name}x".encode()) is None


EXPRESSIONS = ["a", "^a", "b$", "^$", "a.*b", "[^a]b", r"\bab", "(a|b)+$", r"\s", "x*"]


@given(st.lists(st.text(st.sampled_from("ab \t"), max_size=5), max_size=8), st.sampled_from(EXPRESSIONS))
def test_a_whole_file_is_searched_as_its_lines_would_be(lines: list[str], expression: str) -> None:
    data = "".join(f"{each}\n" for each in lines).encode("utf-8")
    pattern, found, start = compiled(expression), [], 0
    while start < len(data) and (match := pattern.search(data, start)) is not None and match.start() < len(data):
        found.append(data.count(b"\n", 0, match.start()))
        start = data.find(b"\n", match.start()) + 1
    assert [number for number, line in enumerate(lines) if re.search(expression, line)] == found


def test_paths_that_cannot_be_seen_are_shown_as_json(place: Tree, view: WorkdirView) -> None:
    place.write("a\nb: ok")
    place.write("\u202egnp.txt")
    found = view.glob("*")
    assert isinstance(found, Globbed)
    assert '"a\\nb: ok"\n"\\u202egnp.txt"' == found.text


def test_names_that_are_no_text_are_told_of(place: Tree, view: WorkdirView) -> None:
    place.write("a\udcff.txt")
    place.write("b.txt")
    found = view.glob("*")
    assert isinstance(found, Globbed)
    assert (["b.txt"], True) == (names(found), found.truncated)
    assert ("`.` holds names that are no UTF-8; those entries were not looked at",) == found.notices
