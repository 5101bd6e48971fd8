"""Values that stand for all values of a constraint, as far as a use can tell them apart.

Invariants: every value that is given fits its constraint. `exact` says that each value that fits lies like one of those that are given to
whatever the use holds it against; where it is false the values are only examples.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple

from stateward.compiler.predicates.closed import alternatives
from stateward.compiler.predicates.constraints import (
    NUMBERS,
    SCALARS,
    Bounded,
    Family,
    Matching,
    OfType,
    families_of_atom,
    least_int,
    most_int,
)
from stateward.compiler.predicates.schema import INT_EXACT_MAX, AllOf, Exactly, Plain, Schema, completed, misfit

ENUMERATED_MAX: Final = 256
"""Values of one constraint that are all looked at, where nothing less is exact."""
_SCALARS: Final = frozenset(SCALARS.values())
_TEXTS: Final = ("other", "another", "", "a", "b", "A", "x", "0", "1", "a-b", "a_b", "a.b", "a b", "/a", "a/b", "2026-01-01", "1.0")
"""Texts that are tried where one is wanted that differs from all that are named."""


class Question(NamedTuple):
    """What values are to be told apart by."""

    numbers: frozenset[int | float]
    texts: frozenset[str]
    rank: int
    """How many values are compared with each other: so many are wanted between two numbers that are named."""
    is_loose: bool
    """Whether only all values will do."""


class Values(NamedTuple):
    """What stands for all values."""

    values: tuple[Plain, ...]
    exact: bool


def families_of(schema: Schema) -> frozenset[Family]:
    """Give what kinds of scalars may meet a constraint; kinds of which none does may be among them."""
    if isinstance(schema, Exactly):
        return frozenset({SCALARS[type(schema.value)]})
    if not isinstance(schema, AllOf):
        return frozenset()
    said = (families_of_atom(atom) for atom in schema.atoms if isinstance(atom, OfType | Bounded | Matching))
    return _SCALARS.intersection(*(families for families in said if families is not None))


def is_scalar(schema: Schema) -> bool:
    """Tell whether no array and no object can meet a constraint."""
    match schema:
        case Exactly():
            return True
        case AllOf(atoms=atoms):
            return any(isinstance(atom, OfType | Bounded | Matching) for atom in atoms)
        case _:
            return False


def numbers_in(schema: Schema) -> frozenset[int | float]:
    """Give the numbers that a constraint names."""
    if isinstance(schema, Exactly):
        return frozenset({schema.value}) if SCALARS[type(schema.value)] in NUMBERS else frozenset()  # type: ignore[arg-type]
    atoms = schema.atoms if isinstance(schema, AllOf) else ()
    return frozenset(atom.limit for atom in atoms if isinstance(atom, Bounded))


def texts_in(schema: Schema) -> tuple[str, ...] | None:
    """Give all texts that meet a constraint; None where it does not name them."""
    if isinstance(schema, Exactly):
        return (schema.value,) if isinstance(schema.value, str) else ()
    atoms = schema.atoms if isinstance(schema, AllOf) else ()
    closed = [texts for atom in atoms if isinstance(atom, Matching) and (texts := alternatives(atom.pattern)) is not None]
    return tuple(each for each in min(closed, key=len) if misfit(schema, each) is None) if closed else None


def representatives(schema: Schema, question: Question) -> Values:
    """Give values that stand for all that meet a constraint."""
    if question.is_loose:
        every = every_value(schema)
        if every is not None:
            return Values(every, exact=True)
    families = families_of(schema)
    found: list[Plain] = []
    exact = not question.is_loose
    numbers = sorted(question.numbers | numbers_in(schema))
    if Family.BOOL in families:
        found += (False, True)
    if Family.INT in families:
        found += _ints(numbers, question.rank)
    if Family.FLOAT in families:
        found += _floats(numbers, question.rank)
    if Family.STRING in families:
        texts, all_told = _texts(schema, question)
        found += texts
        exact = exact and all_told
    if not is_scalar(schema):
        found += ([], {})
    values = {_key(each): each for each in found if _fits(schema, each)}.values()
    return Values(tuple(sorted(values, key=_is_negative)), exact and bool(values))


def every_value(schema: Schema) -> tuple[Plain, ...] | None:
    """Give all values that meet a constraint; None where they are too many or cannot be told."""
    if isinstance(schema, Exactly):
        return (schema.value,)
    families = families_of(schema)
    if not is_scalar(schema) or Family.FLOAT in families:
        return None
    found: list[Plain] = [False, True] if Family.BOOL in families else []
    if Family.STRING in families:
        texts = texts_in(schema)
        if texts is None:
            return None
        found += texts
    if Family.INT in families:
        least, most = _int_range(schema)
        if most - least >= ENUMERATED_MAX:
            return None
        found += range(least, most + 1)
    values = tuple(each for each in found if _fits(schema, each))
    return values if len(values) <= ENUMERATED_MAX else None


def _int_range(schema: Schema) -> tuple[int, int]:
    """Give between which two numbers the Ints lie that meet a constraint, these too."""
    atoms = schema.atoms if isinstance(schema, AllOf) else ()
    bounds = [atom for atom in atoms if isinstance(atom, Bounded)]
    least = max((least_int(each) for each in bounds if each.is_lower), default=-INT_EXACT_MAX)
    most = min((most_int(each) for each in bounds if not each.is_lower), default=INT_EXACT_MAX)
    return max(least, -INT_EXACT_MAX), min(most, INT_EXACT_MAX)


def _is_negative(value: Plain) -> bool:
    """Tell what is to come last: of values that are as good as each other an example shows the first."""
    return isinstance(value, int | float) and value < 0


def _key(value: Plain) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _fits(schema: Schema, value: Plain) -> bool:
    """Tell whether a variable may hold just this: an Int that is taken as a Float is none."""
    return misfit(schema, value) is None and type(completed(schema, value)) is type(value)


# --- numbers ------------------------------------------------------------------------------------------------------------------------


def _ints(numbers: Sequence[int | float], rank: int) -> Iterator[int]:
    """Give each whole number that is named, and of those between two named ones as many as may be compared with each other."""
    edges = sorted({_within(whole) for each in numbers for whole in (math.floor(each), math.ceil(each))})
    if not edges:
        yield from range(rank)
        return
    first, last = edges[0], edges[-1]
    candidates: Iterable[Iterable[int]] = (
        range(first - rank, first),
        *(_run(low, high, rank) for low, high in pairwise(edges)),
        range(last, last + rank + 1),
    )
    yield from (each for each in chain.from_iterable(candidates) if abs(each) <= INT_EXACT_MAX)


def _within(number: int) -> int:
    """Bring a number that lies beyond all that a variable can hold to just beyond it."""
    return max(-INT_EXACT_MAX - 1, min(number, INT_EXACT_MAX + 1))


def _run(low: int, high: int, rank: int) -> range:
    return range(low, min(low + rank + 1, high))


def _floats(numbers: Sequence[int | float], rank: int) -> Iterator[float]:
    if not numbers:
        yield from (float(each) for each in range(rank))
        return
    yield from _down_from(numbers[0], rank)
    for low, high in pairwise(numbers):
        yield from _exactly(low)
        yield from _between(low, high, rank)
    yield from _exactly(numbers[-1])
    yield from _up_from(numbers[-1], rank)


def _exactly(number: int | float) -> Iterator[float]:
    if float(number) == number:
        yield float(number)


def _between(low: int | float, high: int | float, rank: int) -> Iterator[float]:
    """Give floats strictly between two numbers, as even as can be; all of them where there are no more than are wanted."""
    even = [low + (high - low) * at / (rank + 1) for at in range(1, rank + 1)]
    distinct = sorted({float(each) for each in even if low < each < high})
    yield from distinct if len(distinct) == rank else islice(_upwards(low, high), rank)


def _upwards(low: int | float, high: int | float) -> Iterator[float]:
    each = float(low) if float(low) > low else math.nextafter(float(low), math.inf)
    while low < each < high:
        yield each
        each = math.nextafter(each, math.inf)


def _up_from(number: int | float, rank: int) -> Iterator[float]:
    even = [float(number) + at for at in range(1, rank + 1)]
    distinct = sorted({each for each in even if number < each < math.inf})
    yield from distinct if len(distinct) == rank else islice(_upwards(number, math.inf), rank)


def _down_from(number: int | float, rank: int) -> Iterator[float]:
    yield from (-each for each in _up_from(-number, rank))


# --- texts --------------------------------------------------------------------------------------------------------------------------


def _texts(schema: Schema, question: Question) -> tuple[list[str], bool]:
    """Give the texts that are named and as many others as may be compared with each other; whether they stand for all."""
    named = sorted(each for each in question.texts if _fits(schema, each))
    closed = texts_in(schema)
    tried = closed if closed is not None else (*_TEXTS, *(f"other{at}" for at in range(2, question.rank + 2)), *_near(named))
    others = list(dict.fromkeys(each for each in tried if each not in question.texts and _fits(schema, each)))
    return [*named, *others[: question.rank]], closed is not None or len(others) >= question.rank


def _near(texts: Iterable[str]) -> Iterator[str]:
    for each in texts:
        yield from (each + each[-1:], each[:-1], each + "x")
