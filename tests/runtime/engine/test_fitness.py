"""Whether a flow can run on a definition of version 2 that was compiled elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.engine.compiling import compiled
from stateward.runtime.engine.fitness import unfit
from tests.runtime.engine.test_bundles import CANCEL, READY, _definition, _states

COUNT: dict[str, Any] = {"name": "count", "type": {"type": "Int"}}
GUARDED_FLOWS = Path(__file__).parents[2] / "flows" / "guarded"


def _later(**changed: Any) -> dict[str, Any]:
    return {"schema_version": 2, **changed}


def _guarded(*path: str) -> dict[str, Any]:
    return _later(variables=[COUNT], states=_states(transitions=[{**READY, "when": {"ref": list(path)}}, CANCEL]))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (_later(variables=[COUNT, COUNT]), "has a variable twice, or more than 64"),
        (_later(inputs=[{**COUNT, "name": f"i{number}"} for number in range(65)]), "has an input twice, or more than 64"),
        (_later(variables=[{**COUNT, "default": "x"}]), "has a default that `count` cannot hold"),
        (_later(variables=[COUNT], inputs=[{"name": "count", "type": {"type": "String"}}]), "has an input that a variable of its name"),
        (_later(checks=[{"name": "c", "command": [], "timeout_seconds": 1}]), "has a check `c` that runs nothing, or has no time"),
        (_later(states=_states(reads=["nothing"])), "has a state `write` that reads or writes a variable that is not there"),
        (_later(states=_states(visits_max=0)), "has a state `write` that can never be entered"),
        (_later(states=_states(transitions=[{**READY, "condition": ""}, CANCEL])), "has a transition `ready` that nothing decides"),
        (
            _later(states=_states(transitions=[{**READY, "checks": ["c"]}, CANCEL])),
            "has a transition `ready` that rests on what is not there",
        ),
        (_guarded("vars", "nothing"), "has a transition `ready` that rests on what is not there"),
        (_guarded("visits", "nowhere"), "has a transition `ready` that rests on what is not there"),
        (
            _later(states=_states(transitions=[{**READY, "otherwise": True}, {**READY, "id": "other"}, CANCEL])),
            "has a state `write` whose last resort is not one beside others that the runtime decides",
        ),
    ],
)
def test_a_definition_of_version_2_on_which_no_flow_can_run_is_told(changed: dict[str, Any], said: str) -> None:
    definition = CompiledFlowDefinition.model_validate(_definition("gone", **changed), strict=False)
    problem = unfit(definition)
    assert problem is not None
    assert problem.startswith(said)


@pytest.mark.parametrize("path", sorted(GUARDED_FLOWS.glob("*.dcdl")), ids=lambda path: path.stem)
def test_whatever_the_compiler_makes_of_guards_can_be_run(path: Path) -> None:
    definition = compiled(path.read_bytes(), path.name, path.stem).definition
    assert definition is not None
    assert None is unfit(definition)
