"""The flows of a Workspace: what is saved, and how selectors resolve."""

import subprocess
import sys

import pytest

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.resources.catalog import builtins
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.limits import NOTE_BYTES_MAX
from stateward.runtime.engine.selectors import Selector, parse_selector
from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Conflict, Damaged, NotCompiled, Revision, SaveAnswer, Saved, Snapshot, Unresolved, Workspace
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
