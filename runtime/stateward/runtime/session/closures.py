"""The modules that a revision of a flow imports, under one digest.

Invariant: the digest covers the canonical JSON of the list of each path with the digest of its content, by path; the compiler gives
the same one for what it reached.
"""

import json
from collections.abc import Iterable
from typing import Final

from stateward.runtime.session.chain import digest_of

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def closure_digest_of(modules: Iterable[tuple[str, bytes]]) -> str | None:
    """Give the digest of modules by their paths; None where there are none."""
    listed = sorted((path, digest_of(content)) for path, content in modules)
    return digest_of(_ENCODER.encode(listed).encode()) if listed else None
