"""A server of an editor in a process that starts at once, held by whoever started it like one that was started from a shell."""

import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.reduction import DupFd
from typing import Any

from stateward.runtime.surfaces.cli import main
from tests.forking import CONTEXT


def serve() -> None:
    """Do what `stateward lsp` does."""
    main(["lsp"])


class Forked:
    """A process that acts at pipes of its own, with the names of `subprocess.Popen`."""

    def __init__(self, act: Callable[[], None]) -> None:
        (given, feeding), (reading, writing), (hearing, saying) = os.pipe(), os.pipe(), os.pipe()
        self._process = CONTEXT.Process(target=_act, args=(act, *(_Handed(each) for each in (given, writing, saying))))
        self._process.start()
        for each in (given, writing, saying):
            os.close(each)
        self.stdin, self.stdout, self.stderr = os.fdopen(feeding, "wb"), os.fdopen(reading, "rb"), os.fdopen(hearing, "rb")
        self.returncode: int | None = None

    def send_signal(self, number: signal.Signals) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> int:
        self._process.join()
        status = self._process.exitcode
        assert status is not None
        self.returncode = status
        return status

    def communicate(self) -> tuple[bytes, bytes]:
        """Leave, and give what was still written and what was said."""
        with suppress(BrokenPipeError):
            self.stdin.close()
        with ThreadPoolExecutor(1) as beside:
            said = beside.submit(self.stderr.read)
            written = self.stdout.read()
        self.stdout.close()
        self.stderr.close()
        self.wait()
        return written, said.result()


class _Handed:
    """A file descriptor on its way to a child."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _taken, (DupFd(self._descriptor),)


def _taken(handed: Any) -> int:
    descriptor: int = handed.detach()
    return descriptor


def _act(act: Callable[[], None], *descriptors: int) -> None:
    for standard, descriptor in enumerate(descriptors):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    streams = [open(standard, mode, encoding="utf-8", closefd=False) for standard, mode in enumerate("rww")]  # noqa: SIM115 - for good
    sys.stdin, sys.stdout, sys.stderr = streams
    act()
