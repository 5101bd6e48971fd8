"""What of a run is marked in a picture: where it stands, what it visited, which ways it took, what was last answered.

Invariants: these are plain values, whoever gives them; what names no state or transition of the flow that is drawn marks nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

_NONE: Final[Mapping[str, int]] = MappingProxyType({})
_NONE_TAKEN: Final[Mapping[tuple[str, str], int]] = MappingProxyType({})


class Answered(StrEnum):
    """What was last answered of the condition of a transition."""

    MET = "met"
    NOT_MET = "not met"
    UNCHECKED = "could not check"


_NONE_ANSWERED: Final[Mapping[str, Answered]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Marks:
    """The run that a picture shows; nothing is marked where nothing is given."""

    current: str | None = None
    """The state in which the work stands."""
    visits: Mapping[str, int] = field(default_factory=lambda: _NONE)
    """How often each state was entered."""
    taken: Mapping[tuple[str, str], int] = field(default_factory=lambda: _NONE_TAKEN)
    """How often each transition was taken, by the ids of its state and of itself."""
    answers: Mapping[str, Answered] = field(default_factory=lambda: _NONE_ANSWERED)
    """What was last answered of each transition of the current state, by id."""


UNMARKED: Final = Marks()
