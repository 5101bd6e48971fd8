"""What a host says when it calls a hook, in the one form that the rest of this package knows, and what may be answered.

Invariants: which tools are stateward's own is told by their name alone, under every name that a host gives to the tools of an MCP server;
answers have no member that a host does not document for the event.
"""

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

TRANSITION_TOOL: Final = "request_flow_transition"
_OWN: Final = re.compile(r"mcp__(?:plugin_.*_)?stateward(?:__(.*))?", re.DOTALL)
"""As the hosts name the tools of an MCP server `stateward`, configured by itself or brought by a plugin."""


class HookProblem(ValueError):
    """What came is no call of this hook; the text is one line that says why."""


class HookEvent(StrEnum):
    """When a host calls."""

    SESSION_START = "session-start"
    USER_PROMPT = "user-prompt"
    PRE_TOOL = "pre-tool"
    POST_TOOL = "post-tool"
    STOP = "stop"
    PRE_COMPACT = "pre-compact"
    SESSION_END = "session-end"


class Part(NamedTuple):
    """Something that happened, as the host wrote it down."""

    kind: str
    """`assistant_message`, `tool_call`, `tool_result` or `note`."""
    payload: str
    """JSON as it was written."""
    use: str
    """The id of the tool's use, or of the message; empty where the host gives it none."""
    part: str
    tool: str = ""
    """The name of the tool that is called, or whose result it is, where that is said."""
    agent: str = ""
    """The id of the sub-agent that it is of."""

    @property
    def is_act(self) -> bool:
        """Whether something was done, and not only said."""
        return self.kind in {"tool_call", "tool_result"}


class HookCall(NamedTuple):
    """One call of a hook."""

    event: HookEvent
    session: str
    folder: str
    """Where the session works."""
    transcript: str = ""
    """The path of its transcript; empty where the host names none."""
    agent: str = ""
    """The id of the sub-agent that it is of; empty for the agent itself."""
    source: str = ""
    """How a session began: `startup`, `resume`, `clear` or `compact`."""
    reason: str = ""
    """Why a session ended."""
    is_kept_on: bool = False
    """Whether the agent goes on only because a hook kept it from stopping."""
    tool: str = ""
    parts: tuple[Part, ...] = ()
    """What happened."""


class Host(NamedTuple):
    """A harness of agents: how it writes, and how it is answered."""

    name: str
    read: Callable[[HookEvent, Mapping[str, str]], HookCall]
    """Reads what it sends. Raises HookProblem or Unreadable."""
    line: Callable[[str], tuple[Part, ...]]
    """Reads a line of its transcript; nothing for one that tells of nothing that is recorded. Raises Unreadable."""


def own_tool(name: str) -> str | None:
    """Give the name under which stateward offers a tool, where it is one of its own; None for any other."""
    found = _OWN.fullmatch(name)
    return None if found is None else found[1] or ""


# --- answering: both hosts document the same forms, and neither takes a member that the event does not have -------------------------


def context(event: str, text: str) -> str:
    """Tell the agent something."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def block(text: str) -> str:
    """Keep the agent from stopping, and tell it why."""
    return json.dumps({"decision": "block", "reason": text})


def deny(text: str) -> str:
    """Refuse the call of a tool, and tell the agent why."""
    refused = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": text}
    return json.dumps({"hookSpecificOutput": refused})


def warn(text: str) -> str:
    """Tell the user something; everything goes on."""
    return json.dumps({"systemMessage": text})
