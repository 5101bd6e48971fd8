"""A model behind a socket is measured by the same path as a script."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verifier.__main__ import main
from tests.cli.judged import judged_place, model
from tests.openai_server.server import Fails, Says, serving

TESTS = "E00000004"
READ = Says(calls=(("ReadEntry", {"entry": TESTS}),))


def said(verdict: str) -> Says:
    missing = [] if verdict == "met" else ["a run that passes"]
    cited = [{"entry": TESTS}]
    first = {"transition_id": "mended", "verdict": verdict, "rationale": "I looked", "missing": missing, "citations": cited}
    second = {"transition_id": "$cancel", "verdict": "not_met", "rationale": "it can", "missing": ["a blocker"], "citations": []}
    return Says(calls=(("FinishFlowVerification", {"results": [first, second]}),))


def at_home(home: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a user with this home folder, in this folder of work."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def measure(place: Path, url: str, monkeypatch: pytest.MonkeyPatch, repeats: int) -> dict[str, Any]:
    """Measure a model on one case, through a profile of the user's, and give the report."""
    at_home(place, judged_place(place, measured=model(url)).work, monkeypatch)
    arguments = ["--profile", "measured", "--case", "tests-fail", "--repeat", str(repeats), "--report", str(place / "report")]
    assert 0 == main(arguments)
    (report,) = json.loads((place / "report" / "results.json").read_text("utf-8"))["reports"]
    return dict(report)


def test_a_model_is_measured_with_the_verdicts_requests_and_tokens_that_the_log_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(READ, said("not_met"), READ, said("met")) as book:
        report = measure(tmp_path, book.url, monkeypatch, 2)
    assert "tests-fail, run 1: right\ntests-fail, run 2: let through wrongly\n" == capsys.readouterr().err
    assert ["right", "let through wrongly"] == [each["outcome"] for each in report["runs"]]
    assert ["", "mended"] == [each["moved"] for each in report["runs"]]
    assert [(2, 200, 20)] * 2 == [(each["requests"], each["input_tokens"], each["output_tokens"]) for each in report["runs"]]
    assert report["model"].endswith(":m")
    assert (0, ["tests-fail"]) == (report["stability"]["same"], report["stability"]["unlike"])


def test_a_model_that_comes_to_no_verdicts_is_counted_by_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prose, cut = Says(text="It is met.", ending="stop"), Says(calls=READ.calls, ending="length")
    with serving(prose, Fails(403), cut) as book:
        report = measure(tmp_path, book.url, monkeypatch, 3)
    assert ["no verdicts"] * 3 == [each["outcome"] for each in report["runs"]]
    assert {"malformed": 1, "truncated": 1, "unavailable": 1} == report["score"]["failures"]
    assert (0, 3, 0) == (report["score"]["right"], report["score"]["failed"], report["score"]["wrong_met_given"])


def test_a_key_that_is_not_there_is_told_before_the_first_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = judged_place(tmp_path, measured=model("http://127.0.0.1:9"))
    (tmp_path / ".config" / "stateward" / "key").unlink()
    at_home(tmp_path, here.work, monkeypatch)
    assert 2 == main(["--profile", "measured", "--report", str(tmp_path / "report")])
    told = capsys.readouterr().err.splitlines()
    assert (2, True, True) == (len(told), told[0].startswith("error: the key file "), told[1].startswith("  = help: "))
    assert not (tmp_path / "report").exists()
