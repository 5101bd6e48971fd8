"""The Workdir without secrets: lines as a judge may be shown them, and as it can cite them.

Invariants: what is shown and what is noted as shown are the same masked lines, so a line that holds a secret can be quoted without it;
numbers of lines stay. A value that goes over several lines is none here: each line is masked by itself.
"""

from dataclasses import dataclass, replace

from stateward.runtime.session.masking import Secrets
from stateward.runtime.verifier.tools import WorkdirReader
from stateward.runtime.workdir.shown import Globbed, Grepped, Refused, Shown


@dataclass(frozen=True, slots=True)
class MaskedWorkdir:
    """The port `WorkdirReader` over another, in whose lines secrets give way."""

    workdir: WorkdirReader
    secrets: Secrets

    def read(self, path: str, first_line: int = 1, limit: int | None = None) -> Shown | Refused:
        """Show lines of a file."""
        found = self.workdir.read(path, first_line, limit)
        return found if isinstance(found, Refused) else replace(found, lines=tuple(map(self.secrets.mask, found.lines)))

    def glob(self, pattern: str, under: str = "") -> Globbed | Refused:
        """Find paths. A path is not masked: by another it would not be found again."""
        return self.workdir.glob(pattern, under)

    def grep(self, pattern: str, under: str = "", paths: str = "", *, ignore_case: bool = False) -> Grepped | Refused:
        """Find lines. What is searched is what lies there; what is shown is masked."""
        found = self.workdir.grep(pattern, under, paths, ignore_case=ignore_case)
        if isinstance(found, Refused):
            return found
        return replace(found, hits=tuple(replace(each, text=self.secrets.mask(each.text)) for each in found.hits))
