"""Every limit of the core, in one table. Sizes count UTF-8 bytes. Each limit accepts its exact value and refuses one more."""

from typing import Final

REASON_BYTES_MAX: Final = 16 * 1024
"""A worker's reason, trimmed."""
MESSAGE_BYTES_MAX: Final = 32 * 1024
"""A failed verifier's message; a longer one is cut, for it decides nothing."""
RESULTS_MAX: Final = 64
"""Results of one verification; no state has as many transitions."""
RESULTS_BYTES_MAX: Final = 1024 * 1024
"""All texts of one verification together, so that the entry that records it fits its own limit in any encoding."""
RATIONALE_BYTES_MAX: Final = 16 * 1024
MISSING_MAX: Final = 32
"""Things missing for one transition."""
MISSING_BYTES_MAX: Final = 4 * 1024
"""One missing thing."""
CITATIONS_MAX: Final = 64
"""Citations for one transition."""
REFERENCE_BYTES_MAX: Final = 64
"""The reference of a cited entry."""
PATH_BYTES_MAX: Final = 4 * 1024
"""The path of a cited file."""
QUOTE_BYTES_MAX: Final = 16 * 1024
"""The text quoted from a cited file."""
REJECTIONS_MAX: Final = 64
"""Rejected judgements of one visit that are remembered; a hold comes after as many at most."""
ASIDE_MAX: Final = 256
"""Separate parts of a log that rewinds of one instance set aside."""
BY_BYTES_MAX: Final = 1024
"""The name of who acted."""
LINES_MAX: Final = 1_000_000_000
"""The number of a cited line."""
SHOWN_CHARACTERS_MAX: Final = 80
"""A foreign text shown inside one of our messages."""
VARIABLE_BYTES_MAX: Final = 64 * 1024
"""The value of one variable or input."""
VARIABLES_BYTES_MAX: Final = 256 * 1024
"""The values of all variables of an instance together."""
