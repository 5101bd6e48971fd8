"""What every FlowStore keeps of what flows import: a contract of its own, under the fixture of `flows.py`."""

from dataclasses import replace

import pytest

from stateward.runtime.ports import Brought, Diverged, FlowHistory, NewRevision, Saved
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.closures import closure_digest_of
from tests.contracts.flows import HERE, Flows, as_drafts, brought, draft, saved

MODULES = (("a.md", b"\xef\xbb\xbfone\r\n"), ("parts/b.dcdl", "é = 1;".encode()))


def importing(*modules: tuple[str, bytes], content: bytes = b"imports", note: str = "") -> NewRevision:
    return replace(draft(content=content, note=note), modules=modules, closure_digest=closure_digest_of(modules))


def test_what_a_revision_imports_is_kept_with_it(flows: Flows) -> None:
    first = saved(flows, importing(*MODULES), None)
    second = saved(flows, draft(content=b"alone"), 1)
    assert (MODULES, closure_digest_of(MODULES)) == (first.modules, first.closure_digest)
    assert ((), None) == (second.modules, second.closure_digest)
    assert (first, second) == (flows.revision(HERE.id, "paper", 1), flows.current(HERE.id, "paper"))
    assert [None, first.closure_digest] == [each.closure_digest for each in flows.history(HERE.id, "paper", 10)]
    assert first.facts == flows.history(HERE.id, "paper", 10)[1]


def test_other_modules_are_another_revision_and_the_same_are_none(flows: Flows) -> None:
    saved(flows, importing(*MODULES), None)
    second = saved(flows, importing(MODULES[0]), 1)
    third = saved(flows, importing((MODULES[0][0], b"two")), 2)
    assert (2, 3) == (second.revision, third.revision)
    assert Saved(third, created=False) == flows.save(HERE.id, importing((MODULES[0][0], b"two"), note="again"), 2)
    found = flows.find(HERE.id, "paper")
    assert found is not None
    assert third.facts == found.last


def test_what_is_brought_keeps_what_it_imports(flows: Flows) -> None:
    history = FlowHistory("paper", (importing(*MODULES), importing(MODULES[1])))
    brought(flows, history)
    assert list(history.revisions) == as_drafts(flows, "paper")
    assert Brought("paper", 3, 2) == brought(flows, history)[0]


def test_histories_part_where_they_import_otherwise(flows: Flows) -> None:
    saved(flows, importing(*MODULES), None)
    (diverged,) = brought(flows, FlowHistory("paper", (importing(MODULES[0]),)))
    assert isinstance(diverged, Diverged)
    assert (1, closure_digest_of(MODULES)) == (diverged.revision, diverged.here.closure_digest)


@pytest.mark.parametrize(
    "new",
    [
        replace(importing(*MODULES), closure_digest=None),
        replace(importing(*MODULES), closure_digest=digest_of(b"")),
        replace(importing(), closure_digest=digest_of(b"")),
        importing(*reversed(MODULES)),
        importing(MODULES[0], MODULES[0]),
        importing(("a\0b", b"")),
        importing(("a" * 1025, b"")),
        importing(*((f"{number:03}", b"") for number in range(257))),
        importing(("a", b"x" * 1024 * 1024)),
    ],
    ids=str,
)
def test_modules_that_no_store_takes_are_refused(flows: Flows, new: NewRevision) -> None:
    workspace = flows.ensure(HERE).id
    with pytest.raises(ValueError):
        flows.save(workspace, new, None)
    assert None is flows.find(workspace, "paper")
