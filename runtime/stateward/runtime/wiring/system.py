"""What the machine is: its clock, ids, threads, folders of work, and the account this process runs under."""

import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from stateward.runtime.ports.faults import Fault
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.wiring.places import Place

if TYPE_CHECKING:
    from stateward.compiler.predicates.declarations import CheckDeclaration
    from stateward.runtime.core.events import FileCitation
    from stateward.runtime.ports import Clock, TreeFacts
    from stateward.runtime.ports.checking import CheckRights, CheckRun


class SystemClock:
    """The system's clock."""

    def now(self) -> datetime:
        """Give the present, UTC."""
        return datetime.now(UTC)


class ThreadHeartbeat:
    """Beats in a thread of its own."""

    @contextmanager
    def during(self, seconds: float, beat: Callable[[], None]) -> Iterator[None]:
        """Give a context in which `beat` is called every so many seconds. A fault ends the beating; its effect shows elsewhere."""
        over = Event()

        def beating() -> None:
            with suppress(Fault):
                while not over.wait(seconds):
                    beat()

        thread = Thread(target=beating, name="stateward lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


class DaemonThreads:
    """Threads that do not keep a process from ending."""

    def start(self, name: str, work: Callable[[], None]) -> None:
        """Begin something beside what goes on."""
        Thread(target=work, name=name, daemon=True).start()


class Folders:
    """The folders of the work on this machine, as the engine looks at them."""

    def __init__(self, secrets: Secrets = NO_SECRETS, store: Place | None = None) -> None:
        self._secrets = secrets
        self._store = store if isinstance(store, Path) else None

    def facts(self, root: str) -> "TreeFacts | None":
        """Take the facts of a git work tree; None where there is none, and the empty digest where they cannot be taken."""
        from stateward.runtime.workdir.stated import tree_facts  # noqa: PLC0415 -- only requests need it

        return tree_facts(root, store=self._store)

    def shows(self, root: str, cited: "FileCitation") -> bool:
        """Tell whether lines of a file still are what was quoted."""
        from stateward.runtime.verifier.masked import MaskedWorkdir  # noqa: PLC0415 -- the same
        from stateward.runtime.verifier.rereading import still_shows  # noqa: PLC0415 -- only reports that cite files need it
        from stateward.runtime.workdir.view import WorkdirView  # noqa: PLC0415

        try:
            with WorkdirView(Path(root)) as view:
                return still_shows(MaskedWorkdir(view, self._secrets), cited)
        except OSError:  # the folder is gone, and what was in it
            return False


class HostChecks:
    """Runs the checks of flows on this machine: the port `CheckRunner`."""

    def __init__(self, folders: Folders, clock: "Clock", secrets: Secrets = NO_SECRETS) -> None:
        self._folders, self._clock, self._secrets = folders, clock, secrets

    def run(self, check: "CheckDeclaration", root: str, rights: "CheckRights", halt: int | None = None) -> "CheckRun":
        """Run one, with what is left of the environment of this process."""
        from stateward.runtime.workdir.checking import WorkdirChecks  # noqa: PLC0415 -- only requests of flows with checks need it

        checks = WorkdirChecks(facts=self._folders.facts, now=self._clock.now, environment=os.environ, secrets=self._secrets)
        return checks.run(check, root, rights, halt)


class TimeOrderedIds:
    """UUIDv7 ids."""

    def new(self) -> str:
        """Give a UUIDv7; within one process each is later than the one before."""
        from uuid_utils import uuid7  # noqa: PLC0415 -- reading commands make no ids

        return str(uuid7())


def person_at_terminal() -> Actor:
    """Give the actor that the command line acts as: a person of whom nothing is shown but the account."""
    return Actor(ActorClass.PERSON, "terminal", account_name())


def account_name() -> str:
    """Give the name of the account this process runs under, or its number where it has no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def program_version() -> str:
    """Name this program and its version, as stored revisions name their compiler."""
    from importlib.metadata import version  # noqa: PLC0415 -- only what is kept of a compile needs it

    return f"stateward {version('stateward')}"
