"""What the authors' commands read and write: files, folders, standard input, selectors. The host of `stateward.compiler.cli`.

Invariants: a failure is one line with its remedy and never an exception; a file is written whole or not at all; folders are walked by
name, without following links to folders and without entering those that begin with a dot.
"""

import os
import stat
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward.compiler.cli import SELECTORS, STATUS_ENVIRONMENT, STATUS_USAGE, SUFFIX, Document, Found
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import listed, nearest
from stateward.resources.catalog import builtin, builtins

if TYPE_CHECKING:
    from stateward.compiler.diagnostics.text import Look
    from stateward.compiler.language.loader import Loader

FILES_MAX: Final = 10_000
"""`*.dcdl` files that one folder may have below it."""
WIDTH_MIN: Final = 60

WorkspaceResolver = Callable[[str], Document | Failure]
"""Gives the current source of a slug in the Workspace."""


def workspace_source(slug: str) -> Document | Failure:
    """Give the current source of a slug in the Workspace of the current folder; nothing is written."""
    from stateward.runtime.ports import Fault  # noqa: PLC0415 - only this selector opens a store
    from stateward.runtime.wiring import NoWorkspace, locate, reading  # noqa: PLC0415

    named = f"`workspace:{_shown(slug)}`"
    try:
        location = locate(Path.cwd())
        with reading(location) as runtime:
            current = runtime.flows.current(location.workspace, slug)
    except NoWorkspace as fault:
        return Failure(f"{named} cannot be resolved: {fault.message}", fault.remedy, STATUS_USAGE)
    except Fault as fault:
        return Failure(f"{named} cannot be read: {fault.message}", fault.remedy or "see that the store is whole", STATUS_ENVIRONMENT)
    if current is None:
        return Failure(f"the Workspace keeps no flow {named}", "keep it with `stateward flow save`", STATUS_USAGE)
    return Document(f"flows/{slug}{SUFFIX}", current.content, slug)


class FileHost:
    """The host of a process with files and a terminal."""

    def __init__(self, workspace: WorkspaceResolver = workspace_source) -> None:
        self._workspace = workspace

    def find(self, argument: str, *, bytes_max: int) -> Found | Failure:
        """Find a file, all `*.dcdl` files below a folder, or what a selector names."""
        if argument.startswith(SELECTORS):
            kind, _, slug = argument.partition(":")
            return _one(_builtin(slug) if kind == "builtin" else self._workspace(slug))
        path = Path(argument)
        try:
            mode = path.stat().st_mode
        except OSError as fault:
            return _unfindable(argument, fault)
        if stat.S_ISDIR(mode):
            return Found(_below(path, bytes_max), is_folder=True)
        if not stat.S_ISREG(mode):
            return Failure(f"`{_shown(argument)}` is neither a file nor a folder", "name `-` to read standard input", STATUS_USAGE)
        return _one(_read(path, bytes_max))

    def standard_input(self, name: str, *, bytes_max: int) -> Document | Failure:
        """Read standard input to its end, or to one byte more than is wanted."""
        try:
            return Document(name, sys.stdin.buffer.read(bytes_max + 1))
        except OSError as fault:
            return Failure(f"standard input cannot be read: {_reason(fault)}", "pipe the source into it", STATUS_ENVIRONMENT)

    def write(self, path: str, data: bytes) -> Failure | None:
        """Write a file whole or not at all; a link is written through, and the mode of a file that is there is kept."""
        shown = _shown(path)
        target = Path(os.path.realpath(path))
        if target.is_dir():
            return Failure(f"`{shown}` is a folder", "name a file in it", STATUS_USAGE)
        if not target.parent.is_dir():
            return Failure(f"the folder of `{shown}` does not exist", f"make it first: mkdir -p {_shown(str(target.parent))}", STATUS_USAGE)
        try:
            _replace(target, data)
        except OSError as fault:
            return Failure(f"`{shown}` cannot be written: {_reason(fault)}", "name a place that can be written", STATUS_ENVIRONMENT)
        return None

    def loader(self, argument: str) -> "Loader":
        """Give a loader that reaches the files of the folder of a file and below; what a selector names imports nothing."""
        from stateward.compiler.language.loader import REFUSING, FileTreeLoader  # noqa: PLC0415 - only `eval` imports

        if argument.startswith(SELECTORS):
            return REFUSING
        folder = Path(argument).parent
        return FileTreeLoader(folder, shown=_shown(str(folder)))

    def look(self) -> "Look":
        """Say how standard output is written to: in colours only on a terminal that has not been told otherwise."""
        import shutil  # noqa: PLC0415 - loads compressors

        from stateward.compiler.diagnostics.text import WIDTH, Look  # noqa: PLC0415 - a clean flow needs no renderer

        is_terminal = sys.stdout.isatty()
        colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        columns = shutil.get_terminal_size((WIDTH, 0)).columns if is_terminal else WIDTH
        return Look(width=max(columns, WIDTH_MIN), colour=colour, boxes=_shows_boxes(sys.stdout.encoding))


def _one(document: Document | Failure) -> Found | Failure:
    return document if isinstance(document, Failure) else Found(iter([document]), is_folder=False)


def _builtin(slug: str) -> Document | Failure:
    source = builtin(slug)
    if source is not None:
        return Document(source.path, source.content, source.slug)
    slugs = [each.slug for each in builtins()]
    near = nearest(slug, slugs)
    remedy = f"did you mean `builtin:{near}`?" if near is not None else f"there are {listed(slugs)}"
    return Failure(f"no built-in flow is named `{_shown(slug)}`", remedy, STATUS_USAGE)


def _below(folder: Path, bytes_max: int) -> Iterator[Document | Failure]:
    """Read every `*.dcdl` file below a folder, by path."""
    faults: list[OSError] = []
    count = 0
    for at, folders, files in os.walk(folder, onerror=faults.append):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (_unreadable(fault.filename, fault) for fault in faults)
        faults.clear()
        for file in sorted(each for each in files if each.endswith(SUFFIX)):
            count += 1
            if count > FILES_MAX:
                yield Failure(f"`{_shown(str(folder))}` has more than {FILES_MAX:,} files", "name a folder further down", STATUS_USAGE)
                return
            yield _read(Path(at, file), bytes_max)
    yield from (_unreadable(fault.filename, fault) for fault in faults)


def _read(path: Path, bytes_max: int) -> Document | Failure:
    """Read a file to its end, or to one byte more than is wanted."""
    try:
        with path.open("rb") as file:
            return Document(_shown(str(path)), file.read(bytes_max + 1))
    except OSError as fault:
        return _unreadable(str(path), fault)


def _unreadable(path: str, fault: OSError) -> Failure:
    remedy = "make it readable: chmod u+r" if isinstance(fault, PermissionError) else "see that it is there and readable"
    return Failure(f"`{_shown(path)}` cannot be read: {_reason(fault)}", remedy, STATUS_ENVIRONMENT)


def _unfindable(argument: str, fault: OSError) -> Failure:
    if not isinstance(fault, FileNotFoundError | NotADirectoryError):
        return _unreadable(argument, fault)
    return Failure(f"`{_shown(argument)}` does not exist", _near(argument), STATUS_USAGE)


def _near(argument: str) -> str:
    """Offer what was probably meant by the name of something that is not there."""
    if builtin(argument) is not None:
        return f"did you mean `builtin:{argument}`?"
    path = Path(argument)
    try:
        names = {each.stem: each.name for each in sorted(islice(path.parent.iterdir(), FILES_MAX), reverse=True)}
    except OSError:
        return "check the path"
    near = path.name if path.name in names else nearest(path.stem, names)
    return f"did you mean `{_shown(str(path.with_name(names[near])))}`?" if near is not None else "check the path"


def _replace(target: Path, data: bytes) -> None:
    """Put a file in the place of another at once."""
    import tempfile  # noqa: PLC0415 - only writing needs it

    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.")
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(mode if mode is not None else 0o666 & ~_umask())
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _shown(path: str) -> str:
    """Give a path as text: bytes that are no text in it are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def _reason(fault: OSError) -> str:
    return (fault.strerror or type(fault).__name__).lower()


def _shows_boxes(encoding: str | None) -> bool:
    try:
        "┌─│╰…".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
