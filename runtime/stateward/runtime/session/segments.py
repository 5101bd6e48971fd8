"""The segments of an input: what a submission is made of, and what its log entry keeps.

Invariants: texts are kept as they came; a kind that is unknown here is refused on the way in and kept when a log is read.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.runtime.session.strict import TEXT, Form, JsonValue, Malformed, record


@dataclass(frozen=True, slots=True)
class FlowSegment:
    """Starts a flow; replaced in place by the instructions of its initial state."""

    selector: str


@dataclass(frozen=True, slots=True)
class TextSegment:
    """Says something to the worker."""

    content: str


Segment: TypeAlias = FlowSegment | TextSegment


@dataclass(frozen=True, slots=True)
class UnknownSegment:
    """A segment that another program wrote."""

    kind: str


_FORMS: Final[dict[str, Form[Segment]]] = {
    "flow": record(FlowSegment, selector=TEXT),
    "text": record(TextSegment, content=TEXT),
}
KINDS: Final = tuple(_FORMS)
"""The kinds that may be submitted."""
_NAMES: Final[dict[type[Segment], str]] = {FlowSegment: "flow", TextSegment: "text"}


def _write(segment: Segment | UnknownSegment) -> JsonValue:
    assert not isinstance(segment, UnknownSegment), "a segment that is not understood is never written"
    kind = _NAMES[type(segment)]
    fields = _FORMS[kind].write(segment)
    assert isinstance(fields, dict)
    return {"kind": kind, **fields}


def _read(value: object) -> Segment | UnknownSegment:
    if not isinstance(value, dict):
        raise Malformed("a segment is missing")
    kind = TEXT.read(value.get("kind"))
    if kind not in _FORMS:
        return UnknownSegment(kind)
    return _FORMS[kind].read({name: given for name, given in value.items() if name != "kind"})


SEGMENT: Final[Form[Segment | UnknownSegment]] = Form(_write, _read)
