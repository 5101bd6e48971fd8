"""Whether a cited file still is what was quoted from it.

Invariants: lines are read and shown exactly as they are for a judge; whatever cannot be read to the last cited line is no longer so.
"""

from stateward.runtime.core.events import FileCitation
from stateward.runtime.session.visible import is_quote
from stateward.runtime.verifier.tools import WorkdirReader
from stateward.runtime.workdir.shown import Shown


def still_shows(workdir: WorkdirReader, cited: FileCitation) -> bool:
    """Tell whether those lines, read again, are what was quoted."""
    lines: list[str] = []
    number = cited.first_line
    # A read shows one line at least, and no quote has more lines than characters and one.
    while number <= cited.last_line and len(lines) <= len(cited.quote):
        found = workdir.read(cited.path, number, cited.last_line - number + 1)
        if not isinstance(found, Shown) or found.path != cited.path or found.cut or not found.lines:
            return False
        lines.extend(found.lines)
        number = found.last_line + 1
    return number == cited.last_line + 1 and is_quote(cited.quote, lines)
