"""The bytes of a definition and the digests: what is signed, compared and stored.

Invariants: the canonical form is RFC 8785; a digest is `sha256:` and 64 lower-case hexadecimal digits. The content digest covers the
bytes of the file as they are, byte-order mark and line ends included; the definition digest covers the canonical form, the
closure digest the paths and the digests of what is imported, as a list of pairs in the order of the paths.
"""

import hashlib
from collections.abc import Iterable
from json import JSONEncoder
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition
    from stateward.compiler.flow.lower import DefinitionData

DIGEST_PREFIX: Final = "sha256:"
_CANONICAL: Final = JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
"""RFC 8785 for what a definition is made of: objects with ASCII keys, arrays, texts, truths and a small whole number. What is hard in
that form, the spelling of other numbers and the order of other keys, does not occur; the tests hold the bytes against a library."""


def canonical_of(data: "DefinitionData") -> bytes:
    """Give the canonical JSON of a definition that is plain data."""
    return _CANONICAL.encode(data).encode()


def canonical_bytes(definition: "CompiledFlowDefinition") -> bytes:
    """Give the canonical JSON of a definition."""
    return _CANONICAL.encode(definition.model_dump(mode="json")).encode()


def closure_digest(modules: Iterable[tuple[str, str]]) -> str | None:
    """Give the digest that covers imported modules, each with its path and its digest; None where there are none."""
    listed = sorted(modules)
    return digest(_CANONICAL.encode(listed).encode()) if listed else None


def digest(data: bytes) -> str:
    """Give the digest of bytes."""
    return DIGEST_PREFIX + hashlib.sha256(data).hexdigest()


def definition_digest(definition: "CompiledFlowDefinition") -> str:
    """Give the digest of a definition."""
    return digest(canonical_bytes(definition))
