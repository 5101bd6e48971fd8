"""`stateward watch`: follow a Worker in the terminal, entry by entry as they are committed. Only reads.

Invariants: every entry is shown once, in order, whoever appends it; a log that does not grow costs a look at its head and no more; what is
shown of an entry is what the log holds.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

import click
from rich.text import Text

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.showing import entry_of
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import LOG_PAGE_MAX, EntryShown, LogPage, Standing
from stateward.runtime.session.entries import Kind
from stateward.runtime.session.event_codec import EVENT
from stateward.runtime.session.strict import Malformed, Newer
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import event_line, plain, show, terminal_console
from stateward.runtime.surfaces.cli.programs import entry_form
from stateward.runtime.surfaces.cli.show import chosen_id, reads_a_worker
from stateward.runtime.surfaces.cli.start import refused
from stateward.runtime.wiring import Place, RemoteUnusable, Runtime, locate, reading, server_named

if TYPE_CHECKING:
    from stateward.runtime.remote.channels import HttpWorkerChannel

PAUSE_SECONDS: Final = 0.25
"""Between two looks at a log that does not grow."""
COMPLETED: Final = "completed"
ACTIVE: Final = "active"
SAID_MAX: Final = 160
"""Characters that are shown of what an entry without events holds."""
_SAYS_TEXT: Final = frozenset({Kind.NOTE, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT})


def _service(_context: click.Context, _parameter: click.Parameter, given: str | None) -> str | None:
    """Take the service that is named here: STATEWARD_SERVER says where the flows are, and nothing of the Workers."""
    if not given:
        return None
    try:
        return server_named(given)
    except RemoteUnusable as problem:
        raise click.BadParameter(f"{problem.message}; {problem.remedy}") from None


@click.command("watch")
@reads_a_worker
@click.option("--server", callback=_service, metavar="URL", help="The service that attends to the Worker, where no store here holds it.")
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="N", help="Begin behind entry N.")
def watch_command(worker: str | None, workdir: Path, store: Place | None, server: str | None, after: int, *, as_json: bool) -> None:
    """Follow a Worker: what is committed is shown as it comes, until its flow ends.

    WORKER is its id, or the beginning or end of it; without one it is the Worker that was started last. Exit status: 0 when the flow was
    completed, 1 when it was cancelled. With --server it is the whole id of a Worker of that service.
    """
    if server is not None:
        _watch_over_there(server, worker, store, after, as_json=as_json)
        return
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        named = chosen_id(runtime, worker)
        for each in followed(lambda behind: _page(runtime, named, behind), lambda: _status(runtime, named), after, Event().wait):
            show_json(each) if as_json else show_line(each)
        if _status(runtime, named) != COMPLETED:
            raise click.exceptions.Exit(STATUS_FOUND)


def _watch_over_there(server: str, worker: str | None, store: Place | None, after: int, *, as_json: bool) -> None:
    if store is not None:
        raise Stop(STATUS_USAGE, "a service and a store were named", "leave `--store` out: the service has its own")
    if worker is None:
        raise Stop(STATUS_USAGE, "a service is named and no Worker", "name the whole id of one that the token is for")
    from stateward.runtime.wiring.reaching_workers import remote_agent_channel  # noqa: PLC0415 -- only where a service is named

    with faults_shown(), remote_agent_channel(server, worker) as channel:
        for each in followed_over_there(channel, after):
            show_json(each) if as_json else show_line(each)
        flow = _stands(channel).flow
        if flow is None or flow.status != COMPLETED:
            raise click.exceptions.Exit(STATUS_FOUND)


def followed_over_there(channel: "HttpWorkerChannel", after: int) -> Iterator[EntryShown]:
    """Give entries of a service as they come, until the flow has ended and what the log held then was given. Raises Fault."""
    end = _end(channel)
    for entry in () if end is not None and end <= after else channel.follow(after):
        yield entry
        end = _end(channel) if end is None and entry.events else end  # nothing but an event ends a flow
        if end is not None and entry.seq >= end:
            return


def _end(channel: "HttpWorkerChannel") -> int | None:
    """Give the number of the last entry there is, where the flow has ended."""
    standing = _stands(channel)
    return None if standing.flow is None or standing.is_active else standing.head.seq


def _stands(channel: "HttpWorkerChannel") -> Standing:
    standing = channel.standing()
    if isinstance(standing, Refusal):
        raise refused(standing)
    return standing


def followed(
    page: Callable[[int], LogPage], status: Callable[[], str], after: int, pause: Callable[[float], object]
) -> Iterator[EntryShown]:
    """Give entries as they come, until the flow has ended and everything was given."""
    while True:
        read = page(after)
        yield from read.entries
        after = max(after, read.entries[-1].seq) if read.entries else after
        if after < read.head.seq:
            continue
        if status() != ACTIVE and page(after).head.seq == after:
            return
        pause(PAUSE_SECONDS)


def _page(runtime: Runtime, worker: str, after: int) -> LogPage:
    head = runtime.engine.head(worker)
    assert head is not None, "the Worker was chosen"
    upto = min(after + LOG_PAGE_MAX, head.seq)
    return LogPage(tuple(map(entry_of, runtime.engine.log(worker, after, upto))) if upto > after else (), head)


def _status(runtime: Runtime, worker: str) -> str:
    """Give the status of the flow; one that is yet to be started is waited for like one that is active."""
    view = runtime.engine.view(worker)
    if isinstance(view, Refusal):
        raise refused(view)
    assert isinstance(view, WorkerView)
    return ACTIVE if view.flow is None else str(view.flow.status)


def show_line(entry: EntryShown) -> None:
    """Show an entry in lines of their own: its events, or what it holds."""
    head = Text.assemble((entry.reference, "bold"), "  ", (entry.time.strftime("%H:%M:%S"), "dim"), f"  {entry.actor_class:<8}  ")
    show(terminal_console(), *(Text.assemble(head, line) for line in _lines(entry)))


def _lines(entry: EntryShown) -> Iterator[Text]:
    if not entry.events:
        said = " ".join(entry.payload.split()) if entry.kind in _SAYS_TEXT else ""
        yield Text.assemble(plain(entry.kind), "  ", plain(said[:SAID_MAX] + ("…" if len(said) > SAID_MAX else ""), "dim"))
    for each in entry.events:
        try:
            yield event_line(EVENT.read(each))
        except (Malformed, Newer) as problem:
            yield plain(f"an event of a newer program: {problem}", "yellow")


def show_json(entry: EntryShown) -> None:
    """Write an entry on a line of its own, for programs."""
    emit_json(entry_form(entry))
