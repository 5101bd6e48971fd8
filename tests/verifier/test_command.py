"""The command verifier, beside the contract: what the program is given, what it may do, and what its answers come to."""

import json
import os
import select
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from stateward.runtime.core.events import EntryCitation, FailureCause, FileCitation, Judgement, Verdict
from stateward.runtime.core.instance import Aside
from stateward.runtime.ports import VerificationRequest, VerifierAnswered, VerifierCancelled, VerifierFailed, VerifierOutcome
from stateward.runtime.session.chain import digest_of, link_all
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Entry, Kind, NewEntry
from stateward.runtime.session.masking import Secrets
from stateward.runtime.verifier.command import ENTRIES_BYTES_MAX, Command, CommandVerifier
from stateward.store.memory_transcripts import MemoryTranscripts
from tests.contracts.verifiers import WAYS, request_for
from tests.verifier.boxes import results

MakeProgram = Callable[[str], Path]
DYING_SECONDS = 60.0
"""Given to a process that was killed before it counts as alive."""
SAYS = "import json, sys; request = json.load(sys.stdin); "


@pytest.fixture
def program(tmp_path: Path) -> MakeProgram:
    def make(body: str) -> Path:
        path = tmp_path / "programs" / "judge"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{sys.executable} -IS\n{body}\n", "utf-8")
        path.chmod(0o700)
        return path

    return make


def judge(path: Path, workdir: Path | None = None, transcripts: MemoryTranscripts | None = None, **given: Any) -> CommandVerifier:
    command = Command(path, **{"seconds": 60.0, **given})
    return CommandVerifier(command, transcripts or MemoryTranscripts(), lambda _: workdir)


def answering(answer: object) -> str:
    return f"import sys; sys.stdin.read(); sys.stdout.write({json.dumps(answer)!r})"


def saying(body: bytes) -> str:
    return f"import sys; sys.stdin.buffer.read(); sys.stdout.buffer.write({body!r})"


def failed(outcome: VerifierOutcome) -> tuple[FailureCause, str]:
    assert isinstance(outcome, VerifierFailed), outcome
    return outcome.cause, outcome.message


def answered(outcome: VerifierOutcome) -> VerifierAnswered:
    assert isinstance(outcome, VerifierAnswered), outcome
    return outcome


def citing(citation: Mapping[str, object]) -> dict[str, object]:
    given = results({"y": Verdict.MET})
    given["results"][1]["citations"] = [citation]  # type: ignore[index]
    return given


def log(*payloads: bytes) -> tuple[Entry, ...]:
    host = Actor(ActorClass.HOST, "hook")
    return link_all("w", GENESIS, [NewEntry(Kind.TOOL_RESULT, host, datetime(2026, 1, 1, tzinfo=UTC), each) for each in payloads])


def told(program: MakeProgram, request: VerificationRequest, workdir: Path | None = None) -> dict[str, Any]:
    """Give what a program reads, as it says it back in a rationale."""
    body = (
        SAYS + f"answer = {results({})!r}; answer['results'][0]['rationale'] = json.dumps(request)[:16000]; json.dump(answer, sys.stdout)"
    )
    outcome = answered(judge(program(body), workdir).verify(request))
    read: dict[str, Any] = json.loads(outcome.judgements[0].rationale)
    return read


def test_the_program_is_given_everything_that_a_judge_may_know(program: MakeProgram, tmp_path: Path) -> None:
    read = told(program, request_for(reason="all done", captured=log(b'{"output": "ok"}', b"two")), tmp_path / "work")
    assert ("fork", "a", 1, "all done", str(tmp_path / "work")) == tuple(
        read[each] for each in ("flow", "state", "visit", "reason", "workdir")
    )
    assert list(WAYS) == [each["transition_id"] for each in read["questions"]]
    assert [request_for().questions[0].condition] == [read["questions"][0]["condition"]]
    assert [("E00000001", "tool_result", "host", "host", False), ("E00000002", "tool_result", "host", "host", False)] == [
        (each["entry"], each["kind"], each["from"], each["evidence"], each["cut"]) for each in read["entries"]
    ]
    assert 0 == read["entries_left_out"]


def test_what_was_set_aside_is_labelled(program: MakeProgram) -> None:
    request = request_for(captured=log(b"one", b"two", b"three"))
    aside = VerificationRequest(**{each: getattr(request, each) for each in request.__slots__} | {"aside": (Aside(1, 3),)})
    assert [False, True, False] == [each["aside"] for each in told(program, aside)["entries"]]


def test_the_newest_entries_are_given_as_far_as_they_fit_and_it_says_how_many_are_left_out(program: MakeProgram) -> None:
    large = b"x" * (ENTRIES_BYTES_MAX // 10)
    body = SAYS + (
        f"answer = {results({})!r}; answer['results'][0]['rationale'] = json.dumps("
        "[request['entries_left_out'], [each['entry'] for each in request['entries']]]); json.dump(answer, sys.stdout)"
    )
    outcome = answered(judge(program(body)).verify(request_for(captured=log(*[large] * 14))))
    left_out, entries = json.loads(outcome.judgements[0].rationale)
    assert (14, "E00000014") == (left_out + len(entries), entries[-1])
    assert 0 < left_out


def test_it_runs_in_an_empty_folder_with_an_environment_that_holds_nothing_of_ours(
    program: MakeProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATEWARD_SECRET", "s3cret")
    body = SAYS + (
        "import os; "
        f"answer = {results({})!r}; "
        "handles = sorted(os.listdir('/proc/self/fd')); "
        "answer['results'][0]['rationale'] = json.dumps([os.getcwd(), os.listdir('.'), dict(os.environ), handles]); "
        "json.dump(answer, sys.stdout)"
    )
    outcome = answered(judge(program(body)).verify(request_for()))
    folder, listed, environment, handles = json.loads(outcome.judgements[0].rationale)
    assert ([], {"HOME", "LC_ALL", "PATH", "TMPDIR"}) == (listed, set(environment))
    assert 4 == len(handles)  # the three streams, and the one that lists them
    assert not Path(folder).exists()


def test_what_it_leaves_in_its_folder_goes_with_it(program: MakeProgram, tmp_path: Path) -> None:
    body = SAYS + f"open('left', 'w').write('x'); open({str(tmp_path / 'where')!r}, 'w').write(__import__('os').getcwd()); "
    answered(judge(program(body + f"json.dump({results({})!r}, sys.stdout)")).verify(request_for()))
    assert not Path((tmp_path / "where").read_text("utf-8")).exists()


def test_its_digest_is_recorded(program: MakeProgram) -> None:
    path = program(answering(results({})))
    account = answered(judge(path).verify(request_for())).account
    assert account is not None
    assert f"{path} {digest_of(path.read_bytes())}" == account.model


def test_a_program_that_is_not_the_one_that_was_named_does_not_judge(program: MakeProgram) -> None:
    path = program(answering(results({"y": Verdict.MET})))
    cause, message = failed(judge(path, digest="sha256:0").verify(request_for()))
    assert (FailureCause.UNAVAILABLE, True) == (cause, "is not the one that the profile names" in message)


def test_a_program_in_the_workdir_does_not_judge_not_even_by_a_link(program: MakeProgram, tmp_path: Path) -> None:
    path = program(answering(results({"y": Verdict.MET})))
    link = tmp_path / "elsewhere"
    link.symlink_to(path)
    for named in (path, link):
        cause, message = failed(judge(named, path.parent).verify(request_for()))
        assert (FailureCause.UNAVAILABLE, True) == (cause, "lies in the Workdir" in message)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o722])
def test_a_program_that_others_may_write_does_not_judge(program: MakeProgram, mode: int) -> None:
    path = program(answering(results({"y": Verdict.MET})))
    path.chmod(mode)
    if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        cause, message = failed(judge(path).verify(request_for()))
        assert (FailureCause.UNAVAILABLE, True) == (cause, "others may write the program" in message)


@pytest.mark.parametrize("what", ["missing", "folder", "no program"])
def test_what_cannot_be_run_is_unavailable(tmp_path: Path, what: str) -> None:
    path = tmp_path / what
    if what == "folder":
        path.mkdir()
    elif what == "no program":
        path.write_bytes(b"\x00\x01")
        path.chmod(0o600)
    cause, message = failed(judge(path).verify(request_for()))
    assert FailureCause.UNAVAILABLE is cause
    assert str(path) in message


def test_a_program_that_replaces_itself_did_not_judge(program: MakeProgram) -> None:
    path = program("")
    program(f"import os, sys; sys.stdin.read(); open({str(path)!r}, 'a').write('#'); print({json.dumps(results({}))!r})")
    assert (FailureCause.INCONSISTENT, "the program was replaced while it ran") == failed(judge(path).verify(request_for()))


ENDS: dict[str, tuple[str, FailureCause]] = {
    "a status": ("import sys; sys.exit(3)", FailureCause.UNAVAILABLE),
    "a signal": ("import os; os.kill(os.getpid(), 9)", FailureCause.UNAVAILABLE),
    "nothing": ("", FailureCause.MALFORMED),
    "prose": (saying(b"All is met."), FailureCause.MALFORMED),
    "no UTF-8": (saying(b'{"results": "\xff"}'), FailureCause.MALFORMED),
    "a list": (answering([]), FailureCause.MALFORMED),
    "no results": (answering({"results": []}), FailureCause.MALFORMED),
    "a member beside": (answering({**results({}), "confidence": 1}), FailureCause.MALFORMED),
    "two answers": (saying(json.dumps(results({})).encode() * 2), FailureCause.MALFORMED),
    "an answer and a status": (answering(results({"y": Verdict.MET})) + "; sys.exit(1)", FailureCause.UNAVAILABLE),
    "a member twice": (saying(b'{"results": [], "results": []}'), FailureCause.MALFORMED),
}


@pytest.mark.parametrize(("body", "cause"), ENDS.values(), ids=ENDS.keys())
def test_anything_but_one_whole_answer_is_a_failed_verification(program: MakeProgram, body: str, cause: FailureCause) -> None:
    assert cause is failed(judge(program(body)).verify(request_for()))[0]


def test_what_it_says_of_its_failure_is_told_in_one_line(program: MakeProgram) -> None:
    body = "import sys; sys.stderr.write('no key\\x1b[2J\\n' * 1000); sys.exit(2)"
    _, message = failed(judge(program(body)).verify(request_for()))
    assert "the program ended with status 2 and said `no key\\x1b[2J\\nno key" in message
    assert len(message) < 600


def test_one_that_takes_too_long_is_killed_with_what_it_started(program: MakeProgram, tmp_path: Path) -> None:
    noted = tmp_path / "child"
    body = (
        "import os, signal\nchild = os.fork()\nif child == 0:\n    signal.pause()\n"
        f"open({str(noted)!r}, 'w').write(str(child))\nsignal.pause()"
    )
    assert (FailureCause.TIMEOUT, "the program gave no answer in 2 seconds") == failed(
        judge(program(body), seconds=2.0).verify(request_for())
    )
    assert is_gone(int(noted.read_text("utf-8")))


def is_gone(pid: int) -> bool:
    """Tell whether a process is dead, whether or not somebody took notice of it. One that was killed is given the time to die."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        select.select([handle], [], [], DYING_SECONDS)
        os.close(handle)
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except FileNotFoundError:
        return True
    return state.rsplit(")", 1)[1].split()[0] == "Z"


def test_one_that_says_too_much_is_killed(program: MakeProgram) -> None:
    body = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    assert (FailureCause.TRUNCATED, "the answer is over the limit of 1000000 bytes") == failed(
        judge(program(body), answer_bytes=1_000_000).verify(request_for())
    )


def test_a_cancelled_one_is_killed_at_once(program: MakeProgram, tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    verifier = judge(program(f"import os, signal; open({str(started)!r}, 'w').write(str(os.getpid())); signal.pause()"))
    said: list[VerifierOutcome] = []
    thread = Thread(target=lambda: said.append(verifier.verify(request_for())))
    thread.start()
    pid = int(started.read_text("utf-8"))
    verifier.cancel()
    thread.join()
    assert isinstance(said[0], VerifierCancelled)
    assert is_gone(pid)


def test_an_entry_that_it_was_given_whole_can_be_cited_and_no_other(program: MakeProgram) -> None:
    captured = log(b"one", b"two")
    for entry, shown in (("E00000002", {EntryCitation("E00000002")}), ("E00000003", set[EntryCitation]())):
        outcome = answered(judge(program(answering(citing({"entry": entry})))).verify(request_for(captured=captured)))
        assert shown == outcome.shown


@pytest.mark.parametrize(("quote", "holds"), [("two", True), ("two\n", True), ("tw", False), ("one", False), ("two\nthree", False)])
def test_a_file_that_it_cites_is_read_again_and_what_it_quotes_held_against_that(
    program: MakeProgram, tmp_path: Path, quote: str, holds: bool
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\ntwo\nthree\n", "utf-8")
    cited = {"path": "a.txt", "first_line": 2, "last_line": 2, "quote": quote}
    outcome = answered(judge(program(answering(citing(cited))), work).verify(request_for()))
    expected = {FileCitation("a.txt", 2, 2, quote)} if holds else set()
    assert expected == outcome.shown


def test_a_file_outside_of_the_workdir_cannot_be_cited(program: MakeProgram, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("one\n", "utf-8")
    work = tmp_path / "work"
    work.mkdir()
    for path in ("../secret", str(tmp_path / "secret")):
        cited = {"path": path, "first_line": 1, "last_line": 1, "quote": "one"}
        assert set() == answered(judge(program(answering(citing(cited))), work).verify(request_for())).shown


def test_an_answer_that_was_kept_is_not_asked_for_again(program: MakeProgram) -> None:
    kept = MemoryTranscripts()
    first = answered(judge(program(answering(results({"y": Verdict.MET}))), transcripts=kept).verify(request_for()))
    again = answered(judge(program("import sys; sys.exit(1)"), transcripts=kept).verify(request_for()))
    assert first.judgements == again.judgements
    assert 2 == len(kept.records("w", "t"))


def test_an_attempt_is_not_gone_on_with_when_the_program_would_be_given_something_else(program: MakeProgram) -> None:
    kept = MemoryTranscripts()
    judge(program("import sys; sys.exit(1)"), transcripts=kept).verify(request_for())
    cause, _ = failed(judge(program(answering(results({}))), transcripts=kept).verify(request_for(reason="another")))
    assert FailureCause.INCONSISTENT is cause


def test_a_contradiction_is_told_as_one(program: MakeProgram) -> None:
    given = results({"y": Verdict.MET})
    given["results"][1]["missing"] = ["a test"]  # type: ignore[index]
    cause, message = failed(judge(program(answering(given))).verify(request_for()))
    assert (FailureCause.INCONSISTENT, True) == (cause, "says `met` and that something is missing" in message)


def test_no_secret_is_given_to_it_or_kept_of_what_it_says(program: MakeProgram) -> None:
    secret = "hunter2-hunter2"  # noqa: S105 -- that of a test
    kept = MemoryTranscripts()
    body = SAYS + (
        f"answer = {results({})!r}; answer['results'][0]['rationale'] = json.dumps(request['entries'])[-900:] + 'hunter2' + '-hunter2'; "
        "json.dump(answer, sys.stdout)"
    )
    verifier = CommandVerifier(Command(program(body), seconds=60.0), kept, lambda _: None, Secrets({"db": secret}))
    outcome = answered(verifier.verify(request_for(reason=secret, captured=log(secret.encode()))))
    assert 2 == outcome.judgements[0].rationale.count("«secret:db»") + outcome.judgements[0].rationale.count("\\u00absecret:db\\u00bb")
    assert [False, False] == [secret.encode() in each for each in kept.records("w", "t")]


def test_a_program_is_named_by_its_whole_path() -> None:
    with pytest.raises(ValueError, match="whole path"):
        Command(Path("judge"))


def test_judgements_leave_the_checking_to_the_runtime(program: MakeProgram) -> None:
    outcome = answered(judge(program(answering(results({"y": Verdict.MET})))).verify(request_for()))
    assert [each.verdict for each in outcome.judgements] == [each.checked for each in outcome.judgements]
    assert all(isinstance(each, Judgement) for each in outcome.judgements)
