"""What a text declares, as a tree: its states with their transitions, and its names."""

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import groupby
from typing import Final, NamedTuple

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.outline import Entry
from stateward.compiler.flow.schema import ConstraintsByName, MapOf
from stateward.compiler.source import Span

SYMBOLS_MAX: Final = 10_000
"""Of one text, and of one answer."""


class Sort(Enum):
    """What a symbol is."""

    STATE = "state"
    TRANSITION = "transition"
    NAME = "name"
    FIELD = "field"
    DECLARED = "declared"
    """A variable, an input or a check."""


class Symbol(NamedTuple):
    """Something that is declared."""

    name: str
    sort: Sort
    detail: str
    whole: Span
    """With all that belongs to it."""
    key: Span
    below: "tuple[Symbol, ...]" = ()


def symbols(analysis: Analysis) -> tuple[Symbol, ...]:
    """Give what a text declares, in order: what is written out as a flow, and the names that are bound."""
    named = [
        Symbol(each.key.text, Sort.NAME, "", _around(each.key.span, each.value.span if each.value else None), each.key.span)
        for each in analysis.scopes.bound
        if each.kind == "let"
    ]
    found = [*named[:SYMBOLS_MAX], *_written(analysis)]
    return tuple(sorted(found, key=lambda each: (each.key.start, each.key.end)))


def _written(analysis: Analysis) -> Iterator[Symbol]:
    for found in _joined(_parts(analysis)):
        yield found._replace(below=tuple(_joined(found.below)))


def _parts(analysis: Analysis) -> Iterator[Symbol]:
    """Give a symbol for each key of a field and of a state, with the keys of what is declared in it and of its transitions."""
    parts: list[tuple[Symbol, list[Symbol]]] = []
    for entry in [each for each in analysis.entries if len(each.path) in {1, 2, 4}][:SYMBOLS_MAX]:
        match entry.path:
            case ("states", _, "transitions", transition) if parts and parts[-1][0].whole.covers(entry.key.span):
                parts[-1][1].append(_symbol(entry, transition, Sort.TRANSITION))
            case ("states", state):
                parts.append((_symbol(entry, state, Sort.STATE, _detail(analysis, state)), []))
            case (holder, name) if holder in _declaring(analysis) and parts and parts[-1][0].whole.covers(entry.key.span):
                parts[-1][1].append(_symbol(entry, name, Sort.DECLARED))
            case (field,) if field != "states":
                parts.append((_symbol(entry, field, Sort.FIELD), []))
            case _:
                pass
    yield from (part._replace(below=tuple(below)) for part, below in parts)


def _declaring(analysis: Analysis) -> frozenset[str]:
    """Give the fields that declare something beside states."""
    return frozenset(spec.name for spec in analysis.form.fields if isinstance(spec.type, MapOf | ConstraintsByName)) - {"states"}


def _symbol(entry: Entry, name: str, sort: Sort, detail: str = "") -> Symbol:
    return Symbol(name, sort, detail, _around(entry.key.span, entry.field.span), entry.key.span)


def _joined(found: Iterable[Symbol]) -> Iterator[Symbol]:
    """Make one of symbols that follow each other and are parts of the same, so that they lie beside each other and in what is around."""
    for _, group in groupby(found, key=lambda each: (each.name, each.sort)):
        first, *others = group
        whole = _around(first.whole, *(each.whole for each in others))
        yield first._replace(whole=whole, below=tuple(below for part in (first, *others) for below in part.below))


def _detail(analysis: Analysis, id_: str) -> str:
    state = next((each for each in analysis.states if each.id == id_), None)
    if state is None or state.instructions is None:
        return ""
    return next((line.strip() for line in state.instructions.value.splitlines() if line.strip()), "")[:80]


def _around(*spans: Span | None) -> Span:
    there = [each for each in spans if each is not None]
    return Span(min(each.start for each in there), max(each.end for each in there))


def matching(found: Iterable[Symbol], query: str) -> Iterator[tuple[Symbol, str]]:
    """Give the symbols whose names hold the letters of a query, in order, with the name of what they lie in."""
    for each in found:
        if _matches(each.name, query):
            yield each, ""
        yield from ((below, each.name) for below in each.below if _matches(below.name, query))


def _matches(name: str, query: str) -> bool:
    letters = iter(name.casefold())
    return all(each in letters for each in query.casefold())
