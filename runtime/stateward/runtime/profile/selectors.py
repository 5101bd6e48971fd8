"""Selectors in a profile: one flow, `builtin:<slug>` or `workspace:<slug>`, or all of a kind, `builtin:*`.

Invariant: a set of them is written in one way only, sorted and without those that another one of the set covers.
"""

from collections.abc import Iterable
from typing import Final

from stateward.compiler.diagnostics.wording import listed
from stateward.compiler.flow.identifiers import identifier_fault

KINDS: Final = ("builtin", "workspace")
ALL: Final = "*"


def selector_fault(text: str) -> str | None:
    """Say what keeps a text from being the selector of one flow; None when nothing does."""
    kind, colon, slug = text.partition(":")
    if not colon or kind not in KINDS:
        return f"does not begin with {listed([f'{each}:' for each in KINDS], 'or')}"
    if slug == ALL:
        return "names all flows of a kind, and each has to be named here"
    fault = identifier_fault(slug)
    return None if fault is None else f"names a flow that {fault}"


def all_selectors_fault(text: str) -> str | None:
    """Say what keeps a text from being a selector, of one flow or of all of a kind; None when nothing does."""
    kind, _, slug = text.partition(":")
    return None if kind in KINDS and slug == ALL else selector_fault(text)


def covers(wide: str, narrow: str) -> bool:
    """Tell whether one selector lets through whatever the other one does."""
    return wide == narrow or (wide.endswith(f":{ALL}") and narrow.startswith(wide[: -len(ALL)]))


def allowed(selector: str, selectors: Iterable[str]) -> bool:
    """Tell whether a set of selectors lets a flow through."""
    return any(covers(each, selector) for each in selectors)


def in_common(left: Iterable[str], right: Iterable[str]) -> tuple[str, ...]:
    """Give what two sets of selectors both let through. Words that are no selectors are compared as they are."""
    ours, theirs = tuple(left), tuple(right)
    return canonical([each for each in ours if allowed(each, theirs)] + [each for each in theirs if allowed(each, ours)])


def canonical(selectors: Iterable[str]) -> tuple[str, ...]:
    """Write a set of selectors in its one way."""
    given = sorted(set(selectors))
    return tuple(each for each in given if not any(covers(other, each) for other in given if other != each))
