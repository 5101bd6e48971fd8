"""The chain: its canonical form is for ever, and each way to damage an entry is told."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX, canonical_header, check, link, link_all, time_text
from stateward.runtime.session.entries import GENESIS, PAYLOAD_BYTES_MAX, Actor, ActorClass, Assurance, Entry, Head, NewEntry

WORKER = "0190b5b5-0000-7000-8000-000000000001"
TIME = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
PERSON = Actor(ActorClass.PERSON, "terminal", "ada", Assurance.TTY)
FIRST = NewEntry("session_started", PERSON, TIME, b'{"one": 1}')
SECOND = NewEntry("tool_result", Actor(ActorClass.ENGINE, "in_process"), TIME, b"", "attempt:7")


def head_of(entry: Entry) -> Head:
    return Head(entry.seq, entry.digest)


def test_the_canonical_header_of_version_1_is_these_bytes_for_ever() -> None:
    entry = link(WORKER, GENESIS, FIRST)
    expected = (
        b'{"actor":{"assurance":"tty","channel":"terminal","class":"person","host_session":null,"principal":"ada"},'
        b'"key":null,"kind":"session_started",'
        b'"payload":"sha256:770c944b96f26495f8320261a42506867ea30295910dce811479075bfbd35089",'
        b'"previous":"sha256:0000000000000000000000000000000000000000000000000000000000000000",'
        b'"seq":1,"time":"2026-01-02T03:04:05.000006Z","v":1,"worker":"0190b5b5-0000-7000-8000-000000000001"}'
    )
    assert expected == canonical_header(entry)


def test_the_digests_of_two_linked_entries_are_these_for_ever() -> None:
    first, second = link_all(WORKER, GENESIS, (FIRST, SECOND))
    expected = (
        "sha256:a4b25d4b09b67f6ad12cf3ffe5f6067967f67cc12e359dbfe79c4f5eb91b8422",
        "sha256:bca8affc0ce2d106195f47e1dd8d3afc9ce585a28fb46aefa038acdcb3c9d020",
    )
    assert expected == (first.digest, second.digest)
    assert (first.digest, 2) == (second.previous, second.seq)


def test_an_entry_with_a_host_session_and_a_key_has_this_header_for_ever() -> None:
    host = Actor(ActorClass.HOST, "hook", "claude", Assurance.NONE, "s-1")
    entry = link(WORKER, Head(41, "sha256:" + "a" * 64), NewEntry("note", host, TIME, "é\n".encode(), 'k"é'))
    expected = (
        '{"actor":{"assurance":"none","channel":"hook","class":"host","host_session":"s-1","principal":"claude"},'
        '"key":"k\\"é","kind":"note",'
        '"payload":"sha256:edd3a863872a04239eb29ad4bc12fc892b3d4ae57cc7e786a3697816f8e141c2",'
        '"previous":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",'
        '"seq":42,"time":"2026-01-02T03:04:05.000006Z","v":1,"worker":"0190b5b5-0000-7000-8000-000000000001"}'
    )
    assert expected.encode() == canonical_header(entry)


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), "2026-12-31T23:59:59.999999Z"),
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00.000000Z"),
        (datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2025-12-31T22:00:00.000000Z"),
        (datetime(9, 1, 1, tzinfo=UTC), "0009-01-01T00:00:00.000000Z"),
    ],
)
def test_a_time_is_written_in_utc_with_six_digits(time: datetime, expected: str) -> None:
    assert expected == time_text(time)


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="without an offset"):
        link(WORKER, GENESIS, replace(FIRST, time=TIME.replace(tzinfo=None)))


def test_the_time_of_an_entry_is_the_one_its_header_holds() -> None:
    elsewhere = replace(FIRST, time=TIME.astimezone(timezone(timedelta(hours=5, minutes=30))))
    assert link(WORKER, GENESIS, FIRST) == link(WORKER, GENESIS, elsewhere)
    assert TIME.isoformat() == link(WORKER, GENESIS, elsewhere).time.isoformat()


@pytest.mark.parametrize("part", ["kind", "key", "worker", "principal", "channel", "host_session"])
@pytest.mark.parametrize(
    ("text", "why"), [("\ud800", "no Unicode"), ("a\0b", "holds a NUL"), ("é" * (HEADER_TEXT_BYTES_MAX // 2) + "x", "over the limit")]
)
def test_a_header_text_that_is_no_unicode_or_too_long_is_refused(part: str, text: str, why: str) -> None:
    worker, new = WORKER, FIRST
    changes: dict[str, Any] = {part: text}
    if part == "worker":
        worker = text
    elif part in {"kind", "key"}:
        new = replace(new, **changes)
    else:
        new = replace(new, actor=replace(PERSON, **changes))
    with pytest.raises(ValueError, match=why):
        link(worker, GENESIS, new)


def test_header_texts_and_payloads_of_exactly_their_limit_are_accepted() -> None:
    key = "k" * HEADER_TEXT_BYTES_MAX
    entry = link(WORKER, GENESIS, replace(FIRST, key=key, payload=bytes(PAYLOAD_BYTES_MAX)))
    assert check(entry, GENESIS) is None
    with pytest.raises(ValueError, match="over the limit"):
        link(WORKER, GENESIS, replace(FIRST, payload=bytes(PAYLOAD_BYTES_MAX + 1)))


def test_what_was_linked_passes_the_check() -> None:
    first, second = link_all(WORKER, GENESIS, (FIRST, SECOND))
    found = [check(first, GENESIS), check(second, head_of(first))]
    assert found == [None, None]


SAID = {
    "version": ("its version is 2, this program knows version 1", {"version": 2}),
    "number": ("its number is 3, expected 2", {"seq": 3}),
    "previous": ("it does not follow the entry before it", {"previous": "sha256:" + "1" * 64}),
    "payload": ("its payload is not what was written", {"payload": b"other"}),
    "payload digest": ("its payload is not what was written", {"payload_digest": "sha256:" + "1" * 64}),
    "worker": ("its header is not what was written", {"worker": "0190b5b5-0000-7000-8000-000000000002"}),
    "kind": ("its header is not what was written", {"kind": "note"}),
    "key": ("its header is not what was written", {"key": None}),
    "time": ("its header is not what was written", {"time": TIME + timedelta(microseconds=1)}),
    "actor": ("its header is not what was written", {"actor": PERSON}),
    "digest": ("its header is not what was written", {"digest": "sha256:" + "1" * 64}),
}


@pytest.mark.parametrize(("expected", "change"), SAID.values(), ids=SAID.keys())
def test_each_part_of_an_entry_is_under_the_chain(expected: str, change: dict[str, Any]) -> None:
    first, second = link_all(WORKER, GENESIS, (FIRST, SECOND))
    assert expected == check(replace(second, **change), head_of(first))


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(TEXTS, TEXTS, TEXTS, st.none() | TEXTS, st.datetimes(timezones=st.just(UTC)), st.integers(0, 2**53 - 2))
def test_the_canonical_header_is_the_rfc_8785_form_of_its_members(
    worker: str, kind: str, principal: str, key: str | None, time: datetime, seq: int
) -> None:
    actor = Actor(ActorClass.HOST, principal, principal, Assurance.SEPARATED, key)
    entry = link(worker, Head(seq, worker[:99]), NewEntry(kind, actor, time, b"", key))
    canonical = canonical_header(entry)
    assert canonical == rfc8785.dumps(json.loads(canonical))


@given(st.binary(max_size=64), st.binary(max_size=64), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8))
def test_different_entries_have_different_digests(one: bytes, other: bytes, key: str) -> None:
    a = link(WORKER, GENESIS, replace(FIRST, payload=one, key=key))
    b = link(WORKER, GENESIS, replace(FIRST, payload=other, key=key))
    assert (one == other) == (a.digest == b.digest)
