"""The chain of a session log: how an entry gets its place, and how one is checked against the entry before it.

Invariants: the canonical header is the RFC 8785 form of exactly the members of `header`, all of them always present; an entry's digest
is the SHA-256 of those bytes, which hold the payload's digest and the digest of the entry before. For entries of version 1 this form
never changes: a further member, or another meaning of one, is another version. It is written by hand, its names in their order, since that
is a good part of what an append costs; a test compares it with a general writer. Payloads are bytes here; nothing looks into them.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Final

from stateward.runtime.session.entries import ENTRY_VERSION, PAYLOAD_BYTES_MAX, Actor, Entry, Head, NewEntry

HEADER_TEXT_BYTES_MAX: Final = 1024
"""Of each text in a header, as UTF-8."""


def digest_of(data: bytes) -> str:
    """Give the digest of bytes in the form in which digests are stored: `sha256:` and lower-case hex."""
    return f"sha256:{sha256(data).hexdigest()}"


def time_text(time: datetime) -> str:
    """Write a time as a header does: RFC 3339, UTC, six digits of fraction, `Z`. Raises ValueError for a naive time."""
    if time.tzinfo is None:
        raise ValueError("a time without an offset names no moment")
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def link(worker: str, head: Head, new: NewEntry) -> Entry:
    """Give an entry its place after `head`.

    Raises ValueError for what can never be an entry: a payload or a header text over its limit, a text that is no Unicode or holds a
    NUL, a time without an offset.
    """
    if len(new.payload) > PAYLOAD_BYTES_MAX:
        raise ValueError(f"a payload of {len(new.payload)} bytes is over the limit of {PAYLOAD_BYTES_MAX}")
    payload_digest = digest_of(new.payload)
    header = _header(worker, head, new, payload_digest)
    return Entry(
        worker=worker,
        seq=head.seq + 1,
        version=ENTRY_VERSION,
        time=new.time.astimezone(UTC),
        actor=new.actor,
        kind=new.kind,
        payload_digest=payload_digest,
        previous=head.digest,
        digest=digest_of(header),
        payload=new.payload,
        key=new.key,
    )


def link_all(worker: str, head: Head, new: Iterable[NewEntry]) -> tuple[Entry, ...]:
    """Give entries their places after `head`, one after the other."""
    linked: list[Entry] = []
    for each in new:
        entry = link(worker, head, each)
        linked.append(entry)
        head = Head(entry.seq, entry.digest)
    return tuple(linked)


def check(entry: Entry, previous: Head) -> str | None:
    """Say what is wrong with an entry as the one after `previous`; None when it is what was written there.

    The payload of one that was redacted is for whoever read it to check: the entry that says so names its digest (`redaction_key`).
    """
    if entry.version != ENTRY_VERSION:
        return f"its version is {entry.version}, this program knows version {ENTRY_VERSION}"
    if entry.seq != previous.seq + 1:
        return f"its number is {entry.seq}, expected {previous.seq + 1}"
    if entry.previous != previous.digest:
        return "it does not follow the entry before it"
    if not entry.redacted and entry.payload_digest != digest_of(entry.payload):
        return "its payload is not what was written"
    if entry.digest != digest_of(canonical_header(entry)):
        return "its header is not what was written"
    return None


def redaction_key(seq: int, payload: bytes) -> str:
    """Name the entry that says that a secret was taken out of another, whose payload is this since then."""
    return f"redacted:{seq}:{digest_of(payload)}"


def canonical_header(entry: Entry) -> bytes:
    """Give the bytes that an entry's digest covers."""
    new = NewEntry(entry.kind, entry.actor, entry.time, entry.payload, entry.key)
    return _header(entry.worker, Head(entry.seq - 1, entry.previous), new, entry.payload_digest)


def _header(worker: str, head: Head, new: NewEntry, payload_digest: str) -> bytes:
    key = "null" if new.key is None else _text(new.key)
    text = (
        f'{{"actor":{_actor(new.actor)},"key":{key},"kind":{_text(new.kind)},"payload":{encode_basestring(payload_digest)}'
        f',"previous":{encode_basestring(head.digest)},"seq":{head.seq + 1},"time":"{time_text(new.time)}"'
        f',"v":{ENTRY_VERSION},"worker":{_text(worker)}}}'
    )
    return text.encode("utf-8")


def _actor(actor: Actor) -> str:
    host_session = "null" if actor.host_session is None else _text(actor.host_session)
    return (
        f'{{"assurance":"{actor.assurance.value}","channel":{_text(actor.channel)},"class":"{actor.actor_class.value}"'
        f',"host_session":{host_session},"principal":{_text(actor.principal)}}}'
    )


def _text(text: str) -> str:
    """Write a text of a header. Raises ValueError for one that is none."""
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise ValueError(f"{text!r} is no Unicode text") from None
    if size > HEADER_TEXT_BYTES_MAX:
        raise ValueError(f"a header text of {size} bytes is over the limit of {HEADER_TEXT_BYTES_MAX}")
    if "\0" in text:
        raise ValueError(f"{text!r} holds a NUL, which not every store can keep")
    return encode_basestring(text)
