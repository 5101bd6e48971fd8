"""Where the shipped data lies: beside this file in an installed wheel, at the top of `resources/` in a checkout."""

from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Give the folder of one kind of shipped data, such as `flows`.

    In a checkout the folder is live: an edit is seen at once. Raises FileNotFoundError when the installation lacks it.
    """
    for candidate in (_HERE / name, _HERE.parents[1] / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the installation lacks its `{name}` data; reinstall stateward")
