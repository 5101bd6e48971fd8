"""Profiles: what a Worker may do and who judges it. Chosen when a Worker is created and pinned in its log.

Invariants: answers out of a file judge only under a profile that is marked as a demonstration; a profile pinned in a log and the one
in force can only narrow each other.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from stateward.runtime.core.decide import Bounds
from stateward.runtime.core.limits import REJECTIONS_MAX
from stateward.runtime.session.entries import Assurance
from stateward.runtime.session.payloads import PinnedProfile


class VerifierKind(StrEnum):
    """Who judges."""

    SCRIPTED = "scripted"
    PERSON = "person"
    MODEL = "model"
    COMMAND = "command"


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
    bounds: Bounds = field(default_factory=Bounds)
    """When an instance is held, and how many verifications it may cost. Of the profile in force, not of the one pinned."""
    lease_seconds: float = 15.0
    """How long the right to verify an attempt lasts unless it is renewed: how long an attempt waits whose verifier died."""
    operator_assurance: Assurance = Assurance.NONE
    """How sure the runtime has to be of a person who acts as operator."""

    def __post_init__(self) -> None:
        if self.verifier is VerifierKind.SCRIPTED and not self.demonstration:
            raise ValueError("only a demonstration is judged by a script")
        if not 1 <= self.bounds.hold_after <= REJECTIONS_MAX:
            raise ValueError(f"an instance is held after 1 to {REJECTIONS_MAX} judgements")

    def pinned(self) -> PinnedProfile:
        """Give what a log keeps of it."""
        return PinnedProfile(self.name, self.demonstration, self.flow_enabled, self.agent_selectors)


DEFAULT: Final = Profile("default", VerifierKind.PERSON)
"""Works without a key: a person judges."""
DEMONSTRATION: Final = Profile("demonstration", VerifierKind.SCRIPTED, demonstration=True, lease_seconds=1.0)
