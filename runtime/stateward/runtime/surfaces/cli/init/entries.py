"""What is written into the files of hosts: the commands, and by what they are known again as ours.

Invariants: a command is words, quoted so that a shell takes each as it is; no entry holds a secret, only names of variables. An entry is
ours when its command is one that this file could have written: a program whose name has `stateward` in it, and our arguments.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from stateward.runtime.surfaces.cli.init.faults import Unsafe
from stateward.runtime.surfaces.cli.init.json_text import Value

SERVER: Final = "stateward"
"""The name of the MCP server, which is in the names of its tools."""
PROGRAM: Final = "stateward"
WORDS_MAX: Final = 32
COMMAND_CHARS_MAX: Final = 2_000
EVENTS: Final = frozenset({"session-start", "user-prompt", "pre-tool", "post-tool", "stop", "pre-compact", "session-end"})
VARIABLES: Final = ("STATEWARD_SERVER", "STATEWARD_STORE", "STATEWARD_TOKEN", "STATEWARD_TOKEN_FILE", "STATEWARD_WORKER")
"""What Codex passes on from its own environment: names, never values."""
TRANSITION_TOOL: Final = f"mcp__{SERVER}__request_flow_transition"
_HOOK_WORDS: Final = 4


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook of a host."""

    name: str
    """As the host calls the event."""
    event: str
    """As `stateward hook` does."""
    seconds: int
    """How long it may take."""
    matcher: str = ""
    """For which tools; empty for all."""


CLAUDE_HOOKS: Final = (
    Hook("SessionStart", "session-start", 30),
    Hook("UserPromptSubmit", "user-prompt", 30),
    Hook("PreToolUse", "pre-tool", 60, TRANSITION_TOOL),
    Hook("PostToolUse", "post-tool", 30),
    Hook("PostToolUseFailure", "post-tool", 30),
    Hook("Stop", "stop", 60),
    Hook("PreCompact", "pre-compact", 60),
    Hook("SessionEnd", "session-end", 60),
)
CODEX_HOOKS: Final = (
    Hook("SessionStart", "session-start", 30),
    Hook("UserPromptSubmit", "user-prompt", 30),
    Hook("PreToolUse", "pre-tool", 60, f"^{TRANSITION_TOOL}$"),
    Hook("PostToolUse", "post-tool", 30),
    Hook("Stop", "stop", 60),
    Hook("PreCompact", "pre-compact", 60),
)


def words_of(command: str) -> tuple[str, ...]:
    """Split what somebody says as the command. Raises Unsafe when hosts and shells would not take it as it is."""
    if len(command) > COMMAND_CHARS_MAX or not command.isprintable():
        raise Unsafe("the command is too long, or has a character that cannot be seen", "name a program, with arguments at most")
    try:
        words = tuple(shlex.split(command))
    except ValueError as problem:
        raise Unsafe(f"the command cannot be split into words: {problem}", "quote it as for a shell") from problem
    if not 1 <= len(words) <= WORDS_MAX or not words[0]:
        raise Unsafe(f"the command has to have 1 to {WORDS_MAX} words", "name a program, with arguments at most")
    if any("$" in word or "`" in word for word in words):
        raise Unsafe("the command has a `$` or a backtick, which hosts expand each in their own way", "write out what it stands for")
    if not _names_us(words):
        raise Unsafe("the command names no program `stateward`, by which its entries are found again", "give a wrapper such a name")
    return words


def _names_us(words: Sequence[str]) -> bool:
    return any(PROGRAM in PurePath(word).name for word in words)


def hook_command(words: Sequence[str], hook: Hook, host: str) -> str:
    """Give the command of a hook, for a shell."""
    return shlex.join([*words, "hook", hook.event, "--format", host])


def is_our_hook(command: object) -> bool:
    """Tell whether a command is one of our hooks, with whatever options somebody added."""
    return isinstance(command, str) and _added_to_hook(command) is not None


def _added_to_hook(command: str) -> list[str] | None:
    """Give the words that stand behind ours in the command of a hook; None when it is none of ours."""
    if len(command) > 2 * COMMAND_CHARS_MAX:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    for at in range(1, len(words) - 3):
        if words[at] == "hook" and words[at + 1] in EVENTS and words[at + 2] == "--format" and _names_us(words[:at]):
            return words[at + _HOOK_WORDS :]
    return None


def kept_hook(there: str, wanted: str) -> str:
    """Give the command of a hook, brought up to date, with the options that somebody added to the one that is there."""
    added = _added_to_hook(there) or []
    words = [*shlex.split(wanted), *added]
    return there if shlex.split(there) == words else shlex.join(words)


def is_our_server(value: object) -> bool:
    """Tell whether the entry of an MCP server is ours, with whatever arguments somebody added."""
    return added_to_server(value) is not None


def added_to_server(value: object) -> list[Value] | None:
    """Give the arguments that stand behind ours in the entry of an MCP server; None when it is none of ours."""
    if not isinstance(value, Mapping):
        return None
    command, arguments = value.get("command"), value.get("args")
    if not isinstance(command, str) or not isinstance(arguments, list) or "mcp" not in arguments:
        return None
    at = arguments.index("mcp")
    return arguments[at + 1 :] if _names_us([command, *(each for each in arguments[:at] if isinstance(each, str))]) else None


def server_entry(words: Sequence[str], added: Sequence[Value] = ()) -> dict[str, Value]:
    """Give the entry of our MCP server in JSON, with arguments that somebody added."""
    return {"type": "stdio", "command": words[0], "args": [*words[1:], "mcp", *added]}


def hook_entry(words: Sequence[str], hook: Hook, host: str) -> dict[str, Value]:
    """Give the entry of a hook."""
    handler: dict[str, Value] = {"type": "command", "command": hook_command(words, hook, host), "timeout": hook.seconds}
    return {**({"matcher": hook.matcher} if hook.matcher else {}), "hooks": [handler]}
