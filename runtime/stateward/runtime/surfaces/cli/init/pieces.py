"""The files that are written, each as a way to put ours into a text and to take it out again.

Invariants: for every text that `put` takes, `take` gives it back byte for byte, and putting twice is putting once; a text in which ours
cannot be told from what is somebody else's is refused.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from stateward.runtime.surfaces.cli.init import blocks, json_text
from stateward.runtime.surfaces.cli.init.entries import (
    SERVER,
    VARIABLES,
    Hook,
    added_to_server,
    hook_entry,
    is_our_hook,
    is_our_server,
    kept_hook,
    server_entry,
)
from stateward.runtime.surfaces.cli.init.faults import Unsafe
from stateward.runtime.surfaces.cli.init.json_text import Node, Value

ENTRIES_MAX: Final = 1_000
"""Of ours that are looked for in one file."""
_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)\Z")
"""How the library says where a TOML file is at fault."""
_TWICE: Final = ("Cannot overwrite", "Cannot declare", "Cannot redefine", "Cannot mutate", "Duplicate")
"""How the library begins to say that something stands there twice."""
_SKILL_MARK: Final = re.compile(r"<!-- stateward:skill folders=(\d{1,2}) sha256=([0-9a-f]{64}) -->\n\Z")


class Piece(Protocol):
    """A file that is written."""

    @property
    def path(self) -> str:
        """Where it lies in the project."""
        ...

    def put(self, text: str | None, folders: int) -> str:
        """Give the text with ours in it, brought up to date; None stands for a file that is not there. Raises Unsafe.

        `folders` is how many folders have to be made for it.
        """
        ...

    def take(self, text: str) -> str | None:
        """Give the text without ours; None when nothing is left of the file. Raises Unsafe."""
        ...


# --- JSON ------------------------------------------------------------------------------------------------------------------------------


def _member(node: Node, key: str, bracket: str, name: str) -> tuple[int, Node] | None:
    """Give a member that is a container, and where it is among the others. Raises Unsafe."""
    places = node.named(key)
    if len(places) > 1:
        raise Unsafe(f"`{name}` has `{key}` twice in one object", "take one of them out")
    if not places:
        return None
    value = node.items[places[0]].value
    if value.bracket != bracket:
        raise Unsafe(f"`{key}` in `{name}` is no {'object' if bracket == '{' else 'array'}", "mend the file first")
    return places[0], value


def _root(text: str, name: str) -> Node:
    root = json_text.parsed(text, name)
    if root.bracket != "{":
        raise Unsafe(f"`{name}` holds no JSON object", "mend the file first")
    return root


def _new_file(value: Value) -> str:
    return json_text.rendered(value, json_text.Layout("\n", json_text.INDENT), "") + "\n"


@dataclass(frozen=True, slots=True)
class ServersFile:
    """`.mcp.json`: the MCP servers of a project."""

    path: str
    words: Sequence[str]

    def put(self, text: str | None, folders: int) -> str:
        """Put in our server."""
        entry = server_entry(self.words)
        if text is None:
            return _new_file({"mcpServers": {SERVER: entry}})
        root = _root(text, self.path)
        servers = _member(root, "mcpServers", "{", self.path)
        if servers is None:
            return json_text.put_in(text, root, 0, "mcpServers", {SERVER: entry})
        there = _member(servers[1], SERVER, "{", self.path)
        if there is None:
            return json_text.put_in(text, servers[1], 1, SERVER, entry)
        value = json_text.value_of(text, there[1])
        added = added_to_server(value)
        if added is None:
            raise Unsafe(f"`{self.path}` has another MCP server named `{SERVER}`", "rename that one, or take it out")
        wanted = {**value, **server_entry(self.words, added)}  # what somebody added to ours, such as variables, stays
        return text if value == wanted else json_text.replaced(text, there[1], wanted)

    def take(self, text: str) -> str | None:
        """Take out our server; one of the name that is somebody else's stays."""
        root = _root(text, self.path)
        servers = _member(root, "mcpServers", "{", self.path)
        there = None if servers is None else _member(servers[1], SERVER, "{", self.path)
        if servers is None or there is None or not is_our_server(json_text.value_of(text, there[1])):
            return text
        return json_text.taken_out(text, [(root, servers[0]), (servers[1], there[0])])


@dataclass(frozen=True, slots=True)
class HooksFile:
    """The hooks of a host: lists of groups, by event, in the member `hooks`."""

    path: str
    host: str
    words: Sequence[str]
    hooks: Sequence[Hook]

    def put(self, text: str | None, folders: int) -> str:
        """Put in each hook, and take out ours that are no longer any of these."""
        wanted = {hook.name: hook_entry(self.words, hook, self.host) for hook in self.hooks}
        if text is None:
            return _new_file({"hooks": {name: [entry] for name, entry in wanted.items()}})
        for name, entry in wanted.items():
            text = self._with(text, name, entry)
        left = self._without(text, wanted)
        assert left is not None, "what was put in just now is still there"
        return left

    def take(self, text: str) -> str | None:
        """Take out all of ours."""
        return self._without(text, {})

    def _with(self, text: str, name: str, entry: dict[str, Value]) -> str:
        root = _root(text, self.path)
        events = _member(root, "hooks", "{", self.path)
        if events is None:
            return json_text.put_in(text, root, 0, "hooks", {name: [entry]})
        groups = _member(events[1], name, "[", self.path)
        if groups is None:
            return json_text.put_in(text, events[1], 1, name, [entry])
        ours = self._ours(text, groups[1])
        if not ours:
            return json_text.put_in(text, groups[1], 2, None, entry)
        value = json_text.value_of(text, ours[0])
        wanted = _with_added(value, entry)
        return text if value == wanted else json_text.replaced(text, ours[0], wanted)

    def _without(self, text: str | None, wanted: Mapping[str, object]) -> str | None:
        """Take out what is ours, but the first of each event that is wanted."""
        for _ in range(ENTRIES_MAX):
            chain = None if text is None else self._spare(text, wanted)
            if text is None or chain is None:
                return text
            text = json_text.taken_out(text, chain)
        raise Unsafe(f"`{self.path}` has more than {ENTRIES_MAX} hooks of stateward", "take them out")

    def _spare(self, text: str, wanted: Mapping[str, object]) -> list[tuple[Node, int]] | None:
        """Find something of ours that is not wanted: the way to it."""
        root = _root(text, self.path)
        events = _member(root, "hooks", "{", self.path)
        if events is None:
            return None
        for place, event in enumerate(events[1].items):
            if event.value.bracket != "[":
                continue
            kept = 1 if event.key in wanted else 0
            start = [(root, events[0]), (events[1], place)]
            for node in self._ours(text, event.value)[kept:]:
                at = next(number for number, item in enumerate(event.value.items) if item.value is node)
                return [*start, (event.value, at)]
        return None

    def _ours(self, text: str, groups: Node) -> list[Node]:
        """Find the groups all of whose commands are ours."""
        found = []
        for item in groups.items:
            value = json_text.value_of(text, item.value)
            handlers = value.get("hooks") if isinstance(value, dict) else None
            if not isinstance(handlers, list) or not handlers:
                continue
            commands = [each.get("command") if isinstance(each, dict) else None for each in handlers]
            if all(is_our_hook(command) for command in commands):
                found.append(item.value)
            elif any(is_our_hook(command) for command in commands):
                raise Unsafe(f"`{self.path}` has a hook of stateward in one group with others", "give it a group of its own")
        return found


def _with_added(there: dict[str, Any], entry: dict[str, Value]) -> dict[str, Value]:
    """Bring the group of a hook up to date; what somebody added to it stays."""
    (handler,) = _handlers(entry)
    command = kept_hook(_handlers(there)[0]["command"], handler["command"])
    return {**there, **entry, "hooks": [{**handler, "command": command}]}


def _handlers(group: Mapping[str, Any]) -> list[dict[str, str]]:
    handlers: list[dict[str, str]] = group["hooks"]
    return handlers


# --- text with blocks ------------------------------------------------------------------------------------------------------------------


def made_folders(text: str) -> int:
    """Give how many folders were made for a file of ours; 0 where that is not said."""
    found = blocks.FOLDERS.search(text)
    return 0 if found is None else int(found[1])


@dataclass(frozen=True, slots=True)
class SectionFile:
    """A text in Markdown with a section of ours."""

    path: str
    body: str
    unless: str = ""
    """A line that makes the section needless where the rest of the text has it."""

    def put(self, text: str | None, folders: int) -> str:
        """Put in the section."""
        if text is not None and self.unless and blocks.found(text, blocks.MARKDOWN, self.path) is None and self._is_needless(text):
            return text
        return blocks.put(text, blocks.MARKDOWN.block(self.body, _kept_folders(text, folders)), blocks.MARKDOWN, self.path)

    def take(self, text: str) -> str | None:
        """Take out the section."""
        return blocks.taken(text, blocks.MARKDOWN, self.path)

    def _is_needless(self, text: str) -> bool:
        return any(line.strip() == self.unless for line in text.splitlines())


def _kept_folders(text: str | None, folders: int) -> int:
    """Give how many folders were made: what a file of ours says, or what has to be made now."""
    return folders if text is None else made_folders(text)


@dataclass(frozen=True, slots=True)
class CodexFile:
    """`.codex/config.toml`: the MCP server, as a table of its own."""

    path: str
    words: Sequence[str]

    def put(self, text: str | None, folders: int) -> str:
        """Put in our server; what the whole then says was read again."""
        if text is not None:
            rest = blocks.taken(text, blocks.TOML, self.path) or ""
            if SERVER in _table(_read(rest, self.path).get("mcp_servers")):
                raise Unsafe(f"`{self.path}` has another MCP server named `{SERVER}`", "rename that one, or take it out")
        block = blocks.TOML.block(self._table(), _kept_folders(text, folders))
        put = blocks.put(text, block, blocks.TOML, self.path)
        said = _table(_read(put, self.path, is_ours=True).get("mcp_servers"))
        if not is_our_server(said.get(SERVER)):
            raise Unsafe(f"a table cannot be put into `{self.path}` behind what is there", "write `mcp_servers` as tables")
        return put

    def take(self, text: str) -> str | None:
        """Take out our server."""
        return blocks.taken(text, blocks.TOML, self.path)

    def _table(self) -> str:
        entry = server_entry(self.words)
        passed = ", ".join(json.dumps(name) for name in VARIABLES)
        return "\n".join(
            [
                f"[mcp_servers.{SERVER}]",
                f"command = {_toml_string(str(entry['command']))}",
                f"args = [{', '.join(_toml_string(word) for word in [*self.words[1:], 'mcp'])}]",
                f"env_vars = [{passed}]",
            ]
        )


def _toml_string(text: str) -> str:
    """Write a text as a basic string of TOML, which has the escapes of JSON for what has to be escaped."""
    return json.dumps(text, ensure_ascii=False)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _read(text: str, name: str, *, is_ours: bool = False) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as problem:
        raise json_text.too_deep(name) from problem
    except ValueError as problem:  # the library's own, and what is no number of this machine
        if is_ours:
            raise Unsafe(f"a table cannot be put into `{name}` behind what is there", "write `mcp_servers` as tables") from problem
        raise Unsafe(f"`{name}` is no TOML{_where(problem)}", "mend the file first") from problem


def _where(problem: ValueError) -> str:
    """Say what is wrong and where, as far as the library says it."""
    said = str(problem)
    place = _PLACE.search(said)
    twice = ": a name is given twice" if said.startswith(_TWICE) else ""
    return twice if place is None else f"{twice}, line {place[1]} column {place[2]}"


# --- whole files -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A skill: a file that is ours as a whole, as long as nobody changed it."""

    path: str
    body: str

    def put(self, text: str | None, folders: int) -> str:
        """Write the skill; one that somebody changed stays as it is."""
        if text is not None and not self.is_ours(text):
            if not self.is_changed(text):
                raise Unsafe(f"`{self.path}` is there already, and none of stateward", "move it away")
            return text
        digest = hashlib.sha256(self.body.encode()).hexdigest()
        return f"{self.body}<!-- stateward:skill folders={_kept_folders(text, folders)} sha256={digest} -->\n"

    def take(self, text: str) -> str | None:
        """Take the skill away, unless somebody changed it."""
        return None if self.is_ours(text) else text

    def is_changed(self, text: str) -> bool:
        """Tell whether a text was written by us, and changed since."""
        return blocks.FOLDERS.search(text) is not None and not self.is_ours(text)

    def is_ours(self, text: str) -> bool:
        """Tell whether a text was written by us, and not changed since."""
        mark = _SKILL_MARK.search(text)
        return mark is not None and hashlib.sha256(text[: mark.start()].encode()).hexdigest() == mark[2]
