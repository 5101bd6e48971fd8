"""What an identifier is, for names of flows and for ids, and what one is like that was meant to be one."""

import re
import unicodedata
from typing import Final

from stateward.compiler.diagnostics.wording import character, counted
from stateward.compiler.limits import IDENTIFIER_BYTES_MAX

RULE: Final = f"has 1 to {IDENTIFIER_BYTES_MAX} ASCII letters, digits, `-` and `_`"
_IDENTIFIER: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{IDENTIFIER_BYTES_MAX}}}")
_ENDING: Final = ".dcdl"


def identifier_fault(text: str) -> str | None:
    """Say what keeps a text from being an identifier, as the end of a sentence that begins with it; None when it is one."""
    if _IDENTIFIER.fullmatch(text):
        return None
    if not text:
        return "is empty"
    if text.startswith("$"):
        return "begins with `$`"
    odd = next((char for char in text if not _IDENTIFIER.fullmatch(char)), None)
    return f"holds {character(odd)}" if odd is not None else f"has {counted(len(text), 'byte')}"


def id_like(text: str) -> str | None:
    """Give the id nearest to a text that is none; None when nothing is left of it."""
    return _like(text, "_")


def name_like(text: str) -> str | None:
    """Give the name of a flow nearest to a text that is none, which may be the path of its file; None when nothing is left of it."""
    return _like(text.rsplit("/", 1)[-1].removesuffix(_ENDING), "-")


def _like(text: str, joint: str) -> str | None:
    plain = unicodedata.normalize("NFKD", text.strip().lstrip("$"))
    letters = [char if _IDENTIFIER.fullmatch(char) else joint for char in plain if not unicodedata.combining(char)]
    found = "".join(letters).strip(joint)
    return found if found and identifier_fault(found) is None else None
