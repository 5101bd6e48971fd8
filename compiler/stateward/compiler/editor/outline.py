"""The fields of a text by their paths, as they are written: nothing is evaluated.

Invariants: entries come in order of position; a dotted key gives one entry for each of its parts; what a call or a name gives is not seen.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from stateward.compiler.editor.context import ITEM
from stateward.compiler.flow.schema import SCHEMAS, VERSION_ASSUMED, FieldSpec, Level, MapOf, ObjectOf
from stateward.compiler.syntax.tree import Binary, Expr, Field, IntLit, Key, Let, Module, Object, Paren

DEPTH_MAX: Final = 16
"""Names of a path that are followed; a flow has four."""
_JOINING: Final = frozenset({"//", "&", "as", "default"})


class Entry(NamedTuple):
    """A key where it is written."""

    path: tuple[str, ...]
    key: Key
    field: Field
    is_last: bool
    """Whether the value of the field is the value of this path: it is the last part of its key."""


def outline(module: Module) -> Iterator[Entry]:
    """Give the keys of a module."""
    return iter(sorted(_entries(module), key=lambda each: each.key.start))


def _entries(module: Module) -> Iterator[Entry]:
    open_: list[tuple[Expr, tuple[str, ...]]] = [(module.body, ())]
    while open_:
        node, path = open_.pop()
        match node:
            case Object(fields=fields):
                for field in fields:
                    for number, key in enumerate(field.path, start=1):
                        names = (*path, *(each.text for each in field.path[:number]))
                        yield Entry(names, key, field, number == len(field.path))
                    if len(path) + len(field.path) < DEPTH_MAX:
                        open_.append((field.value, (*path, *(each.text for each in field.path))))
            case Paren(inner=inner):
                open_.append((inner, path))
            case Let(body=body):
                open_.append((body, path))
            case Binary(operator=operator, left=left, right=right) if operator in _JOINING:
                open_ += ((left, path), (right, path))
            case _:
                pass


def form_of(entries: Iterable[Entry]) -> Level:
    """Give the root level of the version that a text says, or is read as."""
    for entry in entries:
        if entry.path == ("schema_version",) and entry.is_last and isinstance(entry.field.value, IntLit):
            return SCHEMAS.get(entry.field.value.value, SCHEMAS[VERSION_ASSUMED])
    return SCHEMAS[VERSION_ASSUMED]


def level_at(path: tuple[str, ...], root: Level) -> Level | None:
    """Give the level of the object at a path; None where there is a map, a plain field or nothing that the schema knows."""
    level, at = root, 0
    while at < len(path):
        spec = level.index.get(path[at])
        match spec.type if spec is not None else None:
            case MapOf(level=inner) if at + 1 < len(path) and path[at + 1] != ITEM:
                level, at = inner, at + 2
            case ObjectOf(level=inner):
                level, at = inner, at + 1
            case _:
                return None
    return level


def spec_at(path: tuple[str, ...], root: Level) -> FieldSpec | None:
    """Give the field of the schema at a path; None where there is none."""
    level = level_at(path[:-1], root) if path else None
    return level.index.get(path[-1]) if level is not None else None
