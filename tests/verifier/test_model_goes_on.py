"""The model verifier over an interruption: what was answered is not asked again, and nothing is gone on with that no longer holds."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stateward.runtime.core.events import FailureCause, Usage, Verdict
from stateward.runtime.ports import Damaged, VerifierAnswered, VerifierFailed, VerifierOutcome
from stateward.runtime.session.masking import Secrets
from stateward.runtime.verifier.model import Call, CallFailed, ModelBounds
from stateward.runtime.verifier.model_stop import Stop
from stateward.runtime.verifier.transcript import RECORDS_MAX, Asked, Ending, Mishap, Missed, Replied, Reply, ToolCall, decode, encode
from stateward.store.database import open_store
from stateward.store.memory_transcripts import MemoryTranscripts
from tests.contracts.verifiers import request_for
from tests.openai_server.server import Book, Handler, Json, Says, serving
from tests.runtime.flows import HALF, ODD_TEXT
from tests.verifier.boxes import FINISH, Bench, results

REPLIES = (
    Reply((ToolCall("c1", "Read", "{}"),), "", Ending.DONE, 100, 10, "first", ""),
    Reply((ToolCall("c2", "ShowOverview", "{}"), ToolCall("c3", "Read", "{}")), "", Ending.DONE, 200, 20, "second", ""),
    Reply((ToolCall("c4", FINISH, str(results({"y": Verdict.MET})).replace("'", '"')),), "", Ending.DONE, 300, 30, "third", ""),
)


@dataclass
class Scripted:
    """A `ModelCaller` that gives one reply for each turn, as often as it is asked for it."""

    model: str = "test:judge"
    settings: str = "{}"
    asked: list[int] = field(default_factory=list)
    failing: dict[int, CallFailed] = field(default_factory=dict)
    """Fails the request of that number, counted from 1."""

    def ask(self, call: Call, stop: Stop) -> Reply:
        self.asked.append(len(call.turns))
        if failed := self.failing.get(len(self.asked)):
            raise failed
        return REPLIES[len(call.turns)]


class Killed(BaseException):
    """The process ends here."""


class Dying(MemoryTranscripts):
    """A store of transcripts whose process dies right before, or right after, it writes a record."""

    def __init__(self) -> None:
        super().__init__()
        self.dies_at = 0
        self.after = False
        self._writes = 0

    def append(self, worker: str, attempt: str, number: int, content: bytes) -> bool:
        self._writes += 1
        if self._writes == self.dies_at and not self.after:
            raise Killed
        kept = super().append(worker, attempt, number, content)
        if self._writes == self.dies_at:
            raise Killed
        return kept


def answered(outcome: VerifierOutcome) -> VerifierAnswered:
    assert isinstance(outcome, VerifierAnswered), outcome
    return outcome


def failed(outcome: VerifierOutcome) -> tuple[FailureCause, str]:
    assert isinstance(outcome, VerifierFailed), outcome
    return outcome.cause, outcome.message


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 7))
def test_killed_at_any_record_it_is_gone_on_with_and_no_reply_is_asked_for_again(at: int, after: bool) -> None:
    undisturbed = answered(Bench(Scripted()).verifier.verify(request_for()))
    kept, first = Dying(), Scripted()
    kept.dies_at, kept.after = at, after
    with pytest.raises(Killed):
        Bench(first, transcripts=kept).verifier.verify(request_for())
    replied = sum(isinstance(decode(each), Replied) for each in kept.records("w", "t"))
    second = Scripted()
    outcome = answered(Bench(second, transcripts=kept).verifier.verify(request_for()))
    assert undisturbed.judgements == outcome.judgements
    assert list(range(replied, 3)) == second.asked


def test_a_request_without_an_end_costs_what_was_reserved_and_is_counted() -> None:
    kept = Dying()
    kept.dies_at, kept.after = 3, True
    with pytest.raises(Killed):
        Bench(Scripted(), transcripts=kept).verifier.verify(request_for())
    account = answered(Bench(Scripted(), transcripts=kept).verifier.verify(request_for())).account
    interrupted = decode(kept.records("w", "t")[2])
    assert isinstance(interrupted, Asked)
    assert account is not None
    assert Usage(4, 600 + interrupted.reserved, 60) == account.usage


@pytest.mark.parametrize(
    ("mishap", "costs"), [(Mishap.BUSY, False), (Mishap.REFUSED, False), (Mishap.LOST, True), (Mishap.SLOW, True), (Mishap.NONSENSE, True)]
)
def test_a_request_that_failed_costs_something_only_where_the_model_may_have_worked(mishap: Mishap, costs: bool) -> None:
    at = Bench(Scripted(failing={1: CallFailed(mishap, "no")}))
    account = at.verifier.verify(request_for()).account
    asked = decode(at.transcripts.records("w", "t")[0])
    assert isinstance(asked, Asked)
    assert account is not None
    assert account.usage is not None
    spent = asked.reserved if costs else 0
    assert spent + (660 if mishap.may_pass else 0) == account.usage.tokens


def interrupted() -> MemoryTranscripts:
    """A transcript that ends before the last reply."""
    kept = Dying()
    kept.dies_at = 6
    with pytest.raises(Killed):
        Bench(Scripted(), transcripts=kept).verifier.verify(request_for())
    kept.dies_at = 0
    return kept


def test_a_file_that_says_something_else_by_now_is_a_changed_workdir_and_asks_for_nothing_more() -> None:
    at = Bench(Scripted(), transcripts=interrupted())
    at.box.file = "something else"
    cause, message = failed(at.verifier.verify(request_for()))
    assert (FailureCause.WORKDIR_CHANGED, []) == (cause, at.caller.asked)  # type: ignore[attr-defined]
    assert "`Read` no longer gives what the model was told before the interruption" == message


@pytest.mark.parametrize("changed", ["prompt", "model", "settings"])
def test_another_prompt_or_model_does_not_go_on_with_what_was_begun(changed: str) -> None:
    at = Bench(Scripted(model="other" if changed == "model" else "test:judge", settings=changed), transcripts=interrupted())
    if changed == "prompt":
        at.caller.settings = "{}"  # type: ignore[misc]
        at.box.user = "Is it really?"
    cause, _ = failed(at.verifier.verify(request_for()))
    assert (FailureCause.INCONSISTENT, []) == (cause, at.caller.asked)  # type: ignore[attr-defined]


def test_whoever_finds_that_somebody_else_went_on_asks_for_nothing_more() -> None:
    kept = MemoryTranscripts()

    @dataclass
    class Slow(Scripted):
        """While it waits for its first reply, another process takes the attempt over and ends it."""

        def ask(self, call: Call, stop: Stop) -> Reply:
            reply = super().ask(call, stop)
            if len(self.asked) == 1:
                answered(Bench(Scripted(), transcripts=kept).verifier.verify(request_for()))
            return reply

    slow = Slow()
    cause, message = failed(Bench(slow, transcripts=kept).verifier.verify(request_for()))
    assert (FailureCause.INCONSISTENT, "another process goes on with the attempt", 1) == (cause, message, len(slow.asked))


@pytest.mark.parametrize("content", [b"", b"{}", b"{", b'{"v":2,"kind":"asked","record":{}}', b'{"v":1,"kind":"asked","record":{}}'])
def test_a_transcript_that_cannot_be_read_is_damage_and_no_verdict(content: bytes) -> None:
    kept = MemoryTranscripts()
    kept.append("w", "t", 1, content)
    with pytest.raises(Damaged, match=r"^record 1 of the transcript of attempt t cannot be read: "):
        Bench(Scripted(), transcripts=kept).verifier.verify(request_for())


def test_interruptions_without_end_are_bounded() -> None:
    kept = MemoryTranscripts()
    asked = encode(Asked("r", "t", "m", "s", "p", "w", (), (), 0))
    for number in range(1, RECORDS_MAX):
        kept.append("w", "t", number, asked)
    at = Bench(Scripted(), transcripts=kept)
    assert (FailureCause.BUDGET, f"the attempt has {RECORDS_MAX} records") == failed(at.verifier.verify(request_for()))


def test_what_interrupted_requests_may_have_cost_counts_against_the_bound() -> None:
    kept = MemoryTranscripts()
    kept.append("w", "t", 1, encode(Asked("r", "t", "m", "s", "p", "w", (), (), 5000)))
    at = Bench(Scripted(), transcripts=kept, bounds=ModelBounds(tokens=5100, output_tokens=100))
    cause, _ = failed(at.verifier.verify(request_for()))
    assert (FailureCause.BUDGET, []) == (cause, at.caller.asked)  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["", ODD_TEXT, HALF, "\x00", "é" * 1000])
def test_records_read_back_as_they_were_written(text: str) -> None:
    reply = Reply((ToolCall(text, text, text),), text, Ending.LENGTH, None, 3, text, text)
    for each in (Asked(text, text, text, text, text, text, (text,), (), 7), Replied(reply), Missed(Mishap.LOST, text)):
        assert each == decode(encode(each))


def test_the_digest_covers_every_record() -> None:
    def digest(*mishaps: str) -> str:
        failing = {number: CallFailed(Mishap.BUSY, said) for number, said in enumerate(mishaps, start=1)}
        account = answered(Bench(Scripted(failing=failing)).verifier.verify(request_for())).account
        assert account is not None
        return account.transcript_digest

    digests: Sequence[str] = (digest(), digest("one"), digest("two"), digest("one", "two"))
    assert 4 == len(set(digests))


def test_no_secret_is_told_to_the_model_or_kept() -> None:
    secret = "hunter2-hunter2"  # noqa: S105 -- that of a test
    at = Bench(Scripted(), secrets=Secrets({"db": secret}))
    at.box.file = f"password = {secret}"
    at.box.user = f"Is {secret} done?"
    answered(at.verifier.verify(request_for()))
    kept = [decode(each) for each in at.transcripts.records("w", "t")]
    assert not any(secret in repr(each) for each in kept)
    assert "password = «secret:db»" in repr(kept)


@dataclass(frozen=True)
class Kills:
    """Kills the process that asked, before or after it was answered."""

    pids: list[int]

    def do(self, handler: Handler, asked: Json) -> None:
        """Kill."""
        os.kill(self.pids[0], signal.SIGKILL)


def judged_in_a_process(book: Book, store: Path, pids: list[int]) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.verifier.judging", book.url, str(store)], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    pids.append(child.pid)
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()
    return child


def test_killed_with_kill_9_while_it_asks_the_next_process_goes_on_with_the_same_attempt(tmp_path: Path) -> None:
    store, pids = tmp_path / "store.db", list[int]()
    with open_store(store, write=True, create=True):
        pass
    reads, ends = Says((("Read", {}),)), Says(((FINISH, results({"y": Verdict.MET})),))
    with serving(reads, Kills(pids)) as book:
        child = judged_in_a_process(book, store, pids)
        told, _ = child.communicate()
    assert (-signal.SIGKILL, "") == (child.returncode, told)
    with serving(ends) as book:
        child = judged_in_a_process(book, store, [])
        told, _ = child.communicate()
    assert (0, "met y; 3 requests") == (child.returncode, told.strip())
    assert (1, 4) == (len(book.asked), len(book.asked[0]["messages"]))
