"""What every FlowAuthority answers, wherever the Workspace is kept.

A test module for an adapter imports everything here and offers three fixtures: `authority`, that of an empty Workspace, where `ada` acts;
`second`, that of the same Workspace, where `bob` acts; and `elsewhere`, that of another empty Workspace, where `eve` acts. Values are
compared by what anybody sees of them; of times only their order is known.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC

import pytest

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.resources.catalog import builtin
from stateward.runtime.core.refusal import RefusalCode
from stateward.runtime.ports import (
    PAGE_MAX,
    ActKind,
    Conflict,
    Difference,
    FlowAuthority,
    NotCompiled,
    Removed,
    RevisionFacts,
    Saved,
    Snapshot,
    Unresolved,
)
from stateward.runtime.session.chain import digest_of
from tests.contracts.answers import given, hidden, kept, refused, source, texts
from tests.contracts.authority_bundles import *  # noqa: F403 -- a part of this contract
from tests.contracts.authority_modules import *  # noqa: F403 -- a part of this contract

# --- saving -------------------------------------------------------------------------------------------------------------------------


def test_a_source_is_kept_as_revision_1_with_its_bytes_its_digests_and_its_author(authority: FlowAuthority) -> None:
    content = source("a façade.\r\n")
    revision = kept(authority, content, note="first — é")
    assert (authority.workspace, "paper", 1, content, digest_of(content), "ada", "first — é") == (
        revision.workspace,
        revision.slug,
        revision.revision,
        revision.content,
        revision.content_digest,
        revision.author,
        revision.note,
    )
    assert UTC == revision.created.tzinfo
    assert revision == authority.source("paper") == authority.source("paper", 1)


def test_a_save_on_the_last_revision_is_the_next_one_and_keeps_the_older(authority: FlowAuthority, second: FlowAuthority) -> None:
    first = kept(authority)
    later = kept(second, source("more."), base=1)
    assert (2, "bob", first.flow_id) == (later.revision, later.author, later.flow_id)
    assert first.created <= later.created
    assert (later, first) == (authority.source("paper"), authority.source("paper", 1))


@pytest.mark.parametrize("base", [None, 1, 2, 7])
def test_the_same_bytes_make_no_revision_whatever_the_base(authority: FlowAuthority, second: FlowAuthority, base: int | None) -> None:
    kept(authority)
    later = kept(authority, source("more."), base=1)
    assert Saved(later, created=False) == second.save("paper", source("more."), base=base, note="again")
    assert 2 == len(authority.history("paper", PAGE_MAX))


def test_a_stale_save_writes_nothing_and_gives_both_revisions_and_what_changed_between_them(
    authority: FlowAuthority, second: FlowAuthority
) -> None:
    first = kept(authority)
    later = kept(second, source("more."), base=1)
    conflict = given(Conflict, authority.save("paper", source("other."), base=1))
    assert ("paper", 1, first, later, None) == (conflict.slug, conflict.named, conflict.base, conflict.current, conflict.removed)
    changed = given(Difference, conflict.difference)
    assert ("paper revision 1", "paper revision 2", False) == (changed.old, changed.new, changed.cut)
    assert '\n-        instructions = "Write it.";\n+        instructions = "Write more.";\n' in changed.text
    assert later == authority.source("paper")
    assert 2 == len(authority.history("paper", PAGE_MAX))


@pytest.mark.parametrize("base", [None, 7])
def test_a_save_without_a_base_that_ever_was_is_compared_with_the_last_revision(authority: FlowAuthority, base: int | None) -> None:
    first = kept(authority)
    conflict = given(Conflict, authority.save("paper", source("other."), base=base))
    assert (base, None, first) == (conflict.named, conflict.base, conflict.current)
    changed = given(Difference, conflict.difference)
    assert "paper revision 1" == changed.old
    assert '\n-        instructions = "Write it.";\n+        instructions = "Write other.";\n' in changed.text


def test_a_base_for_a_slug_that_nobody_saved_is_a_conflict_with_nothing(authority: FlowAuthority) -> None:
    conflict = given(Conflict, authority.save("paper", source(), base=3))
    assert (3, None, None, None) == (conflict.named, conflict.base, conflict.current, conflict.difference)
    assert None is authority.find("paper")


def test_overriding_keeps_it_on_the_last_revision_and_says_so_in_the_note(authority: FlowAuthority, second: FlowAuthority) -> None:
    kept(authority)
    kept(second, source("more."), base=1)
    answer = given(Saved, authority.save("paper", source("other."), base=1, note="mine", override=True))
    assert (3, "mine\nsaved over revision 2 by bob; it was made from revision 1") == (answer.revision.revision, answer.revision.note)
    assert [source(), source("more."), source("other.")] == texts(authority)
    without = given(Saved, second.save("paper", source("final."), base=None, override=True))
    assert "saved over revision 3 by ada; it was made from no revision" == without.revision.note


def test_overriding_where_nothing_is_overridden_leaves_the_note_alone(authority: FlowAuthority) -> None:
    assert "mine" == given(Saved, authority.save("paper", source(), base=None, note="mine", override=True)).revision.note
    assert "" == given(Saved, authority.save("paper", source("more."), base=1, override=True)).revision.note


def test_what_does_not_compile_is_not_kept_and_is_told_as_compile_tells_it(authority: FlowAuthority) -> None:
    answer = given(NotCompiled, authority.save("paper", source().replace(b'"done"', b'"dnoe"'), base=None))
    assert ["transition_target_not_found"] == [each["code"] for each in answer.diagnostics]
    assert [("flows/paper.dcdl", 7)] == [
        (each["primary"]["file"], each["primary"]["start"]["line"]) for each in answer.diagnostics
    ]  # fmt: skip
    assert None is authority.find("paper")


def test_a_source_that_is_no_text_does_not_compile(authority: FlowAuthority) -> None:
    answer = given(NotCompiled, authority.save("paper", b"\xff\x00", base=None))
    assert ["source_not_utf8"] == [each["code"] for each in answer.diagnostics]


def test_a_name_that_is_not_the_slug_is_refused(authority: FlowAuthority) -> None:
    refusal = refused(authority.save("paper", source(name="other"), base=None), RefusalCode.NAME_DIFFERS)
    assert ("name it `paper`", "save it as `other`") == refusal.allowed
    assert [] == list(authority.flows(PAGE_MAX, removed=True))


@pytest.mark.parametrize("slug", ["a b", "é", "x" * 129, "$x", "workspace:paper", "a.test"])
def test_what_cannot_be_a_slug_is_refused(authority: FlowAuthority, slug: str) -> None:
    refused(authority.save(slug, source(), base=None), RefusalCode.SLUG_MALFORMED)
    refused(authority.remove(slug, base=1), RefusalCode.SLUG_MALFORMED)
    refused(authority.restore(slug, 1, base=1), RefusalCode.SLUG_MALFORMED)
    refused(authority.export((slug,)), RefusalCode.SLUG_MALFORMED)
    assert (None, None, None, []) == (
        authority.find(slug),
        authority.source(slug),
        authority.source(slug, 1),
        list(authority.history(slug, 1)),
    )


@pytest.mark.parametrize(
    ("note", "code"),
    [
        ("x" * 4097, RefusalCode.INPUT_TOO_LARGE),
        ("é" * 2049, RefusalCode.INPUT_TOO_LARGE),
        ("a\0b", RefusalCode.TEXT_MALFORMED),
        ("\ud800", RefusalCode.TEXT_MALFORMED),
    ],
    ids=["too long", "too long in bytes", "NUL", "half a surrogate pair"],
)
def test_a_note_that_cannot_be_kept_is_refused_whatever_is_done(authority: FlowAuthority, note: str, code: RefusalCode) -> None:
    refused(authority.save("paper", source(), base=None, note=note), code)
    kept(authority)
    refused(authority.restore("paper", 1, base=1, note=note), code)
    refused(authority.remove("paper", base=1, note=note), code)
    assert 1 == len(authority.history("paper", PAGE_MAX))
    kept(authority, source("more."), base=1, note="x" * 4096)


def test_trying_a_save_says_what_would_be_and_writes_nothing(authority: FlowAuthority, second: FlowAuthority) -> None:
    trial = given(Saved, authority.save("paper", source(), base=None, dry_run=True))
    assert (True, 1, "ada", source()) == (trial.created, trial.revision.revision, trial.revision.author, trial.revision.content)
    assert None is authority.find("paper")
    given(NotCompiled, authority.save("paper", b"nothing", base=None, dry_run=True))
    refused(authority.save("paper", source(name="other"), base=None, dry_run=True), RefusalCode.NAME_DIFFERS)
    first = kept(authority)
    assert Saved(first, created=False) == authority.save("paper", source(), base=None, dry_run=True)
    assert 2 == given(Saved, authority.save("paper", source("more."), base=1, dry_run=True)).revision.revision
    assert first == given(Conflict, authority.save("paper", source("more."), base=None, dry_run=True)).current
    forced = given(Saved, second.save("paper", source("more."), base=None, override=True, dry_run=True))
    assert "saved over revision 1 by ada; it was made from no revision" == forced.revision.note
    assert first == authority.source("paper")
    assert 1 == len(authority.history("paper", PAGE_MAX))


def test_threads_that_save_one_slug_at_once_number_it_without_a_gap_and_whoever_loses_learns_who_won(
    authority: FlowAuthority, second: FlowAuthority
) -> None:
    kept(authority)

    def save_three(writer: int) -> list[int]:
        acting, made, base = (authority, second)[writer % 2], list[int](), 1
        while len(made) < 3:
            answer = acting.save("paper", source(f"{writer}, {len(made)}."), base=base)
            if isinstance(answer, Saved):
                base = answer.revision.revision
                made.append(base)
            else:
                winner = given(Conflict, answer).current
                assert winner is not None
                assert winner.revision > base
                base = winner.revision
        return made

    with ThreadPoolExecutor(4) as threads:
        made = [number for numbers in threads.map(save_three, range(4)) for number in numbers]
    assert list(range(2, 14)) == sorted(made)
    assert 13 == len(set(texts(authority)))


# --- restoring ----------------------------------------------------------------------------------------------------------------------


def test_restoring_makes_an_old_revision_current_as_a_new_one_with_its_bytes_and_its_definition(
    authority: FlowAuthority, second: FlowAuthority
) -> None:
    first = kept(authority, source("é\r\n"))
    kept(authority, source("more."), base=1)
    answer = given(Saved, second.restore("paper", 1, base=2, note="back"))
    assert (True, 3, "bob", "back") == (answer.created, answer.revision.revision, answer.revision.author, answer.revision.note)
    assert (first.content, first.content_digest, first.definition_digest, first.compiler) == (
        answer.revision.content,
        answer.revision.content_digest,
        answer.revision.definition_digest,
        answer.revision.compiler,
    )
    assert answer.revision == authority.source("paper")


def test_restoring_without_a_note_says_what_was_restored(authority: FlowAuthority) -> None:
    kept(authority)
    kept(authority, source("more."), base=1)
    assert "restored from revision 1" == given(Saved, authority.restore("paper", 1, base=2)).revision.note


def test_restoring_the_current_revision_changes_nothing(authority: FlowAuthority) -> None:
    first = kept(authority)
    assert Saved(first, created=False) == authority.restore("paper", 1, base=1)


def test_restoring_on_a_stale_base_is_a_conflict_and_can_be_overridden(authority: FlowAuthority, second: FlowAuthority) -> None:
    first = kept(authority)
    kept(authority, source("more."), base=1)
    third = kept(second, source("other."), base=2)
    conflict = given(Conflict, authority.restore("paper", 1, base=2))
    assert (2, third) == (conflict.named, conflict.current)
    assert given(Difference, conflict.difference).text
    trial = given(Saved, authority.restore("paper", 1, base=2, override=True, dry_run=True))
    assert (4, third) == (trial.revision.revision, authority.source("paper"))
    answer = given(Saved, authority.restore("paper", 1, base=2, override=True))
    assert (4, first.content) == (answer.revision.revision, answer.revision.content)
    assert "restored from revision 1\nsaved over revision 3 by bob; it was made from revision 2" == answer.revision.note


def test_restoring_what_is_not_there_is_refused(authority: FlowAuthority) -> None:
    refused(authority.restore("paper", 1, base=1), RefusalCode.FLOW_NOT_FOUND)
    kept(authority)
    refused(authority.restore("paper", 2, base=1), RefusalCode.REVISION_NOT_FOUND)


# --- removing -----------------------------------------------------------------------------------------------------------------------


def test_a_removed_flow_is_hidden_and_keeps_its_revisions(authority: FlowAuthority, second: FlowAuthority) -> None:
    first = kept(authority)
    removed = given(Removed, second.remove("paper", base=1, note="not needed"))
    assert (True, ActKind.REMOVED, 1, "bob", "not needed") == (
        removed.created,
        removed.act.kind,
        removed.act.revision,
        removed.act.author,
        removed.act.note,
    )
    assert (None, first) == (authority.source("paper"), authority.source("paper", 1))
    row = authority.find("paper")
    assert row is not None
    assert (first.facts, removed.act) == (row.last, row.removed)
    assert ([], [row]) == (list(authority.flows(PAGE_MAX)), list(authority.flows(PAGE_MAX, removed=True)))
    assert [removed.act] == list(authority.acts("paper", PAGE_MAX))
    assert "flow_not_found" == given(Unresolved, authority.resolve("workspace:paper")).code


def test_removing_again_changes_nothing(authority: FlowAuthority) -> None:
    kept(authority)
    first = hidden(authority, 1)
    assert replace(first, created=False) == authority.remove("paper", base=1)
    assert 1 == len(authority.acts("paper", PAGE_MAX))


def test_removing_on_a_stale_base_is_a_conflict_and_hides_nothing(authority: FlowAuthority, second: FlowAuthority) -> None:
    first = kept(authority)
    later = kept(second, source("more."), base=1)
    conflict = given(Conflict, authority.remove("paper", base=1))
    assert (1, first, later) == (conflict.named, conflict.base, conflict.current)
    assert given(Difference, conflict.difference).text
    assert later == authority.source("paper")


def test_trying_a_removal_says_what_would_be_and_hides_nothing(authority: FlowAuthority) -> None:
    first = kept(authority)
    trial = given(Removed, authority.remove("paper", base=1, note="why", dry_run=True))
    assert (True, 1, "ada", "why") == (trial.created, trial.act.revision, trial.act.author, trial.act.note)
    given(Conflict, authority.remove("paper", base=2, dry_run=True))
    assert (first, []) == (authority.source("paper"), list(authority.acts("paper", PAGE_MAX)))


def test_removing_what_never_was_is_refused(authority: FlowAuthority) -> None:
    refused(authority.remove("paper", base=1), RefusalCode.FLOW_NOT_FOUND)
    refused(authority.remove("paper", base=1, dry_run=True), RefusalCode.FLOW_NOT_FOUND)


def test_saving_the_same_bytes_on_the_last_revision_of_a_removed_flow_brings_it_back_as_a_new_one(authority: FlowAuthority) -> None:
    first = kept(authority)
    hidden(authority, 1)
    trial = given(Saved, authority.save("paper", source(), base=1, dry_run=True))
    assert (True, 2) == (trial.created, trial.revision.revision)
    back = kept(authority, source(), base=1)
    assert (2, first.content_digest, first.flow_id) == (back.revision, back.content_digest, back.flow_id)
    assert back == authority.source("paper")
    assert 1 == len(authority.acts("paper", PAGE_MAX))


def test_restoring_brings_a_removed_flow_back(authority: FlowAuthority) -> None:
    kept(authority)
    kept(authority, source("more."), base=1)
    hidden(authority, 2)
    back = given(Saved, authority.restore("paper", 2, base=2))
    assert (True, 3, source("more.")) == (back.created, back.revision.revision, back.revision.content)
    assert back.revision == authority.source("paper")


def test_a_save_that_knows_nothing_of_a_removed_flow_is_a_conflict_that_says_who_removed_it(
    authority: FlowAuthority, second: FlowAuthority
) -> None:
    first = kept(authority)
    removed = hidden(second, 1)
    conflict = given(Conflict, authority.save("paper", source("new."), base=None))
    assert (first, removed.act) == (conflict.current, conflict.removed)
    assert given(Difference, conflict.difference).text
    forced = given(Saved, authority.save("paper", source("new."), base=None, override=True))
    assert "saved over revision 1 by ada, which was removed; it was made from no revision" == forced.revision.note


# --- reading ------------------------------------------------------------------------------------------------------------------------


def test_flows_are_listed_by_slug_page_by_page(authority: FlowAuthority) -> None:
    for slug in ("c", "a", "b-2", "b"):
        kept(authority, slug=slug)
    hidden(authority, 1, "a")
    assert ["b", "b-2", "c"] == [row.last.slug for row in authority.flows(PAGE_MAX)]
    assert ["a", "b"] == [row.last.slug for row in authority.flows(2, removed=True)]
    assert ["b-2", "c"] == [row.last.slug for row in authority.flows(2, after="b")]
    assert [] == list(authority.flows(2, after="c"))


def test_a_history_is_listed_page_by_page_the_latest_first_without_sources(authority: FlowAuthority) -> None:
    revisions = [kept(authority, source(f"{number}."), base=number or None) for number in range(5)]
    assert [each.facts for each in reversed(revisions)] == list(authority.history("paper", PAGE_MAX))
    assert [5, 4] == [each.revision for each in authority.history("paper", 2)]
    assert [3, 2] == [each.revision for each in authority.history("paper", 2, before=4)]
    assert [] == list(authority.history("paper", 2, before=1))
    assert all(type(each) is RevisionFacts for each in authority.history("paper", 2))


def test_acts_are_listed_the_latest_first(authority: FlowAuthority) -> None:
    kept(authority)
    hidden(authority, 1)
    kept(authority, source(), base=1)
    hidden(authority, 2)
    assert [(2, 2), (1, 1)] == [(each.number, each.revision) for each in authority.acts("paper", PAGE_MAX)]
    assert [1] == [each.number for each in authority.acts("paper", PAGE_MAX, before=2)]
    assert [2] == [each.number for each in authority.acts("paper", 1)]


def test_what_never_was_is_not_there(authority: FlowAuthority) -> None:
    assert (None, None, None) == (authority.find("paper"), authority.source("paper"), authority.source("paper", 1))
    assert ([], []) == (list(authority.history("paper", 1)), list(authority.acts("paper", 1)))
    assert None is authority.holding("paper", digest_of(b""))
    kept(authority)
    assert (None, None) == (authority.source("paper", 2), authority.source("paper", 2**31 + 7))


def test_the_last_revision_that_has_a_content_is_found_by_its_digest(authority: FlowAuthority) -> None:
    kept(authority)
    kept(authority, source("more."), base=1)
    third = kept(authority, source(), base=2)
    assert third.facts == authority.holding("paper", digest_of(source()))
    found = authority.holding("paper", digest_of(source("more.")))
    assert found is not None
    assert 2 == found.revision
    assert None is authority.holding("paper", digest_of(b"another"))
    hidden(authority, 3)
    assert third.facts == authority.holding("paper", digest_of(source()))


def test_any_two_revisions_are_compared(authority: FlowAuthority) -> None:
    kept(authority)
    kept(authority, source("more."), base=1)
    kept(authority, source(), base=2)
    answer = given(Difference, authority.difference("paper", 1, 2))
    expected = """--- paper revision 1
+++ paper revision 2
@@ -3,7 +3,7 @@
 initial = "write";
 states = {
     write = {
-        instructions = "Write it.";
+        instructions = "Write more.";
         transitions = { ready = { target = "done"; condition = "It is written."; }; };
     };
     done = { instructions = ""; terminal = true; };
"""
    assert Difference("paper revision 1", "paper revision 2", expected) == answer
    assert "" == given(Difference, authority.difference("paper", 1, 3)).text
    refused(authority.difference("paper", 1, 4), RefusalCode.REVISION_NOT_FOUND)
    refused(authority.difference("letter", 1, 2), RefusalCode.FLOW_NOT_FOUND)


# --- resolving ----------------------------------------------------------------------------------------------------------------------


def test_a_selector_resolves_to_the_current_revision(authority: FlowAuthority) -> None:
    kept(authority)
    later = kept(authority, source("more."), base=1)
    snapshot = given(Snapshot, authority.resolve("workspace:paper"))
    assert (authority.workspace, later.flow_id, "workspace:paper", 2, later.content_digest, later.definition_digest) == (
        snapshot.workspace,
        snapshot.flow_id,
        snapshot.selector,
        snapshot.flow_revision,
        snapshot.content_digest,
        snapshot.definition_digest,
    )
    assert (later.definition_digest, canonical_bytes(snapshot.definition)) == (
        digest_of(snapshot.definition_bytes),
        snapshot.definition_bytes,
    )
    assert "Write more." == snapshot.definition.state("write").instructions


def test_a_built_in_flow_resolves_and_what_is_none_does_not(authority: FlowAuthority) -> None:
    known = builtin("single-step")
    assert known is not None
    snapshot = given(Snapshot, authority.resolve("builtin:single-step"))
    assert (digest_of(known.content), known.revision) == (snapshot.content_digest, snapshot.flow_revision)
    assert "flow_not_found" == given(Unresolved, authority.resolve("workspace:paper")).code
    assert "bad_selector" == given(Unresolved, authority.resolve("paper")).code
