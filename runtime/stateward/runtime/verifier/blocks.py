"""Blocks: how text that is not ours stands in what a model is given.

Invariants: a block ends where its boundary stands alone on a line after `</data`, and its content holds the boundary nowhere, so no
content closes its block; the boundary follows from the attempt and the content, so it is the same each time, and nobody who wrote the
content before the attempt began could know it. Nothing in a content is looked up, replaced or doubled.
"""

import hmac
from typing import Final

_TRIES_MAX: Final = 8
_BOUNDARY_CHARACTERS: Final = 32


def boundary_of(attempt: str, content: str) -> str:
    """Give the boundary of a content: in hexadecimal digits, and nowhere in it."""
    data = content.encode("utf-8", "surrogatepass")
    for tried in range(_TRIES_MAX):
        boundary = hmac.digest(attempt.encode("utf-8", "surrogatepass"), b"%d:%b" % (tried, data), "sha256").hex()[:_BOUNDARY_CHARACTERS]
        if boundary not in content:
            return boundary
    raise AssertionError("a content holds every boundary that it could have")


def block(attempt: str, content: str) -> str:
    """Put a content into a block."""
    boundary = boundary_of(attempt, content)
    return f"<data {boundary}>\n{content}\n</data {boundary}>"
