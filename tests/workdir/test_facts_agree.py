"""Where nothing is hidden from git, the facts name the same paths as git's own status."""

import random
from pathlib import Path

import pytest

from stateward.runtime.workdir.facts import WorkdirFacts
from stateward.runtime.workdir.taking import facts
from tests.workdir.repositories import Repo, tracked_repo

NAMES = ("a.txt", "b.txt", "src/c.py", "src/deep/d.py", "build/e.o", "\u00e4 \u20ac.txt")


def act(work: Repo, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    path = work.root / name
    match chance.randrange(7):
        case 0 | 1:
            work.write(name, chance.choice(["one\n", "two\n", ""]))
        case 2:
            path.unlink(missing_ok=True)
        case 3:
            work.git("add", "--all", *(["--force"] if chance.randrange(2) else []))
        case 4 if work.git("ls-files", "--", name):
            work.git("rm", "--quiet", "--cached", "--force", "--", name)
        case 5 if path.is_file():
            path.chmod(chance.choice([0o644, 0o755]))
        case 6:
            work.git("commit", "--quiet", "--allow-empty", "--message", "Go on")


def told_by_git(work: Repo) -> list[str]:
    said = work.said("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
    return sorted({each[3:] for each in said.split("\0") if each})


@pytest.mark.parametrize("seed", range(30))
def test_the_facts_name_the_paths_that_git_names(tmp_path: Path, seed: int) -> None:
    chance, work = random.Random(seed), tracked_repo(tmp_path)  # noqa: S311 -- a seeded walk, not a secret
    work.commit(".gitignore", "build/\n")
    for _ in range(12):
        act(work, chance)
    found = facts(work.root)
    assert isinstance(found, WorkdirFacts)
    expected = told_by_git(work)
    assert (expected, not expected, ()) == ([each.path for each in found.changed], found.clean, found.caveats)
    assert (len(expected), work.git("rev-parse", "HEAD")) == (found.changed_count, found.head)
