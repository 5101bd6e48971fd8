"""Halves of characters: what is in texts of workers and in no UTF-8, and how such a text is told where only UTF-8 will do.

Logs keep a text with half a surrogate pair as it came. Invariants: what is whole is given as it is; what is told instead of a half is
U+FFFD, one for each.
"""

from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from stateward.runtime.core.texts import is_unicode

REPLACED: Final = "\ufffd"


def whole(value: Any) -> Any:
    """Give a text, JSON, or a value of such, with each half in it replaced."""
    if isinstance(value, str):
        return value if is_unicode(value) else "".join(REPLACED if "\ud800" <= each <= "\udfff" else each for each in value)
    if isinstance(value, list | tuple):
        return type(value)(map(whole, value))
    if isinstance(value, dict):
        return {whole(name): whole(each) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: whole(getattr(value, each.name)) for each in fields(value)})
    return value
