"""`dataclass` as in the library, for the modules that every short call of the program loads: what a value can do is made when it is used.

A process that answers one hook names far more classes of values than it makes values of, and having the library write the methods of a
class costs more than all that it then does with it. Here a class has its slots at once; its first few values are made and compared without
methods of its own, and from then on with those that the library writes.

Invariants: a class is the same to whoever uses it, to `fields`, `replace`, `match` and a type checker too; only values that are frozen and
slotted, unordered and of no other class of values are deferred, and every other is made by the library at once.
"""

from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from collections.abc import Callable
    from dataclasses import MISSING, Field, FrozenInstanceError, fields
    from dataclasses import dataclass as written_at_once

    EARLY_MAX = 32
    """Uses of a class without methods of its own."""
    _METHODS = ("__init__", "__repr__", "__eq__", "__hash__")
    _FROZEN = written_at_once(frozen=True, init=False, repr=False, eq=False)(type("Frozen", (), {"__doc__": ""})).__dataclass_params__
    """What a class says of itself to those that are made from it."""

    def dataclass(*, frozen: bool = False, slots: bool = False, kw_only: bool = False, order: bool = False) -> Callable[[type], type]:
        """Make classes of values."""
        if not (frozen and slots) or order:
            return written_at_once(frozen=frozen, slots=slots, kw_only=kw_only, order=order)
        return lambda plain: _deferred(plain, kw_only)

    def _deferred(plain: type, kw_only: bool) -> type:
        stood = dict(plain.__dict__)
        names = tuple(stood.get("__annotations__", ()))
        if not _is_simple(plain, stood):
            return written_at_once(frozen=True, slots=True, kw_only=kw_only)(plain)
        body = {name: each for name, each in stood.items() if name not in {*names, "__dict__", "__weakref__"}}
        body |= {"__slots__": names, "__match_args__": () if kw_only else names, "__dataclass_params__": _FROZEN}
        body |= {"__setattr__": _not_set, "__delattr__": _not_deleted, "__getstate__": _state, "__setstate__": _restored}
        value = _Value(stood, names, kw_only)
        body |= {name: each for name, each in value.methods().items() if stood.get(name) is None}  # a class may say some itself
        value.made = type(plain)(plain.__name__, plain.__bases__, {**body, "__dataclass_fields__": _Fields(value)})
        value.made.__qualname__ = plain.__qualname__
        return value.made

    def _is_simple(plain: type, stood: dict[str, Any]) -> bool:
        """Tell whether a class has all its fields itself, each of them given to what makes a value, and in its order."""
        if any(hasattr(base, "__dataclass_fields__") for base in plain.__bases__ if base is not object):
            return False
        for name, kind in stood.get("__annotations__", {}).items():
            default = stood.get(name)
            if isinstance(default, Field) and not (default.init and default.compare and default.kw_only is MISSING):
                return False
            if "ClassVar" in f"{kind}" or "InitVar" in f"{kind}":
                return False
        return True

    class _Value:
        """A class of values whose methods are not written yet."""

        def __init__(self, stood: dict[str, Any], names: tuple[str, ...], kw_only: bool) -> None:
            self.stood, self.names, self.kw_only = stood, names, kw_only
            self.left = EARLY_MAX
            self.made: Any = None

        def methods(self) -> dict[str, Any]:
            """Give the methods that stand in for those of the library."""

            def init(itself: Any, *arguments: Any, **named: Any) -> None:
                values = self.early(arguments, named)
                if values is None:  # what is wrong with the call, the library says
                    self.write()
                    self.made.__init__(itself, *arguments, **named)
                    return
                for name in self.names:
                    object.__setattr__(itself, name, values[name])

            def same(itself: Any, other: Any) -> bool:
                self.left -= 1
                if self.left >= 0:
                    if other.__class__ is not itself.__class__:
                        return NotImplemented
                    return self.all_of(itself) == self.all_of(other)
                self.write()
                return self.made.__eq__(itself, other)

            def hashed(itself: Any) -> int:
                self.write()
                return self.made.__hash__(itself)

            def shown(itself: Any) -> str:
                self.write()
                return self.made.__repr__(itself)

            return dict(zip(_METHODS, (init, shown, same, hashed), strict=True))

        def all_of(self, itself: object) -> tuple[Any, ...]:
            """Give what a value consists of."""
            return tuple(getattr(itself, name) for name in self.names)

        def early(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any] | None:
            """Give the values of all fields, where the call is sound and among the first."""
            self.left -= 1
            if self.left < 0 or len(arguments) > (0 if self.kw_only else len(self.names)) or "__post_init__" in self.stood:
                return None
            values = dict(zip(self.names, arguments, strict=False))
            if not values.keys().isdisjoint(named):
                return None
            values.update(named)
            for name in self.names:
                if name not in values:
                    default = self.stood.get(name, MISSING)
                    if default is MISSING or isinstance(default, Field):
                        return None
                    values[name] = default
            return values if len(values) == len(self.names) else None

        def write(self) -> None:
            """Take over what the library writes for a class of the same fields. Done twice at once, it does no harm."""
            written = written_at_once(frozen=True, kw_only=self.kw_only)(self.twin())
            for name in _METHODS:
                if self.stood.get(name) is None:
                    setattr(self.made, name, getattr(written, name))

        def twin(self) -> type:
            """Give a plain class of the same fields."""
            taken = ("__module__", "__doc__", "__annotations__", "__post_init__", *self.names)
            body = {name: self.stood[name] for name in taken if name in self.stood}
            return type(self.made.__name__, (), {**body, "__qualname__": self.made.__qualname__})

    class _Fields:
        """The fields of a class, laid out when somebody asks for them."""

        def __init__(self, value: _Value) -> None:
            self.value = value

        def __get__(self, _instance: object, _owner: type) -> Any:
            laid = written_at_once(init=False, repr=False, eq=False, kw_only=self.value.kw_only)(self.value.twin())
            self.value.made.__dataclass_fields__ = laid.__dataclass_fields__
            return laid.__dataclass_fields__

    def _not_set(_self: object, name: str, _value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _not_deleted(_self: object, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self: Any) -> list[Any]:
        return [getattr(self, each.name) for each in fields(self)]

    def _restored(self: Any, state: list[Any]) -> None:
        for each, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, each.name, value)
