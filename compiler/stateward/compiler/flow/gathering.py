"""All that the phases found, brought together: by file and position, each thing once.

Invariants: a warning about a text that is at fault anyway is left out; what lies in different files is never taken for one.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic, errors_of, sort_key
from stateward.compiler.language.reporting import path_text
from stateward.compiler.source import Span


def gathered(faults: Iterable[Diagnostic], warnings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Bring all that was found together; only of `warnings` some are left out."""
    found = [*faults]
    at_fault = _at_fault(errors_of(found))
    for each in warnings:
        place = each.primary.place
        known = at_fault.get(id(place.source))
        if known is None or not known.reach_into(place.span):
            found.append(each)
    return tuple(sorted(_told_apart(found), key=sort_key))


class _Spans(NamedTuple):
    """The spans of one file that are at fault."""

    starts: Sequence[int]
    ends: Sequence[int]
    """How far those reach that begin there or before."""

    def reach_into(self, span: Span) -> bool:
        """Tell whether one of them begins where a span does or before, and reaches as far as its end."""
        before = bisect_right(self.starts, span.start)
        return bool(before) and self.ends[before - 1] >= span.end


def _at_fault(errors: Iterable[Diagnostic]) -> dict[int, _Spans]:
    spans: defaultdict[int, list[Span]] = defaultdict(list)
    for each in errors:
        spans[id(each.primary.place.source)].append(each.primary.place.span)
    return {
        source: _Spans([each.start for each in sorted(some)], list(accumulate((each.end for each in sorted(some)), max)))
        for source, some in spans.items()
    }


def _told_apart(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Say where in the document a fault was met when one text, used in several places, is at fault in each of them."""
    alike = Counter(_appearance(each) for each in found)
    return [
        replace(each, notes=(*each.notes, f"met at `{path_text(each.path)}`")) if each.path and alike[_appearance(each)] > 1 else each
        for each in found
    ]


def _appearance(diagnostic: Diagnostic) -> tuple[str, str, int, Span]:
    place = diagnostic.primary.place
    return diagnostic.code, diagnostic.message, id(place.source), place.span
