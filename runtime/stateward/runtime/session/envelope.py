"""The DSSE envelope: bytes of a named type and signatures over both.

Invariants: what is signed is the pre-authentication encoding, never the JSON around it; a key id in an envelope is a hint and is never
trusted; nothing of the bytes is looked at before a signature on them is checked.
"""

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any, Final

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
ENVELOPE_BYTES_MAX: Final = 32 * 1024 * 1024
SIGNATURES_MAX: Final = 16


class EnvelopeProblem(ValueError):
    """The bytes are no envelope of a statement; the text says why."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature."""

    key_id: str
    """What the envelope says of the key."""
    signature: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """Bytes and the signatures on them."""

    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]

    @property
    def signed(self) -> bytes:
        """The bytes that the signatures are of."""
        return encoded(self.payload_type, self.payload)


def encoded(payload_type: str, payload: bytes) -> bytes:
    """Give the pre-authentication encoding of bytes and their type."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def write_envelope(envelope: Envelope) -> bytes:
    """Write an envelope as JSON."""
    signatures = [{"keyid": each.key_id, "sig": b64encode(each.signature).decode("ascii")} for each in envelope.signatures]
    members = {
        "payloadType": envelope.payload_type,
        "payload": b64encode(envelope.payload).decode("ascii"),
        "signatures": signatures,
    }
    return json.dumps(members, indent=2).encode("ascii") + b"\n"


def read_envelope(data: bytes) -> Envelope:
    """Read an envelope. Raises EnvelopeProblem."""
    if len(data) > ENVELOPE_BYTES_MAX:
        raise EnvelopeProblem(f"it has more than {ENVELOPE_BYTES_MAX} bytes")
    try:
        members: Any = json.loads(data)
        payload_type, payload, signatures = members["payloadType"], b64decode(members["payload"], validate=True), members["signatures"]
        read = tuple(Signature(str(each.get("keyid", "")), b64decode(each["sig"], validate=True)) for each in signatures[:SIGNATURES_MAX])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise EnvelopeProblem("it is no DSSE envelope in JSON") from problem
    if payload_type != PAYLOAD_TYPE:
        raise EnvelopeProblem(f"it holds {payload_type!r:.80}, not `{PAYLOAD_TYPE}`")
    return Envelope(PAYLOAD_TYPE, payload, read)
