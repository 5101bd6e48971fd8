"""Faults of the graph: states that nothing reaches, no end at all, and parts that no end can be reached from."""

from typing import Final, NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.wording import counted, listed
from stateward.compiler.flow.typed import Located, States, StateSource, TransitionSource

LABELS_MAX: Final = 6
"""Further states that are shown in the text; the message and `states` name all that were found."""


class Unreachable(NamedTuple):
    """States that nothing reaches: a part that no edge enters, and what is reached only from there."""

    members: tuple[StateSource, ...]
    """One state, or states that lead to each other; at least one."""
    followers: tuple[StateSource, ...]
    named: tuple[str, ...]
    """The ids of all of them, in order of declaration."""
    initial: Located[str]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the first state of the part."""
        ids = tuple(state.id for state in self.members)
        first, *others = self.members
        return Diagnostic(
            code="unreachable_state",
            severity=Severity.ERROR,
            message=f"unreachable {'state' if len(ids) == 1 else 'states'} {listed(ids)}",
            primary=Label(first.key, "nothing leads here"),
            secondary=_labels(others, "only reached from there") + _labels(list(self.followers), "reached from there alone"),
            notes=(f"the flow begins in {listed((self.initial.value,))}",),
            help=f"lead a transition to {listed(ids[:1])}",
            path=("states", first.id),
            states=self.named,
        )


class TerminalMissing(NamedTuple):
    """A flow without an end."""

    states: States

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key of the states."""
        ids = tuple(state.id for state in self.states.items)
        return Diagnostic(
            code="terminal_missing",
            severity=Severity.ERROR,
            message="no state is terminal",
            primary=Label(self.states.key, f"{counted(len(ids), 'state')}, none an end"),
            notes=(f"the {'state is' if len(ids) == 1 else 'states are'} {listed(ids)}",),
            help="add `terminal = true;` to the state in which the flow ends",
            path=self.states.path,
            states=ids,
        )


class TerminalUnreachable(NamedTuple):
    """A closed part that no end can be reached from, and the states that can only lead into it."""

    members: tuple[StateSource, ...]
    """The closed part: no edge leaves it; at least one state."""
    lead_ins: tuple[StateSource, ...]
    """States outside that have no other way."""
    named: tuple[str, ...]
    """The ids of all of them, in order of declaration."""
    entry: TransitionSource | None
    """The edge by which it is entered; None when the flow begins in it."""
    initial: Located[str]
    ends: tuple[str, ...]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the first state of the part, with the edge that enters it."""
        ids = tuple(state.id for state in self.members)
        first, *others = self.members
        return Diagnostic(
            code="terminal_unreachable",
            severity=Severity.ERROR,
            message=f"no end can be reached from {listed(ids)}",
            primary=Label(first.key, "no way to an end"),
            secondary=(*_labels(others, "nor from here"), *_labels(list(self.lead_ins), "leads only there"), self._entered()),
            help=f"lead a transition out of it, towards {listed(self.ends[:1])}" if self.ends else None,
            path=("states", first.id),
            states=self.named,
        )

    def _entered(self) -> Label:
        if self.entry is None or self.entry.target is None:
            return Label(self.initial.origin.place, "the flow begins in it")
        return Label(self.entry.target.origin.place, "entered here")


def _labels(states: list[StateSource], text: str) -> tuple[Label, ...]:
    return tuple(Label(state.key, text) for state in states[:LABELS_MAX])
