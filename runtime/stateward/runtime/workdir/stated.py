"""The facts of a Workdir as the log states them.

Invariants: what is stated is what the runtime itself found by comparing contents, for it counts as evidence; the upstream, which is only
what somebody wrote into a local ref, is not in it. That facts could not be taken is stated, too, with the reason.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final, assert_never

from stateward.runtime.ports import TreeFacts
from stateward.runtime.session.strict import TEXT, Form, record, render, versioned
from stateward.runtime.workdir.facts import FACTS_VERSION, FactsUnknown, NoWorkTree, TakenFacts, WorkdirFacts, encode_facts
from stateward.runtime.workdir.limits import FactsBounds
from stateward.runtime.workdir.taking import facts

UNKNOWN: Final[Form[FactsUnknown]] = versioned(FACTS_VERSION, record(FactsUnknown, reason=TEXT))


def tree_facts(root: str, bounds: FactsBounds | None = None) -> TreeFacts | None:
    """Take the facts of a folder for the log; None when it is no git work tree. Never fails."""
    return stated(facts(Path(root), bounds))


def stated(taken: TakenFacts) -> TreeFacts | None:
    """Give facts as the log states them; without a digest where they are unknown."""
    match taken:
        case WorkdirFacts():
            return TreeFacts(taken.tree_digest, encode_facts(replace(taken, upstream=None)))
        case FactsUnknown():
            return TreeFacts("", render(UNKNOWN.write(taken)))
        case NoWorkTree():
            return None
    assert_never(taken)
