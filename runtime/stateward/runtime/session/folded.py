"""The fold of a flow as bytes, for checkpoints: every field of the state, so that restoring from it is the same as folding the log."""

from typing import Any, Final

from stateward.runtime.core.events import CancelCause, EventId, FailureCause, RejectionCode, Status
from stateward.runtime.core.instance import Aside, Attempt, AttemptStatus, Due, Flag, FlowState, Halt, Hold, Instance, Pin, Resolution
from stateward.runtime.session.event_codec import ACCOUNT, FIRST_JUDGEMENTS, JUDGEMENTS
from stateward.runtime.session.strict import COUNT, TEXT, Form, choice, mapping, optional, record, sequence
from stateward.runtime.session.value_forms import PARTS, VALUE, VARIABLE

_AT: Final = record(EventId, seq=COUNT, index=COUNT)
_ATTEMPT: Final[dict[str, Form[Any]]] = {"id": TEXT, "state": TEXT, "visit": COUNT, "reason": TEXT, "requested": _AT}
_REFUSED: Final[dict[str, Form[Any]]] = {
    "transition": optional(TEXT),
    "rejection": optional(choice(RejectionCode)),
    "failure": optional(choice(FailureCause)),
    "cancellation": optional(choice(CancelCause)),
    "message": TEXT,
}
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


def _flow_state(attempt: Form[Attempt], resolution: Form[Resolution], **later: Form[Any]) -> Form[FlowState]:
    instance = record(
        Instance,
        id=TEXT,
        pin=_PIN,
        state=TEXT,
        visit=COUNT,
        status=choice(Status),
        attempt=optional(attempt),
        last=optional(resolution),
        attempts=COUNT,
        visits=mapping(COUNT),
        entered=mapping(COUNT),
        attempts_here=COUNT,
        rejections=sequence(COUNT),
        due=optional(record(Due, transition=optional(TEXT), attempt=optional(TEXT), state=optional(TEXT), after=_AT)),
        paused=optional(record(Flag, by=TEXT, reason=TEXT, at=_AT)),
        held=optional(record(Hold, judgements=COUNT, evidence=COUNT, at=_AT)),
        **later,
    )
    aside = sequence(record(Aside, after=COUNT, before=COUNT))
    return record(FlowState, instance=optional(instance), instances=COUNT, aside=aside)


_FIRST_ATTEMPT: Final = record(Attempt, **_ATTEMPT)
_SECOND_ATTEMPT: Final = record(Attempt, **_ATTEMPT, tree=TEXT, reserved=COUNT)
_THIRD_ATTEMPT: Final = record(Attempt, **_ATTEMPT, tree=TEXT, reserved=COUNT, parts=PARTS)
_COUNTED: Final[dict[str, Form[Any]]] = {"judged_tree": TEXT, "tokens": COUNT, "tokens_here": COUNT}
FIRST_FLOW_STATE: Final[Form[FlowState]] = _flow_state(
    _FIRST_ATTEMPT,
    record(Resolution, attempt=_FIRST_ATTEMPT, status=choice(AttemptStatus), resolved=_AT, judgements=FIRST_JUDGEMENTS, **_REFUSED),
)
"""As the first version of checkpoints had it."""


def _resolution(attempt: Form[Attempt]) -> Form[Resolution]:
    return record(
        Resolution, attempt=attempt, status=choice(AttemptStatus), resolved=_AT, judgements=JUDGEMENTS, **_REFUSED, account=ACCOUNT
    )


SECOND_FLOW_STATE: Final[Form[FlowState]] = _flow_state(_SECOND_ATTEMPT, _resolution(_SECOND_ATTEMPT), **_COUNTED)
"""As the second had it."""
FLOW_STATE: Final[Form[FlowState]] = _flow_state(
    _THIRD_ATTEMPT,
    _resolution(_THIRD_ATTEMPT),
    **_COUNTED,
    inputs=mapping(VALUE),
    variables=mapping(VARIABLE),
    written=COUNT,
    granted=mapping(COUNT),
    halted=optional(record(Halt, state=TEXT, visits=COUNT, at=_AT)),
)
