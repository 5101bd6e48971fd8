"""A checked Flow source to its definition: what the author wrote, and the way out that every flow has.

Last in each state that is no end comes the synthetic transition `$cancel` to the synthetic end `$cancelled`. Its text is part of every
definition and is frozen: a changed letter would change every digest. What is at its default is left out, so that a definition of version 1
has nothing of version 2. What is made first is plain data, which is enough for the digest; the typed definition is made of it where
somebody asks for one, since its library takes longer to load than a flow to compile.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict, TypeVar

from stateward.compiler.flow.durations import seconds_of
from stateward.compiler.flow.reserved import CANCEL_TRANSITION, CANCELLED_STATE
from stateward.compiler.flow.schema import SELECTIONS
from stateward.compiler.flow.typed import (
    CheckSource,
    Declarations,
    DeclarationSource,
    FlowSource,
    StateSource,
    Texts,
    TransitionSource,
)
from stateward.compiler.limits import TIMEOUT_SECONDS_DEFAULT
from stateward.compiler.predicates.forms import Json, guard_data, schema_data, value_data

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition

T = TypeVar("T")


class TransitionData(TypedDict):
    """A `CompiledTransition` as plain data."""

    id: str
    target: str
    condition: str
    synthetic: bool
    when: NotRequired[Json]
    checks: NotRequired[list[str]]
    otherwise: NotRequired[bool]


class StateData(TypedDict):
    """A `CompiledState` as plain data."""

    id: str
    instructions: str
    terminal: bool
    transitions: list[TransitionData]
    reads: NotRequired[list[str]]
    writes: NotRequired[list[str]]
    select: NotRequired[str]
    visits_max: NotRequired[int]


class DeclarationData(TypedDict):
    """A `CompiledVariable` as plain data."""

    name: str
    type: Json
    default: NotRequired[Json]


class CheckData(TypedDict):
    """A `CompiledCheck` as plain data."""

    name: str
    command: list[str]
    timeout_seconds: int


class DefinitionData(TypedDict):
    """A `CompiledFlowDefinition` as plain data."""

    schema_version: int
    name: str
    initial: str
    states: list[StateData]
    variables: NotRequired[list[DeclarationData]]
    inputs: NotRequired[list[DeclarationData]]
    checks: NotRequired[list[CheckData]]


CANCEL_CONDITION: Final = (
    "Something exceptional has actually happened that makes it impossible to carry on with the instructions of this state and to reach "
    "a regular end of the flow with the tools, the scope and the context at hand. Work that is hard, slow or unfinished, a check that "
    "fails and can be mended, or the mere wish to stop does not meet this condition."
)
"""Frozen for schema versions 1 and 2."""

_CANCEL: Final[TransitionData] = {"id": CANCEL_TRANSITION, "target": CANCELLED_STATE, "condition": CANCEL_CONDITION, "synthetic": True}
_CANCELLED: Final[StateData] = {"id": CANCELLED_STATE, "instructions": "", "terminal": True, "transitions": []}


def lower(flow: FlowSource) -> DefinitionData:
    """Make the definition of a source in which nothing was found wrong, as plain data."""
    assert flow.states is not None
    made: DefinitionData = {
        "schema_version": _there(flow.schema_version),
        "name": _there(flow.name).value,
        "initial": _there(flow.initial).value,
        "states": [*(_state(state) for state in flow.states.items), _CANCELLED],
    }
    if flow.variables.items:
        made["variables"] = _declarations(flow.variables)
    if flow.inputs.items:
        made["inputs"] = _declarations(flow.inputs)
    if flow.checks.items:
        made["checks"] = [_check(each) for each in flow.checks.items]
    return made


def definition_of(data: DefinitionData) -> "CompiledFlowDefinition":
    """Make the typed definition."""
    from stateward.compiler.flow.definition import (  # noqa: PLC0415 - see above
        CompiledCheck,
        CompiledFlowDefinition,
        CompiledState,
        CompiledTransition,
        CompiledVariable,
    )

    def state(given: StateData) -> CompiledState:
        transitions = tuple(CompiledTransition.model_validate(_frozen(each)) for each in given["transitions"])
        return CompiledState.model_validate({**_frozen(given), "transitions": transitions})

    return CompiledFlowDefinition(
        schema_version=data["schema_version"],
        name=data["name"],
        initial=data["initial"],
        states=tuple(state(each) for each in data["states"]),
        variables=tuple(CompiledVariable.model_validate(each) for each in data.get("variables", ())),
        inputs=tuple(CompiledVariable.model_validate(each) for each in data.get("inputs", ())),
        checks=tuple(CompiledCheck.model_validate(_frozen(each)) for each in data.get("checks", ())),
    )


def _frozen(data: Mapping[str, object]) -> dict[str, object]:
    """Give the members of an object with arrays of texts as they are kept."""
    return {name: tuple(given) if isinstance(given, list) else given for name, given in data.items()}


def _state(state: StateSource) -> StateData:
    terminal = _there(state.terminal)
    authored = [_transition(transition) for transition in _there(state.transitions).items]
    made: StateData = {
        "id": state.id,
        "instructions": _there(state.instructions).value,
        "terminal": terminal,
        "transitions": authored if terminal else [*authored, _CANCEL],
    }
    if state.reads is not None and state.reads.items:
        made["reads"] = _texts(state.reads)
    if state.writes is not None and state.writes.items:
        made["writes"] = _texts(state.writes)
    if state.select is not None and state.select.value != SELECTIONS[0]:
        made["select"] = state.select.value
    if state.visits_max is not None:
        made["visits_max"] = state.visits_max.value
    return made


def _transition(transition: TransitionSource) -> TransitionData:
    made: TransitionData = {
        "id": transition.id,
        "target": _there(transition.target).value,
        "condition": transition.condition.value if transition.condition is not None else "",
        "synthetic": False,
    }
    if transition.when is not None:
        made["when"] = guard_data(_there(transition.when.guard))
    if transition.checks is not None and transition.checks.items:
        made["checks"] = _texts(transition.checks)
    if transition.otherwise is not None and transition.otherwise.value:
        made["otherwise"] = True
    return made


def _declarations(declarations: Declarations) -> list[DeclarationData]:
    return [_declaration(each) for each in declarations.items]


def _declaration(declaration: DeclarationSource) -> DeclarationData:
    made: DeclarationData = {"name": declaration.name, "type": schema_data(_there(declaration.schema))}
    if declaration.default is not None:
        made["default"] = value_data(declaration.default)
    return made


def _check(check: CheckSource) -> CheckData:
    seconds = _there(seconds_of(check.timeout.value)) if check.timeout is not None else TIMEOUT_SECONDS_DEFAULT
    return {"name": check.name, "command": _texts(_there(check.command)), "timeout_seconds": seconds}


def _texts(texts: Texts) -> list[str]:
    return [each.value for each in texts.items]


def _there(part: T | None) -> T:
    assert part is not None, "a source without errors has all its parts"
    return part
