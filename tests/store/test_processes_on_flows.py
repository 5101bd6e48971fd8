"""Many processes on the flows of one Workspace, wherever it lies: whatever they do at once, it is as if one came after the other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stateward.runtime.ports import Brought, FlowHistory
from stateward.store.database import open_store
from tests.contracts.flows import HERE, THERE, draft, history
from tests.store.children import LONG, barrier, bring_flows, change_one_flow, child, exit_statuses, pipe

CHANGERS, CHANGES = 6, 60 if LONG else 9
BRINGERS = 6


def told_by(actions: Sequence[tuple[Any, tuple[Any, ...]]]) -> list[Any]:
    """Run each in a process of its own, all at once; give what they tell."""
    start, pipes = barrier(len(actions)), [pipe() for _ in actions]
    processes = [child(action, *given, start, telling) for (action, given), (_, telling) in zip(actions, pipes, strict=True)]
    for _, telling in pipes:
        telling.close()  # so that a process that ended without a word is heard of
    told = [hearing.recv() for hearing, _ in pipes]
    assert [0] * len(actions) == exit_statuses(processes)
    return told


def begun(place: Path | str) -> None:
    with open_store(place, write=True, create=True) as store:
        for workspace in (HERE, THERE):
            store.workspaces.ensure(workspace)


def test_whatever_is_saved_removed_and_brought_at_once_is_all_there_once(place: Path | str) -> None:
    begun(place)
    told = told_by([(change_one_flow, (place, f"changer-{number}", CHANGES)) for number in range(CHANGERS)])
    done = [each for theirs in told for each in theirs]
    assert CHANGERS * CHANGES == len(done) == len(set(done))
    with open_store(place, write=False) as store:
        revisions = {each.revision: each.content_digest for each in store.flows.history(HERE.id, "paper", 500)}
        acts = {each.number: each.note for each in store.flows.acts(HERE.id, "paper", 500)}
    assert list(range(len(revisions), 0, -1)) == list(revisions)
    assert list(range(len(acts), 0, -1)) == list(acts)
    assert revisions == {number: sign for what, number, sign in done if what == "revision"}
    assert {(number, sign) for what, number, sign in done if what == "act"} <= set(acts.items())


def test_of_processes_that_bring_the_same_flows_at_once_one_does(place: Path | str) -> None:
    begun(place)
    flows = [history(*(b"%d" % number for number in range(20)), slug=slug) for slug in ("paper", "plan")]
    told = told_by([(bring_flows, (place, HERE, flows))] * BRINGERS)
    new, nothing = [Brought(each.slug, 1, 20) for each in flows], [Brought(each.slug, 21, 20) for each in flows]
    assert sorted([new, *[nothing] * (BRINGERS - 1)], key=repr) == sorted(told, key=repr)
    with open_store(place, write=False) as store:
        assert [1, 1] == [len(store.flows.acts(HERE.id, each.slug, 10)) for each in flows]


def with_definitions_of_its_own(slug: str, revisions: int) -> FlowHistory:
    return FlowHistory(slug, tuple(draft(slug, b"%d" % number, f'["{slug}", {number}]'.encode()) for number in range(revisions)))


def test_two_workspaces_that_take_in_the_same_definitions_in_another_order_both_do(place: Path | str) -> None:
    begun(place)
    flows = [with_definitions_of_its_own(f"flow-{number}", 30) for number in range(8)]
    told = told_by([(bring_flows, (place, HERE, flows)), (bring_flows, (place, THERE, flows[::-1]))])
    assert [[Brought(each.slug, 1, 30) for each in order] for order in (flows, flows[::-1])] == told
