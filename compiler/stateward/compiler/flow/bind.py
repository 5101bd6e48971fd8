"""Evaluated value to records: walks the value by the tables of the schema and reports what does not fit.

Invariants: what failed in the language is a hole, and a hole is passed over in silence. Everything is forced, unknown fields too, so
that faults anywhere inside are found. A field that is misspelt beyond doubt is bound in the place of the one that was meant, so that
one slip gives one diagnostic and what lies below it is still judged. Paths are those that the author wrote.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, assert_never

from stateward.compiler.flow.durations import either_duration
from stateward.compiler.flow.guess import Given, Guess, Holder, MapField, Shapes, maps_of
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.shape import (
    Astray,
    LevelLeftOut,
    LevelSkipped,
    MapLeftOut,
    MisplacedEntry,
    MissingField,
    SomethingElse,
    TooDeep,
    UnknownField,
    Wrapped,
    WrongType,
)
from stateward.compiler.flow.problems.told import opening, owner, standing
from stateward.compiler.flow.rewriting import example, example_by_id, example_of_fields, rewritten, rewritten_list
from stateward.compiler.flow.schema import (
    FLOW,
    SCHEMAS,
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
    levels_of,
    version_with,
)
from stateward.compiler.flow.typed import Located, Path, Texts
from stateward.compiler.flow.words import field_meant
from stateward.compiler.language.data import ArrayData, Hole, Origin, Scalar, word_of
from stateward.compiler.language.evaluation import ArrayShape, Cell, Evaluation, FieldCell, ObjectShape, OtherShape, ScalarShape, Shape
from stateward.compiler.source import Place, Source, Span
from stateward.compiler.syntax.tree import StringLit


class Kept(NamedTuple):
    """A constraint or a guard: taken as it is, not forced."""

    cell: Cell
    path: Path


class KeptEntry(NamedTuple):
    """A constraint under a name that the author chose."""

    name: str
    key: Place
    kept: Kept


class KeptTable(NamedTuple):
    """Constraints by name, in order of declaration."""

    entries: tuple[KeptEntry, ...]
    complete: bool
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


Bound: TypeAlias = "Located[bool | int | str] | Texts | Table | KeptTable | Record | Kept | None"
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
    """Whether a field may have been lost to a fault of the syntax, or of what stands where."""


class FailedScalar(NamedTuple):
    """A field of plain data whose expression has no value."""

    place: Place
    """The whole expression."""
    wanted: ScalarType
    is_name: bool
    path: Path
    lacks_brackets: bool = False
    """Whether an array of such values belongs here."""


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
        self.failed: list[FailedScalar] = []
        self._shapes = Shapes(evaluation)
        self._guess = Guess(self._shapes, broken)
        self._root = FLOW
        self._misplaced: list[tuple[Level, Path]] = []
        """Entries of maps that stand elsewhere: the level that each has, and the object in which it stands."""
        self._is_aside = False
        """Whether the walk is inside of such an entry; no other is sought there, since a value may hold itself without end."""
        self._left_out_maps: set[Path] = set()
        """Maps that were left out around what they would hold."""
        self._astray: dict[Path, dict[str, Given]] = {}
        """By entry of a map: its fields that stand outside of it."""
        self._taken: set[Path] = set()
        """Fields among the ids of a map that were bound in the object that holds the map."""

    def root(self, level: Level) -> Record | None:
        """Bind the whole source. What a single field wraps is bound as if it stood at the root, once that was told."""
        self._root = level
        shape = self._shapes.of(self.evaluation.root)
        wrapper = self._guess.wrapper(shape, level) if isinstance(shape, ObjectShape) else None
        if isinstance(shape, ObjectShape) and self._guess.is_something_else(shape, level):
            self.evaluation.data(self.evaluation.root)
            self.problems.append(SomethingElse(level, _holder(shape, _Spot((), None)), tuple(shape.fields)))
            return None
        if wrapper is None:
            return self._record(self.evaluation.root, level, _Spot((), None))
        name, found = wrapper
        self.problems.append(Wrapped(name, found.key, (name,), level))
        return self._record(found.cell, level, _Spot((), found.key))

    def _record(self, cell: Cell, level: Level, spot: _Spot) -> Record | None:
        shape = self._shapes.of(cell, spot.path)
        if not isinstance(shape, ObjectShape):
            self._not_an_object(cell, spot, example(level))
            return None
        lossy = bool(self.broken) and self._lost_in(shape)
        meant = self._fields_meant(shape.fields, level, spot)
        holds_entries = bool(self._misplaced) and any(path == spot.path for _, path in self._misplaced)
        is_group = holds_entries and not meant
        fields: dict[str, BoundField] = {}
        no_longer = frozenset[str]() if shape.fields.keys() <= level.index.keys() else _no_longer_required(shape.fields, level)
        for spec in level.fields:
            given = meant.get(spec.name)
            if given is not None:
                here = _Spot(given.at or (*spot.path, *given.within, given.name), given.field.key)
                fields[spec.name] = BoundField(given.field.key, self._value(given.field.cell, spec, here) if given.usable else None)
            elif (
                spec.required
                and spec.name not in no_longer
                and not lossy
                and not is_group
                and (*spot.path, spec.name) not in self._left_out_maps
                and not (self.broken and self._is_swallowed(spec.name, shape))
            ):
                self.problems.append(MissingField(spec, _holder(shape, spot), (*spot.path, spec.name)))
        return Record(fields, shape.origin, spot.path, lossy or holds_entries)

    def _fields_meant(self, authored: Mapping[str, FieldCell], level: Level, spot: _Spot) -> dict[str, Given]:
        """Give for each known field the authored one; report what is not as the schema has it."""
        meant = {name: Given(name, found) for name, found in authored.items() if name in level.index}
        if any(name not in level.index for name in authored):
            self._unknown_fields(authored, meant, level, spot)
        meant |= self._astray.get(spot.path, {})
        if len(meant) < len(level.fields):
            for given in list(self._guess.too_deep(meant, level, spot.path)):
                meant[given.name] = given
                self._taken.add((*spot.path, *given.within, given.name))
                path = (*spot.path, *given.within, given.name)
                self.problems.append(TooDeep(given.name, given.field.key, path, owner(spot.path), given.within[0]))
        return meant

    def _unknown_fields(self, authored: Mapping[str, FieldCell], meant: dict[str, Given], level: Level, spot: _Spot) -> None:
        """Report the fields that a level does not know; those that stand for one that it does know are added to what is meant."""
        unknown: dict[str, FieldCell] = {}
        for name, found in authored.items():
            if name not in level.index:
                if version_with(name, level) is not None and not isinstance(found.cell.node, StringLit):
                    self.problems.append(self._unknown(name, found.key, spot.at(name, found.key), level))
                    continue  # what it holds means nothing in this version
                near = field_meant(name, level, meant) if _within_object(name, level) is None else None
                if near is not None:
                    meant[near] = self._misnamed(name, found, near, level, spot)
                else:
                    unknown[name] = found
        self._without_map(unknown, meant, level, spot)
        for holder in list(self._maps_there(meant, level, spot)):
            for name in [name for name, found in unknown.items() if self._goes_astray(name, found, holder, spot)]:
                del unknown[name]
        low = self._left_out(unknown, meant, level, spot)
        for name, found in unknown.items():
            here = spot.at(name, found.key)
            if name not in low and self._belongs_elsewhere(name, found, spot):
                continue
            if name not in low and not self._guess.is_no_field(found):
                self.problems.append(self._unknown(name, found.key, here, level))
            self._explore(found.cell, here.path)

    def _explore(self, cell: Cell, path: Path) -> None:
        """Find what is at fault inside of what stands for no field; where guards may stand, what is no data may be one."""
        if self._root is FLOW or not isinstance(self._shapes.of(cell, path), OtherShape):
            self.evaluation.data(cell, path)

    def _maps_there(self, meant: Mapping[str, Given], level: Level, spot: _Spot) -> Iterator[Holder]:
        """Give the maps of an object that are there."""
        for each in maps_of(level):
            given = meant.get(each.name)
            path = (*spot.path, given.name) if given is not None else spot.path
            shape = self._shapes.of(given.field.cell, path) if given is not None and given.usable else None
            if isinstance(shape, ObjectShape):
                yield Holder(shape, each.level, path)

    def _goes_astray(self, name: str, found: FieldCell, holder: Holder, spot: _Spot) -> bool:
        """Tell whether a field that stands in a map, or around it, belongs to an entry of the map; report it if so."""
        entry = self._guess.astray(name, found, holder)
        if entry is None:
            return False
        id_, lacking = entry
        path, at = (*holder.path, id_), (*spot.path, name)
        self.problems.append(Astray(name, found.key, at, id_, lacking.key, owner(path)))
        self._astray.setdefault(path, {})[name] = Given(name, found, at=at)
        return True

    def _without_map(self, unknown: dict[str, FieldCell], meant: Mapping[str, Given], level: Level, spot: _Spot) -> None:
        """Tell once the entries of a map that stand in the object which should have the map, and has none."""
        below = next((each for each in maps_of(level) if each.name not in meant), None)
        if below is None or self._is_aside:
            return
        found = {name: each for name, each in unknown.items() if self._is_entry_of(below, name, each, spot)}
        if not found or (len(found) == 1 and not level.index[below.name].required):
            return
        keys = [(name, each.key) for name, each in found.items()]
        self.problems.append(MapLeftOut(below.level, keys, below.name, owner(spot.path), (*spot.path, below.name)))
        self._left_out_maps.add((*spot.path, below.name))
        self._misplaced.append((below.level, spot.path))
        self._is_aside = True
        for name, each in found.items():
            self._record(each.cell, below.level, spot.at(name, each.key))
            del unknown[name]
        self._is_aside = False

    def _is_entry_of(self, below: MapField, name: str, found: FieldCell, spot: _Spot) -> bool:
        shape = self._shapes.of(found.cell, (*spot.path, name))
        entry = self._guess.entry(shape, self._root) if isinstance(shape, ObjectShape) else None
        return entry is not None and entry.level is below.level

    def _belongs_elsewhere(self, name: str, found: FieldCell, spot: _Spot, level: Level | None = None) -> bool:
        """Tell whether a field of an object, or an entry of a map of that level, is an entry of another map; report it if so."""
        path = (*spot.path, name)
        shape = self._shapes.of(found.cell, path)
        if not isinstance(shape, ObjectShape) or (level is not None and not shape.fields.keys().isdisjoint(level.index)):
            return False
        entry = self._guess.entry(shape, self._root)
        if entry is None or self._is_aside:
            return False
        self._misplaced.append((entry.level, spot.path))
        self.problems.append(MisplacedEntry(name, found.key, path, entry.level, entry.name, standing(spot.path)))
        self._is_aside = True
        self._record(found.cell, entry.level, spot.at(name, found.key))
        self._is_aside = False
        return True

    def _misnamed(self, name: str, found: FieldCell, near: str, level: Level, spot: _Spot) -> Given:
        """Report a field that is named otherwise than its level has it, and let it stand for the one that was meant."""
        here = spot.at(name, found.key)
        fits = self._guess.fits(found.cell, level.index[near], here.path)
        self.problems.append(self._unknown(name, found.key, here, level, near, fits=fits))
        if not fits:
            self._explore(found.cell, here.path)
        return Given(name, found, usable=fits)

    def _unknown(self, name: str, key: Place, here: _Spot, level: Level, near: str | None = None, *, fits: bool = False) -> UnknownField:
        elsewhere = next((each.what for each in levels_of(self._root) if each is not level and name in each.index), None)
        return UnknownField(name, key, here.path, level, near, elsewhere, fits, version_with(name, level), _within_object(name, level))

    def _left_out(self, unknown: Mapping[str, FieldCell], meant: dict[str, Given], level: Level, spot: _Spot) -> Collection[str]:
        """Tell once the fields of the level below that stand in place of the map that would hold them, and give their names."""
        below, low = self._guess.left_out(unknown, meant, level)
        if low:
            first, found = next(iter(low.items()))
            keys = [(name, each.key) for name, each in low.items()]
            self.problems.append(LevelLeftOut(below.name, below.level, keys, owner(spot.path), (*spot.path, first)))
            meant[below.name] = Given(first, found, usable=False)
        return low

    def _value(self, cell: Cell, spec: FieldSpec, spot: _Spot) -> Bound:
        match spec.type:
            case ConstraintsByName():
                return self._kept_by_name(cell, spot)
            case _ if spec.mode is not Mode.DATA:
                return Kept(cell, spot.path)
            case MapOf(level=level):
                return self._table(cell, level, spot)
            case ObjectOf(level=level):
                return self._object(cell, level, spot)
            case ArrayOfTexts():
                return self._texts(cell, spec, spec.type, spot)
            case ScalarType():
                return self._scalar(cell, spec, spec.type, spot)
            case OneOf(words=words):
                return self._told_text(cell, spec, spot, "String", " or ".join(f'`"{word}"`' for word in words))
            case Duration():
                return self._told_text(cell, spec, spot, "duration", '`"10m"`')
        assert_never(spec.type)

    def _scalar(self, cell: Cell, spec: FieldSpec, wanted: ScalarType, spot: _Spot) -> Bound:
        data = self.evaluation.data(cell, spot.path)
        match data:
            case Hole():
                self.failed.append(FailedScalar(data.origin.place, wanted, spec.is_name, spot.path))
                return None
            case Scalar(value=bool() | int() | str() as value) if type(value) is wanted.of_python:
                return Located(value, data.origin, spot.path)
        mended = rewritten(data, wanted, is_name=spec.is_name)
        self.problems.append(WrongType(spot.name, word_of(data), wanted.value, data.origin, spot.path, rewritten=mended))
        return None

    def _told_text(self, cell: Cell, spec: FieldSpec, spot: _Spot, wanted: str, written: str) -> Bound:
        """Bind a text of a certain form, written such as is said; whether it has that form is a question of meaning."""
        data = self.evaluation.data(cell, spot.path)
        if isinstance(data, Hole) or (isinstance(data, Scalar) and isinstance(data.value, str)):
            return self._scalar(cell, spec, ScalarType.STRING, spot)
        is_time = isinstance(spec.type, Duration) and isinstance(data, Scalar) and type(data.value) is int
        advice = either_duration(data.value) if is_time and isinstance(data, Scalar) else f"write {written}"
        self.problems.append(WrongType(spot.name, word_of(data), wanted, data.origin, spot.path, advice=advice))
        return None

    def _texts(self, cell: Cell, spec: FieldSpec, wanted: ArrayOfTexts, spot: _Spot) -> Texts | None:
        """Bind an array of texts; one that holds what is no text is bound without it."""
        data = self.evaluation.data(cell, spot.path)
        if isinstance(data, Hole):
            self.failed.append(FailedScalar(data.origin.place, ScalarType.STRING, spec.is_name, spot.path, lacks_brackets=True))
            return None
        if not isinstance(data, ArrayData):
            if self._is_cut_short(data.origin.place):
                return None
            what = f"array of {wanted.what}s" if wanted.what == "text" else f"array of {wanted.what} names"
            mended = rewritten_list(data, is_name=spec.is_name)
            self.problems.append(
                WrongType(spot.name, word_of(data), what, data.origin, spot.path, rewritten=mended, shape=None if mended else '["…"]')
            )
            return None
        items: list[Located[str]] = []
        for at, item in enumerate(data.items):
            path = (*spot.path, at)
            if isinstance(item, Hole):
                self.failed.append(FailedScalar(item.origin.place, ScalarType.STRING, spec.is_name, path))
            elif isinstance(item, Scalar) and isinstance(item.value, str):
                items.append(Located(item.value, item.origin, path))
            else:
                mended = rewritten(item, ScalarType.STRING, is_name=True)
                self.problems.append(WrongType(f"{spot.name}[{at}]", word_of(item), "String", item.origin, path, rewritten=mended))
        return Texts(tuple(items), data.origin, spot.path, len(items) == len(data.items))

    def _is_cut_short(self, place: Place) -> bool:
        """Tell whether the syntax is at fault right behind a value: a bracket was lost before it."""
        behind = [span.start for source, span in self.broken if source is place.source and span.start >= place.span.end]
        return any(not place.source.text[place.span.end : start].strip() for start in behind)

    def _kept_by_name(self, cell: Cell, spot: _Spot) -> KeptTable | None:
        shape = self._shapes.of(cell, spot.path)
        if not isinstance(shape, ObjectShape):
            self._not_an_object(cell, spot, "{}" if isinstance(shape, ArrayShape) and not shape.items else "{ some_name = String; }")
            return None
        entries = tuple(KeptEntry(name, found.key, Kept(found.cell, (*spot.path, name))) for name, found in shape.fields.items())
        return KeptTable(entries, not (self.broken and self._lost_in(shape)), spot.path)

    def _object(self, cell: Cell, level: Level, spot: _Spot) -> Record | None:
        """Bind an object with fixed fields; where such an object has one field, a value of that field alone shows what was meant."""
        shape = self._shapes.of(cell, spot.path)
        if isinstance(shape, ScalarShape):
            shown = example_of_fields(level, shape.value)
            self.problems.append(
                WrongType(spot.name, word_of(Scalar(shape.value, shape.origin)), "object", shape.origin, spot.path, shape=shown)
            )
            return None
        return self._record(cell, level, spot)

    def _table(self, cell: Cell, level: Level, spot: _Spot) -> Table | None:
        shape = self._shapes.of(cell, spot.path)
        if not isinstance(shape, ObjectShape):
            self._not_an_object(cell, spot, "{}" if isinstance(shape, ArrayShape) and not shape.items else example_by_id(level))
            return None
        holder = Holder(shape, level, spot.path)
        strays = {name for name, found in shape.fields.items() if name in level.index and self._goes_astray(name, found, holder, spot)}
        skipped = [each for each in self._skipped(shape, level) if each[0] not in strays]
        if skipped:
            self.problems.append(LevelSkipped(level, skipped, spot.name, (*spot.path, skipped[0][0])))
        left_out = {name for name, _ in skipped}
        own = [
            (spot.at(id_, found.key), found) for id_, found in shape.fields.items() if not self._belongs_elsewhere(id_, found, spot, level)
        ]
        entries: list[Entry] = []
        for here, found in own:
            if here.name in left_out:
                self._explore(found.cell, here.path)
            elif here.path not in self._taken and here.name not in strays:
                entries.append(Entry(here.name, found.key, here.path, self._record(found.cell, level, here)))
        lost = bool(self.broken) and self._lost_in(shape)
        return Table(tuple(entries), not (skipped or lost or self._stands_elsewhere(level, spot.path[:-1])), spot.path)

    def _stands_elsewhere(self, level: Level, holder: Path) -> bool:
        """Tell whether something inside or around an object, but outside of its map, would be an entry of that map."""
        return any(
            each is level and (path[: len(holder)] == holder or holder[: len(path)] == path)
            for each, path in self._misplaced
        )  # fmt: skip

    def _skipped(self, shape: ObjectShape, level: Level) -> list[tuple[str, Place]]:
        """Find the fields of a single object that stand where ids belong: one of them is no object, so it can be no entry."""
        named = [(name, found) for name, found in shape.fields.items() if name in level.index]
        plain = any(isinstance(self._shapes.of(found.cell), ScalarShape) for _, found in named)
        return [(name, found.key) for name, found in named] if plain else []

    def _not_an_object(self, cell: Cell, spot: _Spot, example: str) -> None:
        """Report a value that is no object; the language itself reports one that can be no data at all, and a hole is silent."""
        data = self.evaluation.data(cell, spot.path)
        if not isinstance(data, Hole):
            self.problems.append(WrongType(spot.name, word_of(data), "object", data.origin, spot.path, shape=example))

    def _lost_in(self, shape: ObjectShape) -> bool:
        """Tell whether the syntax is at fault inside an object in such a way that a field of it may be lost.

        That is so when the fault lies in no value, or in the last one and swallows what comes after it (a string that is never closed).
        """
        place = shape.origin.place
        inside = [span for source, span in self.broken if source is place.source and place.span.covers(span)]
        while inside:
            values = [value for found in shape.fields.values() if _within(value := self._shapes.of(found.cell), place)]
            if not all(any(value.origin.place.span.covers(span) for value in values) for span in inside):
                return True
            last = max(values, key=lambda value: value.origin.place.span)
            inside = [span for span in inside if last.origin.place.span.covers(span)]
            if not isinstance(last, ObjectShape):
                return bool(inside) and isinstance(last, Hole)
            shape = last
        return False

    def _is_swallowed(self, name: str, shape: ObjectShape) -> bool:
        """Tell whether a field that an object lacks is named inside of a value that failed: what should end before it does not."""
        values = [value for found in shape.fields.values() if _within(value := self._shapes.of(found.cell), shape.origin.place)]
        failed = [value.origin.place for value in values if isinstance(value, Hole)]
        return any(re.search(rf"\b{name}\b", place.source.slice(place.span)) for place in failed)


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


def _within_object(name: str, level: Level) -> str | None:
    """Find the field of an object inside of which a field belongs that stands in the object itself."""
    return next((spec.name for spec in level.fields if isinstance(spec.type, ObjectOf) and name in spec.type.level.index), None)


def _no_longer_required(authored: Collection[str], level: Level) -> frozenset[str]:
    """Give the fields that an object may lack because it has fields of a later version, which no longer asks for them."""
    versions = {version for name in authored if name not in level.index and (version := version_with(name, level)) is not None}
    later = [each for version in versions for each in levels_of(SCHEMAS[version]) if each.what == level.what]
    return level.required - later[0].required if later else frozenset()
