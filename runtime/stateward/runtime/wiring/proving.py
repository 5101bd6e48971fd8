"""The keys that seal and sign, as commands work with them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from stateward.runtime.ports import (
    ListedKey,
    TrustedKey,
)
from stateward.runtime.session.envelope import PAYLOAD_TYPE, Envelope, Signature, encoded
from stateward.runtime.wiring.places import keys_path
from stateward.runtime.wiring.system import SystemClock

KEY_BYTES_MAX: Final = 64 * 1024


class Keys:
    """The user's keys, as commands work with them. Raises KeysUnusable."""

    def __init__(self) -> None:
        from stateward.store.key_command import CommandKeys  # noqa: PLC0415 -- loads cryptography, which few commands need
        from stateward.store.keys import Purpose  # noqa: PLC0415

        self._folder = CommandKeys(keys_path(), SystemClock().now)
        self._seal, self._sign = Purpose.SEAL, Purpose.SIGN

    def listed(self) -> tuple[ListedKey, ...]:
        """List them, oldest first."""
        return self._folder.listed()

    def rotate(self) -> tuple[str, str]:
        """Make a new key that seals and a new one that signs, and give their ids; the others stay for checking."""
        return self._folder.rotate(self._seal).id, self._folder.rotate(self._sign).id

    def use_command(self, command: Sequence[str]) -> str:
        """Let what a command prints be the key that seals, and give its id."""
        from stateward.store.key_command import configure  # noqa: PLC0415

        return configure(self._folder.path, command)

    def public(self, key_id: str | None) -> str | None:
        """Give the public half of a signing key as PEM: of the current one, made where there is none, or by its id."""
        from stateward.store import seal  # noqa: PLC0415

        key = self._folder.current(self._sign) if key_id is None else self._folder.find(key_id)
        return None if key is None or key.purpose is not self._sign else seal.public_pem(seal.public_half(key))

    def signed(self, statement: bytes) -> Envelope:
        """Sign a statement with the current key, made where there is none."""
        from stateward.store import seal  # noqa: PLC0415

        key = self._folder.current(self._sign)
        signature = seal.sign(key, encoded(PAYLOAD_TYPE, statement))
        return Envelope(PAYLOAD_TYPE, statement, (Signature(key.id, signature),))

    def own(self) -> tuple[TrustedKey, ...]:
        """Give the public halves of the user's own signing keys."""
        from stateward.store import seal  # noqa: PLC0415

        ids = [each.id for each in self._folder.listed() if each.purpose == self._sign]
        keys = [key for each in ids if (key := self._folder.find(each)) is not None]
        return tuple(TrustedKey(key.id, seal.public_half(key), f"it is in the key folder {self._folder.path}") for key in keys)


def named_key(path: Path) -> TrustedKey:
    """Read the public half of a signing key from a file in PEM. Raises OSError, and ValueError for anything else."""
    from stateward.store.seal import read_public_pem  # noqa: PLC0415 -- loads cryptography

    with path.open("rb") as file:
        key_id, public = read_public_pem(file.read(KEY_BYTES_MAX))
    return TrustedKey(key_id, public, f"it was named with `--key {path}`")


def signer_of(envelope: Envelope, keys: Sequence[TrustedKey]) -> TrustedKey | None:
    """Give the first trusted key that signed an envelope; None when none did."""
    from stateward.store.seal import is_signed  # noqa: PLC0415 -- loads cryptography

    return next((key for key in keys for each in envelope.signatures if is_signed(key.public, envelope.signed, each.signature)), None)
