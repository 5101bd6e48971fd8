"""Any history of a Workspace: nothing is lost or renumbered, what a trial says is what happens, and a bundle carries all of it."""

from dataclasses import replace
from datetime import datetime

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.ports import PAGE_MAX, BundleConflict, Conflict, Removed, RevisionFacts, Saved, TakenIn, Workspace
from stateward.store.memory import MemoryFlowStore
from tests.runtime.engines import NOON
from tests.runtime.source_folders import source

PLACES = ("0198c0de-0000-7000-8000-00000000000a", "0198c0de-0000-7000-8000-00000000000b")
PLACE = st.sampled_from(PLACES)
SLUG = st.sampled_from(["paper", "letter"])
TEXT = st.sampled_from(["a.", "b.", "c."])
BASE = st.none() | st.integers(0, 6)
AUTHOR = st.sampled_from(["ada", "bob"])


class Still:
    """A clock that shows one moment until it is moved."""

    def __init__(self) -> None:
        self.moment = NOON

    def now(self) -> datetime:
        return self.moment


class Histories(RuleBasedStateMachine):
    """Two Workspaces that are changed, and that give each other bundles."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Still()
        self.stores = {}
        for place in PLACES:
            store = MemoryFlowStore()
            store.ensure(Workspace(place, "", NOON))
            self.stores[place] = store
        self.kept: dict[tuple[str, str, int], RevisionFacts] = {}

    def authority(self, place: str, author: str = "eve") -> WorkspaceFlows:
        return WorkspaceFlows(self.stores[place], place, author, "stateward 0", self.clock)

    @rule(place=PLACE, author=AUTHOR, slug=SLUG, text=TEXT, base=BASE, override=st.booleans())
    def save(self, place: str, author: str, slug: str, text: str, base: int | None, override: bool) -> None:
        flows, content = self.authority(place, author), source(text, slug)
        before = flows.find(slug)
        trial = flows.save(slug, content, base=base, override=override, dry_run=True)
        assert before == flows.find(slug)
        answer = flows.save(slug, content, base=base, override=override)
        self._as_foreseen(trial, answer)
        if isinstance(answer, Saved):
            assert answer.revision == flows.source(slug)
            assert content == answer.revision.content
        else:
            assert isinstance(answer, Conflict)
            assert not override
            assert base != (before.last.revision if before else None)
            assert before == flows.find(slug)

    @rule(place=PLACE, author=AUTHOR, slug=SLUG, revision=st.integers(1, 5), base=st.integers(1, 6), override=st.booleans())
    def restore(self, place: str, author: str, slug: str, revision: int, base: int, override: bool) -> None:
        flows = self.authority(place, author)
        old = flows.source(slug, revision)
        trial = flows.restore(slug, revision, base=base, override=override, dry_run=True)
        answer = flows.restore(slug, revision, base=base, override=override)
        self._as_foreseen(trial, answer)
        assert isinstance(answer, Refusal) == (old is None)
        if isinstance(answer, Saved) and old is not None:
            now = flows.source(slug)
            assert now is not None
            assert (old.content, old.definition_digest, old.compiler) == (now.content, now.definition_digest, now.compiler)

    @rule(place=PLACE, author=AUTHOR, slug=SLUG, base=st.integers(1, 6))
    def remove(self, place: str, author: str, slug: str, base: int) -> None:
        flows = self.authority(place, author)
        acts = flows.acts(slug, PAGE_MAX)
        trial = flows.remove(slug, base=base, dry_run=True)
        assert acts == flows.acts(slug, PAGE_MAX)
        answer = flows.remove(slug, base=base)
        assert trial == answer
        if isinstance(answer, Removed):
            assert None is flows.source(slug)
            assert len(acts) + answer.created == len(flows.acts(slug, PAGE_MAX))

    @rule(start=PLACE, slugs=st.lists(SLUG, max_size=1))
    def give_a_bundle_to_the_other(self, start: str, slugs: list[str]) -> None:
        giving, taking = self.authority(start), self.authority(PLACES[start == PLACES[0]])
        pieces = giving.export(slugs)
        if isinstance(pieces, Refusal):
            assert None is giving.find(slugs[0])
            return
        bundle = b"".join(pieces)
        before = taking.flows(PAGE_MAX, removed=True)
        trial = taking.take_in(bundle, dry_run=True)
        assert before == taking.flows(PAGE_MAX, removed=True)
        answer = taking.take_in(bundle)
        assert trial == answer
        if isinstance(answer, BundleConflict):
            assert before == taking.flows(PAGE_MAX, removed=True)
            return
        assert isinstance(answer, TakenIn)
        for brought in answer.flows:
            there = giving.find(brought.slug)
            assert there is not None
            assert self._carried(giving, brought.slug) == self._carried(taking, brought.slug)[-there.last.revision :]

    def _carried(self, flows: WorkspaceFlows, slug: str) -> list[RevisionFacts]:
        return [replace(each, workspace="", flow_id="") for each in flows.history(slug, PAGE_MAX)]

    @rule()
    def time_passes(self) -> None:
        self.clock.moment = self.clock.moment.replace(microsecond=self.clock.moment.microsecond + 1)

    def _as_foreseen(self, trial: object, answer: object) -> None:
        if isinstance(trial, Saved) and isinstance(answer, Saved) and not trial.revision.flow_id:
            trial = replace(trial, revision=replace(trial.revision, flow_id=answer.revision.flow_id))
        assert trial == answer

    @invariant()
    def nothing_is_lost_or_changed(self) -> None:
        now = {
            (place, row.last.slug, each.revision): each
            for place in PLACES
            for row in self.authority(place).flows(PAGE_MAX, removed=True)
            for each in self.authority(place).history(row.last.slug, PAGE_MAX)
        }
        assert self.kept.items() <= now.items()
        self.kept = now
        for place, slug in {key[:2] for key in now}:
            numbers = sorted(number for where, which, number in now if (where, which) == (place, slug))
            assert list(range(1, len(numbers) + 1)) == numbers


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
