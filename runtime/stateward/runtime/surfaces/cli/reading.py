"""What the authors' commands read and write: files, folders, standard input, selectors. The host of `stateward.compiler.cli`.

Invariants: a failure is a value with its remedy and never an exception; a file is written whole or not at all, and nothing but a file is
ever replaced; reading never waits for what is no file. Folders are walked by name, without following links to folders and passing over
what begins with a dot (editors and systems keep their own things there).
"""

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from stateward.compiler.cli.host import (
    SELECTORS,
    STATUS_ENVIRONMENT,
    STATUS_USAGE,
    SUFFIX,
    Document,
    Found,
    read_standard_input,
    reason,
)
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import listed, nearest, quoted
from stateward.resources.catalog import builtin, builtins
from stateward.runtime.surfaces.cli.writing import rewrite_file, shown_path, write_file

if TYPE_CHECKING:
    from stateward.compiler.cli.graphing import Run
    from stateward.compiler.diagnostics.text import Look
    from stateward.compiler.language.loader import Loader

FILES_MAX: Final = 10_000
"""`*.dcdl` files that one folder may have below it."""
WIDTH_MIN: Final = 60

_NOTHING_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
"""What the system says where nothing is or can be."""
_CHECK: Final = "check the path"
SLUGS_MAX: Final = 500
"""Slugs of a Workspace among which a near one is sought."""

DIGITS_MAX: Final = 9
"""Of the number of a revision."""

WorkspaceResolver = Callable[[str], Document | Failure]
"""Gives the current source of a slug in the Workspace."""


def workspace_source(named_slug: str) -> Document | Failure:
    """Give the current source of a slug in the Workspace of the current folder, or of `slug@N` revision N; nothing is written."""
    from stateward.runtime.marker import NoWorkspace  # noqa: PLC0415
    from stateward.runtime.ports import Fault  # noqa: PLC0415 - only this selector opens a store
    from stateward.runtime.wiring import locate, reading  # noqa: PLC0415

    slug, at, number = named_slug.partition("@")
    named = quoted(f"workspace:{shown_path(slug)}")
    if at and not (number.isascii() and number.isdecimal() and len(number) <= DIGITS_MAX):
        return Failure(f"`{shown_path(number)}` is no revision of {named}", "name one by its number: `@3`", STATUS_USAGE)
    try:
        location = locate(Path.cwd())
        with reading(location) as runtime:
            flows, workspace = runtime.flows, location.workspace
            found = flows.revision(workspace, slug, int(number)) if at else flows.current(workspace, slug)
            last = None if found is not None or not at else flows.find(workspace, slug)
            kept = [] if found is not None else [each.last.slug for each in flows.sources(workspace, SLUGS_MAX)]
    except NoWorkspace as fault:
        return Failure(f"{named} cannot be resolved: {fault.message}", fault.remedy, STATUS_USAGE)
    except Fault as fault:
        return Failure(f"{named} cannot be read: {fault.message}", fault.remedy or "see that the store is whole", STATUS_ENVIRONMENT)
    except FileNotFoundError:
        return Failure(f"{named} cannot be resolved: the current folder is gone", "go to a folder that is there", STATUS_ENVIRONMENT)
    if last is not None:
        return Failure(f"{named} has no revision {int(number)}", f"name one from 1 to {last.last.revision}", STATUS_USAGE)
    if found is None:
        near = nearest(slug, kept)
        remedy = _did_you_mean(f"workspace:{near}") if near is not None else _built_in(slug) or "keep it with `stateward flow save`"
        return Failure(f"the Workspace keeps no flow {named}", remedy, STATUS_USAGE)
    name = f"flows/{slug}{at}{number}{SUFFIX}" if at else f"flows/{slug}{SUFFIX}"
    return Document(name, found.content, f"workspace:{named_slug}", slug=slug, modules=dict(found.modules))


class FileHost:
    """The host of a process with files and a terminal."""

    def __init__(self, workspace: WorkspaceResolver = workspace_source) -> None:
        self._workspace = workspace

    def find(self, argument: str, *, bytes_max: int) -> Found | Failure:
        """Find a file, all `*.dcdl` files below a folder, or what a selector names."""
        if argument.startswith(SELECTORS):
            kind, _, slug = argument.partition(":")
            return _one(_builtin(slug) if kind == "builtin" else self._workspace(slug))
        if not argument:
            return Failure("an empty path names nothing", "name a file, a folder, a selector or `-`", STATUS_USAGE)
        path = Path(argument)
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except OSError as fault:
            return _unfindable(argument, fault)
        return Found(_below(path, bytes_max), is_folder=True) if is_folder else _one(_read(path, bytes_max))

    def standard_input(self, name: str, *, bytes_max: int) -> Document | Failure:
        """Read standard input to its end, or to one byte more than is wanted."""
        return read_standard_input(name, bytes_max)

    def write(self, path: str, data: bytes, *, never: Sequence[str] = ()) -> Failure | None:
        """Write a file whole or not at all, none of the files `never`.

        A link is written through; the mode and the owner of a file that is there are kept. A pipe or a device is written to as it is.
        """
        return write_file(path, (data,), never)

    def rewrite(self, path: str, data: bytes, *, expected: bytes) -> Failure | None:
        """Write a source anew, whole or not at all; no link, and no file that holds something else by now."""
        return rewrite_file(path, data, expected)

    def stamps(self, argument: str) -> Mapping[str, Hashable]:
        """Give the time, the size and the identity of each file that an argument names; of what cannot be looked at, nothing."""
        if not argument or argument.startswith(SELECTORS):
            return {}
        path = Path(argument)
        files = _files_below(path, []) if path.is_dir() else iter([path])
        return {shown_path(str(each)): stamp for each in islice(files, FILES_MAX) if (stamp := _stamp(each)) is not None}

    def wait(self, seconds: float) -> bool:
        """Let time pass; whoever watches ends that by an interruption."""
        time.sleep(seconds)
        return True

    def run_of(self, worker: str, workdir: str, store: str | None) -> "Run":
        """Give the flow of a Worker as it runs. Raises ClickException where there is none."""
        from stateward.runtime.surfaces.cli.graph_worker import run_of  # noqa: PLC0415 - opens a store

        return run_of(worker, workdir, store)

    def loader(self, argument: str) -> "Loader":
        """Give a loader that reaches the files of the folder of a file and below; what a selector names imports nothing."""
        from stateward.compiler.language.loader import REFUSING, FileTreeLoader  # noqa: PLC0415 - each command loads what it needs

        if argument.startswith(SELECTORS):
            return REFUSING
        folder = Path(argument).parent
        return FileTreeLoader(folder, shown=shown_path(str(folder)))

    def look(self, *, err: bool = False) -> "Look":
        """Say how a stream is written to: in colours only on a terminal that has not been told otherwise."""
        from stateward.compiler.diagnostics.text import WIDTH, Look  # noqa: PLC0415 - a clean flow needs no renderer

        stream = sys.stderr if err else sys.stdout
        is_terminal = stream is not None and stream.isatty()
        colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        width = max(_columns(stream) or WIDTH, WIDTH_MIN) if is_terminal else WIDTH
        live = is_terminal and os.environ.get("TERM") != "dumb"
        return Look(width=width, colour=colour, boxes=_shows_boxes(getattr(stream, "encoding", None)), live=live)


def _columns(stream: TextIO) -> int:
    """Give the width of a terminal; 0 when it does not tell."""
    said = os.environ.get("COLUMNS", "")
    try:
        return int(said) if said.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except OSError:
        return 0


def _one(document: Document | Failure) -> Found | Failure:
    return document if isinstance(document, Failure) else Found(iter([document]), is_folder=False)


def _builtin(slug: str) -> Document | Failure:
    source = builtin(slug)
    if source is not None:
        return Document(source.path, source.content, f"builtin:{slug}", slug=source.slug)
    slugs = [each.slug for each in builtins()]
    near = nearest(slug, slugs)
    remedy = _did_you_mean(f"builtin:{near}") if near is not None else f"there are {listed(slugs)}"
    return Failure(f"no built-in flow is named {quoted(shown_path(slug))}", remedy, STATUS_USAGE)


def _below(folder: Path, bytes_max: int) -> Iterator[Document | Failure]:
    """Read every `*.dcdl` file below a folder, by path."""
    faults: list[OSError] = []
    for count, path in enumerate(_files_below(folder, faults), start=1):
        yield from (_unreadable(fault.filename, fault) for fault in faults)
        faults.clear()
        if count > FILES_MAX:
            yield Failure(f"`{shown_path(str(folder))}` has more than {FILES_MAX:,} files", "name a folder further down", STATUS_USAGE)
            return
        yield _read(path, bytes_max)
    yield from (_unreadable(fault.filename, fault) for fault in faults)


def _files_below(folder: Path, faults: list[OSError]) -> Iterator[Path]:
    """Give every `*.dcdl` file below a folder, by path; what cannot be looked into is added to the faults."""
    for at, folders, files in os.walk(folder, onerror=faults.append):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(at, each) for each in sorted(files) if each.endswith(SUFFIX) and not each.startswith("."))


def _stamp(path: Path) -> Hashable | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: Path, bytes_max: int) -> Document | Failure:
    """Read a file to its end, or to one byte more than is wanted. What is no file is not waited for."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return Document(shown_path(str(path)), file.read(bytes_max + 1), _identity(path), path=str(path))
    except OSError as fault:
        return _unreadable(str(path), fault)
    return Failure(f"`{shown_path(str(path))}` is neither a file nor a folder", "name `-` to read standard input", STATUS_USAGE)


def _identity(path: Path) -> str:
    try:
        return str(path.absolute())
    except FileNotFoundError:  # the current folder is gone
        return str(path)


def _unreadable(path: str, fault: OSError) -> Failure:
    if fault.errno == errno.ENOENT and _is_link(path):
        return Failure(f"`{shown_path(path)}` is a link to nothing", "mend the link, or take it away", STATUS_USAGE)
    if isinstance(fault, PermissionError):
        remedy = "make it readable, and the folders above it too (chmod)"
    else:
        remedy = "see that it is there and readable"
    return Failure(f"`{shown_path(path)}` cannot be read: {reason(fault)}", remedy, STATUS_ENVIRONMENT)


def _unfindable(argument: str, fault: OSError) -> Failure:
    if fault.errno not in _NOTHING_THERE or _is_link(argument):
        return _unreadable(argument, fault)
    return Failure(f"`{shown_path(argument)}` does not exist", _near(argument), STATUS_USAGE)


def _is_link(path: str) -> bool:
    return os.path.islink(path)  # noqa: PTH114 - that of Path raises for names that cannot be


def _near(argument: str) -> str:
    """Offer what was probably meant by the name of something that is not there."""
    kind, colon, slug = argument.partition(":")
    if colon and (meant := nearest(f"{kind}:", SELECTORS)) is not None:
        return _did_you_mean(f"{meant}{slug}")
    path = Path(argument)
    try:
        names = {each.stem: each.name for each in sorted(islice(path.parent.iterdir(), FILES_MAX), reverse=True)}
    except OSError:
        names = {}
    near = path.name if path.name in names else nearest(path.stem, names)
    found = _did_you_mean(str(path.with_name(names[near]))) if near is not None else None
    return _built_in(argument) or found or _CHECK


def _built_in(slug: str) -> str | None:
    """Offer the built-in flow of a slug."""
    return _did_you_mean(f"builtin:{slug}") if builtin(slug) is not None else None


def _did_you_mean(path: str) -> str:
    return f"did you mean `{shown_path(path)}`?"


def _shows_boxes(encoding: str | None) -> bool:
    try:
        "┌─│╰…·┆┄╔═║┏━┃▶◀→↩↻×".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
