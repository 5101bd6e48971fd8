"""What every FlowAuthority does with bundles: the part of its contract that `tests.contracts.authority` takes in."""

from dataclasses import replace

import pytest

from stateward.runtime.core.refusal import RefusalCode
from stateward.runtime.ports import (
    PAGE_MAX,
    ActKind,
    Brought,
    BundleConflict,
    FlowAuthority,
    Saved,
    Snapshot,
    TakenIn,
)
from stateward.runtime.session.chain import digest_of
from tests.contracts.answers import bundle_of, given, hidden, kept, refused, source, texts


def _a_history(authority: FlowAuthority, second: FlowAuthority) -> None:
    """Make three flows: one with revisions, a restored one and an override, one removed, and one alone."""
    kept(authority, source("é\r\n"), note="first")
    kept(second, source("more."), base=1)
    given(Saved, authority.restore("paper", 1, base=2))
    given(Saved, second.save("paper", source("mine."), base=1, override=True))
    kept(authority, slug="gone")
    hidden(second, 1, "gone")
    kept(authority, slug="letter")


def test_a_bundle_taken_in_elsewhere_keeps_numbers_authors_notes_times_and_digests(
    authority: FlowAuthority, second: FlowAuthority, elsewhere: FlowAuthority
) -> None:
    _a_history(authority, second)
    answer = given(TakenIn, elsewhere.take_in(bundle_of(authority), note="from a friend"))
    assert authority.workspace == answer.origin
    assert (Brought("gone", 1, 1, removed=True), Brought("letter", 1, 1), Brought("paper", 1, 4)) == answer.flows
    for slug in ("gone", "letter", "paper"):
        assert texts(authority, slug) == texts(elsewhere, slug)
        ours = [replace(each, workspace="", flow_id="") for each in authority.history(slug, PAGE_MAX)]
        assert ours == [replace(each, workspace="", flow_id="") for each in elsewhere.history(slug, PAGE_MAX)]
    assert ["letter", "paper"] == [row.last.slug for row in elsewhere.flows(PAGE_MAX)]
    assert 4 == given(Snapshot, elsewhere.resolve("workspace:paper")).flow_revision
    brought = elsewhere.acts("paper", PAGE_MAX)
    assert [(ActKind.IMPORTED, 1, 4, "eve", "from a friend", answer.bundle, authority.workspace)] == [
        (each.kind, each.first, each.revision, each.author, each.note, each.bundle, each.origin) for each in brought
    ]
    gone = elsewhere.find("gone")
    assert gone is not None
    assert gone.removed is not None
    assert "bob" == gone.removed.author


def test_taking_a_bundle_in_again_or_where_it_comes_from_has_nothing_to_do(
    authority: FlowAuthority, second: FlowAuthority, elsewhere: FlowAuthority
) -> None:
    _a_history(authority, second)
    bundle = bundle_of(authority)
    given(TakenIn, elsewhere.take_in(bundle))
    for place in (elsewhere, authority):
        again = given(TakenIn, place.take_in(bundle))
        assert (Brought("gone", 2, 1, removed=True, was_removed=True), Brought("letter", 2, 1), Brought("paper", 5, 4)) == again.flows
    assert 1 == len(elsewhere.acts("paper", PAGE_MAX))
    assert [] == list(authority.acts("paper", PAGE_MAX))


def test_what_is_new_of_a_flow_goes_on_where_it_ends_here(authority: FlowAuthority, elsewhere: FlowAuthority) -> None:
    kept(authority)
    given(TakenIn, elsewhere.take_in(bundle_of(authority)))
    kept(authority, source("more."), base=1)
    kept(authority, source("most."), base=2)
    trial = given(TakenIn, elsewhere.take_in(bundle_of(authority), dry_run=True))
    assert (Brought("paper", 2, 3),) == trial.flows
    assert 1 == len(elsewhere.history("paper", PAGE_MAX))
    answer = given(TakenIn, elsewhere.take_in(bundle_of(authority)))
    assert (Brought("paper", 2, 3),) == answer.flows
    assert texts(authority) == texts(elsewhere)


def test_a_flow_that_was_removed_here_comes_back_with_what_is_new_of_it_and_stays_removed_without(
    authority: FlowAuthority, elsewhere: FlowAuthority
) -> None:
    kept(authority)
    given(TakenIn, elsewhere.take_in(bundle_of(authority)))
    hidden(elsewhere, 1)
    given(TakenIn, elsewhere.take_in(bundle_of(authority)))
    assert None is elsewhere.source("paper")
    later = kept(authority, source("more."), base=1)
    given(TakenIn, elsewhere.take_in(bundle_of(authority)))
    back = elsewhere.source("paper")
    assert back is not None
    assert (2, later.content) == (back.revision, back.content)


@pytest.mark.parametrize("dry_run", [True, False])
def test_histories_that_part_are_named_by_their_first_difference_and_nothing_is_written(
    authority: FlowAuthority, elsewhere: FlowAuthority, dry_run: bool
) -> None:
    kept(authority)
    given(TakenIn, elsewhere.take_in(bundle_of(authority)))
    theirs = kept(authority, source("theirs."), base=1)
    ours = kept(elsewhere, source("ours."), base=1)
    kept(authority, slug="letter")
    answer = given(BundleConflict, elsewhere.take_in(bundle_of(authority), dry_run=dry_run))
    assert [("paper", 2, ours.facts, theirs.content)] == [
        (each.slug, each.revision, each.here, each.there.content) for each in answer.flows
    ]
    assert None is elsewhere.find("letter")
    assert ours == elsewhere.source("paper")


def test_only_the_named_flows_are_exported(authority: FlowAuthority, second: FlowAuthority, elsewhere: FlowAuthority) -> None:
    _a_history(authority, second)
    answer = given(TakenIn, elsewhere.take_in(bundle_of(authority, "letter", "gone", "letter")))
    assert ["gone", "letter"] == [each.slug for each in answer.flows]
    refused(authority.export(("letter", "nowhere")), RefusalCode.FLOW_NOT_FOUND)


def test_an_empty_workspace_gives_a_bundle_of_nothing(authority: FlowAuthority, elsewhere: FlowAuthority) -> None:
    assert () == given(TakenIn, elsewhere.take_in(bundle_of(authority))).flows


def test_a_bundle_that_is_not_the_expected_one_is_refused(authority: FlowAuthority, elsewhere: FlowAuthority) -> None:
    kept(authority)
    bundle = bundle_of(authority)
    refused(elsewhere.take_in(bundle, expected=digest_of(b"another")), RefusalCode.BUNDLE_UNEXPECTED)
    assert None is elsewhere.find("paper")
    digest = given(TakenIn, elsewhere.take_in(bundle, dry_run=True)).bundle
    assert digest == given(TakenIn, elsewhere.take_in(bundle, expected=digest)).bundle


def test_a_changed_byte_in_a_bundle_is_refused_and_nothing_is_written(authority: FlowAuthority, elsewhere: FlowAuthority) -> None:
    kept(authority)
    bundle = bundle_of(authority)
    changed = bundle.replace(b"Write it.", b"Write It.", 1)
    assert "line 2 of the bundle" in refused(elsewhere.take_in(changed), RefusalCode.BUNDLE_MALFORMED).message
    refused(elsewhere.take_in(bundle[:-1]), RefusalCode.BUNDLE_MALFORMED)
    refused(elsewhere.take_in(b""), RefusalCode.BUNDLE_MALFORMED)
    refused(elsewhere.take_in(bundle.replace(b'"version":1', b'"version":2', 1)), RefusalCode.BUNDLE_MALFORMED)
    refused(elsewhere.take_in(bundle.replace(b'"version":1', b'"version":3', 1)), RefusalCode.BUNDLE_NEWER)
    assert [] == list(elsewhere.flows(PAGE_MAX, removed=True))
