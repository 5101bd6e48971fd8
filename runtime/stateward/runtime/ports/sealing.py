"""The ports on seals and witnesses, and keys as they are listed and trusted."""

from dataclasses import dataclass
from typing import Protocol

from stateward.runtime.session.entries import Head


class Sealer(Protocol):
    """Seals digests under the current key, and checks seals under every key that is known here."""

    @property
    def key_id(self) -> str:
        """The key that seals. Raises KeysUnusable."""

    def seal(self, digest: str) -> bytes:
        """Seal a digest under that key. Raises KeysUnusable."""

    def check(self, key_id: str, digest: str, seal: bytes) -> bool | None:
        """Tell whether a seal is that of the digest; None when the key is not known here. Raises KeysUnusable."""


class Witness(Protocol):
    """Keeps the head of each Worker outside the store."""

    def note(self, worker: str, head: Head) -> None:
        """Keep a head that was committed; only forward. Never raises: what fails is said elsewhere, and the append stands."""

    def last(self, worker: str) -> Head | None:
        """Give the head that was kept last; None when none was. Raises Damaged when it cannot be told."""

    def contradict(self, worker: str, head: Head) -> None:
        """Say that the log of a Worker is not the one whose head is kept, so that `head` is not noted. Never raises."""

    def give_up(self, worker: str, lost: Head, head: Head) -> None:
        """Keep `head` in place of `lost`, which a person gave up; nothing where another is kept. Never raises: it is tried again."""


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key as it is listed."""

    id: str
    purpose: str
    """`seal` or `sign`."""
    created: str
    """RFC 3339, UTC."""
    current: bool
    """Whether it is the one that seals or signs; the others only check."""


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """The public half of a signing key, and why it is trusted."""

    id: str
    public: bytes
    why: str
