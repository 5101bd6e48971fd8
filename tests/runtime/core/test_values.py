"""A class of values whose methods are written late is, to whoever uses it, the one that the library makes."""

import copy
import dataclasses
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from typing import Any

import pytest

from stateward.runtime.core import values


def classes(make: Any) -> dict[str, Any]:
    """Make the same classes with one or the other."""

    @make(frozen=True, slots=True)
    class Plain:
        """Two fields, one with a default."""

        name: str
        count: int = 3

        @property
        def told(self) -> str:
            """Both."""
            return f"{self.name} {self.count}"

    @make(frozen=True, slots=True, kw_only=True)
    class Named:
        """Given by name."""

        name: str
        parts: tuple[str, ...] = ()

    @make(frozen=True, slots=True)
    class Listed:
        """With a default that is made."""

        items: list[int] = field(default_factory=list)

    @make(frozen=True, slots=True)
    class Nothing:
        """Without fields."""

    @make(frozen=True, slots=True)
    class Checked:
        """Looks at what it is given."""

        count: int

        def __post_init__(self) -> None:
            if self.count < 0:
                raise ValueError("it is negative")

    return {each.__name__: each for each in (Plain, Named, Listed, Nothing, Checked)}


def derived(base: Any) -> Any:
    """Make another class from one."""
    return dataclasses.dataclass(frozen=True)(type("More", (base,), {"__annotations__": {"more": int}, "more": 1}))


USES: dict[str, Any] = {
    "shown": lambda of: repr(of["Plain"]("a")),
    "shown by name": lambda of: repr(of["Named"](name="a", parts=("b",))),
    "equal": lambda of: (of["Plain"]("a") == of["Plain"]("a", 3), of["Plain"]("a") == of["Plain"]("b"), of["Nothing"]() == of["Nothing"]()),
    "of another class": lambda of: of["Plain"]("a") == ("a", 3),
    "hash": lambda of: hash(of["Plain"]("a", 4)),
    "the fields": lambda of: [(each.name, each.type, each.kw_only) for name in ("Plain", "Named") for each in fields(of[name])],
    "matched by place": lambda of: (of["Plain"].__match_args__, of["Named"].__match_args__),
    "slots": lambda of: of["Plain"].__slots__,
    "without a dictionary": lambda of: hasattr(of["Plain"]("a"), "__dict__"),
    "replaced": lambda of: repr(replace(of["Plain"]("a"), count=5)),
    "made anew each time": lambda of: of["Listed"]().items is of["Listed"]().items,
    "no value of a class": lambda of: is_dataclass(of["Nothing"]),
    "a property": lambda of: of["Plain"]("a").told,
    "a copy": lambda of: repr(copy.deepcopy(of["Plain"]("a"))),
    "its words": lambda of: (of["Plain"].__doc__, of["Plain"].__qualname__, of["Plain"].__module__),
    "made from it": lambda of: repr(derived(of["Plain"])("a")),
}

REFUSED: dict[str, Any] = {
    "too many": lambda of: of["Plain"]("a", 1, 2),
    "too few": lambda of: of["Plain"](),
    "unknown": lambda of: of["Plain"]("a", other=1),
    "twice": lambda of: of["Plain"]("a", name="b"),
    "by place": lambda of: of["Named"]("a"),
    "checked": lambda of: of["Checked"](-1),
    "set": lambda of: setattr(of["Plain"]("a"), "name", "b"),
    "deleted": lambda of: delattr(of["Plain"]("a"), "name"),
    "hash of a list": lambda of: hash(of["Listed"]()),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("times", [1, 100], ids=["early", "late"])
def test_it_does_what_the_one_of_the_library_does(use: str, times: int) -> None:
    late, written = classes(values.dataclass), classes(dataclasses.dataclass)
    for _ in range(times):
        assert USES[use](written) == USES[use](late)


@pytest.mark.parametrize("use", REFUSED)
@pytest.mark.parametrize("times", [1, 100], ids=["early", "late"])
def test_it_refuses_what_the_one_of_the_library_refuses_in_its_words(use: str, times: int) -> None:
    late, written = classes(values.dataclass), classes(dataclasses.dataclass)
    for _ in range(times):
        with pytest.raises((TypeError, ValueError, FrozenInstanceError)) as wanted:
            REFUSED[use](written)
        with pytest.raises(wanted.type) as refused:
            REFUSED[use](late)
        assert str(wanted.value) == str(refused.value)


def test_a_value_made_early_equals_one_made_late() -> None:
    made = classes(values.dataclass)["Plain"]
    first = made("a")
    last = [made("a") for _ in range(100)][-1]
    assert first == last
    assert hash(first) == hash(last)
    assert {first} == {first, last}
