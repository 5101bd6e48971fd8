"""Faults that only follow from the one before them.

Invariants: the first fault of a text is always kept, and so is every fault with a safe fix, which is sure of itself.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from stateward.compiler.diagnostics.model import Applicability
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.syntax.faults import Fault
from stateward.compiler.syntax.tokens import Tokens

NEAR: Final = 2
"""Tokens between two faults that are too few to part them."""
HABIT_MIN: Final = 4
"""So many times one mark stands for another that it is a habit and no slip."""
_HABIT: Final = re.compile("`(.{1,2})` stands where `(.{1,2})` belongs")
_APART: Final = frozenset({"SEMICOLON", "COMMA", "LBRACE", "RBRACE"})
"""Tokens that part what is independent."""


def without_echoes(faults: Iterable[Fault], tokens: Tokens, text_end: int | None) -> list[Fault]:
    """Leave out each fault that stands in one line after another, with nothing between them that parts the two.

    What lies beyond `text_end`, where there is such an end, was never looked at, so its faults are left out too.
    """
    kept: list[Fault] = []
    last: Fault | None = None
    for fault in sorted(faults, key=lambda fault: (fault.start, fault.end)):
        if text_end is not None and min(fault.start + 1, fault.end) > text_end:
            continue
        if last is None or _is_certain(fault) or _are_apart(last, fault, tokens):
            kept.append(fault)
        last = fault
    return kept


def habits_once(faults: Iterable[Fault]) -> list[Fault]:
    """Tell a mark that stands everywhere for another, as from a habit of another language, once and with one fix for all its places."""
    found = list(faults)
    alike: dict[str, list[Fault]] = {}
    for fault in found:
        if fault.fix is not None and _HABIT.fullmatch(fault.message):
            alike.setdefault(fault.message, []).append(fault)
    told: list[Fault] = []
    for fault in found:
        group = alike.get(fault.message, ())
        if len(group) < HABIT_MIN or fault.fix is None:
            told.append(fault)
        elif fault is group[0]:
            edits = tuple(edit for each in group if each.fix is not None for edit in each.fix.edits)
            note = f"it stands so in {counted(len(group) - 1, 'more place')}"
            told.append(replace(fault, notes=(*fault.notes, note), fix=replace(fault.fix, edits=edits)))
    return told


def _is_certain(fault: Fault) -> bool:
    return fault.fix is not None and fault.fix.applicability is Applicability.SAFE


def _are_apart(earlier: Fault, later: Fault, tokens: Tokens) -> bool:
    if "\n" in tokens.text[earlier.end : later.start]:
        return True
    first, end = bisect_left(tokens.starts, earlier.start), bisect_left(tokens.starts, later.start)
    return end - first > NEAR and not _APART.isdisjoint(tokens.kinds[first:end])
