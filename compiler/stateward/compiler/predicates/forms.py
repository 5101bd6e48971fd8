"""The JSON of values, constraints and guards, as definitions and logs hold them.

Each object has one member, whose name says what it is. A number is a text with its type (`{"int": "3"}`, `{"float": "0.5"}`), so that no
reader of JSON changes it and one value has one spelling; the members of an object keep their order as pairs. Reading is strict: what is
not written here is refused with `MalformedForm`.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, assert_never

from stateward.compiler.predicates.constraints import (
    INT_MAX,
    INT_MIN,
    Anything,
    Atom,
    Bounded,
    ElementsOf,
    EntriesOf,
    Family,
    HostCheck,
    Matching,
    OfType,
)
from stateward.compiler.predicates.guards import (
    EXCEEDED,
    INPUT,
    KNOWN,
    NODES_MAX,
    SPENT,
    VARS,
    VISITS,
    And,
    Compare,
    Compute,
    Fits,
    Guard,
    If,
    Lit,
    Not,
    Or,
    Ref,
    parts_of,
)
from stateward.compiler.predicates.patterns import fault_of
from stateward.compiler.predicates.schema import DEPTH_MAX, AllOf, Exactly, Member, Plain, RecordOf, Scalar, Schema, TupleOf

Json: TypeAlias = "bool | str | list[Json] | dict[str, Json]"

_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_COMPUTATIONS: Final[Mapping[str, str]] = {"add": "+", "sub": "-", "mul": "*"}
_COMPUTED: Final = {sign: name for name, sign in _COMPUTATIONS.items()}
_TYPES: Final = {family.value: family for family in (Family.INT, Family.FLOAT, Family.STRING, Family.BOOL)}
_DIGITS_MAX: Final = 20


class MalformedForm(ValueError):
    """The JSON is none of these."""


# --- values -------------------------------------------------------------------------------------------------------------------------


def value_data(value: Plain) -> Json:
    """Write a value."""
    match value:
        case bool() | str():
            return value
        case int():
            return {"int": str(value)}
        case float():
            return {"float": repr(value)}
        case list():
            return [value_data(each) for each in value]
        case dict():
            return {"object": [[name, value_data(each)] for name, each in value.items()]}
    assert_never(value)


def read_value(data: object, depth: int = 0) -> Plain:
    """Read a value. Raises MalformedForm."""
    if depth > DEPTH_MAX:
        raise MalformedForm(f"a value is nested deeper than {DEPTH_MAX}")
    match data:
        case bool() | str():
            return data
        case list():
            return [read_value(each, depth + 1) for each in data]
        case {"int": str(digits), **others} if not others:
            return _int(digits)
        case {"float": str(digits), **others} if not others:
            return _float(digits)
        case {"object": list(pairs), **others} if not others:
            return _object(pairs, depth)
        case _:
            raise MalformedForm("a value is missing")


def _object(pairs: list[object], depth: int) -> Plain:
    made: dict[str, Plain] = {}
    for pair in pairs:
        match pair:
            case [str(name), given] if name not in made:
                made[name] = read_value(given, depth + 1)
            case _:
                raise MalformedForm("a field of a value is malformed, or there twice")
    return made


def _int(digits: str) -> int:
    if len(digits) > _DIGITS_MAX or not digits.removeprefix("-").isdecimal() or not digits.isascii():
        raise MalformedForm("an Int is malformed")
    number = int(digits)
    if str(number) != digits or not INT_MIN <= number <= INT_MAX:
        raise MalformedForm("an Int is malformed")
    return number


def _float(digits: str) -> float:
    try:
        number = float(digits)
    except ValueError:
        raise MalformedForm("a Float is malformed") from None
    if repr(number) != digits or not math.isfinite(number):
        raise MalformedForm("a Float is malformed")
    return number


def _scalar(data: object) -> Scalar:
    value = read_value(data)
    if isinstance(value, list | dict):
        raise MalformedForm("a scalar is missing")
    return value


# --- constraints --------------------------------------------------------------------------------------------------------------------


def schema_data(schema: Schema) -> Json:
    """Write a constraint."""
    match schema:
        case Exactly(value=value):
            return {"exactly": value_data(value)}
        case AllOf(atoms=(atom,)):
            return _atom_data(atom)
        case AllOf(atoms=atoms):
            return {"all": [_atom_data(each) for each in atoms]}
        case TupleOf(items=items):
            return {"tuple": [schema_data(each) for each in items]}
        case RecordOf(members=members, rest=rest):
            written: dict[str, Json] = {"record": [_member_data(each) for each in members]}
            return written if rest is None else {**written, "rest": schema_data(rest)}
    assert_never(schema)


def _member_data(member: Member) -> Json:
    written: dict[str, Json] = {"name": member.name, "type": schema_data(member.schema)}
    return written if member.default is None else {**written, "default": value_data(member.default)}


def _atom_data(atom: "Atom[Schema]") -> Json:
    match atom:
        case Anything():
            return {"type": "Unknown"}
        case OfType(family=family):
            return {"type": family.value}
        case Bounded(sign=sign, limit=limit):
            return {"bound": [sign, value_data(limit)]}
        case Matching(pattern=pattern):
            return {"matches": pattern}
        case ElementsOf(item=item):
            return {"elements": schema_data(item)}
        case EntriesOf(item=item):
            return {"entries": schema_data(item)}
        case HostCheck():
            raise AssertionError("a check that no host supplies is in no definition")
    assert_never(atom)


def read_schema(data: object, depth: int = 0) -> Schema:
    """Read a constraint. Raises MalformedForm."""
    if depth > DEPTH_MAX:
        raise MalformedForm(f"a constraint is nested deeper than {DEPTH_MAX}")
    match data:
        case {"exactly": value, **others} if not others:
            return Exactly(_scalar(value))
        case {"all": list(atoms), **others} if not others and len(atoms) > 1:
            return AllOf(tuple(_atom(each, depth) for each in atoms))
        case {"tuple": list(items), **others} if not others:
            return TupleOf(tuple(read_schema(each, depth + 1) for each in items))
        case {"record": list(members), **others} if not others.keys() - {"rest"}:
            rest = read_schema(others["rest"], depth + 1) if others else None
            return _record(tuple(_member(each, depth) for each in members), rest)
        case _:
            return AllOf((_atom(data, depth),))


def _record(members: tuple[Member, ...], rest: Schema | None) -> RecordOf:
    if len({member.name for member in members}) != len(members):
        raise MalformedForm("a field of a constraint is there twice")
    return RecordOf(members, rest)


def _member(data: object, depth: int) -> Member:
    match data:
        case {"name": str(name), "type": type_, **others} if not others.keys() - {"default"}:
            default = read_value(others["default"]) if others else None
            return Member(name, read_schema(type_, depth + 1), default)
        case _:
            raise MalformedForm("a field of a constraint is malformed")


def _atom(data: object, depth: int) -> "Atom[Schema]":
    match data:
        case {"type": "Unknown", **others} if not others:
            return Anything()
        case {"type": str(word), **others} if not others and word in _TYPES:
            return OfType(_TYPES[word])
        case {"bound": [str(sign), limit], **others} if not others and sign in _COMPARISONS - {"==", "!="}:
            number = _scalar(limit)
            if type(number) is int or type(number) is float:
                return Bounded(sign, number)
        case {"matches": str(pattern), **others} if not others and fault_of(pattern) is None:
            return Matching(pattern)
        case {"elements": item, **others} if not others:
            return ElementsOf(read_schema(item, depth + 1))
        case {"entries": item, **others} if not others:
            return EntriesOf(read_schema(item, depth + 1))
    raise MalformedForm("a constraint is malformed")


# --- guards -------------------------------------------------------------------------------------------------------------------------


def guard_data(guard: Guard) -> Json:
    """Write a guard."""
    match guard:
        case Lit(value=value):
            return {"lit": value_data(value)}
        case Ref(path=path):
            return {"ref": list(path)}
        case Not(operand=operand):
            return {"not": guard_data(operand)}
        case And(operands=operands):
            return {"and": [guard_data(each) for each in operands]}
        case Or(operands=operands):
            return {"or": [guard_data(each) for each in operands]}
        case Compare(sign=sign, left=left, right=right):
            return {"cmp": [sign, guard_data(left), guard_data(right)]}
        case Compute(sign=sign, left=left, right=right):
            return {_COMPUTED[sign]: [guard_data(left), guard_data(right)]}
        case Fits(ref=ref, schema=schema):
            return {"fits": [guard_data(ref), schema_data(schema)]}
        case If(test=test, then=then, otherwise=otherwise):
            return {"if": [guard_data(test), guard_data(then), guard_data(otherwise)]}
    assert_never(guard)


def read_guard(data: object) -> Guard:
    """Read a guard. Raises MalformedForm for what is none, or has more nodes than a guard may have."""
    guard = _guard(data, 0)
    if sum(1 for _ in parts_of(guard)) > NODES_MAX:
        raise MalformedForm(f"a guard has more than {NODES_MAX} nodes")
    return guard


def _guard(data: object, depth: int) -> Guard:
    if depth > NODES_MAX:
        raise MalformedForm(f"a guard has more than {NODES_MAX} nodes")
    if not isinstance(data, dict) or len(data) != 1:
        raise MalformedForm("a guard is malformed")
    ((name, given),) = data.items()
    if name == "lit":
        return Lit(_scalar(given))
    if name == "ref":
        return _ref(given)
    if name == "not":
        return Not(_guard(given, depth + 1))
    if not isinstance(given, list):
        raise MalformedForm("a guard is malformed")
    if name in {"and", "or"} and len(given) > 1:
        operands = tuple(_guard(each, depth + 1) for each in given)
        return And(operands) if name == "and" else Or(operands)
    read = _READ.get(name) if isinstance(name, str) else None
    if read is None:
        raise MalformedForm("a guard is malformed")
    return read(given, depth + 1)


def _compare(given: list[object], depth: int) -> Guard:
    match given:
        case [str(sign), left, right] if sign in _COMPARISONS:
            return Compare(sign, _guard(left, depth), _guard(right, depth))
        case _:
            raise MalformedForm("a comparison is malformed")


def _compute(sign: str) -> Callable[[list[object], int], Guard]:
    def read(given: list[object], depth: int) -> Guard:
        match given:
            case [left, right]:
                return Compute(sign, _guard(left, depth), _guard(right, depth))
            case _:
                raise MalformedForm("a computation is malformed")

    return read


def _fits(given: list[object], _depth: int) -> Guard:
    match given:
        case [{"ref": path, **others}, schema] if not others:
            return Fits(_ref(path), read_schema(schema))
        case _:
            raise MalformedForm("`fits` is malformed")


def _if(given: list[object], depth: int) -> Guard:
    match given:
        case [test, then, otherwise]:
            return If(_guard(test, depth), _guard(then, depth), _guard(otherwise, depth))
        case _:
            raise MalformedForm("`if` is malformed")


def _ref(given: object) -> Ref:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given) or len(given) > DEPTH_MAX:
        raise MalformedForm("a reference is malformed")
    match given:
        case [root, _] if root in {VISITS, KNOWN}:
            return Ref(tuple(given))
        case [root, name] if root == SPENT and name == EXCEEDED:
            return Ref((SPENT, EXCEEDED))
        case [root, _, *_] if root in {VARS, INPUT}:
            return Ref(tuple(given))
        case _:
            raise MalformedForm("a reference is malformed")


_READ: Final[Mapping[str, Callable[[list[object], int], Guard]]] = {
    "cmp": _compare,
    **{name: _compute(sign) for name, sign in _COMPUTATIONS.items()},
    "fits": _fits,
    "if": _if,
}
