"""What a worker was told, read from its log."""

from typing import TYPE_CHECKING

from stateward.runtime.engine.folding import payload_of
from stateward.runtime.engine.keys import resolution_key
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.payloads import ToolResult

if TYPE_CHECKING:
    from stateward.runtime.ports import SessionStore


def stored_answer(sessions: "SessionStore", worker: str, attempt: str) -> Answer | None:
    """Give what was told of an attempt; None when it was never resolved."""
    entry = sessions.find(worker, resolution_key(attempt))
    if entry is None:
        return None
    payload = payload_of(entry)
    assert isinstance(payload, ToolResult)  # the key is given to nothing else
    return payload.content
