"""A flow with variables, guards and a limit of visits, for tests of the command line."""

import json
from pathlib import Path

from tests.cli.program import Place

REFINE = """schema_version = 2;
name = "refine";
initial = "work";
variables = { attempts = Int & >= 0 default 0; bugs = Bool; files = [...String] default []; title = String; };
inputs = { topic = String; limit = Int & >= 1 default 3; };
states = {
    work = {
        instructions = "Do the work.";
        writes = ["attempts", "files", "title"];
        limits = { visits = 2 };
        transitions = { checked = { target = "look"; when = known.title; }; };
    };
    look = {
        instructions = "Look at it.";
        select = "first";
        reads = ["attempts", "title"];
        writes = ["bugs"];
        transitions = {
            good = { target = "done"; when = !vars.bugs && vars.attempts < input.limit; };
            again = { target = "work"; when = vars.bugs; };
            judged = { target = "done"; condition = "It is good enough."; };
        };
    };
    done = { instructions = ""; terminal = true; };
};
"""


def kept(here: Place) -> Path:
    """Keep the flow in the Workspace; give its file."""
    path = here.work / "refine.dcdl"
    path.write_text(REFINE, "utf-8")
    here.done("flow", "save", path.name)
    return path


def begun(here: Place, *more: str) -> str:
    """Keep the flow, start a Worker on it and give its id."""
    kept(here)
    worker = json.loads(here.done("start", "workspace:refine", "--input", "topic=owls", "--json", *more))["worker"]
    assert isinstance(worker, str)
    return worker
