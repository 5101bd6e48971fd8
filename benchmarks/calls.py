"""What one call of the program costs a machine that makes very many: a hook at every use of a tool, and `status`.

Measured is processor time, user and system, of whole processes, beside `python -c pass` in turns, so that whatever else the machine does
falls on all alike; given are medians. The Worker is one of the flow `coder-review` in a store of its own. Run `python -m benchmarks.calls`;
it prints JSON: `more_ms` is what a call costs above the interpreter alone, `relative` is the ratio of the two.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

ROUNDS: Final = 15
PROGRAM: Final = (sys.executable, "-c", "from stateward.runtime.surfaces.entry import main; main()")
PASS: Final = (sys.executable, "-c", "pass")
SESSION: Final = "5f0c2f6e-bench"


class Calls:
    """The program in a folder of its own, with nothing of the user's."""

    def __init__(self, folder: Path) -> None:
        """Begin a Workspace with one Worker and bind a session to it."""
        self._work = folder / "work"
        self._work.mkdir()
        self._environment = {
            "HOME": str(folder),
            "PATH": os.defpath,
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "STATEWARD_KEYS": str(folder / "keys"),
        }
        self._uses = 0
        self.spent((*PROGRAM, "start", "builtin:coder-review", "--text", "Ticket 41"))
        self.hook("session-start", hook_event_name="SessionStart", source="startup")

    def hook(self, event: str, **members: Any) -> float:
        """Call a hook as a harness does."""
        given = {"session_id": SESSION, "transcript_path": None, "cwd": str(self._work), **members}
        return self.spent((*PROGRAM, "hook", event, "--format", "claude"), json.dumps(given))

    def after_a_tool(self) -> float:
        """Tell of another use of a tool, which is recorded."""
        self._uses += 1
        return self.hook(
            "post-tool",
            hook_event_name="PostToolUse",
            tool_name="Bash",
            tool_use_id=f"toolu_{self._uses}",
            tool_input={"command": "pytest -q"},
            tool_response={"stdout": "8 passed", "exit_code": 0},
        )

    def spent(self, arguments: Sequence[str], given: str = "") -> float:
        """Run a process and give the milliseconds of processor time that it took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run(arguments, input=given, cwd=self._work, env=self._environment, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if ran.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)}: {ran.stderr}")
        return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000


def main() -> None:
    """Measure in turns and print."""
    with tempfile.TemporaryDirectory() as folder:
        calls = Calls(Path(folder))
        measured: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            measured.setdefault("pass", []).append(calls.spent(PASS))
            measured.setdefault("hook post-tool", []).append(calls.after_a_tool())
            measured.setdefault("hook stop", []).append(calls.hook("stop", hook_event_name="Stop", stop_hook_active=False))
            measured.setdefault("status", []).append(calls.spent((*PROGRAM, "status")))
    alone = median(measured.pop("pass"))
    figures = {
        name: {"ms": round(median(each), 1), "more_ms": round(median(each) - alone, 1), "relative": round(median(each) / alone, 2)}
        for name, each in measured.items()
    }
    print(json.dumps({"rounds": ROUNDS, "pass_ms": round(alone, 1), **figures}, indent=2))


if __name__ == "__main__":
    main()
