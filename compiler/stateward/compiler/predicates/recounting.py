"""The JSON of a guard with states named otherwise: what counts visits of a state names it."""

from collections.abc import Mapping

from stateward.compiler.predicates.forms import Json
from stateward.compiler.predicates.guards import VISITS


def recounted(data: Json, names: Mapping[str, str]) -> Json:
    """Give a guard in which the states whose visits are counted have the names that they are given."""
    match data:
        case {"ref": [root, str(state)]} if root == VISITS:
            return {"ref": [VISITS, names.get(state, state)]}
        case {"lit": _}:
            return data
        case dict():
            return {name: recounted(each, names) for name, each in data.items()}
        case list():
            return [recounted(each, names) for each in data]
        case _:
            return data
