"""What every SessionStore does.

A test module for an adapter imports everything here and offers a fixture `sessions` that gives an empty store.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from stateward.runtime.ports import Appended, Committed, Deleted, Duplicate, Moved, SessionStore, WorkerRow
from stateward.runtime.session.chain import digest_of, link_all, redaction_key
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Assurance, Entry, Head, Kind, NewEntry

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
AGENT = Actor(ActorClass.AGENT, "terminal")
WORKER = "0198c0de-0000-7000-8000-000000000001"
OTHER = "0198c0de-0000-7000-8000-000000000002"
THIRD = "0198c0de-0000-7000-8000-000000000003"
WORKSPACE = "0198c0de-0000-7000-8000-00000000000a"


def entry(payload: bytes = b"{}", key: str | None = None, kind: str = Kind.TOOL_RESULT, time: datetime = NOON) -> NewEntry:
    return NewEntry(kind=kind, actor=AGENT, time=time, payload=payload, key=key)


def begun(sessions: SessionStore, *entries: NewEntry, worker: str = WORKER, workspace: str = WORKSPACE) -> Head:
    return head_of(sessions.create(worker, workspace, entries or (entry(b"start"),), {}))


def head_of(answer: Appended) -> Head:
    assert isinstance(answer, Committed), answer
    return answer.head


def read(sessions: SessionStore, worker: str = WORKER, after: int = 0, upto: int | None = None) -> list[Entry]:
    return list(sessions.entries(worker, after, upto))


def payloads(sessions: SessionStore, worker: str = WORKER) -> list[bytes]:
    return [each.payload for each in sessions.entries(worker)]


def test_a_log_begins_with_its_first_entries_linked_into_one_chain(sessions: SessionStore) -> None:
    first = (entry(b"one", kind=Kind.SESSION_STARTED), entry(b"two", "s-1", Kind.USER_INPUT))
    answer = sessions.create(WORKER, WORKSPACE, first, {})
    expected = link_all(WORKER, GENESIS, first)
    assert Committed(Head(2, expected[-1].digest)) == answer
    assert list(expected) == read(sessions)
    assert Head(2, expected[-1].digest) == sessions.head(WORKER)


def test_an_append_follows_the_head_and_gives_the_new_one(sessions: SessionStore) -> None:
    first, later = (entry(b"one"),), (entry(b"two"), entry(b"three"))
    head = begun(sessions, *first)
    assert 3 == head_of(sessions.append(WORKER, head, later)).seq
    assert list(link_all(WORKER, GENESIS, first + later)) == read(sessions)


def test_what_is_read_is_what_was_written_in_every_field(sessions: SessionStore) -> None:
    person = Actor(ActorClass.PERSON, "façade", "ada «1»", Assurance.TTY, "host-session-7")
    written = (
        NewEntry("a_kind_of_tomorrow", person, NOON, b"", "clé-1"),
        NewEntry(Kind.EXTENSION, Actor(ActorClass.ENGINE, "in_process"), NOON.replace(microsecond=0), b"\x00\xff\xfe not text", None),
        NewEntry(Kind.TOOL_RESULT, Actor(ActorClass.POLICY, ""), datetime(1, 1, 1, tzinfo=UTC), b'{"n": 1.0, "s": "\\ud800"}', None),
        NewEntry(Kind.TOOL_RESULT, AGENT, datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), b"p" * 300_000, None),
    )
    begun(sessions, *written)
    assert list(link_all(WORKER, GENESIS, written)) == read(sessions)


def test_a_time_given_with_another_offset_is_read_as_the_same_moment_in_utc(sessions: SessionStore) -> None:
    begun(sessions, entry(time=NOON.astimezone(timezone(timedelta(hours=-3)))))
    assert [(NOON, timedelta(0))] == [(each.time, each.time.utcoffset()) for each in read(sessions)]


def test_who_lost_the_race_writes_nothing_and_is_told_the_head(sessions: SessionStore) -> None:
    start = begun(sessions)
    won = head_of(sessions.append(WORKER, start, (entry(b"won"),)))
    assert Moved(won) == sessions.append(WORKER, start, (entry(b"lost"),), {digest_of(b"lost"): b"lost"})
    assert [b"start", b"won"] == payloads(sessions)
    assert None is sessions.definition(digest_of(b"lost"))


@pytest.mark.parametrize("expected", [GENESIS, Head(1, digest_of(b"another")), Head(2, digest_of(b"later"))])
def test_a_head_that_never_was_is_a_head_that_moved(sessions: SessionStore, expected: Head) -> None:
    start = begun(sessions)
    assert Moved(start) == sessions.append(WORKER, expected, (entry(b"lost"),))
    assert [b"start"] == payloads(sessions)


def test_a_worker_that_exists_is_not_created_again(sessions: SessionStore) -> None:
    start = begun(sessions)
    assert Moved(start) == sessions.create(WORKER, OTHER, (entry(b"again"),), {digest_of(b"again"): b"again"})
    assert [b"start"] == payloads(sessions)
    assert None is sessions.definition(digest_of(b"again"))
    assert [] == list(sessions.workers(OTHER, 10))


def test_nothing_is_appended_to_a_worker_that_does_not_exist(sessions: SessionStore) -> None:
    assert Moved(GENESIS) == sessions.append(WORKER, GENESIS, (entry(),))
    assert Moved(GENESIS) == sessions.append(WORKER, Head(1, digest_of(b"")), (entry(),))
    assert None is sessions.head(WORKER)


def test_a_key_is_written_once_and_answered_with_where_it_is(sessions: SessionStore) -> None:
    head = begun(sessions, entry(b"start"), entry(b"first", "attempt-1"))
    assert Duplicate("attempt-1", 2) == sessions.append(WORKER, head, (entry(b"again", "attempt-1"),))
    assert [b"start", b"first"] == payloads(sessions)


def test_a_key_that_is_there_is_answered_before_a_head_that_moved(sessions: SessionStore) -> None:
    start = begun(sessions)
    head_of(sessions.append(WORKER, start, (entry(b"first", "attempt-1"),)))
    assert Duplicate("attempt-1", 2) == sessions.append(WORKER, start, (entry(b"again", "attempt-1"),))
    assert Duplicate("attempt-1", 2) == sessions.create(WORKER, WORKSPACE, (entry(b"again", "attempt-1"),), {})


def test_of_several_entries_all_are_written_or_none(sessions: SessionStore) -> None:
    head = begun(sessions, entry(b"start", "k"))
    assert Duplicate("k", 1) == sessions.append(WORKER, head, (entry(b"new", "new"), entry(b"again", "k")))
    assert None is sessions.find(WORKER, "new")
    assert head == sessions.head(WORKER)
    assert 3 == head_of(sessions.append(WORKER, head, (entry(b"new", "new"), entry(b"newer", "newer")))).seq


def test_another_worker_may_use_the_same_key(sessions: SessionStore) -> None:
    begun(sessions, entry(b"ours", "k"))
    begun(sessions, entry(b"theirs", "k"), worker=OTHER)
    found = sessions.find(OTHER, "k")
    assert found is not None
    assert (OTHER, b"theirs") == (found.worker, found.payload)


def test_an_entry_is_found_by_its_key(sessions: SessionStore) -> None:
    begun(sessions, entry(b"one"), entry(b"two", "k"), entry(b"three"))
    assert read(sessions)[1] == sessions.find(WORKER, "k")
    assert None is sessions.find(WORKER, "nobody's")
    assert None is sessions.find(OTHER, "k")


@pytest.mark.parametrize("size", [256 * 1024, 256 * 1024 + 1, 1024 * 1024, 16 * 1024 * 1024])
def test_a_large_payload_is_read_as_it_was_written(sessions: SessionStore, size: int) -> None:
    large = bytes(range(256)) * (size // 256) + b"!" * (size % 256)
    begun(sessions, entry(b"before"), entry(large, "large"), entry(b"after"))
    assert [b"before", large, b"after"] == payloads(sessions)
    found = sessions.find(WORKER, "large")
    assert found is not None
    assert large == found.payload


def test_a_payload_over_the_limit_is_refused(sessions: SessionStore) -> None:
    head = begun(sessions)
    with pytest.raises(ValueError, match="over the limit"):
        sessions.append(WORKER, head, (entry(b"p" * (16 * 1024 * 1024 + 1)),))
    assert head == sessions.head(WORKER)


def test_the_same_large_payload_is_recorded_as_often_as_it_occurs(sessions: SessionStore) -> None:
    large = b"p" * 300_000
    begun(sessions, entry(large), entry(large))
    begun(sessions, entry(large), worker=OTHER)
    assert [large, large] == payloads(sessions)
    assert [large] == payloads(sessions, OTHER)


FORK = Head(41, digest_of(b"of another log"))


def test_a_log_may_go_on_from_an_entry_of_another(sessions: SessionStore) -> None:
    first, later = (entry(b"one", "k"), entry(b"two")), (entry(b"three"),)
    head = head_of(sessions.create(WORKER, WORKSPACE, first, {}, FORK))
    assert 44 == head_of(sessions.append(WORKER, head, later)).seq
    expected = list(link_all(WORKER, FORK, first + later))
    assert [42, 43, 44] == [each.seq for each in expected]
    assert expected == read(sessions)
    assert expected == read(sessions, after=41)
    assert expected[1:] == read(sessions, after=42)
    assert expected[:1] == read(sessions, upto=42)
    assert [] == read(sessions, upto=41)
    assert expected[0] == sessions.find(WORKER, "k")
    assert [WorkerRow(WORKER, WORKSPACE, NOON, Head(44, expected[-1].digest))] == list(sessions.workers(WORKSPACE, 10))
    assert Moved(head_of(Committed(Head(44, expected[-1].digest)))) == sessions.create(WORKER, WORKSPACE, first[1:], {}, FORK)


@pytest.mark.parametrize("kind", ["checkpoint", Kind.TOOL_RESULT, "a_kind_of_tomorrow"])
def test_the_latest_entry_of_a_kind_is_given(sessions: SessionStore, kind: str) -> None:
    begun(sessions, entry(b"start", kind="another"), entry(b"one", kind=kind), entry(b"two", kind=kind), entry(b"end", kind="another"))
    begun(sessions, entry(b"theirs", kind="another"), worker=OTHER)
    assert read(sessions)[2] == sessions.latest(WORKER, kind)
    assert None is sessions.latest(OTHER, kind)
    assert None is sessions.latest(THIRD, kind)


def test_a_deleted_log_is_gone_and_its_id_is_never_used_again(sessions: SessionStore) -> None:
    head = begun(sessions, entry(b"one", "k", kind="checkpoint"), entry(b"p" * 300_000))
    assert Deleted(head) == sessions.delete(WORKER, head, NOON)
    assert (None, None, None, []) == (
        sessions.head(WORKER),
        sessions.find(WORKER, "k"),
        sessions.latest(WORKER, "checkpoint"),
        read(sessions),
    )
    assert [] == list(sessions.workers(WORKSPACE, 10))
    assert Moved(head) == sessions.create(WORKER, WORKSPACE, (entry(b"again"),), {})
    assert Moved(GENESIS) == sessions.append(WORKER, head, (entry(b"again"),))
    assert Moved(GENESIS) == sessions.append(WORKER, GENESIS, (entry(b"again"),))
    assert [] == read(sessions)


def test_deleting_what_was_deleted_at_that_head_gives_the_same_answer(sessions: SessionStore) -> None:
    head = begun(sessions)
    assert Deleted(head) == sessions.delete(WORKER, head, NOON)
    assert Deleted(head) == sessions.delete(WORKER, head, NOON + timedelta(days=1))
    assert Moved(head) == sessions.delete(WORKER, Head(2, head.digest), NOON)


def test_a_log_that_grew_is_not_deleted(sessions: SessionStore) -> None:
    start = begun(sessions)
    grown = head_of(sessions.append(WORKER, start, (entry(b"two"),)))
    assert Moved(grown) == sessions.delete(WORKER, start, NOON)
    assert Moved(GENESIS) == sessions.delete(OTHER, start, NOON)
    assert [b"start", b"two"] == payloads(sessions)


def test_deleting_a_log_takes_nothing_from_another(sessions: SessionStore) -> None:
    ours, large, definition = b"{}", b"p" * 300_000, b'{"pinned":1}'
    head = head_of(sessions.create(WORKER, WORKSPACE, (entry(ours, "k"), entry(large)), {digest_of(definition): definition}))
    theirs = head_of(sessions.create(OTHER, WORKSPACE, (entry(ours, "k"), entry(large)), {digest_of(definition): definition}))
    sessions.delete(WORKER, head, NOON)
    assert [ours, large] == payloads(sessions, OTHER)
    assert definition == sessions.definition(digest_of(definition))
    assert 3 == head_of(sessions.append(OTHER, theirs, (entry(large),))).seq
    assert [ours, large, large] == payloads(sessions, OTHER)


def redaction(seq: int, left: bytes) -> NewEntry:
    return NewEntry(Kind.REDACTED, AGENT, NOON, b"because", redaction_key(seq, left))


@pytest.mark.parametrize("size", [10, 400_000], ids=["inline", "beside"])
def test_a_payload_that_is_redacted_is_another_one_under_the_digests_of_before(sessions: SessionStore, size: int) -> None:
    head = begun(sessions, entry(b"start"), entry(b"s" * size, "k-1"), entry(b"s" * size))
    before = read(sessions)
    after = head_of(sessions.redact(WORKER, head, redaction(2, b"masked"), 2, b"masked"))
    log = read(sessions)
    assert replace(before[1], payload=b"masked", redacted=True) == log[1]
    assert [before[0], before[2]] == [log[0], log[2]]
    assert (4, Kind.REDACTED, after, sessions.head(WORKER)) == (log[3].seq, log[3].kind, Head(4, log[3].digest), after)
    assert (log[1], log[1], log[3]) == (
        sessions.find(WORKER, "k-1"),
        read(sessions, after=1, upto=2)[0],
        sessions.latest(WORKER, Kind.REDACTED),
    )
    assert 5 == head_of(sessions.append(WORKER, after, (entry(b"more"),))).seq


def test_a_payload_may_be_redacted_again_and_only_the_last_of_what_is_left_is_there(sessions: SessionStore) -> None:
    head = begun(sessions, entry(b"one two"))
    head = head_of(sessions.redact(WORKER, head, redaction(1, b"* two"), 1, b"* two"))
    head_of(sessions.redact(WORKER, head, redaction(1, b"* *"), 1, b"* *"))
    assert [b"* *", b"because", b"because"] == payloads(sessions)


def test_who_lost_the_race_to_redact_changes_nothing(sessions: SessionStore) -> None:
    head = begun(sessions, entry(b"secret"))
    later = head_of(sessions.append(WORKER, head, (entry(b"more"),)))
    assert Moved(later) == sessions.redact(WORKER, head, redaction(1, b"*"), 1, b"*")
    assert [b"secret", b"more"] == payloads(sessions)
    head_of(sessions.redact(WORKER, later, redaction(1, b"*"), 1, b"*"))
    assert Duplicate(redaction(1, b"*").key or "", 3) == sessions.redact(WORKER, later, redaction(1, b"*"), 1, b"*")


def test_a_redacted_log_can_be_deleted(sessions: SessionStore) -> None:
    head = begun(sessions, entry(b"secret"))
    head = head_of(sessions.redact(WORKER, head, redaction(1, b"*"), 1, b"*"))
    assert Deleted(head) == sessions.delete(WORKER, head, NOON)


def test_a_part_of_a_log_can_be_read(sessions: SessionStore) -> None:
    begun(sessions, *(entry(str(number).encode()) for number in range(1, 8)))
    everything = read(sessions)
    assert everything[2:] == read(sessions, after=2)
    assert everything[2:5] == read(sessions, after=2, upto=5)
    assert everything[:1] == read(sessions, upto=1)
    assert everything == read(sessions, upto=99)
    assert [] == read(sessions, after=7)
    assert [] == read(sessions, after=5, upto=5)


def test_a_worker_that_does_not_exist_has_no_head_and_no_entries(sessions: SessionStore) -> None:
    assert None is sessions.head(WORKER)
    assert [] == read(sessions)


def test_logs_do_not_see_each_other(sessions: SessionStore) -> None:
    ours, theirs = begun(sessions), begun(sessions, worker=OTHER)
    head_of(sessions.append(OTHER, theirs, (entry(b"theirs"),)))
    assert ours == sessions.head(WORKER)
    assert [b"start"] == payloads(sessions)
    assert [b"start", b"theirs"] == payloads(sessions, OTHER)


def test_workers_are_listed_by_id_page_by_page_with_their_heads(sessions: SessionStore) -> None:
    third = begun(sessions, entry(time=NOON + timedelta(hours=3)), worker=THIRD)
    first = begun(sessions, entry(time=NOON), entry(time=NOON + timedelta(hours=1)), worker=WORKER)
    elsewhere = begun(sessions, worker=OTHER, workspace="elsewhere")
    listed = [WorkerRow(WORKER, WORKSPACE, NOON, first), WorkerRow(THIRD, WORKSPACE, NOON + timedelta(hours=3), third)]
    assert listed == list(sessions.workers(WORKSPACE, 10))
    assert listed[:1] == list(sessions.workers(WORKSPACE, 1))
    assert listed[1:] == list(sessions.workers(WORKSPACE, 1, after=WORKER))
    assert [] == list(sessions.workers(WORKSPACE, 1, after=THIRD))
    assert [WorkerRow(OTHER, "elsewhere", NOON, elsewhere)] == list(sessions.workers("elsewhere", 10))


def test_definitions_are_stored_with_the_entries_that_pin_them_and_once(sessions: SessionStore) -> None:
    one, two = b'{"one":1}', b'{"two":2}'
    head = head_of(sessions.create(WORKER, WORKSPACE, (entry(),), {digest_of(one): one}))
    head_of(sessions.append(WORKER, head, (entry(),), {digest_of(one): one, digest_of(two): two}))
    assert (one, two) == (sessions.definition(digest_of(one)), sessions.definition(digest_of(two)))
    assert None is sessions.definition(digest_of(b"nobody's"))


@pytest.mark.parametrize(
    "entries",
    [(), (entry(key="k"), entry(key="k")), (entry(time=NOON.replace(tzinfo=None)),), (entry(key="\udc80"),), (entry(key="a\0b"),)],
    ids=["nothing", "one key twice", "naive time", "no Unicode", "NUL"],
)
def test_what_can_never_be_an_append_is_refused(sessions: SessionStore, entries: tuple[NewEntry, ...]) -> None:
    head = begun(sessions)
    with pytest.raises(ValueError):
        sessions.append(WORKER, head, entries)
    assert head == sessions.head(WORKER)


def test_threads_that_append_to_one_log_at_once_make_one_unbroken_chain(sessions: SessionStore) -> None:
    begun(sessions)

    def append_five(thread: int) -> None:
        left = 5
        while left:
            head = sessions.head(WORKER)
            assert head is not None
            if isinstance(sessions.append(WORKER, head, (entry(b"x", f"{thread}:{left}"),)), Committed):
                left -= 1

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(append_five, range(4)))
    everything = read(sessions)
    assert list(range(1, 22)) == [each.seq for each in everything]
    assert {f"{thread}:{left}" for thread in range(4) for left in range(1, 6)} == {each.key for each in everything} - {None}
