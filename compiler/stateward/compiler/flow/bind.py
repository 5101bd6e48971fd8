"""Evaluated value to records: walks the value by the tables of the schema and reports what does not fit.

Invariants: what failed in the language is a hole, and a hole is passed over in silence. Everything is forced, unknown fields too, so
that faults anywhere inside are found. A field that is misspelt beyond doubt is bound in the place of the one that was meant, so that
one slip gives one diagnostic and what lies below it is still judged. Paths are those that the author wrote.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, assert_never

from stateward.compiler.diagnostics.wording import nearest
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.shape import LevelSkipped, MissingField, UnknownField, WrongType
from stateward.compiler.flow.problems.told import opening
from stateward.compiler.flow.schema import FLOW, FieldSpec, Level, MapOf, Mode, ScalarType
from stateward.compiler.flow.typed import Located, Path
from stateward.compiler.language.data import ArrayData, Data, Hole, ObjectData, Origin, Scalar
from stateward.compiler.language.evaluation import Cell, Evaluation, FieldCell, ObjectShape, ScalarShape, Shape
from stateward.compiler.source import Place, Source, Span


class Kept(NamedTuple):
    """A constraint or a guard: taken as it is, not forced."""

    cell: Cell
    path: Path


class Entry(NamedTuple):
    """One object of a map: its id and its record, which is None when it failed."""

    id: str
    key: Place
    path: Path
    record: "Record | None"


class Table(NamedTuple):
    """The objects of a map, in order of declaration."""

    entries: tuple[Entry, ...]
    complete: bool
    """Whether these are all: false when an entry may have been lost to a fault of the syntax or the shape."""
    path: Path


Bound: TypeAlias = "Located[bool | int | str] | Table | Kept | None"
"""The value of a field; None when it failed."""


class BoundField(NamedTuple):
    """A field that is there."""

    key: Place
    value: Bound


class Record(NamedTuple):
    """An object with fixed fields; a field that was not authored has no entry."""

    fields: Mapping[str, BoundField]
    origin: Origin
    path: Path
    lossy: bool
    """Whether a field may have been lost to a fault of the syntax."""


class _Spot(NamedTuple):
    """Where in the source the walk stands: a field or an entry as the author named it; the root has no name and no key."""

    path: Path
    key: Place | None

    @property
    def name(self) -> str:
        return str(self.path[-1]) if self.path else ""

    def at(self, name: str, key: Place) -> "_Spot":
        return _Spot((*self.path, name), key)


class Binder:
    """One walk over one evaluated value."""

    def __init__(self, evaluation: Evaluation, broken: Sequence[tuple[Source, Span]] = ()) -> None:
        """Walk an evaluation; `broken` is where the syntax is at fault, so that an object around it may have lost a field."""
        self.evaluation = evaluation
        self.broken = broken
        self.problems: list[Problem] = []

    def root(self, level: Level) -> Record | None:
        """Bind the whole source."""
        return self._record(self.evaluation.root, level, _Spot((), None))

    def _record(self, cell: Cell, level: Level, spot: _Spot) -> Record | None:
        shape = self.evaluation.shape(cell, spot.path)
        if not isinstance(shape, ObjectShape):
            self._not_an_object(cell, spot, _example(level))
            return None
        lossy = self._lost_in(shape)
        meant = self._fields_meant(shape.fields, level, spot)
        fields: dict[str, BoundField] = {}
        for spec in level.fields:
            authored = meant.get(spec.name)
            if authored is not None:
                given, found = authored
                bind = self._value if given == spec.name else self._guessed
                fields[spec.name] = BoundField(found.key, bind(found.cell, spec, spot.at(given, found.key)))
            elif spec.required and not lossy:
                self.problems.append(MissingField(spec, _holder(shape, spot), (*spot.path, spec.name)))
        return Record(fields, shape.origin, spot.path, lossy)

    def _fields_meant(self, authored: Mapping[str, FieldCell], level: Level, spot: _Spot) -> dict[str, tuple[str, FieldCell]]:
        """Give for each known field the authored one, with the name it was given; report and force the unknown ones."""
        meant = {name: (name, found) for name, found in authored.items() if level.field(name) is not None}
        for name, found in authored.items():
            if level.field(name) is not None:
                continue
            near = nearest(name, [each for each in level.names if each not in authored])
            here = spot.at(name, found.key)
            self.problems.append(UnknownField(name, found.key, here.path, level, near, _level_with(name, level)))
            if near is not None and near not in meant:
                meant[near] = (name, found)
            else:
                self.evaluation.data(found.cell, here.path)
        return meant

    def _guessed(self, cell: Cell, spec: FieldSpec, spot: _Spot) -> Bound:
        """Bind a field that is named otherwise than its level has it; a value of another kind says nothing about the one that was meant."""
        shape = self.evaluation.shape(cell, spot.path)
        match spec.type:
            case MapOf():
                fits = isinstance(shape, ObjectShape)
            case ScalarType():
                fits = isinstance(shape, ScalarShape) and type(shape.value) is spec.type.of_python
            case _:
                assert_never(spec.type)
        if fits:
            return self._value(cell, spec, spot)
        self.evaluation.data(cell, spot.path)
        return None

    def _value(self, cell: Cell, spec: FieldSpec, spot: _Spot) -> Bound:
        if spec.mode is not Mode.DATA:
            return Kept(cell, spot.path)
        match spec.type:
            case MapOf(level=level):
                return self._table(cell, level, spot)
            case ScalarType():
                return self._scalar(cell, spec.type, spot)
        assert_never(spec.type)

    def _scalar(self, cell: Cell, wanted: ScalarType, spot: _Spot) -> Bound:
        data = self.evaluation.data(cell, spot.path)
        match data:
            case Hole():
                return None
            case Scalar(value=bool() | int() | str() as value) if type(value) is wanted.of_python:
                return Located(value, data.origin, spot.path)
            case Scalar(value=value):
                rewritten = _rewritten(value, wanted)
            case _:
                rewritten = None
        self.problems.append(WrongType(spot.name, _word(data), wanted.value, data.origin, spot.path, rewritten=rewritten))
        return None

    def _table(self, cell: Cell, level: Level, spot: _Spot) -> Table | None:
        shape = self.evaluation.shape(cell, spot.path)
        if not isinstance(shape, ObjectShape):
            self._not_an_object(cell, spot, _example_by_id(level))
            return None
        skipped = self._skipped(shape, level)
        if skipped:
            self.problems.append(LevelSkipped(level, skipped, spot.name, (*spot.path, skipped[0][0])))
        left_out = {name for name, _ in skipped}
        entries: list[Entry] = []
        for id_, found in shape.fields.items():
            here = spot.at(id_, found.key)
            if id_ in left_out:
                self.evaluation.data(found.cell, here.path)
            else:
                entries.append(Entry(id_, found.key, here.path, self._record(found.cell, level, here)))
        return Table(tuple(entries), not skipped and not self._lost_in(shape), spot.path)

    def _skipped(self, shape: ObjectShape, level: Level) -> list[tuple[str, Place]]:
        """Find the fields of a single object that stand where ids belong: one of them is no object, so it can be no entry."""
        named = [(name, found) for name, found in shape.fields.items() if level.field(name) is not None]
        plain = any(isinstance(self.evaluation.shape(found.cell), ScalarShape) for _, found in named)
        return [(name, found.key) for name, found in named] if plain else []

    def _not_an_object(self, cell: Cell, spot: _Spot, example: str) -> None:
        """Report a value that is no object; the language itself reports one that can be no data at all, and a hole is silent."""
        data = self.evaluation.data(cell, spot.path)
        if not isinstance(data, Hole):
            self.problems.append(WrongType(spot.name, _word(data), "object", data.origin, spot.path, shape=example))

    def _lost_in(self, shape: ObjectShape) -> bool:
        """Tell whether the syntax is at fault inside an object in such a way that a field of it may be lost.

        That is so when the fault lies in no value, or in the last one and swallows what comes after it (a string that is never closed).
        """
        place = shape.origin.place
        inside = [span for source, span in self.broken if source is place.source and place.span.covers(span)]
        while inside:
            values = [value for found in shape.fields.values() if _within(value := self.evaluation.shape(found.cell), place)]
            if not all(any(value.origin.place.span.covers(span) for value in values) for span in inside):
                return True
            last = max(values, key=lambda value: value.origin.place.span)
            inside = [span for span in inside if last.origin.place.span.covers(span)]
            if not isinstance(last, ObjectShape):
                return bool(inside) and isinstance(last, Hole)
            shape = last
        return False


def _within(value: Shape, place: Place) -> bool:
    """Tell whether a value is written inside a place, and does not come from elsewhere."""
    return value.origin.place.source is place.source and place.span.covers(value.origin.place.span)


def _holder(shape: ObjectShape, spot: _Spot) -> Place:
    """Give what names an object: its key, or the beginning of the root."""
    if spot.key is not None:
        return spot.key
    place = shape.origin.place
    if place.source.slice(place.span).startswith("{") or not shape.fields:
        return opening(place)
    return next(iter(shape.fields.values())).key


def _word(data: Data) -> str:
    match data:
        case Scalar(value=value):
            return _word_of(value)
        case ArrayData():
            return "Array"
        case ObjectData():
            return "Object"
        case Hole():
            raise AssertionError("a hole is passed over")
    assert_never(data)


def _word_of(value: bool | int | float | str) -> str:
    match value:
        case bool():
            return "Bool"
        case int():
            return "Int"
        case float():
            return "Float"
        case str():
            return "String"
    assert_never(value)


def _rewritten(value: bool | int | float | str, wanted: ScalarType) -> str | None:
    """Write a scalar in the type that was wanted, where that is certain."""
    match wanted, value:
        case ScalarType.BOOL, "true" | "false":
            return str(value)
        case ScalarType.INT, float() if value.is_integer():
            return str(int(value))
        case ScalarType.INT, str() if value.isascii() and value.isdigit():
            return str(int(value))
        case ScalarType.STRING, bool():
            return f'"{str(value).lower()}"'
        case ScalarType.STRING, int():
            return f'"{value}"'
    return None


def _example(level: Level) -> str:
    """Show how an object of a level is written."""
    return f"{{ {' '.join(f'{spec.name} = …;' for spec in level.fields if spec.required)} }}"


def _example_by_id(level: Level) -> str:
    """Show how a map of such objects is written."""
    return f"{{ some_id = {_example(level)}; }}"


def _level_with(name: str, other_than: Level) -> str | None:
    """Find the level that has a field of this name."""
    levels = [FLOW]
    for level in levels:
        levels += [spec.type.level for spec in level.fields if isinstance(spec.type, MapOf)]
    return next((level.what for level in levels if level is not other_than and level.field(name) is not None), None)
