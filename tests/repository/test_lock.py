"""The lock files are those of pyproject.toml."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from tests import lock

NAMES = sorted(lock.LOCKS)
PIN = re.compile(r"^([a-z0-9._-]+)==([^ \\]+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall(lock.path(name).read_text("utf-8")))


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_was_resolved_from_the_present_project_file(name: str) -> None:
    first_line = lock.path(name).read_text("utf-8").splitlines()[0]
    assert lock.HEADER + lock.fingerprint() == first_line, "run `make lock`"


@pytest.mark.parametrize("name", NAMES)
def test_every_pin_has_a_hash(name: str) -> None:
    blocks = re.split(r"\n(?=[a-z0-9])", lock.path(name).read_text("utf-8").split("\n", 1)[1])
    assert [] == [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block]


def test_each_dependency_is_pinned_within_its_bounds() -> None:
    project = tomllib.loads((lock.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [Requirement(text) for text in project["dependencies"]]
    run = pins("run")
    assert [] == [str(each) for each in wanted if not each.specifier.contains(run.get(each.name, "0"))]


def test_the_larger_locks_hold_the_versions_of_the_smaller() -> None:
    assert pins("run").items() <= pins("dev").items() <= pins("fuzz").items()
