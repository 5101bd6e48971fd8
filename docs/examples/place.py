"""Where the examples work: a folder of their own, with a profile whose judge is the program judge.py. Nothing of the user is touched."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

FLOW: Final = "builtin:coder-review"
PROFILE: Final = "example"
TICKET: Final = "Ticket 41: a name without any part must give `?`."


@contextmanager
def place() -> Iterator[Path]:
    """Give a folder for the work, in which the profile `example` can be chosen."""
    with TemporaryDirectory(prefix="stateward-example-") as folder:
        root = Path(folder)
        work, judge, profiles = root / "work", root / "judge", root / "config" / "stateward" / "profiles"
        work.mkdir()
        profiles.mkdir(parents=True)
        judge.write_text(f"#!{sys.executable}\n{Path(__file__).with_name('judge.py').read_text('utf-8')}", "utf-8")
        judge.chmod(0o700)
        verifier = f'schema_version = 1;\nverifier = {{ kind = "command"; program = ["{judge}"]; }};\n'
        (profiles / f"{PROFILE}.dcdl").write_text(verifier, "utf-8")
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            os.environ[variable] = str(root / variable.removeprefix("XDG_").removesuffix("_HOME").lower())
        for variable in ("STATEWARD_STORE", "STATEWARD_KEYS", "STATEWARD_SERVER", "STATEWARD_WORKER"):
            os.environ.pop(variable, None)
        yield work


def copied(text: str) -> str:
    """Show a text of the example indented."""
    width = shutil.get_terminal_size().columns - 4
    return "\n".join(f"  {line[:width]}" for line in text.splitlines())
