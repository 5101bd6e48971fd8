"""Values of variables as JSON, in events and checkpoints: as definitions hold them (`compiler.predicates.forms`).

What reads and writes them is loaded where there are any: most logs hold none, and a hook pays for every module.
"""

from typing import TYPE_CHECKING, Final

from stateward.runtime.core.events import Assigned, Part, PartKind, Source, Variable, Verdict
from stateward.runtime.session.strict import COUNT, TEXT, Form, JsonValue, Malformed, choice, record, sequence

if TYPE_CHECKING:
    from stateward.compiler.predicates.schema import Plain


def _write(value: "Plain") -> JsonValue:
    from stateward.compiler.predicates.forms import value_data  # noqa: PLC0415 - see above

    written: JsonValue = value_data(value)  # type: ignore[assignment]  # the same JSON by another name
    return written


def _read(data: object) -> "Plain":
    from stateward.compiler.predicates.forms import MalformedForm, read_value  # noqa: PLC0415 - see above

    try:
        return read_value(data)
    except MalformedForm as malformed:
        raise Malformed(str(malformed)) from None


VALUE: Final[Form["Plain"]] = Form(_write, _read)
ASSIGNED: Final[Form[tuple[Assigned, ...]]] = sequence(record(Assigned, name=TEXT, value=VALUE))
VARIABLE: Final[Form[Variable]] = record(
    Variable, name=TEXT, value=VALUE, source=choice(Source), state=TEXT, visit=COUNT, entry=COUNT
)  # fmt: skip
PARTS: Final[Form[tuple[Part, ...]]] = sequence(
    record(Part, transition=TEXT, kind=choice(PartKind), verdict=choice(Verdict), name=TEXT, missing=sequence(TEXT), entry=COUNT)
)
