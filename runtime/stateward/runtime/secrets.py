"""Which values are kept out of logs, answers and prompts: those the user keeps as secrets, and those of variables that are named like one.

A file in the folder of secrets holds one value and gives it its name. Of the environment, variables count whose name ends in a word for a
secret: what a worker prints of them is what a log must not hold. What looks like a token of a well-known service gives way unnamed.

Invariants: a file that others can read is no secret any more and ends the command, for passing over it would let the value through; no
message holds a value; what is read is bounded.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from stateward.runtime.core.texts import reason
from stateward.runtime.ports import Fault
from stateward.runtime.session.masking import SECRETS_MAX, VALUE_CHARACTERS_MAX, VALUE_CHARACTERS_MIN, SecretProblem, Secrets

ENDINGS: Final = ("_TOKEN", "_SECRET", "_PASSWORD", "_API_KEY", "_ACCESS_KEY", "_PRIVATE_KEY", "_CREDENTIALS")
"""How the name of a variable ends that holds a secret."""
VARIABLES_MAX: Final = 64
FILE_BYTES_MAX: Final = 4 * VALUE_CHARACTERS_MAX
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class SecretsUnusable(Fault):
    """A secret that the user keeps cannot be kept out of anything."""


def known_secrets(folder: Path, environment: Mapping[str, str]) -> Secrets:
    """Give all of them; a file wins over a variable of its name. Raises SecretsUnusable."""
    try:
        return Secrets({**dict(_of_environment(environment)), **dict(_of_folder(folder))}, shapes=True)
    except SecretProblem as problem:
        raise SecretsUnusable(str(problem), f"see the files in {folder}") from None


def _of_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give the variables that hold what can be kept out of a text; one that cannot was not meant as a secret."""
    named = sorted(name for name in environment if name.upper().endswith(ENDINGS))[:VARIABLES_MAX]
    for name in named:
        value = environment[name].strip()
        if VALUE_CHARACTERS_MIN <= len(value) <= VALUE_CHARACTERS_MAX:
            try:
                Secrets({name: value})
            except SecretProblem:
                continue
            yield name, value


def _of_folder(folder: Path) -> Iterator[tuple[str, str]]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 -- names are all that is wanted
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as fault:
        raise SecretsUnusable(f"the folder of secrets {folder} cannot be read: {reason(fault)}", "make it readable") from fault
    if len(names) > SECRETS_MAX - VARIABLES_MAX:
        raise SecretsUnusable(f"the folder of secrets {folder} has more than {SECRETS_MAX - VARIABLES_MAX} files", "keep fewer there")
    for name in names:
        yield name, _value(folder / name)


def _value(file: Path) -> str:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as opened:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise SecretsUnusable(f"the secret {file} is no file", "keep only files there")
            if found.st_mode & _OTHERS:
                raise SecretsUnusable(f"others can read or write the secret {file}", f"chmod 600 {file}, and replace the secret")
            data = opened.read(FILE_BYTES_MAX + 1)
    except OSError as fault:
        raise SecretsUnusable(f"the secret {file} cannot be read: {reason(fault)}", "make it readable, or take it away") from fault
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise SecretsUnusable(f"the secret {file} is no UTF-8", "keep secrets that are text there") from None
