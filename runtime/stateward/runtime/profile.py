"""Profiles: what a Worker may do and who judges it. Chosen when a Worker is created and pinned in its log.

Invariants: answers out of a file judge only under a profile that is marked as a demonstration; a profile pinned in a log and the one
in force can only narrow each other.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from stateward.runtime.session.payloads import PinnedProfile


class VerifierKind(StrEnum):
    """Who judges."""

    SCRIPTED = "scripted"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Profile:
    """What a Worker may do."""

    name: str
    verifier: VerifierKind
    demonstration: bool = False
    """Whether it only shows how things work; what it lets through proves nothing."""
    flow_enabled: bool = True
    """Whether flows may be started and left: `feature.flow`."""
    agent_selectors: tuple[str, ...] = ()
    """The flows that an agent may submit to itself."""

    def __post_init__(self) -> None:
        if self.verifier is VerifierKind.SCRIPTED and not self.demonstration:
            raise ValueError("only a demonstration is judged by a script")

    def pinned(self) -> PinnedProfile:
        """Give what a log keeps of it."""
        return PinnedProfile(self.name, self.demonstration, self.flow_enabled, self.agent_selectors)


DEFAULT: Final = Profile("default", VerifierKind.PERSON)
"""Works without a key: a person judges."""
DEMONSTRATION: Final = Profile("demonstration", VerifierKind.SCRIPTED, demonstration=True)
