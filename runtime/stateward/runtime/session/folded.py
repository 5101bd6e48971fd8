"""The fold of a flow as bytes, for checkpoints: every field of the state, so that restoring from it is the same as folding the log."""

from typing import Final

from stateward.runtime.core.events import CancelCause, EventId, FailureCause, RejectionCode, Status
from stateward.runtime.core.instance import Aside, Attempt, AttemptStatus, Due, Flag, FlowState, Hold, Instance, Pin, Resolution
from stateward.runtime.session.event_codec import JUDGEMENTS
from stateward.runtime.session.strict import COUNT, TEXT, Form, choice, mapping, optional, record, sequence

_AT: Final = record(EventId, seq=COUNT, index=COUNT)
_ATTEMPT: Final = record(Attempt, id=TEXT, state=TEXT, visit=COUNT, reason=TEXT, requested=_AT)
_RESOLUTION: Final = record(
    Resolution,
    attempt=_ATTEMPT,
    status=choice(AttemptStatus),
    resolved=_AT,
    judgements=JUDGEMENTS,
    transition=optional(TEXT),
    rejection=optional(choice(RejectionCode)),
    failure=optional(choice(FailureCause)),
    cancellation=optional(choice(CancelCause)),
    message=TEXT,
)
_PIN: Final = record(
    Pin,
    workspace=TEXT,
    selector=TEXT,
    flow_id=TEXT,
    flow_revision=COUNT,
    content_digest=TEXT,
    definition_digest=TEXT,
    chosen_by=TEXT,
)
_INSTANCE: Final = record(
    Instance,
    id=TEXT,
    pin=_PIN,
    state=TEXT,
    visit=COUNT,
    status=choice(Status),
    attempt=optional(_ATTEMPT),
    last=optional(_RESOLUTION),
    attempts=COUNT,
    visits=mapping(COUNT),
    entered=mapping(COUNT),
    attempts_here=COUNT,
    rejections=sequence(COUNT),
    due=optional(record(Due, transition=optional(TEXT), attempt=optional(TEXT), state=optional(TEXT), after=_AT)),
    paused=optional(record(Flag, by=TEXT, reason=TEXT, at=_AT)),
    held=optional(record(Hold, judgements=COUNT, evidence=COUNT, at=_AT)),
)
FLOW_STATE: Final[Form[FlowState]] = record(
    FlowState, instance=optional(_INSTANCE), instances=COUNT, aside=sequence(record(Aside, after=COUNT, before=COUNT))
)
