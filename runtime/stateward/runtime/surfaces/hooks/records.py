"""What a hook records: what its host says happened, without secrets and not too long.

Apart from the import of transcripts, which most hooks do not do.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from stateward.runtime.ports.records import HostRecord, RecordKey
from stateward.runtime.session.masking import VALUE_CHARACTERS_MAX, Secrets
from stateward.runtime.surfaces.hooks.calls import Part

PAYLOAD_BYTES_MAX: Final = 1024 * 1024
"""Of what is recorded; of more than that the beginning and the end."""
MARGIN_CHARACTERS: Final = 12 * VALUE_CHARACTERS_MAX
"""That a secret takes at most, with each of its characters written as two escapes."""
_HALF: Final = PAYLOAD_BYTES_MAX // 2


def records_of(parts: Iterable[Part], host: str, origin: str, secrets: Secrets) -> Iterator[HostRecord]:
    """Make records of what happened, without secrets and not too long; a part that the host gives no id is left out."""
    for each in parts:
        if each.use:
            yield HostRecord(
                each.kind, _bounded(each.payload, secrets), RecordKey(host, origin, each.use, each.part), secrets.mask(each.agent)
            )


def _bounded(text: str, secrets: Secrets) -> bytes:
    """Give a text without secrets, or its beginning and its end: of a very long one no more is looked through than that.

    What a secret may have left of itself where the text was cut lies within MARGIN_CHARACTERS of there, and goes.
    """
    if len(text) <= 2 * (_HALF + MARGIN_CHARACTERS):
        payload = secrets.mask(text).encode("utf-8", "surrogateescape")
        if len(payload) <= PAYLOAD_BYTES_MAX:
            return payload
        head, tail = payload[:_HALF], payload[-_HALF:]
    else:
        head = secrets.mask(text[: _HALF + MARGIN_CHARACTERS])[:-MARGIN_CHARACTERS].encode("utf-8", "surrogateescape")[:_HALF]
        tail = secrets.mask(text[-_HALF - MARGIN_CHARACTERS :])[MARGIN_CHARACTERS:].encode("utf-8", "surrogateescape")[-_HALF:]
    size = len(text.encode("utf-8", "surrogateescape"))
    said = [each.decode("utf-8", "ignore") for each in (head, tail)]
    return f"\n«{size - len(head) - len(tail)} bytes are left out»\n".join(said).encode()
