"""Definitions of version 2 for tests, as the compiler lowers them."""

from collections.abc import Mapping
from typing import Any

from stateward.compiler.flow.definition import (
    CANCEL_TRANSITION,
    CANCELLED_STATE,
    CompiledFlowDefinition,
    CompiledState,
    CompiledTransition,
    CompiledVariable,
)
from stateward.compiler.predicates.constraints import Bounded, ElementsOf, Family, OfType
from stateward.compiler.predicates.forms import guard_data, schema_data, value_data
from stateward.compiler.predicates.guards import And, Compare, Guard, Lit, Not, Ref
from stateward.compiler.predicates.schema import AllOf, Member, Plain, RecordOf, Schema

COUNT = AllOf((OfType(Family.INT), Bounded(">=", 0)))
TEXT = AllOf((OfType(Family.STRING),))
TRUTH = AllOf((OfType(Family.BOOL),))
FINDINGS = AllOf((ElementsOf(RecordOf((Member("file", TEXT), Member("severity", TEXT)))),))
ATTEMPTS, BUGS, VISITS, EXCEEDED = Ref(("vars", "attempts")), Ref(("vars", "bugs")), Ref(("visits", "work")), Ref(("spent", "exceeded"))


def way(
    id_: str, target: str, *, when: Guard | None = None, condition: str = "", otherwise: bool = False, checks: tuple[str, ...] = ()
) -> CompiledTransition:
    """Make an authored transition."""
    guard = None if when is None else guard_data(when)
    return CompiledTransition(id=id_, target=target, condition=condition, synthetic=False, when=guard, otherwise=otherwise, checks=checks)


def state(id_: str, *ways: CompiledTransition, **more: Any) -> CompiledState:
    """Make a state with the way out that every state has; one without ways is an end."""
    cancel = CompiledTransition(id=CANCEL_TRANSITION, target=CANCELLED_STATE, condition="It is impossible to go on.", synthetic=True)
    return CompiledState(
        id=id_, instructions=f"Do {id_}.", terminal=not ways, transitions=(*ways, cancel) if ways else (), **more
    )  # fmt: skip


def declared(name: str, schema: Schema, default: "Plain | None" = None) -> CompiledVariable:
    """Declare a variable or an input."""
    return CompiledVariable(name=name, type=schema_data(schema), default=None if default is None else value_data(default))


def guarded(name: str, *states: CompiledState, **more: tuple[Any, ...]) -> CompiledFlowDefinition:
    """Make a definition; the first state is the initial one."""
    cancelled = CompiledState(id=CANCELLED_STATE, instructions="", terminal=True, transitions=())
    return CompiledFlowDefinition(schema_version=2, name=name, initial=states[0].id, states=(*states, cancelled), **more)


REFINE = guarded(
    "refine",
    state("work", way("checked", "look", when=Compare(">=", VISITS, Lit(1))), writes=("attempts", "bugs", "findings"), visits_max=2),
    state(
        "look",
        way("good", "done", when=And((Not(BUGS), Compare("<", ATTEMPTS, Lit(9))))),
        way("again", "work", when=BUGS),
        way("judged", "done", condition="It is good enough."),
        select="first",
        reads=("attempts",),
        writes=("bugs",),
    ),
    state("done"),
    variables=(declared("attempts", COUNT, 0), declared("bugs", TRUTH), declared("findings", FINDINGS, []), declared("topic", TEXT)),
    inputs=(declared("topic", TEXT), declared("limit", COUNT, 3)),
)
"""Work and look at it, twice at most: by guards alone where `bugs` was set, else judged."""
NEEDS: Mapping[str, object] = {"topic": "owls"}
"""The inputs without which it does not begin."""
