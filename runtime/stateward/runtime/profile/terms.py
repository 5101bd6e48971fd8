"""What a profile comes to: what a Worker may do, who judges it, and what may be spent on that.

Invariants: answers out of a file judge only under a profile that is marked as a demonstration; every number lies within the range that
`form` gives it; no secret is held, only where one is found.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.limits import REJECTIONS_MAX
from stateward.runtime.ports.checking import CheckRights
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import Assurance
from stateward.runtime.session.payloads import PinnedProfile
from stateward.runtime.session.strict import JsonValue, render


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands that may be run: those that begin with one of these lists of words."""

    beginnings: tuple[tuple[str, ...], ...] = ()

    def as_json(self) -> list[JsonValue]:
        """Give them as arrays of texts."""
        return [list(each) for each in self.beginnings]


Value: TypeAlias = bool | int | str | tuple[str, ...] | Commands
"""The value of one field of the form."""
NOT_PINNED: Final[Mapping[str, Value]] = {"checks.allow": Commands(), "checks.workdir_programs": False}
"""What a log that says nothing of these fields pins: they came later, and are left out where they grant nothing."""
Terms: TypeAlias = Mapping[str, Value]
"""What somebody says, by the names of the form; what they leave unsaid is not there."""


class VerifierKind(StrEnum):
    """Who judges."""

    SCRIPTED = "scripted"
    PERSON = "person"
    MODEL = "model"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class KeyFile:
    """The key of a provider lies in a file that its user alone may read."""

    path: str
    """Whole, or beginning with `~/`."""


@dataclass(frozen=True, slots=True)
class KeyCommand:
    """A command prints the key of a provider."""

    arguments: tuple[str, ...]
    """The program, by its whole path, and what it is called with."""


KeySource: TypeAlias = KeyFile | KeyCommand


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model judges, and how it is reached: exactly one of `provider` and `base_url` is there."""

    model: str
    provider: str = ""
    """A provider by its name, such as `openai`."""
    base_url: str = ""
    """Where a server speaks the protocol of OpenAI."""
    key: KeySource | None = None
    """None for a server that asks for none."""


@dataclass(frozen=True, slots=True)
class VerifierBounds:
    """What one verification may cost."""

    turns: int = 12
    """Calls of the model."""
    wall_seconds: int = 300
    tokens: int = 400_000
    """In and out together."""
    output_tokens: int = 8_192
    """Of one reply of the model."""
    read_bytes: int = 32 * 1024
    """Shown by one read of a file or of an entry."""
    page_entries: int = 50
    """Shown by one page of a search or of an overview."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What is granted, whoever judges. The fields are those of a profile."""

    demonstration: bool
    flow_enabled: bool
    selectors: tuple[str, ...]
    agent_selectors: tuple[str, ...]
    verifiers: tuple[VerifierKind, ...]
    operator_assurance: Assurance
    bounds: Bounds
    verification: VerifierBounds
    visit_tokens_max: int
    instance_tokens_max: int
    checks: CheckRights


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
    """When an instance is held, and how many verifications it may cost."""
    lease_seconds: float = 15.0
    """How long the right to verify an attempt lasts unless it is renewed: how long an attempt waits whose verifier died."""
    operator_assurance: Assurance = Assurance.NONE
    """How sure the runtime has to be of a person who acts as operator."""
    selectors: tuple[str, ...] = ("builtin:*", "workspace:*")
    """The flows that anybody may start: selectors, or all of a kind, `builtin:*`."""
    verifiers: tuple[VerifierKind, ...] = tuple(sorted(VerifierKind))
    """The kinds of verifier that may judge."""
    verification: VerifierBounds = field(default_factory=VerifierBounds)
    visit_tokens_max: int = 2_000_000
    """Tokens that all verifications of one visit may cost together."""
    instance_tokens_max: int = 20_000_000
    model: ModelSettings | None = None
    """There exactly when a model judges."""
    program: tuple[str, ...] = ()
    """The program that judges, by its whole path, and what it is called with; there exactly when a command judges."""
    checks: CheckRights = field(default_factory=CheckRights)
    """Which commands the host may run for the checks of flows."""

    def __post_init__(self) -> None:
        if self.verifier is VerifierKind.SCRIPTED and not self.demonstration:
            raise ValueError("only a demonstration is judged by a script")
        if not 1 <= self.bounds.hold_after <= REJECTIONS_MAX:
            raise ValueError(f"an instance is held after 1 to {REJECTIONS_MAX} judgements")
        if (self.model is not None) != (self.verifier is VerifierKind.MODEL):
            raise ValueError("the settings of a model belong to a model that judges")
        if bool(self.program) != (self.verifier is VerifierKind.COMMAND):
            raise ValueError("a program belongs to a command that judges")

    def pinned(self) -> PinnedProfile:
        """Give what a log keeps of it: its rights and bounds and who judges, not where a key is found nor how long a lease lasts."""
        written = {name: as_json(value) for name, value in self.values().items() if (name, value) not in NOT_PINNED.items()}
        value = render(written)
        return PinnedProfile(self.name, self.demonstration, self.flow_enabled, self.agent_selectors, value.decode(), digest_of(value))

    def values(self) -> dict[str, Value]:
        """Give what a log keeps of it, by the names of the form and in their order."""
        judge = self.model or ModelSettings("")
        return {
            "agent_selectors": self.agent_selectors,
            "bounds.output_tokens": self.verification.output_tokens,
            "bounds.page_entries": self.verification.page_entries,
            "bounds.read_bytes": self.verification.read_bytes,
            "bounds.tokens": self.verification.tokens,
            "bounds.turns": self.verification.turns,
            "bounds.wall_seconds": self.verification.wall_seconds,
            "caps.hold_after": self.bounds.hold_after,
            "caps.instance_tokens": self.instance_tokens_max,
            "caps.instance_verifications": self.bounds.instance_verifications_max,
            "caps.visit_tokens": self.visit_tokens_max,
            "caps.visit_verifications": self.bounds.visit_verifications_max,
            "checks.allow": Commands(self.checks.allow),
            "checks.workdir_programs": self.checks.workdir_programs,
            "demonstration": self.demonstration,
            "feature.flow": self.flow_enabled,
            "operator_assurance": self.operator_assurance.value,
            "selectors": self.selectors,
            "verifier.base_url": judge.base_url,
            "verifier.kind": self.verifier.value,
            "verifier.model": judge.model,
            "verifier.program": self.program,
            "verifier.provider": judge.provider,
            "verifiers": tuple(each.value for each in self.verifiers),
        }


def as_json(value: Value) -> JsonValue:
    """Give the value of a term as JSON."""
    match value:
        case Commands():
            return value.as_json()
        case tuple():
            return list(value)
        case _:
            return value


DEFAULT: Final = Profile("default", VerifierKind.PERSON)
"""Works without a key: a person judges."""
DEMONSTRATION: Final = Profile("demonstration", VerifierKind.SCRIPTED, demonstration=True, lease_seconds=1.0)
