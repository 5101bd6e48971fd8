"""Constraints as JSON Schema (2020-12), for those who write variables: an output, never read back.

What it says is at least as wide as the constraint: a pattern is told in RE2's words, which differ from those of JSON Schema in places, and
what decides is always `schema.misfit`.
"""

from collections.abc import Mapping
from typing import Any, Final, assert_never

from stateward.compiler.predicates.constraints import Anything, Atom, Bounded, ElementsOf, EntriesOf, Family, HostCheck, Matching, OfType
from stateward.compiler.predicates.schema import INT_EXACT_MAX, AllOf, Exactly, RecordOf, Schema, TupleOf

_TYPES: Final[Mapping[Family, dict[str, Any]]] = {
    Family.INT: {"type": "integer"},
    Family.FLOAT: {"type": "number"},
    Family.STRING: {"type": "string"},
    Family.BOOL: {"type": "boolean"},
}
_BOUNDS: Final = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}


def json_schema(schema: Schema) -> dict[str, Any]:
    """Give the JSON Schema of a constraint."""
    match schema:
        case Exactly(value=value):
            return {"const": value}
        case TupleOf(items=()):
            return {"type": "array", "maxItems": 0}
        case TupleOf(items=items):
            return {"type": "array", "prefixItems": [json_schema(each) for each in items], "items": False, "minItems": len(items)}
        case RecordOf(members=members, rest=rest):
            return {
                "type": "object",
                "properties": {each.name: _with_default(json_schema(each.schema), each.default) for each in members},
                "required": [each.name for each in members if each.default is None],
                "additionalProperties": False if rest is None else json_schema(rest),
            }
        case AllOf(atoms=atoms):
            return _all_of(atoms)
    assert_never(schema)


def _with_default(made: dict[str, Any], default: Any) -> dict[str, Any]:
    return made if default is None else {**made, "default": default}


def _all_of(atoms: "tuple[Atom[Schema], ...]") -> dict[str, Any]:
    """Put the demands into one schema, side by side where two would use one keyword."""
    whole: dict[str, Any] = {}
    beside: list[dict[str, Any]] = []
    for atom in atoms:
        made = _of_atom(atom)
        if made.keys() & whole.keys() and any(whole[name] != made[name] for name in made.keys() & whole.keys()):
            beside.append(made)
        else:
            whole.update(made)
    if whole.get("type") == "integer":
        whole.setdefault("minimum" if "exclusiveMinimum" not in whole else "exclusiveMinimum", -INT_EXACT_MAX)
        whole.setdefault("maximum" if "exclusiveMaximum" not in whole else "exclusiveMaximum", INT_EXACT_MAX)
    return {**whole, "allOf": beside} if beside else whole


def _of_atom(atom: "Atom[Schema]") -> dict[str, Any]:
    match atom:
        case Anything() | HostCheck():
            return {}
        case OfType(family=family):
            return dict(_TYPES[family])
        case Bounded(sign=sign, limit=limit):
            return {_BOUNDS[sign]: limit}
        case Matching(pattern=pattern):
            return {"type": "string", "pattern": pattern}
        case ElementsOf(item=item):
            return {"type": "array", "items": json_schema(item)}
        case EntriesOf(item=item):
            return {"type": "object", "additionalProperties": json_schema(item)}
    assert_never(atom)
