"""A name without quotes where the schema asks for one, or a truth in the spelling of another language: told in the words of a flow.

The language can only say that no such name is defined. The schema knows that an identifier or a Bool belongs there, so the fault is told
once and with the change that mends it. A name for which the language has an offer of its own is left to it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix, Label
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.flow.bind import FailedScalar
from stateward.compiler.flow.schema import ScalarType
from stateward.compiler.flow.typed import Path
from stateward.compiler.flow.words import TRUTHS
from stateward.compiler.language.literals import TYPES

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NOTHING: Final = frozenset({"null", "nil", "none", "undefined"})
"""How nothing is written elsewhere."""
_KINDS: Final = frozenset({"unresolved_identifier", "materialize"})


def told_by_schema(diagnostics: Iterable[Diagnostic], failed: Sequence[FailedScalar]) -> list[Diagnostic]:
    """Tell faults of the language anew where the schema knows better; several about one such word become one."""
    known = {each.path: rewritten for each in failed if (rewritten := _rewritten(each)) is not None}
    texts = {each.path for each in failed if _is_text_without_quotes(each)}
    nothing = {each.path for each in failed if _is_nothing(each)}
    places = {each.path: each for each in failed}
    found: list[Diagnostic] = []
    told: set[Path] = set()
    for each in diagnostics:
        if each.path in nothing and each.kind in _KINDS and _lies_in(each, places[each.path]):
            found.append(_told_as_nothing(each, places[each.path]))
        elif each.path in texts and each.kind == "materialize" and _lies_in(each, places[each.path]):
            found.append(_told_as_text(each, places[each.path]))
        elif each.path not in known or each.kind not in _KINDS or not _lies_in(each, places[each.path]):
            found.append(each)
        elif each.path not in told:
            told.add(each.path)
            found.append(_told(each, places[each.path], known[each.path]))
    return found


def _rewritten(failed: FailedScalar) -> str | None:
    """Write a word as the field wants it; None when that is not certain."""
    text = failed.place.source.slice(failed.place.span)
    if _WORD.fullmatch(text) is None:
        return None
    if failed.wanted is ScalarType.BOOL:
        return TRUTHS.get(text.lower())
    if not failed.is_name or text in TYPES or text.lower() in _NOTHING:
        return None
    return f'["{text}"]' if failed.lacks_brackets else f'"{text}"'


def _is_nothing(failed: FailedScalar) -> bool:
    return failed.is_name and failed.place.source.slice(failed.place.span).lower() in _NOTHING


def _told_as_nothing(diagnostic: Diagnostic, failed: FailedScalar) -> Diagnostic:
    text = failed.place.source.slice(failed.place.span)
    return replace(
        diagnostic,
        message=f"{quoted(text)} is not defined",
        primary=Label(failed.place, f"a name, not a {failed.wanted.value}"),
        secondary=(),
        notes=(f"DCDL has no {quoted(text)}",),
        help='put a name in `"`',
        fixes=(),
    )


def _is_text_without_quotes(failed: FailedScalar) -> bool:
    """Tell whether a word such as `TODO` stands where a text belongs: with a capital letter it is taken for a check of the host."""
    text = failed.place.source.slice(failed.place.span)
    return failed.wanted is ScalarType.STRING and _WORD.fullmatch(text) is not None and text[0].isupper() and text not in TYPES


def _told_as_text(diagnostic: Diagnostic, failed: FailedScalar) -> Diagnostic:
    text = failed.place.source.slice(failed.place.span)
    label = Label(failed.place, f"a name, not a {failed.wanted.value}")
    return replace(
        diagnostic, message=f"{quoted(text)} is not defined", primary=label, secondary=(), notes=(), help='put a text in `"`', fixes=()
    )


def _lies_in(diagnostic: Diagnostic, failed: FailedScalar) -> bool:
    place = diagnostic.primary.place
    offered = diagnostic.help is not None and diagnostic.help.startswith("did you mean")
    return not offered and place.source is failed.place.source and failed.place.span.covers(place.span)


def _told(diagnostic: Diagnostic, failed: FailedScalar, rewritten: str) -> Diagnostic:
    text = failed.place.source.slice(failed.place.span)
    return replace(
        diagnostic,
        message=f"{quoted(text)} is not defined",
        primary=Label(failed.place, f"a name, not a {failed.wanted.value}"),
        secondary=(),
        notes=(),
        help=f"write `{rewritten}`",
        fixes=(Fix(f"write `{rewritten}`", (Edit(failed.place.span, rewritten),), Applicability.UNSAFE),),
    )
