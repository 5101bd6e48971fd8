"""The reference tells every field of the form as it is, and its example runs."""

import re
from pathlib import Path

import pytest

from stateward.compiler.pipeline import compile_source
from stateward.runtime.trial.form import FIELDS, REQUIRED
from stateward.runtime.trial.reading import Unusable, read_tests
from stateward.runtime.trial.running import coverage, run_tests
from stateward.runtime.trial.starter import starter_flow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "flow-tests.md").read_text("utf-8")


@pytest.mark.parametrize("level", FIELDS)
def test_every_field_stands_in_the_table_of_its_level(level: str) -> None:
    rows = [f"| `{name}` | {'required' if name in REQUIRED[level] else ''} | {doc} |" for name, doc in FIELDS[level].items()]
    table = PAGE.partition(f"Of a {level}:\n\n| field | | |\n| --- | --- | --- |\n")[2].partition("\n\n")[0]
    assert rows == table.split("\n")


def test_the_example_passes_and_covers_what_the_page_says() -> None:
    (text,) = re.findall(r"```dcdl\n(.*?)```", PAGE, re.DOTALL)
    definition = compile_source(starter_flow("paper").encode(), name="paper.dcdl", slug="paper").definition
    assert definition is not None
    tests = read_tests("paper.test.dcdl", text.encode(), definition)
    assert not isinstance(tests, Unusable)
    ran = run_tests(definition, tests)
    assert [] == [each.failure for each in ran if each.failure is not None]
    found = coverage(definition, ran)
    assert f"{len(ran)} tests passed; {len(found.taken)} of 3 transitions taken" in PAGE
    assert [("review", "send_back")] == [tuple(each) for each in found.missed]
