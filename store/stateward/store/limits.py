"""Numbers and names that statements hold and those who run them need."""

from pathlib import Path
from typing import Final

TEXTS: Final = Path(__file__).with_name("texts.json")
"""The statements as they are written down for SQLite."""
CHECKPOINT: Final = "checkpoint"
"""The kind of entry that has an index of its own."""
TIME_CHARACTERS: Final = 27
"""Of every time."""
DIGEST_CHARACTERS: Final = 71
"""Of every digest."""
PAGE_ENTRIES_MAX: Final = 256
PAGE_BYTES_MAX: Final = 4 * 1024 * 1024
"""Of payloads held at once while reading, besides the one that passes this."""
ACT: Final = "act_"
"""How the columns of an act begin beside those of its flow."""
CLOSURE_DIGEST: Final = "closure_digest"
"""What the digest of the modules of a revision is called beside its columns; the digest of its row covers it where there is one."""
MODULES_MAX: Final = 256
"""Of one revision."""
