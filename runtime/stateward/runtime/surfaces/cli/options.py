"""The options that most commands share."""

from pathlib import Path
from typing import Final

import click

from stateward.runtime.wiring import place_of

WORKDIR: Final = click.option("--workdir", type=Path, default=".", metavar="DIR", help="A folder of the Workspace.")
STORE: Final = click.option(
    "--store", type=place_of, metavar="PLACE", help="The store, where it is not the usual one: a file or postgresql://…"
)
