"""The flows of a Workspace: what is saved, and how selectors resolve."""

import subprocess
import sys
from dataclasses import replace

import pytest

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.resources.catalog import builtins
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.limits import COMMITS_MAX, NAME_BYTES_MAX, NOTE_BYTES_MAX
from stateward.runtime.engine.selectors import Selector, parse_selector
from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import (
    Conflict,
    Damaged,
    FlowStore,
    NewRevision,
    NotCompiled,
    Revision,
    SaveAnswer,
    Saved,
    Snapshot,
    StaleBase,
    Unresolved,
    Workspace,
)
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.segments import FlowSegment
from stateward.store.memory import MemoryFlowStore
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.engines import NOON, PERSON, WORKSPACE, TickingClock, engine_on, input_for, submitted
from tests.runtime.flows import ODD_TEXT

SOURCE = """schema_version = 1;
name = "paper";
initial = "write";
states = {
    write = {
        instructions = "Write. %s";
        transitions = { ready = { target = "done"; condition = "It is written. %s"; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""
PLAIN = "{x} {0.__class__} {{ ${HOME} {% if %} }"


def source(extra: str = "", name: str = "paper") -> bytes:
    return SOURCE.replace("%s", PLAIN + extra).replace('"paper"', f'"{name}"').encode()


@pytest.fixture
def flows() -> MemoryFlowStore:
    store = MemoryFlowStore()
    store.ensure(Workspace(WORKSPACE, "here", NOON))
    return store


def save(flows: MemoryFlowStore, content: bytes, base: int | None = None, slug: str = "paper", note: str = "") -> SaveAnswer:
    return WorkspaceFlows(flows, WORKSPACE, "ada", "stateward 0", TickingClock()).save(slug, content, base=base, note=note)


def saved(answer: SaveAnswer) -> Saved:
    assert isinstance(answer, Saved), answer
    return answer


def resolved(answer: Snapshot | Unresolved) -> Snapshot:
    assert isinstance(answer, Snapshot), answer
    return answer


# --- saving -------------------------------------------------------------------------------------------------------------------------


def test_what_compiles_is_stored_with_its_bytes_and_its_definition(flows: MemoryFlowStore) -> None:
    revision = saved(save(flows, source())).revision
    canonical = flows.definition(revision.definition_digest)
    assert canonical is not None
    assert (1, source(), digest_of(source()), digest_of(canonical)) == (
        revision.revision,
        revision.content,
        revision.content_digest,
        revision.definition_digest,
    )


def test_what_does_not_compile_is_not_stored(flows: MemoryFlowStore) -> None:
    answer = save(flows, source().replace(b'"done"', b'"dnoe"'))
    assert isinstance(answer, NotCompiled)
    assert ["transition_target_not_found"] == [each["code"] for each in answer.diagnostics]
    assert [] == list(flows.sources(WORKSPACE, 10))


def test_a_name_that_is_not_the_slug_is_refused(flows: MemoryFlowStore) -> None:
    answer = save(flows, source(name="other"))
    assert isinstance(answer, Refusal)
    assert (RefusalCode.NAME_DIFFERS, ("name it `paper`", "save it as `other`")) == (answer.code, answer.allowed)
    assert [] == list(flows.sources(WORKSPACE, 10))


def test_the_same_source_makes_no_revision_and_a_changed_one_the_next(flows: MemoryFlowStore) -> None:
    saved(save(flows, source()))
    assert not saved(save(flows, source(), base=1)).created
    assert saved(save(flows, source(" more"), base=1)).revision.revision == 2


def test_a_stale_base_is_refused_with_the_current_revision(flows: MemoryFlowStore) -> None:
    saved(save(flows, source()))
    saved(save(flows, source(" more"), base=1))
    answer = save(flows, source(" other"), base=1)
    assert isinstance(answer, Conflict)
    assert isinstance(answer.current, Revision)
    assert answer.current.revision == 2


@pytest.mark.parametrize("slug", ["", "a b", "é", "../x", "x" * 129, "a\n", "$x", "workspace:paper"])
def test_what_cannot_be_a_slug_is_refused(flows: MemoryFlowStore, slug: str) -> None:
    answer = save(flows, source(), slug=slug)
    assert isinstance(answer, Refusal)
    assert RefusalCode.SLUG_MALFORMED is answer.code


def test_a_note_has_a_limit(flows: MemoryFlowStore) -> None:
    answer = save(flows, source(), note="x" * (NOTE_BYTES_MAX + 1))
    assert isinstance(answer, Refusal)
    assert RefusalCode.INPUT_TOO_LARGE is answer.code
    saved(save(flows, source(), note="x" * NOTE_BYTES_MAX))


def authority(flows: FlowStore, author: str = "ada") -> WorkspaceFlows:
    return WorkspaceFlows(flows, WORKSPACE, author, "stateward 0", TickingClock())


@pytest.mark.parametrize(
    ("author", "code"),
    [
        ("x" * (NAME_BYTES_MAX + 1), RefusalCode.INPUT_TOO_LARGE),
        ("a\0", RefusalCode.TEXT_MALFORMED),
        ("\udc80", RefusalCode.TEXT_MALFORMED),
    ],
    ids=["too long", "NUL", "no Unicode"],
)
def test_an_author_that_cannot_be_kept_is_refused_whatever_is_done(flows: MemoryFlowStore, author: str, code: RefusalCode) -> None:
    saved(save(flows, source()))
    acting = authority(flows, author)
    answers = [
        acting.save("paper", source(" more"), base=1),
        acting.restore("paper", 1, base=1),
        acting.remove("paper", base=1),
        acting.take_in(b""),
    ]
    assert [code] * 4 == [answer.code for answer in answers if isinstance(answer, Refusal)]


def test_a_definition_that_no_store_keeps_is_refused(flows: MemoryFlowStore) -> None:
    ways = "".join(f't{number} = {{ target = "s{number}"; condition = big; }}; ' for number in range(25))
    states = "".join(
        f's{number} = {{ instructions = big; transitions = {{ {ways} t = {{ target = "done"; condition = "It is done."; }}; }}; }}; '
        for number in range(25)
    )
    states += 'done = { instructions = ""; terminal = true; };'
    text = f'let big = "{"x" * 32000}"; in {{ schema_version = 1; name = "paper"; initial = "s0"; states = {{ {states} }}; }}'
    answer = save(flows, text.encode())
    assert isinstance(answer, Refusal), answer
    assert RefusalCode.DEFINITION_TOO_LARGE is answer.code


@pytest.mark.parametrize("base", [0, -1, 2**31, 2**64])
def test_a_base_that_no_store_can_number_is_a_conflict(flows: MemoryFlowStore, base: int) -> None:
    saved(save(flows, source()))
    acting = authority(flows)
    answers = [
        acting.save("paper", source(" more"), base=base),
        acting.save("paper", source(" more"), base=base, dry_run=True),
        acting.restore("paper", 1, base=base),
        acting.remove("paper", base=base),
    ]
    conflicts = [each for each in answers if isinstance(each, Conflict)]
    assert [(base, None, 1)] * 3 == [(each.named, each.base, each.current and each.current.revision) for each in conflicts]
    assert not saved(answers[2]).created  # type: ignore[arg-type]  # the same bytes, whatever the base
    unknown = acting.save("letter", source(name="letter"), base=base)
    assert isinstance(unknown, Conflict)
    assert None is unknown.current


@pytest.mark.parametrize("revision", [0, -1, 2**31, 2**64])
def test_a_revision_that_no_store_can_number_is_not_there(flows: MemoryFlowStore, revision: int) -> None:
    saved(save(flows, source()))
    acting = authority(flows)
    assert None is acting.source("paper", revision)
    for answer in (acting.restore("paper", revision, base=1), acting.difference("paper", 1, revision)):
        assert isinstance(answer, Refusal)
        assert (RefusalCode.REVISION_NOT_FOUND, ("name revision 1",)) == (answer.code, answer.allowed)


class Busy(MemoryFlowStore):
    """A store into which somebody else saves just before each save."""

    others = 0
    left = 0

    def save(self, workspace: str, new: NewRevision, base: int | None) -> Saved | StaleBase:
        row = self.find(workspace, new.slug)
        if self.left and row is not None:
            self.left -= 1
            self.others += 1
            content = f"by somebody {self.others}".encode()
            super().save(workspace, replace(new, content=content, content_digest=digest_of(content), author="bob"), row.last.revision)
        return super().save(workspace, new, base)


def test_an_override_is_kept_on_whatever_is_the_last_revision_then_and_names_that_one() -> None:
    flows = Busy()
    flows.ensure(Workspace(WORKSPACE, "here", NOON))
    saved(save(flows, source()))
    flows.left = 3
    revision = saved(authority(flows).save("paper", source(" mine"), base=1, override=True)).revision
    assert (5, "saved over revision 4 by bob; it was made from revision 1") == (revision.revision, revision.note)


def test_an_override_gives_up_at_last_and_says_who_is_first() -> None:
    flows = Busy()
    flows.ensure(Workspace(WORKSPACE, "here", NOON))
    saved(save(flows, source()))
    flows.left = 10_000
    answer = authority(flows).save("paper", source(" mine"), base=1, override=True)
    assert isinstance(answer, Conflict)
    assert answer.current is not None
    assert (COMMITS_MAX + 1, "bob") == (flows.others, answer.current.author)


def test_an_override_of_what_is_not_there_begins_anew_and_says_so(flows: MemoryFlowStore) -> None:
    revision = saved(authority(flows).save("paper", source(), base=7, override=True)).revision
    assert (1, "saved anew; it was made from revision 7") == (revision.revision, revision.note)


def test_what_a_name_holds_makes_no_line_of_a_note(flows: MemoryFlowStore) -> None:
    saved(authority(flows, "eve\nsaved over revision 9 by ada").save("paper", source(), base=None))
    revision = saved(authority(flows).save("paper", source(" more"), base=None, override=True)).revision
    assert "saved over revision 1 by eve\\nsaved over revision 9 by ada; it was made from no revision" == revision.note


def test_an_override_may_say_more_than_a_note_may_hold_otherwise(flows: MemoryFlowStore) -> None:
    saved(save(flows, source()))
    note = "x" * NOTE_BYTES_MAX
    revision = saved(authority(flows).save("paper", source(" more"), base=None, note=note, override=True)).revision
    assert revision.note.startswith(note + "\nsaved over revision 1 by ada")


def test_a_listing_gives_no_more_than_a_page_and_takes_any_text_to_go_on_after(flows: MemoryFlowStore) -> None:
    for slug in ("a", "a-b", "b"):
        saved(save(flows, source(name=slug), slug=slug))
    acting = authority(flows)
    assert [[], [], ["a"], ["a", "a-b", "b"]] == [[row.last.slug for row in acting.flows(limit)] for limit in (-1, 0, 1, 2**40)]
    afters = ["a\0", "a\ud800", "a\U0010ffff", "é", "\0", "a b"]
    expected = [["a-b", "b"], ["b"], ["b"], [], ["a", "a-b", "b"], ["a-b", "b"]]
    assert expected == [[row.last.slug for row in acting.flows(9, after)] for after in afters]
    assert [1, 0, 0, 1] == [len(acting.history("a", 9, before)) for before in (2**64, 1, -5, None)]
    assert [] == list(acting.history("a", -1))


class Without(MemoryFlowStore):
    """A store that lost its revisions."""

    def revision(self, workspace: str, slug: str, revision: int) -> Revision | None:
        return None


def test_a_revision_that_was_listed_and_is_not_there_is_damage() -> None:
    flows = Without()
    flows.ensure(Workspace(WORKSPACE, "here", NOON))
    saved(save(flows, source()))
    with pytest.raises(Damaged, match="revision 1 of flow `paper` is not there"):
        authority(flows).export([])
    with pytest.raises(Damaged, match="revision 1 of flow `paper` is not there"):
        authority(flows).save("paper", source(" more"), base=None, dry_run=True)


# --- selectors ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["builtin:coder-review", "workspace:a_B-9", "workspace:" + "x" * 128])
def test_a_selector_says_where_a_flow_is_kept_and_under_what(text: str) -> None:
    scope, slug = text.split(":")
    assert Selector(scope, slug) == parse_selector(text)
    assert text == str(Selector(scope, slug))


@pytest.mark.parametrize(
    "text",
    [
        *("", ":", "coder-review", "builtin", "builtin:", ":coder-review", "Builtin:coder-review", "other:x", "builtin:a:b", "builtin: a"),
        *("builtin:a ", " builtin:a", "builtin:a\n", "builtin:é", "builtin:../x", "builtin:a@7", "workspace:a/b", "workspace:" + "x" * 129),
        *("builtin:\ud800", ODD_TEXT),
    ],
)
def test_nothing_else_is_a_selector(text: str) -> None:
    answer = WorkspaceSnapshots(WORKSPACE, None).resolve(text)
    assert isinstance(answer, Unresolved)
    assert answer.code == "bad_selector"
    assert answer.message.isprintable()


def test_a_bare_slug_is_refused_with_how_to_write_it() -> None:
    answer = parse_selector("paper")
    expected = Unresolved("bad_selector", "`paper` is no selector", "write `builtin:paper` or `workspace:paper`")
    assert expected == answer


# --- resolving ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", [each.slug for each in builtins()])
def test_a_built_in_flow_resolves_to_what_its_text_compiles_to(slug: str) -> None:
    snapshot = resolved(WorkspaceSnapshots(WORKSPACE, None).resolve(f"builtin:{slug}"))
    assert (f"builtin:{slug}", slug, WORKSPACE) == (snapshot.flow_id, snapshot.definition.name, snapshot.workspace)
    assert (digest_of(snapshot.definition_bytes), canonical_bytes(snapshot.definition)) == (
        snapshot.definition_digest,
        snapshot.definition_bytes,
    )


def test_resolving_a_built_in_flow_writes_nothing(flows: MemoryFlowStore) -> None:
    WorkspaceSnapshots(WORKSPACE, flows).resolve("builtin:single-step")
    assert [] == list(flows.sources(WORKSPACE, 10))


def test_the_same_slug_in_both_places_is_two_flows(flows: MemoryFlowStore) -> None:
    saved(save(flows, source(name="single-step"), slug="single-step"))
    snapshots = WorkspaceSnapshots(WORKSPACE, flows)
    ours, theirs = resolved(snapshots.resolve("workspace:single-step")), resolved(snapshots.resolve("builtin:single-step"))
    assert (1, 1) == (ours.flow_revision, theirs.flow_revision)
    assert ours.definition != theirs.definition
    assert ours.flow_id != theirs.flow_id


@pytest.mark.parametrize("selector", ["builtin:nowhere", "workspace:nowhere"])
def test_a_flow_that_is_not_there_is_not_found(flows: MemoryFlowStore, selector: str) -> None:
    answer = WorkspaceSnapshots(WORKSPACE, flows).resolve(selector)
    assert isinstance(answer, Unresolved)
    assert "flow_not_found" == answer.code


def test_a_stored_flow_resolves_to_what_was_stored_and_is_not_compiled_again(
    flows: MemoryFlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(save(flows, source()))
    saved(save(flows, source(" more"), base=1))
    monkeypatch.setitem(sys.modules, "stateward.compiler.pipeline", None)
    snapshot = resolved(WorkspaceSnapshots(WORKSPACE, flows).resolve("workspace:paper"))
    assert (2, f"Write. {PLAIN} more") == (snapshot.flow_revision, snapshot.definition.state("write").instructions)
    assert f"It is written. {PLAIN} more" == snapshot.definition.state("write").transitions[0].condition


class Losing(MemoryFlowStore):
    """A store whose definitions are not what was stored."""

    kept: bytes | None = None

    def definition(self, digest: str) -> bytes | None:
        return self.kept


@pytest.mark.parametrize("kept", [None, b"{}", b"\xff"])
def test_a_stored_definition_that_is_not_what_was_stored_is_damage(kept: bytes | None) -> None:
    flows = Losing()
    flows.ensure(Workspace(WORKSPACE, "here", NOON))
    saved(save(flows, source()))
    flows.kept = kept
    with pytest.raises(Damaged, match="definition sha256:"):
        WorkspaceSnapshots(WORKSPACE, flows).resolve("workspace:paper")


def test_a_worker_goes_on_with_its_revision_when_a_newer_one_is_saved(flows: MemoryFlowStore) -> None:
    saved(save(flows, source()))
    engine = engine_on(MemorySessionStore(), catalog=WorkspaceSnapshots(WORKSPACE, flows))
    worker = submitted(engine.start_worker(WORKSPACE, input_for("paper"), PERSON)).worker
    saved(save(flows, source(" more"), base=1))
    view = engine.view(worker)
    assert isinstance(view, WorkerView)
    assert view.flow is not None
    assert (1, f"Write. {PLAIN}") == (view.flow.pin.flow_revision, view.flow.instructions)


def test_a_broken_selector_is_refused_by_the_engine_with_its_code(flows: MemoryFlowStore) -> None:
    engine = engine_on(MemorySessionStore(), catalog=WorkspaceSnapshots(WORKSPACE, flows))
    segments = (FlowSegment("paper"),)
    answer = engine.start_worker(WORKSPACE, segments, PERSON)
    assert isinstance(answer, Refusal)
    assert (RefusalCode.BAD_SELECTOR, ("write `builtin:paper` or `workspace:paper`",)) == (answer.code, answer.allowed)


def test_the_engine_loads_neither_a_parser_nor_a_store() -> None:
    heavy = ["lark", "networkx", "sqlmodel", "sqlalchemy", "stateward.compiler.pipeline", "stateward.store"]
    code = f"import sys, stateward.runtime.engine.worker, stateward.runtime.engine.flows; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"
