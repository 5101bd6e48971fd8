"""What everything that resolves selectors does (the port `Snapshots`), wherever the Workspace is kept.

A test module for an adapter imports everything here and offers a fixture `kept`: an empty Workspace, HERE, in a store where THERE may be
begun too.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.pipeline import compile_source
from stateward.resources.catalog import builtins
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.ports import FlowStore, NewRevision, Removed, Revision, Saved, Snapshot, Snapshots, Unresolved, Workspace, Workspaces
from stateward.runtime.session.chain import digest_of, time_text
from tests.runtime.engines import TickingClock
from tests.runtime.flows import REVIEW

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HERE = Workspace("0198c0de-0000-7000-8000-00000000000a", "here", NOON)
THERE = Workspace("0198c0de-0000-7000-8000-00000000000b", "there", NOON)
ODD = '{x} {{ %s ${HOME} é 🜁 \\\\ \\" \\t'
SOURCE = """schema_version = 1;
name = "NAME";
initial = "write";
states = {
    write = {
        instructions = "Write TEXT";
        transitions = { ready = { target = "done"; condition = "It is written. TEXT"; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""


@dataclass(frozen=True)
class Kept:
    """A Workspace, what resolves its selectors, and what writes to its store beside that."""

    snapshots: Snapshots
    flows: FlowStore
    workspaces: Workspaces
    stored: Callable[[], object]
    """Gives all that is stored, to be compared."""

    def authority(self, workspace: Workspace = HERE) -> WorkspaceFlows:
        """Give what saves to a Workspace."""
        self.workspaces.ensure(workspace)
        return WorkspaceFlows(self.flows, workspace.id, "ada", "stateward 0", TickingClock())

    def save(self, text: str, base: int | None = None, slug: str = "paper", workspace: Workspace = HERE) -> Revision:
        """Save a source."""
        answer = self.authority(workspace).save(slug, source(text, slug), base=base)
        assert isinstance(answer, Saved), answer
        return answer.revision


def source(text: str, slug: str = "paper") -> bytes:
    return SOURCE.replace("NAME", slug).replace("TEXT", text).encode()


def resolved(kept: Kept, selector: str) -> Snapshot:
    found = kept.snapshots.resolve(selector)
    assert isinstance(found, Snapshot), found
    return found


def unresolved(kept: Kept, selector: str) -> Unresolved:
    found = kept.snapshots.resolve(selector)
    assert isinstance(found, Unresolved), found
    assert found.message
    assert found.help
    return found


# --- flows of the Workspace ---------------------------------------------------------------------------------------------------------


def test_a_flow_resolves_to_its_identity_and_its_definition(kept: Kept) -> None:
    revision = kept.save(f"it. {ODD}\r\n")
    found = resolved(kept, "workspace:paper")
    assert (HERE.id, revision.flow_id, "workspace:paper", 1, revision.content_digest, revision.definition_digest) == (
        found.workspace,
        found.flow_id,
        found.selector,
        found.flow_revision,
        found.content_digest,
        found.definition_digest,
    )
    assert (canonical_bytes(found.definition), digest_of(found.definition_bytes)) == (found.definition_bytes, found.definition_digest)
    assert 'Write it. {x} {{ %s ${HOME} é 🜁 \\ " \t\r\n' == found.definition.state("write").instructions


def test_the_digests_are_those_that_a_compile_of_the_same_bytes_gives_anywhere(kept: Kept) -> None:
    kept.save(ODD)
    compilation = compile_source(source(ODD), name="elsewhere.dcdl", slug="paper")
    found = resolved(kept, "workspace:paper")
    assert (compilation.content_digest, compilation.definition_digest, compilation.definition) == (
        found.content_digest,
        found.definition_digest,
        found.definition,
    )


def test_a_newer_revision_is_what_a_selector_names_from_then_on(kept: Kept) -> None:
    kept.save("it.")
    before = resolved(kept, "workspace:paper")
    later = kept.save("more.", 1)
    after = resolved(kept, "workspace:paper")
    assert (2, later.definition_digest, before.flow_id) == (after.flow_revision, after.definition_digest, after.flow_id)
    assert before.definition_digest != after.definition_digest


def test_a_restored_revision_is_a_new_one_with_the_same_digests(kept: Kept) -> None:
    kept.save("it.")
    before = resolved(kept, "workspace:paper")
    kept.save("more.", 1)
    assert isinstance(kept.authority().restore("paper", 1, base=2), Saved)
    assert replace(before, flow_revision=3) == resolved(kept, "workspace:paper")


def test_a_removed_flow_names_nothing_until_it_is_brought_back(kept: Kept) -> None:
    kept.save("it.")
    before = resolved(kept, "workspace:paper")
    removed = kept.authority().remove("paper", base=1)
    assert isinstance(removed, Removed)
    message = f"flow `workspace:paper` was removed by {removed.act.author} at revision 1 on {time_text(removed.act.created)}"
    told = Unresolved("flow_not_found", message, "bring it back: `stateward flow restore paper 1 --base 1`")
    assert told == unresolved(kept, "workspace:paper")
    kept.save("it.", 1)
    assert replace(before, flow_revision=2) == resolved(kept, "workspace:paper")


def test_a_flow_that_never_was_names_nothing(kept: Kept) -> None:
    assert Unresolved(
        "flow_not_found", "there is no flow `workspace:paper` in this Workspace", "save it with `stateward flow save`"
    ) == unresolved(kept, "workspace:paper")


def test_a_flow_of_another_workspace_is_not_seen(kept: Kept) -> None:
    kept.save("theirs.", slug="letter", workspace=THERE)
    kept.save("theirs.", workspace=THERE)
    ours = kept.save("ours.")
    assert "flow_not_found" == unresolved(kept, "workspace:letter").code
    assert (HERE.id, ours.definition_digest) == (
        resolved(kept, "workspace:paper").workspace,
        resolved(kept, "workspace:paper").definition_digest,
    )


def stored_as(kept: Kept, definition: CompiledFlowDefinition) -> bytes:
    """Store what another compiler made of a source, and give its canonical bytes."""
    canonical, content = canonical_bytes(definition), b"what no compiler of today takes"
    new = NewRevision(
        slug="paper",
        content=content,
        content_digest=digest_of(content),
        definition_digest=digest_of(canonical),
        definition=canonical,
        compiler="a compiler of yesterday",
        author="ada",
        note="",
        created=NOON,
    )
    kept.workspaces.ensure(HERE)
    assert isinstance(kept.flows.save(HERE.id, new, None), Saved)
    return canonical


def test_a_stored_definition_is_never_compiled_again(kept: Kept) -> None:
    canonical = stored_as(kept, REVIEW)
    found = resolved(kept, "workspace:paper")
    assert (REVIEW, canonical, digest_of(canonical)) == (found.definition, found.definition_bytes, found.definition_digest)


def test_a_large_definition_comes_whole(kept: Kept) -> None:
    """Each quotation mark is two bytes in the canonical form, and four in a text that quotes it."""
    first, *others = REVIEW.states
    large = first.model_copy(update={"instructions": '"' * 2_000_000 + "\n" * 1_000_000})
    definition = REVIEW.model_copy(update={"states": (large, *others)})
    canonical = stored_as(kept, definition)
    found = resolved(kept, "workspace:paper")
    assert canonical == found.definition_bytes
    assert definition == found.definition


# --- built-in flows -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", [each.slug for each in builtins()])
def test_a_built_in_flow_resolves_to_what_a_compile_of_it_gives_anywhere(kept: Kept, slug: str) -> None:
    (known,) = (each for each in builtins() if each.slug == slug)
    compilation = compile_source(known.content, name="elsewhere.dcdl", slug=slug)
    found = resolved(kept, f"builtin:{slug}")
    assert (HERE.id, f"builtin:{slug}", f"builtin:{slug}", known.revision) == (
        found.workspace,
        found.flow_id,
        found.selector,
        found.flow_revision,
    )
    assert (compilation.content_digest, compilation.definition_digest, compilation.definition) == (
        found.content_digest,
        found.definition_digest,
        found.definition,
    )
    assert digest_of(found.definition_bytes) == found.definition_digest


def test_a_built_in_flow_and_one_of_the_workspace_of_the_same_slug_are_two(kept: Kept) -> None:
    slug = builtins()[0].slug
    kept.save("ours.", slug=slug)
    assert resolved(kept, f"builtin:{slug}").definition_digest != resolved(kept, f"workspace:{slug}").definition_digest


def test_a_built_in_flow_that_never_was_names_nothing_and_the_help_names_those_there_are(kept: Kept) -> None:
    found = unresolved(kept, "builtin:never")
    assert ("flow_not_found", "there is no flow `builtin:never`") == (found.code, found.message)
    assert f"`builtin:{builtins()[0].slug}`" in found.help


# --- selectors ----------------------------------------------------------------------------------------------------------------------

BAD_SELECTORS = (
    "",
    "paper",
    ":",
    ":paper",
    "workspace",
    "workspace:",
    "workspace:paper ",
    " workspace:paper",
    "Workspace:paper",
    "workspace:paper@1",
    "workspace:paper:1",
    "workspace:a/b",
    "workspace:../paper",
    "workspace:pä",
    "workspace:paper\n",
    "workspace:\0",
    "workspace:\ud800",
    f"workspace:{'x' * 129}",
    "x" * 100_000,
    "file:paper.dcdl",
    "https://flows.example.org/paper",
    "workspace:paper&selector=builtin:single-step",
)


@pytest.mark.parametrize("selector", BAD_SELECTORS, ids=range(len(BAD_SELECTORS)))
def test_what_is_no_selector_names_nothing_and_is_told_how_one_is_written(kept: Kept, selector: str) -> None:
    kept.save("it.")
    found = unresolved(kept, selector)
    assert "bad_selector" == found.code
    assert found.message.endswith("is no selector")
    assert found.help.startswith("write `builtin:")


def test_the_longest_slug_is_one(kept: Kept) -> None:
    slug = "aB-_9" * 25 + "xyz"
    kept.save("it.", slug=slug)
    assert f"workspace:{slug}" == resolved(kept, f"workspace:{slug}").selector


# --- what resolving does ------------------------------------------------------------------------------------------------------------


def test_resolving_writes_nothing_whatever_it_comes_to(kept: Kept) -> None:
    kept.save("it.")
    kept.save("more.", 1)
    kept.save("gone.", slug="gone")
    kept.authority().remove("gone", base=1)
    before = kept.stored()
    selectors = ("workspace:paper", "workspace:gone", "workspace:never", "builtin:single-step", "builtin:never", *BAD_SELECTORS)
    for selector in selectors * 2:
        kept.snapshots.resolve(selector)
    assert before == kept.stored()


def test_resolving_again_gives_the_same(kept: Kept) -> None:
    kept.save("it.")
    for selector in ("workspace:paper", "builtin:single-step", "workspace:never"):
        assert kept.snapshots.resolve(selector) == kept.snapshots.resolve(selector)


def test_threads_resolve_at_once_while_somebody_saves(kept: Kept) -> None:
    kept.save("text 1.")

    def resolve_some(_: int) -> list[tuple[int, str]]:
        found = [resolved(kept, "workspace:paper") for _ in range(5)]
        return [(each.flow_revision, each.definition.state("write").instructions) for each in found]

    with ThreadPoolExecutor(3) as threads:
        running = threads.map(resolve_some, range(3))
        for number in range(2, 6):
            kept.save(f"text {number}.", number - 1)
        seen = {pair for pairs in running for pair in pairs}
    assert seen <= {(number, f"Write text {number}.") for number in range(1, 6)}
    assert 5 == resolved(kept, "workspace:paper").flow_revision
