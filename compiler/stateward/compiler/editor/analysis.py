"""All that is known of one version of a text, each part found when it is first asked for.

Invariants: pure: the same name, text and imported modules give the same answers; only the compile imports anything; spans are code points
of `source.text`, which has no byte-order mark; a flow is judged as `stateward compile` judges its file, another file of the language only
as far as the language goes.
"""

from collections.abc import Iterator
from functools import cached_property

from stateward.compiler.diagnostics.model import Diagnostic, Severity, errors_of, sort_key
from stateward.compiler.editor.outline import Entry, form_of, outline
from stateward.compiler.editor.scopes import Scopes
from stateward.compiler.flow.read import read_flow
from stateward.compiler.flow.recognize import is_flow_source
from stateward.compiler.flow.schema import Level
from stateward.compiler.flow.typed import FlowSource, StateSource, TransitionSource
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.inspect import inspect
from stateward.compiler.language.loader import Loader
from stateward.compiler.limits import FLOW_LIMITS
from stateward.compiler.pipeline import Compilation, compile_source
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import Parse, parse


class Analysis:
    """One version of a text."""

    def __init__(self, name: str, text: str, slug: str | None = None, loader: Loader | None = None) -> None:
        """Begin with a text; `loader` gives what a flow imports, None where it can import nothing."""
        self.source = Source.from_text(name, text)
        self.slug = slug
        self._loader = loader

    @property
    def shift(self) -> int:
        """How many characters of the editor's text stand before the source."""
        return 1 if self.source.has_mark else 0

    @cached_property
    def parsed(self) -> Parse:
        """The tree and the comments."""
        return parse(self.source)

    @cached_property
    def is_flow(self) -> bool:
        """Whether the text is meant as a flow: its root looks like one, or it cannot be read."""
        return is_flow_source(self.source.text.encode("utf-8", "surrogatepass"))

    @cached_property
    def compilation(self) -> Compilation:
        """What a compile comes to."""
        return compile_source(self.source, slug=self.slug, loader=self._loader)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong with the text."""
        if self.compilation.definition_digest is not None or self.is_flow:
            return self.compilation.diagnostics
        return tuple(sorted(self._of_language(), key=sort_key))

    def _of_language(self) -> Iterator[Diagnostic]:
        """Judge a file that is no flow: its values, but for what it imports, since nothing is read here."""
        yield from self.parsed.diagnostics
        if errors_of(self.parsed.diagnostics):
            return
        evaluation = Evaluation(self.source, self.parsed.module)
        evaluation.shape(evaluation.root)
        yield from (each for each in evaluation.diagnostics if each.severity is Severity.ERROR and each.code != "dcdl_import")
        yield from inspect(self.source, self.parsed.module)

    @cached_property
    def flow(self) -> FlowSource | None:
        """The flow with the places of its parts, as far as it can be read in this text alone."""
        if self.compilation.source is None:
            return None
        broken = errors_of(self.parsed.diagnostics)
        spans = [(self.source, fault.primary.place.span) for fault in broken]
        return read_flow(self.source, self.parsed.module, spans, FLOW_LIMITS.language).flow

    @cached_property
    def states(self) -> tuple[StateSource, ...]:
        """The states, in order of declaration."""
        return self.flow.states.items if self.flow is not None and self.flow.states is not None else ()

    @property
    def edges(self) -> Iterator[tuple[StateSource, TransitionSource]]:
        """Every transition with the state that it leaves."""
        for state in self.states:
            if state.transitions is not None:
                yield from ((state, each) for each in state.transitions.items)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The fields that are written out, with their paths."""
        return tuple(outline(self.parsed.module))

    @cached_property
    def form(self) -> Level:
        """The fields that a flow of its version has."""
        return form_of(self.entries)

    @cached_property
    def scopes(self) -> Scopes:
        """The names that are bound, with their uses."""
        return Scopes(self.parsed.module)
