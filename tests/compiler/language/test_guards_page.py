"""The page about guards: its tables are what the program says, and its truth tables are those of Kleene's logic."""

import re

import pytest

from docs.reference.__main__ import PAGE, TABLES, renewed, tables_of
from stateward.compiler.pipeline import compile_source
from tests.compiler.language.kleene import AND, NOT, OR

TEXT = PAGE.read_text("utf-8")
WORDS = {"true": True, "false": False, "missing": None, "unknown": None}


def cells(name: str) -> list[list[str]]:
    """Give the cells of a table, without its head."""
    _, _, *rows = TABLES[name]()
    return [[cell.strip(" *") for cell in row.split(" | ")] for row in (line.strip("| ") for line in rows)]


def test_every_table_of_the_page_is_as_the_program_says() -> None:
    assert renewed(TEXT) == TEXT, "run: python docs/reference"


def test_the_flow_of_the_page_has_no_fault() -> None:
    (flow,) = re.findall(r"```dcdl\n(.*?)```", TEXT, re.DOTALL)
    compilation = compile_source(flow.encode(), slug="nightly")
    assert () == compilation.diagnostics
    assert compilation.data is not None


def test_the_page_holds_every_table_once() -> None:
    assert sorted(TABLES) == sorted(tables_of(TEXT))


@pytest.mark.parametrize(("name", "table"), [("and", AND), ("or", OR)])
def test_the_truth_tables_are_those_of_three_valued_logic(name: str, table: dict[tuple[object, object], object]) -> None:
    columns = (True, False, None)
    found = {(WORDS[row[0]], column): WORDS[cell] for row in cells(name) for column, cell in zip(columns, row[1:], strict=True)}
    assert table == found


def test_the_table_of_negation_is_that_of_three_valued_logic() -> None:
    (row,) = cells("not")
    assert list(NOT.values()) == [WORDS[cell] for cell in row[-3:]]


def test_whatever_lacks_an_operand_is_unknown_but_for_logic() -> None:
    assert {"unknown"} == {cell for row in cells("values") for cell in row[-3:]}
