"""`stateward init` where something is wrong: what it says of files, what was edited by hand, and a run that is killed."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.surfaces.cli.init.blocks import FOLDERS
from stateward.runtime.surfaces.cli.init.faults import Unsafe
from stateward.runtime.surfaces.cli.init.hosts import hosts_of
from stateward.runtime.surfaces.cli.init.planning import planned, planned_undoing
from stateward.runtime.surfaces.cli.init.project import Project
from tests.cli.test_init import ALL, UNSAFE, done, filled, tree

WORDS = ("stateward",)
PARSERS = ("xpecting", "ecursion", "Cannot", "nvalid", "xceeds", "overwrite")
"""What libraries say of their own."""
STEPS = ((os, "link"), (os, "fsync"), (os, "fchmod"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir"), (Path, "rmdir"))
"""By what files are changed."""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project of a user who has no host."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    made = tmp_path / "project"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize("name", UNSAFE)
def test_a_fault_of_a_file_is_told_without_the_words_of_a_library_and_with_a_remedy(work: Path, name: str) -> None:
    path, text, _ = UNSAFE[name]
    filled(work, {path: text})
    with pytest.raises(Unsafe) as problem:
        planned(Project.at(work), ("claude", "codex"), WORDS, "")
    assert [] == [each for each in PARSERS if each in problem.value.message]
    assert f"`{path}`" in problem.value.message
    assert problem.value.remedy


def test_a_number_of_any_length_stays_as_it_is(work: Path) -> None:
    long = "9" * 5_000
    filled(work, {".mcp.json": f'{{"a": {long}, "mcpServers": {{"mine": {{"b": {long}}}}}}}'})
    before = tree(work)
    done("--host", "claude")
    assert before != tree(work)
    done("--undo")
    assert before == tree(work)


@pytest.mark.parametrize(
    ("before", "behind", "left"),
    [
        ("before\n", "after\n", "before\nafter\n"),
        ("before\n\n", "after\n", "before\nafter\n"),
        ("", "after\n", "after\n"),
        ("before\r\n", "after\r\n", "before\r\nafter\r\n"),
    ],
)
def test_what_somebody_wrote_around_a_block_runs_into_no_other_line_when_it_is_taken_out(
    work: Path, before: str, behind: str, left: str
) -> None:
    done(*ALL)
    section = work / "AGENTS.md"
    section.write_bytes(before.encode() + section.read_bytes() + behind.encode())
    done("--undo")
    assert left.encode() == section.read_bytes()


def test_a_user_without_a_home_has_no_codex(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    filled(work, {".mcp.json": "{}"})
    assert ("claude",) == hosts_of(Project.at(work))


# --- a run that is killed


def killed_at(step: int, work: Callable[[], None]) -> bool:
    """Do something in a process of its own that is killed before that step; tell whether it came to its end before."""
    child = os.fork()
    if child == 0:
        left = [step]

        def counted(function: Callable[..., Any]) -> Callable[..., Any]:
            def called(*arguments: Any, **named: Any) -> Any:
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*arguments, **named)

            return called

        for holder, name in STEPS:
            setattr(holder, name, counted(getattr(holder, name)))
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL)
    return status == 0


def files(folder: Path) -> dict[str, str]:
    """Give the files of a folder, but for how many folders were made for them: one that a killed run made is there for the next."""
    return {
        name: FOLDERS.sub("folders", held.decode()) if isinstance(held, bytes) else str(held)
        for name, held in tree(folder).items()
        if held is not None
    }


@pytest.mark.parametrize("is_undone", [False, True], ids=["init", "undo"])
def test_a_run_that_is_killed_at_any_step_leaves_each_file_whole_and_the_next_one_ends_it(tmp_path: Path, *, is_undone: bool) -> None:
    def ran(project: Project, *, undone: bool) -> None:
        project.apply(planned_undoing(project) if undone else planned(project, ("claude", "codex"), WORDS, ""))

    def made(name: str) -> Project:
        filled(tmp_path / name, {"AGENTS.md": "# Ours\n", ".codex/config.toml": "a = 1\n"})
        return Project.at(tmp_path / name)

    plain, full = made("plain").root, made("full")
    ran(full, undone=False)
    before, after = (files(full.root), files(plain)) if is_undone else (files(plain), files(full.root))
    step, is_over = 0, False
    while not is_over:
        step += 1
        project = made(f"killed at {step}")
        if is_undone:
            ran(project, undone=False)
        is_over = killed_at(step, lambda project=project: ran(project, undone=is_undone))  # type: ignore[misc]
        found = files(project.root)
        for name in {*before, *after}:
            assert found.get(name) in (before.get(name), after.get(name)), name
        ran(project, undone=is_undone)
        assert after == files(project.root)
    assert step > len({*before, *after})
