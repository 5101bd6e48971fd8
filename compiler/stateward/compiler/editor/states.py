"""The ids of states in a text: where each is declared, where it is used, and whether it is written there word for word.

Invariants: what is told of a flow that can be read is what its evaluation gives, so that an id that comes through a `let` is found where it
is written; of one that cannot, what stands in the tree. An id that no place spells out, because it is put together, has `word` None.
"""

from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.declared import counted_states
from stateward.compiler.editor.outline import Entry
from stateward.compiler.flow.typed import Located, TransitionSource
from stateward.compiler.source import Place, Span
from stateward.compiler.syntax.tree import StringLit

USES_MAX: Final = 65_536
"""Uses of ids in one text; a flow has at most some thousands."""
_QUOTE: Final = '"'


class Role(Enum):
    """What an id does where it stands."""

    DECLARED = "declared"
    INITIAL = "initial"
    TARGET = "target"
    COUNTED = "counted"
    """A guard reads how often it was entered."""


class StateUse(NamedTuple):
    """An id of a state at one place."""

    id: str
    role: Role
    place: Place
    word: Span | None
    """The id by itself, without quotes, where the text has it word for word."""
    state: str | None = None
    """Of a target: the state that is left."""
    transition: str | None = None


class States:
    """The ids of one text, in order of position."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    @cached_property
    def uses(self) -> tuple[StateUse, ...]:
        """Every declaration and use."""
        found = self._both() if self._analysis.states else self._written()
        uses = [each for _, each in zip(range(USES_MAX), found, strict=False)]
        return tuple(sorted(uses, key=lambda each: (each.place.span.start, each.place.span.end)))

    def of(self, id_: str) -> list[StateUse]:
        """Give the places of an id."""
        return [each for each in self.uses if each.id == id_]

    def declaration(self, id_: str) -> StateUse | None:
        """Give where a state is declared."""
        return next((each for each in self.uses if each.id == id_ and each.role is Role.DECLARED), None)

    def at(self, offset: int) -> StateUse | None:
        """Give the id that stands at an offset."""
        source = self._analysis.source
        for each in self.uses:
            if each.word is not None and each.place.source is source and each.word.start <= offset <= each.word.end:
                return each
        return None

    def _both(self) -> Iterator[StateUse]:
        """Give what the flow comes to, then what is written but comes to nothing, because another part is put in its place."""
        seen = set()
        for each in self._evaluated():
            seen.add(each.place)
            yield each
        yield from (each for each in self._written() if each.place not in seen)

    def _evaluated(self) -> Iterator[StateUse]:
        flow = self._analysis.flow
        assert flow is not None, "its states were read"
        if flow.initial is not None:
            yield self._located(flow.initial, Role.INITIAL)
        for state in self._analysis.states:
            yield StateUse(state.id, Role.DECLARED, state.key, self._word(state.key, state.id))
        for state, transition in self._analysis.edges:
            if transition.target is not None:
                yield self._located(transition.target, Role.TARGET, state.id, transition)
        yield from self._counted()

    def _located(self, value: Located[str], role: Role, state: str | None = None, transition: TransitionSource | None = None) -> StateUse:
        place = value.origin.place
        return StateUse(value.value, role, place, self._word(place, value.value), state, None if transition is None else transition.id)

    def _counted(self) -> Iterator[StateUse]:
        """Give the places at which guards count the visits of a state."""
        for id_, span in counted_states(self._analysis):
            place = Place(self._analysis.source, span)
            yield StateUse(id_, Role.COUNTED, place, self._word(place, id_))

    def _keys(self) -> Iterator[StateUse]:
        """Give the keys of states, which one state may have several of: where it is written in parts, or in place of another."""
        for entry in self._analysis.entries:
            match entry.path:
                case ("states", id_):
                    place = Place(self._analysis.source, entry.key.span)
                    yield StateUse(id_, Role.DECLARED, place, self._word(place, id_))
                case _:
                    pass

    def _written(self) -> Iterator[StateUse]:
        yield from self._keys()
        for entry in self._analysis.entries:
            match entry.path:
                case ("initial",):
                    yield from self._value(entry, Role.INITIAL, None, None)
                case ("states", state, "transitions", transition, "target"):
                    yield from self._value(entry, Role.TARGET, state, transition)
                case _:
                    pass

    def _value(self, entry: Entry, role: Role, state: str | None, transition: str | None) -> Iterator[StateUse]:
        value = entry.field.value
        if entry.is_last and isinstance(value, StringLit):
            place = Place(self._analysis.source, value.span)
            yield StateUse(value.value, role, place, self._word(place, value.value), state, transition)

    def _word(self, place: Place, id_: str) -> Span | None:
        """Give the id within a place that spells it out, with quotes or without."""
        text = place.source.slice(place.span)
        if text == id_:
            return place.span
        if text == f"{_QUOTE}{id_}{_QUOTE}":
            return Span(place.span.start + 1, place.span.end - 1)
        return None
