"""The bytes of a definition and the digests: what is signed, compared and stored.

Invariants: the canonical form is RFC 8785; a digest is `sha256:` and 64 lower-case hexadecimal digits. The content digest covers the
bytes of the file as they are, byte-order mark and line ends included; the definition digest covers the canonical form.
"""

import hashlib
from typing import Final

import rfc8785

from stateward.compiler.flow.definition import CompiledFlowDefinition

DIGEST_PREFIX: Final = "sha256:"


def canonical_bytes(definition: CompiledFlowDefinition) -> bytes:
    """Give the canonical JSON of a definition."""
    return rfc8785.dumps(definition.model_dump())


def digest(data: bytes) -> str:
    """Give the digest of bytes."""
    return DIGEST_PREFIX + hashlib.sha256(data).hexdigest()


def definition_digest(definition: CompiledFlowDefinition) -> str:
    """Give the digest of a definition."""
    return digest(canonical_bytes(definition))
