"""Several records at a time, and how far a transcript was taken in: in one commit, each record once, the last cursor found at once."""

import pytest

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.folding import Folds
from stateward.runtime.engine.guard import Guard
from stateward.runtime.engine.host_means import HostMeans
from stateward.runtime.engine.recording import cursor_of, record_all
from stateward.runtime.ports import RECORDS_MAX, Cursor, Damaged, HostRecord, Recorded, RecordKey
from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX
from stateward.runtime.session.entries import Actor, Entry, Kind, NewEntry
from stateward.runtime.session.evidence import is_admissible, is_news
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.engines import AGENT, HOST, Desk

FOUND_LOOKS_MAX = 24


def means(desk: Desk, secrets: Secrets = NO_SECRETS) -> HostMeans:
    """Give what the use cases work with, over the store of a desk; it remembers nothing."""
    sessions = desk.sessions
    return HostMeans(
        sessions=sessions,
        clock=desk.clock,
        ids=desk.ids,
        folds=Folds(sessions),
        checkpoint_entries=16,
        guard=Guard(sessions, None),
        secrets=secrets,
    )


def result(use: str, payload: bytes = b"exit 0", by: str = "") -> HostRecord:
    return HostRecord(Kind.TOOL_RESULT, payload, RecordKey("claude", "s-1", use, "result"), by)


def cursor(offset: int, session: str = "s-1") -> Cursor:
    return Cursor("claude", session, "/home/ada/s-1.jsonl", offset, f"line at {offset}")


def recorded(answer: object) -> Recorded:
    assert isinstance(answer, Recorded), answer
    return answer


def code(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def kinds(desk: Desk) -> list[str]:
    return [each.kind for each in desk.log()[2:]]


def test_records_and_the_cursor_are_one_commit() -> None:
    desk = Desk()
    answer = recorded(record_all(means(desk), desk.worker, (result("u-1"), result("u-2")), HOST, cursor(90)))
    assert (2, desk.sessions.head(desk.worker)) == (answer.new, answer.head)
    assert [Kind.TOOL_RESULT, Kind.TOOL_RESULT, Kind.EXTENSION] == kinds(desk)
    assert cursor(90) == cursor_of(desk.sessions, desk.worker, "claude", "s-1")


def test_what_is_there_is_left_out_whatever_it_holds() -> None:
    desk = Desk()
    recorded(record_all(means(desk), desk.worker, (result("u-1", b"as the hook has it"),), HOST))
    again = record_all(means(desk), desk.worker, (result("u-1", b"as the transcript has it"), result("u-2"), result("u-2", b"twice")), HOST)
    assert 1 == recorded(again).new
    assert [b"as the hook has it", b"exit 0"] == [each.payload for each in desk.log()[2:]]


def test_the_same_batch_again_writes_nothing() -> None:
    desk = Desk()
    first = recorded(record_all(means(desk), desk.worker, (result("u-1"),), HOST, cursor(90)))
    again = recorded(record_all(means(desk), desk.worker, (result("u-1"),), HOST, cursor(90)))
    assert (first.head, 0) == (again.head, again.new)
    assert recorded(record_all(means(desk), desk.worker, (), HOST)).head == first.head


def test_the_cursor_is_of_one_session_and_the_last_one_counts() -> None:
    desk = Desk()
    for offset in (10, 20, 5):  # a file that was rewritten begins again
        recorded(record_all(means(desk), desk.worker, (), HOST, cursor(offset)))
    recorded(record_all(means(desk), desk.worker, (), HOST, cursor(7, "s-2")))
    assert cursor(5) == cursor_of(desk.sessions, desk.worker, "claude", "s-1")
    assert cursor(7, "s-2") == cursor_of(desk.sessions, desk.worker, "claude", "s-2")
    assert cursor_of(desk.sessions, desk.worker, "codex", "s-1") is None
    assert cursor_of(desk.sessions, "nobody", "claude", "s-1") is None


class LookingStore(MemorySessionStore):
    """Counts how often an entry is looked up."""

    looks = 0

    def find(self, worker: str, key: str) -> Entry | None:
        """Look an entry up."""
        self.looks += 1
        return super().find(worker, key)


def test_the_last_cursor_is_found_in_few_looks_however_many_there_were() -> None:
    store = LookingStore()
    desk = Desk(sessions=store)
    using = means(desk)
    for offset in range(1, 1001):
        recorded(record_all(using, desk.worker, (), HOST, cursor(offset)))
    store.looks = 0
    assert cursor(1000) == cursor_of(store, desk.worker, "claude", "s-1")
    assert store.looks <= FOUND_LOOKS_MAX


def test_a_cursor_counts_for_nothing_and_checkpoints_hold_it() -> None:
    desk = Desk()
    using = means(desk)
    for offset in range(1, 40):  # past two checkpoints
        recorded(record_all(using, desk.worker, (result(f"u-{offset}"),), HOST, cursor(offset)))
    cursors = [each for each in desk.log() if each.kind == Kind.EXTENSION]
    assert not any(is_admissible(each) or is_news(each) for each in cursors)
    before = desk.flow
    desk.restart()
    assert (39, before) == (len(cursors), desk.flow)


def test_a_record_of_a_sub_agent_carries_its_id_in_its_actor() -> None:
    desk = Desk()
    recorded(record_all(means(desk), desk.worker, (result("u-1", by="agent-7"), result("u-2")), HOST))
    assert [("agent-7", HOST.actor_class), (HOST.principal, HOST.actor_class)] == [
        (each.actor.principal, each.actor.actor_class) for each in desk.log()[2:]
    ]


def test_secrets_are_in_neither_payload_nor_path() -> None:
    desk = Desk()
    secrets = Secrets({"KEY": "hunter2hunter2"})
    given = Cursor("claude", "s-1", "/home/hunter2hunter2/t.jsonl", 9, "l")
    recorded(record_all(means(desk, secrets), desk.worker, (result("u-1", b"key hunter2hunter2"),), HOST, given))
    assert not any(b"hunter2" in each.payload for each in desk.log())


@pytest.mark.parametrize("actor", [AGENT, Actor(AGENT.actor_class, "http")])
def test_only_a_host_takes_in_a_transcript(actor: Actor) -> None:
    desk = Desk()
    assert RefusalCode.RECORD_NOT_ALLOWED is code(record_all(means(desk), desk.worker, (result("u-1"),), actor, cursor(1)))
    assert [] == kinds(desk)


def test_a_batch_with_one_record_that_may_not_be_writes_nothing() -> None:
    desk = Desk()
    long = "x" * (HEADER_TEXT_BYTES_MAX + 1)
    for bad in (
        HostRecord(Kind.OPERATOR_ACT, b"{}", RecordKey("claude", "s-1", "u-9")),
        HostRecord(Kind.NOTE, b"{}", RecordKey("claude", "s-1", "")),
        result("u-9", by=long),
    ):
        assert isinstance(record_all(means(desk), desk.worker, (result("u-1"), bad), HOST), Refusal)
    for given in (Cursor("claude", "s-1", "p", -1, ""), Cursor("claude", long, "p", 1, ""), Cursor("claude", "s-1", long * 17, 1, "")):
        assert RefusalCode.RECORD_MALFORMED is code(record_all(means(desk), desk.worker, (result("u-1"),), HOST, given))
    many = tuple(result(f"u-{number}") for number in range(RECORDS_MAX + 1))
    assert RefusalCode.RECORD_TOO_LARGE is code(record_all(means(desk), desk.worker, many, HOST))
    assert [] == kinds(desk)


def test_a_cursor_that_is_not_what_was_written_is_damage() -> None:
    desk = Desk()
    recorded(record_all(means(desk), desk.worker, (), HOST, cursor(1)))
    written = desk.log()[-1]
    head = desk.sessions.head(desk.worker)
    assert head is not None
    assert written.key is not None
    forged = written.key.removesuffix("1") + "2"
    desk.sessions.append(desk.worker, head, (NewEntry(Kind.EXTENSION, HOST, desk.clock.now(), b'{"v":1,"record":{}}', forged),), {})
    with pytest.raises(Damaged, match="no record of the domain"):
        cursor_of(desk.sessions, desk.worker, "claude", "s-1")


def test_nobody_takes_in_anything_for_a_worker_that_is_none() -> None:
    assert RefusalCode.WORKER_NOT_FOUND is code(record_all(means(Desk()), "nobody", (result("u-1"),), HOST))
