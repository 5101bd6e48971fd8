"""The options that most commands share."""

from pathlib import Path
from typing import Final

import click

from stateward.runtime.wiring import NoPlace, Place, place_of


def _place(text: str) -> Place:
    try:
        return place_of(text)
    except NoPlace as problem:  # click would tell the text itself, which may hold a password
        raise click.BadParameter(problem.message) from None


WORKDIR: Final = click.option("--workdir", type=Path, default=".", metavar="DIR", help="A folder of the Workspace.")
STORE: Final = click.option(
    "--store", type=_place, metavar="PLACE", help="The store, where it is not the usual one: a file or postgresql://…"
)
