"""A log that went back behind what is known of it outside the store is looked at, and goes on only when a person accepts that."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.operating import Operated
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import Deleted, RecordKey
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.acts import Rollback
from stateward.runtime.session.entries import Head, Kind
from stateward.runtime.session.payloads import OperatorAct, decode, encode
from stateward.runtime.session.segments import TextSegment
from stateward.store.memory_sessions import MemorySessionStore
from stateward.store.witness import FileWitness
from tests.runtime.engines import AGENT, HOST, PERSON, Desk
from tests.runtime.judgements import MET


class World:
    """A Worker in a witnessed store, and that store as a backup kept it."""

    def __init__(self, folder: Path, *, checkpoint_entries: int = 256) -> None:
        self.said: list[str] = []
        self.witness = FileWitness(folder / "witness", self.said.append)
        self.desk = Desk(actor=AGENT, sessions=MemorySessionStore(witness=self.witness))
        self.worker = self.desk.worker
        self.checkpoint_entries = checkpoint_entries
        self.restart()
        self.desk.record_evidence(b"kept")
        self._backup = list(self.desk.log())

    def restart(self) -> None:
        """Forget everything but store and witness."""
        desk = self.desk
        desk.engine = Engine(
            desk.sessions,
            desk.catalog,
            desk.clock,
            desk.ids,
            DEMONSTRATION,
            leases=desk.leases,
            checkpoint_entries=self.checkpoint_entries,
            witness=self.witness,
        )

    def restore(self) -> Head:
        """Put the backup back; give the head that is lost."""
        lost = self.desk.view.head
        sessions = MemorySessionStore(witness=self.witness)
        sessions._logs = {self.worker: list(self._backup)}
        sessions._workspaces = dict(self.desk.sessions._workspaces)
        sessions._definitions = dict(self.desk.sessions._definitions)
        sessions._keys = {(self.worker, each.key): each.seq for each in self._backup if each.key is not None}
        self.desk.sessions = sessions
        self.restart()
        return lost

    def accept(self, operation: str | None = None) -> Operated:
        """Accept that the log went back."""
        done = self.desk.engine.accept_rollback(self.worker, "the disk died", PERSON, operation)
        assert isinstance(done, Operated), done
        return done


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def code(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


WRITES: dict[str, Callable[[World], object]] = {
    "request": lambda world: world.desk.engine.begin(world.worker, "done", AGENT),
    "submit": lambda world: world.desk.engine.submit(world.worker, (TextSegment("more"),), PERSON),
    "record": lambda world: world.desk.engine.record(world.worker, Kind.NOTE, b"x", AGENT, RecordKey("host", "s", "1")),
    "pause": lambda world: world.desk.engine.operate(world.worker, Verb.PAUSE, "lunch", PERSON),
    "fork": lambda world: world.desk.engine.fork(world.worker, "another way", PERSON),
    "stop": lambda world: world.desk.engine.stop(world.worker, "for today", PERSON),
    "start a run": lambda world: world.desk.engine.start_run(world.worker, "run", HOST),
}


@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_written_to_a_log_that_went_back(world: World, name: str) -> None:
    world.desk.request("go", {"x": MET})
    lost = world.restore()
    before = world.desk.log()
    answer = WRITES[name](world)
    assert isinstance(answer, Refusal)
    expected = f"entry E0000000{lost.seq} is known outside the store, and the log ends at E00000003"
    assert (RefusalCode.ROLLED_BACK, expected, before) == (answer.code, answer.message, world.desk.log())


def test_a_log_that_went_back_can_be_looked_at_and_deleted(world: World) -> None:
    world.desk.request("go", {"x": MET})
    world.restore()
    view = world.desk.view
    assert ("a", True, ()) == (world.desk.flow.state, view.rolled_back, view.rollbacks)
    assert "the log ends at E00000003" in view.read_only
    assert 3 == len(list(world.desk.engine.log(world.worker)))
    assert isinstance(world.desk.engine.delete(world.worker, PERSON), Deleted)


def test_a_log_that_grew_past_what_is_known_of_it_by_another_way_is_refused_too(world: World) -> None:
    world.desk.request("go", {"x": MET})
    lost = world.restore()
    for _ in range(4):
        world.desk.record_evidence(b"other")
    assert world.desk.view.head.seq > lost.seq
    answer = world.desk.engine.begin(world.worker, "done", AGENT)
    assert isinstance(answer, Refusal)
    assert (RefusalCode.ROLLED_BACK, "entry E00000005 is known outside the store with another digest") == (answer.code, answer.message)


def test_an_accepted_rollback_lets_the_log_go_on_and_stands_in_every_later_view(world: World) -> None:
    world.desk.request("go", {"x": MET})
    lost = world.restore()
    done = world.accept()
    expected = Rollback(4, lost, "person ada (assurance none)", "the disk died")
    assert ("E00000004", "accept-rollback") == (done.entry, done.verb)
    assert ("b", (expected,), False, "") == (
        world.desk.request("another way", {"x": MET}).answer.state,
        world.desk.view.rollbacks,
        world.desk.view.rolled_back,
        world.desk.view.read_only,
    )
    assert world.desk.view.head == world.witness.last(world.worker)
    world.restart()
    assert (expected,) == world.desk.view.rollbacks
    entry = world.desk.log()[3]
    act = decode(entry)
    assert isinstance(act, OperatorAct)
    assert (Kind.ROLLBACK_ACCEPTED, f"{lost.seq}:{lost.digest}") == (entry.kind, act.about)


def test_an_accepted_rollback_is_restored_from_checkpoints_and_goes_into_forks(tmp_path: Path) -> None:
    world = World(tmp_path, checkpoint_entries=4)
    world.desk.request("go", {"x": MET})
    world.restore()
    world.accept()
    for number in range(6):
        world.desk.request(f"look {number}", {"z": MET})
    rollbacks = world.desk.view.rollbacks
    fork = world.desk.engine.fork(world.worker, "another way", PERSON)
    assert not isinstance(fork, Refusal)
    world.restart()
    assert 1 == len(rollbacks)
    forked = world.desk.engine.view(fork.worker)
    assert isinstance(forked, WorkerView)
    assert (rollbacks, rollbacks) == (world.desk.view.rollbacks, forked.rollbacks)


def test_accepting_is_one_act_of_a_person_and_only_where_something_is_lost(world: World) -> None:
    assert RefusalCode.NOT_ROLLED_BACK is code(world.desk.engine.accept_rollback(world.worker, "why not", PERSON))
    world.desk.request("go", {"x": MET})
    world.restore()
    assert RefusalCode.OPERATOR_ONLY is code(world.desk.engine.accept_rollback(world.worker, "me", AGENT))
    assert RefusalCode.REASON_BLANK is code(world.desk.engine.accept_rollback(world.worker, " ", PERSON))
    first = world.accept("op-1")
    again = world.accept("op-1")
    assert (first.entry, True) == (again.entry, again.repeated)
    assert RefusalCode.NOT_ROLLED_BACK is code(world.desk.engine.accept_rollback(world.worker, "again", PERSON))


def test_who_died_before_the_witness_was_told_has_accepted_all_the_same(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.desk.request("go", {"x": MET})
    lost = world.restore()
    with monkeypatch.context() as dying:
        dying.setattr(FileWitness, "give_up", lambda *_: None)
        world.accept()
    world.restart()
    assert not world.desk.view.rolled_back
    assert lost == world.witness.last(world.worker)  # looking tells it nothing
    assert "b" == world.desk.request("another way", {"x": MET}).answer.state
    assert world.desk.view.head == world.witness.last(world.worker)


def test_a_log_that_goes_back_again_is_refused_again(world: World) -> None:
    world.desk.request("go", {"x": MET})
    world.restore()
    world.accept()
    world.desk.request("another way", {"x": MET})
    world.restore()
    assert RefusalCode.ROLLED_BACK is code(world.desk.engine.begin(world.worker, "done", AGENT))
    world.accept()
    assert 1 == len(world.desk.view.rollbacks)


def test_what_somebody_else_appended_meanwhile_is_no_rollback(world: World) -> None:
    other = Desk.__new__(Desk)
    other.__dict__.update(world.desk.__dict__)
    stale = world.desk.engine._means.folds.load(world.worker)
    assert stale is not None
    world.desk.record_evidence(b"more")
    assert None is world.desk.engine._means.guard.lost(stale)


def test_a_witness_that_cannot_tell_hinders_nobody(world: World, tmp_path: Path) -> None:
    for path in (tmp_path / "witness").glob("*.head"):
        path.write_text("nonsense", "ascii")
    assert "b" == world.desk.request("go", {"x": MET}).answer.state
    assert world.said


def test_a_checkpoint_without_rollbacks_is_written_as_it_always_was(tmp_path: Path) -> None:
    world = World(tmp_path, checkpoint_entries=2)
    for number in range(3):
        world.desk.request(f"look {number}", {"z": MET})
    checkpoints = [each for each in world.desk.log() if each.kind == Kind.CHECKPOINT]
    assert checkpoints
    for each in checkpoints:
        payload = decode(each)
        assert b'{"v":1,' == each.payload[:7]
        assert payload is not None
        assert each.payload == encode(payload)  # type: ignore[arg-type]  # a checkpoint is what is written
