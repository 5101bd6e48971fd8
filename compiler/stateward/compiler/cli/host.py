"""The world outside as the authors' commands see it: what an argument names, and the port through which it is read and written.

Invariants: nothing here opens a file, a folder or a store but standard input; a failure is a value with its remedy.
"""

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import click

from stateward.compiler.diagnostics.report import Failure

if TYPE_CHECKING:
    from stateward.compiler.diagnostics.text import Look
    from stateward.compiler.language.loader import Loader

STATUS_FOUND: Final = 1
"""Errors were found, or the answer is no."""
STATUS_USAGE: Final = 2
"""The command was used wrongly, or what it names is not there."""
STATUS_ENVIRONMENT: Final = 3
"""Something failed outside: a file, a stream, a database."""
STANDARD_INPUT: Final = "-"
SUFFIX: Final = ".dcdl"
TEST_SUFFIX: Final = ".test.dcdl"
SELECTORS: Final = ("builtin:", "workspace:")

STANDARD_INPUT_SHOWN: Final = "<stdin>"
STDIN_NAME = click.option(
    "--stdin-filename", metavar="NAME", default=STANDARD_INPUT_SHOWN, help="How standard input is named in what is shown."
)


class Document(NamedTuple):
    """The bytes of one source, with how people know it."""

    name: str
    data: bytes
    """At most one byte more than was asked for, which is enough to tell that it is too large."""
    identity: str
    """The same for two documents exactly when they are one: what people see does not tell a file from a source of that name elsewhere."""
    path: str | None = None
    """The file that it was read from, as the system has it; None when it is no file."""
    slug: str | None = None
    """What it is kept under; None when it is not kept under a slug."""
    modules: Mapping[str, bytes] | None = None
    """What is kept with it and may be imported, by path; None where nothing is kept."""


class Found(NamedTuple):
    """What an argument names."""

    documents: Iterator[Document | Failure]
    """Read one by one, when they are asked for; those of a folder by path."""
    is_folder: bool


class Host(Protocol):
    """The world outside: files, folders, selectors, the terminal."""

    def find(self, argument: str, *, bytes_max: int) -> Found | Failure:
        """Find a file, all `*.dcdl` files below a folder, or what a selector names."""
        ...

    def standard_input(self, name: str, *, bytes_max: int) -> Document | Failure:
        """Read standard input to its end."""
        ...

    def write(self, path: str, data: bytes, *, never: Sequence[str] = ()) -> Failure | None:
        """Write a file whole or not at all; none of the files `never` is written over."""
        ...

    def rewrite(self, path: str, data: bytes, *, expected: bytes) -> Failure | None:
        """Write a source anew, whole or not at all: only a file, by its own name, that still holds what was read of it."""
        ...

    def stamps(self, argument: str) -> Mapping[str, Hashable]:
        """Give what changes when a file that an argument names does, by the name of the file; selectors name no files."""
        ...

    def wait(self, seconds: float) -> bool:
        """Let time pass; False when there is nothing more to wait for."""
        ...

    def loader(self, argument: str) -> "Loader":
        """Give the loader for the imports of a file: it reaches the files of that folder and below."""
        ...

    def look(self, *, err: bool = False) -> "Look":
        """Say how standard output, or standard error, is written to."""
        ...


class StandardInputOnly:
    """The host of the module run by itself: it reads standard input and nothing else."""

    def find(self, argument: str, *, bytes_max: int) -> Found | Failure:
        """Refuse: there are no files here."""
        del bytes_max
        return Failure(
            f"`{argument}` cannot be read: this command reads standard input only",
            f"name `-`, or use `stateward compile {argument}`",
            STATUS_USAGE,
        )

    def standard_input(self, name: str, *, bytes_max: int) -> Document | Failure:
        """Read standard input."""
        return read_standard_input(name, bytes_max)

    def write(self, path: str, data: bytes, *, never: Sequence[str] = ()) -> Failure | None:
        """Refuse: there are no files here."""
        del data, never
        return Failure(f"`{path}` cannot be written: this command writes standard output only", "name `-`", STATUS_USAGE)

    def rewrite(self, path: str, data: bytes, *, expected: bytes) -> Failure | None:
        """Refuse: there are no files here."""
        del expected
        return self.write(path, data)

    def stamps(self, argument: str) -> Mapping[str, Hashable]:
        """Name no files: there are none here."""
        del argument
        return {}

    def wait(self, seconds: float) -> bool:
        """Wait for nothing: there are no files here that could change."""
        del seconds
        return False

    def loader(self, argument: str) -> "Loader":
        """Refuse every import."""
        from stateward.compiler.language.loader import REFUSING  # noqa: PLC0415 - each command loads what it needs

        del argument
        return REFUSING

    def look(self, *, err: bool = False) -> "Look":
        """Take the terminal to be plain."""
        from stateward.compiler.diagnostics.text import PLAIN  # noqa: PLC0415 - a clean flow needs no renderer

        del err
        return PLAIN


def read_standard_input(name: str, bytes_max: int) -> Document | Failure:
    """Read standard input to its end, or to one byte more than is wanted."""
    if sys.stdin is None:
        return Failure("standard input cannot be read: it is closed", "pipe the source into it", STATUS_ENVIRONMENT)
    try:
        return Document(name, sys.stdin.buffer.read(bytes_max + 1), STANDARD_INPUT)
    except OSError as fault:
        return Failure(f"standard input cannot be read: {reason(fault)}", "pipe the source into it", STATUS_ENVIRONMENT)


def reason(fault: OSError) -> str:
    """Say why the system did not do something, in the manner of messages."""
    return (fault.strerror or type(fault).__name__).lower()


def host_of(context: click.Context) -> Host:
    """Give the host that the program supplies, or the one of the module run by itself."""
    host: Host = context.obj() if context.obj is not None else StandardInputOnly()
    return host


def found_at(host: Host, path: str, stdin_name: str, *, bytes_max: int) -> Found | Failure:
    """Find what an argument names, standard input too."""
    if path == STANDARD_INPUT:
        return Found(iter([host.standard_input(stdin_name, bytes_max=bytes_max)]), is_folder=False)
    return host.find(path, bytes_max=bytes_max)


def single(host: Host, path: str, stdin_name: str, *, bytes_max: int) -> Document | Failure:
    """Give the one document that an argument must name."""
    found = found_at(host, path, stdin_name, bytes_max=bytes_max)
    if isinstance(found, Failure):
        return found
    if found.is_folder:
        return Failure(f"`{path}` is a folder", "name a file in it", STATUS_USAGE)
    return next(found.documents)


def loader_of(host: Host, document: Document) -> "Loader | None":
    """Give the loader for the imports of a document: a file, or what is kept with its modules; None for any other."""
    if document.modules is not None:
        from stateward.compiler.language.loader import KeptLoader  # noqa: PLC0415 - each command loads what it needs

        return KeptLoader(document.modules)
    return host.loader(document.path) if document.path is not None else None


def slug_of(name: str) -> str | None:
    """Give the slug that a file of this name is kept under; None when it is kept under none."""
    file = PurePath(name).name
    return file.removesuffix(SUFFIX) if file.endswith(SUFFIX) and not file.endswith(TEST_SUFFIX) else None
