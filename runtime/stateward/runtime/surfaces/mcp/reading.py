"""What a client can read of a Worker: the next step as a prompt; the source of its flow, its graph and its log as resources."""

import json
from typing import Final

import mcp_types as types

from stateward.compiler.drawing.mermaid import draw_mermaid
from stateward.compiler.drawing.svg import draw_svg
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import EntryShown, LogPage, WorkerChannel
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.halves import whole
from stateward.runtime.telling import refusal_told, standing_told

LOG_ENTRIES: Final = 100
"""The last entries that the resource of the log holds."""
LOG_BYTES_MAX: Final = 256 * 1024
PAYLOAD_CHARACTERS_MAX: Final = 4_096
"""Of one entry; what is longer is cut, with a mark."""
PROMPT: Final = types.Prompt(
    name="next_step", title="The next step", description="The state of the flow, its instructions, and how it is left."
)
SOURCE: Final = "stateward://flow/source"
GRAPH: Final = "stateward://flow/graph"
PICTURE: Final = "stateward://flow/picture"
LOG: Final = "stateward://session/log"
_KINDS: Final = {SOURCE: "text/plain", GRAPH: "text/vnd.mermaid", PICTURE: "image/svg+xml", LOG: "application/x-ndjson"}
_ABOUT: Final = {
    SOURCE: ("flow source", "The source of the flow, of the revision that is pinned."),
    GRAPH: ("flow graph", "The graph of the flow, in Mermaid."),
    PICTURE: ("flow picture", "The graph of the flow, as a picture."),
    LOG: ("session log", f"The last {LOG_ENTRIES} entries of the session log, one a line."),
}
RESOURCES: Final = tuple(
    types.Resource(uri=uri, name=name, description=about, mime_type=_KINDS[uri]) for uri, (name, about) in _ABOUT.items()
)


def next_step(channel: WorkerChannel) -> types.GetPromptResult:
    """Say what is to be done next."""
    standing = channel.standing()
    text = refusal_told(standing) if isinstance(standing, Refusal) else standing_told(standing)
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=whole(text)))
    return types.GetPromptResult(description=PROMPT.description, messages=[message])


def read(channel: WorkerChannel, uri: str) -> types.TextResourceContents | None:
    """Read a resource; None where there is none of that address."""
    kind = _KINDS.get(uri)
    return None if kind is None else types.TextResourceContents(uri=uri, mime_type=kind, text=whole(_text(channel, uri)))


def _text(channel: WorkerChannel, uri: str) -> str:
    if uri == LOG:
        return _log(channel)
    if uri == SOURCE:
        return channel.source() or "# the source is not kept here\n"
    definition = channel.definition()
    if definition is None:
        return ""
    return draw_mermaid(definition) if uri == GRAPH else draw_svg(definition)


def _log(channel: WorkerChannel) -> str:
    """Give the last entries, the oldest of them first, as many as fit."""
    standing = channel.standing()
    if isinstance(standing, Refusal):
        return ""
    page = channel.log(max(0, standing.head.seq - LOG_ENTRIES), LOG_ENTRIES)
    if not isinstance(page, LogPage):
        return ""
    lines: list[str] = []
    size = 0
    for each in reversed(page.entries):
        line = json.dumps(_entry(each), ensure_ascii=False) + "\n"
        size += len(line.encode("utf-8", "surrogatepass"))
        if size > LOG_BYTES_MAX:
            break
        lines.append(line)
    return "".join(reversed(lines))


def _entry(entry: EntryShown) -> dict[str, object]:
    cut = len(entry.payload) > PAYLOAD_CHARACTERS_MAX
    return {
        "entry": entry.reference,
        "time": time_text(entry.time),
        "from": entry.actor_class,
        "channel": entry.channel,
        "kind": entry.kind,
        "evidence": entry.evidence,
        "payload": entry.payload[:PAYLOAD_CHARACTERS_MAX] + ("…" if cut else ""),
        "cut": cut,
        "digest": entry.digest,
    }
