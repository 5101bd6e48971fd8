"""Writes whose answers are lost on the way: between the client and a service stands something that loses them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from socket import create_server, socket

import pytest

from stateward.runtime.ports import PAGE_MAX, ActKind, Conflict, FlowAuthority, OutcomeUnknown, Removed, Saved, TakenIn
from stateward.runtime.remote.address import Address
from stateward.runtime.remote.client import WorkspaceClient
from stateward.runtime.remote.credentials import Access, Token
from stateward.runtime.remote.exchange import Waits
from tests.contracts.authority import bundle_of, kept, source, texts
from tests.contracts.snapshots import HERE, THERE
from tests.remote.asking import SILENCE, Pauses, client_of
from tests.remote.odd_server import OddServer, Request, Step, closes, forwards, hangs, loses, odd_server, resets, says
from tests.remote.services import Running, running, token_of


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "store.db", HERE.id) as started:
        yield started


@pytest.fixture
def between(service: Running) -> Iterator[OddServer]:
    with odd_server(forwards(service.address)) as odd:
        yield odd


@pytest.fixture
def ada(service: Running, between: OddServer) -> Iterator[WorkspaceClient]:
    """Asks through what stands between."""
    with client_of(Access(Address(between.address), service.access("ada").token)) as client:
        yield client


@pytest.fixture
def bob(service: Running) -> Iterator[FlowAuthority]:
    with service.client("bob") as client:
        yield client


def writes(between: OddServer) -> list[str]:
    """Give what was asked that changes something, were it not only tried."""
    return [
        each.method
        for each in between.asked
        if each.method != "GET" and b'"dry_run":true' not in each.body and "dry_run" not in each.target
    ]


LOSSES: dict[str, Callable[[str], Step]] = {
    "closed": loses,
    "reset": lambda upstream: loses(upstream, resets),
    "garbage": lambda upstream: loses(upstream, says(b"garbage", 200)),
    "gateway": lambda upstream: loses(upstream, says(b"<html>", 502, "text/html")),
    "another page": lambda upstream: loses(upstream, says(b"<html>", 200, "text/html")),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_save_that_happened_is_told_whatever_became_of_its_answer(
    service: Running, between: OddServer, ada: WorkspaceClient, loss: str
) -> None:
    between.steps = [LOSSES[loss](service.address), forwards(service.address)]
    answer = ada.save("paper", source(), base=None, note="mine")
    assert isinstance(answer, Saved)
    assert (True, 1, "ada", "mine", source()) == (
        answer.created,
        answer.revision.revision,
        answer.revision.author,
        answer.revision.note,
        answer.revision.content,
    )
    assert [source()] == texts(ada)
    assert ["PUT"] == writes(between)


def test_a_save_whose_answer_never_comes_is_looked_up(service: Running, between: OddServer) -> None:
    between.steps = [loses(service.address, hangs()), forwards(service.address)]
    access = Access(Address(between.address), service.access("ada").token)
    with client_of(access, waits=Waits(silence=SILENCE)) as ada:
        outcome: Saved | OutcomeUnknown
        try:
            answer = ada.save("paper", source(), base=None)
            assert isinstance(answer, Saved)
            outcome = answer
        except OutcomeUnknown as unknown:  # where the machine is so slow that looking it up takes too long as well
            outcome = unknown
    assert ["PUT"] == writes(between)
    assert isinstance(outcome, OutcomeUnknown) or outcome.created


@pytest.mark.parametrize("step", [closes, resets, says(b"<html>", 502, "text/html")], ids=["closed", "reset", "gateway"])
def test_a_save_that_never_arrived_is_unknown_and_not_sent_again(
    service: Running, between: OddServer, ada: WorkspaceClient, step: Step
) -> None:
    between.steps = [step, forwards(service.address)]
    with pytest.raises(OutcomeUnknown) as fault:
        ada.save("paper", source(), base=None)
    assert "paper was not there a moment later, and may still come" in fault.value.message
    assert ["PUT"] == writes(between)
    assert None is ada.find("paper")


def test_a_save_that_can_no_longer_arrive_is_the_conflict_it_would_be(
    service: Running, between: OddServer, ada: WorkspaceClient, bob: FlowAuthority
) -> None:
    kept(bob)

    def somebody_is_quicker(connection: socket, request: Request) -> None:
        kept(bob, source("more."), base=1)

    between.steps = [somebody_is_quicker, forwards(service.address)]
    answer = ada.save("paper", source("mine."), base=1)
    assert isinstance(answer, Conflict)
    assert answer.current is not None
    assert (2, "bob") == (answer.current.revision, answer.current.author)
    assert [source(), source("more.")] == texts(bob)


def test_a_save_is_unknown_where_the_service_is_gone_when_it_is_looked_up(
    service: Running, between: OddServer, ada: WorkspaceClient, bob: FlowAuthority
) -> None:
    between.steps = [loses(service.address), closes]
    with pytest.raises(OutcomeUnknown) as fault:
        ada.save("paper", source(), base=None)
    assert "what became of paper is not known: " in fault.value.message
    assert [source()] == texts(bob)


def test_what_is_only_tried_is_tried_again(service: Running, between: OddServer, ada: WorkspaceClient) -> None:
    between.steps = [closes, loses(service.address), forwards(service.address)]
    answer = ada.save("paper", source(), base=None, dry_run=True)
    assert isinstance(answer, Saved)
    assert None is ada.find("paper")


def test_a_restoring_a_removal_and_a_bundle_that_happened_are_told(
    service: Running, between: OddServer, ada: WorkspaceClient, tmp_path: Path
) -> None:
    kept(ada)
    kept(ada, source("more."), base=1)
    between.steps = [loses(service.address), forwards(service.address)]
    restored = ada.restore("paper", 1, base=2)
    assert isinstance(restored, Saved)
    assert (True, 3, source()) == (restored.created, restored.revision.revision, restored.revision.content)
    between.steps = [loses(service.address), forwards(service.address)]
    removed = ada.remove("paper", base=3, note="old")
    assert isinstance(removed, Removed)
    assert (True, "ada", "old") == (removed.created, removed.act.author, removed.act.note)
    with running(tmp_path / "elsewhere.db", THERE.id) as elsewhere, elsewhere.client("eve") as eve:
        kept(eve, slug="letter")
        bundle = bundle_of(eve)
    between.steps = [loses(service.address), forwards(service.address)]
    taken = ada.take_in(bundle)
    assert isinstance(taken, TakenIn)
    assert [("letter", 1, 1)] == [(each.slug, each.first, each.last) for each in taken.flows]
    assert [ActKind.IMPORTED] == [each.kind for each in ada.acts("letter", PAGE_MAX)]
    assert ["PUT", "PUT", "POST", "DELETE", "POST"] == writes(between)


def test_a_write_of_which_nothing_was_sent_is_made_once_the_service_is_there(tmp_path: Path) -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    store = tmp_path / "store.db"
    access = Access(Address(f"http://127.0.0.1:{port}"), Token(token_of(store, HERE.id, "ada")))
    with ExitStack() as later:

        class Starting(Pauses):
            def __call__(self, seconds: float) -> None:
                if not self.seconds:
                    later.enter_context(running(store, HERE.id, port))
                super().__call__(seconds)

        pauses = Starting()
        with client_of(access, HERE.id, pauses=pauses) as client:
            assert isinstance(client.save("paper", source(), base=None), Saved)
            assert [1.0] == pauses.seconds


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_lost_every_save_that_was_told_is_there_once_and_in_order(
    service: Running, between: OddServer, ada: WorkspaceClient, seed: int
) -> None:
    chance = Random(seed)  # noqa: S311 -- decides what is lost, and nothing else

    def step(connection: socket, request: Request) -> None:
        is_read = request.method == "GET"
        chosen = forwards(service.address) if is_read else chance.choice((forwards(service.address), loses(service.address), closes))
        chosen(connection, request)

    between.steps = [step]
    told: dict[int, bytes] = {}
    for number in range(12):
        row = ada.find("paper")
        content = source(f"text {seed} {number}.")
        try:
            answer = ada.save("paper", content, base=None if row is None else row.last.revision)
        except OutcomeUnknown:
            continue
        assert isinstance(answer, Saved)
        assert answer.created
        told[answer.revision.revision] = content
    assert list(range(1, len(told) + 1)) == sorted(told)
    assert [told[number] for number in sorted(told)] == texts(ada)
