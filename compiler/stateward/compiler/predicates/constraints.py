"""What a value may have to be: one closed tree of constraints, and the pure questions about it.

Invariants: nothing here forces, reports or knows positions. `T` is what stands for the constraint of an element or entry: a lazy cell in
the language, a constraint again where all is known. Numbers compare exactly, an Int with a Float too.
"""

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final, Generic, TypeAlias, TypeVar, assert_never

from stateward.compiler.predicates.patterns import matches

T = TypeVar("T")
Number: TypeAlias = int | float

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1


class Family(StrEnum):
    """What a value is, by the word that people read."""

    INT = "Int"
    FLOAT = "Float"
    STRING = "String"
    BOOL = "Bool"
    ARRAY = "Array"
    OBJECT = "Object"
    FUNCTION = "function"
    ABSTRACT = "constraint"
    """Still a type, or only a default: no value yet."""


NUMBERS: Final = frozenset({Family.INT, Family.FLOAT})
SCALARS: Final[Mapping[type, Family]] = {int: Family.INT, float: Family.FLOAT, str: Family.STRING, bool: Family.BOOL}


@dataclass(frozen=True, slots=True)
class Anything:
    """`Unknown`."""


@dataclass(frozen=True, slots=True)
class OfType:
    """A type word."""

    family: Family


@dataclass(frozen=True, slots=True)
class Bounded:
    """A numeric comparison."""

    sign: str
    """One of `<`, `<=`, `>`, `>=`."""
    limit: Number

    @property
    def is_lower(self) -> bool:
        """Whether it bounds from below."""
        return self.sign[0] == ">"

    @property
    def is_strict(self) -> bool:
        """Whether the limit itself is excluded."""
        return len(self.sign) == 1


@dataclass(frozen=True, slots=True)
class Matching:
    """A pattern that a text must hold; it is known to be sound."""

    pattern: str


@dataclass(frozen=True, slots=True)
class HostCheck:
    """A predicate that the host would have to supply; none exists."""

    name: str


@dataclass(frozen=True, slots=True)
class ElementsOf(Generic[T]):
    """`[...T]`: an array each of whose elements meets a constraint."""

    item: T


@dataclass(frozen=True, slots=True)
class EntriesOf(Generic[T]):
    """`{...T}`: an object each of whose values meets a constraint."""

    item: T


Atom: TypeAlias = Anything | OfType | Bounded | Matching | HostCheck | ElementsOf[T] | EntriesOf[T]


class Fit(Enum):
    """Whether a value meets an atom, and if not, why."""

    YES = "yes"
    WRONG_FAMILY = "wrong family"
    OUTSIDE = "outside"
    NO_MATCH = "no match"
    UNKNOWN = "unknown"
    """Nobody can tell: a check of the host."""


_ORDER: Final[Mapping[str, Callable[[Number, Number], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def ordered(sign: str, left: Number, right: Number) -> bool:
    """Compare two numbers by one of `<`, `<=`, `>`, `>=`."""
    return _ORDER[sign](left, right)


def fits(atom: Atom[T], family: Family, value: object) -> Fit:
    """Tell whether a concrete value meets an atom. Of arrays and objects it judges the family; their parts are for the caller to walk.

    `value` is the Python value of a scalar and is not looked at for other families.
    """
    match atom:
        case Anything():
            return Fit.YES
        case OfType():
            return Fit.YES if family is atom.family else Fit.WRONG_FAMILY
        case Bounded():
            if not isinstance(value, int | float) or family not in NUMBERS:
                return Fit.WRONG_FAMILY
            return Fit.YES if ordered(atom.sign, value, atom.limit) else Fit.OUTSIDE
        case Matching():
            if not isinstance(value, str):
                return Fit.WRONG_FAMILY
            return Fit.YES if matches(atom.pattern, value) else Fit.NO_MATCH
        case HostCheck():
            return Fit.UNKNOWN
        case ElementsOf():
            return Fit.YES if family is Family.ARRAY else Fit.WRONG_FAMILY
        case EntriesOf():
            return Fit.YES if family is Family.OBJECT else Fit.WRONG_FAMILY
    assert_never(atom)


class Clash(Enum):
    """Why no value meets all of several atoms."""

    FAMILIES = "families"
    RANGE_OF_NO_NUMBER = "range of no number"
    FRACTION = "fraction"
    """An Int range has a bound that is no whole number."""
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Clashing:
    """Two atoms (by their places in the list, perhaps the same one twice) that exclude each other."""

    reason: Clash
    first: int
    second: int


def clashing(atoms: Sequence[Atom[T]]) -> Clashing | None:
    """Find the first two atoms that no value meets together."""
    wanted: dict[frozenset[Family], int] = {}
    for at, atom in enumerate(atoms):
        families = families_of_atom(atom)
        if families is None:
            continue
        for earlier, other in wanted.items():
            if not families & earlier:
                ranged = isinstance(atom, Bounded) or isinstance(atoms[other], Bounded)
                return Clashing(Clash.RANGE_OF_NO_NUMBER if ranged else Clash.FAMILIES, other, at)
        wanted.setdefault(families, at)
    return _range_clash(atoms, wanted.get(frozenset({Family.INT})))


def families_of_atom(atom: Atom[T]) -> frozenset[Family] | None:
    """Give what kinds of values meet an atom; None where it does not say."""
    match atom:
        case Anything() | HostCheck():
            return None
        case OfType():
            return frozenset({atom.family})
        case Bounded():
            return NUMBERS
        case Matching():
            return frozenset({Family.STRING})
        case ElementsOf():
            return frozenset({Family.ARRAY})
        case EntriesOf():
            return frozenset({Family.OBJECT})
    assert_never(atom)


def _range_clash(atoms: Sequence[Atom[T]], int_at: int | None) -> Clashing | None:
    bounds = {at: atom for at, atom in enumerate(atoms) if isinstance(atom, Bounded)}
    if int_at is not None:
        for at, bound in bounds.items():
            if not _is_whole(bound.limit):
                return Clashing(Clash.FRACTION, int_at, at)
    lower = _tightest(bounds, from_below=True)
    upper = _tightest(bounds, from_below=False)
    if int_at is not None:
        least = INT_MIN if lower is None else least_int(bounds[lower])
        most = INT_MAX if upper is None else most_int(bounds[upper])
        empty = max(least, INT_MIN) > min(most, INT_MAX)
    else:
        empty = lower is not None and upper is not None and _is_empty(bounds[lower], bounds[upper])
    if not empty:
        return None
    first, second = (at if at is not None else int_at for at in (lower, upper))
    assert first is not None
    assert second is not None
    return Clashing(Clash.EMPTY, first, second)


def _is_empty(lower: Bounded, upper: Bounded) -> bool:
    return lower.limit > upper.limit or (lower.limit == upper.limit and (lower.is_strict or upper.is_strict))


def _is_whole(number: Number) -> bool:
    return isinstance(number, int) or number.is_integer()


def least_int(bound: Bounded) -> int:
    """Give the least Int that meets a bound from below."""
    return math.floor(bound.limit) + 1 if bound.is_strict else math.ceil(bound.limit)


def most_int(bound: Bounded) -> int:
    """Give the largest Int that meets a bound from above."""
    return math.ceil(bound.limit) - 1 if bound.is_strict else math.floor(bound.limit)


def _tightest(bounds: Mapping[int, Bounded], *, from_below: bool) -> int | None:
    """Give the place of the bound that excludes most on one side; of equals that of an Int, in whatever order they come."""
    best: int | None = None
    for at, bound in bounds.items():
        if bound.is_lower == from_below and (best is None or _goes_before(bound, bounds[best])):
            best = at
    return best


def _goes_before(bound: Bounded, other: Bounded) -> bool:
    if (bound.limit, bound.is_strict) == (other.limit, other.is_strict):
        return isinstance(bound.limit, int) and not isinstance(other.limit, int)
    return _is_tighter(bound, other)


def _is_tighter(bound: Bounded, other: Bounded) -> bool:
    if bound.limit == other.limit:
        return bound.is_strict and not other.is_strict
    return (bound.limit > other.limit) == bound.is_lower


def essential(atoms: Sequence[Atom[T]]) -> list[int]:
    """Give the places of the atoms that say something the others do not, in order."""
    bounds = {at: atom for at, atom in enumerate(atoms) if isinstance(atom, Bounded)}
    tightest = {_tightest(bounds, from_below=True), _tightest(bounds, from_below=False)}
    seen: set[Atom[T]] = set()
    kept = []
    for at, atom in enumerate(atoms):
        if isinstance(atom, Anything) or (isinstance(atom, Bounded) and at not in tightest) or atom in seen:
            continue
        seen.add(atom)
        kept.append(at)
    return kept or [0]


def implies(atoms: Iterable[Atom[T]], wanted: Atom[T]) -> bool:
    """Tell whether every value that meets all atoms provably meets `wanted`. Of elements and entries it judges the family only."""
    match wanted:
        case Anything():
            return True
        case OfType(family=family):
            return any(atom == wanted or (isinstance(atom, Matching) and family is Family.STRING) for atom in atoms)
        case Bounded():
            return _bound_implied(tuple(atoms), wanted)
        case Matching() | HostCheck():
            return wanted in atoms
        case ElementsOf():
            return any(isinstance(atom, ElementsOf) for atom in atoms)
        case EntriesOf():
            return any(isinstance(atom, EntriesOf) for atom in atoms)
    assert_never(wanted)


def _bound_implied(atoms: Sequence[Atom[T]], wanted: Bounded) -> bool:
    whole = OfType(Family.INT) in atoms
    for atom in atoms:
        if not isinstance(atom, Bounded) or atom.is_lower != wanted.is_lower:
            continue
        if whole:
            edge = least_int(atom) if atom.is_lower else most_int(atom)
            if ordered(wanted.sign, edge, wanted.limit):
                return True
        elif not _is_tighter(wanted, atom):
            return True
    return False
