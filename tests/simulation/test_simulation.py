"""Seeded histories: whatever happens around any write, the laws of the log hold. A failing seed is the test's name and comes again.

`STATEWARD_HISTORIES` says how many are tried, by default a few hundred; `python -m tests.simulation` tries many in several processes.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

import pytest

from stateward.compiler.flow.definition import CompiledState
from stateward.runtime.core import decide as deciding
from stateward.runtime.core.events import Citation, Judgement, Part, Verdict
from stateward.runtime.core.evolve import HistoryBroken
from stateward.runtime.core.judging import Ruling, rule
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine import commit as committing
from stateward.runtime.engine import transition
from stateward.runtime.engine.citations import Checked
from stateward.runtime.engine.commit import Append, Tries
from stateward.runtime.engine.folding import Folds, Loaded, WorkerFold
from stateward.runtime.engine.means import Means
from stateward.runtime.ports import Answered, Appended, Damaged, SessionStore, VerifierOutcome
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import Head, NewEntry
from stateward.store.memory_sessions import MemorySessionStore
from tests.simulation.world import World, lived

HISTORIES = int(os.environ.get("STATEWARD_HISTORIES", "200"))
REACHING_HISTORIES_MAX = 80
PLANTED_HISTORIES_MAX = 300
"""Histories in which a planted fault is looked for: the rarest shows in one of sixty."""


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_any_history_keeps_the_laws(seed: int) -> None:
    lived(World(seed))


def test_a_seed_gives_the_same_history_again() -> None:
    one, other = lived(World(7)), lived(World(7))
    assert one.story == other.story
    assert [each.digests for each in one.books.values()] == [each.digests for each in other.books.values()]


def test_the_histories_reach_what_they_are_for() -> None:
    points = ["crash before", "crash after", "answer lost, not written", "answer lost, written", "somebody else writes first", "dies"]
    events = {"InstancePaused", "InstanceResumed", "InstanceCancelled", "InstanceRewound", "ProgressHoldSet", "ProgressHoldCleared"}
    missing = {*points, *events, "LateResultIgnored", "TransitionVerificationCancelled", "a second Worker"}
    for seed in range(REACHING_HISTORIES_MAX):
        world = lived(World(seed))
        missing -= {point for point in points if point in "\n".join(world.story)}
        missing -= {each.__class__.__name__ for engine in world.engines[:1] for book in world.books for each in _events(engine, book)}
        missing -= {"a second Worker"} if len(world.books) > 1 else set()
        if not missing:
            return
    assert set() == missing


def _events(engine: object, worker: str) -> list[object]:
    from stateward.runtime.engine.worker import Engine  # noqa: PLC0415 -- only to name the type

    assert isinstance(engine, Engine)
    return [each.event for each in engine.events(worker)]


# --- planted faults: the simulation finds what it is for ----------------------------------------------------------------------------


class StoreWithoutComparing(MemorySessionStore):
    """Appends wherever the head is by now."""

    def append(self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] | None = None) -> Appended:
        head = self.head(worker)
        assert head is not None
        return super().append(worker, head, entries, definitions or {})


class StoreWithoutKeys(StoreWithoutComparing):
    """Moreover takes a key twice."""

    def append(self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] | None = None) -> Appended:
        plain = [NewEntry(each.kind, each.actor, each.time, each.payload) for each in entries]
        return super().append(worker, expected, plain, definitions)


class ForgetfulIds:
    """Gives ids that were given before."""

    def __init__(self) -> None:
        self._given = self._ids()

    def _ids(self) -> Iterator[str]:
        while True:
            yield from (f"id-{number}" for number in range(9))

    def new(self) -> str:
        """Give an id."""
        return next(self._given)


@pytest.mark.parametrize("store", [StoreWithoutComparing, StoreWithoutKeys])
def test_two_writers_without_compare_and_swap_are_found_out(store: type[MemorySessionStore]) -> None:
    assert found_out(lambda seed: World(seed, store()))


def test_an_attempt_id_that_is_used_again_is_found_out() -> None:
    assert found_out(lambda seed: World(seed, ids=ForgetfulIds()))


def test_a_state_that_is_replaced_before_the_commit_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    sound_append, sound_catch_up = committing._append, WorkerFold.catch_up

    def premature(sessions: SessionStore, folds: Folds, loaded: Loaded, step: Append[object], tries: Tries) -> Head | None:
        for entry in link_all(loaded.worker, loaded.head, step.entries):
            folds._fold(loaded.worker)._take(entry)
        return sound_append(sessions, folds, loaded, step, tries)

    def trusting(fold: WorkerFold) -> Loaded | None:
        head = fold._sessions.head(fold._worker)
        return fold._loaded() if head is not None and fold._session is not None and fold._head.seq >= head.seq else sound_catch_up(fold)

    monkeypatch.setattr(committing, "_append", premature)
    monkeypatch.setattr(WorkerFold, "catch_up", trusting)
    assert found_out(World)


def test_a_late_verdict_that_is_accepted_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = transition.report

    def careless(means: Means, worker: str, attempt: str, outcome: VerifierOutcome, token: int | None) -> Answered | Refusal:
        loaded = means.folds.load(worker)
        opened = None if loaded is None or loaded.flow.instance is None else loaded.flow.instance.attempt
        return sound(means, worker, attempt if opened is None else opened.id, outcome, token)

    monkeypatch.setattr(transition, "report", careless)
    assert found_out(World)


def test_a_stalled_holder_that_may_still_report_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transition, "lease_problem", lambda *_: None)
    assert found_out(World)


def test_ambiguity_that_is_judged_after_the_citations_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(
        state: CompiledState, given: Sequence[Judgement], unresolved: Set[Citation], counting: Set[Citation] | None, parts: Sequence[Part]
    ) -> Ruling:
        weaker = [
            replace(each, verdict=Verdict.INDETERMINATE, checked=Verdict.INDETERMINATE)
            if each.verdict is Verdict.MET and unresolved & set(each.citations)
            else each
            for each in given
        ]
        return rule(state, weaker, frozenset(), counting, parts)

    monkeypatch.setattr(deciding, "rule", lenient)
    assert found_out(World)


def test_a_met_that_is_believed_without_evidence_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checked, "_counting", lambda *_: None)
    assert found_out(World)


def test_tokens_that_nobody_reserves_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "_tokens_spent", lambda *_: None)
    assert found_out(World)


def found_out(make: Callable[[int], World]) -> bool:
    """Tell whether any of a few histories breaks a law."""
    for seed in range(PLANTED_HISTORIES_MAX):
        try:
            lived(make(seed))
        except (AssertionError, Damaged, HistoryBroken):
            return True
    return False
