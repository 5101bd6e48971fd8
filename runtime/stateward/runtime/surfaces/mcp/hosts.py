"""Who calls, as hosts tell it of their own accord: in the environment of a server that they start, and beside a call.

Claude Code gives a server the id of the session for which it was started; after `/clear` that is the session before. Codex names, in
`_meta` of each call of a tool, the session as its hooks do, and the thread, which in a sub-agent is one of its own. Invariant: what a host
says chooses among the Workers of the machine and is noted; it opens nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX

CLAUDE_SESSION: Final = "CLAUDE_CODE_SESSION_ID"
CODEX_TURN: Final = "x-codex-turn-metadata"
SUB_AGENT: Final = ("agent_id", "agentId", "subagent_id", "subagentId", "claudecode/agentId", "parent_agent_id")
"""Names under which hosts tell, beside a call, that it is of a sub-agent."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. Each of the texts is empty where nothing is known."""

    host: str = ""
    """`claude` or `codex`, as hooks name them."""
    session: str = ""
    sub_agent: str = ""


def caller_of(meta: Mapping[str, Any] | None, environment: Mapping[str, str]) -> Caller:
    """Give who calls. What stands beside the call counts more than the environment, which one host hands on to another."""
    beside = meta or {}
    named = next((str(beside[each]) for each in SUB_AGENT if beside.get(each)), "")
    turn = beside.get(CODEX_TURN)
    if isinstance(turn, Mapping) and (session := _id(turn.get("session_id"))):
        thread = _id(turn.get("thread_id"))
        is_other = turn.get("thread_source") == "subagent" or (thread and thread != session)
        return Caller("codex", session, named or (thread or "a thread" if is_other else ""))
    session = _id(environment.get(CLAUDE_SESSION))
    return Caller("claude" if session else "", session, named)


def _id(value: object) -> str:
    """Take an id; empty for what is none that a log could hold."""
    usable = isinstance(value, str) and value.isascii() and value.isprintable() and len(value) <= HEADER_TEXT_BYTES_MAX
    return str(value) if usable else ""
