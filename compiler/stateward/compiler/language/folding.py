"""Guards made of guards, folded by laws that hold whatever is missing: Kleene's logic has no other.

So `x && false` is false and `!!x` is `x`, while `x || !x` stays: it is unknown where `x` is. Invariant: what is made here comes to the same
as the plain node would, in every bag.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from stateward.compiler.predicates.guards import And, Bag, Compare, Compute, Guard, If, Lit, Not, Or, evaluate, parts_of

_NOTHING: Final = Bag({}, {}, {})


def negated(operand: Guard) -> Guard:
    """Give `!operand`."""
    match operand:
        case Lit(value=bool() as truth):
            return Lit(not truth)
        case Not(operand=inner):
            return inner
        case _:
            return Not(operand)


def conjunction(operands: Sequence[Guard]) -> Guard:
    """Give `operands[0] && …`."""
    flat = [each for operand in operands for each in (operand.operands if isinstance(operand, And) else (operand,))]
    return _decided(flat, decisive=False) or (flat[0] if len(flat) == 1 else And(tuple(flat)))


def disjunction(operands: Sequence[Guard]) -> Guard:
    """Give `operands[0] || …`."""
    flat = [each for operand in operands for each in (operand.operands if isinstance(operand, Or) else (operand,))]
    return _decided(flat, decisive=True) or (flat[0] if len(flat) == 1 else Or(tuple(flat)))


def _decided(operands: list[Guard], *, decisive: bool) -> Guard | None:
    """Leave out what decides nothing; give the literal that the whole is, or None."""
    if any(isinstance(each, Lit) and each.value is decisive for each in operands):
        return Lit(decisive)
    operands[:] = [each for each in operands if not isinstance(each, Lit)]
    return None if operands else Lit(not decisive)


def comparison(sign: str, left: Guard, right: Guard) -> Guard:
    """Give `left sign right`."""
    return _constant(Compare(sign, left, right), left, right)


def computation(sign: str, left: Guard, right: Guard) -> Guard:
    """Give `left sign right`; what lies beyond the numbers stays as it is, since it comes to nothing."""
    return _constant(Compute(sign, left, right), left, right)


def _constant(guard: Guard, *operands: Guard) -> Guard:
    if not all(isinstance(each, Lit) for each in operands):
        return guard
    value = evaluate(guard, _NOTHING)
    return guard if value is None or isinstance(value, list | dict) else Lit(value)


def choice(test: Guard, then: Guard, otherwise: Guard) -> Guard:
    """Give one of two by a test."""
    if isinstance(test, Lit):
        return then if test.value is True else otherwise
    match then, otherwise:
        case Lit(value=True), Lit(value=False):
            return test
        case Lit(value=False), Lit(value=True):
            return negated(test)
        case _:
            return If(test, then, otherwise)


def nodes_up_to(guard: Guard, most: int) -> int:
    """Count the nodes of a guard as a tree, but not beyond one more than `most`."""
    return sum(1 for _ in islice(parts_of(guard), most + 1))
