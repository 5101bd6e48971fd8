"""Every case of every contract of a store is run in memory, on SQLite and on PostgreSQL."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
CONTRACTS = {
    "authority": "authority",
    "flows": "flows",
    "flow_modules": "flows",
    "leases": "leases",
    "sessions": "sessions",
    "snapshots": "snapshots",
    "tokens": "tokens",
    "transcripts": "transcripts",
    "seals": "seals",
    "stored": "seals",
}
"""The contracts, and what the modules that run them are named after."""
PLACES = ("in_memory", "on_sqlite", "on_postgresql")


def body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text("utf-8")).body


def cases(statements: list[ast.stmt]) -> set[str]:
    return {each.name for each in statements if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_module_runs_all_of_a_contract_and_hides_no_case_of_it(contract: str, place: str) -> None:
    statements = body(TESTS / "store" / f"test_{CONTRACTS[contract]}_{place}.py")
    everything = [each.module for each in statements if isinstance(each, ast.ImportFrom) and each.names[0].name == "*"]
    assert f"tests.contracts.{contract}" in everything
    own = cases(body(TESTS / "contracts" / f"{contract}.py"))
    assert own
    assert set() == own & cases(statements)
