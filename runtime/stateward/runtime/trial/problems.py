"""What is wrong with a file of flow tests, and how a test failed: one typed value each, and beside it how it is told.

What the compiler has a problem for is told by that one; the codes here that are not the compiler's are `value_not_allowed`,
`flow_test_ambiguous` and `flow_test_failed`.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.wording import listed, nearest, quoted
from stateward.compiler.flow.problems.told import came_through, did_you_mean
from stateward.compiler.flow.typed import Located, Path
from stateward.compiler.language.data import Origin
from stateward.compiler.source import Place

OWN_CODES: Final = ("value_not_allowed", "flow_test_ambiguous", "flow_test_failed")


class UnknownField(NamedTuple):
    """A field that its level does not have."""

    holder: str
    name: str
    key: Place
    path: Path
    known: Sequence[str]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key."""
        return Diagnostic(
            code="unknown_field",
            severity=Severity.ERROR,
            message=f"{self.holder} has no field {quoted(self.name)}",
            primary=Label(self.key, f"not a field of {self.holder}"),
            notes=(f"the fields of {self.holder} are {listed(self.known)}",),
            help=did_you_mean(nearest(self.name, self.known)),
            path=self.path,
        )


class NotAnObject(NamedTuple):
    """Something else where an object of the form belongs."""

    holder: str
    found: str
    origin: Origin
    path: Path

    def diagnostic(self) -> Diagnostic:
        """Tell it at the value."""
        article = "an" if self.found[0] in "AEIOU" else "a"
        return Diagnostic(
            code="wrong_type",
            severity=Severity.ERROR,
            message=f"{self.holder} must be an object, not {article} {self.found}",
            primary=Label(self.origin.place, f"{article} {self.found}"),
            secondary=came_through(self.origin),
            path=self.path,
        )


class NotAllowed(NamedTuple):
    """A value of the right type that its field cannot have."""

    message: str
    label: str
    origin: Origin
    path: Path
    help: str | None = None

    def diagnostic(self) -> Diagnostic:
        """Tell it at the value."""
        return Diagnostic(
            code="value_not_allowed",
            severity=Severity.ERROR,
            message=self.message,
            primary=Label(self.origin.place, self.label),
            secondary=came_through(self.origin),
            help=self.help,
            path=self.path,
        )


class Ambiguous(NamedTuple):
    """A step that says too little or too much of one thing."""

    message: str
    label: str
    place: Place
    path: Path
    help: str

    def diagnostic(self) -> Diagnostic:
        """Tell it at the step, or at the field that is too much."""
        return Diagnostic(
            code="flow_test_ambiguous",
            severity=Severity.ERROR,
            message=self.message,
            primary=Label(self.place, self.label),
            help=self.help,
            path=self.path,
        )


class NoSuchTransition(NamedTuple):
    """A verdict for a transition that the state does not have in which the flow is by then."""

    test: str
    state: str
    transition: str
    key: Place
    known: Sequence[str]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the name of the transition."""
        ways = f"its transitions are {listed(self.known)}" if self.known else "it is an end"
        return Diagnostic(
            code="flow_test_failed",
            severity=Severity.ERROR,
            message=f"test {quoted(self.test)}: state {quoted(self.state)} has no transition {quoted(self.transition)}",
            primary=Label(self.key, f"the flow is in {quoted(self.state)} here"),
            notes=(ways,),
            help=did_you_mean(nearest(self.transition, self.known)),
        )


class OtherOutcome(NamedTuple):
    """Something else came of a step, or of a test, than it says."""

    test: str
    expected: str
    happened: str
    """Both as the end of a sentence that begins with "the flow"."""
    said: Located[str]
    why: str = ""

    def diagnostic(self) -> Diagnostic:
        """Tell it at what the test says."""
        return Diagnostic(
            code="flow_test_failed",
            severity=Severity.ERROR,
            message=f"test {quoted(self.test)}: the flow {self.happened}",
            primary=Label(self.said.origin.place, f"it should have {self.expected}"),
            secondary=came_through(self.said.origin),
            notes=(self.why,) if self.why else (),
        )


class NotTaken(NamedTuple):
    """Inputs that a flow does not begin with, or variables that a step may not set."""

    test: str
    what: str
    """As the end of a sentence that begins with the name of the test."""
    why: str
    place: Place
    allowed: Sequence[str] = ()

    def diagnostic(self) -> Diagnostic:
        """Tell it where the values stand, or where they are missing."""
        return Diagnostic(
            code="flow_test_failed",
            severity=Severity.ERROR,
            message=f"test {quoted(self.test)}: {self.what}",
            primary=Label(self.place, "refused"),
            notes=(self.why,),
            help=self.allowed[0] if self.allowed else None,
        )


class NoSuchCheck(NamedTuple):
    """What comes of a check that no way out of the state needs in which the flow is by then."""

    test: str
    state: str
    check: str
    key: Place
    known: Sequence[str]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the name of the check."""
        return Diagnostic(
            code="flow_test_failed",
            severity=Severity.ERROR,
            message=f"test {quoted(self.test)}: no transition of state {quoted(self.state)} has a check {quoted(self.check)}",
            primary=Label(self.key, f"the flow is in {quoted(self.state)} here"),
            notes=(f"its checks are {listed(self.known)}" if self.known else "it has no checks",),
            help=did_you_mean(nearest(self.check, self.known)),
        )


class NotLedTo(NamedTuple):
    """A state that a test is to begin in, and that verdicts alone do not lead to."""

    test: str
    said: Located[str]
    at: str
    why: str

    def diagnostic(self) -> Diagnostic:
        """Tell it at the name of the state."""
        return Diagnostic(
            code="flow_test_failed",
            severity=Severity.ERROR,
            message=f"test {quoted(self.test)}: verdicts alone do not lead to state {quoted(self.said.value)}",
            primary=Label(self.said.origin.place, f"the flow does not leave {quoted(self.at)} that way"),
            secondary=came_through(self.said.origin),
            notes=(self.why,),
            help="begin in the initial state, and lead there by steps that set variables",
        )


class AfterTheEnd(NamedTuple):
    """A step of a flow that has ended."""

    test: str
    state: str
    place: Place

    def diagnostic(self) -> Diagnostic:
        """Tell it at the step."""
        return Diagnostic(
            code="flow_test_failed",
            severity=Severity.ERROR,
            message=f"test {quoted(self.test)}: the flow ended in state {quoted(self.state)}, and steps follow",
            primary=Label(self.place, "nothing can be requested any more"),
            help="take the steps after the end away",
        )
