"""Letters of other scripts that look like those of names, and the names that were meant by words with them.

Invariants: a word is taken for another only where all of it is plain then.
"""

import re
from typing import Final

_LIKE: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425"
    "\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "aeopcyxijsABEKMHOPCTX" + "ovABEZHIKMNOPTYX",
)
"""Cyrillic letters, then Greek ones, and what each looks like."""
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def plain_like(word: str) -> str | None:
    """Give the plain name that a word looks like; None for one that is plain, or looks like none."""
    like = word.translate(_LIKE)
    return like if like != word and _PLAIN.fullmatch(like) else None
