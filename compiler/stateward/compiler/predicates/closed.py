"""Patterns that name all their texts: `/^(a|b|c)$/` is a closed set.

Invariant: the texts are exactly those that the pattern matches. A pattern in another form is none of these, though it may match few texts.
"""

import re
from typing import Final

ALTERNATIVES_MAX: Final = 256
"""Texts that one pattern may name."""
_WHOLE: Final = re.compile(r"\^(?:\((?:\?:)?(?P<several>[^()]*)\)|(?P<one>[^()|]*))\$", re.DOTALL)
_CHARACTER: Final = re.compile(r"\\(?P<escaped>[^\w\s])|(?P<plain>[^\\.\[\](){}*+?^$|])", re.ASCII | re.DOTALL)


def alternatives(pattern: str) -> tuple[str, ...] | None:
    """Give all texts that a pattern matches, each once, in order; None where it does not name them one by one."""
    whole = _WHOLE.fullmatch(pattern)
    if whole is None:
        return None
    parts = [whole["one"]] if whole["several"] is None else whole["several"].split("|")
    if len(parts) > ALTERNATIVES_MAX:
        return None
    texts = [_text(part) for part in parts]
    return None if None in texts else tuple(dict.fromkeys(each for each in texts if each is not None))


def _text(part: str) -> str | None:
    """Read literal characters; None where one of them means something else."""
    made, at = [], 0
    while at < len(part):
        found = _CHARACTER.match(part, at)
        if found is None:
            return None
        made.append(found["escaped"] or found["plain"])
        at = found.end()
    return "".join(made)
