"""Every limit of the Workdir, in one place: constants hold for everybody, `ViewBounds` and `FactsBounds` are what a profile may narrow.

Sizes count bytes, times are seconds. Each limit accepts its exact value and refuses, or cuts, one more.
"""

from dataclasses import dataclass
from typing import Final

PATH_BYTES_MAX: Final = 4096
"""A path that is asked for."""
DEPTH_MAX: Final = 64
"""Folders below each other that a path or a walk goes through."""
LINKS_MAX: Final = 16
"""Symbolic links followed on the way to one file."""
PATTERN_BYTES_MAX: Final = 1024
"""A pattern to search for, or one that names files."""
PATTERN_MEMORY_MAX: Final = 8 * 1024 * 1024
"""Memory that one compiled pattern may take."""
SAMPLE_BYTES: Final = 8000
"""The beginning of a file, where a zero byte makes it binary."""
CHUNK_BYTES: Final = 64 * 1024
"""Read at once."""
LINE_NUMBER_MAX: Final = 1_000_000_000
"""The first line that can be asked for."""
FOLDER_ENTRIES_MAX: Final = 100_000
"""Entries of one folder that a walk looks at."""
WALK_ENTRIES_MAX: Final = 400_000
"""Entries that one walk looks at."""
SEARCH_FILE_BYTES_MAX: Final = 16 * 1024 * 1024
"""The beginning of a file that is searched."""
SEARCH_TOTAL_BYTES_MAX: Final = 1024 * 1024 * 1024
"""Read by one search."""
SEARCH_MEMORY_MAX: Final = 1024 * 1024 * 1024
"""Address space of the process that searches."""
SEARCH_OUTPUT_FACTOR: Final = 8
"""Bytes on the wire that one byte of a result takes at most."""
SEARCH_NOTICES_BYTES: Final = 512 * 1024
"""Taken from the process that searches besides its results."""
SEARCH_REQUEST_BYTES_MAX: Final = 64 * 1024
"""Given to the process that searches."""
SEARCH_GRACE_SECONDS: Final = 3.0
"""A search ends by itself at its limit and is killed so long after."""
ERROR_BYTES_MAX: Final = 16 * 1024
"""Kept of what a process says on its standard error."""
DRAINED_BYTES_MAX: Final = 1024 * 1024
"""Taken from a pipe after the process at its other end has ended: as much as a pipe holds."""
CHECK_MARGIN_BYTES: Final = 64 * 1024
"""Looked at beyond what is kept of the output of a check, so that a secret is known where the output is cut."""
NOTICES_MAX: Final = 32
"""Notices of one answer."""


@dataclass(frozen=True, slots=True)
class ViewBounds:
    """How much one call of the view shows, and how long it may take."""

    read_bytes: int = 64 * 1024
    """Of all lines of one read together."""
    read_lines: int = 2000
    line_bytes: int = 8 * 1024
    """Of one line; a longer one is shown cut."""
    scan_bytes: int = 64 * 1024 * 1024
    """How far into a file a read looks for the lines that were asked for."""
    results: int = 500
    """Of one glob or grep."""
    match_bytes: int = 1024
    """Of the line of one match; a longer one is shown cut."""
    result_bytes: int = 64 * 1024
    """Of all results of one glob or grep together."""
    search_seconds: float = 10.0

    def __post_init__(self) -> None:
        """Refuse bounds that let nothing through."""
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is not more than 0")


SMALL_FILE_BYTES_MAX: Final = 1024 * 1024
"""A file of a git directory that is read by itself: `HEAD`, a ref, a configuration, patterns."""
PACKED_REFS_BYTES_MAX: Final = 64 * 1024 * 1024
INDEX_BYTES_MAX: Final = 512 * 1024 * 1024
"""An index that is copied before git reads it."""
OBJECT_FILES_MAX: Final = 400_000
"""Files that hold objects."""
REF_HOPS_MAX: Final = 5
"""Refs that name another ref, one after the other."""
REF_BYTES_MAX: Final = 1024
GIT_MEMORY_MAX: Final = 4 * 1024 * 1024 * 1024
"""Address space of one git process; packs are mapped into it."""
NAMED_BYTES_MAX: Final = 32 * 1024
"""Of all changed paths that are named together, and of all hidden ones."""
HIDDEN_LISTED_MAX: Final = 50
"""Paths named that uncommitted patterns hide."""


@dataclass(frozen=True, slots=True)
class FactsBounds:
    """How far the taking of facts goes."""

    seconds: float = 60.0
    """All of it together."""
    output_bytes: int = 64 * 1024 * 1024
    """Taken from one git process."""
    changes: int = 20_000
    """Changed files that enter the digest; with more, the facts are unknown."""
    changes_listed: int = 200
    """Changed files that are named."""
    digest_bytes: int = 512 * 1024 * 1024
    """Contents of changed files that are read for the digest; further ones enter it by size and times."""
