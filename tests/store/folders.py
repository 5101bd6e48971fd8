"""Where the stores of tests lie."""

from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")  # noqa: S108 -- the folders made in it are ours alone
"""A folder in memory, where the system has one."""
