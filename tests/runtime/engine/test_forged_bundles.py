"""Bundles forged at random, every digest right: refused in one line, or every store keeps what they say, as they say it."""

import json
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.bundle_reading import read_bundle
from stateward.runtime.engine.bundles import Bundle
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.ports import PAGE_MAX, Bringing, Brought, Revision, Workspace
from stateward.runtime.session.chain import digest_of
from stateward.store.memory import MemoryFlowStore
from tests.runtime.engine.test_bundles import BUNDLE, Lines, bundle_of, lines_of, signed
from tests.runtime.engines import NOON, WORKSPACE, TickingClock

LINES = lines_of(BUNDLE)
NAMES = sorted({name for line in LINES for name in line})
FOUND = [value for line in LINES for value in line.values() if not isinstance(value, dict)]
TEXTS = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(
    ["", "a\0", "\ud800", "x" * 1025, "é" * 9000, "{}", "sha256:"]
)
SCALARS = st.none() | st.booleans() | st.integers(-1, 6) | st.sampled_from([10**30, 1.0, -0.0]) | TEXTS | st.sampled_from(FOUND)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(["id", "name"]), SCALARS, max_size=2)
PLACES = st.integers(0, len(LINES) - 1)
CHANGES = st.one_of(
    st.tuples(st.just("set"), PLACES, st.sampled_from(NAMES), VALUES),
    st.tuples(st.just("drop"), PLACES, st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("lose"), PLACES, st.just(""), st.none()),
    st.tuples(st.just("repeat"), PLACES, st.just(""), PLACES),
    st.tuples(st.just("author"), PLACES, st.just("author"), TEXTS),
    st.tuples(st.just("source"), PLACES, st.just("text"), TEXTS),
)


def changed(lines: Lines, how: str, at: int, name: str, value: Any) -> None:
    at = min(at, len(lines) - 1)
    match how:
        case "set" | "author":
            lines[at] = {**lines[at], name: value} if how == "set" or name in lines[at] else lines[at]
        case "source":
            text = str(value).encode("utf-8", "surrogatepass")
            lines[at] = {**lines[at], "text": value, "content_digest": digest_of(text)} if "text" in lines[at] else lines[at]
        case "drop":
            lines[at] = {each: kept for each, kept in lines[at].items() if each != name}
        case "lose" if len(lines) > 1:
            del lines[at]
        case "repeat":
            lines.insert(int(value), dict(lines[at]))


@settings(max_examples=400)
@given(st.lists(CHANGES, min_size=1, max_size=3), st.booleans())
def test_what_was_forged_is_refused_or_kept_as_it_is(changes: list[tuple[str, int, str, Any]], counted: bool) -> None:
    lines = [dict(line) for line in LINES]
    for change in changes:
        changed(lines, *change)
    if counted and lines[-1].get("type") == "end":
        lines[-1] |= {"revisions": sum(each.get("type") == "revision" for each in lines)}
    data = signed(lines)
    answer = read_bundle(data)
    event(type(answer).__name__)
    if isinstance(answer, Refusal):
        assert answer.message.isprintable()
        assert len(answer.message) < 500
        return
    kept(answer, data)


def kept(bundle: Bundle, data: bytes) -> None:
    """Bring what was read into an empty Workspace: nothing of it is refused, and what is given again is the same."""
    store = MemoryFlowStore()
    store.ensure(Workspace(WORKSPACE, "here", NOON))
    brought = store.bring(WORKSPACE, bundle.flows, Bringing("eve", "", NOON, bundle.digest, bundle.header.workspace))
    assert [Brought(each.slug, 1, len(each.revisions)) for each in bundle.flows] == list(brought)
    authority = WorkspaceFlows(store, WORKSPACE, "eve", "stateward 0", TickingClock())
    assert data.splitlines()[1:-1] == bundle_of(authority).splitlines()[1:-1]
    for flow in bundle.flows:
        assert len(flow.revisions) == len(authority.history(flow.slug, PAGE_MAX))
        assert isinstance(authority.source(flow.slug, 1), Revision)


def test_what_was_not_changed_is_kept_as_it_is() -> None:
    data = signed([json.loads(json.dumps(line)) for line in LINES])
    answer = read_bundle(data)
    assert isinstance(answer, Bundle)
    kept(answer, data)
