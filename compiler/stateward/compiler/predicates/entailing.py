"""Whether whatever meets one constraint provably meets another.

Invariants: `True` is proved, `False` says only that no proof was found; the work is bounded by the product of both trees.
"""

from functools import lru_cache
from typing import Final, assert_never

from stateward.compiler.predicates.closed import alternatives
from stateward.compiler.predicates.constraints import Anything, Atom, ElementsOf, EntriesOf, Family, Matching, OfType, implies
from stateward.compiler.predicates.patterns import matches
from stateward.compiler.predicates.schema import AllOf, Exactly, RecordOf, Schema, TupleOf, misfit

PAIRS_MAX: Final = 256
"""Pairs of patterns of which is kept whether one names only texts that the other matches."""


def entails(schema: Schema, wanted: Schema) -> bool:
    """Tell whether every value that meets a constraint provably meets another one."""
    match wanted:
        case Exactly(value=value):
            return isinstance(schema, Exactly) and misfit(wanted, schema.value) is None and type(schema.value) is type(value)
        case AllOf(atoms=atoms):
            return all(_entails_atom(schema, atom) for atom in atoms)
        case TupleOf(items=items):
            return (
                isinstance(schema, TupleOf)
                and len(schema.items) == len(items)
                and all(entails(each, item) for each, item in zip(schema.items, items, strict=True))
            )
        case RecordOf():
            return isinstance(schema, RecordOf) and _entails_record(schema, wanted)
    assert_never(wanted)


def _entails_atom(schema: Schema, wanted: "Atom[Schema]") -> bool:
    if isinstance(wanted, Anything):
        return True
    match schema:
        case Exactly(value=value):
            return misfit(AllOf((wanted,)), value) is None
        case TupleOf(items=items):
            return isinstance(wanted, ElementsOf) and all(entails(each, wanted.item) for each in items)
        case RecordOf(members=members, rest=rest):
            inner = [member.schema for member in members] + ([rest] if rest is not None else [])
            return isinstance(wanted, EntriesOf) and all(entails(each, wanted.item) for each in inner)
        case AllOf(atoms=atoms):
            return _entailed_by(atoms, wanted)
    assert_never(schema)


def _entailed_by(atoms: "tuple[Atom[Schema], ...]", wanted: "Atom[Schema]") -> bool:
    match wanted:
        case ElementsOf(item=item):
            return any(isinstance(atom, ElementsOf) and entails(atom.item, item) for atom in atoms)
        case EntriesOf(item=item):
            return any(isinstance(atom, EntriesOf) and entails(atom.item, item) for atom in atoms)
        case OfType(family=Family.FLOAT):
            return implies(atoms, wanted) or OfType(Family.INT) in atoms
        case Matching(pattern=pattern):
            named = [atom.pattern for atom in atoms if isinstance(atom, Matching)]
            return implies(atoms, wanted) or any(_names_only(each, pattern) for each in named)
        case _:
            return implies(atoms, wanted)


@lru_cache(PAIRS_MAX)
def _names_only(pattern: str, wanted: str) -> bool:
    """Tell whether a pattern names all its texts, and another matches each of them."""
    texts = alternatives(pattern)
    return texts is not None and all(matches(wanted, each) for each in texts)


def _entails_record(schema: RecordOf, wanted: RecordOf) -> bool:
    given = {member.name: member for member in schema.members}
    for member in wanted.members:
        own = given.pop(member.name, None)
        if own is None:
            if member.default is None or (schema.rest is not None and not entails(schema.rest, member.schema)):
                return False
        elif not entails(own.schema, member.schema) or (own.default is not None and member.default is None):
            return False
    further = [member.schema for member in given.values()] + ([schema.rest] if schema.rest is not None else [])
    return all(wanted.rest is not None and entails(each, wanted.rest) for each in further)
