"""What every FlowAuthority answers about flows that import: a part of the contract in `authority.py`."""

import json

from stateward.runtime.core.refusal import RefusalCode
from stateward.runtime.ports import PAGE_MAX, Difference, FlowAuthority, NotCompiled, Revision, Saved, Snapshot, TakenIn
from stateward.runtime.session.closures import closure_digest_of
from tests.contracts.answers import bundle_of, given, kept, refused

IMPORTING = b"""schema_version = 2;
name = "paper";
initial = "write";
states = {
    write = {
        instructions = (import "./write.md").content;
        transitions = { ready = { target = "done"; condition = (import "parts/texts.dcdl").ready; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""
TEXTS = ("parts/texts.dcdl", b'ready = "It is written.";')


def modules(text: str = "Write.") -> tuple[tuple[str, bytes], ...]:
    return TEXTS, ("write.md", text.encode())


def imported(authority: FlowAuthority, text: str = "Write.", base: int | None = None) -> Revision:
    answer = given(Saved, authority.save("paper", IMPORTING, base=base, modules=modules(text)))
    assert answer.created
    return answer.revision


def instructions(authority: FlowAuthority) -> str:
    return given(Snapshot, authority.resolve("workspace:paper")).definition.states[0].instructions


def test_a_flow_is_kept_with_what_it_imports_and_with_nothing_else(authority: FlowAuthority) -> None:
    spare = (("spare.md", b"nobody needs it"), *modules())
    revision = given(Saved, authority.save("paper", IMPORTING, base=None, modules=spare)).revision
    assert (modules(), closure_digest_of(modules())) == (revision.modules, revision.closure_digest)
    assert revision == authority.source("paper") == authority.source("paper", 1)
    assert [revision.facts] == list(authority.history("paper", PAGE_MAX))
    assert "Write." == instructions(authority)


def test_a_module_that_is_not_given_is_told_at_the_import_and_nothing_is_kept(authority: FlowAuthority) -> None:
    answer = given(NotCompiled, authority.save("paper", IMPORTING, base=None, modules=[TEXTS]))
    assert ["the module `write.md` is not kept with the flow"] == [each["message"] for each in answer.diagnostics]
    assert None is authority.find("paper")


def test_a_flow_with_other_modules_is_another_revision(authority: FlowAuthority) -> None:
    first, second = imported(authority), imported(authority, "Write more.", base=1)
    assert (first.content_digest, 2) == (second.content_digest, second.revision)
    assert Saved(second, created=False) == authority.save("paper", IMPORTING, base=2, modules=modules("Write more."))
    assert "Write more." == instructions(authority)
    trial = given(Saved, authority.save("paper", IMPORTING, base=2, modules=modules("Write less."), dry_run=True))
    assert (3, True, modules("Write less.")) == (trial.revision.revision, trial.created, trial.revision.modules)


def test_a_revision_is_restored_with_what_it_imported(authority: FlowAuthority) -> None:
    first = imported(authority)
    imported(authority, "Write more.", base=1)
    third = given(Saved, authority.restore("paper", 1, base=2)).revision
    assert (3, first.modules, first.closure_digest) == (third.revision, third.modules, third.closure_digest)
    assert "Write." == instructions(authority)


def test_a_difference_shows_each_module_that_differs(authority: FlowAuthority) -> None:
    imported(authority)
    imported(authority, "Write more.", base=1)
    found = given(Difference, authority.difference("paper", 1, 2))
    assert "--- paper revision 1 write.md\n+++ paper revision 2 write.md\n" in found.text
    assert ("-Write.\n" in found.text, "+Write more.\n" in found.text, "texts.dcdl" in found.text) == (True, True, False)


def test_a_bundle_carries_what_is_imported_and_says_so_by_its_version(authority: FlowAuthority, elsewhere: FlowAuthority) -> None:
    imported(authority)
    imported(authority, "Write more.", base=1)
    bundle = bundle_of(authority)
    assert 2 == json.loads(bundle.partition(b"\n")[0])["version"]
    given(TakenIn, elsewhere.take_in(bundle))
    seen = [each.closure_digest for each in elsewhere.history("paper", PAGE_MAX)]
    assert [each.closure_digest for each in authority.history("paper", PAGE_MAX)] == seen
    assert "Write more." == instructions(elsewhere)
    assert bundle.splitlines()[1:-1] == bundle_of(elsewhere).splitlines()[1:-1]


def test_a_bundle_of_flows_that_import_nothing_is_of_version_1(authority: FlowAuthority) -> None:
    kept(authority)
    assert 1 == json.loads(bundle_of(authority).partition(b"\n")[0])["version"]


def test_a_bundle_with_a_changed_module_is_refused(authority: FlowAuthority, elsewhere: FlowAuthority) -> None:
    imported(authority)
    changed = bundle_of(authority).replace(b'"text":"Write."', b'"text":"Write!"', 1)
    refused(elsewhere.take_in(changed), RefusalCode.BUNDLE_MALFORMED)
    assert None is elsewhere.find("paper")
