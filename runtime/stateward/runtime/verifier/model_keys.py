"""The key of a model's provider: read where the profile says, when a model is about to be asked.

Invariants: a key comes out of a file that nobody else can read, or out of a command, never out of the environment, which a worker's shell
shares; it is one line; reading it is bounded, and no message holds any of it.
"""

import os
import stat
from pathlib import Path
from typing import Final, assert_never

from stateward.runtime.core.texts import path_shown, reason
from stateward.runtime.ports import Fault
from stateward.runtime.profile import KeyCommand, KeyFile, KeySource
from stateward.runtime.workdir.processes import Ended, run

KEY_BYTES_MAX: Final = 16 * 1024
COMMAND_SECONDS_MAX: Final = 30.0
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class ModelUnusable(Fault):
    """No model can be asked: its key, or the library for it, is not there. Nothing was begun."""


def read_key(source: KeySource, home: Path) -> str:
    """Read a key. Raises ModelUnusable."""
    match source:
        case KeyFile(path):
            named = home / path[2:] if path.startswith("~/") else Path(path)
            return _key(_of_file(named), f"the key file {path_shown(named)}")
        case KeyCommand(arguments):
            return _key(_of_command(arguments, home), f"the command {path_shown(arguments[0])} for the key")
    assert_never(source)


def _of_file(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as problem:
        raise ModelUnusable(f"the key file {path_shown(path)} cannot be read: {reason(problem)}", "name a file that can be read") from None
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise ModelUnusable(f"the key file {path_shown(path)} is no file", "name a file that holds the key")
        if about.st_mode & _OTHERS:
            raise ModelUnusable(f"others can read or write the key file {path_shown(path)}", f"run `chmod 600 {path}`, and replace the key")
        return os.read(handle, KEY_BYTES_MAX + 1)
    finally:
        os.close(handle)


def _of_command(arguments: tuple[str, ...], home: Path) -> bytes:
    environment = {"PATH": os.defpath, "HOME": str(home), "LC_ALL": "C.UTF-8"}
    name = path_shown(arguments[0])
    try:
        ran = run(arguments, environment=environment, seconds=COMMAND_SECONDS_MAX, output_bytes=KEY_BYTES_MAX)
    except OSError as problem:
        raise ModelUnusable(
            f"the command {name} for the key cannot be run: {reason(problem)}", "name a program by its whole path"
        ) from None
    if ran.ended is Ended.KILLED_LATE:
        raise ModelUnusable(f"the command {name} for the key ran longer than {COMMAND_SECONDS_MAX:g} seconds", "see what it waits for")
    if ran.ended is Ended.BY_ITSELF and ran.status != 0:
        raise ModelUnusable(f"the command {name} for the key ended with status {ran.status}", "run it by hand to see why")
    return ran.output


def _key(data: bytes, source: str) -> str:
    if len(data) > KEY_BYTES_MAX:
        raise ModelUnusable(f"{source} gives more than {KEY_BYTES_MAX} bytes", "let it give the key alone")
    key = data.decode("ascii", "replace").strip()
    if not key:
        raise ModelUnusable(f"{source} gives nothing", "put the key there")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelUnusable(f"{source} gives something else than one word in ASCII", "let it give the key alone")
    return key
