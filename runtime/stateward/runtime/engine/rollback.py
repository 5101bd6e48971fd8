"""Logs that went back: a store that was restored from a backup, or cut, is behind what a witness outside it knows.

Invariants: nothing is written to such a log until an operator says in it that what came after is given up; what was given up is named in
the log by its head, for ever; a witness is asked, and one that cannot tell hinders nobody.
"""

from functools import partial

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.commit import Append
from stateward.runtime.engine.folding import Loaded
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.operating import Operated, Operation, act_entry, answered, standing_of
from stateward.runtime.session.acts import head_text
from stateward.runtime.session.entries import Head, reference


def accept(means: Means, worker: str, operation: Operation) -> Operated | Refusal:
    """Record that the log goes on where it is, and what is given up with that; then let the witness follow it again."""
    return means.commit(worker, partial(_accepting, means, operation), whole=False)


def _accepting(means: Means, operation: Operation, loaded: Loaded) -> Append[Operated | Refusal] | Operated | Refusal:
    earlier = answered(means, loaded, operation)
    if earlier is not None:
        return earlier
    lost = means.guard.lost(loaded)
    if lost is None:
        return Refusal(RefusalCode.NOT_ROLLED_BACK, f"no entry of Worker {loaded.worker} is known outside the store that is not in it")
    entry = act_entry(means, operation, loaded.flow, loaded.flow, about=head_text(lost))
    standing = standing_of(loaded.flow)
    named = reference(loaded.head.seq + 1)
    done = Operated(loaded.worker, operation.id, named, operation.verb, head_text(lost), standing, standing)

    def committed(head: Head) -> Operated:
        means.guard.follow(loaded.worker, lost, head)
        return done

    return Append((entry,), committed)
