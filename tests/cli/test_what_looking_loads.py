"""What looks at a Worker loads neither the library of tables nor that of forms, nor the language."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import place

HEAVY = frozenset({"alembic", "cryptography", "importlib.metadata", "lark", "networkx", "pydantic", "sqlalchemy", "sqlmodel"})
PROGRAM = """
import sys
from stateward.runtime.surfaces.cli import main
try:
    main(sys.argv[1:])
finally:
    print("\\n".join(sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize("command", [("status",), ("status", "--json"), ("log", "show")], ids=" ".join)
def test_looking_at_a_worker_loads_no_library_of_what_lies_under_it(tmp_path: Path, command: tuple[str, ...]) -> None:
    here = place(tmp_path)
    assert 0 == here.call("start", "builtin:coder-review", "--text", "Ticket 41").status
    arguments = [sys.executable, "-c", PROGRAM, *command, "--workdir", str(here.work)]
    ended = subprocess.run(arguments, cwd=here.folder, env=here.environment, capture_output=True, text=True, check=False)
    assert 0 == ended.returncode, ended.stderr
    assert set() == HEAVY & set(ended.stderr.split("\n"))
