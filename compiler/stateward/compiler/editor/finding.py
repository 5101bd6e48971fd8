"""Definition and references: of the ids of states, of what a flow declares, of bound names, and of files that are imported."""

from collections.abc import Iterator

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.declared import DeclaredNames, Part
from stateward.compiler.editor.importing import alike, import_at
from stateward.compiler.editor.states import Role, States
from stateward.compiler.source import Span


def definitions(analysis: Analysis, offset: int) -> list[Span]:
    """Give where what stands at an offset is declared; nothing where it is declared in no text, as `$cancelled` is."""
    use = States(analysis).at(offset)
    if use is not None:
        declared = States(analysis).declaration(use.id)
        return [] if declared is None or declared.place.source is not analysis.source else [declared.word or declared.place.span]
    names = DeclaredNames(analysis)
    named = names.at(offset)
    if named is not None:
        return [each.word for each in names.of(named) if each.part is Part.DECLARED]
    bound = analysis.scopes.at(offset)
    return [] if bound is None else [bound.key.span]


def references(analysis: Analysis, offset: int, *, declaration: bool) -> list[Span]:
    """Give every place where what stands at an offset is named, in order; with the declaration, if that is wanted."""
    return sorted(set(_references(analysis, offset, declaration=declaration)))


def _references(analysis: Analysis, offset: int, *, declaration: bool) -> Iterator[Span]:
    importing = import_at(analysis, offset)
    if importing is not None:
        yield from (each.span for each in alike(analysis, importing))
        return
    states = States(analysis)
    use = states.at(offset)
    if use is not None:
        for each in states.of(use.id):
            if each.place.source is analysis.source and (declaration or each.role is not Role.DECLARED):
                yield each.word or each.place.span
        return
    names = DeclaredNames(analysis)
    named = names.at(offset)
    if named is not None:
        yield from (each.word for each in names.of(named) if declaration or each.part is not Part.DECLARED)
        return
    bound = analysis.scopes.at(offset)
    if bound is not None:
        yield from bound.uses
        if declaration:
            yield bound.key.span
