"""What every FlowStore does, together with the Workspaces that its flows live in.

A test module for an adapter imports everything here and offers a fixture `flows` that gives an empty store.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Protocol

import pytest

from stateward.runtime.ports import (
    ActKind,
    Bringing,
    Brought,
    Diverged,
    FlowAct,
    FlowHistory,
    FlowRow,
    FlowStore,
    NewRevision,
    Removed,
    Revision,
    Saved,
    StaleBase,
    Workspace,
    Workspaces,
)
from stateward.runtime.session.chain import digest_of

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
HERE = Workspace("0198c0de-0000-7000-8000-00000000000a", "here", NOON)
THERE = Workspace("0198c0de-0000-7000-8000-00000000000b", "there", NOON)
LATER = NOON + timedelta(hours=1)
EVENING = NOON + timedelta(hours=8)
BRINGING = Bringing(author="bob", note="from the other team", created=EVENING, bundle=digest_of(b"bundle"), origin=THERE.id)


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
    for number in (3, 0, -1, 2**31, 2**70, -(2**70)):
        assert None is flows.revision(HERE.id, "paper", number)


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


# --- removing -----------------------------------------------------------------------------------------------------------------------


def removed(flows: Flows, slug: str = "paper", base: int = 1, note: str = "no longer used") -> FlowAct:
    answer = flows.remove(HERE.id, slug, base, author="bob", note=note, time=LATER)
    assert isinstance(answer, Removed), answer
    assert answer.created
    return answer.act


def test_a_removed_flow_is_hidden_and_keeps_its_revisions_and_the_act(flows: Flows) -> None:
    first = saved(flows, draft(), None)
    other = saved(flows, draft("other"), None)
    act = removed(flows)
    assert FlowAct(HERE.id, first.flow_id, 1, ActKind.REMOVED, 1, 1, "bob", "no longer used", LATER) == act
    assert None is flows.current(HERE.id, "paper")
    assert FlowRow(first.facts, act) == flows.find(HERE.id, "paper")
    assert first == flows.revision(HERE.id, "paper", 1)
    assert first.facts == flows.holding(HERE.id, "paper", first.content_digest)
    assert ([first.facts], [act]) == (list(flows.history(HERE.id, "paper", 10)), list(flows.acts(HERE.id, "paper", 10)))
    assert [FlowRow(other.facts)] == list(flows.sources(HERE.id, 10))
    assert [FlowRow(other.facts), FlowRow(first.facts, act)] == list(flows.sources(HERE.id, 10, removed=True))


def test_a_stale_base_removes_nothing_and_gives_the_current_revision(flows: Flows) -> None:
    saved(flows, draft(content=b"one"), None)
    second = saved(flows, draft(content=b"two"), 1)
    for base in (0, 1, 3):
        assert StaleBase(second) == flows.remove(HERE.id, "paper", base, author="bob", note="", time=LATER)
    assert second == flows.current(HERE.id, "paper")
    assert [] == list(flows.acts(HERE.id, "paper", 10))


def test_a_flow_that_nobody_saved_is_not_removed(flows: Flows) -> None:
    flows.ensure(HERE)
    assert StaleBase(None) == flows.remove(HERE.id, "paper", 1, author="bob", note="", time=LATER)
    assert None is flows.find(HERE.id, "paper")
    assert [] == list(flows.acts(HERE.id, "paper", 10))


@pytest.mark.parametrize("base", [1, 2])
def test_a_flow_is_removed_once_and_stays_as_it_was_removed(flows: Flows, base: int) -> None:
    saved(flows, draft(), None)
    act = removed(flows)
    assert Removed(act, created=False) == flows.remove(HERE.id, "paper", base, author="eve", note="again", time=EVENING)
    assert [act] == list(flows.acts(HERE.id, "paper", 10))


@pytest.mark.parametrize("content", [b"one", b"two"])
def test_a_removed_flow_comes_back_as_a_new_revision_when_it_is_saved_on_its_last_one(flows: Flows, content: bytes) -> None:
    first = saved(flows, draft(content=b"one"), None)
    act = removed(flows)
    back = saved(flows, draft(content=content), 1)
    assert (2, first.flow_id) == (back.revision, back.flow_id)
    assert back == flows.current(HERE.id, "paper")
    assert FlowRow(back.facts) == flows.find(HERE.id, "paper")
    assert [FlowRow(back.facts)] == list(flows.sources(HERE.id, 10))
    assert [act] == list(flows.acts(HERE.id, "paper", 10))


@pytest.mark.parametrize("base", [None, 2])
@pytest.mark.parametrize("content", [b"one", b"two"])
def test_a_save_on_another_base_of_a_removed_flow_is_told_how_it_was_removed(flows: Flows, content: bytes, base: int | None) -> None:
    first = saved(flows, draft(content=b"one"), None)
    act = removed(flows)
    assert StaleBase(first, act) == flows.save(HERE.id, draft(content=content), base)
    assert None is flows.current(HERE.id, "paper")


def test_a_flow_is_removed_again_after_it_came_back(flows: Flows) -> None:
    saved(flows, draft(), None)
    first = removed(flows)
    saved(flows, draft(), 1)
    second = removed(flows, base=2, note="")
    assert (2, 2) == (second.number, second.revision)
    assert [second, first] == list(flows.acts(HERE.id, "paper", 10))
    assert [first] == list(flows.acts(HERE.id, "paper", 10, before=2))
    assert [second] == list(flows.acts(HERE.id, "paper", 1))
    assert [] == list(flows.acts(HERE.id, "paper", 10, before=1))


def test_pages_of_flows_are_full_though_removed_ones_lie_between(flows: Flows) -> None:
    for slug in "abcdef":
        saved(flows, draft(slug), None)
    for slug in "bce":
        removed(flows, slug)
    assert ["a", "d"] == [each.last.slug for each in flows.sources(HERE.id, 2)]
    assert ["f"] == [each.last.slug for each in flows.sources(HERE.id, 2, after="d")]
    assert ["b", "c"] == [each.last.slug for each in flows.sources(HERE.id, 2, after="a", removed=True)]


@pytest.mark.parametrize(
    ("author", "note", "time"),
    [
        ("a" * 1025, "", LATER),
        ("bob", "n" * 16385, LATER),
        ("b\0b", "", LATER),
        ("\udc80", "", LATER),
        ("bob", "", LATER.replace(tzinfo=None)),
    ],
)
def test_an_act_that_no_store_keeps_is_refused_before_anything_is_written(flows: Flows, author: str, note: str, time: datetime) -> None:
    first = saved(flows, draft(), None)
    with pytest.raises(ValueError):
        flows.remove(HERE.id, "paper", 1, author=author, note=note, time=time)
    assert first == flows.current(HERE.id, "paper")


# --- histories ----------------------------------------------------------------------------------------------------------------------


def many(flows: Flows, count: int) -> list[Revision]:
    contents = [f"{number % 3}:{number // 6}".encode() for number in range(count)]
    return [saved(flows, draft(content=each, note=f"note {base}"), base or None) for base, each in enumerate(contents)]


def test_revisions_are_listed_the_latest_first_page_by_page_without_their_sources(flows: Flows) -> None:
    made = [each.facts for each in many(flows, 7)]
    saved(flows, draft("other"), None)
    assert made[::-1] == list(flows.history(HERE.id, "paper", 100))
    assert made[:3:-1] == list(flows.history(HERE.id, "paper", 3))
    assert [made[3], made[2]] == list(flows.history(HERE.id, "paper", 2, before=5))
    assert [made[0]] == list(flows.history(HERE.id, "paper", 2, before=2))
    assert made[::-1] == list(flows.history(HERE.id, "paper", 100, before=100))
    assert made[::-1] == list(flows.history(HERE.id, "paper", 100, before=2**70))
    for before in (1, 0, -5, -(2**70)):
        assert [] == list(flows.history(HERE.id, "paper", 100, before=before))
    assert [] == list(flows.history(HERE.id, "none", 100))
    assert [] == list(flows.history(THERE.id, "paper", 100))


def test_the_last_revision_with_a_content_is_found_by_its_digest(flows: Flows) -> None:
    made = many(flows, 7)
    for each in made:
        last = [other for other in made if other.content == each.content][-1]
        assert last.facts == flows.holding(HERE.id, "paper", each.content_digest)
    assert None is flows.holding(HERE.id, "paper", digest_of(b"nobody's"))
    assert None is flows.holding(HERE.id, "none", made[0].content_digest)


# --- bringing -----------------------------------------------------------------------------------------------------------------------


def history(*contents: bytes, slug: str = "paper", removed: FlowAct | None = None) -> FlowHistory:
    """A history as another Workspace has it."""
    drafts = (
        replace(draft(slug, content, definition=b"[%d]" % number, note=f"there {number}"), created=NOON + timedelta(minutes=number))
        for number, content in enumerate(contents, start=1)
    )
    return FlowHistory(slug, tuple(drafts), removed)


def there(slug: str = "paper", revision: int = 2) -> FlowAct:
    return FlowAct(THERE.id, "of there", 7, ActKind.REMOVED, revision, revision, "eve", "removed there", LATER)


def brought(flows: Flows, *histories: FlowHistory, bringing: Bringing = BRINGING) -> Sequence[Brought] | Sequence[Diverged]:
    return flows.bring(flows.ensure(HERE).id, histories, bringing)


def as_drafts(flows: Flows, slug: str) -> list[NewRevision]:
    """What is stored, as it would be brought elsewhere."""
    found: list[NewRevision] = []
    for facts in reversed(flows.history(HERE.id, slug, 500)):
        revision, definition = flows.revision(HERE.id, slug, facts.revision), flows.definition(facts.definition_digest)
        assert revision is not None
        assert definition is not None
        assert facts == revision.facts
        found.append(
            NewRevision(
                slug=revision.slug,
                content=revision.content,
                content_digest=revision.content_digest,
                definition_digest=revision.definition_digest,
                definition=definition,
                compiler=revision.compiler,
                author=revision.author,
                note=revision.note,
                created=revision.created,
                modules=revision.modules,
                closure_digest=revision.closure_digest,
            )
        )
    return found


def imported(flows: Flows, first: int, last: int, number: int = 1, slug: str = "paper") -> FlowAct:
    found = flows.find(HERE.id, slug)
    assert found is not None
    return FlowAct(
        HERE.id,
        found.last.flow_id,
        number,
        ActKind.IMPORTED,
        last,
        first,
        "bob",
        "from the other team",
        EVENING,
        BRINGING.bundle,
        BRINGING.origin,
    )


def test_flows_that_are_brought_have_every_revision_as_it_was_there_and_an_act_that_says_so(flows: Flows) -> None:
    paper, plan = history(b"one", b"two", b"one"), history(b"one", slug="plan")
    assert [Brought("paper", 1, 3), Brought("plan", 1, 1)] == list(brought(flows, paper, plan))
    assert list(paper.revisions) == as_drafts(flows, "paper")
    assert list(plan.revisions) == as_drafts(flows, "plan")
    assert [imported(flows, 1, 3)] == list(flows.acts(HERE.id, "paper", 10))
    assert ["paper", "plan"] == [each.last.slug for each in flows.sources(HERE.id, 10)]
    current = flows.current(HERE.id, "paper")
    assert current is not None
    assert (3, b"one") == (current.revision, current.content)
    assert 4 == saved(flows, draft(content=b"four"), 3).revision


def test_an_id_of_a_flow_that_is_brought_is_that_of_the_workspace_it_is_brought_to(flows: Flows) -> None:
    brought(flows, history(b"one"))
    found = flows.find(HERE.id, "paper")
    assert found is not None
    assert "86e29faf-f777-5ab0-9f40-6abe39cf76ac" == found.last.flow_id


def test_only_what_is_not_here_yet_is_brought(flows: Flows) -> None:
    brought(flows, history(b"one", b"two"))
    longer = history(b"one", b"two", b"three", b"four")
    assert [Brought("paper", 3, 4)] == list(brought(flows, longer))
    assert list(longer.revisions) == as_drafts(flows, "paper")
    assert [imported(flows, 3, 4, 2), imported(flows, 1, 2)] == list(flows.acts(HERE.id, "paper", 10))


@pytest.mark.parametrize("part", [1, 2])
def test_a_history_that_is_a_part_of_the_one_here_writes_nothing(flows: Flows, part: int) -> None:
    contents = (b"one", b"two")
    brought(flows, history(*contents))
    acts, row = flows.acts(HERE.id, "paper", 10), flows.find(HERE.id, "paper")
    assert [Brought("paper", 3, 2)] == list(brought(flows, history(*contents[:part], removed=there())))
    assert (acts, row) == (flows.acts(HERE.id, "paper", 10), flows.find(HERE.id, "paper"))


@pytest.mark.parametrize(
    "changed",
    [
        {"content": b"mine", "content_digest": digest_of(b"mine")},
        {"definition": b"{}", "definition_digest": digest_of(b"{}")},
        {"compiler": "stateward 0.2.0"},
        {"author": "eve"},
        {"note": ""},
        {"created": LATER},
    ],
    ids=", ".join,
)
def test_where_a_history_parts_from_the_one_here_nothing_of_any_flow_is_brought(flows: Flows, changed: dict[str, object]) -> None:
    brought(flows, history(b"one", b"two"))
    before = as_drafts(flows, "paper")
    ours = history(b"one", b"two", b"three")
    second = replace(ours.revisions[1], **changed)  # type: ignore[arg-type]
    theirs = FlowHistory("paper", (ours.revisions[0], second, ours.revisions[2]))
    here = flows.history(HERE.id, "paper", 1)[0]
    answer = brought(flows, history(b"new", slug="a-new-one"), theirs, history(b"new", slug="z-new-one"))
    assert [Diverged("paper", 2, here, second)] == list(answer)
    assert before == as_drafts(flows, "paper")
    assert ["paper"] == [each.last.slug for each in flows.sources(HERE.id, 10)]
    assert 1 == len(flows.acts(HERE.id, "paper", 10))


def test_every_flow_that_diverged_is_named(flows: Flows) -> None:
    for slug in ("paper", "plan", "same"):
        brought(flows, history(b"one", slug=slug))
    answer = brought(flows, history(b"1", slug="paper"), history(b"one", slug="same"), history(b"2", slug="plan"))
    assert ["paper", "plan"] == [each.slug for each in answer if isinstance(each, Diverged)]
    assert 2 == len(answer)


def test_a_flow_that_was_removed_there_is_removed_here_by_the_same_act(flows: Flows) -> None:
    assert [Brought("paper", 1, 2)] == list(brought(flows, history(b"one", b"two", removed=there())))
    found = flows.find(HERE.id, "paper")
    assert found is not None
    act = FlowAct(HERE.id, found.last.flow_id, 2, ActKind.REMOVED, 2, 2, "eve", "removed there", LATER)
    assert act == found.removed
    assert None is flows.current(HERE.id, "paper")
    assert [] == list(flows.sources(HERE.id, 10))
    assert [act, imported(flows, 1, 2)] == list(flows.acts(HERE.id, "paper", 10))


def test_a_flow_that_was_removed_here_comes_back_when_more_of_it_is_brought(flows: Flows) -> None:
    brought(flows, history(b"one"))
    removed(flows)
    assert [Brought("paper", 2, 1)] == list(brought(flows, history(b"one")))
    assert None is flows.current(HERE.id, "paper")
    assert [Brought("paper", 2, 2)] == list(brought(flows, history(b"one", b"two")))
    current = flows.current(HERE.id, "paper")
    assert current is not None
    assert 2 == current.revision
    assert [3, 2, 1] == [each.number for each in flows.acts(HERE.id, "paper", 10)]


def test_nothing_is_brought_of_no_flows(flows: Flows) -> None:
    assert [] == list(brought(flows))


def test_many_revisions_are_brought_and_compared_whole(flows: Flows) -> None:
    long = history(*(b"%d" % number for number in range(1203)))
    assert [Brought("paper", 1, 1202)] == list(brought(flows, replace(long, revisions=long.revisions[:1202])))
    assert [Brought("paper", 1203, 1203)] == list(brought(flows, long))
    other = replace(long.revisions[0], note="another")
    answer = brought(flows, replace(long, revisions=(other, *long.revisions[1:])))
    assert [1] == [each.revision for each in answer if isinstance(each, Diverged)]


TWO = history(b"one", b"two")


@pytest.mark.parametrize(
    ("histories", "bringing"),
    [
        ((FlowHistory("paper", ()),), BRINGING),
        ((history(b"one"), history(b"two")), BRINGING),
        ((replace(TWO, slug="plan"),), BRINGING),
        ((replace(TWO, revisions=(TWO.revisions[0], replace(TWO.revisions[1], content=b"other"))),), BRINGING),
        ((replace(TWO, removed=replace(there(), author="a" * 1025)),), BRINGING),
        ((replace(TWO, removed=replace(there(), created=NOON.replace(tzinfo=None))),), BRINGING),
        ((TWO,), replace(BRINGING, note="a\0b")),
        ((TWO,), replace(BRINGING, author="\udc80")),
        ((TWO,), replace(BRINGING, origin="o" * 1025)),
        ((TWO,), replace(BRINGING, bundle="b" * 1025)),
        ((TWO,), replace(BRINGING, created=NOON.replace(tzinfo=None))),
        ((TWO,) * 10_001, BRINGING),
    ],
    ids=["none", "twice", "slug", "digest", "removed by", "removed when", "note", "author", "origin", "bundle", "when", "too many"],
)
def test_what_no_store_takes_is_not_brought(flows: Flows, histories: Sequence[FlowHistory], bringing: Bringing) -> None:
    with pytest.raises(ValueError):
        brought(flows, *histories, bringing=bringing)
    assert [] == list(flows.sources(HERE.id, 10, removed=True))


def test_times_given_with_another_offset_are_the_same_moments(flows: Flows) -> None:
    elsewhere = timezone(timedelta(hours=5, minutes=30))
    original = history(b"one", b"two", removed=there())
    moved = tuple(replace(each, created=each.created.astimezone(elsewhere)) for each in original.revisions)
    assert [Brought("paper", 1, 2)] == list(brought(flows, replace(original, revisions=moved)))
    assert [Brought("paper", 3, 2)] == list(brought(flows, original))
    assert list(original.revisions) == as_drafts(flows, "paper")
