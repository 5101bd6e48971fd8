"""A compile, from bytes to a definition: the phases in order.

Each phase takes what the one before made and adds what it finds, and goes on with whatever is sound, so that one run shows every
independent fault and none that only follows from another. Size and encoding stop everything, since then there is no text; an unknown
version stops what would judge it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity, errors_of
from stateward.compiler.flow.canonical import canonical_of, closure_digest, digest
from stateward.compiler.flow.checks import check
from stateward.compiler.flow.damage import nesting_is_known, on_any_level
from stateward.compiler.flow.gathering import gathered
from stateward.compiler.flow.graph import check_graph
from stateward.compiler.flow.imports import of_other_versions, refused_imports, unused_imports
from stateward.compiler.flow.intake import raw_bytes, take_in
from stateward.compiler.flow.lower import DefinitionData, definition_of, lower
from stateward.compiler.flow.modules import FlowModules, ImportedModule
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.read import Read, read_flow
from stateward.compiler.flow.recognize import foreign
from stateward.compiler.flow.schema import LATER_VERSION
from stateward.compiler.flow.typed import FlowSource
from stateward.compiler.flow.unquoted import told_by_schema
from stateward.compiler.language.collecting import uncollected
from stateward.compiler.language.inspect import inspect
from stateward.compiler.language.loader import Loader
from stateward.compiler.language.values import ModuleContext
from stateward.compiler.limits import FLOW_LIMITS, FlowLimits
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import Parse, parse

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
    modules: tuple[ImportedModule, ...] = ()
    """What evaluation reached of what the flow imports, by path."""
    sought: tuple[str, ...] = ()
    """The paths of imports that were looked at, whether there was a module or not; seen from the folder of the flow."""

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
    def closure_digest(self) -> str | None:
        """The digest of the modules that the flow imports; None also where it imports none."""
        return closure_digest((each.path, each.digest) for each in self.modules)

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(each.severity is Severity.ERROR for each in self.diagnostics)


def compile_source(
    source: Source | bytes,
    *,
    name: str = "<source>",
    slug: str | None = None,
    limits: FlowLimits = FLOW_LIMITS,
    loader: Loader | None = None,
) -> Compilation:
    """Compile a Flow source.

    `name` is how people know a source that comes as bytes; `slug` is what it is kept under, where it is kept under something.
    `loader` gives a flow of version 2 what it imports, asked by paths from the folder of the flow; without one
    nothing can be imported.
    """
    raw = raw_bytes(source)
    text = take_in(source, source.name if isinstance(source, Source) else name, limits.source_bytes)
    if not isinstance(text, Source):
        return Compilation(None, (text.diagnostic(),), digest(raw), None, None)
    modules = FlowModules(text, loader, limits)
    with uncollected():
        data, diagnostics, steps = _compiled(text, slug, limits, modules)
    canonical = canonical_of(data) if data is not None else None
    return Compilation(text, diagnostics, digest(raw), data, canonical, steps, modules.reached, modules.sought)


def _compiled(
    source: Source, slug: str | None, limits: FlowLimits, modules: FlowModules
) -> tuple[DefinitionData | None, tuple[Diagnostic, ...], int]:
    """Judge a text and lower it; nothing else is left of it then, and nothing that the collector would have to look at."""
    flow, diagnostics, steps = _judged(source, slug, limits, modules)
    if any(each.severity is Severity.ERROR for each in diagnostics):
        return None, diagnostics, steps
    assert flow is not None, "what could not be bound was reported"
    return lower(flow), diagnostics, steps


def _judged(
    source: Source, slug: str | None, limits: FlowLimits, modules: FlowModules
) -> tuple[FlowSource | None, tuple[Diagnostic, ...], int]:
    """Take a text through all phases that judge it."""
    parsed = parse(source, limits.language)
    broken = errors_of(parsed.diagnostics)
    another_kind = foreign(source, parsed)
    if another_kind is not None:
        return None, (another_kind.diagnostic(),), 0

    read = read_flow(source, parsed.module, [(source, fault.primary.place.span) for fault in broken], limits.language, modules)
    evaluation = read.evaluation
    problems: list[Problem] = [*read.problems]
    if read.version != LATER_VERSION:
        modules.forget()
        problems += refused_imports(source, parsed.module, read.version) if read.version is not None else []
    problems += of_other_versions(evaluation.modules.imported)
    if read.flow is not None:
        problems += check(read.flow, slug=slug, limits=limits)
        problems += check_graph(read.flow)
    if broken and not nesting_is_known(source, limits.language):
        problems = on_any_level(problems)

    found = evaluation.diagnostics if read.version == LATER_VERSION else _without_imports(evaluation.diagnostics)
    told = told_by_schema(found, read.failed)
    if read.flow is not None and read.flow.schema_version == LATER_VERSION:
        problems += _analysed(read.flow, is_sound=not (broken or errors_of(told) or errors_of(each.diagnostic() for each in problems)))
    warnings = _warnings(source, parsed, read, told) if read.version is not None else []
    faults = [*broken, *errors_of(told), *(each.diagnostic() for each in problems)]
    if read.version == LATER_VERSION and not errors_of(faults):
        faults += (each.diagnostic() for each in unused_imports(source, parsed.module, modules, warnings))
    steps = limits.language.steps - max(evaluation.machine.steps, 0)
    return read.flow, gathered([_from(each, evaluation.modules.imported) for each in faults], warnings), steps


def _warnings(source: Source, parsed: Parse, read: Read, told: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Give what is likely a slip in a source, and in the modules that it imports."""
    warnings = [each for each in (*parsed.diagnostics, *told) if each.severity is Severity.WARNING]
    if not errors_of(parsed.diagnostics):
        warnings += inspect(source, parsed.module, read.roots)
    at_fault = {id(source) for source, _ in read.evaluation.modules.broken}
    for each in read.evaluation.modules.imported:
        warnings += inspect(each.source, each.tree, read.roots) if id(each.source) not in at_fault else []
    return warnings


def _from(diagnostic: Diagnostic, imported: Sequence[ModuleContext]) -> Diagnostic:
    """Say of what is found in a module where that is imported, if nothing else leads to it."""
    source = diagnostic.primary.place.source
    use = next((each.imported for each in imported if each.source is source), None)
    if use is None or any(label.place.source is not source for label in diagnostic.secondary):
        return diagnostic
    return replace(diagnostic, secondary=(*diagnostic.secondary, Label(use.place, "imported here")))


def _analysed(flow: FlowSource, *, is_sound: bool) -> list[Problem]:
    """Judge guards, variables and checks beside each other; where a fault was found already, nothing is said that would need it mended."""
    from stateward.compiler.flow.analysing import given_of  # noqa: PLC0415 - a flow of version 1 has no use for it
    from stateward.compiler.flow.analysis.analyse import analyse  # noqa: PLC0415

    given = given_of(flow)
    return analyse(given if is_sound else given._replace(complete=False))


def _without_imports(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Leave out the imports that failed when they were needed: every import is refused where it is written."""
    return [each for each in diagnostics if each.code != "dcdl_import"]
