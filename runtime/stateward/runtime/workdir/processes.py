"""Run a program that may hang, flood or never end, and take what it says within bounds.

`run` asks a program a question: one that says too much, or whose children keep its ends open, has not answered. `watch` looks on while a
program works: of what it says the beginning and the end are kept, and it is over when the program itself is.

Invariants: no shell; the environment is exactly what is given, and no open file but those named is inherited; the program, and whatever
it started in its process group, is dead when `run` or `watch` returns or raises; what is kept of what it says is bounded.
"""

import os
import resource
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic
from typing import IO, Final

from stateward.runtime.workdir.limits import CHUNK_BYTES, DRAINED_BYTES_MAX, ERROR_BYTES_MAX

NOWHERE: Final = "/"
"""The working folder of programs unless another is named: none of the Workdir's files can be meant by a relative name."""


class Ended(StrEnum):
    """How a program ended."""

    BY_ITSELF = "by_itself"
    KILLED_LATE = "killed_late"
    """It ran longer than it may."""
    KILLED_LOUD = "killed_loud"
    """It said more than it may."""
    KILLED_HALTED = "killed_halted"
    """Its caller no longer wanted it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a program."""

    ended: Ended
    status: int
    """Its exit status; negative for a signal."""
    output: bytes
    errors: bytes
    """The beginning of its standard error."""


def run(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    seconds: float,
    output_bytes: int,
    given: bytes = b"",
    handles: Sequence[int] = (),
    folder: str = NOWHERE,
    halt: int | None = None,
    memory_bytes: int | None = None,
) -> Ran:
    """Run a program by its whole path to its end, or kill it; also once something can be read from the handle `halt`.

    `memory_bytes` bounds its address space, where the system can bound that of another process. Raises OSError when the program cannot
    be started.
    """
    deadline = monotonic() + seconds
    with subprocess.Popen(  # noqa: S603 -- a whole path and arguments as a list; no shell reads them
        list(command),
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=tuple(handles),
        start_new_session=True,
        bufsize=0,
    ) as process:
        try:
            _bound(process.pid, memory_bytes)
            talk = _Talk(process, given, output_bytes, halt)
            ended = talk.until(deadline)
            if ended is Ended.BY_ITSELF and not _waited(process, deadline):
                ended = Ended.KILLED_LATE
        finally:
            _kill(process)
    return Ran(ended, process.returncode, bytes(talk.output), bytes(talk.errors))


@dataclass(frozen=True, slots=True)
class Watched:
    """What came of a program that was watched."""

    ended: Ended
    status: int
    """Its exit status; negative for a signal."""
    beginning: bytes
    """What it said first, on standard output and standard error together."""
    end: bytes
    """What it said last, after that."""
    said: int
    """How many bytes it said in all; those that are in neither are gone."""


def watch(
    command: Sequence[str], *, environment: Mapping[str, str], seconds: float, folder: str, keep: int, halt: int | None = None
) -> Watched:
    """Watch a program, named by its whole path, to its end, or kill it; also once something can be read from the handle `halt`.

    It is given nothing to read. Of what it says `keep` bytes are kept from the beginning, and as many from the end. Raises OSError when it
    cannot be started.
    """
    deadline = monotonic() + seconds
    with subprocess.Popen(  # noqa: S603 -- as above
        list(command),
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        bufsize=0,
    ) as process:
        try:
            kept = _Kept(keep)
            ended = _looked_on(process, kept, deadline, halt)
        finally:
            _kill(process)
    return Watched(ended, process.returncode, bytes(kept.beginning), kept.end, kept.said)


class _Kept:
    """The beginning and the end of what was said."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self.beginning, self._later, self.said = bytearray(), bytearray(), 0

    def take(self, data: bytes) -> None:
        """Keep of it what is to be kept."""
        room = self._keep - len(self.beginning)
        self.said += len(data)
        self.beginning += data[:room]
        self._later += data[room:]
        if len(self._later) > 2 * self._keep:
            del self._later[: -self._keep]

    @property
    def end(self) -> bytes:
        """What was said last, but for what is kept as the beginning."""
        return bytes(self._later[-self._keep :])


@dataclass(frozen=True, slots=True)
class _Handles:
    """What is listened to while a program is watched."""

    pipe: int
    """What it says."""
    leader: int | None
    """The program itself; None where its end cannot be seen so."""
    halt: int | None


def _looked_on(process: "subprocess.Popen[bytes]", kept: _Kept, deadline: float, halt: int | None) -> Ended:
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    leader = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None
    try:
        with selectors.DefaultSelector() as selector:
            for handle in (pipe, leader, halt):
                if handle is not None:
                    selector.register(handle, selectors.EVENT_READ)
            ended = _over(selector, kept, _Handles(pipe, leader, halt), deadline)
    finally:
        if leader is not None:
            os.close(leader)
    if ended is Ended.BY_ITSELF and leader is None and not _waited(process, deadline):
        return Ended.KILLED_LATE
    return ended


def _over(selector: selectors.BaseSelector, kept: _Kept, handles: _Handles, deadline: float) -> Ended:
    """Take what is said until the program has ended; where that cannot be seen, until it has closed its end."""
    while True:
        ready = {key.fd for key, _ in selector.select(max(0.0, deadline - monotonic()))}
        if handles.halt in ready:
            return Ended.KILLED_HALTED
        if handles.leader in ready:
            _drain(kept, handles.pipe)
            return Ended.BY_ITSELF
        if monotonic() >= deadline:
            return Ended.KILLED_LATE
        if handles.pipe in ready and not _taken(kept, handles.pipe):
            if handles.leader is None:
                return Ended.BY_ITSELF
            selector.unregister(handles.pipe)


def _taken(kept: _Kept, pipe: int) -> bool:
    """Take what can be read; false where nothing more will come."""
    data = os.read(pipe, CHUNK_BYTES)
    kept.take(data)
    return data != b""


def _drain(kept: _Kept, pipe: int) -> None:
    """Take what the program said just before it ended, and no more than a pipe holds: its children may go on."""
    with suppress(BlockingIOError):
        for _ in range(DRAINED_BYTES_MAX // CHUNK_BYTES):
            if not _taken(kept, pipe):
                return


def _bound(process: int, memory_bytes: int | None) -> None:
    if memory_bytes is not None and hasattr(resource, "prlimit"):
        with suppress(ProcessLookupError, PermissionError):  # it has ended already, or has a tighter bound
            resource.prlimit(process, resource.RLIMIT_AS, (memory_bytes, memory_bytes))


class _Talk:
    """What goes between the program and its caller."""

    def __init__(self, process: "subprocess.Popen[bytes]", given: bytes, output_bytes: int, halt: int | None) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._given = memoryview(given)
        self._output_bytes, self._halt = output_bytes, halt
        self._selector = selectors.DefaultSelector()
        self.output, self.errors = bytearray(), bytearray()
        self._selector.register(process.stdin, selectors.EVENT_WRITE)
        self._selector.register(process.stdout, selectors.EVENT_READ)
        self._selector.register(process.stderr, selectors.EVENT_READ)
        for pipe in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(pipe.fileno(), False)
        if halt is not None:
            self._selector.register(halt, selectors.EVENT_READ)

    def until(self, deadline: float) -> Ended:
        """Go on until the program closes its end, says too much, or the time is over."""
        with self._selector as selector:
            while len(selector.get_map()) > (self._halt is not None):
                ready = selector.select(max(0.0, deadline - monotonic()))
                if monotonic() >= deadline:
                    return Ended.KILLED_LATE
                for key, _ in ready:
                    if key.fileobj == self._halt:
                        return Ended.KILLED_HALTED
                    if not self._moved(key.fileobj):  # type: ignore[arg-type]  # only pipes were registered
                        selector.unregister(key.fileobj)
                if len(self.output) > self._output_bytes:
                    return Ended.KILLED_LOUD
        return Ended.BY_ITSELF

    def _moved(self, pipe: IO[bytes]) -> bool:
        if pipe is self._stdin:
            return self._write()
        data = os.read(pipe.fileno(), CHUNK_BYTES)
        if pipe is self._stdout:
            self.output += data
        else:
            self.errors += data[: ERROR_BYTES_MAX - len(self.errors)]
        return data != b""

    def _write(self) -> bool:
        if self._given:
            try:
                self._given = self._given[os.write(self._stdin.fileno(), self._given) :]
            except BrokenPipeError:  # it does not want to know
                self._given = self._given[:0]
        if self._given:
            return True
        self._stdin.close()
        return False


def _waited(process: "subprocess.Popen[bytes]", deadline: float) -> bool:
    """Wait for the end, where it can be done without giving the number of the process away to another one."""
    if not hasattr(os, "pidfd_open"):
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - monotonic()))
        return process.returncode is not None
    handle = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            return bool(selector.select(max(0.0, deadline - monotonic())))
    finally:
        os.close(handle)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the program's group, the leader of which may be gone and leave others, while its number can be nobody else's."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
