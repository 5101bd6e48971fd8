"""What can be cited: what was shown in full, word for word, and of what class it is."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core.events import EntryCitation, FileCitation
from stateward.runtime.core.instance import Aside
from stateward.runtime.session.browse import SessionView, ViewBounds
from stateward.runtime.session.entries import ActorClass, Kind
from stateward.runtime.session.evidence import EvidenceClass
from stateward.runtime.verifier import ledger as ledger_module
from stateward.runtime.verifier.ledger import Ledger, Resolved, Unresolvable
from stateward.runtime.workdir.shown import Grepped, Hit, Shown
from tests.verifier.logs import Said, host_result, log, note, ran, said


def having_read(*entries: Said, spans: Sequence[tuple[int, int]] = ((1, 0),), size: int = 1024, aside: Sequence[Aside] = ()) -> Ledger:
    """A ledger after entries were read, each from an offset on."""
    view = SessionView(log(*entries), aside, ViewBounds(read_bytes=size))
    ledger = Ledger(len(entries))
    for seq, offset in spans:
        ledger.note_entry(view.read(f"E{seq:08d}", offset))
    return ledger


def entry(ledger: Ledger, named: str = "E00000001") -> Resolved | Unresolvable:
    return ledger.resolve(EntryCitation(named))


def why_not(found: Resolved | Unresolvable) -> str:
    assert isinstance(found, Unresolvable), found
    return found.reason


# --- entries ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "evidence"),
    [
        (host_result(), EvidenceClass.HOST),
        (note(), EvidenceClass.CLAIM),
        (said(Kind.EXTENSION, ActorClass.ENGINE, "{}"), EvidenceClass.ENGINE),
        (said(Kind.SESSION_STARTED, ActorClass.ENGINE, "{}"), EvidenceClass.DIAGNOSTIC),
        (said(Kind.USER_INPUT, ActorClass.PERSON, "{}"), EvidenceClass.OPERATOR),
        (said(Kind.TOOL_RESULT, ActorClass.ENGINE, "{}"), EvidenceClass.CLAIM),
        (said("odd", ActorClass.HOST, "{}"), EvidenceClass.DIAGNOSTIC),
    ],
)
def test_an_entry_that_was_read_resolves_to_its_class(given: Said, evidence: EvidenceClass) -> None:
    assert Resolved(evidence) == entry(having_read(given))


def test_a_masked_status_is_known_of_a_citation() -> None:
    found = entry(having_read(ran("run-tests | tail")))
    assert isinstance(found, Resolved)
    assert "pipeline" in found.masked


@pytest.mark.parametrize("named", ["E00000002", "E00000003"])
def test_an_entry_that_was_not_read_does_not_resolve(named: str) -> None:
    ledger = having_read(note(), note())
    expected = {"E00000002": "it was not read", "E00000003": "no such entry was captured"}
    assert expected[named] == why_not(entry(ledger, named))


@pytest.mark.parametrize("named", ["E1", "E000000001", "e00000001", "", "E", "E0000000١", "E00000001 ", "E00000000\n", "E" + "9" * 5000])
def test_a_name_that_is_no_reference_does_not_resolve(named: str) -> None:
    assert "it names no entry" == why_not(entry(having_read(note()), named))


def test_the_entry_before_the_first_is_none() -> None:
    assert "no such entry was captured" == why_not(entry(having_read(note()), "E00000000"))


def test_an_entry_resolves_once_all_of_its_parts_were_shown_in_whatever_order() -> None:
    text = note("0123456789")
    assert "only a part of it was shown" == why_not(entry(having_read(text, spans=[(1, 0)], size=4)))
    assert "only a part of it was shown" == why_not(entry(having_read(text, spans=[(1, 8), (1, 0)], size=4)))
    assert Resolved(EvidenceClass.CLAIM) == entry(having_read(text, spans=[(1, 8), (1, 0), (1, 4)], size=4))


@given(offsets=st.lists(st.integers(0, 12), max_size=6), total=st.integers(0, 12))
def test_an_entry_resolves_exactly_when_every_character_was_shown(offsets: list[int], total: int) -> None:
    starts = [each for each in offsets if each <= total]
    ledger = having_read(note("x" * total), spans=[(1, each) for each in starts], size=4)
    covered = {place for start in starts for place in range(start, min(start + 4, total))}
    assert isinstance(entry(ledger), Resolved) is (bool(starts) and len(covered) == total)


def test_what_was_set_aside_and_what_is_hidden_does_not_resolve() -> None:
    assert "set aside" in why_not(entry(having_read(host_result(), aside=[Aside(0, 2)])))
    hidden = said(Kind.ASSISTANT_MESSAGE, ActorClass.HOST, {"role": "system"})
    assert "not shown" in why_not(entry(having_read(hidden)))


# --- lines of files -----------------------------------------------------------------------------------------------------------------

FILE = Shown("src/a.py", 3, ("def f():", "\treturn 1", "", "# end\u200b"))


def having_seen(*given: Shown | Grepped) -> Ledger:
    ledger = Ledger(0)
    for each in given:
        if isinstance(each, Shown):
            ledger.note_lines(each)
        else:
            ledger.note_hits(each)
    return ledger


def lines(ledger: Ledger, first: int, last: int, quote: str, path: str = "src/a.py") -> Resolved | Unresolvable:
    return ledger.resolve(FileCitation(path, first, last, quote))


@pytest.mark.parametrize(
    ("first", "last", "quote"),
    [(3, 3, "def f():"), (3, 4, "def f():\n\treturn 1"), (3, 4, "def f():\r\n\treturn 1\n"), (5, 5, ""), (6, 6, "# end‹U+200B›")],
)
def test_lines_that_were_shown_resolve_by_their_text(first: int, last: int, quote: str) -> None:
    assert Resolved(EvidenceClass.WORKDIR) == lines(having_seen(FILE), first, last, quote)


@pytest.mark.parametrize(
    ("first", "last", "quote"), [(3, 3, "def f()"), (3, 3, "def g():"), (3, 4, "def f():"), (3, 3, "def f():\n\treturn 1"), (6, 6, "# end")]
)
def test_a_quote_that_differs_does_not_resolve(first: int, last: int, quote: str) -> None:
    assert f"the quote is not lines {first} to {last} as they were shown" == why_not(lines(having_seen(FILE), first, last, quote))


@pytest.mark.parametrize("number", [2, 7])
def test_a_line_that_was_not_shown_does_not_resolve(number: int) -> None:
    assert f"line {number} was not shown" == why_not(lines(having_seen(FILE), number, number, ""))


@pytest.mark.parametrize("path", ["src/b.py", "./src/a.py", "", "/src/a.py"])
def test_a_file_that_was_never_read_does_not_resolve(path: str) -> None:
    assert "nothing of that path was shown" == why_not(lines(having_seen(FILE), 3, 3, "def f():", path))


@pytest.mark.parametrize(("first", "last"), [(0, 3), (4, 3), (-1, -1), (1, 10**12)])
def test_lines_that_are_none_do_not_resolve(first: int, last: int) -> None:
    assert "its lines are none" == why_not(lines(having_seen(FILE), first, last, "def f():"))


def test_a_line_that_was_shown_cut_does_not_resolve() -> None:
    cut = Shown("src/a.py", 1, ("whole", "beginning"), cut=(2,))
    assert Resolved(EvidenceClass.WORKDIR) == lines(having_seen(cut), 1, 1, "whole")
    assert "line 2 was shown cut, or differently at two times" == why_not(lines(having_seen(cut), 2, 2, "beginning"))


def test_a_line_that_was_shown_in_two_ways_does_not_resolve_even_when_it_is_shown_again() -> None:
    other = Shown("src/a.py", 3, ("def g():",))
    ledger = having_seen(FILE, other, FILE)
    assert "line 3 was shown cut, or differently at two times" == why_not(lines(ledger, 3, 3, "def f():"))
    assert Resolved(EvidenceClass.WORKDIR) == lines(ledger, 4, 4, "\treturn 1")


def test_a_line_that_a_search_showed_whole_resolves() -> None:
    hits = Grepped((Hit("src/a.py", 9, "found", cut=False), Hit("src/a.py", 10, "beginning", cut=True)))
    assert Resolved(EvidenceClass.WORKDIR) == lines(having_seen(hits), 9, 9, "found")
    assert "line 10 was not shown" == why_not(lines(having_seen(hits), 10, 10, "beginning"))


def test_what_is_noted_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "LINES_NOTED_MAX", 2)
    ledger = having_seen(FILE)
    assert Resolved(EvidenceClass.WORKDIR) == lines(ledger, 3, 4, "def f():\n\treturn 1")
    assert "line 5 was not shown" == why_not(lines(ledger, 5, 5, ""))
