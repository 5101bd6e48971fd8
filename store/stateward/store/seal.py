"""Seals and signatures: HMAC-SHA256 over the digests of entries, Ed25519 over statements, and what a store asks of seals.

Invariants: what is sealed is the digest of an entry behind a fixed prefix, so a seal is of use for nothing else; an entry without a seal
follows only on entries without one, else somebody who cannot seal could append by leaving the seal out.
"""

import hmac
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward.runtime.session.entries import Entry
from stateward.store.keys import Key, KeyFolder, Purpose, signing_id

if TYPE_CHECKING:
    from stateward.runtime.ports import Sealer

PREFIX: Final = b"stateward entry seal v1\x00"


class HmacSealer:
    """The port `Sealer` over the keys of a folder; the folder is looked at when the first seal is made or checked."""

    def __init__(self, keys: KeyFolder) -> None:
        self._keys = keys

    @property
    def key_id(self) -> str:
        """The key that seals; made when there is none yet. Raises KeysUnusable when its file went."""
        return self._keys.current_and_kept(Purpose.SEAL).id

    def seal(self, digest: str) -> bytes:
        """Seal a digest under that key."""
        return _mac(self._keys.current(Purpose.SEAL), digest)

    def check(self, key_id: str, digest: str, seal: bytes) -> bool | None:
        """Tell whether a seal is that of the digest; None when the key is not known here."""
        key = self._keys.find(key_id)
        if key is None or key.purpose is not Purpose.SEAL:
            return None
        return hmac.compare_digest(_mac(key, digest), seal)


def _mac(key: Key, digest: str) -> bytes:
    # A digest that is no text of ours was never sealed; it is checked like any other and does not match.
    return hmac.digest(key.secret, PREFIX + digest.encode("utf-8", "surrogateescape"), "sha256")


class Seals(NamedTuple):
    """How a store seals what it appends and checks what it reads."""

    sealer: "Sealer | None" = None
    """Without one nothing is sealed and no seal is checked."""
    unknown_keys_pass: bool = False
    """Whether a seal under a key that is not here is passed over: for reading only, since nothing follows from what is read."""

    def sealed(self, linked: Sequence[Entry]) -> tuple[Entry, ...]:
        """Seal entries that have their places."""
        if self.sealer is None:
            return tuple(linked)
        sealer, key_id = self.sealer, self.sealer.key_id
        return tuple(replace(each, key_id=key_id, seal=sealer.seal(each.digest)) for each in linked)

    def problem(self, entry: Entry, *, after_sealed: bool) -> str | None:
        """Say what is wrong with the seal of an entry whose digest checks; None when nothing is."""
        if self.sealer is None:
            return None
        if entry.key_id is None or entry.seal is None:
            whole = entry.key_id is None and entry.seal is None
            return None if whole and not after_sealed else "its seal is missing"
        holds = self.sealer.check(entry.key_id, entry.digest, entry.seal)
        if holds is None:
            return None if self.unknown_keys_pass else f"it is sealed under key `{entry.key_id:.80}`, which is not in the key folder"
        return None if holds else f"its seal is not one of key `{entry.key_id:.80}`"


NO_SEALS: Final = Seals()

# --- signatures ---------------------------------------------------------------------------------------------------------------------


# What signs and checks is loaded where that is done: sealing, which every append waits for, needs nothing but a digest.


def sign(key: Key, data: bytes) -> bytes:
    """Sign bytes with a signing key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 -- see above

    assert key.purpose is Purpose.SIGN
    return Ed25519PrivateKey.from_private_bytes(key.secret).sign(data)


def public_half(key: Key) -> bytes:
    """Give the public half of a signing key, 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 -- see above

    assert key.purpose is Purpose.SIGN
    return Ed25519PrivateKey.from_private_bytes(key.secret).public_key().public_bytes_raw()


def is_signed(public: bytes, data: bytes, signature: bytes) -> bool:
    """Tell whether a signature of these bytes is by the key with this public half."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 -- see above
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except InvalidSignature:
        return False
    return True


def public_pem(public: bytes) -> str:
    """Write the public half of a signing key as PEM (SubjectPublicKeyInfo)."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 -- see above
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    return Ed25519PublicKey.from_public_bytes(public).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")


def read_public_pem(data: bytes) -> tuple[str, bytes]:
    """Read the public half of a signing key from PEM; give its id and its 32 bytes. Raises ValueError for anything else."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 -- see above
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    try:
        key = load_pem_public_key(data)
    except ValueError as problem:
        raise ValueError("it is no public key in PEM") from problem
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("it is a public key of another kind than Ed25519")  # noqa: TRY004 -- of the file, not of an argument
    public = key.public_bytes_raw()
    return signing_id(public), public
