"""The guide to keeping flows shows what is said: its commands are run, one after the other, by two people with one store."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from stateward.runtime.surfaces.cli.flows.group import COMMANDS
from tests.cli.program import Ended, Place, place
from tests.postgres import server
from tests.remote.services import running, token_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = (DOCS / "guide" / "keeping-flows.md").read_text("utf-8")
FIRST = (DOCS / "guide" / "first-flow.md").read_text("utf-8")
WORKSPACE = "01890000-0000-7000-8000-000000000001"
_PROMPT = re.compile(r"^(ada|ben)\$ (.*)$")


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A store that all of them use."""
    if request.param == "SQLite":
        yield str(tmp_path / "store.db")
        return
    with server() as started:
        yield started.database()


def steps(guide: str = GUIDE) -> Iterator[tuple[str, str, list[str]]]:
    """Give each command of a guide: whose, what, and the lines that are shown."""
    person, command, shown = "", "", list[str]()
    for block in re.findall(r"```console\n(.*?)```", guide, re.DOTALL):
        for line in block.splitlines():
            prompt = _PROMPT.match(line)
            if prompt is None:
                shown.append(line)
                continue
            if command:
                yield person, command, shown
            person, command, shown = prompt[1], prompt[2], []
    yield person, command, shown


def carried_out(here: Place, command: str, environment: Mapping[str, str]) -> Ended:
    program, *arguments = shlex.split(command)
    if program == "stateward":
        return here.call(*arguments, **environment)
    done = subprocess.run([program, *arguments], cwd=here.work, capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def fits(shown: list[str], told: str) -> bool:
    """Tell whether output is as shown, but for the width of columns: `…` stands for what is left out, alone on a line for lines."""
    lines = (r"(?:.*\n)*" if line == "…" else re.escape(" ".join(line.split())).replace("…", ".*") + "\n" for line in shown)
    return re.fullmatch("".join(lines), "".join(f"{' '.join(line.split())}\n" for line in told.splitlines())) is not None


@pytest.fixture
def people(tmp_path: Path) -> dict[str, Place]:
    for name in ("ada", "ben"):
        (tmp_path / name).mkdir()
    found = {name: place(tmp_path / name) for name in ("ada", "ben")}
    source = next(block for block in re.findall(r"```\n(.*?)```", FIRST, re.DOTALL) if block.startswith("schema_version"))
    for each in found.values():
        (each.work / "flows").mkdir()
    (found["ada"].work / "flows" / "fix-bug.dcdl").write_text(source, "utf-8")
    return found


def test_every_command_of_the_guide_says_what_is_shown_over_one_store(people: dict[str, Place], store: str) -> None:
    marker, copied = (people[name].work / ".stateward" / "workspace" for name in ("ada", "ben"))
    number = 0
    for number, (person, command, shown) in enumerate(steps(), start=1):
        if marker.exists() and not copied.exists():
            copied.parent.mkdir()
            copied.write_bytes(marker.read_bytes())
        ended = carried_out(people[person], command, {"STATEWARD_STORE": store})
        assert fits(shown, ended.err + ended.out), f"step {number}, {person}$ {command}\n{ended.out}{ended.err}"
    assert 20 == number


def test_every_command_of_the_guide_says_the_same_of_a_service_and_names_who_acted(people: dict[str, Place], tmp_path: Path) -> None:
    with running(tmp_path / "served.db", WORKSPACE) as service:
        environments = {
            name: {"STATEWARD_SERVER": service.address, "STATEWARD_TOKEN": token_of(service.store, WORKSPACE, name)} for name in people
        }
        for number, (person, command, shown) in enumerate(steps(), start=1):
            ended = carried_out(people[person], command, environments[person])
            expected = [line for line in shown if not line.startswith("began Workspace ")]
            assert fits(expected, ended.err + ended.out), f"step {number}, {person}$ {command}\n{ended.out}{ended.err}"
        told = people["ben"].call("flow", "history", "fix-bug", "--json", **environments["ben"])
        authors = [json.loads(line)["author"] for line in told.out.splitlines()]
    assert ["ben", "ada", "ada", "ada", "ben", "ada", "ada"] == authors
    assert not people["ada"].store.exists()


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_reference_names_every_option_of_a_command(tmp_path: Path, command: str) -> None:
    reference = (DOCS / "reference" / "flow-commands.md").read_text("utf-8")
    options = re.findall(r"--[a-z-]+", place(tmp_path).done("flow", command, "--help"))
    assert [] == [each for each in options if f"`{each}" not in reference and f"[{each}" not in reference and each != "--help"]
