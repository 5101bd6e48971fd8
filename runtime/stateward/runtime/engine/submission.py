"""What an input comes to before anything is written: its shape, its fingerprint, the flow it starts, the text it makes.

Invariants: all checks come before the first write, in the documented order; texts are put together and never looked into.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from stateward.runtime.core.flow import Flow
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import is_blank, shown, size_of
from stateward.runtime.core.writing import size_of_value
from stateward.runtime.engine.keys import ID_BYTES_MAX, is_id
from stateward.runtime.engine.limits import INPUT_BYTES_MAX, SEGMENTS_MAX
from stateward.runtime.ports import Snapshot, Snapshots, Unresolved
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.segments import KINDS, NO_INPUTS, SEGMENT, FlowSegment, Segment, TextSegment, UnknownSegment
from stateward.runtime.session.strict import Malformed, render

SEPARATOR: Final = "\n\n"
"""Between what two segments came to."""


def read_segments(raw: object) -> tuple[Segment, ...] | Refusal:
    """Read an input as it comes over a wire: an array of objects with a `kind`."""
    if not isinstance(raw, list):
        return Refusal(RefusalCode.SEGMENT_MALFORMED, "the input is no array of segments", _KINDS_ALLOWED)
    segments: list[Segment] = []
    for position, each in enumerate(raw[: SEGMENTS_MAX + 1], start=1):
        try:
            segment = SEGMENT.read(each)
        except Malformed as problem:
            return Refusal(RefusalCode.SEGMENT_MALFORMED, f"segment {position}: {problem}", _KINDS_ALLOWED)
        if isinstance(segment, UnknownSegment):
            message = f"segment {position} has the unknown kind {shown(segment.kind)}"
            return Refusal(RefusalCode.SEGMENT_KIND_UNKNOWN, message, _KINDS_ALLOWED)
        segments.append(segment)
    return tuple(segments)


_KINDS_ALLOWED: Final = tuple(f"give a segment of kind `{kind}`" for kind in KINDS)


def shape_problem(segments: Sequence[Segment], *, first: bool) -> Refusal | None:
    """Refuse an input for its shape; `first` is the one that creates a Worker, which has exactly one flow segment."""
    flows = _flow_positions(segments)
    if len(flows) > 1 or (first and not flows):
        return Refusal(RefusalCode.FLOW_SEGMENT_COUNT, count_message(segments), ("give exactly one flow segment",))
    if len(segments) > SEGMENTS_MAX:
        return Refusal(RefusalCode.INPUT_TOO_LARGE, f"the input has {len(segments)} segments", (f"give at most {SEGMENTS_MAX}",))
    inputs = dict(inputs_of(segments))
    size = sum(size_of(_text_of(each)) for each in segments) + (size_of_value(inputs) if inputs else 0)
    if size > INPUT_BYTES_MAX:
        return Refusal(RefusalCode.INPUT_TOO_LARGE, f"the input has {size} bytes", (f"give at most {INPUT_BYTES_MAX} bytes",))
    if all(is_blank(_text_of(each)) for each in segments):
        return Refusal(RefusalCode.INPUT_EMPTY, "the input says nothing", ("give a text or a flow segment",))
    return None


def count_message(segments: Sequence[Segment]) -> str:
    """Say how many segments start a flow, and where they stand."""
    flows = _flow_positions(segments)
    if not flows:
        return f"none of {len(segments)} segments is a flow segment"
    if len(flows) == 1:
        return f"1 of {len(segments)} segments is a flow segment, at position {flows[0]}"
    positions = ", ".join(map(str, flows))
    return f"{len(flows)} of {len(segments)} segments are flow segments, at positions {positions}"


def _flow_positions(segments: Sequence[Segment]) -> list[int]:
    return [position for position, each in enumerate(segments, start=1) if isinstance(each, FlowSegment)]


def _text_of(segment: Segment) -> str:
    match segment:
        case FlowSegment(selector=selector):
            return selector
        case TextSegment(content):
            return content


def submission_id_problem(submission: str) -> Refusal | None:
    """Refuse a submission id that cannot be a key."""
    if is_id(submission):
        return None
    allowed = (f"give 1 to {ID_BYTES_MAX} printable ASCII characters",)
    return Refusal(RefusalCode.SUBMISSION_ID_MALFORMED, f"{shown(submission)} cannot be a submission id", allowed)


def fingerprint_of(segments: Sequence[Segment]) -> str:
    """Give the digest by which two inputs under one id are told apart."""
    return digest_of(render([SEGMENT.write(each) for each in segments]))


def selector_of(segments: Sequence[Segment]) -> str | None:
    """Give the selector of the flow segment, if there is one."""
    return next((each.selector for each in segments if isinstance(each, FlowSegment)), None)


def inputs_of(segments: Sequence[Segment]) -> Mapping[str, object]:
    """Give what the flow segment hands to its flow."""
    return next((each.inputs for each in segments if isinstance(each, FlowSegment)), NO_INPUTS)


def resolve(snapshots: Snapshots, workspace: str, selector: str) -> Snapshot | Refusal:
    """Resolve a selector, and believe the snapshot only what its digests show."""
    found = snapshots.resolve(selector)
    if isinstance(found, Unresolved):
        return Refusal(RefusalCode(found.code), found.message, (found.help,) if found.help else ())
    problem = _snapshot_problem(found, workspace, selector)
    return found if problem is None else Refusal(RefusalCode.FLOW_BROKEN, f"flow `{selector}` {problem}")


def _snapshot_problem(found: Snapshot, workspace: str, selector: str) -> str | None:
    if (found.workspace, found.selector) != (workspace, selector):
        return f"was resolved as `{found.selector}` of Workspace {found.workspace}"
    if found.definition_digest != digest_of(found.definition_bytes):
        return f"has a definition whose digest is not {found.definition_digest}"
    from stateward.compiler.flow.definition import CompiledFlowDefinition  # noqa: PLC0415 -- loads pydantic, for what starts a flow only

    if found.definition != CompiledFlowDefinition.model_validate_json(found.definition_bytes):
        return f"has another definition than the one with digest {found.definition_digest}"
    return None


def text_for_worker(segments: Sequence[Segment], definition: Flow | None) -> str:
    """Give the text an input comes to: the flow segment is replaced in place by the initial state's instructions, if they say anything."""
    return SEPARATOR.join(piece for each in segments if (piece := _piece(each, definition)) is not None)


def _piece(segment: Segment, definition: Flow | None) -> str | None:
    match segment:
        case TextSegment(content):
            return content
        case FlowSegment():
            assert definition is not None  # the segment was resolved
            instructions = definition.state(definition.initial).instructions
            return None if is_blank(instructions) else instructions
