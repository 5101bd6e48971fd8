"""Every limit of the engine, in one table. Sizes count UTF-8 bytes."""

from typing import Final

COMMITS_MAX: Final = 128
"""How often one call decides again because somebody else appended first."""
LOST_ANSWERS_MAX: Final = 8
"""How often one call tries again because the store lost the answer to a commit that then turned out not to have happened."""
CHECKPOINT_ENTRIES: Final = 256
"""Entries after which the next commit begins with a checkpoint: restoring reads as many at most, besides those of that commit."""
RENEWALS: Final = 3
"""How often a lease is renewed in the time it lasts, while a verifier works."""
FORKS_DEPTH_MAX: Final = 64
"""Logs through which the entries of a fork are read."""
ROLLBACKS_MAX: Final = 64
"""Accepted rollbacks of one log that its views tell of."""
FORKS_LISTED_MAX: Final = 16
"""Forks named in one message."""
WORKERS_PAGE_MAX: Final = 200
"""Workers in one page of an overview."""
RUN_MESSAGE_BYTES_MAX: Final = 4 * 1024
"""What is said about the end of a run."""
RECORDS_BYTES_MAX: Final = 64 * 1024 * 1024
"""Payloads of the records that are committed at a time, together."""
CURSORS_MAX: Final = 2**40
"""How often it is said of one transcript how far it was taken in."""
CURSOR_PATH_BYTES_MAX: Final = 16 * 1024
"""The path of a transcript."""
FOLDS_MAX: Final = 256
"""Workers whose folded log one process remembers."""
DEFINITIONS_MAX: Final = 128
"""Definitions that one process remembers."""
SEGMENTS_MAX: Final = 64
"""Segments of one input."""
INPUT_BYTES_MAX: Final = 1024 * 1024
"""All texts of one input together."""
NOTE_BYTES_MAX: Final = 4 * 1024
"""What is said about a revision when it is saved."""
NAME_BYTES_MAX: Final = 512
"""Of the author of a revision."""
REVISION_MAX: Final = 2**31 - 1
"""The number of a revision; every store can hold it."""
SOURCE_KEPT_BYTES_MAX: Final = 1024 * 1024
"""A source that every store keeps: no compiler takes one so large, so none that was kept is larger."""
DEFINITION_BYTES_MAX: Final = 16 * 1024 * 1024
"""A definition that every store keeps, in its canonical form."""
NOTE_KEPT_BYTES_MAX: Final = 16 * 1024
"""A note that every store keeps: what was said, and what was added to it."""
NAME_KEPT_BYTES_MAX: Final = 1024
"""A name that every store keeps: of an author, of a compiler."""
BUNDLE_LINE_BYTES_MAX: Final = 48 * 1024 * 1024
"""One line of a bundle: a definition at its limit, most of its characters escaped."""
BUNDLE_REVISIONS_MAX: Final = 10_000
"""Revisions in one bundle: each is compiled when it is taken in."""
BUNDLE_WORK_MAX: Final = 50_000_000
"""What a service spends on compiling the sources of one bundle: evaluation steps, and some for each byte. About a minute at worst."""
WORK_PER_BYTE: Final = 2
"""What reading one byte of a source counts for, in evaluation steps."""
SYNC_FLOWS_MAX: Final = 10_000
"""Files of a folder, and flows of a Workspace, that are brought together at a time."""
