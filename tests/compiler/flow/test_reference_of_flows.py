"""The reference page of flow sources says what the compiler does."""

import re
from pathlib import Path

from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.flow.schema import SCHEMAS, levels_of
from stateward.compiler.pipeline import compile_source

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "flow.md").read_text("utf-8")


def test_its_example_compiles_without_a_word() -> None:
    (example,) = re.findall(r"```dcdl\n(.*?)```", PAGE, re.DOTALL)
    assert compile_source(example.encode(), slug="paper").diagnostics == ()


def test_it_names_every_field_of_every_version() -> None:
    names = {spec.name for root in SCHEMAS.values() for level in levels_of(root) for spec in level.fields}
    assert [name for name in sorted(names) if f"`{name}`" not in PAGE] == []


def test_the_codes_that_it_names_are_registered() -> None:
    table = PAGE[PAGE.index("| stage | codes |") : PAGE.index("A fault silences")]
    assert [code for code in re.findall(r"`(\w+)`", table) if code not in CODES] == []
