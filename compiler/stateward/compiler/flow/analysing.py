"""A typed source as the analysis of guards looks at it: without what is of no matter there, and with what is not known said to be so."""

from stateward.compiler.flow.analysis.given import Declared, Given, Named, Standing, Way
from stateward.compiler.flow.schema import SELECTIONS
from stateward.compiler.flow.typed import Checks, Declarations, FlowSource, StateSource, Texts, TransitionSource
from stateward.compiler.predicates.declarations import Declaration


def given_of(flow: FlowSource) -> Given:
    """Give a source as it is looked at."""
    states = flow.states.items if flow.states is not None else ()
    ids = frozenset(state.id for state in states)
    whole = flow.states is not None and flow.states.complete
    return Given(
        states=tuple(_standing(state, ids) for state in states),
        initial=flow.initial.value if flow.initial is not None and flow.initial.value in ids else None,
        variables=_declared(flow.variables),
        inputs=_declared(flow.inputs),
        checks=_checks(flow.checks),
        complete=whole and flow.variables.complete and flow.inputs.complete and flow.checks.complete,
    )


def _declared(declarations: Declarations) -> tuple[Declared, ...]:
    return tuple(
        Declared(each.name, each.key, each.path, Declaration(each.name, each.schema, each.default) if each.schema is not None else None)
        for each in declarations.items
    )


def _checks(checks: Checks) -> tuple[Declared, ...]:
    return tuple(Declared(each.name, each.key, each.path) for each in checks.items)


def _standing(state: StateSource, ids: frozenset[str]) -> Standing:
    transitions = state.transitions
    return Standing(
        id=state.id,
        key=state.key,
        path=state.path,
        is_end=state.terminal is True,
        ways=tuple(_way(each, ids) for each in transitions.items) if transitions is not None else (),
        is_ordered=state.select is not None and state.select.value != SELECTIONS[0],
        reads=_named(state.reads),
        writes=_named(state.writes),
        visits_max=state.visits_max.value if state.visits_max is not None else None,
        complete=state.complete and transitions is not None and transitions.complete and state.terminal is not None,
    )


def _way(transition: TransitionSource, ids: frozenset[str]) -> Way:
    target, when = transition.target, transition.when
    failed = [
        name for name in ("when", "condition", "checks", "otherwise") if name in transition.said and getattr(transition, name) is None
    ]
    return Way(
        id=transition.id,
        key=transition.key,
        path=transition.path,
        target=target.value if target is not None and target.value in ids else None,
        guard=when.guard if when is not None else None,
        place=when.place if when is not None else transition.key,
        is_judged=transition.condition is not None,
        checks=_named(transition.checks),
        otherwise=transition.otherwise is not None and transition.otherwise.value,
        sound=transition.complete and not failed and (when is None or when.guard is not None) and _is_whole(transition.checks),
    )


def _named(texts: Texts | None) -> tuple[Named, ...]:
    return tuple(Named(each.value, each.origin.place) for each in texts.items) if texts is not None else ()


def _is_whole(texts: Texts | None) -> bool:
    return texts is None or texts.complete
