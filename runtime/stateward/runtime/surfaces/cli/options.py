"""The options that most commands share."""

from pathlib import Path
from typing import Final

import click

from stateward.runtime.core.texts import is_unicode
from stateward.runtime.wiring import NoPlace, Place, RemoteUnusable, place_of, server_named


def _place(text: str) -> Place:
    try:
        return place_of(text)
    except NoPlace as problem:  # click would tell the text itself, which may hold a password
        raise click.BadParameter(problem.message) from None


def _server(_context: click.Context, _parameter: click.Parameter, given: str | None) -> str | None:
    try:
        return server_named(given)
    except RemoteUnusable as problem:  # the same
        raise click.BadParameter(f"{problem.message}; {problem.remedy}") from None


def spoken(text: str) -> str:
    """Take what a person says, for the log. Raises BadParameter for bytes that are no text."""
    if not is_unicode(text):
        raise click.BadParameter("it is no UTF-8")
    return text


TEXTS: Final = click.option(
    "--text", "texts", type=spoken, multiple=True, metavar="TEXT", help="What the work is about; may be given more than once."
)
WORKDIR: Final = click.option("--workdir", type=Path, default=".", metavar="DIR", help="A folder of the Workspace.")
STORE: Final = click.option(
    "--store", type=_place, metavar="PLACE", help="The store, where it is not the usual one: a file or postgresql://…"
)
SERVER: Final = click.option(
    "--server",
    callback=_server,
    metavar="URL",
    help="The service that holds the flows, where that is not the store; STATEWARD_SERVER names one too.",
)
