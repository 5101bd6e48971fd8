"""Every scenario of the areas that are covered has a test, and every test that the table names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.cases.table import AREAS, CASES

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "tests" / "conformance" / "bug_reports.md"


def scenarios() -> list[str]:
    return re.findall(r"^(S-[A-Z]{3}-\d+) ", REPORTS.read_text("utf-8"), re.MULTILINE)


@cache
def named_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"))


def test_every_scenario_of_these_areas_has_a_test() -> None:
    covered = [each for each in scenarios() if each.split("-")[1] in AREAS]
    assert covered
    assert sorted(covered) == sorted(CASES)


@pytest.mark.parametrize("scenario", CASES)
def test_every_test_that_the_table_names_is_there(scenario: str) -> None:
    named = [each.split("::") for each in CASES[scenario]]
    assert named
    assert [] == [f"{path}::{name}" for path, name in named if name not in named_in(path)]
