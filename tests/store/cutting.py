"""A door before a server of PostgreSQL that can be shut at the moment that matters."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit, urlunsplit

NAME: Final = ".s.PGSQL.5432"
CHUNK: Final = 1 << 16


class Door:
    """Passes on what client and server say until the client says `word`; then as `cuts` says."""

    def __init__(self, folder: Path, server: str) -> None:
        self._server = server
        self.word: bytes | None = None
        self.answers = False
        """Whether the server hears the word and answers before the door is shut; else it never hears it."""
        self.hears = False
        """Whether the server hears the word, and the door is shut before it answers."""
        self.shut = threading.Event()
        self._silenced: socket.socket | None = None
        self._passing: list[socket.socket] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / NAME))
        self._listening.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        hang_up(*self._passing)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            self._passing += [client, server]
            threading.Thread(target=self._to_server, args=(client, server), daemon=True).start()
            threading.Thread(target=self._to_client, args=(server, client), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while said := client.recv(CHUNK):
                if self.word is None or self.word not in said:
                    server.sendall(said)
                    continue
                self.word = None
                if self.answers:
                    self._silenced = client
                    server.sendall(said)
                    continue
                if self.hears:
                    server.sendall(said)
                    client.shutdown(socket.SHUT_RDWR)
                    self.shut.set()
                    return  # the server is not told that its client is gone
                break
        except OSError:
            pass
        hang_up(client, server)

    def _to_client(self, server: socket.socket, client: socket.socket) -> None:
        try:
            while said := server.recv(CHUNK):
                if self._silenced is client:
                    break
                client.sendall(said)
        except OSError:
            pass
        if not self.shut.is_set():
            hang_up(client, server)


def hang_up(*sockets: socket.socket) -> None:
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


@contextmanager
def door_before(url: str, folder: Path) -> Iterator[tuple[Door, str]]:
    """Give a door, and the URL that leads through it."""
    parts = urlsplit(url)
    (server,) = parse_qs(parts.query)["host"]
    door = Door(folder, f"{server}/{NAME}")
    yield door, urlunsplit(parts._replace(query=f"host={folder}"))
    door.close()
