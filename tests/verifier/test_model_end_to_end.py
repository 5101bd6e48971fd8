"""A Worker that is judged by a model, from the request to the state: engine, tools, view of a Workdir and provider are the real ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.core.events import TransitionCheckPassed, TransitionVerificationFailed, Verdict
from stateward.runtime.ports import Answered
from stateward.runtime.profile import ModelSettings, Profile, VerifierKind
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.payloads import decode, flow_events
from stateward.runtime.verifier.model_judge import model_verifier
from stateward.runtime.workdir.view import WorkdirView
from stateward.store.memory_transcripts import MemoryTranscripts
from tests.contracts.failing_closed import Result, saying
from tests.openai_server.server import Book, Fails, Handler, Json, Says, Step, serving
from tests.runtime.engines import CountingIds, Desk, TickingClock
from tests.runtime.workdirs import TextsWorkdir
from tests.verifier.boxes import FINISH, Seconds

SHOWN = {"path": "a.txt", "first_line": 2, "last_line": 2, "quote": "two"}
READS: Step = Says((("Read", {"path": "a.txt"}), ("ShowOverview", {})))


class Post:
    """A Worker with a folder, judged by the model of a server."""

    def __init__(self, book: Book, folder: Path) -> None:
        profile = Profile("model", VerifierKind.MODEL, model=ModelSettings("judge-1", base_url=book.url))
        self.folder = folder / "work"
        self.folder.mkdir()
        (self.folder / "a.txt").write_text("one\ntwo\nthree\n", "utf-8")
        self.desk = Desk(profile=profile, workdirs=TextsWorkdir(**{"a.txt": "one\ntwo\nthree\n"}))
        self.desk.record_evidence(b'{"output": "all tests pass"}')
        self.transcripts = MemoryTranscripts()
        self.seconds = Seconds()
        self.verifier = model_verifier(
            profile,
            self.transcripts,
            clock=TickingClock(),
            ids=CountingIds(),
            elapsed=self.seconds.elapsed,
            open_workdir=lambda _: WorkdirView(self.folder),
            home=folder,
        )

    def request(self) -> Answered:
        return self.desk.request("done", self.verifier)

    def last(self, kind: type[Any]) -> Any:
        events = [event for entry in self.desk.log() for event in flow_events(decode(entry))]
        return next(each for each in reversed(events) if isinstance(each, kind))


def finishing(results: Sequence[Result]) -> Says:
    return Says(((FINISH, {"results": list(results)}),))


def citing(*citations: dict[str, Any]) -> list[Result]:
    given = saying({"x": Verdict.MET})
    given[0]["citations"] = list(citations)
    return given


def test_what_it_read_and_quotes_moves_the_state_and_its_account_is_recorded(tmp_path: Path) -> None:
    with serving(READS, finishing(citing(SHOWN))) as book:
        post = Post(book, tmp_path)
        answer = post.request().answer
    assert ("x", "b") == (answer.transition, post.desk.flow.state)
    account = post.last(TransitionCheckPassed).account
    records = post.transcripts.records(post.desk.worker, answer.attempt)
    assert digest_of("\n".join(map(digest_of, records)).encode()) == account.transcript_digest
    assert (2, 220, f"{book.url}:judge-1") == (account.usage.requests, account.usage.tokens, account.model)


def test_it_is_told_what_the_file_says_with_numbers_and_what_the_log_holds(tmp_path: Path) -> None:
    with serving(READS, finishing(citing(SHOWN))) as book:
        post = Post(book, tmp_path)
        post.request()
    read, overview = (each["content"] for each in book.asked[1]["messages"][-2:])
    assert ("2\ttwo" in read, "The log holds" in overview) == (True, True)


BAD: dict[str, list[dict[str, Any]]] = {
    "nothing": [],
    "an entry that it did not read": [{"entry": "E00000003"}],
    "an entry that is not there": [{"entry": "E00000099"}],
    "the reason itself": [{"entry": "E00000004"}],
    "a file that it did not read": [{**SHOWN, "path": "b.txt"}],
    "a file outside": [{**SHOWN, "path": "../a.txt"}],
    "a quote that differs": [{**SHOWN, "quote": "two!"}],
    "other lines": [{**SHOWN, "first_line": 1, "last_line": 1}],
    "a good one and a bad one": [SHOWN, {"entry": "E00000003"}],
}


@pytest.mark.parametrize("citations", BAD.values(), ids=BAD.keys())
def test_a_model_that_says_met_whatever_it_is_told_moves_nothing(tmp_path: Path, citations: list[dict[str, Any]]) -> None:
    with serving(READS, *[finishing(citing(*citations))] * 3) as book:
        post = Post(book, tmp_path)
        answer = post.request().answer
    assert (None, "indeterminate", "a", 4) == (answer.transition, answer.code, post.desk.flow.state, len(book.asked))
    refused = [each["content"] for each in book.asked[-1]["messages"] if each["role"] == "tool"][-1]
    assert "the result for `x` is `met` and" in refused


def test_a_refused_citation_can_be_mended(tmp_path: Path) -> None:
    with serving(finishing(citing(SHOWN)), READS, finishing(citing(SHOWN))) as book:
        post = Post(book, tmp_path)
        assert "x" == post.request().answer.transition


def test_a_provider_that_is_away_moves_nothing_says_so_and_the_next_request_is_judged_anew(tmp_path: Path) -> None:
    with serving(*[Fails(503, "we are away")] * 6, READS, finishing(citing(SHOWN))) as book:
        post = Post(book, tmp_path)
        answer = post.request().answer
        assert ("verifier_failed", "unavailable", "a") == (answer.code, answer.cause, post.desk.flow.state)
        assert "we are away" in post.last(TransitionVerificationFailed).message
        post.desk.record_evidence()
        again = post.request().answer
    assert (True, "b") == (again.attempt != answer.attempt, post.desk.flow.state)


def test_a_folder_that_is_not_there_fails_before_the_model_is_asked(tmp_path: Path) -> None:
    with serving() as book:
        post = Post(book, tmp_path)
        (post.folder / "a.txt").unlink()
        post.folder.rmdir()
        answer = post.request().answer
    assert ("verifier_failed", "unavailable", 0) == (answer.code, answer.cause, len(book.asked))


class Swaps:
    """Reads a file, and has it changed before the answer comes."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "work" / "a.txt"

    def do(self, handler: Handler, asked: Json) -> None:
        """Change the file, then read it again."""
        self._path.write_text("one\n2\nthree\n", "utf-8")
        Says((("Read", {"path": "a.txt"}),)).do(handler, asked)


def test_a_file_that_was_shown_in_two_ways_cannot_be_cited(tmp_path: Path) -> None:
    with serving(READS, Swaps(tmp_path), *[finishing(citing(SHOWN))] * 3) as book:
        post = Post(book, tmp_path)
        answer = post.request().answer
    assert (None, "indeterminate", "a") == (answer.transition, answer.code, post.desk.flow.state)
