"""Pinning and migration, on both databases: what people met elsewhere (VER) does not happen here."""

from pathlib import Path

from stateward.resources.catalog import builtin
from tests.cases.stored import StoredPlace

FLOW = "workspace:coder-review"


def source() -> bytes:
    found = builtin("coder-review")
    assert found is not None
    return found.content


def test_a_run_goes_on_with_what_it_pinned_whatever_becomes_of_the_flow(here: StoredPlace) -> None:
    """S-VER-1: a changed definition is applied to runs that started under the old one."""
    file = here.work / "coder-review.dcdl"
    file.write_bytes(source())
    here.done("flow", "save", file.name)
    here.call(*here.scripted("--max-requests", "2", flow=FLOW))
    begun = here.status()["flow"]
    assert ("review", 1, 1) == (begun["state"], begun["flow_revision"], begun["current_revision"])
    save_with_another_name_for_the_state(here, file)
    now = here.status()["flow"]
    assert {**begun, "current_revision": 2} == now
    assert "revision 1  revision 2 is current" in here.done("status")
    file.unlink()
    here.done("flow", "remove", "coder-review", "--base", "2")
    assert {**begun, "current_revision": None} == here.status()["flow"]
    ended = here.call(*here.scripted("--resume", flow=FLOW))
    assert (0, "") == (ended.status, ended.err)
    after = here.status()["flow"]
    assert ("completed", "done", 6) == (after["status"], after["state"], after["visit"])
    assert [begun[name] for name in ("definition_digest", "content_digest")] == [
        after[name] for name in ("definition_digest", "content_digest")
    ]
    assert {"implement", "review", "fix", "complete", "done"} == after["visits"].keys()


def save_with_another_name_for_the_state(here: StoredPlace, file: Path) -> None:
    """Rename the state that the run is in, and what it tells to do."""
    renamed = (
        source().replace(b"review = {", b"judge = {").replace(b'"review"', b'"judge"').replace(b"Review the change", b"Judge the change")
    )
    assert renamed != source()
    file.write_bytes(renamed)
    here.done("flow", "save", file.name)


def test_nobody_starts_a_run_of_a_flow_that_was_removed_and_the_old_revision_can_be_restored(here: StoredPlace) -> None:
    """S-VER-1, the other way round: what is gone from the Workspace is not resolved, and nothing of it is lost."""
    file = here.work / "coder-review.dcdl"
    file.write_bytes(source())
    here.done("flow", "save", file.name)
    save_with_another_name_for_the_state(here, file)
    here.done("flow", "remove", "coder-review", "--base", "2")
    refused = here.call(*here.scripted(flow=FLOW))
    assert 0 != refused.status
    assert "there is no flow `workspace:coder-review`" in refused.err
    here.done("flow", "restore", "coder-review", "1", "--base", "2")
    here.call(*here.scripted("--max-requests", "2", flow=FLOW))
    now = here.status()["flow"]
    assert ("review", 3) == (now["state"], now["flow_revision"])
