"""Claude Code: what its hooks send, and what its transcript holds.

As documented at code.claude.com/docs/en/hooks: one object on standard input with `session_id`, `transcript_path`, `cwd` and
`hook_event_name`, inside a sub-agent `agent_id` too, and the members of the event. A tool that worked is told of by `PostToolUse` with
`tool_response`, one that failed by `PostToolUseFailure` with `error`. Clearing a session ends it (`SessionEnd`, reason `clear`) and starts
another one with an id of its own (`SessionStart`, source `clear`); compacting keeps the id. The transcript is a file with an object a line,
whose lines of type `assistant` and `user` hold a message in blocks: text, `tool_use` with `id`, `tool_result` with `tool_use_id`.

What the user typed is taken from the hook, not from the transcript, whose lines of type `user` also hold what the host itself put there.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from stateward.runtime.surfaces.hooks.calls import HookCall, HookEvent, Host, Part
from stateward.runtime.surfaces.hooks.reading import Form, digest, flag_in, id_in, inner, read_call
from stateward.runtime.surfaces.hooks.scanning import elements_of, members_of, text_in

_FORM: Final = Form(
    names={
        HookEvent.SESSION_START: frozenset({"SessionStart"}),
        HookEvent.USER_PROMPT: frozenset({"UserPromptSubmit"}),
        HookEvent.PRE_TOOL: frozenset({"PreToolUse"}),
        HookEvent.POST_TOOL: frozenset({"PostToolUse", "PostToolUseFailure"}),
        HookEvent.STOP: frozenset({"Stop"}),
        HookEvent.PRE_COMPACT: frozenset({"PreCompact"}),
        HookEvent.SESSION_END: frozenset({"SessionEnd"}),
    },
    results=("tool_response", "error", "is_interrupt"),
    prompt="prompt_id",
)


def read(event: HookEvent, members: Mapping[str, str]) -> HookCall:
    """Read what a hook is sent. Raises HookProblem and Unreadable."""
    return read_call(event, members, _FORM)


def line(text: str) -> tuple[Part, ...]:
    """Read a line of a transcript. Raises Unreadable."""
    members = members_of(text)
    kind = text_in(members, "type")
    if kind not in {"assistant", "user"}:
        return ()
    content = inner(members, "message").get("content", "")
    if not content.startswith("["):  # what was typed
        return ()
    agent = id_in(members, "agentId") if flag_in(members, "isSidechain") else ""
    message = id_in(members, "uuid") or digest(text)
    return tuple(part for place, block in enumerate(elements_of(content)) for part in _block(kind, block, f"{message}", place, agent))


def _block(kind: str, text: str, message: str, place: int, agent: str) -> Iterator[Part]:
    if not text.startswith("{"):
        return
    members = members_of(text)
    match kind, text_in(members, "type"):
        case "assistant", "text":
            yield Part("assistant_message", text, message, f"text {place}", agent=agent)
        case "assistant", "tool_use":
            yield Part("tool_call", text, id_in(members, "id") or message, "call", id_in(members, "name"), agent)
        case "user", "tool_result":
            yield Part("tool_result", text, id_in(members, "tool_use_id") or message, "result", agent=agent)


CLAUDE: Final = Host("claude", read, line)
