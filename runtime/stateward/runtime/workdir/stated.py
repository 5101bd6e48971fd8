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


def tree_facts(root: str, bounds: FactsBounds | None = None, *, store: Path | None = None) -> TreeFacts | None:
    """Take the facts of a folder for the log; None when it is no git work tree. Never fails.

    Where the store lies among the changed files, what is recorded changes the tree that it is about: then nothing is compared.
    """
    taken = stated(found := facts(Path(root), bounds))
    if taken is None or store is None or not isinstance(found, WorkdirFacts) or not _holds(found, Path(root), store):
        return taken
    return TreeFacts("", render(UNKNOWN.write(FactsUnknown("the store lies in the folder of the work and changes with every entry"))))


def _holds(found: WorkdirFacts, root: Path, store: Path) -> bool:
    """Tell whether the store is one of the changed files, or may be one of those that are not named."""
    place, folder = store.absolute().resolve(), root.resolve()
    if not place.is_relative_to(folder):
        return False
    named = str(place.relative_to(folder))
    folders = {f"{each}/" for each in Path(named).parents}
    return found.changed_count > len(found.changed) or any(each.path.startswith(named) or each.path in folders for each in found.changed)


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
