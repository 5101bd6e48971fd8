"""A model behind a socket is measured by the same path as a script."""

import json
from pathlib import Path

import pytest

from benchmarks.verifier.__main__ import main
from tests.cli.judged import judged_place, model
from tests.openai_server.server import Says, serving

FINISH = "FinishFlowVerification"


def said(verdict: str, citation: dict[str, object]) -> Says:
    missing = [] if verdict == "met" else ["a run that passes"]
    first = {"transition_id": "mended", "verdict": verdict, "rationale": "I looked", "missing": missing, "citations": [citation]}
    second = {"transition_id": "$cancel", "verdict": "not_met", "rationale": "it can", "missing": ["a blocker"], "citations": []}
    return Says(calls=((FINISH, {"results": [first, second]}),))


def test_a_model_is_measured_with_the_verdicts_requests_and_tokens_that_the_log_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = "E00000004"
    read = Says(calls=(("ReadEntry", {"entry": tests}),))
    with serving(read, said("not_met", {"entry": tests}), read, said("met", {"entry": tests})) as book:
        here = judged_place(tmp_path, measured=model(book.url))
        monkeypatch.chdir(here.work)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        status = main(["--profile", "measured", "--case", "tests-fail", "--repeat", "2", "--report", str(tmp_path / "report")])
    told = "tests-fail, run 1: right\ntests-fail, run 2: let through wrongly\n"
    assert (0, told) == (status, capsys.readouterr().err)
    (report,) = json.loads((tmp_path / "report" / "results.json").read_text("utf-8"))["reports"]
    assert ["right", "let through wrongly"] == [each["outcome"] for each in report["runs"]]
    assert ["", "mended"] == [each["moved"] for each in report["runs"]]
    assert [2, 2] == [each["requests"] for each in report["runs"]]
    assert report["score"]["input_tokens"] > 0
    assert report["model"].endswith(":m")
    assert (0, ["tests-fail"]) == (report["stability"]["same"], report["stability"]["unlike"])
