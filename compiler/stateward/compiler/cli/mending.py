"""Sources mended by the fixes that diagnostics offer.

Invariants: a change is kept only where the compiler finds less wrong after it and nothing that it had not found before; changes that are
safe leave the definition of a source without errors as it was, byte for byte. The work is bounded by the number of compiles.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from stateward.compiler.diagnostics.fixing import Change, applied, offered, together
from stateward.compiler.diagnostics.model import errors_of
from stateward.compiler.diagnostics.report import Fixed, Mendable
from stateward.compiler.flow.intake import raw_bytes
from stateward.compiler.pipeline import Compilation
from stateward.compiler.source import Source

COMPILES_MAX: Final = 200
"""Compiles that the mending of one source may take."""
TRIAL_COMPILES_MAX: Final = 16
"""Compiles that may be spent on one source to say how much of it could be mended, for each kind of change."""


class Mended(NamedTuple):
    """What became of a source."""

    compilation: Compilation
    """Of the text as it is now."""
    made: tuple[Fixed, ...]
    """What was changed, in the order in which it was; empty when nothing was."""

    @property
    def data(self) -> bytes:
        """The bytes of the file as they are to be."""
        assert self.compilation.source is not None, "what is no text offers no fixes"
        return raw_bytes(self.compilation.source)


def mend(compilation: Compilation, recompile: Callable[[Source], Compilation], *, unsafe: bool, compiles_max: int = COMPILES_MAX) -> Mended:
    """Make all changes that leave a source better than it was, or those that are found with so many compiles."""
    return _Mending(recompile, unsafe, compiles_max).run(compilation)


def mendable(compilation: Compilation, recompile: Callable[[Source], Compilation]) -> Mendable:
    """Count the changes that mending would make: at least so many, where there is a lot to try."""
    safe = mend(compilation, recompile, unsafe=False, compiles_max=TRIAL_COMPILES_MAX)
    more = mend(safe.compilation, recompile, unsafe=True, compiles_max=TRIAL_COMPILES_MAX)
    return Mendable(len(safe.made), len(more.made))


def left_out(compilation: Compilation, *, unsafe: bool) -> int:
    """Count the fixes that are still offered for a source that was mended: each of them was tried."""
    return len(offered(compilation.diagnostics, compilation.source, unsafe=unsafe)) if compilation.source is not None else 0


class _Mending:
    def __init__(self, recompile: Callable[[Source], Compilation], unsafe: bool, compiles_max: int) -> None:
        self._recompile = recompile
        self._unsafe = unsafe
        self._compiles_max = compiles_max
        self._compiles = 0

    def run(self, compilation: Compilation) -> Mended:
        made: list[Fixed] = []
        while True:
            better, changes = self._round(compilation)
            if better is None:
                return Mended(compilation, tuple(made))
            made += _told(changes)
            compilation = better

    def _round(self, compilation: Compilation) -> tuple[Compilation | None, Sequence[Change]]:
        """Make all changes that go together; where that is not better, the first that is by itself."""
        if compilation.source is None:
            return None, ()
        changes = offered(compilation.diagnostics, compilation.source, unsafe=self._unsafe)
        all_ = together(changes)
        for some in (all_, *([each] for each in (changes if len(changes) > 1 else ()))):
            better = self._tried(compilation, some) if some else None
            if better is not None:
                return better, some
        return None, ()

    def _tried(self, before: Compilation, changes: Sequence[Change]) -> Compilation | None:
        """Make changes, and give what comes of it where that is better."""
        assert before.source is not None, "what is no text offers no fixes"
        self._compiles += 1
        if self._compiles > self._compiles_max:
            return None
        source = Source(before.source.name, applied(before.source.text, changes), before.source.has_mark)
        after = self._recompile(source)
        keeps = before.canonical is None or before.canonical == after.canonical or not all(each.is_safe for each in changes)
        return after if keeps and _is_better(before, after) else None


def _is_better(before: Compilation, after: Compilation) -> bool:
    """Tell whether there is less wrong, and no error that was not there."""
    return _weight(after) < _weight(before) and not (_errors(after) - _errors(before))


def _weight(compilation: Compilation) -> tuple[int, int]:
    return compilation.errors, len(compilation.diagnostics)


def _errors(compilation: Compilation) -> Counter[tuple[str, str]]:
    return Counter((each.code, each.message) for each in errors_of(compilation.diagnostics))


def _told(changes: Iterable[Change]) -> list[Fixed]:
    """Say what was changed, by position."""
    told: list[Fixed] = []
    for change in changes:
        place = change.diagnostic.primary.place
        line, column = place.source.line_column(min(edit.span.start for edit in change.fix.edits))
        told.append(Fixed(change.diagnostic.code, change.fix.title, change.fix.applicability.value, line, column))
    return told
