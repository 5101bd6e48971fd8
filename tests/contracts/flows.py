"""What every FlowStore does, together with the Workspaces that its flows live in.

A test module for an adapter imports everything here and offers a fixture `flows` that gives an empty store.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Protocol

import pytest

from stateward.runtime.ports import FlowRow, FlowStore, NewRevision, Revision, Saved, StaleBase, Workspace, Workspaces
from stateward.runtime.session.chain import digest_of

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
HERE = Workspace("0198c0de-0000-7000-8000-00000000000a", "here", NOON)
THERE = Workspace("0198c0de-0000-7000-8000-00000000000b", "there", NOON)


class Flows(FlowStore, Workspaces, Protocol):
    """Both ports on one store."""


def draft(slug: str = "paper", content: bytes = b"one", definition: bytes = b"{}", note: str = "") -> NewRevision:
    return NewRevision(
        slug=slug,
        content=content,
        content_digest=digest_of(content),
        definition_digest=digest_of(definition),
        definition=definition,
        compiler="stateward 0.1.0",
        author="ada",
        note=note,
        created=NOON,
    )


def saved(flows: Flows, new: NewRevision, base: int | None, workspace: Workspace = HERE) -> Revision:
    answer = flows.save(flows.ensure(workspace).id, new, base)
    assert isinstance(answer, Saved), answer
    assert answer.created
    return answer.revision


def test_a_workspace_is_kept_once_and_given_back_as_it_was_first(flows: Flows) -> None:
    assert HERE == flows.ensure(HERE)
    assert HERE == flows.ensure(replace(HERE, name="renamed", created=NOON + timedelta(days=1)))
    assert HERE == flows.get(HERE.id)
    assert None is flows.get(THERE.id)


def test_the_first_save_makes_revision_1_and_gives_back_what_was_stored(flows: Flows) -> None:
    new = draft(content='name = "façade";\r\n'.encode(), note="first")
    revision = saved(flows, new, None)
    assert 1 == revision.revision
    assert (HERE.id, "paper", new.content, new.content_digest, new.definition_digest) == (
        revision.workspace,
        revision.slug,
        revision.content,
        revision.content_digest,
        revision.definition_digest,
    )
    assert ("stateward 0.1.0", "ada", "first", NOON) == (revision.compiler, revision.author, revision.note, revision.created)
    assert revision == flows.current(HERE.id, "paper")
    assert revision == flows.revision(HERE.id, "paper", 1)


def test_a_save_based_on_the_current_revision_makes_the_next_one_and_keeps_the_older(flows: Flows) -> None:
    first = saved(flows, draft(content=b"one"), None)
    second = saved(flows, draft(content=b"two", definition=b"[]"), 1)
    assert (2, first.flow_id) == (second.revision, second.flow_id)
    assert second == flows.current(HERE.id, "paper")
    assert first == flows.revision(HERE.id, "paper", 1)
    assert None is flows.revision(HERE.id, "paper", 3)
    assert None is flows.revision(HERE.id, "paper", 0)


def test_a_stale_base_writes_nothing_and_gives_the_current_revision(flows: Flows) -> None:
    saved(flows, draft(content=b"one"), None)
    second = saved(flows, draft(content=b"two"), 1)
    for base in (1, 3, None):
        assert StaleBase(second) == flows.save(HERE.id, draft(content=b"mine", definition=b"[1]"), base)
    assert second == flows.current(HERE.id, "paper")
    assert None is flows.revision(HERE.id, "paper", 3)
    assert None is flows.definition(digest_of(b"[1]"))


def test_a_base_for_a_slug_that_nobody_saved_writes_nothing(flows: Flows) -> None:
    flows.ensure(HERE)
    assert StaleBase(None) == flows.save(HERE.id, draft(), 1)
    assert None is flows.current(HERE.id, "paper")


@pytest.mark.parametrize("base", [None, 1, 2])
def test_the_same_bytes_with_the_same_definition_make_no_revision_whatever_the_base(flows: Flows, base: int | None) -> None:
    saved(flows, draft(content=b"one"), None)
    second = saved(flows, draft(content=b"two"), 1)
    assert Saved(second, created=False) == flows.save(HERE.id, replace(draft(content=b"two"), author="bob", note="again"), base)
    assert None is flows.revision(HERE.id, "paper", 3)


def test_the_same_bytes_with_another_definition_are_a_new_revision(flows: Flows) -> None:
    saved(flows, draft(content=b"one", definition=b"{}"), None)
    assert 2 == saved(flows, draft(content=b"one", definition=b"[]"), 1).revision


def test_an_older_text_can_be_made_current_again_as_a_new_revision(flows: Flows) -> None:
    first = saved(flows, draft(content=b"one"), None)
    saved(flows, draft(content=b"two"), 1)
    third = saved(flows, draft(content=b"one"), 2)
    assert (3, first.content) == (third.revision, third.content)


def test_workspaces_do_not_see_each_other(flows: Flows) -> None:
    ours = saved(flows, draft(content=b"ours"), None, HERE)
    theirs = saved(flows, draft(content=b"theirs"), None, THERE)
    assert 1 == ours.revision == theirs.revision
    assert ours.flow_id != theirs.flow_id
    assert ours == flows.current(HERE.id, "paper")
    assert [FlowRow(theirs.facts)] == list(flows.sources(THERE.id, 10))


def test_a_definition_is_stored_once_and_read_by_its_digest(flows: Flows) -> None:
    saved(flows, draft(slug="a", definition=b'{"same":1}'), None)
    saved(flows, draft(slug="b", definition=b'{"same":1}'), None)
    assert b'{"same":1}' == flows.definition(digest_of(b'{"same":1}'))
    assert None is flows.definition(digest_of(b"nobody's"))


def test_sources_are_listed_by_slug_page_by_page(flows: Flows) -> None:
    for slug in ("c", "a", "b-2", "b"):
        saved(flows, draft(slug=slug), None)
    newest = saved(flows, draft(slug="b", content=b"newer"), 1)
    assert ["a", "b", "b-2", "c"] == [each.last.slug for each in flows.sources(HERE.id, 10)]
    assert ["a", "b"] == [each.last.slug for each in flows.sources(HERE.id, 2)]
    assert ["b-2", "c"] == [each.last.slug for each in flows.sources(HERE.id, 2, after="b")]
    assert FlowRow(newest.facts) == flows.sources(HERE.id, 1, after="a")[0]
    assert [] == list(flows.sources(THERE.id, 10))


def test_a_time_given_with_another_offset_is_the_same_moment(flows: Flows) -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    saved(flows, replace(draft(), created=elsewhere), None)
    current = flows.current(HERE.id, "paper")
    assert current is not None
    assert NOON == current.created


@pytest.mark.parametrize(
    "broken",
    [
        replace(draft(), content_digest=digest_of(b"another")),
        replace(draft(), definition_digest=digest_of(b"another")),
        replace(draft(), note="n" * 16385),
        replace(draft(), author="a" * 1025),
        replace(draft(), created=NOON.replace(tzinfo=None)),
        replace(draft(), author="\udc80"),
        replace(draft(), note="a\0b"),
    ],
    ids=["content digest", "definition digest", "note", "author", "naive time", "no Unicode", "NUL"],
)
def test_what_no_store_takes_is_refused_before_anything_is_written(flows: Flows, broken: NewRevision) -> None:
    flows.ensure(HERE)
    with pytest.raises(ValueError):
        flows.save(HERE.id, broken, None)
    assert None is flows.current(HERE.id, "paper")


def test_a_flow_has_the_same_id_in_every_store(flows: Flows) -> None:
    assert "86e29faf-f777-5ab0-9f40-6abe39cf76ac" == saved(flows, draft(), None).flow_id


def test_threads_that_save_one_slug_at_once_number_its_revisions_without_a_gap(flows: Flows) -> None:
    saved(flows, draft(content=b"start"), None)

    def save_three(author: int) -> list[int]:
        made: list[int] = []
        base = 1
        while len(made) < 3:
            answer = flows.save(HERE.id, draft(content=f"{author}:{len(made)}".encode()), base)
            if isinstance(answer, Saved):
                made.append(answer.revision.revision)
                base = answer.revision.revision
            else:
                assert answer.current is not None
                base = answer.current.revision
        return made

    with ThreadPoolExecutor(4) as threads:
        made = [number for numbers in threads.map(save_three, range(4)) for number in numbers]
    assert list(range(2, 14)) == sorted(made)
    current = flows.current(HERE.id, "paper")
    assert current is not None
    assert 13 == current.revision
