"""The definition that a log pins, read from its canonical bytes as plain values.

Reading is as strict as the compiler's own (`flow.definition`) and loads no library for it: whatever only looks at a Worker or adds to its
log pays for nothing else. That the bytes have the digest that is pinned is for whoever reads them from a store.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward.runtime.session.strict import COUNT, FLAG, TEXT, Form, Malformed, parse, record, sequence

if TYPE_CHECKING:
    from stateward.compiler.predicates.declarations import CheckDeclaration, Declaration
    from stateward.compiler.predicates.guards import Guard


class PinnedTransition(NamedTuple):
    """A way out of a state."""

    id: str
    target: str
    condition: str
    synthetic: bool
    guard: "Guard | None" = None
    checks: tuple[str, ...] = ()
    otherwise: bool = False


class PinnedState(NamedTuple):
    """A state; `transitions` is empty exactly when it is terminal."""

    id: str
    instructions: str
    terminal: bool
    transitions: tuple[PinnedTransition, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    select: str = "exclusive"
    visits_max: int | None = None

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
    declared_variables: "tuple[Declaration, ...]" = ()
    declared_inputs: "tuple[Declaration, ...]" = ()
    declared_checks: "tuple[CheckDeclaration, ...]" = ()

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


WHOLE_TEXT: Final[Form[str]] = Form(str, _whole_text)
_TRANSITION: Final = record(PinnedTransition, id=WHOLE_TEXT, target=WHOLE_TEXT, condition=WHOLE_TEXT, synthetic=FLAG)
_STATE: Final = record(PinnedState, id=WHOLE_TEXT, instructions=WHOLE_TEXT, terminal=FLAG, transitions=sequence(_TRANSITION))
_FLOW: Final[Form[PinnedFlow]] = record(
    PinnedFlow, schema_version=COUNT, name=WHOLE_TEXT, initial=WHOLE_TEXT, states=sequence(_STATE)
)  # fmt: skip


def read_pinned(canonical: bytes) -> PinnedFlow:
    """Read a definition. Raises Malformed for what is none, Newer for one of a version that is unknown here."""
    data = parse(canonical)
    if isinstance(data, dict) and data.get("schema_version") not in {None, 1}:
        from stateward.runtime.session.pinned_later import read_later  # noqa: PLC0415 - what reads guards is loaded where there are any

        return read_later(data)
    return _FLOW.read(data)
