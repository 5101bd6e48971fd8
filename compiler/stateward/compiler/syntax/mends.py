"""What can be said of a token that does not fit, and how parsing goes on after it.

Invariants: a mend only describes; the recovery tries what it proposes and skips the broken part where that does not fit either.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from stateward.compiler.diagnostics.model import Fix
from stateward.compiler.syntax.faults import Fault
from stateward.compiler.syntax.spot import Spot


@dataclass(frozen=True, slots=True)
class Mend:
    """A fault and the way on. Where nothing but the fault is given, the broken part is skipped."""

    fault: Fault
    insert: tuple[str, ...] = ()
    """Kinds of tokens to put in before the token."""
    replace: str | None = None
    """The kind to take the token for."""
    skip: int = 0
    """Tokens to leave out; below zero, tokens to take again after `back`."""
    grow: int = 0
    """Tokens that belong to the name before them: it is made to reach over them, and they are left out."""
    back: bool = False
    """Whether to take back the key that was begun."""
    to_end: bool = False
    """Whether what is skipped reaches to the end of the construct."""
    drop: int = 0
    """Tokens to take off the stack."""


Asked: TypeAlias = Callable[[Spot], Mend | None]


def at_spot(spot: Spot, message: str, label: str, help_: str | None = None, fix_: Fix | None = None) -> Fault:
    """Blame the token; at the end of the text and at an end that was put in, the place after the last token."""
    span = spot.span()
    start, end = (span.start, span.end) if span.start < span.end else (spot.gap, spot.gap)
    return Fault(start, end, message, label, help=help_, fix=fix_)


def in_gap(spot: Spot, message: str, label: str, help_: str | None = None, fix_: Fix | None = None) -> Fault:
    """Say that something is missing right after the token before."""
    return Fault(spot.gap, spot.gap, message, label, help=help_, fix=fix_)
