"""Bringing a folder and a Workspace together: what is planned, what is done, and that nothing is ever lost."""

from collections.abc import Mapping

import pytest

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine import folders
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.folders import (
    FileProblem,
    SyncBase,
    SyncKind,
    SyncOutcome,
    SyncResult,
    SyncStep,
    apply_sync,
    plan_sync,
)
from stateward.runtime.ports import Conflict, NotCompiled, Removed, Saved, Workspace
from stateward.runtime.session.chain import digest_of
from stateward.store.memory import MemoryFlowStore
from tests.runtime.engines import NOON, WORKSPACE, TickingClock
from tests.runtime.source_folders import MemoryFolder, source

K, R = SyncKind, SyncResult


def flows_of(store: MemoryFlowStore, author: str = "ada") -> WorkspaceFlows:
    store.ensure(Workspace(WORKSPACE, "here", NOON))
    return WorkspaceFlows(store, WORKSPACE, author, "stateward 0", TickingClock())


@pytest.fixture
def flows() -> WorkspaceFlows:
    return flows_of(MemoryFlowStore())


class Checkout:
    """A folder, and what is remembered of it."""

    def __init__(self, flows: WorkspaceFlows, **files: bytes | FileProblem) -> None:
        self.flows = flows
        self.folder = MemoryFolder(**files)
        self.bases: dict[str, SyncBase] = {}

    def plan(self) -> tuple[SyncStep, ...]:
        steps = plan_sync(self.folder.files, self.bases, self.flows)
        assert not isinstance(steps, Refusal), steps
        return steps

    def kinds(self) -> Mapping[str, SyncKind]:
        return {step.name: step.kind for step in self.plan()}

    def apply(self, steps: tuple[SyncStep, ...], *, delete: bool = False, note: str = "") -> list[SyncOutcome]:
        done = []
        for outcome in apply_sync(steps, self.folder, self.flows, delete=delete, note=note):
            self.remember(outcome)
            done.append(outcome)
        return done

    def remember(self, outcome: SyncOutcome) -> None:
        if outcome.base is None:
            self.bases.pop(outcome.step.name, None)
        else:
            self.bases[outcome.step.name] = outcome.base

    def sync(self, *, delete: bool = False) -> dict[str, tuple[SyncKind, SyncResult]]:
        return {each.step.name: (each.step.kind, each.result) for each in self.apply(self.plan(), delete=delete)}


def saved(flows: WorkspaceFlows, content: bytes, base: int | None, slug: str = "paper") -> None:
    assert isinstance(flows.save(slug, content, base=base), Saved)


def removed(flows: WorkspaceFlows, base: int, slug: str = "paper") -> None:
    assert isinstance(flows.remove(slug, base=base), Removed)


def current(flows: WorkspaceFlows, slug: str = "paper") -> tuple[int, bytes] | None:
    found = flows.source(slug)
    return None if found is None else (found.revision, found.content)


# --- one side changed ---------------------------------------------------------------------------------------------------------------


def test_a_file_that_nobody_knows_is_kept_as_a_new_flow(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    assert {"paper": (K.NEW_HERE, R.DONE)} == here.sync()
    assert (1, source()) == current(flows)
    assert {"paper": SyncBase(1, digest_of(source()))} == here.bases
    assert {"paper": (K.IN_STEP, R.NOTHING)} == here.sync()


def test_a_flow_that_has_no_file_gets_one(flows: WorkspaceFlows) -> None:
    saved(flows, source("a\r\n"), None)
    here = Checkout(flows)
    assert {"paper": (K.NEW_THERE, R.DONE)} == here.sync()
    assert {"paper": source("a\r\n")} == here.folder.files


def test_a_file_that_changed_is_kept_as_the_next_revision_with_the_note(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files["paper"] = source("more.")
    (outcome,) = here.apply(here.plan(), note="from the folder")
    assert (K.PUSH, R.DONE, SyncBase(2, digest_of(source("more.")))) == (outcome.step.kind, outcome.result, outcome.base)
    revision = flows.source("paper")
    assert revision is not None
    assert (2, source("more."), "from the folder") == (revision.revision, revision.content, revision.note)


def test_a_flow_that_changed_is_written_into_its_file(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    saved(flows, source("more."), 1)
    assert {"paper": (K.PULL, R.DONE)} == here.sync()
    assert ({"paper": source("more.")}, 2) == (here.folder.files, here.bases["paper"].revision)


def test_a_file_that_holds_an_older_revision_is_brought_forward_although_nothing_is_remembered_of_it(flows: WorkspaceFlows) -> None:
    saved(flows, source(), None)
    saved(flows, source("more."), 1)
    saved(flows, source("most."), 2)
    assert {"paper": (K.PULL, R.DONE)} == Checkout(flows, paper=source("more.")).sync()


def test_a_file_that_goes_back_to_an_older_text_is_a_change_as_long_as_nobody_else_changed(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files["paper"] = source("more.")
    here.sync()
    here.folder.files["paper"] = source()
    assert {"paper": (K.PUSH, R.DONE)} == here.sync()
    assert (3, source()) == current(flows)


def test_the_same_change_on_both_sides_is_in_step(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files["paper"] = source("more.")
    saved(flows, source("more."), 1)
    assert {"paper": (K.IN_STEP, R.NOTHING)} == here.sync()
    assert 2 == here.bases["paper"].revision


# --- removing -----------------------------------------------------------------------------------------------------------------------


def test_a_file_that_was_removed_is_removed_there_only_when_that_is_asked_for(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files.clear()
    assert {"paper": (K.REMOVED_HERE, R.LEFT)} == here.sync()
    assert (1, source()) == current(flows)
    assert {"paper": (K.REMOVED_HERE, R.DONE)} == here.sync(delete=True)
    assert (None, {}, ()) == (current(flows), here.bases, here.plan())


def test_a_flow_that_was_removed_is_removed_here_only_when_that_is_asked_for(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    removed(flows, 1)
    assert {"paper": (K.REMOVED_THERE, R.LEFT)} == here.sync()
    assert {"paper": source()} == here.folder.files
    assert {"paper": (K.REMOVED_THERE, R.DONE)} == here.sync(delete=True)
    assert ({}, {}, ()) == (here.folder.files, here.bases, here.plan())


def test_what_was_removed_on_both_sides_is_forgotten_and_comes_back_as_new(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files.clear()
    removed(flows, 1)
    assert {"paper": (K.IN_STEP, R.NOTHING)} == here.sync()
    assert {} == here.bases
    assert isinstance(flows.restore("paper", 1, base=1), Saved)
    assert {"paper": (K.NEW_THERE, R.DONE)} == here.sync()


def test_a_flow_that_was_removed_and_brought_back_there_is_written_into_its_file(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    removed(flows, 1)
    saved(flows, source("again."), 1)
    assert {"paper": (K.PULL, R.DONE)} == here.sync()


# --- both sides changed -------------------------------------------------------------------------------------------------------------


def test_where_both_sides_changed_neither_is_touched_and_the_difference_is_shown(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files["paper"] = source("mine.")
    saved(flows, source("theirs."), 1)
    (step,) = here.plan()
    assert (K.CONFLICT, 2, SyncBase(1, digest_of(source()))) == (step.kind, step.revision, step.base)
    assert step.difference is not None
    assert ("paper revision 2", "paper in the folder") == (step.difference.old, step.difference.new)
    assert '-        instructions = "Write theirs.";\n+        instructions = "Write mine.";\n' in step.difference.text
    for delete in (False, True):
        assert {"paper": (K.CONFLICT, R.LEFT)} == here.sync(delete=delete)
    assert ({"paper": source("mine.")}, (2, source("theirs."))) == (here.folder.files, current(flows))
    assert 1 == here.bases["paper"].revision


def test_a_file_that_nobody_knows_beside_a_flow_of_its_name_is_a_conflict(flows: WorkspaceFlows) -> None:
    saved(flows, source("theirs."), None)
    assert {"paper": (K.CONFLICT, R.LEFT)} == Checkout(flows, paper=source("mine.")).sync()


def test_a_file_that_changed_of_a_flow_that_was_removed_is_a_conflict(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files["paper"] = source("mine.")
    removed(flows, 1)
    (step,) = here.plan()
    assert step.difference is not None
    assert '+        instructions = "Write mine.";\n' in step.difference.text
    assert {"paper": (K.CONFLICT, R.LEFT)} == here.sync(delete=True)


def test_a_flow_that_changed_whose_file_was_removed_is_a_conflict(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files.clear()
    saved(flows, source("theirs."), 1)
    (step,) = here.plan()
    assert step.difference is not None
    assert ("paper revision 1", "paper revision 2") == (step.difference.old, step.difference.new)
    assert {"paper": (K.CONFLICT, R.LEFT)} == here.sync(delete=True)
    assert (2, source("theirs.")) == current(flows)


@pytest.mark.parametrize(
    "wrong", [SyncBase(0, "x"), SyncBase(7, digest_of(b"x")), SyncBase(2**40, digest_of(b"x")), SyncBase(2, digest_of(b"x"))]
)
def test_what_is_remembered_wrongly_leads_to_a_conflict_and_to_no_loss(flows: WorkspaceFlows, wrong: SyncBase) -> None:
    saved(flows, source(), None)
    saved(flows, source("theirs."), 1)
    here = Checkout(flows, paper=source("mine."))
    here.bases["paper"] = wrong
    assert {"paper": (K.CONFLICT, R.LEFT)} == here.sync(delete=True)
    here.folder.files.clear()
    assert {"paper": (K.CONFLICT, R.LEFT)} == here.sync(delete=True)


# --- what cannot be kept ------------------------------------------------------------------------------------------------------------


def test_what_does_not_compile_is_left_with_what_is_wrong_and_the_others_are_done(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, broken=b"nothing", other=source(name="another"), paper=source())
    steps = {step.name: step for step in here.plan()}
    assert (K.BROKEN, K.BROKEN, K.NEW_HERE) == (steps["broken"].kind, steps["other"].kind, steps["paper"].kind)
    assert isinstance(steps["broken"].problem, NotCompiled)
    refusal = steps["other"].problem
    assert isinstance(refusal, Refusal)
    assert RefusalCode.NAME_DIFFERS is refusal.code
    assert {"broken": (K.BROKEN, R.LEFT), "other": (K.BROKEN, R.LEFT), "paper": (K.NEW_HERE, R.DONE)} == here.sync()


def test_a_name_that_cannot_be_a_slug_is_skipped_with_its_reason(flows: WorkspaceFlows) -> None:
    here = Checkout(flows)
    here.folder.files |= {"paper.test": source(), "é": source()}
    assert [("paper.test", K.SKIPPED), ("é", K.SKIPPED)] == [(step.name, step.kind) for step in here.plan()]
    assert FileProblem("`paper.test` cannot be a slug") == here.plan()[0].problem
    assert {"paper.test": (K.SKIPPED, R.LEFT), "é": (K.SKIPPED, R.LEFT)} == here.sync()


def test_a_file_that_cannot_be_read_does_not_count_as_removed(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    here.folder.files["paper"] = FileProblem("permission denied")
    assert {"paper": (K.SKIPPED, R.LEFT)} == here.sync(delete=True)
    assert (1, source()) == current(flows)
    assert 1 == here.bases["paper"].revision


def test_more_than_can_be_brought_together_is_refused(flows: WorkspaceFlows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "SYNC_FLOWS_MAX", 1)
    saved(flows, source(), None)
    assert isinstance(plan_sync({}, {}, flows), tuple)
    too_many = plan_sync({"a": b"", "b": b""}, {}, flows)
    assert isinstance(too_many, Refusal)
    assert (RefusalCode.SYNC_TOO_LARGE, "there are more than 1 files in the folder") == (too_many.code, too_many.message)
    saved(flows, source(name="b"), None, "b")
    assert isinstance(plan_sync({}, {}, flows), Refusal)


# --- what moves meanwhile -----------------------------------------------------------------------------------------------------------


def test_a_file_that_changed_since_it_was_looked_at_is_left_alone(flows: WorkspaceFlows) -> None:
    saved(flows, source(name="gone"), None, "gone")
    saved(flows, source(name="pull"), None, "pull")
    here = Checkout(flows, push=source(name="push"))
    here.sync()
    here.folder.files["push"] = source("mine.", "push")
    saved(flows, source("theirs.", "pull"), 1, "pull")
    removed(flows, 1, "gone")
    steps = here.plan()
    late = {name: source("late.", name) for name in ("gone", "pull", "push")}
    here.folder.files.update(late)
    outcomes = here.apply(steps, delete=True)
    assert [("gone", R.MOVED), ("pull", R.MOVED), ("push", R.MOVED)] == [(each.step.name, each.result) for each in outcomes]
    assert late == here.folder.files
    assert (1, source(name="push")) == current(flows, "push")


def test_a_flow_that_changed_since_it_was_looked_at_is_left_alone(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, back=source(name="back"), gone=source(name="gone"), pull=source(name="pull"), push=source(name="push"))
    here.sync()
    here.folder.files["push"] = source("mine.", "push")
    del here.folder.files["gone"]
    saved(flows, source("theirs.", "pull"), 1, "pull")
    removed(flows, 1, "back")
    steps = here.plan()
    before = dict(here.folder.files)
    saved(flows, source("late.", "pull"), 2, "pull")
    saved(flows, source("late.", "push"), 1, "push")
    saved(flows, source("late.", "gone"), 1, "gone")
    saved(flows, source("late.", "back"), 1, "back")
    outcomes = here.apply(steps, delete=True)
    assert {R.MOVED} == {each.result for each in outcomes}
    assert [None, Conflict, None, Conflict] == [each.problem and type(each.problem) for each in outcomes]
    assert before == here.folder.files
    assert [1, 1, 1, 1] == [here.bases[name].revision for name in ("back", "gone", "pull", "push")]


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_done(flows: WorkspaceFlows) -> None:
    here = Checkout(flows, paper=source())
    here.sync()
    saved(flows, source("theirs."), 1)
    saved(flows, source(name="letter"), None, "letter")
    steps = here.plan()
    here.folder.files["paper"] = FileProblem("no space left on device")
    outcomes = here.apply(steps)
    assert [("letter", R.DONE, None), ("paper", R.FAILED, FileProblem("no space left on device"))] == [
        (each.step.name, each.result, each.problem) for each in outcomes
    ]


@pytest.mark.parametrize("remembered", [True, False])
def test_what_was_done_and_not_remembered_is_in_step(flows: WorkspaceFlows, remembered: bool) -> None:
    here = Checkout(flows, paper=source())
    if remembered:
        here.sync()
        here.folder.files["paper"] = source("more.")
    list(apply_sync(here.plan(), here.folder, flows))  # and the process ends
    assert {"paper": (K.IN_STEP, R.NOTHING)} == here.sync()
