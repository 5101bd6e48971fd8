"""What comes of a migration, and how it is said that one failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stateward.runtime.ports import Damaged, Fault, StoreUnavailable
from stateward.store.schema import SCHEMA_VERSION

AS_IT_WAS: Final = "restore the store from a backup, or read it with the stateward that wrote it"
"""What is left to do with a store that is not to be migrated: this program does not even read it."""


@dataclass(frozen=True, slots=True)
class Migrated:
    """A store was brought from one version to another; a copy of what it was lies where `backup` says."""

    start: int
    end: int
    backup: str


def not_backed_up(name: str, version: int, why: str, remedy: str) -> StoreUnavailable:
    """Say that nothing was tried, since what is there could not be copied first."""
    return StoreUnavailable(f"{name} was not migrated from store version {version}, since no copy of it could be made: {why}", remedy)


def altered(name: str, version: int, found: Sequence[str]) -> Damaged:
    """Say that nothing was tried, since what is there is not what was written: the rules of a new version would vouch for it."""
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return Damaged(f"{name} was not migrated from store version {version}, since it is damaged: {found[0]}{more}", AS_IT_WAS)


def not_migrated(name: str, version: int, backup: str, fault: Fault) -> Fault:
    """Say that a migration was undone, and for what. The fault stays of its kind."""
    message = f"{name} was not migrated from store version {version} to {SCHEMA_VERSION} and is as it was, with a copy in {backup}"
    return type(fault)(f"{message}: {fault.message}", fault.remedy)


def bug(problem: BaseException) -> StoreUnavailable:
    """Say that a step failed for a reason that lies in this program."""
    said = " ".join(str(problem).split()) or "nothing more is known"
    return StoreUnavailable(f"a step failed ({type(problem).__name__}: {said})", "use the stateward that wrote it, and report this")
