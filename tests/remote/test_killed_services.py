"""A service that is killed while somebody saves: what was told to be kept is there, once and in order, and nothing is told that is not."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from stateward.runtime.ports import OutcomeUnknown, Saved, ServiceUnavailable
from stateward.runtime.remote.address import Address
from stateward.runtime.remote.client import WorkspaceClient
from stateward.runtime.remote.credentials import Access, Token
from tests.cli.program import STATEWARD
from tests.contracts.authority import source, texts
from tests.contracts.snapshots import HERE
from tests.remote.asking import client_of
from tests.remote.services import token_of

BEFORE_THE_KILL = 5
ROUNDS = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".stateward").mkdir()
    (tmp_path / ".stateward" / "workspace").write_text(f"{HERE.id}\n", "ascii")
    return tmp_path


@contextmanager
def process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the program that serves, and give it with its address once it takes connections."""
    environment = {**os.environ, "HOME": str(folder), "STATEWARD_STORE": str(folder / "store.db"), "PYTHONUNBUFFERED": "1"}
    command = [str(STATEWARD), "serve", "--port", "0", "--workdir", str(folder)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            assert running.stdout is not None
            line = next(each for each in running.stdout if each.startswith("serving "))
            yield running, line.split()[-1]
        finally:
            running.kill()


class Author:
    """Saves one revision after the other until the service is gone."""

    def __init__(self, client: WorkspaceClient, begun: int) -> None:
        self.kept: dict[int, bytes] = {}
        self.open: bytes | None = None
        """What was sent last, where nobody could tell what became of it."""
        self.well_under_way = Event()
        self._client = client
        self._begun = begun
        self._thread = Thread(target=self._save_on)

    def __enter__(self) -> "Author":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _save_on(self) -> None:
        base = self._begun
        while True:
            content = source(f"revision {base + 1}.")
            try:
                answer = self._client.save("paper", content, base=base or None)
            except OutcomeUnknown:
                self.open = content
                break
            except ServiceUnavailable:
                break
            assert isinstance(answer, Saved), answer
            base = answer.revision.revision
            self.kept[base] = content
            if len(self.kept) == BEFORE_THE_KILL:
                self.well_under_way.set()
        self.well_under_way.set()


def test_what_was_told_to_be_kept_is_there_after_the_service_was_killed(folder: Path) -> None:
    token = Token(token_of(folder / "store.db", HERE.id, "ada"))
    expected: list[bytes] = []
    for _ in range(ROUNDS):
        with (
            process(folder) as (running, address),
            client_of(Access(Address(address), token)) as client,
            Author(client, len(expected)) as author,
        ):
            author.well_under_way.wait()
            running.send_signal(signal.SIGKILL)
        assert len(author.kept) >= BEFORE_THE_KILL
        with process(folder) as (_, address), client_of(Access(Address(address), token)) as client:
            found = texts(client)
        told = [*expected, *(author.kept[number] for number in sorted(author.kept))]
        assert found in (told, [*told, author.open])
        expected = found
