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
