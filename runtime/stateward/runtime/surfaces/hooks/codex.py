"""Codex CLI: what its hooks send, and what its transcript holds.

As the schemas say that it publishes with its source (codex-rs/hooks/schema): the members of Claude Code's hooks, and besides `model`,
`permission_mode` and, in events of a turn, `turn_id`; `transcript_path` may be null; a command that failed is told of by `PostToolUse`, as
one that worked; answers with a member that the event does not have are refused. Its transcript, the rollout, has on each line a `type` and
a `payload`: of type `response_item` are messages by `role`, calls and their outputs by `call_id`, which hooks name `tool_use_id`.
Messages have no id there and go by a digest of their line.
"""

from collections.abc import Mapping
from typing import Final

from stateward.runtime.surfaces.hooks.calls import HookCall, HookEvent, Host, Part
from stateward.runtime.surfaces.hooks.reading import Form, digest, id_in, inner, read_call
from stateward.runtime.surfaces.hooks.scanning import members_of, text_in

_FORM: Final = Form(
    names={
        HookEvent.SESSION_START: frozenset({"SessionStart"}),
        HookEvent.USER_PROMPT: frozenset({"UserPromptSubmit"}),
        HookEvent.PRE_TOOL: frozenset({"PreToolUse"}),
        HookEvent.POST_TOOL: frozenset({"PostToolUse"}),
        HookEvent.STOP: frozenset({"Stop"}),
        HookEvent.PRE_COMPACT: frozenset({"PreCompact"}),
        HookEvent.SESSION_END: frozenset({"SessionEnd"}),
    },
    results=("tool_response",),
    prompt="turn_id",
)
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})


def read(event: HookEvent, members: Mapping[str, str]) -> HookCall:
    """Read what a hook is sent. Raises HookProblem and Unreadable."""
    return read_call(event, members, _FORM)


def line(text: str) -> tuple[Part, ...]:
    """Read a line of a transcript. Raises Unreadable."""
    members = members_of(text)
    if text_in(members, "type") != "response_item":
        return ()
    item, raw = inner(members, "payload"), members["payload"]
    kind = text_in(item, "type")
    if kind == "message" and text_in(item, "role") == "assistant":
        return (Part("assistant_message", raw, digest(text), "text 0"),)
    use = id_in(item, "call_id") or digest(text)
    if kind in _CALLS:
        return (Part("tool_call", raw, use, "call", _tool(item)),)
    if kind in _OUTPUTS:
        return (Part("tool_result", raw, use, "result"),)
    return ()


def _tool(item: Mapping[str, str]) -> str:
    """Give the whole name of a tool: those of an MCP server stand under a namespace of their own in newer versions."""
    namespace, name = id_in(item, "namespace"), id_in(item, "name")
    return f"{namespace.removesuffix('__')}__{name}" if namespace else name


CODEX: Final = Host("codex", read, line)
