"""One level of an evaluated value, for those who walk it by a schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from stateward.compiler.language.data import Hole, Origin
from stateward.compiler.language.values import Cell
from stateward.compiler.source import Place


@dataclass(frozen=True, slots=True)
class FieldCell:
    """A field: the place of its key and its value, not yet forced."""

    key: Place
    cell: Cell


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """An object; its fields keep their order."""

    origin: Origin
    fields: Mapping[str, FieldCell]


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """An array."""

    origin: Origin
    items: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class ScalarShape:
    """A Bool, Int, Float or String; `type(value)` tells which."""

    value: bool | int | float | str
    origin: Origin


@dataclass(frozen=True, slots=True)
class OtherShape:
    """What is no data: `what` says it in words (`a constraint`, `a function`)."""

    what: str
    origin: Origin


Shape: TypeAlias = ObjectShape | ArrayShape | ScalarShape | OtherShape | Hole
