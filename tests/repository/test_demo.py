"""`make demo`, from the first claim to the end."""

import os
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parents[2] / "docs" / "demo"


def test_the_demonstration_ends_completed_over_an_earlier_one_and_leaves_the_user_alone(tmp_path: Path) -> None:
    home, place = tmp_path / "home", tmp_path / "demo"
    home.mkdir()
    (place / "project").mkdir(parents=True)
    (place / "store.db").write_text("of an earlier one", "utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run([sys.executable, str(DEMO), str(place)], env=environment, capture_output=True, text=True, check=False)
    assert (0, "checked 1 flow: no problems\n") == (done.returncode, done.stderr)
    moves = ("not moved  no_condition_met", "moved  request_changes → fix", "moved  resubmit → review", "completed  coder-review")
    for told in (*moves, "on main, clean"):
        assert told in done.stdout
    assert "=== completed; the log of 20 entries replays to the same state" in done.stdout
    assert [] == list(home.iterdir())
