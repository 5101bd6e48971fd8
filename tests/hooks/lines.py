"""Lines of transcripts, as the hosts write them."""

import json
from collections.abc import Mapping
from typing import Any

Line = Mapping[str, Any]


def claude_said(uuid: str, text: str, **more: Any) -> Line:
    return _claude("assistant", uuid, {"type": "text", "text": text}, **more)


def claude_called(uuid: str, use: str, tool: str, given: Any, **more: Any) -> Line:
    return _claude("assistant", uuid, {"type": "tool_use", "id": use, "name": tool, "input": given}, **more)


def claude_came(uuid: str, use: str, content: str, *, failed: bool = False) -> Line:
    return _claude("user", uuid, {"type": "tool_result", "tool_use_id": use, "content": content, "is_error": failed})


def _claude(kind: str, uuid: str, *blocks: Line, **more: Any) -> Line:
    message = {"role": kind, "content": list(blocks)}
    return {"parentUuid": None, "isSidechain": False, "type": kind, "message": message, "uuid": uuid, "timestamp": uuid, **more}


def claude_typed(uuid: str, text: str) -> Line:
    return {"type": "user", "message": {"role": "user", "content": text}, "uuid": uuid, "isSidechain": False}


def codex_said(time: str, text: str) -> Line:
    return _codex(time, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})


def codex_called(time: str, use: str, tool: str, given: Any) -> Line:
    return _codex(time, {"type": "function_call", "name": tool, "arguments": json.dumps(given), "call_id": use})


def codex_came(time: str, use: str, content: str) -> Line:
    return _codex(time, {"type": "function_call_output", "call_id": use, "output": content})


def _codex(time: str, payload: Line) -> Line:
    return {"timestamp": time, "type": "response_item", "payload": payload}
