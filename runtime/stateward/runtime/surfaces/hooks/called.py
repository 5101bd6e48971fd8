"""A hook as it was called: what the host is to read comes of it, and a line for whoever looks at its errors.

Invariants: a folder without a Workspace is left before anything is loaded; whatever goes wrong is one line and never keeps the host from
going on: the exit status is 0 or 1, of which no host takes either for a refusal; standard output holds what the host is to read and nothing
else. Only what a hook needs is loaded, when it is needed.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from stateward.runtime.ports.bindings import Bindings
    from stateward.runtime.ports.work import HostChannel
    from stateward.runtime.session.masking import Secrets
    from stateward.runtime.surfaces.hooks.calls import HookCall, Host
    from stateward.runtime.surfaces.hooks.choosing import Opening

EVENTS: Final = ("session-start", "user-prompt", "pre-tool", "post-tool", "stop", "pre-compact", "session-end")
HOSTS: Final = ("claude", "codex")
INPUT_BYTES_MAX: Final = 32 * 1024 * 1024
BLOCKS_MAX: Final = 100
FOLDERS_MAX: Final = 256
WORKER_CHARACTERS_MAX: Final = 128
BLOCKS_DEFAULT: Final = 3
STATUS_NOTICED: Final = 1
"""Something went wrong that keeps nobody from going on."""
_PROJECT: Final = {"claude": "CLAUDE_PROJECT_DIR"}
"""The variables in which hosts name the folder that a session was started in."""
_MARKER: Final = os.path.join(".stateward", "workspace")  # noqa: PTH118 -- loads less than a Path


class Called(NamedTuple):
    """How the command was called."""

    event: str
    host: str
    worker: str = ""
    workdir: str | None = None
    store: str | None = None
    server: str | None = None
    blocks: int = BLOCKS_DEFAULT


def fit(notice: str) -> str:
    """Give what is said of a problem as one line that nothing obeys, without secrets, whatever stands in it."""
    from stateward.runtime.core.texts import visible  # noqa: PLC0415 -- nothing is loaded where nothing went wrong
    from stateward.runtime.ports.faults import Fault  # noqa: PLC0415
    from stateward.runtime.wiring.places import user_secrets  # noqa: PLC0415

    try:
        return visible(user_secrets().mask(notice))
    except Fault as fault:  # then nobody knows what is one
        return visible(fault.message)


def answer(given: Called, data: bytes) -> tuple[str, str]:
    """Give what the host is to read, and a line for whoever looks at its errors."""
    from stateward.runtime.surfaces.hooks.calls import HookProblem  # noqa: PLC0415 -- nothing is loaded before there is an input
    from stateward.runtime.surfaces.hooks.triage import DENIED, is_for_nobody, is_refused  # noqa: PLC0415

    try:
        host, call = _read(given, data)
    except HookProblem as problem:
        return "", str(problem)
    if len(given.worker) > WORKER_CHARACTERS_MAX:
        return "", f"the Worker that is named has a name of {len(given.worker)} characters"
    folder = _folder_of(given, call)
    if folder is None or is_for_nobody(call):
        return "", ""
    return (DENIED, "") if is_refused(call) else _at_work(given, host, call, folder)


def _folder_of(given: Called, call: "HookCall") -> str | None:
    """Give a folder of the Workspace; None where there is none.

    The project that a host names comes first: the folder of now is where the agent went last, which may be outside of it, or in a
    Workspace of its own making.
    """
    project = os.environ.get(_PROJECT.get(given.host, ""), "")
    places = (given.workdir,) if given.workdir else (project, call.folder or os.curdir)
    return next((each for each in places if each and has_workspace(each)), None)


def _read(given: Called, data: bytes) -> "tuple[Host, HookCall]":
    """Read the input. Raises HookProblem."""
    from stateward.runtime.surfaces.hooks.calls import HookEvent, HookProblem  # noqa: PLC0415 -- as above
    from stateward.runtime.surfaces.hooks.scanning import Unreadable, members_of  # noqa: PLC0415

    if len(data) > INPUT_BYTES_MAX:
        raise HookProblem(f"the input has more than {INPUT_BYTES_MAX} bytes")
    host = _host(given.host)
    try:
        return host, host.read(HookEvent(given.event), members_of(data.decode("utf-8", "surrogateescape")))
    except Unreadable as problem:
        raise HookProblem(f"the input cannot be read: {problem}") from None


def _host(name: str) -> "Host":
    if name == "claude":
        from stateward.runtime.surfaces.hooks.claude import CLAUDE  # noqa: PLC0415 -- only the one that is asked for

        return CLAUDE
    from stateward.runtime.surfaces.hooks.codex import CODEX  # noqa: PLC0415 -- as above

    return CODEX


def has_workspace(folder: str) -> bool:
    """Tell whether something stands in the place of a marker in a folder that is there, or above it; what it is, is looked at later."""
    try:
        here = os.path.realpath(folder)
    except OSError:  # the folder of now is gone
        return False
    if not os.path.isdir(here):  # noqa: PTH112 -- loads less than a Path
        return False
    for _ in range(FOLDERS_MAX):
        if os.path.lexists(os.path.join(here, _MARKER)):  # noqa: PTH118 -- as above
            return True
        above = os.path.dirname(here)  # noqa: PTH120 -- as above
        if above == here:
            return False
        here = above
    return False


def _at_work(given: Called, host: "Host", call: "HookCall", folder: str) -> tuple[str, str]:
    from stateward.runtime.ports.faults import Fault  # noqa: PLC0415 -- as above
    from stateward.runtime.surfaces.hooks.calls import HookEvent, warn  # noqa: PLC0415
    from stateward.runtime.surfaces.hooks.choosing import Asked, answer_to  # noqa: PLC0415

    try:
        answer = answer_to(Asked(host, call, given.worker, given.blocks), _opening(given, folder))
    except Fault as fault:
        said = f"{fault.message}; {fault.remedy}" if fault.remedy else fault.message
        return (warn(f"stateward: {fit(said)}"), "") if call.event in {HookEvent.STOP, HookEvent.SESSION_START} else ("", said)
    return answer.output, answer.notice


def _opening(given: Called, folder: str) -> "Opening":
    """Give what opens a Worker: over a service where one is named and no store is."""
    return _ServiceOpening(folder, given.server) if given.server and not given.store else _LocalOpening(folder, given.store)


class _ServiceOpening:
    """The port `Opening` over a service, whose token says which Worker it is for. No key is held here."""

    def __init__(self, folder: str, server: str) -> None:
        self._server: Final = server
        self._local: Final = _LocalOpening(folder, None)

    def bindings(self) -> "Bindings":
        """Give the bindings of the Workspace, which are of this machine."""
        return self._local.bindings()

    def active(self) -> Sequence[str]:
        """Give the Workers that the token is for, and whose flow is active."""
        from stateward.runtime.wiring.reaching_workers import remote_active_workers  # noqa: PLC0415 -- loads what asks a service

        return remote_active_workers(self._server)

    def channel(self, worker: str, session: str) -> "AbstractContextManager[HostChannel]":
        """Reach a Worker as the harness of its agent."""
        from stateward.runtime.wiring.reaching_workers import remote_host_channel  # noqa: PLC0415 -- as above

        return remote_host_channel(self._server, worker, session)

    def secrets(self) -> "Secrets":
        """Give what is kept out of the log, before it leaves the machine."""
        return self._local.secrets()


class _LocalOpening:
    """The port `Opening` over what lies on this machine."""

    def __init__(self, folder: str, store: str | None) -> None:
        self._named_folder: Final = folder
        self._named_store: Final = store

    def bindings(self) -> "Bindings":
        """Give the bindings of the Workspace."""
        from stateward.runtime.marker import NoWorkspace, find_workspace  # noqa: PLC0415 -- as above
        from stateward.runtime.wiring.bindings import bindings_of  # noqa: PLC0415

        workspace = find_workspace(self._folder)
        if workspace is None:
            raise NoWorkspace(f"no Workspace at {self._named_folder} or above it")
        return bindings_of(workspace)

    def active(self) -> Sequence[str]:
        """Give the Workers of the Workspace whose flow is active; the store is not looked through again while it looks the same."""
        from stateward.runtime.wiring.beginning import locate  # noqa: PLC0415 -- as above
        from stateward.runtime.wiring.bindings import mark_of  # noqa: PLC0415

        bindings, place = self.bindings(), locate(self._folder, self._place).store
        mark = mark_of(place)
        known = bindings.active(mark) if mark else None
        if known is not None:
            return known
        active = self._looked_through()
        if mark and mark == mark_of(place):  # nobody wrote meanwhile
            bindings.keep_active(mark, active)
        return active

    def _looked_through(self) -> Sequence[str]:
        from stateward.runtime.wiring import active_workers, is_new  # noqa: PLC0415 -- as above

        return () if is_new(self._folder, self._place) else active_workers(self._folder, self._place)

    def channel(self, worker: str, session: str) -> "AbstractContextManager[HostChannel]":
        """Open a Worker for the harness of its agent, in a store that is there: a hook makes none."""
        from stateward.runtime.ports.faults import StoreUnavailable  # noqa: PLC0415 -- as above
        from stateward.runtime.session.entries import Actor, ActorClass  # noqa: PLC0415
        from stateward.runtime.wiring import host_channel, is_new  # noqa: PLC0415

        if is_new(self._folder, self._place):
            raise StoreUnavailable(f"the Workspace of {self._named_folder} has no store", "start a Worker with `stateward start`")
        return host_channel(self._folder, self._place, worker, Actor(ActorClass.HOST, "hook", host_session=session))

    def secrets(self) -> "Secrets":
        """Give what is kept out of the log."""
        from stateward.runtime.wiring.places import user_secrets  # noqa: PLC0415 -- as above

        return user_secrets()

    @property
    def _folder(self) -> "Path":
        from pathlib import Path  # noqa: PLC0415 -- as above

        return Path(self._named_folder)

    @property
    def _place(self) -> Any:
        from stateward.runtime.wiring.places import place_of  # noqa: PLC0415 -- as above

        return None if self._named_store is None else place_of(self._named_store)


# --- the command ------------------------------------------------------------------------------------------------------------------------


def run(called: Called) -> int:
    """Do what was called for, with standard input and output, and give the exit status."""
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(INPUT_BYTES_MAX + 1)  # None where it is closed
    output, notice = answer(called, data)
    if output:
        sys.stdout.write(output + "\n")
        sys.stdout.flush()
    if notice:
        sys.stderr.write(f"stateward hook {called.event}: {fit(notice)}\n")
    return STATUS_NOTICED if notice and not output else 0


def plainly_called(arguments: Sequence[str], environment: Mapping[str, str]) -> Called | None:
    """Read a call as hosts make it: an event, and options with their values; None for any other, which is for the whole command line."""
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        first = rest.pop(0)
        name, equals, value = first.partition("=")
        if name not in _OPTIONS or name in given:
            if name in given or "event" in given or first.startswith("-"):
                return None
            given["event"] = first
            continue
        if not equals and not rest:
            return None
        given[name] = value if equals else rest.pop(0)
    if given.get("event") not in EVENTS or given.get("--format") not in HOSTS or any(environment.get(each) for each in _VARIABLES[1:]):
        return None
    worker = given.get("--worker", environment.get(_VARIABLES[0], ""))
    return Called(given["event"], given["--format"], worker, given.get("--workdir"), given.get("--store"))


_OPTIONS: Final = frozenset({"--format", "--worker", "--workdir", "--store"})
"""Those that hosts are configured with; a call with another one is read by the whole command line."""
_VARIABLES: Final = ("STATEWARD_WORKER", "STATEWARD_SERVER", "STATEWARD_STOP_BLOCKS")
