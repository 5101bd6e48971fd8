"""The segments of an input: what a submission is made of, and what its log entry keeps.

Invariants: texts are kept as they came; a kind that is unknown here is refused on the way in and kept when a log is read.
"""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from stateward.runtime.core.values import value
from stateward.runtime.session.strict import TEXT, Form, JsonValue, Malformed, members, record

NO_INPUTS: Final[Mapping[str, object]] = MappingProxyType({})


@value
class FlowSegment:
    """Starts a flow; replaced in place by the instructions of its initial state."""

    selector: str
    inputs: Mapping[str, object] = field(default_factory=lambda: NO_INPUTS)
    """What the flow is given, by name, as JSON; whether it fits is for the flow to say."""


@value
class TextSegment:
    """Says something to the worker."""

    content: str


Segment: TypeAlias = FlowSegment | TextSegment


@value
class UnknownSegment:
    """A segment that another program wrote."""

    kind: str


def _write_flow(segment: FlowSegment) -> JsonValue:
    inputs: Any = dict(segment.inputs)  # JSON as it came
    return {"selector": segment.selector, **({"inputs": inputs} if inputs else {})}


def _read_flow(value: object) -> FlowSegment:
    if not isinstance(value, dict) or "inputs" not in value:
        return FlowSegment(TEXT.read(members(value, ("selector",))["selector"]))
    given = members(value, ("selector", "inputs"))
    inputs = given["inputs"]
    if not isinstance(inputs, dict) or not inputs:
        raise Malformed("`inputs` is no object with a value for each input")
    return FlowSegment(TEXT.read(given["selector"]), inputs)


_FORMS: Final[dict[str, Form[Any]]] = {
    "flow": Form(_write_flow, _read_flow),
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
    segment: Segment = _FORMS[kind].read({name: given for name, given in value.items() if name != "kind"})
    return segment


SEGMENT: Final[Form[Segment | UnknownSegment]] = Form(_write, _read)
