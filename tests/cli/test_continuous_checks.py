"""What the guide to continuous checks says can be done, can be done: its commands run, and so do the hooks."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stateward.compiler.cli.watching import INTERVAL_SECONDS
from stateward.runtime.surfaces.cli import cli
from stateward.runtime.surfaces.cli.reading import FileHost
from tests.compiler.flow.sources import GOOD, changed

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guide" / "continuous-checks.md").read_text("utf-8")
HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
COMMANDS = sorted({each.split(" > ")[0] for each in re.findall(r"^(?:\s*- run: |exec )?(stateward [^\n]+)$", GUIDE, re.MULTILINE)})
BROKEN = changed(('target = "review"', 'target = "elsewhere"'))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "flows").mkdir()
    monkeypatch.chdir(tmp_path)
    # Whoever watches is interrupted at the first wait.
    monkeypatch.setattr(FileHost, "wait", lambda _host, seconds: seconds != INTERVAL_SECONDS)
    return tmp_path


def run(command: str) -> Result:
    program, *arguments = shlex.split(command)
    assert "stateward" == program
    return CliRunner().invoke(cli, arguments, prog_name=program)


def test_the_guide_has_commands() -> None:
    assert 7 <= len(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_guide_passes_what_is_clean(here: Path, command: str) -> None:
    (here / "flows" / "paper.dcdl").write_text(GOOD)
    assert 0 == run("stateward fmt flows").exit_code
    done = run(command)
    assert (0, "") == (done.exit_code, "".join(line for line in done.stderr.splitlines() if line.startswith("error")))


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.startswith("stateward compile")])
def test_a_check_of_the_guide_refuses_what_is_broken(here: Path, command: str) -> None:
    (here / "flows" / "paper.dcdl").write_text(BROKEN)
    assert 1 == run(command).exit_code


def hooks() -> dict[str, str]:
    """Give what each hook runs, by its id."""
    found: dict[str, str] = {}
    for hook in re.split(r"^- ", HOOKS, flags=re.MULTILINE)[1:]:
        fields = dict(re.findall(r"^\s*(\w+): (.+)$", f"  {hook}", re.MULTILINE))
        arguments = re.findall(r'"([^"]*)"', fields.get("args", ""))
        files = [] if fields.get("pass_filenames") == "false" else ["flows/paper.dcdl"]
        assert ("python", r"\.dcdl$") == (fields["language"], fields["files"])
        found[fields["id"]] = shlex.join([*shlex.split(fields["entry"]), *arguments, *files])
    return found


def test_these_hooks_are_offered() -> None:
    assert {
        "stateward-compile": "stateward compile .",
        "stateward-fmt": "stateward fmt flows/paper.dcdl",
    } == hooks()
    assert [] == [name for name in hooks() if f"id: {name}" not in GUIDE]


@pytest.mark.parametrize("name", hooks())
def test_a_hook_passes_what_is_clean_and_refuses_what_is_broken(here: Path, name: str) -> None:
    file = here / "flows" / "paper.dcdl"
    file.write_text(GOOD)
    run("stateward fmt flows")
    assert 0 == run(hooks()[name]).exit_code
    file.write_text("states = {")
    assert 1 == run(hooks()[name]).exit_code
