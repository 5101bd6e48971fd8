"""Commands in a profile: lists of words, of which each lets through the commands that begin with it.

Invariant: a set of them is written in one way only, sorted and without those that another one of the set covers.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

Beginning: TypeAlias = tuple[str, ...]


def covers(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Tell whether one beginning lets through whatever the other one does."""
    return tuple(wide) == tuple(narrow[: len(wide)])


def allowed(command: Sequence[str], beginnings: Iterable[Beginning]) -> bool:
    """Tell whether a set of beginnings lets a command through."""
    return any(covers(each, command) for each in beginnings)


def in_common(left: Iterable[Beginning], right: Iterable[Beginning]) -> tuple[Beginning, ...]:
    """Give what two sets of beginnings both let through."""
    ours, theirs = tuple(left), tuple(right)
    return canonical([each for each in ours if allowed(each, theirs)] + [each for each in theirs if allowed(each, ours)])


def canonical(beginnings: Iterable[Beginning]) -> tuple[Beginning, ...]:
    """Write a set of beginnings in its one way."""
    given = sorted(set(beginnings))
    return tuple(each for each in given if not any(covers(other, each) for other in given if other != each))
