"""Variables, inputs and checks in a text: where each is declared, and where it is named or read.

Invariants: told by what a flow of version 2 evaluates to, but for what guards read, which is told by the tree: a name below one of the
roots that no scope binds.
"""

from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.flow.schema import LATER_VERSION, SCHEMAS
from stateward.compiler.flow.typed import Texts
from stateward.compiler.language.nesting import children
from stateward.compiler.predicates.guards import INPUT, KNOWN, VARS, VISITS
from stateward.compiler.source import Place, Span
from stateward.compiler.syntax.tree import Access, Name, Node

USES_MAX: Final = 65_536
"""Uses in one text."""


class What(Enum):
    """What is declared."""

    VARIABLE = "variable"
    INPUT = "input"
    CHECK = "check"


class Part(Enum):
    """What a name does where it stands."""

    DECLARED = "declared"
    READ = "reads"
    WRITTEN = "writes"
    RUN = "checks"
    GUARD = "guard"


_ROOTS: Final = {VARS: What.VARIABLE, KNOWN: What.VARIABLE, INPUT: What.INPUT}


class Use(NamedTuple):
    """A name at one place of the text."""

    what: What
    name: str
    part: Part
    word: Span
    """The name by itself, without quotes."""
    state: str | None = None
    """The state that says it; None where it is declared, and in guards."""


def read_below(analysis: Analysis, root: str) -> Iterator[tuple[str, Span]]:
    """Give the names that are read below a root in a flow of version 2, each with its place."""
    if analysis.form is not SCHEMAS[LATER_VERSION]:
        return
    open_: list[Node] = [analysis.parsed.module]
    for node in open_:
        open_ += children(node)
        if not isinstance(node, Access) or not isinstance(node.base, Name) or node.base.text != root:
            continue
        if analysis.scopes.at(node.base.span.start) is None:
            yield node.key.text, node.key.span


class DeclaredNames:
    """The names of one text."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Every declaration and use, by position."""
        found = [each for _, each in zip(range(USES_MAX), self._found(), strict=False)]
        return tuple(sorted(found, key=lambda each: (each.word.start, each.word.end)))

    def at(self, offset: int) -> Use | None:
        """Give the name that stands at an offset."""
        return next((each for each in self.uses if each.word.start <= offset <= each.word.end), None)

    def of(self, use: Use) -> list[Use]:
        """Give the places of what a name stands for."""
        return [each for each in self.uses if (each.what, each.name) == (use.what, use.name)]

    def _found(self) -> Iterator[Use]:
        flow = self._analysis.flow
        if flow is None or self._analysis.form is not SCHEMAS[LATER_VERSION]:
            return
        for what, items in (
            (What.VARIABLE, flow.variables.items),
            (What.INPUT, flow.inputs.items),
            (What.CHECK, flow.checks.items),
        ):
            for each in items:
                yield from self._word(what, each.name, Part.DECLARED, each.key)
        for state in self._analysis.states:
            yield from self._listed(What.VARIABLE, Part.READ, state.reads, state.id)
            yield from self._listed(What.VARIABLE, Part.WRITTEN, state.writes, state.id)
        for state, transition in self._analysis.edges:
            yield from self._listed(What.CHECK, Part.RUN, transition.checks, state.id)
        for root, what in _ROOTS.items():
            for name, span in read_below(self._analysis, root):
                yield from self._word(what, name, Part.GUARD, Place(self._analysis.source, span))

    def _listed(self, what: What, part: Part, texts: Texts | None, state: str) -> Iterator[Use]:
        for each in texts.items if texts is not None else ():
            yield from self._word(what, each.value, part, each.origin.place, state)

    def _word(self, what: What, name: str, part: Part, place: Place, state: str | None = None) -> Iterator[Use]:
        """Give a use where the text spells the name out, with quotes or without."""
        written = place.source.slice(place.span)
        if place.source is self._analysis.source and written.strip('"') == name:
            quotes = 1 if written.startswith('"') else 0
            yield Use(what, name, part, Span(place.span.start + quotes, place.span.end - quotes), state)


def counted_states(analysis: Analysis) -> Iterator[tuple[str, Span]]:
    """Give the places at which guards count the visits of a state."""
    return read_below(analysis, VISITS)
