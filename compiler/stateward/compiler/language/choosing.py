"""`match` at run time: which test stands for a pattern, and whether the arms leave anything out.

Invariants: a test is asked of the subject alone; the arms after the one that takes whatever is left are never reached and are left out; a
choice whose subject is missing comes to nothing, whichever arm would be taken.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import listed, quoted
from stateward.compiler.language.faults import Fault, Kind, shown
from stateward.compiler.language.folding import choice, comparison, conjunction, negated
from stateward.compiler.language.kinds import Part, families_of, named, origins, provably, told, united
from stateward.compiler.language.residues import Branch, Choice
from stateward.compiler.predicates.closed import alternatives
from stateward.compiler.predicates.constraints import (
    NUMBERS,
    SCALARS,
    Anything,
    Bounded,
    Family,
    Fit,
    Matching,
    OfType,
    fits,
    least_int,
    most_int,
)
from stateward.compiler.predicates.guards import INPUT, VARS, Compare, Fits, Guard, Lit, Ref
from stateward.compiler.predicates.schema import AllOf, Exactly, Scalar, Schema, misfit
from stateward.compiler.source import Place

VALUES_MAX: Final = 256
"""Values up to which a type is a closed set."""
COVERED_MAX: Final = 256
"""Pairs of a type and a pattern of which is kept what the pattern covers: a function asks the same of a value wherever it is called."""
_UNREACHED: Final[Mapping[Family, Scalar]] = {Family.BOOL: False, Family.INT: 0, Family.FLOAT: 0.0, Family.STRING: ""}
"""What stands, by type, where evaluation never comes to."""

_Key: TypeAlias = tuple[type, Scalar]
"""A scalar, told apart from equal ones of other types."""


class Always(Enum):
    """A pattern that whatever comes fits."""

    FITS = "fits"


class Lowered(NamedTuple):
    """A choice as a guard with its type; None where it has none, which the faults say."""

    part: Part | None
    faults: Sequence[Fault]


def lowered(residue: Choice, subject: Part, bodies: Sequence[Part]) -> Lowered:
    """Lower a choice of which the subject and all arms have types."""
    faults = list(_arms_apart(bodies))
    kinds = tuple(map(_as_written, subject.kinds))
    left = _closed(kinds)
    taken: list[tuple[Guard, Part]] = []
    for branch, body in zip(residue.branches, bodies, strict=True):
        test = _test(residue, branch, subject)
        if isinstance(test, Fault):
            faults.append(test)
            continue
        if left is not None and branch.wanted is not None:
            covered = _covered(kinds, _as_written(_schema(branch)))
            if not covered:
                faults.append(_never_fits(residue, branch, subject, f"value of {told(subject)}"))
                continue
            left = {key: value for key, value in left.items() if key not in covered}
        if test is Always.FITS or left == {}:
            return Lowered(None if faults else _built(residue, subject, taken, body), faults)
        taken.append((test, body))
    return Lowered(None, faults or [_left_out(residue, subject, left)])


@dataclass(frozen=True, slots=True)
class _AsWritten:
    """A constraint that equals those that are written alike: `1`, `1.0` and `true` are equal in Python."""

    text: str
    schema: Schema = field(compare=False)


def _as_written(schema: Schema) -> _AsWritten:
    return _AsWritten(repr(schema), schema)


@lru_cache(COVERED_MAX)
def _closed(kinds: tuple[_AsWritten, ...]) -> Mapping[_Key, Scalar] | None:
    """Give all values of a type, each once; None where they are too many, or no closed set."""
    found: dict[_Key, Scalar] = {}
    for kind in kinds:
        values = _values(kind.schema)
        if values is None:
            return None
        found.update({(type(value), value): value for value in values if misfit(kind.schema, value) is None})
    return found if len(found) <= VALUES_MAX else None


@lru_cache(COVERED_MAX)
def _covered(kinds: tuple[_AsWritten, ...], wanted: _AsWritten) -> frozenset[_Key]:
    """Give the values of a closed type that a pattern covers."""
    schema, values = wanted.schema, _closed(kinds)
    assert values is not None, "asked of closed types alone"
    if isinstance(schema, Exactly):
        return frozenset({(type(schema.value), schema.value)} & values.keys())
    if not isinstance(schema, AllOf):
        return frozenset()
    families = families_of(schema)
    keys = [key for key in values if SCALARS[key[0]] in families]
    for atom in schema.atoms:
        if not isinstance(atom, Anything | OfType):  # the families say this already
            keys = [key for key in keys if fits(atom, SCALARS[key[0]], key[1]) is Fit.YES]
    return frozenset(keys)


def _values(schema: Schema) -> Sequence[Scalar] | None:
    """Give values among which are all that meet a constraint."""
    if isinstance(schema, Exactly):
        return [schema.value]
    if not isinstance(schema, AllOf):
        return None
    families = families_of(schema)
    if families == {Family.BOOL}:
        return [True, False]
    if families == {Family.INT}:
        return _whole_numbers([atom for atom in schema.atoms if isinstance(atom, Bounded)])
    texts = (alternatives(atom.pattern) for atom in schema.atoms if isinstance(atom, Matching))
    return next((each for each in texts if each is not None), None)


def _whole_numbers(bounds: Sequence[Bounded]) -> range | None:
    least = [least_int(each) for each in bounds if each.is_lower]
    most = [most_int(each) for each in bounds if not each.is_lower]
    if not least or not most or min(most) - max(least) >= VALUES_MAX:
        return None
    return range(max(least), min(most) + 1)


def _schema(branch: Branch) -> Schema:
    assert branch.wanted is not None
    assert branch.wanted.schema is not None, "the constraints of a residue were taken down"
    return branch.wanted.schema


def _test(residue: Choice, branch: Branch, subject: Part) -> Guard | Always | Fault:
    """Give the question whether the subject fits a pattern."""
    if branch.wanted is None:
        return Always.FITS
    schema = _schema(branch)
    families = subject.families
    if not families & families_of(schema):
        return _never_fits(residue, branch, subject, named(families))
    if provably(subject.kinds, schema):
        return Always.FITS
    if isinstance(schema, Exactly) and len(families) == 1:
        if isinstance(schema.value, bool):
            return subject.guard if schema.value else negated(subject.guard)
        return comparison("==", subject.guard, Lit(schema.value))
    bounds = _bounds(schema, subject) if isinstance(schema, AllOf) and families <= NUMBERS else None
    if bounds is not None:
        return conjunction(bounds)
    return Fits(subject.guard, schema) if isinstance(subject.guard, Ref) else _only_read(residue, branch, subject)


def _bounds(schema: AllOf, subject: Part) -> list[Guard] | None:
    """Give the comparisons that stand for a constraint on numbers; None where it asks for more."""
    found = []
    for atom in schema.atoms:
        if isinstance(atom, Anything) or provably(subject.kinds, AllOf((atom,))):
            continue
        if not isinstance(atom, Bounded):
            return None
        found.append(comparison(atom.sign, subject.guard, Lit(atom.limit)))
    return found


def _built(residue: Choice, subject: Part, taken: Sequence[tuple[Guard, Part]], last: Part) -> Part:
    """Put the arms together, the last one without a test."""
    guard = last.guard
    for test, body in reversed(taken):
        guard = choice(test, body.guard, guard)
    if not taken and _may_be_missing(subject.guard):
        (family,) = last.families
        guard = choice(_is_there(subject.guard), guard, Lit(_UNREACHED[family]))
    return Part(residue, guard, united(kind for body in (*(body for _, body in taken), last) for kind in body.kinds))


def _may_be_missing(guard: Guard) -> bool:
    return not isinstance(guard, Ref) or guard.path[0] in {VARS, INPUT}


def _is_there(guard: Guard) -> Guard:
    """Give a test that is true of whatever there is, and unknown where there is nothing."""
    return Fits(guard, AllOf((Anything(),))) if isinstance(guard, Ref) else Compare("==", guard, guard)


def _arms_apart(bodies: Sequence[Part]) -> Iterator[Fault]:
    """Describe arms that are no scalars, or not all of one type."""
    first: Part | None = None
    for body in bodies:
        place = body.residue.place
        if len(body.families) != 1 or not body.families <= _UNREACHED.keys():
            message = f"an arm that is chosen at run time comes to a scalar of one type, and this is {told(body)}"
            yield Fault(Kind.TYPE_MISMATCH, message, place, "not a scalar of one type", origins((body,), place))
        elif first is None:
            first = body
        elif body.families != first.families:
            labels = (Label(first.residue.place, told(first)), *origins((body,), place))
            yield Fault(Kind.TYPE_MISMATCH, f"the arms come to {told(first)} and {told(body)}", place, "of another type", labels)


def _pattern(residue: Choice, branch: Branch) -> Place:
    return Place(residue.scope.module.source, branch.node.span)


def _never_fits(residue: Choice, branch: Branch, subject: Part, what: str) -> Fault:
    place = _pattern(residue, branch)
    message = f"the pattern {quoted(place.source.slice(place.span))} fits no {what}"
    return Fault(Kind.TYPE_MISMATCH, message, place, "never fits", origins((subject,), place))


def _only_read(residue: Choice, branch: Branch, subject: Part) -> Fault:
    place = _pattern(residue, branch)
    message = f"the pattern {quoted(place.source.slice(place.span))} can be asked only of what is read, not of what is computed"
    return Fault(Kind.TYPE_MISMATCH, message, place, "asked of what is computed", origins((subject,), place))


def _left_out(residue: Choice, subject: Part, left: Mapping[_Key, Scalar] | None) -> Fault:
    place = residue.place
    labels = (Label(subject.residue.place, f"this is {told(subject)}"), *origins((subject,), place))
    help_ = "add an arm `_: …` for everything else"
    if left is None:
        message = f"the arms do not provably fit every value of {told(subject)}"
        return Fault(Kind.MATCH_FAILURE, message, place, "may leave something out", labels, help=help_)
    missing = listed([shown(value) for value in left.values()], "and")
    return Fault(Kind.MATCH_FAILURE, f"no arm fits {missing}", place, "leaves something out", labels, help=help_)
