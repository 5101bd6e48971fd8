"""What a verifier's results are worth: which of their citations resolve, which count, and whether the Workdir is still what was judged.

An entry resolves when it lies at or before the capture, was not set aside, and was shown in full where the verifier keeps a ledger. Lines
of a file resolve when a ledger says that they were shown. Invariants: the class of an entry is read off the stored entry, never said by a
verifier; nothing here makes a verdict stronger; what cannot be looked at again counts as changed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from stateward.runtime.core.decide import Failed, GivenUp, Judged, Outcome
from stateward.runtime.core.events import CancelCause, Citation, EntryCitation, FailureCause, FileCitation, Judgement, Verdict
from stateward.runtime.core.instance import Attempt, is_aside
from stateward.runtime.core.judging import asked_of, output_fault
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.folding import Loaded
from stateward.runtime.engine.lineage import entries_through
from stateward.runtime.engine.means import Means
from stateward.runtime.ports import TreeFacts, VerifierAnswered, VerifierCancelled, VerifierFailed, VerifierOutcome
from stateward.runtime.profile import VerifierKind
from stateward.runtime.session.entries import numbered
from stateward.runtime.session.evidence import is_admissible

_EVIDENCE_ITSELF: Final = frozenset({VerifierKind.PERSON, VerifierKind.SCRIPTED})
"""Who need not cite: a person's recorded answer is evidence, and a demonstration shows none."""


def facts_of(means: Means, loaded: Loaded) -> TreeFacts | None:
    """Take the facts of a Worker's Workdir; None when it has none, or they are not to be had."""
    workdir = loaded.session.workdir
    return None if means.workdirs is None or not workdir else means.workdirs.facts(workdir)


@dataclass(frozen=True, slots=True)
class Checked:
    """Checks what a verification of the open attempt came to."""

    means: Means
    loaded: Loaded
    attempt: Attempt

    def outcome(self, outcome: VerifierOutcome, changed: str | None) -> Outcome:
        """Give the outcome as the core decides on it; `changed` says what of the Workdir changed meanwhile."""
        match outcome:
            case VerifierAnswered(account=account) if changed is not None:
                return Failed(FailureCause.WORKDIR_CHANGED, changed, account)
            case VerifierAnswered(judgements=judgements, account=account):
                unresolved = frozenset(each for each in _cited(judgements) if not self._resolves(each, outcome))
                return Judged(judgements, unresolved, self._counting(judgements, unresolved), account)
            case VerifierFailed(cause=cause, message=message, account=account):
                return Failed(cause, message, account)
            case VerifierCancelled(account=account):
                return GivenUp(CancelCause.CANCELLED, account)
        assert_never(outcome)

    def workdir_change(self, outcome: VerifierOutcome) -> str | None:
        """Say what of the Workdir is not what was judged; None when all of it is, or it does not matter."""
        if not isinstance(outcome, VerifierAnswered):
            return None
        if self.attempt.tree:
            facts = facts_of(self.means, self.loaded)
            if facts is None or facts.digest != self.attempt.tree:
                return "the Workdir changed while the request was judged"
        moved = next((each for each in self._cited_files(outcome) if not self._still_shows(each)), None)
        return None if moved is None else f"{shown(moved.path)} changed since it was read"

    def _cited_files(self, outcome: VerifierAnswered) -> Iterator[FileCitation]:
        if self._fault(outcome.judgements) is None:
            met = (each for each in outcome.judgements if each.verdict is Verdict.MET)
            yield from (each for each in _cited(met) if isinstance(each, FileCitation) and self._resolves(each, outcome))

    def _still_shows(self, cited: FileCitation) -> bool:
        workdirs = self.means.workdirs
        return workdirs is not None and workdirs.shows(self.loaded.session.workdir, cited)

    def _resolves(self, citation: Citation, outcome: VerifierAnswered) -> bool:
        match citation:
            case EntryCitation():
                seq = numbered(citation.entry)
                captured = seq is not None and 1 <= seq <= self.attempt.shown and not is_aside(self.loaded.flow.aside, seq)
                return captured and (outcome.shown is None or citation in outcome.shown)
            case FileCitation():
                return outcome.shown is not None and citation in outcome.shown and bool(self.loaded.session.workdir)

    def _counting(self, judgements: Sequence[Judgement], unresolved: frozenset[Citation]) -> frozenset[Citation] | None:
        if self.loaded.session.verifier in _EVIDENCE_ITSELF:
            return None
        if self._fault(judgements) is not None:  # nothing will come of them, however many they cite
            return frozenset()
        met = (each for each in judgements if each.verdict is Verdict.MET)
        return frozenset(each for each in _cited(met) if each not in unresolved and self._counts(each))

    def _counts(self, citation: Citation) -> bool:
        match citation:
            case FileCitation():
                return True
            case EntryCitation():
                seq = numbered(citation.entry)
                assert seq is not None  # it resolves
                entry = next(entries_through(self.means.sessions, self.loaded.worker, seq - 1, seq), None)
                return entry is not None and is_admissible(entry)

    def _fault(self, judgements: Sequence[Judgement]) -> str | None:
        assert self.loaded.definition is not None  # an attempt is open
        return output_fault(asked_of(self.loaded.definition.state(self.attempt.state), self.attempt.parts), judgements)


def _cited(judgements: Iterable[Judgement]) -> frozenset[Citation]:
    return frozenset(each for judgement in judgements for each in judgement.citations)
