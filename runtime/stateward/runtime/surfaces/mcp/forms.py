"""What the tools take and give, as JSON Schemas and as values that fit them.

Invariants: a schema is one flat object, closed, without references, unions or formats, so that every model service takes it; a value has
every member of its schema, empty where there is nothing to say; texts of authors, workers and judges are byte for byte.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, assert_never

from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.core.texts import shown
from stateward.runtime.ports import Answered, Asked, FlowStanding, InProgress, RecordedEntry, Standing, Submitted, Waiting, Written
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.entries import reference
from stateward.runtime.session.strict import Malformed, parse

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_COUNT: Final[Schema] = {"type": "integer"}
_FLAG: Final[Schema] = {"type": "boolean"}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(**properties: Schema) -> Schema:
    return {"type": "array", "items": _object(**properties)}


def _said(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


REASON: Final = _object(reason=_said(_TEXT, "Why the state may be left, and where that can be seen. A claim, which is checked."))
NOTHING: Final = _object()
NOTE: Final = _object(text=_said(_TEXT, "What to keep. A claim; it is no evidence."))
INPUT: Final = _object(
    selector=_said(_TEXT, "The flow to start: builtin:<slug> or workspace:<slug>."),
    text=_said(_TEXT, "What the work is about; may be empty."),
    inputs=_said(_TEXT, "One JSON object with a value for each input of the flow; may be empty."),
)
VALUES: Final = _object(
    values=_said(_TEXT, 'One JSON object with a value for each variable that is to be set: {"attempts": 2, "bugs": false}.')
)

ASKED: Final = _object(
    result=_said(_TEXT, "`moved`, `stays`, `could_not_check`, `verifying`, `waiting` or `refused`."),
    worker=_TEXT,
    attempt=_said(_TEXT, "The id of the attempt; empty where none was begun."),
    state=_said(_TEXT, "The state that the flow is in."),
    visit=_COUNT,
    status=_said(_TEXT, "`active`, `completed` or `cancelled`."),
    instructions=_said(_TEXT, "Of the state that was entered."),
    transition=_said(_TEXT, "The one that was taken."),
    code=_said(_TEXT, "Why nothing moved."),
    cause=_said(_TEXT, "Why it could not be checked."),
    message=_TEXT,
    reason=_said(_TEXT, "The reason that was judged."),
    judged=_said(_TEXT, "The last entry of the log that was judged."),
    repeated=_said(_FLAG, "Whether the answer was given before."),
    verdicts=_list(transition=_TEXT, verdict=_TEXT, rationale=_TEXT, missing=_TEXTS, note=_TEXT),
    allowed=_said(_TEXTS, "What may be done instead."),
)
STATUS: Final = _object(
    worker=_TEXT,
    flow=_said(_TEXT, "Its name; empty where none was started."),
    selector=_TEXT,
    revision=_COUNT,
    status=_TEXT,
    state=_TEXT,
    visit=_COUNT,
    instructions=_TEXT,
    ways=_list(
        transition=_TEXT,
        target=_TEXT,
        condition=_said(_TEXT, "What a verifier is asked; empty where nobody is."),
        when=_said(_TEXT, "The guard that has to hold; empty where there is none."),
        checks=_said(_TEXTS, "What the host runs for it."),
        otherwise=_said(_FLAG, "Whether it is taken where no other is."),
    ),
    reads=_list(name=_TEXT, is_set=_FLAG, holds=_said(_TEXT, "The value as JSON; empty where it was not set.")),
    writes=_list(
        name=_TEXT,
        constraint=_said(_TEXT, "What it must be, as the flow has it."),
        form=_said(_TEXT, "The same as JSON Schema."),
    ),
    attempts=_COUNT,
    open_attempt=_said(_TEXT, "The id of the one that is not resolved; empty where none is."),
    open_reason=_TEXT,
    paused=_said(_TEXT, "By whom and why; empty where it is not."),
    held=_said(_TEXT, "Why; empty where it is not."),
    halted=_said(_TEXT, "Which limit of visits is reached; empty where none is."),
    read_only=_said(_TEXT, "Why nothing can be written; empty where it can."),
    missing=_list(transition=_TEXT, missing=_TEXTS),
    last_entry=_said(_TEXT, "The last entry of the log."),
)
NOTED: Final = _object(worker=_TEXT, entry=_TEXT, repeated=_FLAG)
SET: Final = _object(
    worker=_TEXT,
    names=_said(_TEXTS, "The variables that hold what was given."),
    entry=_said(_TEXT, "The entry that wrote them; empty where this visit had set them to that before."),
)
SUBMITTED: Final = _object(worker=_TEXT, entry=_TEXT, repeated=_FLAG, instance=_TEXT)


def asked_form(asked: Asked, worker: str) -> dict[str, Any]:
    """Give what came of a request."""
    match asked:
        case Answered(answer=answer, repeated=repeated):
            return _asked(worker, **_answer(answer), repeated=repeated)
        case InProgress(attempt=attempt, reason=reason, judged=judged):
            return _asked(worker, result="verifying", attempt=attempt, reason=reason, judged=judged)
        case Waiting(attempt=attempt, reason=reason, judged=judged):
            return _asked(worker, result="waiting", attempt=attempt, reason=reason, judged=judged)
        case Refusal(code=code, message=message, allowed=allowed):
            return _asked(worker, result="refused", code=str(code), message=message, allowed=list(allowed))
        case _:
            assert_never(asked)


def _asked(worker: str, **said: Any) -> dict[str, Any]:
    return {**{name: _empty(schema) for name, schema in ASKED["properties"].items()}, "worker": worker, **said}


def _empty(schema: Schema) -> Any:
    return {"string": "", "integer": 0, "boolean": False, "array": []}[schema["type"]]


def _answer(answer: Answer) -> dict[str, Any]:
    entered = answer.outcome is AttemptStatus.ENTERED
    unchecked = bool(answer.cause) or answer.outcome is AttemptStatus.FAILED or answer.code == "indeterminate"
    return {
        "result": "moved" if entered else "could_not_check" if unchecked else "stays",
        "attempt": answer.attempt,
        "state": answer.state,
        "visit": answer.visit,
        "status": str(answer.status),
        "instructions": answer.instructions,
        "transition": answer.transition or "",
        "code": answer.code,
        "cause": answer.cause,
        "message": answer.message,
        "reason": answer.reason,
        "judged": answer.judged,
        "verdicts": [
            {
                "transition": each.transition,
                "verdict": str(each.verdict),
                "rationale": each.rationale,
                "missing": list(each.missing),
                "note": each.note,
            }
            for each in answer.results
        ],
    }


def status_form(standing: Standing) -> dict[str, Any]:
    """Give where a Worker stands."""
    nothing = {name: _empty(schema) for name, schema in STATUS["properties"].items()}
    about = {"worker": standing.worker, "read_only": standing.read_only, "last_entry": reference(standing.head.seq)}
    flow = standing.flow
    if flow is None:
        return {**nothing, **about}
    return {
        **nothing,
        **about,
        "flow": flow.name,
        "selector": flow.selector,
        "revision": flow.revision,
        "status": flow.status,
        "state": flow.state,
        "visit": flow.visit,
        "instructions": flow.instructions,
        **_means(flow),
        "attempts": flow.attempts,
        "open_attempt": "" if flow.open is None else flow.open.attempt,
        "open_reason": "" if flow.open is None else flow.open.reason,
        "paused": flow.paused,
        "held": flow.held,
        "halted": flow.halted,
        "missing": []
        if flow.last is None
        else [{"transition": each.transition, "missing": list(each.missing)} for each in flow.last.results],
    }


def _means(flow: FlowStanding) -> dict[str, Any]:
    """Give how a state is left, and what of the variables its worker may see and set."""
    return {
        "ways": [
            {
                "transition": each.transition,
                "target": each.target,
                "condition": each.condition,
                "when": each.when,
                "checks": list(each.checks),
                "otherwise": each.otherwise,
            }
            for each in flow.ways
        ],
        "reads": [{"name": each.name, "is_set": each.is_set, "holds": _json(each.holds) if each.is_set else ""} for each in flow.reads],
        "writes": [{"name": each.name, "constraint": each.constraint, "form": _json(each.form)} for each in flow.writes],
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def set_form(written: Written) -> dict[str, Any]:
    """Give what was set."""
    return {"worker": written.worker, "names": list(written.names), "entry": written.entry}


def values_of(text: str) -> dict[str, object] | str:
    """Read one JSON object; or say what is wrong with it. A blank text is an empty one."""
    try:
        values = parse(text.encode("utf-8", "surrogatepass")) if text.strip() else {}
    except Malformed as problem:
        return str(problem)
    return values if isinstance(values, dict) else "it is no object"


def noted_form(noted: RecordedEntry) -> dict[str, Any]:
    """Give where a note was kept."""
    return {"worker": noted.worker, "entry": reference(noted.head.seq), "repeated": noted.repeated}


def submitted_form(submitted: Submitted) -> dict[str, Any]:
    """Give what an input began."""
    return {
        "worker": submitted.worker,
        "entry": reference(submitted.head.seq),
        "repeated": submitted.repeated,
        "instance": submitted.instance or "",
    }


def as_texts(schema: Schema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Take the arguments of a call: values may be given as the object itself, and inputs left out by who knows of none."""
    taken = dict(arguments)
    for name in _OBJECTS.intersection(schema["properties"]):
        if isinstance(taken.get(name), dict):
            taken[name] = _json(taken[name])
    if "inputs" in schema["properties"]:
        taken.setdefault("inputs", "")
    return taken


_OBJECTS: Final = frozenset({"values", "inputs"})
"""The arguments that are texts of one JSON object."""


def problem_of(schema: Schema, arguments: Mapping[str, Any]) -> str | None:
    """Say what is wrong with the arguments of a call: one that is not known, is missing, or is no text; None when nothing is."""
    known: Sequence[str] = list(schema["properties"])
    takes = f"it takes {', '.join(f'`{each}`' for each in known)} and nothing else" if known else "it takes no arguments"
    unknown = next((each for each in arguments if each not in known), None)
    if unknown is not None:
        return f"the argument {shown(unknown)} is not known; {takes}"
    missing = next((each for each in known if each not in arguments), None)
    if missing is not None:
        return f"the argument `{missing}` is missing; {takes}"
    wrong = next((each for each in known if not isinstance(arguments[each], str)), None)
    return None if wrong is None else f"the argument `{wrong}` is no text"
