"""The key folder: keys that seal entries (HMAC-SHA256) and keys that sign statements (Ed25519), each under an id.

Invariants: an id follows from its key, so a file that holds another key than its name says is never sealed or signed with; of each
purpose one key is current, the others are kept for checking; a key that is in place is never replaced, and one whose file went is not
sealed with, since nobody could check that later. Nothing is read from an
environment variable, and nothing is made until something is to be sealed or signed.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward.runtime.core.texts import reason
from stateward.runtime.ports.faults import KeysUnusable
from stateward.runtime.session.chain import time_text
from stateward.store.files import Identity, identity
from stateward.store.private import (
    MAKE_SPACE,
    OUT_OF_SPACE,
    NotPrivate,
    locked,
    make_private_folder,
    read_private,
    replace_private,
    require_private_folder,
)

if TYPE_CHECKING:
    from stateward.runtime.ports import ListedKey

SECRET_BYTES: Final = 32
"""Of both kinds of keys."""
FILE_BYTES_MAX: Final = 4096
KEYS_MAX: Final = 1024
"""Keys in one folder."""
VERSION: Final = 1
_ID_DIGITS: Final = 32
_SEAL_ID: Final = b"stateward seal key id\x00"
_SUFFIX: Final = ".key"
_CURRENT: Final = "current-"
_ONLY_OURS: Final = "make it readable for its user only (`chmod go-rwx`), and rotate the keys if others may have read them"
_REACHABLE: Final = "name another folder with STATEWARD_KEYS, or make it writable for this user"
_PUT_BACK: Final = "put the file back, or rotate the keys and start again"
_RESTORE: Final = "restore the file from a backup, or move it away and rotate"


class Purpose(StrEnum):
    """What a key is for."""

    SEAL = "seal"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Key:
    """A key. Its secret is shown nowhere."""

    id: str
    purpose: Purpose
    created: str
    """RFC 3339, UTC."""
    secret: bytes

    def __repr__(self) -> str:
        """Name it by its id alone."""
        return f"Key({self.id!r})"


class KeyFolder:
    """The keys in one folder. What it raises is KeysUnusable."""

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self.path: Final = path
        self._now: Final = now
        self._known: Final[dict[str, Key | None]] = {}
        self._current: Final[dict[Purpose, Key]] = {}
        self._seen: Final[dict[str, Identity]] = {}
        """The files of those keys, as they were when they were last known to hold them."""

    def current(self, purpose: Purpose) -> Key:
        """Give the key that is current, the same for the life of this object; made when there is none yet."""
        if purpose not in self._current:
            with said(self.path):
                make_private_folder(self.path)
                self._current[purpose] = self._current_stored(purpose) or self._made(purpose, unless_there=True)
        return self._current[purpose]

    def current_and_kept(self, purpose: Purpose) -> Key:
        """Give the key that is current, if its file holds it still."""
        key = self.current(purpose)
        name = f"{self.path}/{key.id}{_SUFFIX}"
        found = identity(name)
        if found is None or found != self._seen.get(key.id):
            with said(self.path):
                stored = self._stored(key.id)
            if stored is None:
                raise KeysUnusable(f"the file of key `{key.id}` was removed while the key was in use", _PUT_BACK)
            if stored.secret != key.secret:
                raise KeysUnusable(f"the file of key `{key.id}` holds another key", _RESTORE)
            self._seen[key.id] = found
        return key

    def current_if_any(self, purpose: Purpose) -> Key | None:
        """Give the key that is current; None when none was made yet."""
        with said(self.path):
            return self._current_stored(purpose) if self._is_there() else None

    def find(self, key_id: str) -> Key | None:
        """Give a key by its id; None when it is not here."""
        if key_id not in self._known:
            with said(self.path):
                self._known[key_id] = self._stored(key_id) if _is_id(key_id) and self._is_there() else None
        return self._known[key_id]

    def rotate(self, purpose: Purpose) -> Key:
        """Make a new key the current one; the others stay for checking."""
        with said(self.path):
            make_private_folder(self.path)
            made = self._made(purpose, unless_there=False)
        self._current[purpose] = made
        return made

    def listed(self) -> "tuple[ListedKey, ...]":
        """List the keys, oldest first."""
        from stateward.runtime.ports.sealing import ListedKey  # noqa: PLC0415 -- sealing lists none, and that is all that a hook does here

        with said(self.path):
            if not self._is_there():
                return ()
            keys = [self._stored(name.name.removesuffix(_SUFFIX)) for name in self._names()]
            current = {key.id for purpose in Purpose if (key := self._current_stored(purpose)) is not None}
        found = [ListedKey(key.id, str(key.purpose), key.created, key.id in current) for key in keys if key is not None]
        return tuple(sorted(found, key=lambda each: (each.created, each.id)))

    def _names(self) -> list[Path]:
        names = [name for name in self.path.glob(f"*{_SUFFIX}") if _is_id(name.name.removesuffix(_SUFFIX))]
        if len(names) > KEYS_MAX:
            raise KeysUnusable(f"{self.path} holds more than {KEYS_MAX} keys", "move keys away that no log needs")
        return names

    def _is_there(self) -> bool:
        if not self.path.exists():
            return False
        require_private_folder(self.path)
        return True

    def _current_stored(self, purpose: Purpose) -> Key | None:
        named = self.path / f"{_CURRENT}{purpose}"
        try:
            key_id = read_private(named, FILE_BYTES_MAX).decode("ascii", "replace").strip()
        except FileNotFoundError:
            return None
        key = self._stored(key_id) if _is_id(key_id) else None
        if key is None or key.purpose is not purpose:
            raise KeysUnusable(f"{named} names no key of this folder", _RESTORE)
        if key.id != id_of(purpose, key.secret):
            raise KeysUnusable(f"the file of key `{key.id}` holds another key", _RESTORE)
        return key

    def _stored(self, key_id: str) -> Key | None:
        path = self.path / f"{key_id}{_SUFFIX}"
        try:
            data = read_private(path, FILE_BYTES_MAX)
        except FileNotFoundError:
            return None
        return _read(key_id, path, data)

    def _made(self, purpose: Purpose, *, unless_there: bool) -> Key:
        with locked(self.path):
            there = self._current_stored(purpose) if unless_there else None
            if there is not None:
                return there
            from secrets import token_bytes  # noqa: PLC0415 -- only what makes a key needs it

            secret = token_bytes(SECRET_BYTES)
            key = Key(id_of(purpose, secret), purpose, time_text(self._now()), secret)
            replace_private(self.path / f"{key.id}{_SUFFIX}", _written(key))
            replace_private(self.path / f"{_CURRENT}{purpose}", f"{key.id}\n".encode("ascii"))
        self._known.pop(key.id, None)
        return key


@contextmanager
def said(folder: Path) -> Iterator[None]:
    """Say what goes wrong with a key folder as KeysUnusable."""
    try:
        yield
    except NotPrivate as problem:
        raise KeysUnusable(str(problem), _ONLY_OURS) from problem
    except OSError as problem:
        remedy = MAKE_SPACE if problem.errno in OUT_OF_SPACE else _REACHABLE
        raise KeysUnusable(f"the key folder {folder} cannot be used: {reason(problem)}", remedy) from problem


def _is_id(text: str) -> bool:
    purpose, _, digits = text.partition("-")
    return purpose in set(Purpose) and len(digits) == _ID_DIGITS and set(digits) <= set("0123456789abcdef")


def id_of(purpose: Purpose, secret: bytes) -> str:
    """Give the id of a key, which follows from it."""
    match purpose:
        case Purpose.SEAL:
            return f"{purpose}-{sha256(_SEAL_ID + secret).hexdigest()[:_ID_DIGITS]}"
        case Purpose.SIGN:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 -- sealing needs none of it

            return signing_id(Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw())


def signing_id(public: bytes) -> str:
    """Give the id of a signing key by its public half."""
    return f"{Purpose.SIGN}-{sha256(public).hexdigest()[:_ID_DIGITS]}"


def _written(key: Key) -> bytes:
    members = {"v": VERSION, "id": key.id, "created": key.created, "key": b64encode(key.secret).decode("ascii")}
    return json.dumps(members).encode("ascii") + b"\n"


def _read(key_id: str, path: Path, data: bytes) -> Key:
    try:
        members = json.loads(data)
        version, named, created = members["v"], members["id"], members["created"]
        secret = b64decode(members["key"], validate=True)
    except (ValueError, KeyError, TypeError) as problem:
        raise KeysUnusable(f"{path} is no key file of this program", _RESTORE) from problem
    if (version, named) != (VERSION, key_id) or not isinstance(created, str) or len(secret) != SECRET_BYTES:
        raise KeysUnusable(f"{path} is no key file of this program", _RESTORE)
    return Key(key_id, Purpose(key_id.partition("-")[0]), created, secret)
