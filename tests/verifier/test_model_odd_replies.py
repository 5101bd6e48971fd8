"""Replies of a form that nobody foresaw: each is a failed verification with its cause, and leaves a transcript that can be read."""

import copy
import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from stateward.runtime.core.events import FailureCause
from stateward.runtime.ports import VerifierFailed
from stateward.runtime.verifier.model import TRIES_MAX, ModelBounds
from stateward.runtime.verifier.model_calls import LibraryCaller
from stateward.runtime.verifier.model_settings import Model
from stateward.runtime.verifier.transcript import Transcript
from tests.contracts.verifiers import request_for
from tests.openai_server.server import Fails, Says, Sends, Step, events, serving
from tests.verifier.boxes import Bench

READS = Says((("Read", {"path": "a.txt"}),))
GONE = object()
ODD: tuple[object, ...] = (None, 5, "x", [], {}, -1, 1e300, 10**30, GONE)


def paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield here
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in members:
        yield from paths(each, (*here, name))


def with_odd(value: Any, path: tuple[Any, ...], odd: object) -> Any:
    """A JSON value with something odd in one place."""
    if not path:
        return odd
    changed = copy.deepcopy(value)
    place = changed
    for each in path[:-1]:
        place = place[each]
    if odd is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = odd
    return changed


def judged(step: Step, streamed: bool, **bounds: Any) -> tuple[FailureCause, int]:
    """Let one reply be judged by; give the cause, and how often it was asked for. There is a turn for it, and no time for a second try."""
    with serving(*[step] * TRIES_MAX) as book:
        caller = LibraryCaller(Model("judge-1", url=book.url, streamed=streamed), "sk-0123456789")
        at = Bench(caller, bounds=ModelBounds(**{"turns": 1, "call_seconds": 30.0, **bounds}))
        outcome = at.verifier.verify(request_for())
    assert isinstance(outcome, VerifierFailed), outcome
    assert outcome.account is not None
    assert outcome.account.transcript_digest == Transcript(at.transcripts, "w", "t").digest
    return outcome.cause, len(book.asked)


EXPECTED = {FailureCause.MALFORMED, FailureCause.BUDGET, FailureCause.UNAVAILABLE, FailureCause.TRUNCATED}


@pytest.mark.parametrize("path", list(paths(READS.body({"model": "m"})))[1:], ids=str)
def test_a_reply_with_something_odd_in_one_place_is_no_verdict_and_no_crash(path: tuple[Any, ...]) -> None:
    body = READS.body({"model": "judge-1"})
    for odd in ODD:
        cause, asked = judged(Sends(json.dumps(with_odd(body, path, odd)).encode()), streamed=False)
        assert (cause in EXPECTED, 1) == (True, asked), odd


CHUNKS = list(READS.chunks({"model": "judge-1"}))


@pytest.mark.parametrize("path", [each for each in paths(CHUNKS) if len(each) > 1], ids=str)
def test_a_streamed_reply_with_something_odd_in_one_place_is_no_verdict_and_no_crash(path: tuple[Any, ...]) -> None:
    for odd in ODD:
        body = events(with_odd(CHUNKS, path, odd)) + b"data: [DONE]\n\n"
        cause, _ = judged(Sends(body, "text/event-stream"), streamed=True)
        assert cause in EXPECTED, odd


@pytest.mark.parametrize("streamed", [False, True])
def test_a_reply_that_is_nested_without_end_is_malformed(streamed: bool) -> None:
    deep = b"[" * 100_000
    body = b"data: " + deep + b"\n\n" if streamed else deep
    cause, _ = judged(Sends(body, "text/event-stream" if streamed else "application/json"), streamed)
    assert FailureCause.MALFORMED is cause


@pytest.mark.parametrize("arguments", ["[" * 100_000, "null", "5", '"x"', "[]", '{"path": "a", "path": "b"}', "NaN", "", "\ud800"])
@pytest.mark.parametrize("streamed", [False, True])
def test_arguments_that_are_none_are_told_to_the_model(arguments: str, streamed: bool) -> None:
    cause, asked = judged(Says((("Read", arguments),)), streamed, turns=2)
    assert (cause in EXPECTED, True) == (True, 1 <= asked <= 2)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_reply_that_could_grow_is_not_unpacked(streamed: bool) -> None:
    chunks = events(READS.chunks({"model": "judge-1"})) + b"data: [DONE]\n\n"
    body = chunks if streamed else json.dumps(READS.body({"model": "judge-1"})).encode()
    kind = "text/event-stream" if streamed else "application/json"
    assert FailureCause.BUDGET is judged(Sends(body, kind), streamed)[0]  # it is a reply, and there is no further turn
    packed = gzip.compress(body + b" " * 50_000_000)
    cause, _ = judged(Sends(packed, kind, (("content-encoding", "gzip"),)), streamed, reply_bytes=1_000_000)
    assert FailureCause.MALFORMED is cause


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_is_not_followed_so_nobody_else_is_given_the_key(status: int) -> None:
    with serving() as other:
        judged(Fails(status, headers=(("location", f"{other.url}/chat/completions"),)), streamed=False)
    assert [] == other.keys
