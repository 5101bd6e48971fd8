"""What an evaluated value becomes: plain data in which every part knows where it came from, with holes where something failed.

A hole stands for a value whose fault has been reported already: later checks pass over it in silence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, assert_never, dataclass_transform

from stateward.compiler.predicates.constraints import SCALARS, Family
from stateward.compiler.source import Place

_T = TypeVar("_T")

if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True)
    def datum(cls: type[_T]) -> type[_T]:
        """Declare a part of a result."""
else:
    # A frozen dataclass costs more than twice as much to build, and there are as many as the result has nodes; the type checker keeps
    # them frozen instead.
    datum = dataclass(slots=True, unsafe_hash=True)


@datum
class Origin:
    """Where a value was written, and the uses (calls, imports, names) it came through, nearest first."""

    place: Place
    through: tuple[Place, ...] = ()


@datum
class Scalar:
    """A Bool, Int, Float or String; `type(value)` tells which."""

    value: bool | int | float | str
    origin: Origin


@datum
class ArrayData:
    """An array."""

    items: "tuple[Data, ...]"
    origin: Origin


@datum
class FieldData:
    """A field of an object: the place of its key and its value."""

    key: Place
    value: "Data"


@datum
class ObjectData:
    """An object; its fields keep their order."""

    fields: Mapping[str, FieldData]
    origin: Origin


@datum
class Hole:
    """A value that failed; why has been reported."""

    origin: Origin


Data: TypeAlias = Scalar | ArrayData | ObjectData | Hole
PlainData: TypeAlias = "bool | int | float | str | list[PlainData] | dict[str, PlainData]"


def is_whole(data: Data) -> bool:
    """Tell whether data has no hole."""
    waiting = [data]
    for each in waiting:  # grows while it is walked, up to the nodes of the data
        match each:
            case Hole():
                return False
            case ArrayData(items=items):
                waiting += items
            case ObjectData(fields=fields):
                waiting += (field.value for field in fields.values())
            case Scalar():
                pass
    return True


def word_of(data: Data) -> str:
    """Give the word for what a value is. Must not be called on a hole."""
    match data:
        case Scalar(value=value):
            return SCALARS[type(value)].value
        case ArrayData():
            return Family.ARRAY.value
        case ObjectData():
            return Family.OBJECT.value
        case Hole():
            raise AssertionError("a hole is passed over")
    assert_never(data)


def plain(data: Data) -> PlainData:
    """Take data down to Python values. Must not be called on data with holes. Depth costs no recursion."""
    whole: list[Any] = [None]
    todo: list[tuple[Any, int | str, Data]] = [(whole, 0, data)]
    while todo:
        into, at, part = todo.pop()
        match part:
            case Scalar(value=value):
                into[at] = value
            case ArrayData(items=items):
                into[at] = array = [None] * len(items)
                todo.extend((array, place, item) for place, item in enumerate(items))
            case ObjectData(fields=fields):
                into[at] = record = dict.fromkeys(fields)
                todo.extend((record, name, field.value) for name, field in fields.items())
            case Hole():
                raise AssertionError("data with a hole is not plain")
    made: PlainData = whole[0]
    return made
