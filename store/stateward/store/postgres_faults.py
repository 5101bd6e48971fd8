"""What PostgreSQL and its driver say, as faults for people: one line, and the one thing to do. Never a password."""

from collections.abc import Mapping
from typing import Final

import psycopg
from psycopg import errors

from stateward.runtime.ports import Damaged, StoreUnavailable
from stateward.store.address import place_name, without_passwords
from stateward.store.faults import RESTORE

AGAIN: Final = (errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable)
"""What another try may help against."""
_BUGS: Final = (errors.SyntaxErrorOrAccessRuleViolation, psycopg.ProgrammingError, psycopg.InterfaceError, psycopg.NotSupportedError)

_SAID: Final[Mapping[type[psycopg.Error], tuple[str, str]]] = {
    errors.InsufficientPrivilege: (
        "{place} may not be used so by this role: {detail}",
        "grant the role what it needs, or name another one",
    ),
    errors.DiskFull: ("there is no space left for {place}; nothing was written", "free some space on the disk of that server"),
    errors.ReadOnlySqlTransaction: (
        "{place} cannot be written: it is a standby or set to be read only",
        "name the server that is written to",
    ),
    errors.TooManyConnections: ("{place} takes no more connections", "end other programs that use it, or let that server take more"),
}


def unavailable(url: str, problem: psycopg.Error) -> StoreUnavailable | Damaged:
    """Say for people what was said. Raises the problem itself when it is a bug of ours."""
    place, detail = place_name(url), without_passwords(first_line(problem), url)
    for kind, (message, remedy) in _SAID.items():
        if isinstance(problem, kind):
            return StoreUnavailable(message.format(place=place, detail=detail), remedy)
    if isinstance(problem, errors.FeatureNotSupported):  # our statements ask plain tables for nothing that there is not
        return Damaged(f"{place} is damaged: its tables are not those of a store ({detail})", RESTORE)
    if isinstance(problem, _BUGS):
        raise problem
    return StoreUnavailable(f"{place} cannot be used: {detail}", "see that the server runs and that the URL names it")


def first_line(problem: psycopg.Error) -> str:
    """Give the first line of what was said."""
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    return lines[0]
