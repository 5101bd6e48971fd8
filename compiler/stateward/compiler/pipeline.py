"""A compile, from bytes to a definition: the phases in order.

Each phase takes what the one before made and adds what it finds, and goes on with whatever is sound, so that one run shows every
independent fault and none that only follows from another. Size and encoding stop everything, since then there is no text; an unknown
version stops what would judge it.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from stateward.compiler.diagnostics.model import Diagnostic, Severity, errors_of, sort_key
from stateward.compiler.flow.canonical import canonical_of, digest
from stateward.compiler.flow.checks import check
from stateward.compiler.flow.damage import nesting_is_known, on_any_level
from stateward.compiler.flow.graph import check_graph
from stateward.compiler.flow.imports import refused_imports
from stateward.compiler.flow.intake import raw_bytes, take_in
from stateward.compiler.flow.lower import DefinitionData, definition_of, lower
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.read import read_flow
from stateward.compiler.flow.recognize import foreign
from stateward.compiler.flow.schema import LATER_VERSION
from stateward.compiler.flow.typed import FlowSource
from stateward.compiler.flow.unquoted import told_by_schema
from stateward.compiler.language.collecting import uncollected
from stateward.compiler.language.inspect import inspect
from stateward.compiler.language.reporting import path_text
from stateward.compiler.limits import FLOW_LIMITS, FlowLimits
from stateward.compiler.source import Source, Span
from stateward.compiler.syntax.parser import parse

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition


@dataclass(frozen=True)
class Compilation:
    """What a compile came to. What is None is so exactly when there is an error."""

    source: Source | None
    """The text; None when the bytes were not taken in as one."""
    diagnostics: tuple[Diagnostic, ...]
    """Errors and warnings, by position."""
    content_digest: str
    """Over the bytes as they came."""
    data: DefinitionData | None
    """The definition as plain data."""
    canonical: bytes | None
    """The canonical JSON of the definition."""
    steps: int = 0
    """Evaluation steps that it took."""

    @cached_property
    def definition(self) -> "CompiledFlowDefinition | None":
        """The definition, made when it is first asked for."""
        return definition_of(self.data) if self.data is not None else None

    @property
    def flow(self) -> str | None:
        """The name of the flow."""
        return self.data["name"] if self.data is not None else None

    @property
    def definition_digest(self) -> str | None:
        """The digest of the canonical JSON."""
        return digest(self.canonical) if self.canonical is not None else None

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(each.severity is Severity.ERROR for each in self.diagnostics)


def compile_source(
    source: Source | bytes, *, name: str = "<source>", slug: str | None = None, limits: FlowLimits = FLOW_LIMITS
) -> Compilation:
    """Compile a Flow source.

    `name` is how people know a source that comes as bytes; `slug` is what it is kept under, where it is kept under something.
    """
    raw = raw_bytes(source)
    text = take_in(source, source.name if isinstance(source, Source) else name, limits.source_bytes)
    if not isinstance(text, Source):
        return Compilation(None, (text.diagnostic(),), digest(raw), None, None)
    with uncollected():
        data, diagnostics, steps = _compiled(text, slug, limits)
    return Compilation(text, diagnostics, digest(raw), data, canonical_of(data) if data is not None else None, steps)


def _compiled(source: Source, slug: str | None, limits: FlowLimits) -> tuple[DefinitionData | None, tuple[Diagnostic, ...], int]:
    """Judge a text and lower it; nothing else is left of it then, and nothing that the collector would have to look at."""
    flow, diagnostics, steps = _judged(source, slug, limits)
    if any(each.severity is Severity.ERROR for each in diagnostics):
        return None, diagnostics, steps
    assert flow is not None, "what could not be bound was reported"
    return lower(flow), diagnostics, steps


def _judged(source: Source, slug: str | None, limits: FlowLimits) -> tuple[FlowSource | None, tuple[Diagnostic, ...], int]:
    """Take a text through all phases that judge it."""
    parsed = parse(source, limits.language)
    broken = errors_of(parsed.diagnostics)
    another_kind = foreign(source, parsed)
    if another_kind is not None:
        return None, (another_kind.diagnostic(),), 0

    read = read_flow(source, parsed.module, [(source, fault.primary.place.span) for fault in broken], limits.language)
    evaluation = read.evaluation
    problems: list[Problem] = [*read.problems]
    if read.version is not None:
        problems += refused_imports(source, parsed.module, read.version)
    if read.flow is not None:
        problems += check(read.flow, slug=slug, limits=limits)
        problems += check_graph(read.flow)
    if broken and not nesting_is_known(source, limits.language):
        problems = on_any_level(problems)

    told = told_by_schema(_without_imports(evaluation.diagnostics), read.failed)
    if read.flow is not None and read.flow.schema_version == LATER_VERSION:
        problems += _analysed(read.flow, is_sound=not (broken or errors_of(told) or errors_of(each.diagnostic() for each in problems)))
    warnings: list[Diagnostic] = []
    if read.version is not None:
        warnings += (each for each in (*parsed.diagnostics, *told) if each.severity is Severity.WARNING)
        warnings += inspect(source, parsed.module, read.roots) if not broken else []
    steps = limits.language.steps - max(evaluation.machine.steps, 0)
    return read.flow, _gathered([*broken, *errors_of(told)], problems, warnings), steps


def _analysed(flow: FlowSource, *, is_sound: bool) -> list[Problem]:
    """Judge guards, variables and checks beside each other; where a fault was found already, nothing is said that would need it mended."""
    from stateward.compiler.flow.analysing import given_of  # noqa: PLC0415 - a flow of version 1 has no use for it
    from stateward.compiler.flow.analysis.analyse import analyse  # noqa: PLC0415

    given = given_of(flow)
    return analyse(given if is_sound else given._replace(complete=False))


def _without_imports(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Leave out the imports that failed when they were needed: every import is refused where it is written."""
    return [each for each in diagnostics if each.code != "dcdl_import"]


def _gathered(faults: Iterable[Diagnostic], problems: Iterable[Problem], warnings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Bring all that was found together, by position; a warning about a text that is at fault anyway is left out."""
    found = [*faults, *(problem.diagnostic() for problem in problems)]
    spans = sorted(each.primary.place.span for each in found if each.severity is Severity.ERROR)
    starts = [span.start for span in spans]
    ends = list(accumulate((span.end for span in spans), max))
    for each in warnings:
        before = bisect_right(starts, each.primary.place.span.start)
        if not before or ends[before - 1] < each.primary.place.span.end:
            found.append(each)
    return tuple(sorted(_told_apart(found), key=sort_key))


def _told_apart(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Say where in the document a fault was met when one text, used in several places, is at fault in each of them."""
    alike = Counter(_appearance(each) for each in found)
    return [
        replace(each, notes=(*each.notes, f"met at `{path_text(each.path)}`")) if each.path and alike[_appearance(each)] > 1 else each
        for each in found
    ]


def _appearance(diagnostic: Diagnostic) -> tuple[str, str, Span]:
    return diagnostic.code, diagnostic.message, diagnostic.primary.place.span
