"""Which transition of a state is taken, as far as the runtime can tell by itself, and what has to be asked of others.

A transition is taken when all its parts are met: its guard, its checks, its condition; in Kleene's logic any `not_met` decides, else any
`indeterminate`. Invariants: a verifier is asked only what can still change which transition is taken; nothing here depends on the order
in which parts were found; a state without guards, checks and another way to select is as in version 1: everything is asked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.compiler.predicates.guards import Bag, holds, missing_in
from stateward.runtime.core.events import Part, PartKind, RejectionCode, Verdict
from stateward.runtime.core.flow import Flow, State, Transition
from stateward.runtime.core.instance import Instance
from stateward.runtime.core.texts import listed

FIRST: Final = "first"


@dataclass(frozen=True, slots=True)
class Taken:
    """This transition is taken; nobody is asked."""

    transition: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """None is taken, whatever anybody answers."""

    code: RejectionCode
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """These checks are to be run before anything else can be told."""

    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """A verifier is to judge the conditions of these transitions, in order of declaration."""

    transitions: tuple[str, ...]


Next: TypeAlias = Taken | Blocked | Run | Ask


@dataclass(frozen=True, slots=True)
class _Look:
    """A transition as far as the runtime can tell."""

    id: str
    settled: Verdict
    """The parts that were found, together."""
    pending: tuple[str, ...]
    """The checks that were not run yet and may matter."""
    has_condition: bool

    @property
    def is_closed(self) -> bool:
        """Whether nothing that is still to be found can change it."""
        return self.settled is Verdict.NOT_MET or not (self.pending or self.has_condition)


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the verdict on several parts that must all be met."""
    whole = Verdict.MET
    for each in verdicts:
        if each is Verdict.NOT_MET:
            return each
        if each is Verdict.INDETERMINATE:
            whole = each
    return whole


def bag_of(definition: Flow, instance: Instance) -> Bag:
    """Give what guards see of an instance."""
    ways_out = (each.target for each in definition.state(instance.state).transitions if not each.synthetic)
    return Bag(
        variables={name: each.value for name, each in instance.variables.items()},
        inputs=instance.inputs,
        visits=instance.visits,
        exceeded=any(visits_left(definition, instance, target) == 0 for target in ways_out),
    )


def visits_left(definition: Flow, instance: Instance, state: str) -> int | None:
    """Tell how often a state may still be entered; None: as often as may be."""
    most = definition.state(state).visits_max
    if most is None:
        return None
    return max(0, most + instance.granted.get(state, 0) - instance.visits.get(state, 0))


def guard_parts(definition: Flow, instance: Instance) -> tuple[Part, ...]:
    """Evaluate the guards of the state in which an instance stands."""
    guarded = [(each.id, each.guard) for each in definition.state(instance.state).transitions if each.guard is not None]
    if not guarded:
        return ()
    bag = bag_of(definition, instance)
    found = []
    for transition, guard in guarded:
        truth = holds(guard, bag)
        verdict = Verdict.INDETERMINATE if truth is None else Verdict.MET if truth else Verdict.NOT_MET
        missing = tuple(each.text for each in missing_in(guard, bag)) if truth is None else ()
        found.append(Part(transition, PartKind.WHEN, verdict, missing=missing))
    return tuple(found)


def next_of(state: State, parts: Sequence[Part]) -> Next:
    """Tell what is to be done to leave a state, after these parts were found."""
    authored = [each for each in state.transitions if not each.synthetic]
    synthetic = tuple(each.id for each in state.transitions if each.synthetic)
    looks = _looks(authored, parts)
    return _next_of_first(looks, synthetic) if state.select == FIRST else _next_of_exclusive(looks, synthetic)


def settled_parts(state: State, parts: Sequence[Part]) -> Mapping[str, Verdict]:
    """Give for each transition what its parts came to, those that only a verifier answers left out."""
    looks = _looks([each for each in state.transitions if not each.synthetic], parts)
    return {each.id: each.settled for each in looks}


def nobody_else(state: State, parts: Sequence[Part]) -> Verdict | None:
    """Tell whether no transition but a last resort is met; None while that is open."""
    return _nobody(_looks([each for each in state.transitions if not (each.synthetic or each.otherwise)], parts))


def _nobody(others: Sequence[_Look]) -> Verdict | None:
    closed = [each.settled for each in others if each.is_closed]
    if Verdict.MET in closed:
        return Verdict.NOT_MET
    if len(closed) < len(others):
        return None
    return Verdict.INDETERMINATE if Verdict.INDETERMINATE in closed else Verdict.MET


def _looks(authored: Sequence[Transition], parts: Sequence[Part]) -> tuple[_Look, ...]:
    found: dict[str, list[Part]] = {}
    for part in parts:
        found.setdefault(part.transition, []).append(part)
    plain = {each.id: _look(each, found.get(each.id, [])) for each in authored}
    others = [plain[each.id] for each in authored if not each.otherwise]
    return tuple(_otherwise(plain[each.id], others) if each.otherwise else plain[each.id] for each in authored)


def _look(transition: Transition, found: Sequence[Part]) -> _Look:
    settled = together(each.verdict for each in found)
    run = {each.name for each in found if each.kind is PartKind.CHECK}
    pending = tuple(each for each in transition.checks if each not in run) if settled is not Verdict.NOT_MET else ()
    return _Look(transition.id, settled, pending, bool(transition.condition))


def _otherwise(look: _Look, others: Sequence[_Look]) -> _Look:
    """Judge the transition that is taken where no other is: met when all others are `not_met`."""
    nobody = _nobody(others)
    if nobody is None:
        waiting = tuple(dict.fromkeys(check for each in others for check in each.pending))
        return _Look(look.id, look.settled, (*look.pending, *waiting) if look.settled is not Verdict.NOT_MET else (), look.has_condition)
    return _Look(look.id, together((look.settled, nobody)), look.pending if nobody is not Verdict.NOT_MET else (), look.has_condition)


def _next_of_exclusive(looks: Sequence[_Look], synthetic: tuple[str, ...]) -> Next:
    met = tuple(each.id for each in looks if each.is_closed and each.settled is Verdict.MET)
    if len(met) > 1:
        return Blocked(RejectionCode.MULTIPLE_CONDITIONS_MET, multiple_message(met))
    pending = _checks(looks)
    if pending:
        return Run(pending)
    asked = tuple(each.id for each in looks if not each.is_closed and each.settled is Verdict.MET)
    if met and all(each.settled is Verdict.NOT_MET for each in looks if each.id not in met):
        return Taken(met[0])
    return Ask((*asked, *synthetic))


def _next_of_first(looks: Sequence[_Look], synthetic: tuple[str, ...]) -> Next:
    """Look no further than the first transition that is decided and not out of the question."""
    reached = _reached(looks)
    pending = _checks(reached)
    if pending:
        return Run(pending)
    asked = tuple(each.id for each in reached if not each.is_closed)
    last = reached[-1] if reached and reached[-1].is_closed and reached[-1].settled is not Verdict.NOT_MET else None
    if asked:
        return Ask((*asked, *synthetic) if last is None else asked)
    if last is None:
        return Ask(synthetic)
    if last.settled is Verdict.MET:
        return Taken(last.id)
    return Blocked(RejectionCode.INDETERMINATE, f"could not check {listed((last.id,))}, which comes before the others")


def _reached(looks: Sequence[_Look]) -> Sequence[_Look]:
    for at, each in enumerate(looks):
        if each.is_closed and each.settled is not Verdict.NOT_MET:
            return looks[: at + 1]
    return looks


def _checks(looks: Iterable[_Look]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(check for each in looks for check in each.pending))


def multiple_message(met: tuple[str, ...]) -> str:
    """Say that several transitions could be taken."""
    return f"{len(met)} conditions are met: {listed(met)}"
