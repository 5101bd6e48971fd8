"""What would mend a finding, or what is selected, as edits of the text."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from stateward.compiler.diagnostics.fixing import offered, together
from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.renaming import spelled
from stateward.compiler.editor.states import States
from stateward.compiler.flow.identifiers import identifier_fault
from stateward.compiler.source import Span
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.oddities import CONTROL
from stateward.compiler.syntax.tree import Object

MISSING: Final = frozenset({"transition_target_not_found", "initial_not_found"})
ACTIONS_MAX: Final = 16
"""States that are offered to be added at once; each looks through the text."""
SELECTION_MAX: Final = 256 * 1024
_SPECIAL: Final = re.compile(r'[\\"]|\r(?!\n)')
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\r": "\\r"}
_ODD: Final = re.compile(rf"[{CONTROL}]")
_INDENT: Final = re.compile(r"[ \t]*")


class Mend(NamedTuple):
    """A way to mend a finding."""

    diagnostic: Diagnostic
    fix: Fix

    @property
    def is_certain(self) -> bool:
        """Whether it leaves the meaning as it was meant for certain."""
        return self.fix.applicability is Applicability.SAFE


class Action(NamedTuple):
    """Something that can be done to the text."""

    title: str
    edits: tuple[Edit, ...]
    diagnostic: Diagnostic | None = None
    """What it mends, if anything."""


def mends(analysis: Analysis, span: Span) -> Iterator[Mend]:
    """Give every way to mend what is wrong at a part of the text, in the order in which it is told."""
    for diagnostic in _at(analysis, span):
        yield from (Mend(diagnostic, fix) for fix in diagnostic.fixes)


def mends_all(analysis: Analysis) -> Iterator[Action]:
    """Offer to mend at once all that can be without a change of meaning, in the whole text, as `compile --fix` does."""
    changes = together(offered(analysis.diagnostics, analysis.source, unsafe=False))
    if changes:
        edits = sorted((edit for change in changes for edit in change.fix.edits), key=lambda each: each.span)
        yield Action(f"mend {counted(len(changes), 'fault')} of which it is certain how", tuple(edits))


def _at(analysis: Analysis, span: Span) -> Iterator[Diagnostic]:
    for diagnostic in analysis.diagnostics:
        place = diagnostic.primary.place
        if place.source is analysis.source and place.span.start <= span.end and span.start <= place.span.end:
            yield diagnostic


# --- a state that is missing ------------------------------------------------------------------------------------------------------------


def missing_states(analysis: Analysis, span: Span) -> Iterator[Action]:
    """Offer to declare the states that are named at a part of the text and are declared nowhere."""
    missing = islice((each for each in _at(analysis, span) if each.code in MISSING), ACTIONS_MAX)
    states = States(analysis)
    for diagnostic in missing:
        use = states.at(diagnostic.primary.place.span.start + 1)
        edit = None if use is None or identifier_fault(use.id) is not None else _declared(analysis, use.id)
        if use is not None and edit is not None:
            yield Action(f"add the state `{use.id}`", (edit,), diagnostic)


def _declared(analysis: Analysis, id_: str) -> Edit | None:
    """Give the edit that declares a state, behind all others; None where the states are not written out in one object."""
    entry = next((each for each in analysis.entries if each.path == ("states",) and each.is_last), None)
    if entry is None or not isinstance(entry.field.value, Object) or not entry.field.value.braced:
        return None
    text, object_ = analysis.source.text, entry.field.value
    closing = object_.end - 1
    if text[closing : closing + 1] != "}":
        return None
    tokens = scan(text[:closing], len(text))
    last = max((at for at, end in enumerate(tokens.ends) if end <= closing), default=None)
    ends_field = last is None or tokens.kinds[last] in {"SEMICOLON", "LBRACE"}
    after = tokens.ends[last] if last is not None else closing
    outer = _indent(text, object_.start)
    state = (
        f"{outer}    {spelled(id_)} = {{\n"
        f'{outer}        instructions = "Say what is to be done here.";\n'
        f"{outer}        terminal = true;\n"
        f"{outer}    }};\n"
    )
    line = text.rfind("\n", 0, closing) + 1
    if after <= line and not text[line:closing].strip():  # the bracket stands on a line of its own
        if ends_field:
            return Edit(Span(line, line), state)
        return Edit(Span(after, line), f";{text[after:line]}{state}")
    return Edit(Span(after, closing), f"{'' if ends_field else ';'}{text[after:closing].rstrip()}\n{state}{outer}")


def _indent(text: str, offset: int) -> str:
    found = _INDENT.match(text, text.rfind("\n", 0, offset) + 1)
    return found[0] if found is not None else ""


# --- a text that is selected ------------------------------------------------------------------------------------------------------------


def escaped(text: str) -> str | None:
    """Write a text as it stands between the quotes of a string; None where no string can hold it."""
    if len(text) > SELECTION_MAX or _ODD.search(text.replace("\r", "")):
        return None
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text)


def escape_selection(analysis: Analysis, span: Span) -> Iterator[Action]:
    """Offer to write what is selected as it stands between the quotes of a string, where that is not how it is written."""
    selected = analysis.source.slice(span)
    written = escaped(selected)
    if written is not None and written != selected:
        yield Action("escape the selection for a string", (Edit(span, written),))
