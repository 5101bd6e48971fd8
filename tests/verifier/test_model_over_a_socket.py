"""The model verifier over a real socket: whatever a provider does ends in the right outcome, with its cause, within its bound."""

import os
import signal
from dataclasses import dataclass
from threading import Thread
from time import monotonic

import pytest

from stateward.runtime.core.events import FailureCause, Usage, Verdict
from stateward.runtime.ports import VerifierAnswered, VerifierCancelled, VerifierFailed, VerifierOutcome
from stateward.runtime.verifier.model import TRIES_MAX, ModelBounds
from stateward.runtime.verifier.model_calls import LibraryCaller
from stateward.runtime.verifier.model_settings import Model
from stateward.runtime.verifier.transcript import Asked, Mishap, Missed, Replied, decode
from tests.contracts.verifiers import WAYS, request_for
from tests.openai_server.server import Book, Breaks, Fails, Handler, Hangs, Json, Says, Sends, Step, events, serving
from tests.verifier.boxes import FINISH, Bench, results

KEY = "sk-test-0123456789"
READS = Says((("Read", {"path": "a.txt"}),))
FINISHES = Says(((FINISH, results({"y": Verdict.MET})),))


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def bench(book: Book, streamed: bool = False, **bounds: float) -> Bench:
    caller = LibraryCaller(Model("judge-1", url=book.url, streamed=streamed), KEY)
    return Bench(caller, bounds=ModelBounds(**{"call_seconds": 30.0, **bounds}))  # type: ignore[arg-type]


def failed(outcome: VerifierOutcome) -> tuple[FailureCause, str]:
    assert isinstance(outcome, VerifierFailed), outcome
    return outcome.cause, outcome.message


def kinds(at: Bench) -> list[str]:
    return [type(decode(each)).__name__ for each in at.transcripts.records("w", "t")]


def test_a_model_that_reads_and_finishes_has_answered(streamed: bool) -> None:
    with serving(READS, FINISHES) as book:
        at = bench(book, streamed)
        outcome = at.verifier.verify(request_for())
    assert isinstance(outcome, VerifierAnswered), outcome
    assert [(way, Verdict.MET if way == "y" else Verdict.NOT_MET) for way in WAYS] == [
        (e.transition, e.verdict) for e in outcome.judgements
    ]
    assert [("Read", {"path": "a.txt"})] == at.box.called
    assert outcome.account is not None
    assert (Usage(2, 200, 20), f"{book.url}:judge-1", "sha256:prompt") == (
        outcome.account.usage,
        outcome.account.model,
        outcome.account.prompt_digest,
    )
    assert ["Asked", "Replied", "Asked", "Replied"] == kinds(at)


def test_the_provider_is_told_the_prompt_the_tools_and_that_one_is_to_be_called_and_nothing_else(streamed: bool) -> None:
    with serving(READS, FINISHES) as book:
        bench(book, streamed).verifier.verify(request_for())
    first, second = book.asked
    assert [("system", "You judge."), ("user", "Is it done?")] == [(each["role"], each["content"]) for each in first["messages"]]
    assert ["ShowOverview", "Read", FINISH] == [each["function"]["name"] for each in first["tools"]]
    assert "required" == first["tool_choice"]
    assert ["system", "user", "assistant", "tool"] == [each["role"] for each in second["messages"]]
    assert "the file" == second["messages"][3]["content"]
    assert {f"Bearer {KEY}"} == set(book.keys)


def test_on_the_last_turn_nothing_is_left_to_call_but_the_end(streamed: bool) -> None:
    with serving(READS, FINISHES) as book:
        outcome = bench(book, streamed, turns=2).verifier.verify(request_for())
    assert isinstance(outcome, VerifierAnswered)
    assert {"type": "function", "function": {"name": FINISH}} == book.asked[1]["tool_choice"]


def test_turns_that_go_by_without_an_end_are_used_up(streamed: bool) -> None:
    with serving(READS, READS) as book:
        assert (FailureCause.BUDGET, f"2 turns went by without `{FINISH}`") == failed(
            bench(book, streamed, turns=2).verifier.verify(request_for())
        )


ENDS: dict[str, tuple[tuple[Step, ...], FailureCause, str]] = {
    "prose": ((Says(text="All is met.", ending="stop"),), FailureCause.MALFORMED, "the model wrote text and called no tool"),
    "prose that looks like the call": (
        (Says(text='FinishFlowVerification({"results": []})', ending="stop"),),
        FailureCause.MALFORMED,
        "the model wrote text and called no tool",
    ),
    "a cut reply": ((Says(text="All is", ending="length"),), FailureCause.TRUNCATED, "the reply was cut at the limit of tokens"),
    "a cut call": (
        (Says(((FINISH, '{"results": ['),), ending="length"),),
        FailureCause.TRUNCATED,
        "the reply was cut at the limit of tokens",
    ),
    "a whole call in a cut reply": (
        (Says(((FINISH, results({"y": Verdict.MET})),), ending="length"),),
        FailureCause.TRUNCATED,
        "the reply was cut at the limit of tokens",
    ),
    "held back": ((Says(text="", ending="content_filter"),), FailureCause.UNAVAILABLE, "the provider held the reply back"),
    "no such key": ((Fails(401, "wrong key"),), FailureCause.UNAVAILABLE, "wrong key"),
    "no such model": ((Fails(404, "no such model"),), FailureCause.UNAVAILABLE, "no such model"),
    "a bad request": ((Fails(400, "what is this"),), FailureCause.UNAVAILABLE, "what is this"),
    "two calls with one id": ((Says((("Read", {}), ("Read", {})), ids=("a", "a")),), FailureCause.MALFORMED, "two calls of one reply"),
    "too many calls": ((Says((("Read", {}),) * 33),), FailureCause.MALFORMED, "one reply has 33 calls, more than 32"),
}


@pytest.mark.parametrize(("steps", "cause", "message"), ENDS.values(), ids=ENDS.keys())
def test_what_can_only_end_ends_at_once_with_its_cause(streamed: bool, steps: tuple[Step, ...], cause: FailureCause, message: str) -> None:
    with serving(*steps) as book:
        at = bench(book, streamed)
        found, said = failed(at.verifier.verify(request_for()))
    assert (cause, True, 1) == (found, message in said, len(book.asked)), said
    assert [] == at.seconds.paused


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>", b"[]", b"null", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b'{"error": "x"}', b"\xff\xfe"]
)
def test_what_is_no_reply_is_malformed_or_unavailable_and_never_a_verdict(streamed: bool, body: bytes) -> None:
    with serving(*[Sends(body, "text/event-stream" if streamed else "application/json")] * TRIES_MAX) as book:
        found, said = failed(bench(book, streamed).verifier.verify(request_for()))
    assert found in {FailureCause.MALFORMED, FailureCause.UNAVAILABLE}, said


@pytest.mark.parametrize(
    "step",
    [Fails(429), Fails(500), Fails(502), Fails(503), Fails(529), Breaks(), Breaks(b"data: {")],
    ids=["429", "500", "502", "503", "529", "break", "break in the middle"],
)
def test_what_may_pass_is_tried_again_and_each_try_is_recorded(streamed: bool, step: Step) -> None:
    with serving(step, step, FINISHES) as book:
        at = bench(book, streamed)
        assert isinstance(at.verifier.verify(request_for()), VerifierAnswered)
    assert ["Asked", "Missed", "Asked", "Missed", "Asked", "Replied"] == kinds(at)
    assert [0.5, 1.0] == at.seconds.paused


def test_a_stream_that_breaks_after_a_whole_call_is_no_reply() -> None:
    whole = events(FINISHES.chunks({"model": "judge-1"}))
    with serving(*[Breaks(whole[: len(whole) // 2])] * TRIES_MAX) as book:
        found, _ = failed(bench(book, streamed=True).verifier.verify(request_for()))
    assert (FailureCause.UNAVAILABLE, TRIES_MAX) == (found, len(book.asked))


def test_tries_are_bounded(streamed: bool) -> None:
    with serving(*[Fails(500)] * 20) as book:
        found, _ = failed(bench(book, streamed).verifier.verify(request_for()))
    assert (FailureCause.UNAVAILABLE, TRIES_MAX) == (found, len(book.asked))


def test_a_provider_is_left_alone_as_long_as_it_wants(streamed: bool) -> None:
    with serving(Fails(429, headers=(("retry-after", "7"),)), FINISHES) as book:
        at = bench(book, streamed)
        assert isinstance(at.verifier.verify(request_for()), VerifierAnswered)
    assert [7.0] == at.seconds.paused


def test_a_provider_that_wants_longer_than_there_is_ends_it_at_once(streamed: bool) -> None:
    with serving(Fails(429, headers=(("retry-after", "7"),))) as book:
        at = bench(book, streamed, wall_seconds=7.0)
        found, _ = failed(at.verifier.verify(request_for()))
    assert (FailureCause.UNAVAILABLE, []) == (found, at.seconds.paused)


@pytest.mark.parametrize("before", [b"", b"data: {"], ids=["nothing", "a beginning"])
def test_a_reply_that_never_comes_takes_too_long_and_its_connection_is_closed(streamed: bool, before: bytes) -> None:
    with serving(Hangs(before)) as book:
        at = bench(book, streamed, wall_seconds=1.0)
        at.elapsed = monotonic
        found, said = failed(at.verifier.verify(request_for()))
        assert book.gone.wait(10)
    assert (FailureCause.TIMEOUT, True) == (found, "gave no reply in" in said)


@pytest.mark.parametrize("before", [b"", b"data: {"], ids=["nothing", "a beginning"])
def test_a_cancelled_verification_stops_at_once_and_closes_its_connection(streamed: bool, before: bytes) -> None:
    with serving(Hangs(before)) as book:
        verifier = bench(book, streamed).verifier
        said: list[VerifierOutcome] = []
        thread = Thread(target=lambda: said.append(verifier.verify(request_for())))
        thread.start()
        assert book.hanging.wait(10)
        verifier.cancel()
        assert book.gone.wait(10)
        thread.join()
    assert isinstance(said[0], VerifierCancelled)
    assert 1 == len(book.asked)


@dataclass(frozen=True)
class Interrupts:
    """Has the user interrupt while the reply is waited for."""

    def do(self, handler: Handler, asked: Json) -> None:
        """Interrupt, and wait for the client to go."""
        os.kill(os.getpid(), signal.SIGINT)
        Hangs().do(handler, asked)


def test_an_interruption_by_the_user_passes_through_closes_the_connection_and_leaves_the_attempt_open(streamed: bool) -> None:
    with serving(Interrupts(), FINISHES) as book:
        at = bench(book, streamed)
        with pytest.raises(KeyboardInterrupt):
            at.verifier.verify(request_for())
        assert book.gone.wait(10)
        assert ["Asked"] == kinds(at)
        assert isinstance(at.verifier.verify(request_for()), VerifierAnswered)


def test_a_server_that_is_not_there_is_unavailable(streamed: bool) -> None:
    with serving() as book:
        pass
    found, _ = failed(bench(book, streamed).verifier.verify(request_for()))
    assert FailureCause.UNAVAILABLE is found


def test_a_reply_over_its_limit_of_bytes_is_not_read_on(streamed: bool) -> None:
    with serving(Says(text="x" * 100_000, ending="stop")) as book:
        found, said = failed(bench(book, streamed, reply_bytes=10_000).verifier.verify(request_for()))
    assert (FailureCause.TRUNCATED, "the reply is over the limit of 10000 bytes") == (found, said)


def test_a_refusal_is_told_to_the_model_and_it_may_finish_again(streamed: bool) -> None:
    first = results({"y": Verdict.MET})
    del first["results"][0]["missing"]  # type: ignore[index]
    with serving(Says(((FINISH, first),)), Says(((FINISH, "{"),)), FINISHES) as book:
        assert isinstance(bench(book, streamed).verifier.verify(request_for()), VerifierAnswered)
    told = [each["messages"][-1]["content"] for each in book.asked[1:]]
    assert ["KeyError('missing')" in told[0], f"the arguments of `{FINISH}` cannot be read" in told[1]] == [True, True]


def test_an_end_that_is_refused_to_the_last_is_malformed(streamed: bool) -> None:
    with serving(*[Says(((FINISH, {"results": []}),))] * 3) as book:
        found, said = failed(bench(book, streamed, turns=3).verifier.verify(request_for()))
    assert (FailureCause.MALFORMED, True) == (found, "was refused: there is no result for `x`" in said)


def test_an_end_beside_other_calls_ends_nothing_since_they_were_not_read(streamed: bool) -> None:
    beside = Says((("Read", {"path": "a"}), (FINISH, results({"x": Verdict.MET}))))
    twice = Says(((FINISH, results({"x": Verdict.MET})), (FINISH, results({"y": Verdict.MET}))))
    with serving(beside, twice, FINISHES) as book:
        outcome = bench(book, streamed).verifier.verify(request_for())
    assert isinstance(outcome, VerifierAnswered)
    assert ["y"] == [each.transition for each in outcome.judgements if each.verdict is Verdict.MET]
    refused = [each["content"] for each in book.asked[-1]["messages"] if each["role"] == "tool" and "comes alone" in each["content"]]
    assert 3 == len(refused)


def test_a_tool_that_is_not_there_is_told_as_such(streamed: bool) -> None:
    with serving(Says((("Bash", {"command": "ls"}),)), FINISHES) as book:
        at = bench(book, streamed)
        assert isinstance(at.verifier.verify(request_for()), VerifierAnswered)
    assert [] == at.box.called
    assert "there is no tool `Bash`" in book.asked[1]["messages"][-1]["content"]


def test_the_key_is_in_nothing_that_is_kept_or_told(streamed: bool) -> None:
    with serving(Fails(500, f"cannot use {KEY}"), Says(text=f"I know {KEY}", calls=(("Read", {}),)), Fails(400, KEY)) as book:
        at = bench(book, streamed)
        _, said = failed(at.verifier.verify(request_for()))
    kept = b"".join(at.transcripts.records("w", "t"))
    assert (False, False) == (KEY in said, KEY.encode() in kept)
    assert "«secret:verifier_key»".encode() in kept


def test_a_reply_without_usage_costs_what_was_reserved(streamed: bool) -> None:
    with serving(Says(((FINISH, results({})),), usage=None)) as book:
        at = bench(book, streamed, output_tokens=1000)
        outcome = at.verifier.verify(request_for())
    assert isinstance(outcome, VerifierAnswered)
    assert outcome.account is not None
    assert outcome.account.usage is not None
    asked = decode(at.transcripts.records("w", "t")[0])
    assert isinstance(asked, Asked)
    assert (asked.reserved, True) == (outcome.account.usage.tokens, asked.reserved > 1000)


def test_tokens_are_bounded(streamed: bool) -> None:
    with serving(Says((("Read", {}),), usage=(3000, 10)), FINISHES) as book:
        found, said = failed(bench(book, streamed, tokens=3200, output_tokens=100).verifier.verify(request_for()))
    assert (FailureCause.BUDGET, 1) == (found, len(book.asked))
    assert said.startswith("3010 tokens were spent")


def test_the_whole_exchange_is_kept(streamed: bool) -> None:
    with serving(Fails(503), FINISHES) as book:
        at = bench(book, streamed)
        at.verifier.verify(request_for())
    first, missed, _, replied = map(decode, at.transcripts.records("w", "t"))
    assert isinstance(first, Asked)
    assert ("You judge.", "Is it done?") == first.opening[:2]
    assert isinstance(missed, Missed)
    assert Mishap.BUSY is missed.mishap
    assert isinstance(replied, Replied)
    assert FINISH in replied.reply.wire


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "HTTP_PROXY", "ALL_PROXY"])
def test_no_variable_of_the_environment_names_another_judge(monkeypatch: pytest.MonkeyPatch, variable: str, streamed: bool) -> None:
    with serving(FINISHES) as asked, serving() as other:
        monkeypatch.setenv(variable, other.url)
        outcome = bench(asked, streamed).verifier.verify(request_for())
    assert (True, 0) == (isinstance(outcome, VerifierAnswered), len(other.asked))


@pytest.mark.parametrize(
    "spelt",
    ["{url}", "{url}/", "http://LOCALHOST:{port}/v1", "http://name@localhost:{port}/v1", "http://l%6fcalhost:{port}/v1"],
    ids=["plain", "slash", "capitals", "with a name", "escaped"],
)
def test_a_provider_whose_address_comes_from_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch, spelt: str) -> None:
    with serving(FINISHES) as other:
        port = other.url.rsplit(":", 1)[1].removesuffix("/v1")
        monkeypatch.setenv("OPENAI_BASE_URL", spelt.format(url=other.url, port=port))
        at = Bench(LibraryCaller(Model("gpt-5", provider="openai-chat"), KEY))
        found, said = failed(at.verifier.verify(request_for()))
    assert (FailureCause.UNAVAILABLE, 0) == (found, len(other.asked))
    assert "the variable `OPENAI_BASE_URL` names the host of the provider" in said


def test_a_provider_whose_address_is_part_of_a_variable_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:1/v1")
    found, said = failed(Bench(LibraryCaller(Model("m", provider="ollama"), KEY)).verifier.verify(request_for()))
    assert (FailureCause.UNAVAILABLE, True) == (found, "`OLLAMA_BASE_URL`" in said)


@pytest.mark.parametrize(
    ("provider", "said"),
    [("nobody", "there is no provider `nobody`"), ("anthropic", "the provider `anthropic` needs a package that is not installed")],
)
def test_a_provider_that_cannot_be_used_is_unavailable_and_says_why(provider: str, said: str) -> None:
    found, message = failed(Bench(LibraryCaller(Model("m", provider=provider), KEY)).verifier.verify(request_for()))
    assert (FailureCause.UNAVAILABLE, True) == (found, said in message), message
