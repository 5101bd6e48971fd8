"""Everything that the analysis has to say of a flow, in one call.

Invariants: work is bounded (`tables.NODES_MAX`, `tables.STEPS_MAX`) and does not depend on anything but the flow; what cannot be told
within the bounds is not said.
"""

from collections.abc import Collection, Iterator, Mapping

from stateward.compiler.flow.analysis.domains import Setting
from stateward.compiler.flow.analysis.given import Given, Standing
from stateward.compiler.flow.analysis.problems import (
    AlwaysTrue,
    DeclaredUnused,
    LeavingGap,
    NeverTrue,
    Overlapping,
    ReadBeforeWritten,
    ReadPerhapsBeforeWritten,
    Shadowed,
    WrittenNeverRead,
    declared_of,
)
from stateward.compiler.flow.analysis.roads import Roads, reached_without
from stateward.compiler.flow.analysis.tables import Budget
from stateward.compiler.flow.analysis.ways import Judged, Looked, look_at
from stateward.compiler.flow.analysis.writing import NeverRead, PerhapsUnwritten, Unused, Unwritten, look_at_variables
from stateward.compiler.flow.problems import Problem
from stateward.compiler.predicates.guards import VISITS, references


def analyse(given: Given) -> list[Problem]:
    """Give what is wrong with guards, variables and checks beside each other, and what is worth a warning."""
    budget = Budget()
    without = {counted: reached_without(counted, given) for counted in _counted(given)} if given.is_known else {}
    looked = {state.id: look_at(state, _setting(state, given, without), budget) for state in given.states}
    roads = Roads(given, {state: each.ways for state, each in looked.items()})
    found: list[Problem] = []
    for state in given.states:
        found += _of_state(state, looked[state.id], given, roads)
    found += _of_variables(given, roads)
    return found


def _counted(given: Given) -> tuple[str, ...]:
    """Name the states whose visits a guard looks at."""
    guards = (way.guard for state in given.states for way in state.ways if way.guard is not None)
    return tuple(dict.fromkeys(ref.path[1] for guard in guards for ref in references(guard) if ref.path[0] == VISITS))


def _setting(state: Standing, given: Given, without: Mapping[str, Collection[str]]) -> Setting:
    return Setting(
        variables={each.name: each.declaration for each in given.variables if each.declaration is not None},
        inputs={each.name: each.declaration for each in given.inputs if each.declaration is not None},
        state=state.id,
        visits_max=_visits_max(given),
        targets=frozenset(way.target for way in state.ways if way.target is not None),
        has_all_targets=given.complete and state.complete and all(way.is_known for way in state.ways),
        passed=frozenset(counted for counted, reached in without.items() if state.id not in reached),
    )


def _visits_max(given: Given) -> Mapping[str, int]:
    return {state.id: state.visits_max for state in given.states if state.visits_max is not None}


def _of_state(state: Standing, looked: Looked, given: Given, roads: Roads) -> Iterator[Problem]:
    for each in looked.ways:
        yield from _of_way(each, state, given, roads)
    for overlap in looked.overlaps:
        yield Overlapping(state.id, *overlap)
    if looked.gap is not None:
        yield LeavingGap(state, looked.gap)


def _of_way(each: Judged, state: Standing, given: Given, roads: Roads) -> Iterator[Problem]:
    way, guard = each.way, each.way.guard
    if guard is not None and (each.always or each.never):
        declared = declared_of(guard, given.variables, given.inputs)
        if each.never:
            yield NeverTrue(way, guard, declared, roads.consequence(state.id, each), given.states)
        else:
            may_be_otherwise = not way.checks and not any(other.is_judged or other.otherwise for other in state.ways)
            yield AlwaysTrue(way, guard, declared, may_be_otherwise)
    if each.hidden_by:
        yield Shadowed(way, each.hidden_by, roads.consequence(state.id, each), given.states)


def _of_variables(given: Given, roads: Roads) -> Iterator[Problem]:
    for found in look_at_variables(given, roads):
        match found:
            case Unwritten():
                yield ReadBeforeWritten(found)
            case PerhapsUnwritten():
                yield ReadPerhapsBeforeWritten(found)
            case NeverRead():
                yield WrittenNeverRead(found)
            case Unused():
                yield DeclaredUnused(found)
