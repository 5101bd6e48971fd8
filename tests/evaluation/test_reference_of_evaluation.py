"""The page on the evaluation set names what there is."""

from pathlib import Path

import pytest

from benchmarks.verifier import cases
from benchmarks.verifier.scoring import Outcome
from benchmarks.verifier.scripted import SCRIPTS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "evaluation.md").read_text("utf-8")
STEPS = (cases.Ran, cases.Used, cases.Called, cases.Said, cases.Noted, cases.Given, cases.Rewound, cases.Refused)


@pytest.mark.parametrize("kind", sorted({each.kind for each in cases.shipped_cases()}))
def test_a_kind_of_case_is_named(kind: str) -> None:
    assert f"`{kind}`" in PAGE


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_named(script: str) -> None:
    assert f"| `{script}` |" in PAGE


@pytest.mark.parametrize("field", [each for each in cases.Case.model_fields if each not in {"id", "kind"}])
def test_a_field_of_a_case_is_named(field: str) -> None:
    assert f"`{field}`" in PAGE


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_a_step_of_a_session_is_named(step: type[cases.Ran]) -> None:
    assert f"`{next(iter(step.model_fields))}`" in PAGE


@pytest.mark.parametrize("outcome", Outcome)
def test_what_a_run_is_worth_is_explained(outcome: Outcome) -> None:
    assert f"*{outcome}*" in PAGE.replace("\n  ", " ")
