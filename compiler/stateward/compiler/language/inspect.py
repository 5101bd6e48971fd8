"""What evaluation does not see, since it is lazy: warnings of a static pass over a module.

Invariants: a warning never blocks; a place that the evaluator reports as well is the same place, so that a caller can leave the warning
out; nothing is evaluated, and depth costs no recursion.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Final

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity, sort_key
from stateward.compiler.diagnostics.wording import character
from stateward.compiler.language.bindings import BindingsPass
from stateward.compiler.source import Place, Source, Span
from stateward.compiler.syntax.tree import Module

INVISIBLE_TOLD_MAX: Final = 100
"""Places of invisible characters that are told of one source."""
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e007f]+|(?<=[\x00-\x7f])[\u200c\u200d]+"
)
"""Characters that show nothing, or that turn the direction of what is beside them. Joiners between letters outside ASCII are meant."""
_TURNING: Final = frozenset({"RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"})
"""The classes of characters that turn the direction."""


def inspect(source: Source, module: Module, roots: Collection[str] = ()) -> list[Diagnostic]:
    """Find what is likely a slip in a sound module: names never used, never defined or hidden, fields set twice, invisible characters.

    `roots` are the names that are known only at run time where no scope binds them.
    """
    names = BindingsPass(source, roots)
    names.walk(module)
    return sorted([*names.findings, *_invisible(source)], key=sort_key)


def _invisible(source: Source) -> Iterator[Diagnostic]:
    if source.is_ascii:
        return
    for found, _ in zip(_INVISIBLE.finditer(source.text), range(INVISIBLE_TOLD_MAX), strict=False):
        char = found[0][0]
        turns = unicodedata.bidirectional(char) in _TURNING
        yield Diagnostic(
            "invisible_character",
            Severity.WARNING,
            f"the text holds {character(char)}, which {'turns the reading direction' if turns else 'shows nothing'}",
            Label(Place(source, Span(*found.span())), "turns what follows" if turns else "invisible here"),
        )
