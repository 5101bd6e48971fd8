"""Every limit of the engine, in one table. Sizes count UTF-8 bytes."""

from typing import Final

COMMITS_MAX: Final = 128
"""How often one call decides again because somebody else appended first."""
LOST_ANSWERS_MAX: Final = 8
"""How often one call tries again because the store lost the answer to a commit that then turned out not to have happened."""
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
