"""A key that seals and lies in no file of ours: what a command prints, such as one that asks a keyring or an agent.

Which command is in the file `seal-command` of the key folder, an array of texts in JSON, as private as a key. Invariants: the program is
named by its whole path and run without a shell, for a bounded time, with a bounded output and a small environment; a key is taken from
its standard output alone and shown in no message, nor is anything else that it printed; it is asked once for the life of these keys. The
keys that lie in the folder are kept for checking, and statements are signed with one of them as before.
"""

import json
import os
from base64 import b64decode
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward.runtime.core.texts import reason, shown
from stateward.runtime.ports.faults import KeysUnusable
from stateward.store.keys import FILE_BYTES_MAX, SECRET_BYTES, Key, KeyFolder, Purpose, id_of, said
from stateward.store.private import make_private_folder, read_private, replace_private, require_private_folder

if TYPE_CHECKING:
    from stateward.runtime.ports import ListedKey

COMMAND_NAME: Final = "seal-command"
SECONDS_MAX: Final = 10.0
OUTPUT_BYTES_MAX: Final = 4096
ARGUMENTS_MAX: Final = 64
PASSED: Final = ("HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME")
"""Of the environment: where keyrings and agents are found, and nothing else."""
_HEX_DIGITS: Final = 2 * SECRET_BYTES
_BY_HAND: Final = "run it by hand to see why"
_ONE_KEY: Final = f"let it print {SECRET_BYTES} bytes as {_HEX_DIGITS} hex digits, or in base64"
_WHOLE_PATH: Final = "name a program by its whole path"


class CommandKeys(KeyFolder):
    """The keys of a folder, of which the one that seals is what a command prints where the folder names one.

    What it raises is KeysUnusable. The folder is looked at when a key is first needed.
    """

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        super().__init__(path, now)
        self._asked = False
        self._printed: Key | None = None

    def current(self, purpose: Purpose) -> Key:
        """Give the key that is current: of those that seal, the one that the command prints."""
        return self._of_command(purpose) or super().current(purpose)

    def current_and_kept(self, purpose: Purpose) -> Key:
        """Give the key that is current; one that a command prints is kept by whoever it comes from."""
        return self._of_command(purpose) or super().current_and_kept(purpose)

    def current_if_any(self, purpose: Purpose) -> Key | None:
        """Give the key that is current; None when none was made yet."""
        return self._of_command(purpose) or super().current_if_any(purpose)

    def find(self, key_id: str) -> Key | None:
        """Give a key by its id: one of the folder, or else that of the command."""
        found = super().find(key_id)
        if found is not None or not key_id.startswith(f"{Purpose.SEAL}-"):
            return found
        printed = self._of_command(Purpose.SEAL)
        return printed if printed is not None and printed.id == key_id else None

    def rotate(self, purpose: Purpose) -> Key:
        """Make a new key the current one. Raises KeysUnusable for the one that a command prints."""
        if purpose is Purpose.SEAL and configured(self.path) is not None:
            raise KeysUnusable(
                "the key that seals is what a command prints",
                f"replace it where the command has it from, or remove {self.path / COMMAND_NAME} to seal with a key of the folder",
            )
        return super().rotate(purpose)

    def listed(self) -> "tuple[ListedKey, ...]":
        """List the keys, that of the command last."""
        from stateward.runtime.ports.sealing import ListedKey  # noqa: PLC0415 -- as in the folder

        in_folder, printed = super().listed(), self._of_command(Purpose.SEAL)
        if printed is None:
            return in_folder
        others = (each for each in in_folder if each.id != printed.id)
        checking = [ListedKey(each.id, each.purpose, each.created, each.current and each.purpose != Purpose.SEAL) for each in others]
        return (*checking, ListedKey(printed.id, str(Purpose.SEAL), printed.created, current=True))

    def _of_command(self, purpose: Purpose) -> Key | None:
        if purpose is Purpose.SEAL and not self._asked:
            command = configured(self.path)
            if command is not None:
                secret = _printed_by(command)
                self._printed = Key(id_of(Purpose.SEAL, secret), Purpose.SEAL, "", secret)
            self._asked = True
        return self._printed if purpose is Purpose.SEAL else None


def configured(path: Path) -> tuple[str, ...] | None:
    """Give the command that prints the key of a folder; None where its key lies in a file. Raises KeysUnusable."""
    with said(path):
        if not path.exists():
            return None
        require_private_folder(path)
        try:
            data = read_private(path / COMMAND_NAME, FILE_BYTES_MAX)
        except FileNotFoundError:
            return None
    try:
        command = json.loads(data)
    except ValueError:
        command = None
    if not isinstance(command, list) or not all(isinstance(each, str) for each in command) or _problem(command) is not None:
        raise KeysUnusable(f"{path / COMMAND_NAME} names no command", "write it anew, or remove it to seal with a key of the folder")
    return tuple(command)


def configure(path: Path, command: Sequence[str]) -> str:
    """Let the key of a folder be what a command prints, from the next use on; give its id. Raises KeysUnusable; then nothing is changed."""
    problem = _problem(command)
    if problem is not None:
        raise KeysUnusable(f"the command for the key {problem}", _WHOLE_PATH)
    key_id = id_of(Purpose.SEAL, _printed_by(command))
    with said(path):
        make_private_folder(path)
        replace_private(path / COMMAND_NAME, json.dumps(list(command)).encode("ascii") + b"\n")
    return key_id


def _problem(command: Sequence[str]) -> str | None:
    if not 1 <= len(command) <= ARGUMENTS_MAX:
        return f"has {len(command)} words, and 1 to {ARGUMENTS_MAX} are run"
    if not Path(command[0]).is_absolute():
        return f"is {shown(command[0])}, which is no whole path"
    return "holds a NUL" if any("\0" in each for each in command) else None


def _printed_by(command: Sequence[str]) -> bytes:
    from stateward.runtime.workdir.processes import Ended, run  # noqa: PLC0415 -- most keys lie in files, and need no program

    named = f"the command {shown(command[0])} for the key"
    environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", **{name: os.environ[name] for name in PASSED if name in os.environ}}
    try:
        ran = run(command, environment=environment, seconds=SECONDS_MAX, output_bytes=OUTPUT_BYTES_MAX)
    except OSError as problem:
        raise KeysUnusable(f"{named} cannot be run: {reason(problem)}", _WHOLE_PATH) from None
    if ran.ended is Ended.KILLED_LATE:
        raise KeysUnusable(f"{named} ran longer than {SECONDS_MAX:g} seconds", _BY_HAND)
    if ran.ended is Ended.KILLED_LOUD:
        raise KeysUnusable(f"{named} printed more than {OUTPUT_BYTES_MAX} bytes", _ONE_KEY)
    if ran.status != 0:
        raise KeysUnusable(f"{named} ended with status {ran.status}", _BY_HAND)
    secret = _decoded(ran.output)
    if secret is None:
        raise KeysUnusable(f"{named} printed no key", _ONE_KEY)
    return secret


def _decoded(output: bytes) -> bytes | None:
    text = output.decode("ascii", "replace").strip()
    try:
        secret = bytes.fromhex(text) if len(text) == _HEX_DIGITS else b64decode(text, validate=True)
    except ValueError:
        return None
    return secret if len(secret) == SECRET_BYTES else None
