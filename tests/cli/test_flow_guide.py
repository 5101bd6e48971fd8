"""The guide to keeping flows shows what is said: its commands are run, one after the other, by two people with one store."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Ended, Place, place

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = (DOCS / "guide" / "keeping-flows.md").read_text("utf-8")
FIRST = (DOCS / "guide" / "first-flow.md").read_text("utf-8")
_PROMPT = re.compile(r"^(ada|ben)\$ (.*)$")


class Shared(Place):
    """A folder of work with the store of all of them."""

    @property
    def store(self) -> Path:
        return self.folder.parent / "store.db"


def steps() -> Iterator[tuple[str, str, list[str]]]:
    """Give each command of the guide: whose, what, and the lines that are shown."""
    person, command, shown = "", "", list[str]()
    for block in re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL):
        for line in block.splitlines():
            prompt = _PROMPT.match(line)
            if prompt is None:
                shown.append(line)
                continue
            if command:
                yield person, command, shown
            person, command, shown = prompt[1], prompt[2], []
    yield person, command, shown


def carried_out(here: Place, command: str) -> Ended:
    program, *arguments = shlex.split(command)
    if program == "stateward":
        return here.call(*arguments)
    done = subprocess.run([program, *arguments], cwd=here.work, capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def fits(shown: list[str], told: str) -> bool:
    """Tell whether output is as shown: `…` stands for the rest of a word, or, alone on a line, for lines."""
    pattern = "".join(r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + " *\n" for line in shown)
    return re.fullmatch(pattern, told) is not None


@pytest.fixture
def people(tmp_path: Path) -> dict[str, Place]:
    for name in ("ada", "ben"):
        (tmp_path / name).mkdir()
    found: dict[str, Place] = {name: Shared(place(tmp_path / name).folder) for name in ("ada", "ben")}
    source = next(block for block in re.findall(r"```\n(.*?)```", FIRST, re.DOTALL) if block.startswith("schema_version"))
    for each in found.values():
        (each.work / "flows").mkdir()
    (found["ada"].work / "flows" / "fix-bug.dcdl").write_text(source, "utf-8")
    return found


def test_every_command_of_the_guide_says_what_is_shown(people: dict[str, Place]) -> None:
    number = 0
    for number, (person, command, shown) in enumerate(steps(), start=1):
        marker = people["ada"].work / ".stateward" / "workspace"
        if person == "ben" and marker.exists():
            theirs = people["ben"].work / ".stateward" / "workspace"
            theirs.parent.mkdir(exist_ok=True)
            theirs.write_bytes(marker.read_bytes())
        ended = carried_out(people[person], command)
        assert fits(shown, ended.err + ended.out), f"step {number}, {person}$ {command}\n{ended.out}{ended.err}"
    assert 20 == number


@pytest.mark.parametrize("command", ["save", "list", "show", "history", "diff", "restore", "remove", "resolve", "export", "import", "sync"])
def test_the_reference_names_every_option_of_a_command(tmp_path: Path, command: str) -> None:
    reference = (DOCS / "reference" / "flow-commands.md").read_text("utf-8")
    options = re.findall(r"--[a-z-]+", place(tmp_path).done("flow", command, "--help"))
    assert [] == [each for each in options if f"`{each}" not in reference and f"[{each}" not in reference and each != "--help"]
