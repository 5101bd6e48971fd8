"""Sources of flows, and two people who share a Workspace, for the tests of `stateward flow`."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.cli.program import Ended, Place


def source(name: str = "paper", task: str = "Write it.") -> str:
    """Give a flow that compiles."""
    transitions = '{ go = { target = "two"; condition = "Written."; }; }'
    one = f'{{ instructions = "{task}"; transitions = {transitions}; }}'
    states = f'{{ one = {one}; two = {{ instructions = ""; terminal = true; }}; }}'
    return f'schema_version = 1;\nname = "{name}";\ninitial = "one";\nstates =\n{states}\n;\n'


def write(here: Place, name: str = "paper", task: str = "Write it.", folder: str = ".") -> Path:
    """Write a flow to a file of its name."""
    path = here.work / folder / f"{name}.dcdl"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(source(name, task), "utf-8")
    return path


def saved(here: Place, name: str = "paper", *tasks: str) -> Path:
    """Keep a flow, one revision after the other; give its file."""
    for number, task in enumerate(tasks or ("Write it.",), start=1):
        path = write(here, name, task)
        here.done("flow", "save", path.name, "--note", f"note {number}")
    return path


def lines(ended: Ended | str) -> list[Any]:
    """Read what programs are told."""
    text = ended if isinstance(ended, str) else ended.out
    return [json.loads(line) for line in text.splitlines()]


def colleague(here: Place, name: str = "colleague") -> Place:
    """Give another project of the same Workspace, with the same store."""

    class Shared(Place):
        @property
        def store(self) -> Path:
            return here.store

    (here.folder / name).mkdir()
    other = Shared(here.folder / name)
    other.work.mkdir()
    (other.work / ".stateward").mkdir()
    shutil.copy(here.work / ".stateward" / "workspace", other.work / ".stateward" / "workspace")
    return other
