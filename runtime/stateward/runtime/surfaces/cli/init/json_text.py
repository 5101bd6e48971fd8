"""JSON as text that is edited in place: where its values lie, and how a member or element is put in and taken out again.

Invariants: what is not ours stays byte for byte; taking out what was put in gives the text as it was. What tells then whether a
container was made by us or was there and empty is the white space behind its opening bracket: we write some into those we make, and none
into one that was there. A text that is no JSON is never edited.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

from stateward.runtime.surfaces.cli.init.faults import Unsafe

DEPTH_MAX: Final = 64
DIGITS_MAX: Final = 1_000
INDENT: Final = "  "
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR: Final = re.compile(r"[^ \t\r\n,:\[\]{}\"]+")
_COMMENT: Final = re.compile(r"//|/\*|#")

Value: TypeAlias = "str | int | bool | list[Value] | dict[str, Value]"
"""What is put in."""


@dataclass(frozen=True, slots=True)
class Item:
    """A member of an object, or an element of an array."""

    key: str | None
    start: int
    """Where the key begins; of an element, where it begins itself."""
    value: "Node"


@dataclass(frozen=True, slots=True)
class Node:
    """A value: where it lies, and what lies in it."""

    start: int
    end: int
    bracket: str
    """`{` or `[`; empty for anything else."""
    items: tuple[Item, ...] = ()

    def named(self, key: str) -> list[int]:
        """Give where members of a key lie among the items."""
        return [place for place, item in enumerate(self.items) if item.key == key]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text is laid out."""

    newline: str
    unit: str | None
    """One step of indentation; None where all stands on one line."""


def parsed(text: str, name: str) -> Node:
    """Find the values of a text. Raises Unsafe when it is no JSON."""
    if not text.strip():
        raise Unsafe(f"`{name}` is empty, which is no JSON", "write `{}` into it, or take it away")
    try:
        json.loads(text, parse_constant=_refuse_constant, parse_int=_number)
    except json.JSONDecodeError as problem:
        if _COMMENT.match(text, problem.pos):
            raise Unsafe(f"`{name}` has a comment in line {problem.lineno}, which JSON has not", "take the comments out") from problem
        message = f"`{name}` is no JSON from line {problem.lineno} column {problem.colno} on"
        raise Unsafe(message, "mend the file first") from problem
    except RecursionError as problem:
        raise too_deep(name) from problem
    except _NoValue as problem:
        raise Unsafe(f"`{name}` is no JSON that is read everywhere: {problem}", "mend the file first") from problem
    return _value(text, _SPACE.match(text).end(), 0, name)  # type: ignore[union-attr]  # it matches everywhere


class _NoValue(ValueError):
    """A constant is none that JSON has."""


def _refuse_constant(constant: str) -> NoReturn:
    raise _NoValue(f"`{constant}` is no value")


def _number(digits: str) -> int | str:
    """Take a number; one that is too long for a number of ours as it is written."""
    return int(digits) if len(digits) <= DIGITS_MAX else digits


def value_of(text: str, node: Node) -> Any:
    """Give a value of a text that is known to be JSON."""
    return json.loads(text[node.start : node.end], parse_int=_number)


def too_deep(name: str) -> Unsafe:
    """Say that a file is nested too deep."""
    return Unsafe(f"`{name}` is nested more than {DEPTH_MAX} deep", "keep it flatter")


def _value(text: str, at: int, depth: int, name: str) -> Node:
    """Find a value of a text that is known to be JSON."""
    if depth > DEPTH_MAX:
        raise too_deep(name)
    if text[at] in "{[":
        return _container(text, at, depth, name)
    found = (_STRING if text[at] == '"' else _SCALAR).match(text, at)
    assert found is not None
    return Node(at, found.end(), "")


def _container(text: str, at: int, depth: int, name: str) -> Node:
    closing = "}" if text[at] == "{" else "]"
    items: list[Item] = []
    here = _after_space(text, at + 1)
    while text[here] != closing:
        if text[here] == ",":
            here = _after_space(text, here + 1)
        item = _item(text, here, depth, name, is_member=closing == "}")
        items.append(item)
        here = _after_space(text, item.value.end)
    return Node(at, here + 1, text[at], tuple(items))


def _item(text: str, at: int, depth: int, name: str, *, is_member: bool) -> Item:
    if not is_member:
        return Item(None, at, _value(text, at, depth + 1, name))
    found = _STRING.match(text, at)
    assert found is not None
    colon = _after_space(text, found.end())
    return Item(json.loads(found[0]), at, _value(text, _after_space(text, colon + 1), depth + 1, name))


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


# --- putting in ------------------------------------------------------------------------------------------------------------------------


def layout_of(text: str, root: Node) -> Layout:
    """Tell how a text is laid out, by its first line end and its first member."""
    first = text.find("\n")
    newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    if not root.items:
        return Layout(newline, INDENT)
    before = text[root.start + 1 : root.items[0].start]
    return Layout(newline, before.rpartition("\n")[2] or INDENT if "\n" in before else None)


def put_in(text: str, into: Node, depth: int, key: str | None, value: Value) -> str:
    """Put a member or an element behind all others of a container, which lies so deep (the root: 0)."""
    layout = layout_of(text, _value(text, _after_space(text, 0), 0, ""))
    space = _space_before_last(text, into, depth, layout)
    indent = space.rpartition("\n")[2] if "\n" in space else (layout.unit or "") * (depth + 1)
    said = ("" if key is None else json.dumps(key) + ": ") + rendered(value, layout, indent)
    if not into.items:
        return text[: into.start + 1] + said + text[into.start + 1 :]
    end = into.items[-1].value.end
    return f"{text[:end]},{space}{said}{text[end:]}"


def _space_before_last(text: str, into: Node, depth: int, layout: Layout) -> str:
    """Give the space that stands before the last item, which the next one gets too."""
    if not into.items:
        return ""
    start = into.items[-1].start
    space = text[len(text[:start].rstrip(" \t\r\n")) : start]
    if space:
        return space
    return " " if layout.unit is None else layout.newline + layout.unit * (depth + 1)


def rendered(value: Value, layout: Layout, indent: str) -> str:
    """Write a value down; containers that are not empty have white space behind their bracket."""
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value)
    inner = indent + (layout.unit or "")
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {rendered(each, layout, inner)}" for key, each in value.items()]
    else:
        parts = [rendered(each, layout, inner) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if layout.unit is None:
        return f"{opening} {', '.join(parts)} {closing}"
    step = layout.newline + inner
    return f"{opening}{step}{f',{step}'.join(parts)}{layout.newline}{indent}{closing}"


def replaced(text: str, node: Node, value: Value) -> str:
    """Put another value in the place of one."""
    layout = layout_of(text, _value(text, _after_space(text, 0), 0, ""))
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    indent = line[: len(line) - len(line.lstrip(" \t"))] if layout.unit is not None else ""
    return text[: node.start] + rendered(value, layout, indent) + text[node.end :]


# --- taking out ------------------------------------------------------------------------------------------------------------------------


def taken_out(text: str, chain: list[tuple[Node, int]]) -> str | None:
    """Take an item out, and the containers around it that were made for it and hold nothing else.

    The chain leads from the root to the item: containers, and where in each the way goes on. None when the whole text was made for it.
    """
    container, place = chain[-1]
    item = container.items[place]
    if len(container.items) > 1:
        if place == 0:
            return text[: item.start] + text[container.items[1].start :]
        return text[: container.items[place - 1].value.end] + text[item.value.end :]
    if container.start + 1 == item.start:  # it was there before, and empty
        return text[: item.start] + text[item.value.end :]
    if len(chain) > 1:
        return taken_out(text, chain[:-1])
    if container.start == 0 and text[container.end :] in {"\n", "\r\n"}:
        return None
    return text[: container.start] + "{}" + text[container.end :]
