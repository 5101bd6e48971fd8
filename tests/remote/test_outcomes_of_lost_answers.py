"""What became of a write whose answer was lost: told where it is found, or can no longer come; unknown in all other cases."""

import pytest

from stateward.runtime.ports import ActKind, Conflict, OutcomeUnknown, Removed, Saved, StoreUnavailable, TakenIn, Workspace
from stateward.runtime.remote import lost
from stateward.runtime.remote.exchange import AnswerLost
from stateward.store.memory import MemoryFlowStore
from tests.remote.authorities import Known, known, source_of
from tests.runtime.engines import NOON, WORKSPACE

ONE, TWO, THREE = source_of("one"), source_of("two"), source_of("three")
LOST = AnswerLost("the answer was lost", "look")


@pytest.fixture
def store() -> MemoryFlowStore:
    store = MemoryFlowStore()
    store.ensure(Workspace(WORKSPACE, "here", NOON))
    return store


@pytest.fixture
def ada(store: MemoryFlowStore) -> Known:
    return known(store, "ada")


@pytest.fixture
def bob(store: MemoryFlowStore) -> Known:
    return known(store, "bob")


def kept(answer: object) -> Saved:
    assert isinstance(answer, Saved), answer
    return answer


def look_up_save(flows: Known, content: bytes, base: int | None, note: str = "", *, override: bool = False) -> object:
    return lost.save(flows, "paper", content, base=base, note=note, override=override)


# --- saves --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [None, 1])
def test_a_save_that_happened_is_answered_as_it_would_have_been(ada: Known, base: int | None) -> None:
    if base is not None:
        ada.save("paper", ONE, base=None)
    answer = ada.save("paper", TWO, base=base, note="said")
    assert kept(answer).created
    assert answer == look_up_save(ada, TWO, base, "said")


def test_a_save_that_happened_is_found_although_somebody_saved_since(ada: Known, bob: Known) -> None:
    answer = ada.save("paper", ONE, base=None)
    bob.save("paper", TWO, base=1)
    assert answer == look_up_save(ada, ONE, None)


@pytest.mark.parametrize("base", [None, 1])
def test_a_save_that_is_not_there_and_may_still_come_is_not_known(ada: Known, base: int | None) -> None:
    if base is not None:
        ada.save("paper", ONE, base=None)
    assert None is look_up_save(ada, TWO, base)


def test_a_save_that_can_no_longer_come_is_the_conflict_it_would_be(ada: Known, bob: Known) -> None:
    ada.save("paper", ONE, base=None)
    bob.save("paper", TWO, base=1)
    answer = look_up_save(ada, THREE, 1)
    assert isinstance(answer, Conflict)
    assert answer.current is not None
    assert (2, "bob", 1) == (answer.current.revision, answer.current.author, answer.named)
    assert 2 == len(ada.history("paper", 10))


def test_the_same_bytes_that_somebody_else_saved_meanwhile_are_no_revision_of_ones_own(ada: Known, bob: Known) -> None:
    theirs = kept(bob.save("paper", ONE, base=None))
    assert Saved(theirs.revision, created=False) == look_up_save(ada, ONE, None)


def test_bytes_that_were_current_already_changed_nothing(ada: Known) -> None:
    last = kept(ada.save("paper", ONE, base=None)).revision
    assert Saved(last, created=False) == look_up_save(ada, ONE, 1)


def test_a_save_over_somebody_elses_is_found_by_its_bytes_and_what_was_said(ada: Known, bob: Known) -> None:
    bob.save("paper", ONE, base=None)
    bob.save("paper", TWO, base=1)
    answer = ada.save("paper", THREE, base=1, note="mine", override=True)
    assert kept(answer).revision.note.startswith("mine\n")
    assert answer == look_up_save(ada, THREE, 1, "mine", override=True)


def test_a_save_over_somebody_elses_that_is_not_there_may_still_come(ada: Known, bob: Known) -> None:
    bob.save("paper", ONE, base=None)
    bob.save("paper", TWO, base=1)
    assert None is look_up_save(ada, THREE, 1, override=True)


# --- restoring and removing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("note", ["", "back"])
def test_a_restoring_that_happened_is_found(ada: Known, note: str) -> None:
    ada.save("paper", ONE, base=None)
    ada.save("paper", TWO, base=1)
    answer = ada.restore("paper", 1, base=2, note=note)
    assert kept(answer).created
    assert answer == lost.restore(ada, "paper", 1, base=2, note=note, override=False)


def test_a_restoring_that_did_not_happen_may_still_come_until_somebody_saves(ada: Known, bob: Known) -> None:
    ada.save("paper", ONE, base=None)
    ada.save("paper", TWO, base=1)
    assert None is lost.restore(ada, "paper", 1, base=2, note="", override=False)
    bob.save("paper", THREE, base=2)
    assert isinstance(lost.restore(ada, "paper", 1, base=2, note="", override=False), Conflict)
    assert 3 == len(ada.history("paper", 10))


def test_a_removal_that_happened_is_found(ada: Known) -> None:
    ada.save("paper", ONE, base=None)
    answer = ada.remove("paper", base=1, note="old")
    assert isinstance(answer, Removed)
    assert answer == lost.remove(ada, "paper", base=1, note="old")


def test_a_removal_by_somebody_else_is_told_as_theirs(ada: Known, bob: Known) -> None:
    ada.save("paper", ONE, base=None)
    bob.remove("paper", base=1)
    answer = lost.remove(ada, "paper", base=1, note="")
    assert isinstance(answer, Removed)
    assert ("bob", False) == (answer.act.author, answer.created)


def test_a_removal_that_did_not_happen_may_still_come_until_somebody_saves(ada: Known, bob: Known) -> None:
    ada.save("paper", ONE, base=None)
    assert None is lost.remove(ada, "paper", base=1, note="")
    bob.save("paper", TWO, base=1)
    assert isinstance(lost.remove(ada, "paper", base=1, note=""), Conflict)
    assert () == tuple(ada.acts("paper", 10))


# --- bundles ------------------------------------------------------------------------------------------------------------------------


def bundle_of(flows: Known) -> bytes:
    pieces = flows.export([])
    assert not hasattr(pieces, "code"), pieces
    return b"".join(pieces)  # type: ignore[arg-type]


def test_a_bundle_that_was_taken_in_is_answered_with_what_it_brought(ada: Known) -> None:
    there = MemoryFlowStore()
    elsewhere = known(there, "eve", there.ensure(Workspace("0198c0de-0000-7000-8000-0000000000ff", "there", NOON)).id)
    elsewhere.save("paper", ONE, base=None)
    elsewhere.save("paper", TWO, base=1)
    bundle = bundle_of(elsewhere)
    assert None is lost.take_in(ada, bundle, note="", expected=None, accept=False)
    assert () == tuple(ada.flows(10))
    answer = ada.take_in(bundle)
    assert isinstance(answer, TakenIn)
    assert [(1, 2)] == [(each.first, each.last) for each in answer.flows]
    assert answer == lost.take_in(ada, bundle, note="", expected=None, accept=False)
    assert [ActKind.IMPORTED] == [each.kind for each in ada.acts("paper", 10)]


# --- what is said ---------------------------------------------------------------------------------------------------------------------


def test_what_may_still_come_is_said_to_be_unknown() -> None:
    with pytest.raises(OutcomeUnknown) as fault:
        lost.outcome(LOST, lambda: None, "paper")
    assert "the answer was lost; paper was not there a moment later, and may still come" == fault.value.message
    assert fault.value.remedy


def test_what_cannot_be_looked_up_is_said_to_be_unknown() -> None:
    def look() -> None:
        raise StoreUnavailable("the store is away")

    with pytest.raises(OutcomeUnknown) as fault:
        lost.outcome(LOST, look, "paper")
    assert "the answer was lost; what became of paper is not known: the store is away" == fault.value.message
