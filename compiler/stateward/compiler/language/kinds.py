"""The type of a part of a guard: the constraints of which it meets one, and how that is told.

Invariant: what a type says of a value holds whenever there is a value; whether there is one, no type says.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.language.faults import Fault, Kind, shown
from stateward.compiler.language.residues import Literal, Reference, Residue
from stateward.compiler.predicates.constraints import NUMBERS, SCALARS, Bounded, Family, OfType, families_of_atom
from stateward.compiler.predicates.entailing import entails
from stateward.compiler.predicates.guards import Guard
from stateward.compiler.predicates.schema import AllOf, Exactly, RecordOf, Schema, TupleOf
from stateward.compiler.source import Place

ANYTHING: Final = frozenset({Family.INT, Family.FLOAT, Family.STRING, Family.BOOL, Family.ARRAY, Family.OBJECT})
BOOLS: Final = frozenset({Family.BOOL})
BOOL, INT, FLOAT = (AllOf((OfType(family),)) for family in (Family.BOOL, Family.INT, Family.FLOAT))
VISIT_COUNT: Final = AllOf((OfType(Family.INT), Bounded(">=", 0)))


@dataclass(frozen=True, slots=True)
class Part:
    """A residue with its guard and its type."""

    residue: Residue
    guard: Guard
    kinds: tuple[Schema, ...]
    """What it may be: whatever it is meets one of these."""
    declared: Place | None = None
    """Where what it reads was declared."""

    @property
    def families(self) -> frozenset[Family]:
        """What kinds of values it may be."""
        return frozenset().union(*map(families_of, self.kinds))


def families_of(schema: Schema) -> frozenset[Family]:
    """Give what kinds of values may meet a constraint."""
    match schema:
        case Exactly(value=value):
            return frozenset({SCALARS[type(value)]})
        case TupleOf():
            return frozenset({Family.ARRAY})
        case RecordOf():
            return frozenset({Family.OBJECT})
        case AllOf(atoms=atoms):
            said = (families_of_atom(atom) for atom in atoms)
            return ANYTHING.intersection(*(families for families in said if families is not None))


def provably(kinds: Iterable[Schema], wanted: Schema) -> bool:
    """Tell whether whatever is of a type meets a constraint as the language has it, where an Int is no Float."""
    families = families_of(wanted)
    return all(families_of(kind) <= families and entails(kind, wanted) for kind in kinds)


def united(kinds: Iterable[Schema]) -> tuple[Schema, ...]:
    """Give each of some constraints once."""
    return tuple({repr(kind): kind for kind in kinds}.values())


def named(families: frozenset[Family]) -> str:
    """Say in words what kinds of values these are."""
    if families == NUMBERS:
        return "number"
    return " or ".join(sorted(families))


def with_word(families: frozenset[Family]) -> str:
    """Say what a value of such kinds is: `an Int`, `a number`."""
    return f"{'an' if named(families)[0] in 'AIO' else 'a'} {named(families)}"


def told(part: Part) -> str:
    """Name a part in a message: by its type, and as it is written where that is short."""
    families = part.families
    match part.residue:
        case Literal(value=value):
            return f"the {SCALARS[type(value)]} `{shown(value)}`"
        case Reference() as reference if families == ANYTHING:
            return f"{quoted(reference.text)} of any type"
        case Reference() as reference:
            return f"the {named(families)} {quoted(reference.text)}"
        case _:
            return with_word(families)


def wrong_operand(message: str, label: str, part: Part, place: Place) -> Fault:
    """Describe an operand that an operator does not take."""
    return Fault(Kind.TYPE_MISMATCH, f"{message}, and this is {told(part)}", place, label, origins((part,), place))


def origins(parts: Sequence[Part], beside: Place) -> tuple[Label, ...]:
    """Label where parts were written, unless that is shown already, and where what they read was declared."""
    labels = []
    for part in parts:
        place = part.residue.place
        if place.source is not beside.source or not beside.span.covers(place.span):
            labels.append(Label(place, told(part)))
        if part.declared is not None:
            labels.append(Label(part.declared, "declared here"))
    return tuple(labels)
