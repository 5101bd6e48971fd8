"""Workers that are judged by a model, a program or a person of their own: asking, judging, and looking at what was judged by."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.children import start
from tests.cli.judged import CITED, KEY, asked, configured, finish, judged_place, model, started
from tests.cli.program import Place
from tests.cli.test_person import MET, WHY, say_not_met, typing
from tests.openai_server.server import Book, Handler, Hangs, Json, Says, serving

READ = Says(calls=(("Read", {"path": "notes.txt"}),))
TRIES = 1_000
"""Far more requests than are made before the lease of a verifier that died is over."""


def test_a_model_that_read_what_it_cites_lets_the_worker_on(tmp_path: Path) -> None:
    with serving(READ, Says(calls=(finish(CITED),))) as book:
        here = judged_place(tmp_path, reviews=model(book.url))
        started(here, "reviews")
        status, told = asked(here)
    assert (0, "answered", "entered", "finish", "done") == (
        status,
        told["result"],
        told["answer"]["outcome"],
        told["answer"]["transition"],
        told["answer"]["state"],
    )
    assert [f"Bearer {KEY}"] * 2 == book.keys
    assert KEY not in json.dumps(here.log())


@pytest.mark.parametrize(
    ("citations", "note"),
    [
        ((), "cites no evidence"),
        ((CITED,), "cites `notes.txt`, which does not resolve"),
        (({"entry": "E00000003"},), "cites `E00000003`, which does not resolve"),
    ],
    ids=["nothing", "a file it never read", "the reason itself"],
)
def test_a_model_that_says_met_without_evidence_moves_nothing(tmp_path: Path, citations: tuple[dict[str, object], ...], note: str) -> None:
    with serving(*[Says(calls=(finish(*citations),))] * 3) as book:
        here = judged_place(tmp_path, reviews=model(book.url))
        started(here, "reviews")
        status, told = asked(here)
    assert (1, "indeterminate", "work", 3) == (status, told["answer"]["code"], told["answer"]["state"], len(book.asked))
    result = told["answer"]["results"][0]
    assert ("finish", "indeterminate", note) == (result["transition"], result["verdict"], result["note"])


@dataclass(frozen=True)
class Meanwhile:
    """Something happens while the model makes up its mind."""

    happens: Callable[[], object]
    then: Says

    def do(self, handler: Handler, asked: Json) -> None:
        """Let it happen, and reply."""
        self.happens()
        self.then.do(handler, asked)


def test_a_file_that_changes_after_it_was_read_moves_nothing(tmp_path: Path) -> None:
    notes = tmp_path / "work" / "notes.txt"
    with serving(READ, Meanwhile(lambda: notes.write_text("nothing any more\n"), Says(calls=(finish(CITED),)))) as book:
        here = judged_place(tmp_path, reviews=model(book.url))
        started(here, "reviews")
        status, told = asked(here)
    assert (1, "verifier_failed", "workdir_changed") == (status, told["answer"]["code"], told["answer"]["cause"])


def test_a_killed_verification_is_gone_on_with_and_no_reply_is_asked_for_twice(tmp_path: Path) -> None:
    with serving(READ, Hangs()) as book:
        here = judged_place(tmp_path, reviews=model(book.url, "lease_seconds = 1;\n"))
        started(here, "reviews")
        judging = start(here, "request", "--reason", "it is written")
        try:
            _wait_until_it_hangs(book, judging)
        finally:
            judging.kill()
            judging.join()
        attempt = here.status()["flow"]["attempt"]["id"]
        book.steps.append(Says(calls=(finish(CITED),)))
        status, told = _after_the_lease(here)
    assert (0, attempt, 1) == (status, told["answer"]["attempt"], here.status()["flow"]["attempts"])
    first, broken, last = book.asked
    assert (broken["messages"], True) == (last["messages"], len(first["messages"]) < len(last["messages"]))


def _wait_until_it_hangs(book: Book, judging: BaseProcess) -> None:
    while not book.hanging.wait(1):
        assert judging.is_alive(), "it ended without asking"


def _after_the_lease(here: Place) -> tuple[int, dict[str, dict[str, object]]]:
    """Ask until whoever verified before is known to be gone."""
    for _ in range(TRIES):
        status, told = asked(here)
        if told["result"] != "verifying":
            return status, told
    raise AssertionError("the lease of a killed verifier is not over")


def test_a_person_judges_what_an_agent_asked_and_never_on_its_input(tmp_path: Path) -> None:
    here = judged_place(tmp_path)
    worker = started(here, "default")
    status, told = asked(here)
    assert (1, "waiting") == (status, told["result"])
    assert "run it in a terminal" in here.call("verify").err
    with typing(here, "verify", worker) as typist:
        typist.answer(MET, "y")
        typist.answer(WHY, "there it is")
        say_not_met(typist, "nothing exceptional")
        assert 0 == typist.status()
    assert (told["attempt"], "entered") == (here.status()["flow"]["last"]["attempt"], here.status()["flow"]["last"]["status"])


def test_a_person_of_whom_too_little_is_known_judges_nothing(tmp_path: Path) -> None:
    here = judged_place(tmp_path, strict='{ kind = "person"; };\noperator_assurance = "token";\n')
    worker = started(here, "strict")
    asked(here)
    with typing(here, "verify", worker) as typist:
        assert 2 == typist.status()
    assert "operator_only: profile `strict` takes acts of assurance `token`, not `none`" in typist.seen
    assert here.status()["flow"]["attempt"] is not None


def test_a_program_judges(tmp_path: Path) -> None:
    judge = tmp_path / "judge.py"
    judge.write_text(
        dedent(
            f"""\
            #!{sys.executable} -S
            import json, sys
            asked = json.load(sys.stdin)
            print(json.dumps({{"results": [
                {{"transition_id": each["transition_id"], "verdict": "not_met", "rationale": "no", "missing": ["all"], "citations": []}}
                for each in asked["questions"]
            ]}}))
            """
        )
    )
    judge.chmod(0o700)
    here = judged_place(tmp_path, checks=f'{{ kind = "command"; program = ["{judge}"]; }};')
    started(here, "checks")
    status, told = asked(here)
    assert (1, "no_condition_met", ["all"]) == (status, told["answer"]["code"], told["answer"]["results"][0]["missing"])
    shown = here.done("explain-attempt", told["answer"]["attempt"])
    for each in ("given", "Write a haiku.", "answered", '"verdict": "not_met"', "judged by "):
        assert each in shown
    data = json.loads(here.done("explain-attempt", told["answer"]["attempt"], "--json"))
    kinds = [each["kind"] for each in data["transcript"]["records"]]
    assert (["given", "answered"], True) == (kinds, data["transcript"]["is_the_one_of_the_log"])


def test_a_judge_that_was_put_in_the_place_of_the_one_of_the_log_is_asked_nothing(tmp_path: Path) -> None:
    with serving() as honest, serving(READ, Says(calls=(finish(CITED),))) as bribed:
        here = judged_place(tmp_path, reviews=model(honest.url))
        started(here, "reviews")
        elsewhere = configured(tmp_path / "elsewhere", reviews=model(bribed.url))
        ended = here.call("request", "--reason", "it is written", "--json", XDG_CONFIG_HOME=str(elsewhere))
    told = json.loads(ended.out)
    assert (1, "refused", "verifier_not_allowed") == (ended.status, told["result"], told["code"])
    assert "another model judges under profile `reviews` than when this Worker was started" in told["message"]
    assert [] == bribed.asked


def test_a_request_beside_an_open_one_says_which_reason_is_judged(tmp_path: Path) -> None:
    here = judged_place(tmp_path)
    started(here, "default")
    first = asked(here, "the first reason")[1]
    second = asked(here, "another reason")[1]
    assert (first["attempt"], True, "the first reason", "E00000003") == (
        second["attempt"],
        second["continued"],
        second["reason"],
        second["judged"],
    )
    assert "whose reason is: the first reason" in here.call("request", "--reason", "another reason").out


def test_what_is_paused_is_not_verified_and_says_by_whom(tmp_path: Path) -> None:
    here = judged_place(tmp_path)
    worker = started(here, "default")
    here.done("operate", "pause", worker, "--reason", "lunch")
    ended = here.call("verify")
    assert (2, True) == (ended.status, ended.err.startswith(f"error: Worker {worker} is paused by person "))


def test_what_a_verifier_would_be_given_is_shown_and_nothing_is_written(tmp_path: Path) -> None:
    here = judged_place(tmp_path)
    started(here, "default")
    before = here.status()["head"]
    ended = here.call("verify", "--dry-run")
    assert (2, True) == (ended.status, ended.err.startswith("error: no_open_attempt: no request is open"))
    data = json.loads(here.done("verify", "--dry-run", "--reason", "it is written </data>", "--json"))
    names = [each["name"] for each in data["tools"]]
    assert ["ShowOverview", "SearchEntries", "ReadEntry", "Read", "Glob", "Grep", "FinishFlowVerification"] == names
    assert "it is written </data>" in data["user"]
    assert before == here.status()["head"]
    shown = here.done("verify", "--dry-run", "--reason", "it is written")
    assert all(each in shown for each in (*names, data["prompt_digest"]))


def test_an_attempt_is_explained_with_what_was_read_concluded_and_made_of_it(tmp_path: Path) -> None:
    with serving(READ, Says(calls=(finish(CITED),))) as book:
        here = judged_place(tmp_path, reviews=model(book.url))
        started(here, "reviews")
        attempt = asked(here)[1]["answer"]["attempt"]
    shown = here.done("explain-attempt", attempt)
    for each in (
        "claimed: it is written",
        "called Read",
        "1\tthe haiku".expandtabs(4),
        "cites notes.txt, lines 1 to 2",
        "check passed: finish",
    ):
        assert each in shown
    data = json.loads(here.done("explain-attempt", attempt, "--json"))
    kinds = [each["kind"] for each in data["transcript"]["records"]]
    assert (["asked", "replied"] * 2, True) == (kinds, data["transcript"]["is_the_one_of_the_log"])
    assert ("transition_check_passed", "E00000004") == (data["resolved"]["type"], data["resolved_in"])
    assert KEY not in json.dumps(data)


def test_an_attempt_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    here = judged_place(tmp_path)
    started(here, "default")
    ended = here.call("explain-attempt", "nothing")
    assert (2, True) == (ended.status, ended.err.startswith("error: no Worker of this Workspace has an attempt `nothing`\n"))


def test_an_operator_acts_under_the_profile_of_the_worker(tmp_path: Path) -> None:
    here = judged_place(tmp_path, strict='{ kind = "person"; };\noperator_assurance = "token";\n')
    worker = started(here, "strict")
    ended = here.call("operate", "pause", worker, "--reason", "lunch")
    assert (1, True) == (ended.status, "refused  operator_only" in ended.out)


def test_an_attempt_that_a_fork_inherited_is_explained_when_its_parent_is_gone(tmp_path: Path) -> None:
    here = judged_place(tmp_path)
    worker = started(here, "default")
    attempt = asked(here, "inherited")[1]["attempt"]
    here.done("operate", "withdraw", worker, "--reason", "not yet")
    here.done("operate", "fork", worker, "--reason", "another way")
    (fork,) = (each["worker"] for each in map(json.loads, here.done("ps", "--json", "--all").splitlines()) if each["worker"] != worker)
    here.done("operate", "make-whole", fork, "--reason", "on its own")
    here.done("operate", "delete", worker, "--yes")
    data = json.loads(here.done("explain-attempt", attempt, "--json"))
    assert (fork, "inherited", "transition_verification_cancelled") == (
        data["worker"],
        data["requested"]["event"]["reason"],
        data["resolved"]["type"],
    )


def test_what_is_no_text_is_no_reason(tmp_path: Path) -> None:
    here = judged_place(tmp_path)
    started(here, "default")
    for command in (("request",), ("verify", "--dry-run"), ("operate", "pause", "x")):
        ended = here.call(*command, "--reason", "\udcff")
        assert (2, "error: invalid value for `--reason`: it is no UTF-8") == (ended.status, ended.err.splitlines()[0])
    blank = here.call("verify", "--dry-run", "--reason", " ")
    assert (2, "error: reason_blank: the reason is blank") == (blank.status, blank.err.splitlines()[0])
