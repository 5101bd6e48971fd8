"""What a hook costs is what it loads: no library but the one of the command line, and nothing at all where there is nothing to do.

How much it loads is counted where it is called as hosts call it (docs/decisions/what-a-hook-costs.md).
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Place, place
from tests.hooks.bench import recorded

HEAVY = frozenset(
    {"alembic", "cryptography", "lark", "networkx", "pydantic", "rich", "sqlalchemy", "sqlmodel", "asyncio", "typing_extensions"}
)
PROGRAM = """
import sys
from stateward.runtime.surfaces.cli import main
try:
    main(sys.argv[1:])
finally:
    print("\\n".join(sys.modules), file=sys.stderr)
"""


def loaded(here: Place, event: str, **changed: Any) -> set[str]:
    """Call a hook in a process of its own and give what it loaded."""
    given = json.dumps({**recorded("claude", event), "cwd": str(here.work), "transcript_path": None, **changed})
    arguments = [sys.executable, "-c", PROGRAM, "hook", event, "--format", "claude"]
    ended = subprocess.run(arguments, input=given, cwd=here.folder, env=here.environment, capture_output=True, text=True, check=False)
    assert 0 == ended.returncode, ended.stderr
    return set(ended.stderr.split("\n"))


@pytest.mark.parametrize("event", ["session-start", "post-tool", "stop"])
def test_a_hook_loads_no_library_when_it_works(tmp_path: Path, event: str) -> None:
    here = place(tmp_path)
    assert 0 == here.call("start", "builtin:coder-review", "--text", "Ticket 41").status
    for _ in range(2):  # when the session is bound, and when it was
        assert set() == HEAVY & loaded(here, event)


def test_a_hook_loads_nothing_where_there_is_no_workspace(tmp_path: Path) -> None:
    here = place(tmp_path)
    assert not {"stateward.runtime.ports", "stateward.runtime.wiring", "stateward.store", "sqlite3"} & loaded(here, "post-tool")
    assert not any(each.startswith("stateward.runtime.engine") for each in loaded(here, "stop"))


def test_a_hook_before_any_other_tool_loads_nothing(tmp_path: Path) -> None:
    here = place(tmp_path)
    assert 0 == here.call("start", "builtin:coder-review", "--text", "Ticket 41").status
    assert "stateward.runtime.ports" not in loaded(here, "pre-tool")


# --- how much it loads ------------------------------------------------------------------------------------------------------------------

COUNTED = """
import os, sys
os._exit = sys.exit  # what was counted is told yet
before = set(sys.modules)
import dataclasses
made = []
write = dataclasses._process_class
dataclasses._process_class = lambda plain, *rest: made.append(plain) or write(plain, *rest)
from stateward.runtime.surfaces.entry import main
try:
    main()
finally:
    print(len(set(sys.modules) - before), len(made), file=sys.stderr)
"""
MODULES_MAX = 178
CLASSES_MAX = {"post-tool": 88, "stop": 95}


@pytest.mark.parametrize("event", ["post-tool", "stop"])
def test_a_hook_loads_no_more_modules_and_dataclasses_than_it_is_known_to_need(tmp_path: Path, event: str) -> None:
    here = place(tmp_path)
    assert 0 == here.call("start", "builtin:coder-review", "--text", "Ticket 41").status
    loaded(here, "session-start")
    given = json.dumps({**recorded("claude", event), "cwd": str(here.work), "transcript_path": None})
    arguments = [sys.executable, "-c", COUNTED, "hook", event, "--format", "claude"]
    ended = subprocess.run(arguments, input=given, cwd=here.folder, env=here.environment, capture_output=True, text=True, check=False)
    modules, classes = map(int, ended.stderr.split())
    assert modules <= MODULES_MAX
    assert classes <= CLASSES_MAX[event]
