"""Whether what is cited bears a verdict."""

import pytest

from stateward.runtime.core.events import Citation, EntryCitation, FileCitation, Judgement, Verdict
from stateward.runtime.ports import Question
from stateward.runtime.session.browse import SessionView
from stateward.runtime.session.entries import ActorClass
from stateward.runtime.verifier.citing import asks_for_status, citing_faults, resolved
from stateward.runtime.verifier.ledger import Ledger
from stateward.runtime.workdir.shown import Shown
from tests.runtime.judgements import judgement
from tests.verifier.logs import CANCEL, host_result, log, note, ran, said

CLAIM, HOST, MASKED, PLAIN, UNREAD, ODD = (EntryCitation(f"E{seq:08d}") for seq in range(1, 7))
ENTRIES = log(
    note("214 passed"), host_result("2 passed"), ran("run-tests | tail"), ran("run-tests"), note(), said("odd", ActorClass.HOST, "x")
)
LINE = FileCitation("a.py", 1, 1, "text")
PASSES = Question("ready", "check", "The test suite passes.", synthetic=False)
STATUS = Question("ready", "check", "`run-tests` ended with exit status 0.", synthetic=False)


@pytest.fixture
def ledger() -> Ledger:
    view, ledger = SessionView(ENTRIES), Ledger(len(ENTRIES))
    for citation in (CLAIM, HOST, MASKED, PLAIN, ODD):
        ledger.note_entry(view.read(citation.entry))
    ledger.note_lines(Shown("a.py", 1, ("text",)))
    return ledger


def met(*citations: Citation) -> Judgement:
    return judgement("ready", Verdict.MET, citations=citations)


def faults(ledger: Ledger, *citations: Citation, question: Question = PASSES) -> tuple[str, ...]:
    return citing_faults([met(*citations)], [question, CANCEL], ledger)


@pytest.mark.parametrize("citations", [(HOST,), (LINE,), (PLAIN,), (MASKED,), (CLAIM, HOST), (HOST, CLAIM, ODD)])
def test_a_met_that_cites_evidence_that_counts_is_not_at_fault(ledger: Ledger, citations: tuple[Citation, ...]) -> None:
    assert () == faults(ledger, *citations)


BAD: dict[str, tuple[tuple[Citation, ...], str]] = {
    "nothing": ((), "cites nothing"),
    "a claim": ((CLAIM,), "cites nothing that counts: `E00000001` is a claim"),
    "something unknown": ((ODD,), "cites nothing that counts: `E00000006` is of class `diagnostic`"),
    "an entry that was not read": ((UNREAD,), "cites `E00000005`, but it was not read (read it with `ReadEntry`)"),
    "an entry after the capture": ((EntryCitation("E00000007"),), "cites `E00000007`, but no such entry was captured"),
    "a file that was never read": ((FileCitation("b.py", 1, 1, "text"),), "cites `b.py`, lines 1 to 1, but nothing of that path was shown"),
    "a quote that differs": ((FileCitation("a.py", 1, 1, "Text"),), "but the quote is not lines 1 to 1 as they were shown"),
    "a broken one beside a good one": ((HOST, UNREAD), "cites `E00000005`, but it was not read"),
}


@pytest.mark.parametrize(("citations", "message"), BAD.values(), ids=BAD)
def test_a_met_that_nothing_bears_is_at_fault_with_the_reason(ledger: Ledger, citations: tuple[Citation, ...], message: str) -> None:
    (fault,) = faults(ledger, *citations)
    assert fault.startswith("the result for `ready` is `met` and ")
    assert message in fault


@pytest.mark.parametrize("verdict", [Verdict.NOT_MET, Verdict.INDETERMINATE])
def test_other_verdicts_may_cite_what_they_like(ledger: Ledger, verdict: Verdict) -> None:
    given = [judgement("ready", verdict, citations=(UNREAD, CLAIM))]
    assert () == citing_faults(given, [PASSES], ledger)
    assert {CLAIM} == resolved(given, [PASSES], ledger)


def test_the_way_out_that_gives_up_is_held_to_the_same_rule(ledger: Ledger) -> None:
    given = [judgement("ready", Verdict.NOT_MET), judgement("$cancel", Verdict.MET)]
    assert ("the result for `$cancel` is `met` and cites nothing",) == citing_faults(given, [PASSES, CANCEL], ledger)


def test_every_fault_is_told(ledger: Ledger) -> None:
    given = [met(UNREAD, EntryCitation("E1")), judgement("$cancel", Verdict.MET)]
    assert 3 == len(citing_faults(given, [PASSES, CANCEL], ledger))


def test_only_what_resolves_is_said_to_have_been_shown(ledger: Ledger) -> None:
    given = [met(HOST, CLAIM, LINE, UNREAD, FileCitation("a.py", 1, 1, "other"))]
    assert {HOST, CLAIM, LINE} == resolved(given, [PASSES], ledger)


# --- exit statuses ------------------------------------------------------------------------------------------------------------------


def test_a_status_that_may_be_masked_bears_no_condition_that_asks_for_one(ledger: Ledger) -> None:
    """S-EVI-1: by default it does not satisfy such a condition; that of a plain command does."""
    (fault,) = faults(ledger, MASKED, question=STATUS)
    assert "the exit status in `E00000003` may be masked, for a pipeline ends with the status of its last command" in fault
    assert frozenset() == resolved([met(MASKED)], [STATUS], ledger)
    assert () == faults(ledger, PLAIN, question=STATUS)
    assert {PLAIN} == resolved([met(PLAIN)], [STATUS], ledger)


def test_a_masked_status_beside_evidence_that_counts_takes_nothing_from_it(ledger: Ledger) -> None:
    assert () == faults(ledger, MASKED, PLAIN, question=STATUS)
    assert {MASKED, PLAIN} == resolved([met(MASKED, PLAIN)], [STATUS], ledger)


def test_a_masked_status_beside_a_claim_bears_nothing(ledger: Ledger) -> None:
    assert 1 == len(faults(ledger, MASKED, CLAIM, question=STATUS))
    assert {CLAIM} == resolved([met(MASKED, CLAIM)], [STATUS], ledger)


def test_a_masked_status_may_bear_a_no(ledger: Ledger) -> None:
    given = [judgement("ready", Verdict.NOT_MET, citations=(MASKED,))]
    assert {MASKED} == resolved(given, [STATUS], ledger)


@pytest.mark.parametrize(
    "condition",
    ["The exit status is 0.", "It exits with 0", "`make` returned code 0", "exit code zero", "Exit-status of the tests is 0", "status 0"],
)
def test_a_condition_that_asks_for_an_exit_status_is_told(condition: str) -> None:
    assert asks_for_status(condition)


@pytest.mark.parametrize("condition", ["The tests pass.", "Every exit is marked.", "The status page is updated.", "The code is reviewed."])
def test_another_condition_asks_for_none(condition: str) -> None:
    assert not asks_for_status(condition)


def test_a_claim_of_a_status_is_a_claim(ledger: Ledger) -> None:
    assert "is a claim" in faults(ledger, CLAIM, question=STATUS)[0]
