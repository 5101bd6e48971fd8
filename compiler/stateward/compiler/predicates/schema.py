"""What a variable may hold: one closed tree of constraints over plain data, and the one question whether a value fits.

Invariants: the tree is closed (no cell, no name, no place); nothing here fails on a value, however it is nested: a value over a limit is
a misfit. A Bool is no number. An Int fits where only a Float is wanted, since JSON knows no difference; it is taken as that Float.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias, assert_never

from stateward.compiler.predicates.constraints import (
    SCALARS,
    Anything,
    Atom,
    Bounded,
    ElementsOf,
    EntriesOf,
    Family,
    Fit,
    HostCheck,
    Matching,
    OfType,
    fits,
)

Scalar: TypeAlias = bool | int | float | str
Plain: TypeAlias = "Scalar | list[Plain] | dict[str, Plain]"
"""A value of a variable: JSON without null."""

INT_EXACT_MAX: Final = 2**53 - 1
"""The largest Int, either sign, that every reader of JSON keeps exactly (RFC 8259, section 6)."""
DEPTH_MAX: Final = 32
"""How deep a value may be nested."""
SHOWN_CHARACTERS_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class Exactly:
    """One scalar and no other."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class AllOf:
    """Demands that all must be met; at least one."""

    atoms: "tuple[Atom[Schema], ...]"


@dataclass(frozen=True, slots=True)
class TupleOf:
    """An array of exactly these."""

    items: "tuple[Schema, ...]"


@dataclass(frozen=True, slots=True)
class Member:
    """A field of an object. `default` is what it is where a value leaves it out; None: it must be there."""

    name: str
    schema: "Schema"
    default: "Plain | None" = None


@dataclass(frozen=True, slots=True)
class RecordOf:
    """An object with these fields; `rest` is what further fields must be, None allows none."""

    members: tuple[Member, ...]
    rest: "Schema | None" = None


Schema: TypeAlias = Exactly | AllOf | TupleOf | RecordOf

_WORDS: Final[Mapping[type, Family]] = {**SCALARS, list: Family.ARRAY, dict: Family.OBJECT}


class Misfit(NamedTuple):
    """Why a value does not fit."""

    path: tuple[str | int, ...]
    """Where in the value."""
    why: str
    """One fact, lower case, about what stands there."""


def family_of(value: object) -> Family | None:
    """Give what a plain value is; None for what no variable can hold."""
    return _WORDS.get(type(value))


def misfit(schema: Schema, value: object) -> Misfit | None:
    """Say why a value does not fit, at its first place that does not; None when it fits."""
    return _misfit(schema, value, ()) or _unfit(value, ())


def completed(schema: Schema, value: Plain) -> Plain:
    """Give a value that fits with its defaults filled in and Ints made Floats where Floats are wanted."""
    match schema:
        case Exactly(value=wanted):
            return wanted
        case TupleOf(items=items):
            assert isinstance(value, list)
            return [completed(item, each) for item, each in zip(items, value, strict=True)]
        case RecordOf():
            assert isinstance(value, dict)
            return _completed_record(schema, value)
        case AllOf(atoms=atoms):
            for atom in atoms:
                value = _completed_by(atom, value)
            return value
    assert_never(schema)


def _completed_record(schema: RecordOf, value: dict[str, Plain]) -> Plain:
    known = {member.name: member for member in schema.members}
    made: dict[str, Plain] = {}
    for name, each in value.items():
        member = known.get(name)
        inner = member.schema if member is not None else schema.rest
        assert inner is not None, "the value fits"
        made[name] = completed(inner, each)
    for member in schema.members:
        if member.name not in made and member.default is not None:
            made[member.name] = member.default
    return made


def _completed_by(atom: "Atom[Schema]", value: Plain) -> Plain:
    match atom:
        case OfType(family=Family.FLOAT) if type(value) is int:
            return float(value)
        case ElementsOf(item=item) if isinstance(value, list):
            return [completed(item, each) for each in value]
        case EntriesOf(item=item) if isinstance(value, dict):
            return {name: completed(item, each) for name, each in value.items()}
        case _:
            return value


def _misfit(schema: Schema, value: object, path: tuple[str | int, ...]) -> Misfit | None:
    unheld = _unheld(value, path)
    if unheld is not None:
        return unheld
    match schema:
        case Exactly(value=wanted):
            return None if _same(wanted, value) else Misfit(path, f"{shown(value)} is not {shown(wanted)}")
        case TupleOf(items=items):
            return _tuple_misfit(items, value, path)
        case RecordOf():
            return _record_misfit(schema, value, path)
        case AllOf(atoms=atoms):
            family = family_of(value)
            assert family is not None  # it can be held
            return next((found for atom in atoms if (found := _atom_misfit(atom, family, value, path))), None)
    assert_never(schema)


def _unfit(value: object, path: tuple[str | int, ...]) -> Misfit | None:
    """Say what in a value no variable can hold, where its constraint leaves open what there is."""
    unheld = _unheld(value, path)
    if unheld is not None:
        return unheld
    match value:
        case list():
            return next((found for at, each in enumerate(value) if (found := _unfit(each, (*path, at)))), None)
        case dict():
            if not all(isinstance(name, str) for name in value):
                return Misfit(path, "a key is no text")
            return next((found for name, each in value.items() if (found := _unfit(each, (*path, name)))), None)
        case _:
            return None


def _unheld(value: object, path: tuple[str | int, ...]) -> Misfit | None:
    """Say why no variable can hold a value, whatever is in it."""
    if len(path) > DEPTH_MAX:
        return Misfit(path, f"it is nested deeper than {DEPTH_MAX}")
    if family_of(value) is None:
        return Misfit(path, "null is no value" if value is None else f"{type(value).__name__} is no value")
    beyond = _beyond(value)
    return None if beyond is None else Misfit(path, beyond)


def _beyond(value: object) -> str | None:
    """Say why a number is none that a variable can hold."""
    if type(value) is int and abs(value) > INT_EXACT_MAX:
        return "the Int lies beyond 2^53 - 1"
    if type(value) is float and not math.isfinite(value):
        return "the Float is not finite"
    return None


def _same(wanted: Scalar, value: object) -> bool:
    if type(wanted) is float and type(value) is int:
        return wanted == value
    return type(wanted) is type(value) and wanted == value


def _tuple_misfit(items: tuple[Schema, ...], value: object, path: tuple[str | int, ...]) -> Misfit | None:
    if not isinstance(value, list):
        return Misfit(path, f"{shown(value)} is no Array")
    if len(value) != len(items):
        return Misfit(path, f"it has {len(value)} items, not {len(items)}")
    pairs = enumerate(zip(items, value, strict=True))
    return next((found for at, (item, each) in pairs if (found := _misfit(item, each, (*path, at)))), None)


def _record_misfit(schema: RecordOf, value: object, path: tuple[str | int, ...]) -> Misfit | None:
    if not isinstance(value, dict):
        return Misfit(path, f"{shown(value)} is no Object")
    known = {member.name: member for member in schema.members}
    for name, each in value.items():
        if not isinstance(name, str):
            return Misfit(path, "a key is no text")
        inner = known[name].schema if name in known else schema.rest
        if inner is None:
            return Misfit((*path, name), "it has no such field")
        found = _misfit(inner, each, (*path, name))
        if found is not None:
            return found
    missing = next((member.name for member in schema.members if member.default is None and member.name not in value), None)
    return None if missing is None else Misfit((*path, missing), "the field is missing")


def _atom_misfit(atom: "Atom[Schema]", family: Family, value: object, path: tuple[str | int, ...]) -> Misfit | None:
    taken = Family.FLOAT if isinstance(atom, OfType) and atom.family is Family.FLOAT and family is Family.INT else family
    fit = fits(atom, taken, value)
    if fit is not Fit.YES:
        return Misfit(path, f"{shown(value)} {_why(atom)}")
    match atom, value:
        case (ElementsOf(item=item), list()):
            return next((found for at, each in enumerate(value) if (found := _misfit(item, each, (*path, at)))), None)
        case (EntriesOf(item=item), dict()):
            return _entries_misfit(item, value, path)
        case _:
            return None


def _entries_misfit(item: Schema, value: Mapping[object, object], path: tuple[str | int, ...]) -> Misfit | None:
    for name, each in value.items():
        if not isinstance(name, str):
            return Misfit(path, "a key is no text")
        found = _misfit(item, each, (*path, name))
        if found is not None:
            return found
    return None


def _why(atom: "Atom[Schema]") -> str:
    match atom:
        case OfType(family=family):
            return f"is no {family}"
        case Bounded(sign=sign, limit=limit):
            return f"is not {sign} {limit}"
        case Matching(pattern=pattern):
            return f"does not match `/{pattern}/`"
        case HostCheck(name=name):
            return f"cannot be checked by `{name}`"
        case ElementsOf():
            return "is no Array"
        case EntriesOf():
            return "is no Object"
        case Anything():
            raise AssertionError("everything is anything")
    assert_never(atom)


def shown(value: object) -> str:
    """Show a value, shortly."""
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            text = repr(value) if not isinstance(value, int) or abs(value) <= 10**SHOWN_CHARACTERS_MAX else "a long Int"
            return f"`{text}`"
        case str():
            cut = value if len(value) <= SHOWN_CHARACTERS_MAX else value[:SHOWN_CHARACTERS_MAX] + "…"
            return '`"' + cut.replace("\n", " ").replace("`", "'") + '"`'
        case list():
            return "an Array"
        case dict():
            return "an Object"
        case _:
            return "a value of no type"
