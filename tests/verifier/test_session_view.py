"""Looking around in a captured log: an overview, a search, entries in parts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core.instance import Aside
from stateward.runtime.session import browse
from stateward.runtime.session.browse import (
    ACTS_MAX,
    CALL_DISTANCE_MAX,
    CHANNELS_MAX,
    NEEDLE_CHARACTERS_MAX,
    PAGE_ENTRIES_MAX,
    READ_BYTES_MAX,
    NotThere,
    Query,
    SessionView,
    ViewBounds,
)
from stateward.runtime.session.browse_text import HIDDEN
from stateward.runtime.session.captured import CapturedLog
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Entry, Head, Kind, NewEntry
from stateward.runtime.session.evidence import EvidenceClass
from tests.verifier.logs import NOON, Said, host_result, log, note, ran, said


def view(*entries: Said, aside: Sequence[Aside] = (), **bounds: int) -> SessionView:
    return SessionView(log(*entries), aside, ViewBounds(**bounds))


def found(at: SessionView, query: Query) -> list[int]:
    return [each.seq for each in at.search(query).entries]


TEN = tuple(note(f"note {number}") for number in range(1, 11))


# --- searching ----------------------------------------------------------------------------------------------------------------------


def test_a_search_without_anything_lists_all_entries_the_oldest_first() -> None:
    assert list(range(1, 11)) == found(view(*TEN), Query())


def test_a_text_is_looked_for_literally_and_in_any_case() -> None:
    at = view(note("All PASSED"), note("passed"), note("p.ssed"), note("É"), note("nothing"))
    assert [1, 2] == found(at, Query("passed"))
    assert [3] == found(at, Query("P.SSED"))
    assert [1] == found(view(note("STRASSE")), Query("straße"))
    assert [4] == found(at, Query("é"))
    assert [] == found(at, Query(".*"))


@pytest.mark.parametrize("text", ["(a+)+$", "[", "\\", "(a|aa)+$", "{0.__class__}", "%s"])
def test_no_text_is_a_pattern(text: str) -> None:
    assert [2] == found(view(note("a" * 60 + "X"), note(f"<{text}>")), Query(text))


def test_a_text_is_found_as_it_is_shown() -> None:
    at = view(note("x\u202ey"), host_result('{"out": "caf\\u00e9"}'))
    assert [1] == found(at, Query("x\u202ey"))
    assert [1] == found(at, Query("‹U+202E›"))
    assert [2] == found(at, Query("CAFÉ"))


def test_entries_are_found_by_kind_tool_and_part() -> None:
    call = said(Kind.TOOL_CALL, ActorClass.HOST, {"tool_name": "Read", "tool_input": {"path": "tests"}})
    at = view(note("tests"), call, ran("run-tests"), host_result({"tool_name": "Read", "out": "tests"}))
    assert [2] == found(at, Query(kind=Kind.TOOL_CALL))
    assert [2, 4] == found(at, Query(tool="read"))
    assert [2, 3] == found(at, Query("tests", part="given"))
    assert [1, 4] == found(at, Query("tests", part="result"))
    assert [4] == found(at, Query("tests", kind=Kind.TOOL_RESULT, tool="Read", part="result"))
    assert [2, 3] == found(at, Query(part="given"))


def test_a_range_holds_both_of_its_ends() -> None:
    assert [3, 4, 5] == found(view(*TEN), Query(first=3, last=5))
    assert [10] == found(view(*TEN), Query(first=10, last=99))


@given(count=st.integers(0, 12), offset=st.integers(0, 13), limit=st.integers(1, 13))
def test_pages_are_exact_and_say_whether_more_follows(count: int, offset: int, limit: int) -> None:
    at = view(*[note("hit"), note("miss")] * count, page_entries=13)
    page = at.search(Query("hit", offset=offset, limit=limit))
    every = list(range(1, 2 * count, 2))
    assert every[offset : offset + limit] == [each.seq for each in page.entries]
    assert (offset + limit < count) is page.more


def test_a_page_has_as_many_entries_as_the_bounds_say_and_no_more() -> None:
    at = view(*TEN, page_entries=3)
    assert [1, 2, 3] == found(at, Query())
    with pytest.raises(NotThere, match="a page has 1 to 3 entries"):
        at.search(Query(limit=4))


@pytest.mark.parametrize("query", [Query(limit=0), Query(offset=-1), Query(first=0), Query(first=11), Query(first=5, last=4)])
def test_a_query_that_can_find_nothing_is_refused(query: Query) -> None:
    with pytest.raises(NotThere):
        view(*TEN).search(query)


def test_a_text_that_is_searched_for_has_a_limit() -> None:
    assert [] == found(view(*TEN), Query("x" * NEEDLE_CHARACTERS_MAX))
    with pytest.raises(NotThere, match="at most 1024 characters"):
        view(*TEN).search(Query("x" * (NEEDLE_CHARACTERS_MAX + 1)))


def test_a_search_that_looked_through_all_it_may_says_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browse, "SEARCH_BYTES_MAX", 18)
    page = view(note("123456789"), note("123456789"), note("1")).search(Query("1"))
    assert ([1, 2], False, 2) == ([each.seq for each in page.entries], page.more, page.stopped_at)
    assert None is view(note("123456789"), note("123456789")).search(Query("1")).stopped_at
    assert [1] == found(view(note("x" * 19)), Query("x"))  # one entry is always looked at


def test_an_excerpt_is_one_line_around_what_was_found() -> None:
    (hit,) = view(note("a\n" * 500 + "the needle\n" + "b\n" * 500)).search(Query("needle")).entries
    assert "the needle" in hit.preview
    assert hit.preview.startswith("…")
    assert hit.preview.endswith("…")
    assert "\n" not in hit.preview
    (short,) = view(note("short\ttext")).search(Query()).entries
    assert "short text" == short.preview


def test_an_excerpt_is_around_what_was_found_however_letters_fold() -> None:
    (hit,) = view(note("ß" * 5000 + "the needle" + "ß" * 5000)).search(Query("NEEDLE")).entries
    assert "the needle" in hit.preview


def test_no_text_takes_long_to_look_for() -> None:
    text, needle = "a" * 4_000_000, "a" * (NEEDLE_CHARACTERS_MAX - 1)
    assert [] == found(view(note(text)), Query(f"{needle}b"))
    assert [] == found(view(note(text)), Query(f"b{needle}"))
    assert [] == found(view(note(text)), Query(f"{needle[:500]}b{needle[:500]}"))


def test_what_is_hidden_is_not_found_and_keeps_its_reference() -> None:
    hidden = said(Kind.ASSISTANT_MESSAGE, ActorClass.HOST, {"role": "system", "content": "secret"})
    at = view(hidden, note("secret"))
    assert [2] == found(at, Query("secret"))
    assert [2] == found(at, Query())
    assert ("E00000001", HIDDEN, "") == (at.read("E00000001").seen.reference, at.read("E00000001").seen.withheld, at.read("E00000001").text)


# --- reading ------------------------------------------------------------------------------------------------------------------------


@given(text=st.text(st.characters(codec="utf-8"), max_size=80), size=st.integers(4, 12))
def test_an_entry_is_read_in_parts_that_come_to_the_whole(text: str, size: int) -> None:
    at = view(note(b"." + text.encode()), read_bytes=size)
    parts, offset, total = [], 0, None
    while offset != total:
        piece = at.read("E00000001", offset)
        assert (offset, size >= len(piece.text.encode())) == (piece.start, True)
        parts.append(piece.text)
        offset, total = piece.end, piece.total
    assert "".join(parts) == SessionView(log(note(b"." + text.encode()))).read("E00000001").text


def test_a_text_of_exactly_the_bound_is_shown_whole() -> None:
    assert (0, 8, 8) == _span(view(note("12345678"), read_bytes=8))
    assert (0, 8, 9) == _span(view(note("123456789"), read_bytes=8))


def _span(at: SessionView) -> tuple[int, int, int]:
    piece = at.read("E00000001")
    return piece.start, piece.end, piece.total


@pytest.mark.parametrize("named", ["E00000000", "E00000003", "E1", "00000001", "E0000000١", "e00000001", "E00000001 ", "", "E000000001"])
def test_a_name_that_is_no_captured_entry_is_refused_with_those_that_are(named: str) -> None:
    with pytest.raises(NotThere, match="entries are named `E00000001` to `E00000002`"):
        view(note(), note()).read(named)


def test_an_empty_log_has_no_entries() -> None:
    with pytest.raises(NotThere, match="the session has no entries"):
        view().read("E00000001")
    assert [] == found(view(), Query())
    assert 0 == view().overview().entries


@pytest.mark.parametrize("offset", [-1, 3])
def test_an_offset_outside_of_the_text_is_refused(offset: int) -> None:
    with pytest.raises(NotThere, match="has 2 characters"):
        view(note("ab")).read("E00000001", offset)


def test_what_was_committed_after_the_capture_is_not_seen() -> None:
    entries = log(*TEN)
    captured = CapturedLog(Head(4, entries[3].digest), lambda after, upto: iter(entries[after:upto]))
    at = SessionView(captured)
    assert [1, 2, 3, 4] == found(at, Query())
    with pytest.raises(NotThere):
        at.read("E00000005")


def test_entries_are_read_a_few_at_a_time_and_no_further_than_needed() -> None:
    entries, read = log(*[note("x")] * 100), []

    def reader(after: int, upto: int) -> Iterator[Entry]:
        read.append((after, upto))
        return iter(entries[after:upto])

    at = SessionView(CapturedLog(Head(100, entries[-1].digest), reader), bounds=ViewBounds(page_entries=5))
    at.search(Query(first=50))
    assert [(49, 65)] == read


# --- what is said of entries --------------------------------------------------------------------------------------------------------


def test_each_entry_says_its_class_of_evidence_whatever_it_claims_to_be() -> None:
    claims = {"kind": "tool_result", "evidence": "engine", "actor": {"class": "host"}}
    at = view(
        note(claims), host_result(claims), said(Kind.SESSION_STARTED, ActorClass.ENGINE, claims), said("odd", ActorClass.HOST, claims)
    )
    expected = [EvidenceClass.CLAIM, EvidenceClass.HOST, EvidenceClass.DIAGNOSTIC, EvidenceClass.DIAGNOSTIC]
    assert expected == [each.evidence for each in at.search(Query()).entries]
    assert [Kind.NOTE, Kind.TOOL_RESULT, Kind.SESSION_STARTED, ""] == [each.kind for each in at.search(Query()).entries]


def test_what_was_set_aside_is_labelled_in_every_view() -> None:
    at = view(*TEN, aside=(Aside(2, 5),))
    assert [3, 4] == [each.seq for each in at.search(Query()).entries if each.aside]
    assert [True, False] == [at.read(each).seen.aside for each in ("E00000003", "E00000005")]
    assert [3, 4] == [each.seq for each in at.overview().latest if each.aside]
    assert (Aside(2, 5),) == at.overview().aside


@pytest.mark.parametrize("command", ["run-tests | tail -20", "run-tests || true", "run-tests; echo ok"])
def test_a_status_that_may_be_masked_is_marked(command: str) -> None:
    """S-EVI-1: the status of a pipeline, or one that was forced to 0, is not that of the tests."""
    assert view(ran(command)).read("E00000001").seen.masked


def test_the_status_of_a_plain_command_is_not_marked() -> None:
    """S-EVI-1."""
    assert "" == view(ran("run-tests")).read("E00000001").seen.masked


CALL = said(Kind.TOOL_CALL, ActorClass.HOST, {"tool_use_id": "u1", "tool_input": {"command": "run-tests | tail"}})
RESULT = host_result({"tool_use_id": "u1", "exit_code": 0})


def test_the_command_of_a_result_is_that_of_its_call() -> None:
    assert "pipeline" in view(CALL, note(), RESULT).read("E00000003").seen.masked
    plain = said(Kind.TOOL_CALL, ActorClass.HOST, {"tool_use_id": "u1", "tool_input": {"command": "run-tests"}})
    assert "" == view(plain, RESULT).read("E00000002").seen.masked


def test_a_call_is_looked_for_only_so_far_back_and_only_from_the_same_class_of_actor() -> None:
    last = f"E{CALL_DISTANCE_MAX + 1:08d}"
    assert "pipeline" in view(CALL, *[note()] * (CALL_DISTANCE_MAX - 1), RESULT).read(last).seen.masked
    beyond = f"E{CALL_DISTANCE_MAX + 2:08d}"
    assert "not recorded" in view(CALL, *[note()] * CALL_DISTANCE_MAX, RESULT).read(beyond).seen.masked
    forged = replace(CALL, by=ActorClass.AGENT, payload=CALL.payload.replace(b" | tail", b""))
    assert "not recorded" in view(forged, RESULT).read("E00000002").seen.masked


def test_a_status_without_a_command_may_be_masked_and_a_result_without_a_status_may_not() -> None:
    assert "not recorded" in view(host_result({"exit_code": 0})).read("E00000001").seen.masked
    assert "" == view(host_result({"out": "a | b"})).read("E00000001").seen.masked
    assert "" == view(said(Kind.TOOL_RESULT, ActorClass.ENGINE, {"exit_code": 0})).read("E00000001").seen.masked


# --- the overview -------------------------------------------------------------------------------------------------------------------


def test_an_overview_counts_by_kind_and_class_and_shows_the_newest() -> None:
    overview = view(*TEN, host_result(), said("odd", ActorClass.HOST, "x")).overview()
    assert (("", EvidenceClass.DIAGNOSTIC, 1), ("note", EvidenceClass.CLAIM, 10), ("tool_result", EvidenceClass.HOST, 1)) == overview.kinds
    assert list(range(3, 13)) == [each.seq for each in overview.latest]


def test_an_overview_names_the_channels_and_since_when_they_record() -> None:
    overview = view(note(), host_result(), note()).overview()
    assert [(ActorClass.AGENT, "mcp", 1, 3, 2), (ActorClass.HOST, "hook", 2, 2, 1)] == [
        (each.actor_class, each.channel, each.first, each.last, each.entries) for each in overview.channels
    ]


def test_an_overview_shows_the_newest_acts_of_operators() -> None:
    acts = [said(kind, ActorClass.PERSON, "{}") for kind in (Kind.OPERATOR_ACT, Kind.REWOUND, Kind.ROLLBACK_ACCEPTED)]
    overview = view(*acts, *TEN, *[acts[0]] * ACTS_MAX, *TEN, *TEN).overview()
    assert list(range(14, 14 + ACTS_MAX)) == [each.seq for each in overview.acts]
    assert [1, 2, 3] == [each.seq for each in view(*acts, *TEN).overview().acts]


def test_an_overview_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browse, "SURVEY_ENTRIES_MAX", 4)
    overview = view(*TEN).overview()
    assert (10, 7, 4) == (overview.entries, overview.counted_from, sum(number for _, _, number in overview.kinds))
    many = [NewEntry(Kind.NOTE, Actor(ActorClass.AGENT, f"c{each}"), NOON, b"") for each in range(CHANNELS_MAX + 1)]
    monkeypatch.undo()
    assert CHANNELS_MAX == len(SessionView(link_all("w", GENESIS, many)).overview().channels)


@pytest.mark.parametrize("bounds", [(3, 1), (READ_BYTES_MAX + 1, 1), (4, 0), (4, PAGE_ENTRIES_MAX + 1)])
def test_bounds_that_let_nothing_through_or_too_much_are_refused(bounds: tuple[int, int]) -> None:
    ViewBounds(4, 1)
    ViewBounds(READ_BYTES_MAX, PAGE_ENTRIES_MAX)
    with pytest.raises(ValueError, match="a read has 4 to"):
        ViewBounds(*bounds)
