"""Faults of the shape: fields that are unknown, missing or of the wrong type, and a version that is not known."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple, assert_never

from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix, Label, Severity
from stateward.compiler.diagnostics.wording import listed, quoted
from stateward.compiler.flow.problems.told import came_through, did_you_mean, owner
from stateward.compiler.flow.schema import (
    ArrayOfTexts,
    ConstraintsByName,
    Duration,
    FieldSpec,
    FieldType,
    Level,
    MapOf,
    ObjectOf,
    OneOf,
    ScalarType,
)
from stateward.compiler.flow.typed import Path
from stateward.compiler.language.data import Origin
from stateward.compiler.source import Place

_error: Final = partial(Diagnostic, severity=Severity.ERROR)
"""What all problems of the shape are told as: each of them blocks."""
LABELS_MAX: Final = 6
"""Places that one diagnostic shows."""
_EXAMPLES: Final = {ScalarType.INT: "1", ScalarType.STRING: '"…"', ScalarType.BOOL: "true"}


def _written(type_: FieldType) -> str:
    """Show how a value of a type is written."""
    match type_:
        case MapOf() | ObjectOf() | ConstraintsByName():
            return "{ … }"
        case ArrayOfTexts():
            return '["…"]'
        case Duration():
            return '"10m"'
        case OneOf(words=words):
            return f'"{words[0]}"'
        case ScalarType():
            return _EXAMPLES[type_]
    assert_never(type_)


class UnknownField(NamedTuple):
    """A field that its level does not have."""

    name: str
    key: Place
    path: Path
    level: Level
    near: str | None
    """The field that was probably meant."""
    elsewhere: str | None
    """The level that does have a field of this name."""
    fits: bool = False
    """Whether its value is of the kind of the field that was meant."""
    version: int | None = None
    """The version in which such objects have this field."""
    within: str | None = None
    """The field of the same object inside of which this one belongs."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key."""
        notes = [f"the fields of a {self.level.what} are {listed(self.level.names)}"]
        if self.elsewhere is not None:
            notes.append(f"{quoted(self.name)} is a field of a {self.elsewhere}")
        if self.version is not None:
            notes.append(f"a {self.level.what} has it in version {self.version}")
        return _error(
            code="unknown_field",
            message=f"a {self.level.what} has no field {quoted(self.name)}",
            primary=Label(self.key, f"not a field of a {self.level.what}"),
            notes=tuple(notes),
            help=self._help(),
            fixes=self._fixes(),
            path=self.path,
        )

    def _help(self) -> str | None:
        if self.within is not None:
            return f"put it into `{self.within} = {{ … }};`"
        if self.version is not None and self.near is None:
            return f"write `schema_version = {self.version};`"
        return did_you_mean(self.near)

    def _fixes(self) -> tuple[Fix, ...]:
        if self.near is None or not self.fits or self.key.source.slice(self.key.span).strip('"') != self.name:
            return ()
        return (Fix(f"rename it to `{self.near}`", (Edit(self.key.span, self.near),), Applicability.UNSAFE),)


class LaterFields(NamedTuple):
    """Fields that a later version has, in a source of an earlier one."""

    fields: Sequence[UnknownField]
    """At least two."""
    version: int

    def diagnostic(self) -> Diagnostic:
        """Tell it once, at the first of them."""
        first, *others = self.fields
        return _error(
            code="unknown_field",
            message=f"{listed(list(dict.fromkeys(each.name for each in self.fields)))} are fields of version {self.version}",
            primary=Label(first.key, f"not a field of a {first.level.what} here"),
            secondary=_this_too([(each.name, each.key) for each in others[:LABELS_MAX]]),
            help=f"write `schema_version = {self.version};`",
            path=first.path,
        )


class MissingField(NamedTuple):
    """A required field that an object lacks."""

    spec: FieldSpec
    holder: Place
    """The key of the object, or the beginning of the root."""
    path: Path
    """The path that the field would have."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key of the object."""
        name = self.spec.name
        return _error(
            code="missing_field",
            message=f"{owner(self.path[:-1])} has no {quoted(name)}",
            primary=Label(self.holder, f"lacks {quoted(name)}"),
            help=f"add `{name} = {self.spec.example or _written(self.spec.type)};`",
            path=self.path,
        )


class WrongType(NamedTuple):
    """A value that is not of the type that its place asks for."""

    name: str
    """The field, or the id where an object with fixed fields belongs; empty at the root."""
    found: str
    """What it is: `String`, `Array`, …"""
    wanted: str
    """What belongs here: `Bool`, `object`, …"""
    origin: Origin
    path: Path
    rewritten: str | None = None
    """The same value in the right type, as it would be written."""
    shape: str | None = None
    """How such a value is written."""
    advice: str | None = None
    """What to do, where several values may be meant."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the value."""
        subject = self._subject()
        if self.rewritten is not None:
            offer: str | None = f"write `{self.rewritten}`"
        else:
            offer = f"write it as `{self.shape}`" if self.shape is not None else self.advice
        return _error(
            code="wrong_type",
            message=f"{subject} must be {_a(self.wanted)}, not {_a(self.found)}",
            primary=Label(self.origin.place, _a(self.found)),
            secondary=came_through(self.origin),
            help=offer,
            fixes=self._fixes(),
            path=self.path,
        )

    def _subject(self) -> str:
        if not self.name:
            return "a Flow source"
        return quoted(self.name) if self.wanted != "object" or len(self.path) % 2 else owner(self.path)

    def _fixes(self) -> tuple[Fix, ...]:
        if self.rewritten is None or self.origin.through:
            return ()
        return (Fix(f"write `{self.rewritten}`", (Edit(self.origin.place.span, self.rewritten),), Applicability.UNSAFE),)


class LevelSkipped(NamedTuple):
    """Fields of one object where objects by id belong: the id was left out."""

    level: Level
    fields: Sequence[tuple[str, Place]]
    """The fields that stand where ids belong, with their keys; at least one."""
    holder: str
    """The field that holds them."""
    path: Path
    """The path of the first."""

    def diagnostic(self) -> Diagnostic:
        """Tell it once, at the first of the fields."""
        what = self.level.what
        first, key = self.fields[0]
        return _error(
            code="wrong_type",
            message=f"{quoted(self.holder)} holds the fields of a {what} where {what} ids belong",
            primary=Label(key, f"a field, not a {what} id"),
            secondary=_this_too(self.fields[1:]),
            help=f"give the {what} an id: `{_example(self.holder, what, first)}`",
            path=self.path,
        )


class LevelLeftOut(NamedTuple):
    """Fields of the level below in an object that has no map of such objects: the map and the id were left out."""

    holder: str
    """The field that should hold them."""
    level: Level
    fields: Sequence[tuple[str, Place]]
    """The fields, with their keys; at least one."""
    owner: str
    """The object they stand in, in words."""
    path: Path
    """The path of the first."""

    def diagnostic(self) -> Diagnostic:
        """Tell it once, at the first of the fields."""
        what = self.level.what
        first, key = self.fields[0]
        return _error(
            code="unknown_field",
            message=f"fields of a {what} stand in {self.owner} itself",
            primary=Label(key, f"a field of a {what}"),
            secondary=_this_too(self.fields[1:]),
            notes=(f"a {what} stands under its id in {quoted(self.holder)}",),
            help=f"put it under an id: `{_example(self.holder, what, first)}`",
            path=self.path,
        )


class MisplacedEntry(NamedTuple):
    """A state or a transition that stands outside of the map in which it belongs."""

    id: str
    key: Place
    path: Path
    level: Level
    """What it is, by its fields."""
    holder: str
    """The field in which it belongs."""
    where: str
    """Where it stands, in words."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key."""
        return _error(
            code="unknown_field",
            message=f"{self.level.what} {quoted(self.id)} stands in {self.where}",
            primary=Label(self.key, f"a {self.level.what} outside of {quoted(self.holder)}"),
            help=f"move it into {quoted(self.holder)}",
            path=self.path,
        )


class TooDeep(NamedTuple):
    """A plain field of an object that stands among the ids of one of its maps."""

    name: str
    key: Place
    path: Path
    owner: str
    """The object that it belongs to, in words."""
    holder: str
    """The field in which it stands."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key."""
        return _error(
            code="unknown_field",
            message=f"{quoted(self.name)} of {self.owner} stands in {quoted(self.holder)}",
            primary=Label(self.key, "a field, not an id"),
            help=f"move it out of {quoted(self.holder)}",
            path=self.path,
        )


class Astray(NamedTuple):
    """A field of an entry of a map that stands beside the entry, or around the map."""

    name: str
    key: Place
    path: Path
    id: str
    """The entry that lacks it."""
    entry: Place
    """The key of the entry."""
    owner: str
    """The entry, in words."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key."""
        return _error(
            code="unknown_field",
            message=f"{quoted(self.name)} stands outside of {self.owner}",
            primary=Label(self.key, f"belongs to {quoted(self.id)}"),
            secondary=(Label(self.entry, f"lacks {quoted(self.name)}"),),
            help=f"move it into the braces of {quoted(self.id)}",
            path=self.path,
        )


class MapLeftOut(NamedTuple):
    """States or transitions that stand where the map that would hold them belongs: the map was left out."""

    level: Level
    entries: Sequence[tuple[str, Place]]
    """Their ids and keys; at least one."""
    holder: str
    """The field that should hold them."""
    where: str
    """Where they stand, in words."""
    path: Path
    """The path that the map would have."""

    def diagnostic(self) -> Diagnostic:
        """Tell it once, at the first of them."""
        what = self.level.what
        id_, key = self.entries[0]
        alone = len(self.entries) == 1
        subject = f"{what} {quoted(id_)} stands" if alone else f"the {what}s of {self.where} stand"
        return _error(
            code="missing_field",
            message=f"{subject} outside of {quoted(self.holder)}",
            primary=Label(key, f"a {what} outside of {quoted(self.holder)}"),
            secondary=_this_too(self.entries[1:LABELS_MAX]),
            help=f"put {'it' if alone else 'them'} into `{self.holder} = {{ … }};`",
            path=self.path,
        )


class Wrapped(NamedTuple):
    """A single field of the root that holds what belongs to the root itself."""

    name: str
    key: Place
    path: Path
    level: Level

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key."""
        return _error(
            code="unknown_field",
            message=f"the fields of the {self.level.what} stand inside of {quoted(self.name)}",
            primary=Label(self.key, f"not a field of a {self.level.what}"),
            notes=(f"the fields of a {self.level.what} are {listed(self.level.names)}",),
            help=f"take `{self.name} =` and its braces away, and keep what they hold",
            path=self.path,
        )


class SomethingElse(NamedTuple):
    """An object at the root that has no field of a flow, but others."""

    level: Level
    holder: Place
    """Where the root begins."""
    names: tuple[str, ...]
    """The fields that it has."""

    def diagnostic(self) -> Diagnostic:
        """Tell it once, where the root begins, in place of every field that is missing and every one that is unknown."""
        return _error(
            code="missing_field",
            message="the object is not a Flow source",
            primary=Label(self.holder, f"no field of a {self.level.what}"),
            notes=(f"it has {listed(self.names)}", f"the fields of a {self.level.what} are {listed(self.level.names)}"),
        )


class UnsupportedVersion(NamedTuple):
    """A version that this compiler does not know; it stands alone, since nothing else can be judged."""

    version: int
    origin: Origin
    path: Path
    known: tuple[int, ...]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the number."""
        versions = " and ".join(str(version) for version in self.known)
        return _error(
            code="unsupported_schema_version",
            message=f"schema version {self.version} is not known",
            primary=Label(self.origin.place, "unknown version"),
            secondary=came_through(self.origin),
            notes=(f"this compiler knows version{'s' if len(self.known) > 1 else ''} {versions}",),
            path=self.path,
        )


def _this_too(fields: Sequence[tuple[str, Place]]) -> tuple[Label, ...]:
    """Label what shares the fault of the field that is blamed."""
    return tuple(Label(key, "this too") for _, key in fields)


def _example(holder: str, what: str, field: str) -> str:
    """Write a field of a state or transition where it belongs, under an id."""
    id_ = {"state": "work", "check": "tests"}.get(what, "next")
    return f"{holder} = {{ {id_} = {{ {field} = …; }}; }};"


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "AEIOUaeiou" else f"a {noun}"
