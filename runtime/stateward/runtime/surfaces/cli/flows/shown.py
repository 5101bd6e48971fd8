"""How flows look in a terminal: revisions, acts, differences, conflicts, as lines of text.

Invariants: what somebody wrote (sources, notes, names of authors) reaches a terminal with nothing in it that a terminal would obey; lines
are not broken, so that what is compared stays one line.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import click

from stateward.compiler.cli.host import Document, loader_of
from stateward.compiler.cli.output import SHOWN_MAX, say, show_diagnostics
from stateward.compiler.diagnostics.cells import safe
from stateward.runtime.ports import ActKind, Conflict, Difference, FlowAct, NotCompiled, RevisionFacts
from stateward.runtime.surfaces.cli.reading import FileHost

NOTE_CHARACTERS_MAX: Final = 100
"""Of a note that is shown in a row."""
DIFFERENCE_LINES_MAX: Final = 200
"""Lines of a difference that are shown with a conflict."""
TAB_STOP: Final = 4
_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


def moment(time: datetime) -> str:
    """Give a time as it is listed: UTC, to the second."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


def author_shown(author: str) -> str:
    """Name an author within a sentence."""
    return safe(author) or "somebody"


def note_shown(note: str) -> str:
    """Give the beginning of a note in one line."""
    line = safe(" ".join(note.split()))
    return line if len(line) <= NOTE_CHARACTERS_MAX else f"{line[: NOTE_CHARACTERS_MAX - 1]}…"


def revision_line(facts: RevisionFacts) -> str:
    """Say in a line which revision it is, when it was saved and by whom, and why."""
    return f"revision {facts.revision}  {moment(facts.created)}  {author_shown(facts.author)}  {note_shown(facts.note)}".rstrip()


def act_line(act: FlowAct) -> str:
    """Say in a line what was done to a flow."""
    return f"{what_was_done(act)}  {moment(act.created)}  {author_shown(act.author)}  {note_shown(act.note)}".rstrip()


def what_was_done(act: FlowAct) -> str:
    """Name an act in a few words."""
    if act.kind is ActKind.REMOVED:
        return "removed"
    return f"imported {act.first}" if act.first == act.revision else f"imported {act.first} to {act.revision}"


def difference_lines(text: str, *, colour: bool) -> Iterator[str]:
    """Give the lines of a unified difference, fit for a terminal."""
    heading = True
    for line in text.removesuffix("\n").split("\n"):
        heading = heading and not line.startswith("@@")
        style = None if heading else _STYLES.get(line[:1])
        shown = safe(line.expandtabs(TAB_STOP))
        yield click.style(shown, fg=style, bold=heading or None) if colour and (style or heading) else shown


def source_shown(text: str) -> str:
    """Give a source, fit for a terminal."""
    return "\n".join(safe(line.expandtabs(TAB_STOP)) for line in text.replace("\r\n", "\n").split("\n"))


def tell(lines: Sequence[str]) -> None:
    """Print lines to standard error; they may hold colours where it is a terminal."""
    say("".join(f"{line}\n" for line in lines), err=True, coloured=FileHost().look(err=True).colour)


def tell_conflict(conflict: Conflict) -> None:
    """Show both revisions, how the flow was removed, and what changed between them."""
    lines = [f"  {revision_line(each)}" for each in (conflict.base, conflict.current) if each is not None]
    if conflict.base is not None and conflict.current is not None and conflict.base.revision == conflict.current.revision:
        lines = lines[:1]
    if conflict.removed is not None:
        lines.append(f"  {act_line(conflict.removed)}")
    tell([*lines, *_bounded(conflict.difference)])


def tell_diagnostics(document: Document, slug: str, refused: NotCompiled) -> None:
    """Show why a source does not compile. Where this program finds nothing wrong, what the other one said is told."""
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415 - only what does not compile needs it here

    compilation = compile_source(document.data, name=document.name, slug=slug, loader=loader_of(FileHost(), document))
    if compilation.definition is None:
        show_diagnostics(compilation.diagnostics, FileHost(), SHOWN_MAX, err=True)
    else:
        tell([_diagnostic_line(each) for each in refused.diagnostics[:SHOWN_MAX]])


def _diagnostic_line(told: Mapping[str, Any]) -> str:
    """Give one diagnostic of another program in a line."""
    start = told.get("primary", {}).get("start", {})
    place = f" at line {start['line']}, column {start['column']}" if {"line", "column"} <= start.keys() else ""
    return safe(f"{told.get('severity', 'error')}[{told.get('code', '?')}]: {told.get('message', '')}{place}")


def tell_difference(difference: Difference | None) -> None:
    """Show how two texts differ beside something that is told."""
    tell(_bounded(difference))


def _bounded(difference: Difference | None) -> list[str]:
    if difference is None or not difference.text:
        return []
    lines = list(difference_lines(difference.text, colour=FileHost().look(err=True).colour))
    left = len(lines) - DIFFERENCE_LINES_MAX
    shown = lines[:DIFFERENCE_LINES_MAX]
    if left > 0 or difference.cut:
        shown.append("… the difference goes on" if difference.cut else f"… and {left} lines more")
    return shown
