"""The examples for people's own agents run as they stand, from the first submit to the end of the flow."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.mark.parametrize("name", ["pydantic_ai_agent", "langgraph_agent"])
def test_an_example_works_through_the_flow_and_is_rejected_first(name: str, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "COLUMNS": "80"}
    command = [sys.executable, EXAMPLES / f"{name}.py"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert ("", 0) == (run.stderr, run.returncode)
    told = run.stdout.splitlines()
    assert "  The flow stays in state `implement`: no condition is met." == told[1]
    assert "    - missing: a recorded result of `run_tests` that says: exit status 0" == told[4]
    moves = [line.split(" (visit")[0] for line in told if line.startswith("  Transition")]
    assert [
        "  Transition `submit` was taken. The flow is in state `review` now",
        "  Transition `approve` was taken. The flow is in state `complete` now",
        "  Transition `finish` was taken. The flow is in state `done` now",
    ] == moves
    assert "completed" == told[-1]
    assert [] == list(tmp_path.iterdir())
