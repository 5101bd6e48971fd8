"""The form of a file of flow tests: which fields each level has, and what a test is once it is read.

    schema_version = 1;
    tests = {
        review_is_repeated = {
            steps = [
                { met = "submit"; enters = "review"; },
                { verdicts = { approve = "indeterminate"; }; refused = "indeterminate"; },
                { met = "approve"; enters = "complete"; },
            ];
        };
    };

Of a flow with variables, a test gives inputs, and a step sets variables and says what checks come to. Invariant: a step says what the
verifier answers and exactly one thing that must come of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from stateward.compiler.flow.typed import Located
from stateward.compiler.source import Place
from stateward.runtime.core.events import RejectionCode, Status, Verdict
from stateward.runtime.core.instance import JUDGED_CODES

VERSION: Final = 1
SUFFIX: Final = ".test.dcdl"
FILE_BYTES_MAX: Final = 256 * 1024
TESTS_MAX: Final = 1_000
STEPS_MAX: Final = 1_000
"""Of one test."""

VERDICTS: Final = tuple(each.value for each in Verdict)
REFUSALS: Final = tuple(each.value for each in RejectionCode if each in JUDGED_CODES or each is RejectionCode.LIMIT_REACHED)
"""What a request can be refused with for what was found."""
ENDINGS: Final = tuple(each.value for each in Status)

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "file": {
        "schema_version": f"The version of this form; {VERSION}.",
        "about": "What the tests are for, in a line.",
        "tests": f"The tests by name, 1 to {TESTS_MAX:,}.",
    },
    "test": {
        "about": "What is tested, in a line.",
        "from": "The state to begin in, reached on a shortest way; the initial state when left out.",
        "inputs": "What the flow is given, by name.",
        "steps": f"The requests, in order; at most {STEPS_MAX:,}.",
        "ends": f"How the flow stands after the last step: {', '.join(f'`{each}`' for each in ENDINGS)}.",
    },
    "step": {
        "reason": "The reason of the request; made up when left out.",
        "set": "Variables that are set before the request, by name.",
        "checks": "What checks come to, by name: verdicts; what is left out is `not_met`.",
        "met": "The one transition whose condition is met; all others are `not_met`.",
        "verdicts": "The verdicts by transition, instead of `met`; what is left out is `not_met`.",
        "enters": "The state that must be entered.",
        "refused": f"That no transition must be taken, and why: {', '.join(f'`{each}`' for each in REFUSALS)}.",
    },
}
"""The fields of each level, in the order in which they are shown, with what each says."""
REQUIRED: Final[Mapping[str, Mapping[str, str]]] = {
    "file": {"schema_version": str(VERSION), "tests": "{ … }"},
    "test": {"steps": "[ … ]"},
    "step": {},
}
"""The fields that each level must have, with an example."""


class Said(NamedTuple):
    """A verdict, and where it is said."""

    verdict: Verdict
    key: Place
    """The name of the transition it is for."""


@dataclass(frozen=True, slots=True)
class Step:
    """One request."""

    place: Place
    reason: str
    verdicts: Mapping[str, Said]
    sets: Located[Mapping[str, object]] | None
    """The variables that are set before."""
    checks: Mapping[str, Said]
    enters: Located[str] | None
    """The state that must be entered; None where the request must be refused."""
    refused: Located[str] | None


@dataclass(frozen=True, slots=True)
class FlowTest:
    """One test."""

    name: str
    key: Place
    start: Located[str] | None
    inputs: Located[Mapping[str, object]] | None
    steps: tuple[Step, ...]
    ends: Located[str] | None
