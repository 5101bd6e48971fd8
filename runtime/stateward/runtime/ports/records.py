"""What the harness of an agent tells of: records, by what each is recorded once, and how far a transcript was taken in.

Apart from where a Worker stands, which whoever only records is not told.
"""

from typing import Final

from stateward.runtime.core.values import value
from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX, digest_of
from stateward.runtime.session.entries import Head
from stateward.runtime.session.strict import render

RECORDS_MAX: Final = 500
"""Records that are committed at a time."""
KEY_TEXT_BYTES_MAX: Final = HEADER_TEXT_BYTES_MAX
"""Of each text of a record's key."""


@value
class RecordKey:
    """Where in a host a record comes from: by it, it is recorded once."""

    host: str
    session: str
    use: str
    """The id of the tool's use, or of the message."""
    part: str = ""
    """Which part of it, where there are several."""

    @property
    def digest(self) -> str:
        """The digest that stands for it in the log."""
        return digest_of(render([self.host, self.session, self.use, self.part]))


@value
class HostRecord:
    """What a host or an agent says happened."""

    kind: str
    """`assistant_message`, `tool_call`, `tool_result` or `note`."""
    payload: bytes
    """As it came; masked before it is stored."""
    key: RecordKey
    by: str = ""
    """The id of the sub-agent that it is of; empty for the agent itself."""


@value
class Cursor:
    """How far the transcript of a host's session was taken in. Committed with what was taken in, so that nothing comes in twice."""

    host: str
    session: str
    path: str
    """Of the transcript, as the host names it."""
    offset: int
    """Bytes that were read, up to the end of a line."""
    last: str
    """The id of the last line that was taken in, by which a rewritten file is known."""


@value
class RecordedEntry:
    """A record was committed."""

    worker: str
    head: Head
    """Of its entry."""
    repeated: bool = False
    """Whether it was committed before."""


@value
class Recorded:
    """Records were committed, in one commit."""

    worker: str
    head: Head
    """Of the log after it."""
    new: int
    """How many of them were not there before."""
