"""An entry as a verifier reads it: its payload as lines of text, the tool it is of, and what of it is not shown.

Invariants: nothing that a payload says moves the entry to another kind or class; JSON is shown member by member with its numbers as they
were written, and a text of several lines stands behind a bar on each, so that no text can pass for a member; system messages and hidden
reasoning are left out, and that they are is told; every character can be seen; what cannot be shown so is shown as it came.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from stateward.runtime.session.entries import Entry, Kind
from stateward.runtime.session.visible import visible

OUTLINE_MARKS_MAX: Final = 400_000
"""Commas, colons and brackets of one payload; with more it is not read as JSON, which would take long, and is shown as it came."""
OUTLINE_LINES_MAX: Final = 100_000
"""Lines that the members of one payload make; with more it is shown as it came."""
OUTLINE_DEPTH_MAX: Final = 64
"""Values within values; with more it is shown as it came."""

NOT_TEXT: Final = "bytes that are no UTF-8 are shown as U+FFFD"
PARTLY_HIDDEN: Final = "a system message or hidden reasoning in it is not shown"
COPIED: Final = "it holds copies of earlier entries, which are shown under their own references"
UNREAD: Final = "it is too large to be told apart from hidden reasoning, and not shown"
HIDDEN: Final = "it is a system message or hidden reasoning, which is not shown"

_HIDDEN_KINDS: Final = frozenset({"system_message", "system_prompt", "reasoning", "thinking"})
"""Kinds of entries of other programs."""
_HIDDEN_TYPES: Final = frozenset({"thinking", "redacted_thinking", "reasoning", "system"})
_HIDDEN_ROLES: Final = frozenset({"system", "developer"})
_HIDDEN_MEMBERS: Final = frozenset(
    {"thinking", "reasoning", "reasoning_content", "reasoning_details", "encrypted_content", "redacted_thinking"}
)

_TOOL: Final = ("tool_name", "tool", "name")
_USE: Final = ("tool_use_id", "tool_call_id", "call_id", "use", "id")
_INPUT: Final = ("tool_input", "input", "arguments", "params")
_COMMAND: Final = ("command", "cmd")
_STATUS: Final = ("exit_status", "exit_code", "exitStatus", "exitCode", "exit", "returncode", "return_code", "returnCode")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_$-]{1,64}")


class _Number(str):
    """A number, or another bare word of JSON, as it was written."""

    __slots__ = ()


_Json: TypeAlias = "_Object | list[_Json] | str | bool | None"


@dataclass(frozen=True, slots=True)
class _Object:
    members: tuple[tuple[str, _Json], ...]
    """As written, repeated names too."""

    def get(self, names: Sequence[str]) -> _Json:
        """Give the first member of one of these names."""
        return next((value for name in names for own, value in self.members if own == name), None)


@dataclass(frozen=True, slots=True)
class EntryText:
    """What an entry says."""

    given: str = ""
    """What a tool was given."""
    result: str = ""
    """Everything else."""
    tool: str = ""
    """As the host names it; foreign text, as are `use` and `command`."""
    use: str = ""
    """The id by which a call and its result belong together."""
    command: str | Sequence[str] | None = None
    """The command that the tool was to run, where it is one that runs commands."""
    has_status: bool = False
    """Whether it tells an exit status."""
    notices: tuple[str, ...] = ()
    withheld: str = ""
    """Why nothing of it is shown; empty when it is."""

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(filter(None, (self.given, self.result)))


def text_of(entry: Entry) -> EntryText:
    """Read an entry's payload."""
    if entry.kind in _HIDDEN_KINDS:
        return EntryText(withheld=HIDDEN)
    if entry.kind == Kind.INHERITED:
        return EntryText(withheld=COPIED)
    raw = entry.payload.decode("utf-8", "replace")
    notices = () if raw.encode("utf-8", "replace") == entry.payload else (NOT_TEXT,)
    is_message = entry.kind == Kind.ASSISTANT_MESSAGE
    try:
        value = _parsed(raw)
    except _TooMuch:
        return EntryText(withheld=UNREAD) if is_message else EntryText(result=_lines_shown(raw), notices=notices)
    if value is None:
        return EntryText(result=_lines_shown(raw), notices=notices)
    if not is_message:
        return replace(_described(value, entry.kind, raw), notices=notices)
    return EntryText(withheld=HIDDEN) if _is_hidden(value) else _message(value, raw, notices)


def _message(value: _Object | list[_Json], raw: str, notices: tuple[str, ...]) -> EntryText:
    left = _without_hidden(value)
    assert isinstance(left, _Object | list)  # as what it was taken out of
    if left == value:
        return replace(_described(value, Kind.ASSISTANT_MESSAGE, raw), notices=notices)
    read = replace(_described(left, Kind.ASSISTANT_MESSAGE, ""), notices=(*notices, PARTLY_HIDDEN))
    return read if read.text and _inner(left) else EntryText(withheld=HIDDEN)


# --- reading ------------------------------------------------------------------------------------------------------------------------


class _TooMuch(Exception):
    """A payload that may be JSON has too many members, or is nested too deep."""


def _parsed(raw: str) -> _Object | list[_Json] | None:
    """Read a payload as JSON; None when it is none, or nothing but a single value. Raises _TooMuch."""
    if not raw.lstrip().startswith(("{", "[")):
        return None
    if sum(map(raw.count, ",:[{")) > OUTLINE_MARKS_MAX:
        raise _TooMuch
    try:
        value = json.loads(
            raw, object_pairs_hook=lambda pairs: _Object(tuple(pairs)), parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )
    except ValueError:
        return None
    except RecursionError:
        raise _TooMuch from None
    assert isinstance(value, _Object | list)  # as it begins
    if _depth(value) > OUTLINE_DEPTH_MAX:
        raise _TooMuch
    return value


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level and depth <= OUTLINE_DEPTH_MAX:
        depth += 1
        level = [inner for each in level for inner in _inner(each)]
    return depth


def _inner(value: object) -> Sequence[object]:
    match value:
        case _Object(members):
            return [inner for _, inner in members]
        case list():
            return value
    return ()


def _is_hidden(value: _Json) -> bool:
    if not isinstance(value, _Object):
        return False
    return _word(value.get(("type",))) in _HIDDEN_TYPES or _word(value.get(("role",))) in _HIDDEN_ROLES


def _word(value: _Json) -> str:
    return value if isinstance(value, str) else ""


def _without_hidden(value: _Json) -> _Json:
    """Take system messages and hidden reasoning out of a message."""
    match value:
        case _Object(members):
            kept = ((name, inner) for name, inner in members if name not in _HIDDEN_MEMBERS and not _is_hidden(inner))
            return _Object(tuple((name, _without_hidden(inner)) for name, inner in kept))
        case list():
            return [_without_hidden(each) for each in value if not _is_hidden(each)]
    return value


def _described(value: _Object | list[_Json], kind: str, raw: str) -> EntryText:
    """Say what a payload holds; `raw` is how it came, for where it has too many members, and empty where that must not be shown."""
    if not isinstance(value, _Object) or not value.members:
        return EntryText(result=_outlined(value, raw))
    is_call = kind == Kind.TOOL_CALL
    given = _Object(tuple(each for each in value.members if is_call or each[0] in _INPUT))
    rest = _Object(tuple(each for each in value.members if not is_call and each[0] not in _INPUT))
    split = [_outlined(each, "") if each.members else "" for each in (given, rest)]
    fits = all(split[place] for place, each in enumerate((given, rest)) if each.members)
    return EntryText(
        given=split[0] if fits else "",
        result=split[1] if fits else _lines_shown(raw),
        tool=_word(value.get(_TOOL)),
        use=_word(value.get(_USE)),
        command=_command(value),
        has_status=_has_status(rest),
    )


def _command(value: _Object) -> str | Sequence[str] | None:
    given = value.get(_INPUT)
    if isinstance(given, str):
        given = _arguments(given)
    for place in (given, value):
        found = place.get(_COMMAND) if isinstance(place, _Object) else None
        if isinstance(found, str):
            return found
        if isinstance(found, list) and found and all(isinstance(each, str) for each in found):
            return [str(each) for each in found]
    return None


def _arguments(text: str) -> _Json:
    """Read arguments that were recorded as a text."""
    try:
        return _parsed(text)
    except _TooMuch:
        return None


def _has_status(value: _Object) -> bool:
    """Tell whether an exit status stands in a payload, or in an object in it."""
    places = [value, *(inner for _, inner in value.members if isinstance(inner, _Object))]
    return any(isinstance(place.get(_STATUS), _Number) for place in places)


# --- showing ------------------------------------------------------------------------------------------------------------------------


def _lines_shown(raw: str) -> str:
    return visible(raw.replace("\r\n", "\n"))


def _outlined(value: _Object | list[_Json], raw: str) -> str:
    """Show a value line by line, or how it came where the lines are too many."""
    lines: list[str] = []
    for line in _outline(value, ""):
        lines.append(line)
        if len(lines) > OUTLINE_LINES_MAX:
            return _lines_shown(raw)
    return "\n".join(lines)


def _outline(value: _Json, path: str) -> Iterator[str]:
    match value:
        case _Object(members) if members:
            for name, inner in members:
                yield from _outline(inner, f"{path}.{_name(name)}" if path else _name(name))
        case list() if value:
            for index, inner in enumerate(value):
                yield from _outline(inner, f"{path}[{index}]")
        case _:
            yield from _value(value, path)


def _value(value: _Json, path: str) -> Iterator[str]:
    text = _bare(value)
    if text is not None:
        yield f"{path} = {text}" if path else text
        return
    lines = _lines_shown(str(value)).split("\n")
    if len(lines) == 1:
        yield f"{path}: {lines[0]}"
    else:
        yield f"{path}:"
        yield from (f"  | {line}" for line in lines)


def _bare(value: _Json) -> str | None:
    """Show what is no text; None for a text."""
    match value:
        case _Object():
            return "{}"
        case list():
            return "[]"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _Number():
            return str(value)
    return None


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else visible(json.dumps(name, ensure_ascii=False))
