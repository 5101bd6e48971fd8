"""What may be spent on an instance of a flow."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is spent on an instance at most."""

    hold_after: int = 3
    """Judgements of one visit that saw the same evidence and moved nothing, after which the instance is held."""
    visit_verifications_max: int = 100
    instance_verifications_max: int = 10_000
    visit_tokens_max: int = 2_000_000
    instance_tokens_max: int = 20_000_000
