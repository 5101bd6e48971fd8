"""The pages on judges say what is so."""

import re
from pathlib import Path

import pytest

from stateward.runtime.core.events import FailureCause
from stateward.runtime.profile.reading import Read, read_profile
from stateward.runtime.verifier.model import BYTES_PER_TOKEN, CALLS_MAX, TRIES_MAX, ModelBounds
from stateward.runtime.verifier.model_calls import KEY_NAME

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
MODEL = (REFERENCE / "model-verifier.md").read_text("utf-8")
COMMAND = (REFERENCE / "command-verifier.md").read_text("utf-8")


@pytest.mark.parametrize("page", [MODEL, COMMAND], ids=["model", "command"])
def test_the_profile_that_a_page_shows_is_one(page: str) -> None:
    examples = re.findall(r"```dcdl\n(.*?)```", page, re.DOTALL)
    assert 1 == len(examples)
    assert isinstance(read_profile("a", examples[0].encode(), with_base=True), Read)


def test_every_cause_is_told() -> None:
    assert set(FailureCause) == {each for each in FailureCause if f"`{each}`" in MODEL}


def test_the_limits_are_those_of_the_program() -> None:
    numbers = (CALLS_MAX, TRIES_MAX, BYTES_PER_TOKEN, ModelBounds().call_seconds, ModelBounds().reply_bytes, KEY_NAME)
    assert (32, 6, 3, 120.0, 4 * 1024 * 1024, "verifier_key") == numbers
    for told in ("more than 32 calls", "six times in all", "three bytes", "two minutes", "more than 4 MiB", "«secret:verifier_key»"):
        assert told in MODEL
