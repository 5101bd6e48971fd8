"""The definition that a log pins, read from its canonical bytes as plain values.

Reading is as strict as the compiler's own (`flow.definition`) and loads no library for it: whatever only looks at a Worker or adds to its
log pays for nothing else. That the bytes have the digest that is pinned is for whoever reads them from a store.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from stateward.runtime.session.strict import COUNT, FLAG, TEXT, Form, Malformed, parse, record, sequence


@dataclass(frozen=True, slots=True)
class PinnedTransition:
    """A way out of a state."""

    id: str
    target: str
    condition: str
    synthetic: bool


@dataclass(frozen=True, slots=True)
class PinnedState:
    """A state; `transitions` is empty exactly when it is terminal."""

    id: str
    instructions: str
    terminal: bool
    transitions: tuple[PinnedTransition, ...]

    def transition(self, transition_id: str) -> PinnedTransition | None:
        """Find a transition by its id."""
        return next((each for each in self.transitions if each.id == transition_id), None)


@dataclass(frozen=True)
class PinnedFlow:
    """A compiled flow."""

    schema_version: int
    name: str
    initial: str
    states: tuple[PinnedState, ...]

    @cached_property
    def _by_id(self) -> dict[str, PinnedState]:
        return {state.id: state for state in self.states}

    def state(self, state_id: str) -> PinnedState:
        """Give a state by its id. Raises KeyError when the flow has none of that name."""
        return self._by_id[state_id]


def _whole_text(value: object) -> str:
    text = TEXT.read(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Malformed("a text holds half of a character") from None
    return text


_TEXT: Final[Form[str]] = Form(str, _whole_text)
_TRANSITION: Final = record(PinnedTransition, id=_TEXT, target=_TEXT, condition=_TEXT, synthetic=FLAG)
_STATE: Final = record(PinnedState, id=_TEXT, instructions=_TEXT, terminal=FLAG, transitions=sequence(_TRANSITION))
_FLOW: Final[Form[PinnedFlow]] = record(PinnedFlow, schema_version=COUNT, name=_TEXT, initial=_TEXT, states=sequence(_STATE))


def read_pinned(canonical: bytes) -> PinnedFlow:
    """Read a definition. Raises Malformed for what is none."""
    return _FLOW.read(parse(canonical))
