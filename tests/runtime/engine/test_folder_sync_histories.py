"""Any history of edits on three sides, and of folders brought together with the Workspace: nothing that anybody wrote is lost."""

from collections.abc import MutableMapping

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.folders import (
    FileProblem,
    SourceFolder,
    SyncBase,
    SyncKind,
    SyncOutcome,
    SyncResult,
    SyncStep,
    apply_sync,
    plan_sync,
)
from stateward.runtime.ports import PAGE_MAX, Saved, Workspace
from stateward.runtime.session.chain import digest_of
from stateward.store.memory import MemoryFlowStore
from tests.runtime.engines import NOON, WORKSPACE, TickingClock
from tests.runtime.source_folders import MemoryFolder, source

NAMES = st.sampled_from(["paper", "letter"])
TEXTS = st.sampled_from(["a.", "b.", "c.", "d.\r\n", None])
PEOPLE = st.sampled_from(["ada", "bob"])
SETTLED = {SyncResult.DONE, SyncResult.NOTHING}


def content(name: str, text: str | None) -> bytes:
    return b"half of it" if text is None else source(text, name)


class Folders(RuleBasedStateMachine):
    """Two people with a folder each, and one Workspace that is also changed by itself."""

    def __init__(self) -> None:
        super().__init__()
        store = MemoryFlowStore()
        store.ensure(Workspace(WORKSPACE, "here", NOON))
        self.flows = WorkspaceFlows(store, WORKSPACE, "eve", "stateward 0", TickingClock())
        self.folders: dict[str, SourceFolder] = {}
        self.files: dict[str, MutableMapping[str, bytes | FileProblem]] = {}
        for who in ("ada", "bob"):
            self.folders[who], self.files[who] = self.new_folder(who)
        self.bases: dict[str, dict[str, SyncBase]] = {"ada": {}, "bob": {}}
        self.planned: dict[str, tuple[SyncStep, ...]] = {}
        self.revisions: dict[tuple[str, int], str] = {}

    def new_folder(self, who: str) -> tuple[SourceFolder, MutableMapping[str, bytes | FileProblem]]:
        """Give an empty folder as a sync sees it, and as whoever edits its files does."""
        folder = MemoryFolder()
        return folder, folder.files

    # --- edits ---

    @rule(who=PEOPLE, name=NAMES, text=TEXTS)
    def write_a_file(self, who: str, name: str, text: str | None) -> None:
        self.files[who][name] = content(name, text)

    @rule(who=PEOPLE, name=NAMES)
    def delete_a_file(self, who: str, name: str) -> None:
        self.files[who].pop(name, None)

    @rule(who=PEOPLE, name=NAMES)
    def forget(self, who: str, name: str) -> None:
        self.bases[who].pop(name, None)

    @rule(who=PEOPLE, name=NAMES, revision=st.integers(0, 4), text=TEXTS)
    def remember_wrongly(self, who: str, name: str, revision: int, text: str | None) -> None:
        self.bases[who][name] = SyncBase(revision, digest_of(content(name, text)))

    @rule(name=NAMES, text=TEXTS.filter(bool))
    def save(self, name: str, text: str) -> None:
        row = self.flows.find(name)
        assert isinstance(self.flows.save(name, content(name, text), base=None if row is None else row.last.revision), Saved)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        row = self.flows.find(name)
        if row is not None:
            self.flows.remove(name, base=row.last.revision)

    # --- bringing together ---

    @rule(who=PEOPLE)
    def plan(self, who: str) -> None:
        self.planned[who] = self._plan(who)

    @rule(who=PEOPLE, delete=st.booleans(), ends_after=st.integers(0, 3), remembered=st.booleans())
    def apply_what_was_planned_before_and_end_on_the_way(self, who: str, delete: bool, ends_after: int, remembered: bool) -> None:
        steps = self.planned.pop(who, ())[:ends_after]
        outcomes = self._applied(who, steps, delete)
        for outcome in outcomes if remembered else outcomes[:-1]:
            self._remember(who, outcome)

    @rule(who=PEOPLE, delete=st.booleans())
    def sync(self, who: str, delete: bool) -> None:
        outcomes = self._sync(who, delete)
        assert SyncResult.MOVED not in {each.result for each in outcomes}, outcomes
        for each in outcomes:
            if each.result in SETTLED:
                self._agree(who, each.step.name)
        again = self._sync(who, delete)
        assert SyncResult.DONE not in {each.result for each in again}, again
        assert [each.step.name for each in outcomes if each.result not in SETTLED] == [
            each.step.name for each in again if each.result not in SETTLED
        ]

    def _sync(self, who: str, delete: bool) -> list[SyncOutcome]:
        outcomes = self._applied(who, self._plan(who), delete)
        for outcome in outcomes:
            self._remember(who, outcome)
        return outcomes

    def _plan(self, who: str) -> tuple[SyncStep, ...]:
        before = self._everything()
        steps = plan_sync(dict(self.files[who]), self.bases[who], self.flows)
        assert not isinstance(steps, Refusal), steps
        assert before == self._everything()
        return steps

    def _applied(self, who: str, steps: tuple[SyncStep, ...], delete: bool) -> list[SyncOutcome]:
        before = dict(self.files[who])
        outcomes = list(apply_sync(steps, self.folders[who], self.flows, delete=delete))
        for name, held in before.items():
            assert isinstance(held, bytes)
            assert held == self.files[who].get(name) or self.flows.holding(name, digest_of(held)) is not None
        for each in outcomes:
            left = each.step.kind in {SyncKind.CONFLICT, SyncKind.BROKEN, SyncKind.SKIPPED}
            asked = delete or each.step.kind not in {SyncKind.REMOVED_HERE, SyncKind.REMOVED_THERE}
            assert not (left or not asked) or each.result is SyncResult.LEFT
        return outcomes

    def _remember(self, who: str, outcome: SyncOutcome) -> None:
        if outcome.base is None:
            self.bases[who].pop(outcome.step.name, None)
        else:
            self.bases[who][outcome.step.name] = outcome.base

    def _agree(self, who: str, name: str) -> None:
        there = self.flows.source(name)
        assert self.files[who].get(name) == (None if there is None else there.content)
        assert self.bases[who].get(name) == (None if there is None else SyncBase(there.revision, there.content_digest))

    def _everything(self) -> object:
        flows = [(row, self.flows.history(row.last.slug, PAGE_MAX)) for row in self.flows.flows(PAGE_MAX, removed=True)]
        return flows, {who: dict(files) for who, files in self.files.items()}

    # --- what always holds ---

    @invariant()
    def every_revision_stays(self) -> None:
        now = {
            (row.last.slug, each.revision): each.content_digest
            for row in self.flows.flows(PAGE_MAX, removed=True)
            for each in self.flows.history(row.last.slug, PAGE_MAX)
        }
        assert self.revisions.items() <= now.items()
        self.revisions = now

    @precondition(lambda self: any(self.planned.values()))
    @rule(who=PEOPLE)
    def drop_a_plan(self, who: str) -> None:
        self.planned.pop(who, None)


TestFolders = Folders.TestCase
TestFolders.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
