"""What guards ask of each thing they read: against which numbers and texts it is held, and with what else it is compared.

Invariants: two values of a reference that lie alike to all its numbers, texts and kinds, and alike to what it is compared with, cannot be
told apart by the guards, unless the use is `loose`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from stateward.compiler.predicates.closed import alternatives
from stateward.compiler.predicates.constraints import INT_MAX, Anything, Bounded, HostCheck, Matching, OfType
from stateward.compiler.predicates.guards import And, Compare, Compute, Fits, Guard, If, Lit, Not, Or, Ref, references
from stateward.compiler.predicates.schema import INT_EXACT_MAX, AllOf, Exactly, Schema

_PAIRS_MAX: Final = 64
"""Pairs of operands that a comparison of choices is looked through for; with more it counts as loose."""
_Line: TypeAlias = tuple[Ref, int, int]


@dataclass(slots=True)
class Use:
    """What is asked of one reference."""

    numbers: set[int | float] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    peers: set[Ref] = field(default_factory=set)
    """What it is compared with directly."""
    loose: bool = False
    """Whether more is asked than that, so that only all its values stand for all its values."""
    is_computed: bool = False
    """Whether a sum or product of it is compared, which is exact for an Int alone."""
    is_whole: bool = False
    """Whether it is judged with all that is in it."""


def uses_of(guards: Iterable[Guard]) -> dict[Ref, Use]:
    """Give what guards ask of each reference, in the order in which they are read."""
    found: dict[Ref, Use] = {}
    for guard in guards:
        _visit(guard, found)
    return found


def _visit(guard: Guard, found: dict[Ref, Use]) -> None:
    waiting: list[Guard] = [guard]
    while waiting:
        each = waiting.pop()
        match each:
            case Lit():
                pass
            case Ref():
                _use(found, each)
            case Not(operand=operand):
                waiting.append(operand)
            case And(operands=operands) | Or(operands=operands):
                waiting.extend(reversed(operands))
            case If(test=test, then=then, otherwise=otherwise):
                waiting.extend((otherwise, then, test))
            case Fits(ref=ref, schema=schema):
                _fitted(_use(found, ref), schema)
            case Compare(left=left, right=right):
                waiting.extend(_compared(left, right, found))
            case Compute():
                _loosen(each, found)


def _use(found: dict[Ref, Use], ref: Ref) -> Use:
    return found.setdefault(ref, Use())


def _loosen(guard: Guard, found: dict[Ref, Use]) -> None:
    for ref in references(guard):
        _use(found, ref).loose = True


def _fitted(use: Use, schema: Schema) -> None:
    match schema:
        case Exactly(value=value):
            hold_against(use, value)
        case AllOf(atoms=atoms):
            for atom in atoms:
                match atom:
                    case Bounded(limit=limit):
                        use.numbers.add(limit)
                    case Matching(pattern=pattern):
                        texts = alternatives(pattern)
                        use.texts.update(texts or ())
                        use.loose = use.loose or texts is None
                    case Anything() | OfType() | HostCheck():
                        pass
                    case _:
                        use.is_whole = True
        case _:
            use.is_whole = True


def hold_against(use: Use, value: object) -> None:
    """Tell a value apart from all others, where it is a number or a text."""
    if isinstance(value, str):
        use.texts.add(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        use.numbers.add(value)


def _compared(left: Guard, right: Guard, found: dict[Ref, Use]) -> Iterator[Guard]:
    """Take in a comparison, and give what is still to be looked at: the tests of choices and whatever comes to a Bool."""
    tests: list[Guard] = []
    lefts, rights = list(_operands(left, tests)), list(_operands(right, tests))
    yield from tests
    yield from (each for each in (*lefts, *rights) if not isinstance(each, Lit | Compute))
    if len(lefts) * len(rights) > _PAIRS_MAX:
        for each in (*lefts, *rights):
            if isinstance(each, Ref | Compute):
                _loosen(each, found)
        return
    for one in lefts:
        for other in rights:
            _pair(one, other, found)


def _operands(guard: Guard, tests: list[Guard]) -> Iterator[Guard]:
    """Give what an operand may come to, where it is a choice; the tests of the choice are added to `tests`."""
    waiting = [guard]
    while waiting:
        each = waiting.pop()
        if isinstance(each, If):
            tests.append(each.test)
            waiting += (each.otherwise, each.then)
        else:
            yield each


def _pair(one: Guard, other: Guard, found: dict[Ref, Use]) -> None:
    match one, other:
        case (Ref(), Ref()):
            if one != other:
                _use(found, one).peers.add(other)
                _use(found, other).peers.add(one)
        case (Ref() as ref, Lit(value=value)) | (Lit(value=value), Ref() as ref):
            hold_against(_use(found, ref), value)
        case (Compute() as computed, Lit(value=value)) | (Lit(value=value), Compute() as computed):
            _solve(computed, value, found)
        case _:
            for each in (one, other):
                if isinstance(each, Compute):
                    _loosen(each, found)
                elif isinstance(each, Ref) and isinstance(one if each is other else other, Compute):
                    _use(found, each).loose = True


def _solve(computed: Compute, value: object, found: dict[Ref, Use]) -> None:
    """Find the whole numbers between which the sum or product of one Int passes a number."""
    line = _line(computed)
    if line is None or isinstance(value, bool) or not isinstance(value, int | float):
        _loosen(computed, found)
        return
    ref, factor, added = line
    use = _use(found, ref)
    use.is_computed = True
    if factor:
        number, parts = value.as_integer_ratio()
        number, parts = number - added * parts, factor * parts
        use.numbers.update((number // parts, -(-number // parts)))


def _line(guard: Guard) -> _Line | None:
    """Read `factor * ref + added` off a computation of one reference, where no part of it can overflow."""
    match guard:
        case Ref():
            return guard, 1, 0
        case Compute(sign=sign, left=Lit(value=value), right=right) if type(value) is int:
            line, after = _line(right), False
        case Compute(sign=sign, left=left, right=Lit(value=value)) if type(value) is int:
            line, after = _line(left), True
        case _:
            return None
    if line is None:
        return None
    ref, factor, added = line
    if sign == "*":
        factor, added = factor * value, added * value
    elif sign == "+":
        added += value
    else:
        factor, added = (factor, added - value) if after else (-factor, value - added)
    return (ref, factor, added) if abs(factor) * INT_EXACT_MAX + abs(added) <= INT_MAX else None
