"""The program in a process of its own that starts at once: forked from a server that has imported it and opened nothing."""

import os
import signal
import sqlite3
import sys
from collections.abc import Sequence
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any

from stateward.runtime.surfaces.cli import main
from tests.cli.program import Place
from tests.forking import CONTEXT


def start(here: Place, *arguments: str, terminal: str = os.devnull, writes: int | None = None) -> BaseProcess:
    """Start the program on a terminal, or on nothing; it kills itself right after that many durable writes, if a number is named."""
    environment = {**here.environment, "NO_COLOR": "1", "TERM": "dumb"}
    process = CONTEXT.Process(target=_run, args=(str(here.work), environment, arguments, terminal, writes))
    process.start()
    return process


def _run(folder: str, environment: dict[str, str], arguments: Sequence[str], terminal: str, writes: int | None) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.setsid()  # so that the terminal becomes the one of this process, and its keys signals
    handle = os.open(terminal, os.O_RDWR)
    for standard in range(3):
        os.dup2(handle, standard)
    streams = [open(standard, mode, encoding="utf-8", closefd=False) for standard, mode in enumerate("rww")]  # noqa: SIM115 - for good
    sys.stdin, sys.stdout, sys.stderr = streams
    if writes is not None:
        Ending.left = writes
        sqlite3.connect = partial(sqlite3.connect, factory=Ending)  # type: ignore[assignment]
    main(arguments)


class Ending(sqlite3.Connection):
    """A connection that ends its process right after one of its commits, as a kill or a loss of power would."""

    left = 0

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        cursor = super().execute(sql, *given)
        if sql == "COMMIT":
            Ending.left -= 1
            if Ending.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return cursor
