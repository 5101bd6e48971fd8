"""Every case of the conformance data passes."""

from pathlib import Path

import pytest

from tests.conformance.cases import Case, read_cases
from tests.conformance.suite import judge

HERE = Path(__file__).parent
FILES = ("dcdl/eval.jsonl", "dcdl/format.jsonl", "flow/compile.jsonl")
AGAINST_GOOD_SENSE: dict[str, str] = {}
"""Cases that are not followed, each with the reason."""


def parameters() -> list[object]:
    found: list[object] = []
    for name in FILES:
        for case in read_cases(HERE / name):
            reason = AGAINST_GOOD_SENSE.get(case.id)
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            found.append(pytest.param(case, id=case.id, marks=marks))
    return found


@pytest.mark.parametrize("case", parameters())
def test_a_case_gives_what_it_expects(case: Case) -> None:
    assert judge(case) is None
