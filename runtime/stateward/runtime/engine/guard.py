"""Asks a witness outside the store whether a log is still the one that it knows."""

from typing import TYPE_CHECKING

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.folding import Loaded
from stateward.runtime.ports.faults import Damaged
from stateward.runtime.session.entries import Head, reference

if TYPE_CHECKING:
    from stateward.runtime.ports import SessionStore, Witness


class Guard:
    """What a witness knows of logs, compared with what is stored; without a witness nothing is known."""

    def __init__(self, sessions: "SessionStore", witness: "Witness | None") -> None:
        self._sessions = sessions
        self._witness = witness

    def lost(self, loaded: Loaded) -> Head | None:
        """Give the head that the witness knows and the log does not hold, unless an operator gave it up."""
        missing = self._missing(loaded)
        return None if missing is None or _was_given_up(loaded, missing) else missing

    def problem(self, loaded: Loaded) -> Refusal | None:
        """Refuse to go on with a log that went back."""
        lost = self._missing(loaded)
        if lost is None:
            return None
        if _was_given_up(loaded, lost):
            self.follow(loaded.worker, lost, loaded.head)  # whoever recorded that died before the witness was told
            return None
        allowed = ("read the log", "restore the newer store", "ask an operator to accept the rollback")
        return Refusal(RefusalCode.ROLLED_BACK, rollback_message(loaded.head, lost), allowed)

    def follow(self, worker: str, lost: Head, head: Head) -> None:
        """Let the witness know this head in place of the one that was given up."""
        if self._witness is not None:
            self._witness.give_up(worker, lost, head)

    def _missing(self, loaded: Loaded) -> Head | None:
        known = self._known(loaded.worker)
        return None if known is None or self._holds(loaded, known) else known

    def _known(self, worker: str) -> Head | None:
        try:
            return None if self._witness is None else self._witness.last(worker)
        except Damaged:  # the store says so with the next append
            return None

    def _holds(self, loaded: Loaded, known: Head) -> bool:
        if known == loaded.head:
            return True
        # Read anew: whoever appended since has told the witness, too.
        entry = next(self._sessions.entries(loaded.worker, known.seq - 1, known.seq), None)
        return entry is not None and entry.digest == known.digest


def _was_given_up(loaded: Loaded, head: Head) -> bool:
    return any(each.lost == head for each in loaded.rollbacks)


def rollback_message(head: Head, lost: Head) -> str:
    """Say that a log went back."""
    known = f"entry {reference(lost.seq)} is known outside the store"
    if lost.seq > head.seq:
        return f"{known}, and the log ends at {reference(head.seq)}"
    return f"{known} with another digest"
