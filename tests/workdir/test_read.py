"""Which lines a read shows, and what it says of the others."""

import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.workdir.limits import LINE_NUMBER_MAX, SAMPLE_BYTES, ViewBounds
from stateward.runtime.workdir.reading import decoded, is_binary
from stateward.runtime.workdir.shown import RefusalCode, Refused, Shown
from stateward.runtime.workdir.view import WorkdirView
from tests.workdir.trees import Tree

TWO = "\u20ac\U0001f600"
"""A character of three bytes and one of four."""


def shown(answer: Shown | Refused) -> Shown:
    assert isinstance(answer, Shown), answer
    return answer


def refused(answer: object) -> RefusalCode:
    assert isinstance(answer, Refused), answer
    assert answer.message
    return answer.code


def bounded(place: Tree, **bounds: int) -> WorkdirView:
    return WorkdirView(place.root, replace(ViewBounds(), **bounds))


def test_a_small_file_is_shown_whole(place: Tree, view: WorkdirView) -> None:
    place.write("folder/a.txt", "one\ntwo\n")
    answer = shown(view.read("folder/a.txt"))
    assert Shown("folder/a.txt", 1, ("one", "two")) == answer
    assert (False, 2, "one\ntwo") == (answer.truncated, answer.last_line, answer.text)


def test_a_file_without_a_last_line_end_shows_the_same_lines(place: Tree, view: WorkdirView) -> None:
    place.write("a.txt", "one\ntwo")
    assert ("one", "two") == shown(view.read("a.txt")).lines


def test_an_empty_file_says_so(place: Tree, view: WorkdirView) -> None:
    place.write("a.txt", "")
    assert Shown("a.txt", 1, (), notices=("the file is empty",)) == view.read("a.txt")
    assert RefusalCode.BEYOND == refused(view.read("a.txt", 2))


def test_a_path_is_told_as_it_lies(place: Tree, view: WorkdirView) -> None:
    place.write("folder/a.txt")
    place.link("link", "folder")
    assert ["folder/a.txt"] * 3 == [shown(view.read(path)).path for path in ("./folder//a.txt", "link/a.txt", "folder/../folder/a.txt")]


@pytest.mark.parametrize(
    ("first", "limit", "lines", "more"), [(1, 2, "ab", True), (2, 3, "bcd", True), (4, 2, "de", False), (5, 9, "e", False)]
)
def test_a_window_shows_exactly_its_lines(place: Tree, view: WorkdirView, first: int, limit: int, lines: str, more: bool) -> None:
    place.write("a.txt", "a\nb\nc\nd\ne\n")
    answer = shown(view.read("a.txt", first, limit))
    assert (first, tuple(lines), more) == (answer.first_line, answer.lines, answer.more)
    assert ((f"more lines follow line {answer.last_line}",) if more else ()) == answer.notices


@pytest.mark.parametrize("first", [6, 7, 100])
def test_a_window_after_the_end_is_refused(place: Tree, view: WorkdirView, first: int) -> None:
    place.write("a.txt", "a\nb\nc\nd\ne\n")
    assert Refused(RefusalCode.BEYOND, "`a.txt` goes no further than line 5") == view.read("a.txt", first)


@pytest.mark.parametrize(("first", "limit"), [(0, 1), (-1, 1), (LINE_NUMBER_MAX + 1, 1), (1, 0), (1, -5)])
def test_a_range_that_is_none_is_refused(place: Tree, view: WorkdirView, first: int, limit: int) -> None:
    place.write("a.txt")
    assert RefusalCode.BAD_RANGE == refused(view.read("a.txt", first, limit))


def test_the_bound_on_lines_accepts_its_exact_value(place: Tree) -> None:
    place.write("a.txt", "a\nb\nc\n")
    with bounded(place, read_lines=3) as three, bounded(place, read_lines=2) as two:
        assert (False, True) == (shown(three.read("a.txt", 1, 99)).truncated, shown(two.read("a.txt", 1, 99)).truncated)


def test_the_bound_on_bytes_accepts_its_exact_value(place: Tree) -> None:
    place.write("a.txt", "aaaa\nbbbb\n")
    with bounded(place, read_bytes=9) as nine, bounded(place, read_bytes=8) as eight:
        assert (("aaaa", "bbbb"), False) == ((answer := shown(nine.read("a.txt"))).lines, answer.more)
        assert (("aaaa",), True) == ((answer := shown(eight.read("a.txt"))).lines, answer.more)


def test_a_long_line_is_cut_between_characters_and_the_next_is_whole(place: Tree) -> None:
    place.write("a.txt", f"{TWO * 3}\nnext\n")
    for size, kept in ((21, TWO * 3), (20, TWO * 2 + "\u20ac"), (17, TWO * 2 + "\u20ac"), (16, TWO * 2)):
        with bounded(place, line_bytes=size) as view:
            answer = shown(view.read("a.txt"))
            assert ((kept, "next"), () if size == 21 else (1,)) == (answer.lines, answer.cut)
            assert (size != 21) == answer.truncated


def test_a_read_looks_only_so_far_into_a_file(place: Tree) -> None:
    place.write("a.txt", "0123456\n" * 100)
    with bounded(place, scan_bytes=80) as view:
        assert 10 == len((answer := shown(view.read("a.txt"))).lines)
        assert answer.more
        assert RefusalCode.BEYOND == refused(view.read("a.txt", 50))


@pytest.mark.parametrize(
    "count", [*range(1000, 1031, 5), *range(4090, 4101), *range(SAMPLE_BYTES - 8, SAMPLE_BYTES + 8), *range(8190, 8201)]
)
def test_text_is_text_wherever_a_sample_or_a_bound_cuts_it(place: Tree, view: WorkdirView, count: int) -> None:
    place.write("a.txt", "a" * count + TWO + "\n")
    answer = shown(view.read("a.txt"))
    assert [] == [notice for notice in answer.notices if "UTF-8" in notice]
    assert ("a" * count + TWO).startswith(answer.lines[0])


@pytest.mark.parametrize("encoding", ["latin-1", "gbk"])
def test_another_encoding_is_shown_with_a_notice(place: Tree, view: WorkdirView, encoding: str) -> None:
    place.write("a.txt", ("caf\u00e9\n" if encoding == "latin-1" else "\u4f60\u597d\n").encode(encoding))
    answer = shown(view.read("a.txt"))
    assert ("bytes that are no UTF-8 text are shown as U+FFFD",) == answer.notices
    assert "\ufffd" in answer.text


def test_a_file_with_zero_bytes_is_named_as_binary(place: Tree, view: WorkdirView) -> None:
    place.write("a.bin", b"text\0more")
    assert Refused(RefusalCode.BINARY, "`a.bin` is a binary file of 9 bytes") == view.read("a.bin")


def test_a_zero_byte_far_into_a_text_is_replaced(place: Tree, view: WorkdirView) -> None:
    place.write("a.txt", b"line\n" * SAMPLE_BYTES + b"a\0b\n")
    answer = shown(view.read("a.txt", SAMPLE_BYTES + 1))
    assert (("a\ufffdb",), ("bytes that are no UTF-8 text are shown as U+FFFD",)) == (answer.lines, answer.notices)


def test_what_ends_and_begins_lines_elsewhere_is_told_and_not_shown(place: Tree, view: WorkdirView) -> None:
    place.write("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\nthr\ree\n")
    answer = shown(view.read("a.txt"))
    assert ("one", "two", "thr\ree") == answer.lines
    assert 2 == len(answer.notices)


def test_a_folder_is_no_file(place: Tree, view: WorkdirView) -> None:
    place.write("folder/a.txt")
    assert [RefusalCode.FOLDER] * 3 == [refused(view.read(path)) for path in ("folder", ".", "")]
    assert RefusalCode.NOT_FOUND == refused(view.read("folder/a.txt/b"))
    assert RefusalCode.NOT_FOUND == refused(view.read("none"))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_refused(place: Tree, view: WorkdirView) -> None:
    place.write("a.txt").chmod(0)
    assert RefusalCode.UNREADABLE == refused(view.read("a.txt"))


def test_a_file_that_changes_while_it_is_read_is_not_shown(place: Tree, view: WorkdirView, monkeypatch: pytest.MonkeyPatch) -> None:
    file = place.write("a.txt", "one\n")

    def changing(handle: int) -> bool:
        file.write_text("one\ntwo\n", "utf-8")
        return is_binary(handle)

    monkeypatch.setattr("stateward.runtime.workdir.reading.is_binary", changing)
    assert Refused(RefusalCode.CHANGED, "`a.txt` was changed while it was read", "read it again") == view.read("a.txt")


def test_what_was_shown_is_compared_with_what_is_there(place: Tree, view: WorkdirView) -> None:
    file = place.write("a.txt", "one\ntwo\nthree\n")
    answers = [shown(view.read("a.txt", 1, 2)), shown(view.read("a.txt", 3))]
    assert [True, True] == [view.is_still(each) for each in answers]
    file.write_text("one\n2\nthree\n", "utf-8")
    assert [False, True] == [view.is_still(each) for each in answers]
    file.unlink()
    assert [False, False] == [view.is_still(each) for each in answers]


@given(st.binary(max_size=40), st.integers(1, 44))
def test_a_cut_line_is_the_beginning_of_the_whole_one(data: bytes, size: int) -> None:
    text, cut, exact = decoded(data, size)
    assert (len(data) > size) == cut
    assert data.decode("utf-8", "replace").replace("\0", "\ufffd").startswith(text.rstrip("\ufffd"))
    if exact:
        assert data.startswith(text.encode("utf-8"))
        assert len(text.encode("utf-8")) <= size


@given(
    lines=st.lists(st.text(st.characters(exclude_characters="\n\r\0", codec="utf-8"), max_size=12), min_size=1, max_size=12),
    size=st.integers(1, 5),
)
def test_pages_put_together_are_the_file(tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int) -> None:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "a.txt").write_bytes("".join(f"{each}\n" for each in lines).encode("utf-8"))
    found: list[str] = []
    with WorkdirView(folder) as view:
        more = True
        while more:
            answer = shown(view.read("a.txt", len(found) + 1, size))
            found += answer.lines
            more = answer.more
    assert [lines[0].removeprefix("\ufeff"), *lines[1:]] == found
