"""What an author meant by fields that are not where, or not what, the schema has them: the readings of a slip that are beyond doubt.

Invariants: nothing is reported here; a guess never rests on what failed; each is made of names and kinds alone, so that the same slip is
read in the same way wherever it stands.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stateward.compiler.flow.schema import (
    ArrayOfTexts,
    ConstraintsByName,
    Duration,
    FieldSpec,
    Level,
    MapOf,
    Mode,
    ObjectOf,
    OneOf,
    ScalarType,
)
from stateward.compiler.flow.typed import Path
from stateward.compiler.flow.words import field_meant
from stateward.compiler.language.data import Hole
from stateward.compiler.language.evaluation import ArrayShape, Cell, Evaluation, FieldCell, ObjectShape, OtherShape, ScalarShape, Shape
from stateward.compiler.source import Source, Span


class Given(NamedTuple):
    """An authored field that stands for one of the schema."""

    name: str
    """As the author spelt it."""
    field: FieldCell
    usable: bool = True
    """False when what it holds says nothing about the field that is meant."""
    within: tuple[str, ...] = ()
    """The field of the same object inside of which it stands."""
    at: Path | None = None
    """Where it stands, when that is outside of the object."""


class Holder(NamedTuple):
    """A map that is there: what it holds, of which level that is, and where it stands."""

    shape: ObjectShape
    level: Level
    path: Path


class MapField(NamedTuple):
    """A field that holds objects by id."""

    name: str
    level: Level


def maps_of(level: Level) -> Iterator[MapField]:
    """Give the fields of a level that hold objects by id."""
    return (MapField(spec.name, spec.type.level) for spec in level.fields if isinstance(spec.type, MapOf))


def all_maps(level: Level) -> Iterator[MapField]:
    """Give the fields of a level and of those below it that hold objects by id."""
    for each in maps_of(level):
        yield each
        yield from all_maps(each.level)


class Shapes:
    """One level of each part of a value that is asked for: several ask for the same, and it costs more than it looks."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._found: dict[int, tuple[Cell, Shape]] = {}
        """By the identity of the cell, which is kept so that it stays one."""

    def of(self, cell: Cell, path: Path = ()) -> Shape:
        """Force one level of a value that is found at a path."""
        found = self._found.get(id(cell))
        if found is None:
            found = self._found[id(cell)] = cell, self._evaluation.shape(cell, path)
        return found[1]


class Guess:
    """Guesses over one evaluated value."""

    def __init__(self, shapes: Shapes, broken: Sequence[tuple[Source, Span]]) -> None:
        self._shapes = shapes
        self._broken = broken

    def wrapper(self, shape: ObjectShape, level: Level) -> tuple[str, FieldCell] | None:
        """Find the one field of an object that holds what belongs to the object itself."""
        if len(shape.fields) != 1:
            return None
        ((name, found),) = shape.fields.items()
        inner = self._shapes.of(found.cell, (name,))
        if name in level.index or not isinstance(inner, ObjectShape) or len(inner.fields.keys() & level.index.keys()) < 2:
            return None
        return name, found

    def is_something_else(self, shape: ObjectShape, level: Level) -> bool:
        """Tell whether an object holds fields and none of them has anything to do with a level or with what lies below it."""
        below = [each.level for each in all_maps(level)]
        known = level.index.keys() | {name for each in below for name in each.index}
        return (
            bool(shape.fields)
            and known.isdisjoint(shape.fields)
            and all(field_meant(name, level, ()) is None for name in shape.fields)
            and self.wrapper(shape, level) is None
            and not any(self._is_entry(found.cell, level, name) for name, found in shape.fields.items())
        )

    def _is_entry(self, cell: Cell, root: Level, name: str) -> bool:
        shape = self._shapes.of(cell, (name,))
        return isinstance(shape, ObjectShape) and self.entry(shape, root) is not None

    def entry(self, shape: ObjectShape, root: Level) -> MapField | None:
        """Find the map in which an object belongs: it has all that is required there."""
        return next((each for each in all_maps(root) if each.level.required <= shape.fields.keys()), None)

    def left_out(self, unknown: Mapping[str, FieldCell], there: Mapping[str, Given], level: Level) -> tuple[MapField, dict[str, FieldCell]]:
        """Find the fields of the level below that stand in place of the map that would hold them; none where that map is there."""
        below = next((each for each in maps_of(level) if each.name not in there), None)
        if below is None:
            return MapField("", level), {}
        return below, {name: found for name, found in unknown.items() if name in below.level.index}

    def too_deep(self, there: Mapping[str, Given], level: Level, path: Path) -> Iterator[Given]:
        """Find plain fields that an object lacks and that stand among the ids of one of its maps, where they can be no entry."""
        for holder in maps_of(level):
            given = there.get(holder.name)
            shape = self._shapes.of(given.field.cell, (*path, given.name)) if given is not None else None
            if given is None or not given.usable or not isinstance(shape, ObjectShape) or shape.fields.keys().isdisjoint(level.index):
                continue
            for name, found in shape.fields.items():
                spec = level.index.get(name)
                if (
                    spec is not None
                    and name not in there
                    and name not in holder.level.index
                    and self._is_scalar_of(found.cell, spec, (*path, given.name, name))
                ):
                    yield Given(name, found, within=(given.name,))

    def astray(self, name: str, found: FieldCell, holder: Holder) -> tuple[str, FieldCell] | None:
        """Find the one entry of a map that lacks a field which stands outside of it, in the map or around it."""
        spec = holder.level.index.get(name)
        if spec is None or not spec.required or not self._is_scalar_of(found.cell, spec, (name,)):
            return None
        lacking: list[tuple[str, FieldCell]] = []
        for id_, entry in holder.shape.fields.items():
            shape = self._shapes.of(entry.cell, (*holder.path, id_))
            if isinstance(shape, ObjectShape) and name not in shape.fields and not shape.fields.keys().isdisjoint(holder.level.index):
                lacking.append((id_, entry))
        return lacking[0] if len(lacking) == 1 else None

    def _is_scalar_of(self, cell: Cell, spec: FieldSpec, path: Path) -> bool:
        shape = self._shapes.of(cell, path)
        match spec.type:
            case ScalarType():
                return isinstance(shape, ScalarShape) and type(shape.value) is spec.type.of_python
            case OneOf() | Duration():
                return isinstance(shape, ScalarShape) and type(shape.value) is str
            case _:
                return False

    def fits(self, cell: Cell, spec: FieldSpec, path: Path) -> bool:
        """Tell whether a value may be that of a field which was named otherwise; one of another kind says nothing about that field."""
        if spec.mode is Mode.GUARD:
            return True
        match self._shapes.of(cell, path):
            case ObjectShape():
                return isinstance(spec.type, MapOf | ObjectOf | ConstraintsByName)
            case ScalarShape():
                return self._is_scalar_of(cell, spec, path)
            case ArrayShape():
                return isinstance(spec.type, ArrayOfTexts)
            case Hole() | OtherShape():
                return True

    def is_no_field(self, found: FieldCell) -> bool:
        """Tell whether the syntax is at fault where a field is named, so that it is a stray text more than a field."""
        key = found.key
        if any(source is key.source and span.covers(key.span) for source, span in self._broken):
            return True
        if not self._broken or not key.source.slice(key.span).startswith('"'):
            return False
        value = self._shapes.of(found.cell)
        return isinstance(value, Hole) and value.origin.place.span.start == value.origin.place.span.end
