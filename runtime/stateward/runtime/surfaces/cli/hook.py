"""`stateward hook`: what the harness of an agent calls when something happens.

Invariant: a wrong call never keeps the host from going on: the exit status is 0 or 1, of which no host takes either for a refusal.
"""

from typing import Any

import click

from stateward.runtime.surfaces.hooks.called import BLOCKS_DEFAULT, BLOCKS_MAX, EVENTS, HOSTS, STATUS_NOTICED, Called, run


class _WronglyCalled(click.UsageError):
    """A wrong call ends with another status than elsewhere: to hosts that one says that something is refused."""

    exit_code = STATUS_NOTICED


class _HookCommand(click.Command):
    """A command that a host calls."""

    def make_context(self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as problem:
            raise _WronglyCalled(problem.format_message(), problem.ctx) from problem


@click.command("hook", cls=_HookCommand)
@click.argument("event", type=click.Choice(EVENTS))
@click.option("--format", "host", required=True, type=click.Choice(HOSTS), help="Whose input it is.")
@click.option("--worker", envvar="STATEWARD_WORKER", default="", metavar="WORKER", help="The Worker; STATEWARD_WORKER names one too.")
@click.option("--workdir", metavar="DIR", help="A folder of the Workspace, where that is not the one the host names.")
@click.option("--store", metavar="PLACE", help="The store, where it is not the usual one: a file or postgresql://…")
@click.option(
    "--server", envvar="STATEWARD_SERVER", metavar="URL", help="The service that attends to the Worker; STATEWARD_SERVER names one too."
)
@click.option(
    "--blocks",
    type=click.IntRange(0, BLOCKS_MAX),
    default=BLOCKS_DEFAULT,
    show_default=True,
    envvar="STATEWARD_STOP_BLOCKS",
    metavar="N",
    help="How often an agent is kept from stopping without anything new in the log; STATEWARD_STOP_BLOCKS names it too.",
)
def hook_command(**given: Any) -> None:
    """Tell the log what happened in an agent, and the agent where it stands.

    A harness calls it, with what it says of the event on standard input. Where there is no Workspace, or no Worker, nothing happens.
    """
    status = run(Called(**given))
    if status:
        raise click.exceptions.Exit(status)
