"""Guards: closed, total, typed expressions over what is known of a run, and how they are evaluated.

A guard comes to a value or to None, which means that nobody can tell: a value it needs was never written, or a result lies beyond what
numbers can hold. `and` and `or` are Kleene's: what one operand decides alone is decided. Invariants: evaluation never fails and never
loops; a tree has at most `NODES_MAX` nodes; numbers compare exactly, an Int with a Float too.
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeGuard, assert_never

from stateward.compiler.predicates.constraints import INT_MAX, INT_MIN, ordered
from stateward.compiler.predicates.schema import Plain, Scalar, Schema, misfit

NODES_MAX: Final = 256
"""Nodes of one guard, counted as a tree."""

VARS: Final = "vars"
INPUT: Final = "input"
VISITS: Final = "visits"
KNOWN: Final = "known"
SPENT: Final = "spent"
ROOTS: Final = (VARS, INPUT, VISITS, KNOWN, SPENT)
"""The names through which a guard sees a run."""
EXCEEDED: Final = "exceeded"
"""Of `spent`: whether a way out leads to a state that has no visit left."""


@dataclass(frozen=True, slots=True)
class Lit:
    """A scalar that was known when the flow was compiled."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Ref:
    """What is read of a run: a root and the names below it."""

    path: tuple[str, ...]

    @property
    def text(self) -> str:
        """As it is written."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Not:
    """`!`."""

    operand: "Guard"


@dataclass(frozen=True, slots=True)
class And:
    """`&&`: false as soon as one is, else unknown as soon as one is."""

    operands: "tuple[Guard, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """`||`: true as soon as one is, else unknown as soon as one is."""

    operands: "tuple[Guard, ...]"


@dataclass(frozen=True, slots=True)
class Compare:
    """`==`, `!=`, `<`, `<=`, `>`, `>=`."""

    sign: str
    left: "Guard"
    right: "Guard"


@dataclass(frozen=True, slots=True)
class Compute:
    """`+`, `-`, `*`: Int with Int gives Int, a Float makes it Float."""

    sign: str
    left: "Guard"
    right: "Guard"


@dataclass(frozen=True, slots=True)
class Fits:
    """Whether what is read meets a constraint."""

    ref: Ref
    schema: Schema


@dataclass(frozen=True, slots=True)
class If:
    """One of two, by a test."""

    test: "Guard"
    then: "Guard"
    otherwise: "Guard"


Guard: TypeAlias = Lit | Ref | Not | And | Or | Compare | Compute | Fits | If


@dataclass(frozen=True, slots=True)
class Bag:
    """What is known of a run where a guard is evaluated."""

    variables: Mapping[str, Plain]
    """By name, those that were written."""
    inputs: Mapping[str, Plain]
    visits: Mapping[str, int]
    """How often each state was entered; the present visit counts. A state that was never entered has none."""
    exceeded: bool = False

    def at(self, ref: Ref) -> "Plain | None":
        """Give what a reference leads to; None when there is nothing."""
        root, first, *below = ref.path
        if root == VISITS:
            return self.visits.get(first, 0)
        if root == KNOWN:
            return first in self.variables
        if root == SPENT:
            return self.exceeded
        found: Plain | None = (self.variables if root == VARS else self.inputs).get(first)
        for name in below:
            found = found.get(name) if isinstance(found, dict) else None
        return found


_COMPUTE: Final[Mapping[str, Callable[[int | float, int | float], int | float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def holds(guard: Guard, bag: Bag) -> bool | None:
    """Tell whether a guard holds; None when nobody can tell."""
    value = evaluate(guard, bag)
    return value if isinstance(value, bool) else None


def evaluate(guard: Guard, bag: Bag) -> "Plain | None":
    """Give the value of a guard; None when nobody can tell."""
    match guard:
        case Lit(value=value):
            return value
        case Ref():
            return bag.at(guard)
        case Not(operand=operand):
            truth = evaluate(operand, bag)
            return not truth if isinstance(truth, bool) else None
        case And(operands=operands):
            return _decided(operands, bag, decisive=False)
        case Or(operands=operands):
            return _decided(operands, bag, decisive=True)
        case Compare(sign=sign, left=left, right=right):
            return _compared(sign, evaluate(left, bag), evaluate(right, bag))
        case Compute(sign=sign, left=left, right=right):
            return _computed(sign, evaluate(left, bag), evaluate(right, bag))
        case Fits(ref=ref, schema=schema):
            found = bag.at(ref)
            return None if found is None else misfit(schema, found) is None
        case If(test=test, then=then, otherwise=otherwise):
            truth = evaluate(test, bag)
            return evaluate(then if truth else otherwise, bag) if isinstance(truth, bool) else None
    assert_never(guard)


def _decided(operands: tuple[Guard, ...], bag: Bag, *, decisive: bool) -> bool | None:
    unknown = False
    for each in operands:
        truth = evaluate(each, bag)
        if truth is decisive:
            return decisive
        unknown = unknown or not isinstance(truth, bool)
    return None if unknown else not decisive


def _compared(sign: str, left: "Plain | None", right: "Plain | None") -> bool | None:
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        if sign in {"==", "!="}:
            return (left == right) == (sign == "==")
        return ordered(sign, left, right)
    if type(left) is not type(right) or not isinstance(left, str | bool) or sign not in {"==", "!="}:
        return None
    return (left == right) == (sign == "==")


def _computed(sign: str, left: "Plain | None", right: "Plain | None") -> int | float | None:
    if not is_number(left) or not is_number(right):
        return None
    try:
        result = _COMPUTE[sign](left, right)
    except OverflowError:  # an Int that no Float can hold
        return None
    if isinstance(result, int):
        return result if INT_MIN <= result <= INT_MAX else None
    return result if math.isfinite(result) else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is an Int or a Float; a Bool is neither."""
    return type(value) is int or type(value) is float


def parts_of(guard: Guard) -> Iterator[Guard]:
    """Give a guard and everything below it."""
    waiting: list[Guard] = [guard]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(below(each)))


def below(guard: Guard) -> tuple[Guard, ...]:
    """Give the guards directly below one."""
    match guard:
        case Lit() | Ref():
            return ()
        case Fits(ref=ref):
            return (ref,)
        case Not(operand=operand):
            return (operand,)
        case And(operands=operands) | Or(operands=operands):
            return operands
        case Compare(left=left, right=right) | Compute(left=left, right=right):
            return (left, right)
        case If(test=test, then=then, otherwise=otherwise):
            return (test, then, otherwise)
    assert_never(guard)


def references(guard: Guard) -> tuple[Ref, ...]:
    """Give what a guard reads, each once, in order."""
    return tuple(dict.fromkeys(each for each in parts_of(guard) if isinstance(each, Ref)))


def missing_in(guard: Guard, bag: Bag) -> tuple[Ref, ...]:
    """Give the references of a guard that lead to nothing."""
    return tuple(each for each in references(guard) if bag.at(each) is None)
