"""Faults of how the ways out of a state are decided: what a transition says, and what it says beside the others."""

from typing import Final, NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.wording import listed, quoted
from stateward.compiler.flow.problems.told import owner
from stateward.compiler.flow.typed import Located, TransitionSource
from stateward.compiler.source import Place

PARTS: Final = ("when", "condition", "checks", "otherwise")
"""The fields that say when a transition is taken."""


class NothingDecides(NamedTuple):
    """A transition that says nowhere when it is taken."""

    transition: TransitionSource

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key, or at the `otherwise` that says nothing."""
        transition = self.transition
        is_false = transition.otherwise is not None
        return Diagnostic(
            code="transition_without_condition",
            severity=Severity.ERROR,
            message=f"{owner(transition.path)} says nowhere when it is taken",
            primary=Label(transition.key, "nothing decides it"),
            secondary=(Label(transition.otherwise.origin.place, "says nothing"),) if transition.otherwise is not None else (),
            notes=(f"a transition has at least one of {listed(PARTS)}",),
            help="write `otherwise = true;` if it is taken when no other is" if not is_false else None,
            path=transition.path,
        )


class OtherwiseTwice(NamedTuple):
    """Two ways out of one state that are each taken when no other is."""

    state: str
    first: Located[bool]
    second: Located[bool]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the second."""
        return Diagnostic(
            code="otherwise_twice",
            severity=Severity.ERROR,
            message=f"state {quoted(self.state)} has a second `otherwise`",
            primary=Label(self.second.origin.place, "the second"),
            secondary=(Label(self.first.origin.place, "the first"),),
            notes=("each would be taken only when the other is not",),
            path=self.second.path,
        )


class OtherwiseBesideCondition(NamedTuple):
    """A way out that is taken when no other is, beside one that somebody has to judge."""

    state: str
    otherwise: Located[bool]
    judged: tuple[tuple[str, Place], ...]
    """The transitions with a condition and the places of their conditions; at least one."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the `otherwise`."""
        ids = [id_ for id_, _ in self.judged]
        return Diagnostic(
            code="otherwise_beside_condition",
            severity=Severity.ERROR,
            message=f"`otherwise` in state {quoted(self.state)} stands beside a condition",
            primary=Label(self.otherwise.origin.place, "taken when no other is met"),
            secondary=tuple(Label(place, "judged by the verifier") for _, place in self.judged[:3]),
            notes=("that a verifier finds something not met is no reason to go another way",),
            help=f"say in the condition of {listed(ids[:1])} and of this transition what must hold" if len(ids) == 1 else None,
            path=self.otherwise.path,
        )
