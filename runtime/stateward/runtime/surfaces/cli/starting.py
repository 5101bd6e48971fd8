"""`stateward new`: write a first flow and its tests.

Invariants: both files come into being, or neither does; a file that is there is never written over.
"""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from stateward.compiler.cli.host import STATUS_ENVIRONMENT, STATUS_USAGE, SUFFIX, TEST_SUFFIX, reason
from stateward.compiler.cli.output import say
from stateward.compiler.flow.identifiers import identifier_fault
from stateward.runtime.surfaces.cli.errors import Stop
from stateward.runtime.surfaces.cli.writing import shown_path
from stateward.runtime.trial.starter import starter_flow, starter_tests


@click.command("new")
@click.argument("name")
@click.option("--dir", "folder", type=Path, default=".", metavar="DIR", help="The folder to write to; it has to be there.")
def new_command(name: str, folder: Path) -> None:
    """Write a commented first flow, NAME.dcdl, and its tests, NAME.test.dcdl."""
    fault = identifier_fault(name)
    if fault is not None:
        raise Stop(STATUS_USAGE, f"a flow cannot be named `{shown_path(name)}`: it {fault}", "use ASCII letters, digits, `-` and `_`")
    flow, tests = folder / f"{name}{SUFFIX}", folder / f"{name}{TEST_SUFFIX}"
    _create(flow, starter_flow(name))
    try:
        _create(tests, starter_tests(name))
    except BaseException:
        with suppress(OSError):
            flow.unlink()  # written just now, by this command
        raise
    shown = shown_path(str(flow))
    say(f"wrote {shown} and {shown_path(str(tests))}\nnext: `stateward compile {shown}`, then `stateward simulate {shown}`\n")


def _create(path: Path, text: str) -> None:
    """Write a file that is not there yet, whole or not at all. Raises Stop."""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as draft:
            draft.write(text.encode())
            draft.flush()
            os.fsync(draft.fileno())
            Path(draft.name).chmod(0o666 & ~_umask())
            os.link(draft.name, path)
    except FileExistsError as there:
        raise Stop(
            STATUS_USAGE, f"`{shown_path(str(path))}` is there already", "name another flow, or another folder with `--dir`"
        ) from there
    except (FileNotFoundError, NotADirectoryError) as missing:
        raise Stop(
            STATUS_USAGE, f"there is no folder `{shown_path(str(path.parent))}`", "make it, or name another with `--dir`"
        ) from missing
    except OSError as problem:
        message = f"`{shown_path(str(path))}` cannot be written: {reason(problem)}"
        raise Stop(STATUS_ENVIRONMENT, message, "name another folder with `--dir`") from problem


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
