"""How the values are declared that every hook loads: by the library's dataclasses, with less to be written for each class.

A frozen dataclass takes almost twice as long to define, and a hook defines some eighty of them and makes values of a third. So these are
frozen for the type checker, which is where a change would be written; at run time they only have slots, an order of fields, equality and a
hash. See docs/decisions/what-a-hook-costs.md.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, dataclass_transform

T = TypeVar("T")

if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, field_specifiers=(field,))
    def value(cls: type[T]) -> type[T]:
        """Declare a value; its fields are given in order or by name."""

    @dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
    def fact(cls: type[T]) -> type[T]:
        """Declare a value whose fields are given by name."""
else:
    value = dataclass(slots=True, unsafe_hash=True)
    fact = dataclass(slots=True, unsafe_hash=True, kw_only=True)
