"""Guards and constraints as people read them: in the notation of the language, with as few parentheses as it needs."""

from collections.abc import Mapping
from typing import Final, assert_never

from stateward.compiler.predicates.constraints import (
    Anything,
    Atom,
    Bounded,
    ElementsOf,
    EntriesOf,
    HostCheck,
    Matching,
    OfType,
)
from stateward.compiler.predicates.guards import And, Compare, Compute, Fits, Guard, If, Lit, Not, Or, Ref
from stateward.compiler.predicates.schema import AllOf, Exactly, Member, Plain, RecordOf, Schema, TupleOf

_LEVELS: Final[Mapping[type, int]] = {If: 0, Or: 5, And: 6, Compare: 7, Compute: 9, Not: 11, Fits: 0, Lit: 12, Ref: 12}
_PRODUCT: Final = 10
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def guard_text(guard: Guard) -> str:
    """Write a guard as an expression."""
    match guard:
        case Lit(value=value):
            return value_text(value)
        case Ref(path=path):
            return ".".join(_key(each) for each in path)
        case Not(operand=operand):
            return "!" + _within(operand, _LEVELS[Not])
        case And(operands=operands):
            return " && ".join(_within(each, _LEVELS[And]) for each in operands)
        case Or(operands=operands):
            return " || ".join(_within(each, _LEVELS[Or]) for each in operands)
        case Compare(sign=sign, left=left, right=right):
            return f"{_within(left, _LEVELS[Compare] + 1)} {sign} {_within(right, _LEVELS[Compare] + 1)}"
        case Compute(sign=sign, left=left, right=right):
            level = _level(guard)
            return f"{_within(left, level)} {sign} {_within(right, level + 1)}"
        case Fits(ref=ref, schema=schema):
            return f"match {guard_text(ref)} {{ {schema_text(schema)}: true; _: false }}"
        case If(test=test, then=then, otherwise=otherwise):
            return f"match {guard_text(test)} {{ true: {guard_text(then)}; false: {guard_text(otherwise)} }}"
    assert_never(guard)


def _level(guard: Guard) -> int:
    if isinstance(guard, Compute) and guard.sign == "*":
        return _PRODUCT
    if isinstance(guard, Lit) and not isinstance(guard.value, bool | str) and guard.value < 0:
        return _LEVELS[Not]
    return _LEVELS[type(guard)]


def _within(guard: Guard, level: int) -> str:
    text = guard_text(guard)
    return text if _level(guard) >= level else f"({text})"


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("_", "a").isalnum() and name[:1].isalpha()
    return name if plain else value_text(name)


def value_text(value: Plain) -> str:
    """Write a value as the language does."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            return f'"{value.translate(_ESCAPES)}"'
        case list():
            return f"[{', '.join(map(value_text, value))}]"
        case dict():
            return f"{{ {'; '.join(f'{_key(name)} = {value_text(each)}' for name, each in value.items())} }}" if value else "{}"
    assert_never(value)


def schema_text(schema: Schema) -> str:
    """Write a constraint as the language does."""
    match schema:
        case Exactly(value=value):
            return value_text(value)
        case AllOf(atoms=atoms):
            return " & ".join(map(_atom_text, atoms))
        case TupleOf(items=items):
            return f"[{', '.join(map(schema_text, items))}]"
        case RecordOf(members=members, rest=rest):
            parts = [*map(_member_text, members), *([] if rest is None else [f"...{schema_text(rest)}"])]
            return f"{{ {'; '.join(parts)} }}" if parts else "{}"
    assert_never(schema)


def _member_text(member: Member) -> str:
    default = "" if member.default is None else f" default {value_text(member.default)}"
    return f"{_key(member.name)} = {schema_text(member.schema)}{default}"


def _atom_text(atom: "Atom[Schema]") -> str:
    match atom:
        case Anything():
            return "Unknown"
        case OfType(family=family):
            return family.value
        case Bounded(sign=sign, limit=limit):
            return f"{sign} {limit!r}"
        case Matching(pattern=pattern):
            return f"/{pattern.replace('/', chr(92) + '/')}/"
        case HostCheck(name=name):
            return name
        case ElementsOf(item=item):
            return f"[...{schema_text(item)}]"
        case EntriesOf(item=item):
            return f"{{...{schema_text(item)}}}"
    assert_never(atom)
