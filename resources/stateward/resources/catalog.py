"""The built-in flows: read-only sources that ship with the program, under slugs.

Invariants: a slug is one that the manifest lists, so no path is ever made from what a caller says; the manifest lists the content
digests of all revisions of a slug, in order, and only ever grows. Knows nothing of the compiler.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from typing import Final

from stateward.resources import folder

MANIFEST: Final = "manifest.json"
VIRTUAL_FOLDER: Final = "builtin/flows"
DIGEST_PREFIX: Final = "sha256:"


@dataclass(frozen=True, slots=True)
class BuiltinSource:
    """A built-in flow as it ships."""

    slug: str
    path: str
    """Its virtual path, by which people know it."""
    content: bytes
    revision: int
    """The number of this text among all that shipped under the slug, from 1."""


def builtin(slug: str) -> BuiltinSource | None:
    """Give the built-in flow of a slug; None when there is none."""
    digests = _manifest().get(slug)
    if digests is None:
        return None
    content = (folder("flows") / f"{slug}.dcdl").read_bytes()
    digest = DIGEST_PREFIX + hashlib.sha256(content).hexdigest()
    revision = digests.index(digest) + 1 if digest in digests else len(digests) + 1
    return BuiltinSource(slug, f"{VIRTUAL_FOLDER}/{slug}.dcdl", content, revision)


def builtins() -> tuple[BuiltinSource, ...]:
    """Give all built-in flows, by slug."""
    found = [builtin(slug) for slug in sorted(_manifest())]
    return tuple(each for each in found if each is not None)


@cache
def _manifest() -> dict[str, list[str]]:
    text = (folder("flows") / MANIFEST).read_text("utf-8")
    manifest: dict[str, list[str]] = json.loads(text)
    return manifest
