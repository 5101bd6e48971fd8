"""What a service answers is held against what was asked and against its own digests; nothing else is given on."""

import json
from typing import Any

import pytest

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import (
    BundleConflict,
    Conflict,
    Damaged,
    Fault,
    FlowAuthority,
    NotCompiled,
    OutcomeUnknown,
    Saved,
    ServiceUnavailable,
    Snapshot,
    Unresolved,
)
from stateward.runtime.session.chain import digest_of
from tests.remote.asking import client_of
from tests.remote.odd_server import OTHER_WORKSPACE, WORKSPACE, Step, odd_server, problem, says
from tests.runtime.flows import REVIEW

SOURCE = 'name = "paper";\r\n'
CANONICAL = canonical_bytes(REVIEW).decode()
Json = dict[str, Any]


def facts(**changed: Any) -> Json:
    return {
        "workspace": WORKSPACE,
        "flow_id": "id-paper",
        "slug": "paper",
        "revision": 2,
        "content_digest": digest_of(SOURCE.encode()),
        "definition_digest": digest_of(CANONICAL.encode()),
        "compiler": "stateward 0",
        "author": "ada",
        "note": "said",
        "created": "2026-03-01T12:00:00.123456Z",
        **changed,
    }


def revision(**changed: Any) -> Json:
    return facts(source=SOURCE) | changed


def act(**changed: Any) -> Json:
    given = {"workspace": WORKSPACE, "flow_id": "id-paper", "number": 1, "kind": "removed", "revision": 2, "first": 2}
    return given | {"author": "ada", "note": "", "created": "2026-03-01T12:00:00Z", "bundle": "", "origin": ""} | changed


def row(slug: str = "paper", removed: Json | None = None, **changed: Any) -> Json:
    return {"last": facts(slug=slug, **changed), "removed": removed}


def snapshot(**changed: Any) -> Json:
    return {
        "workspace": WORKSPACE,
        "flow_id": "id-paper",
        "selector": "workspace:paper",
        "flow_revision": 2,
        "content_digest": digest_of(SOURCE.encode()),
        "definition_digest": digest_of(CANONICAL.encode()),
        "definition": CANONICAL,
        **changed,
    }


def other_definition(text: str) -> Json:
    return {"definition": text, "definition_digest": digest_of(text.encode())}


# --- resolving ----------------------------------------------------------------------------------------------------------------------


def test_a_snapshot_is_given_with_its_definition_and_the_bytes_that_its_digest_covers() -> None:
    with odd_server(says(snapshot())) as odd, client_of(odd.address) as client:
        found = client.resolve("workspace:paper")
        assert ["/v1/snapshots?selector=workspace%3Apaper"] == [each.target for each in odd.asked]
    assert isinstance(found, Snapshot)
    assert (REVIEW, CANONICAL.encode(), digest_of(CANONICAL.encode())) == (
        found.definition,
        found.definition_bytes,
        found.definition_digest,
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (snapshot(definition_digest=digest_of(b"another")), "came with a digest that is not its own"),
        (snapshot(definition=CANONICAL.replace("Write", "Wrote") + " "), "came with a digest that is not its own"),
        (snapshot(**other_definition("{}")), "is none that this program knows"),
        (snapshot(**other_definition(CANONICAL[:-1] + ',"more":1}')), "is none that this program knows"),
        (snapshot(**other_definition("null")), "is none that this program knows"),
    ],
)
def test_a_definition_that_was_tampered_with_is_damaged(answer: Json, message: str) -> None:
    with odd_server(says(answer)) as odd, client_of(odd.address) as client, pytest.raises(Damaged, match=message):
        client.resolve("workspace:paper")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (snapshot(workspace=OTHER_WORKSPACE), f"holds Workspace `{OTHER_WORKSPACE}`"),
        (snapshot(content_digest="sha256:x"), "gives `sha256:x` as a digest, which is none"),
        (snapshot(selector="workspace:other"), "a snapshot of `workspace:other`, where `workspace:paper` was asked for"),
        (snapshot(selector="builtin:paper"), "a snapshot of `builtin:paper`, where `workspace:paper` was asked for"),
    ],
)
def test_another_snapshot_than_was_asked_for_is_refused(answer: Json, message: str) -> None:
    with odd_server(says(answer)) as odd, client_of(odd.address) as client, pytest.raises(ServiceUnavailable, match=message):
        client.resolve("workspace:paper")


@pytest.mark.parametrize("code", ["flow_not_found", "flow_broken"])
def test_a_selector_that_names_nothing_usable_is_a_value(code: str) -> None:
    with odd_server(problem(code, 404, "no such flow", help="save it")) as odd, client_of(odd.address) as client:
        assert Unresolved(code, "no such flow", "save it") == client.resolve("workspace:paper")


@pytest.mark.parametrize(
    "selector", ["", "paper", "workspace:", "workspace:a/b", "other:paper", "workspace:\ud800", "workspace:" + "x" * 999]
)
def test_what_is_no_selector_is_not_asked_for(selector: str) -> None:
    with odd_server(says(snapshot())) as odd, client_of(odd.address) as client:
        found = client.resolve(selector)
        assert [] == odd.asked
    assert isinstance(found, Unresolved)
    assert "bad_selector" == found.code


HALF = "\ud800"
"""Half a surrogate pair, which JSON can name and UTF-8 cannot."""


@pytest.mark.parametrize("answer", [snapshot(definition=HALF), snapshot(flow_id=HALF), snapshot(definition_digest=HALF)])
def test_a_text_that_is_no_unicode_is_no_answer(answer: Json) -> None:
    with odd_server(says(answer)) as odd, client_of(odd.address) as client, pytest.raises(ServiceUnavailable, match="does not know"):
        client.resolve("workspace:paper")


# --- reading ------------------------------------------------------------------------------------------------------------------------


def page(*rows: Json) -> Json:
    return {"flows": rows, "next": None}


def revisions(*numbers: int, **changed: Any) -> Json:
    return {"revisions": [facts(revision=each, **changed) for each in numbers], "next": None}


def acts(*numbers: int, **changed: Any) -> Json:
    return {"acts": [act(number=each, **changed) for each in numbers], "next": None}


def list_flows(client: FlowAuthority) -> object:
    return client.flows(2, "a")


def read_source(client: FlowAuthority) -> object:
    return client.source("paper", 2)


def find(client: FlowAuthority) -> object:
    return client.find("paper")


def read_history(client: FlowAuthority) -> object:
    return client.history("paper", 2, 9)


def read_acts(client: FlowAuthority) -> object:
    return client.acts("paper", 2, 9)


def hold(client: FlowAuthority) -> object:
    return client.holding("paper", digest_of(SOURCE.encode()))


@pytest.mark.parametrize(
    ("ask", "answer", "message"),
    [
        (list_flows, page(row("b", workspace=OTHER_WORKSPACE)), "holds Workspace"),
        (list_flows, page(row("b/../../x")), "names a flow `b/../../x`, which is no slug"),
        (list_flows, page(row("b\0")), "which is no slug"),
        (list_flows, page(row("b", content_digest="sha256:0")), "gives `sha256:0` as a digest, which is none"),
        (list_flows, page(row("b", definition_digest="../x")), "gives `../x` as a digest, which is none"),
        (list_flows, page(row("b"), row("c"), row("d")), "3 rows, where 2 were asked for"),
        (list_flows, page(row("c"), row("b")), "out of order"),
        (list_flows, page(row("b"), row("b")), "out of order"),
        (list_flows, page(row("a")), "out of order"),
        (list_flows, page(row("b", removed=act(workspace=OTHER_WORKSPACE))), "holds Workspace"),
        (read_source, revision(slug="other"), "a revision of `other`, where `paper` was asked for"),
        (read_source, revision(revision=3), "a revision of `paper`, `3`, where `2` was asked for"),
        (read_source, revision(workspace=OTHER_WORKSPACE), "holds Workspace"),
        (read_source, revision(source=HALF), "does not know"),
        (read_source, revision(source="%", encoding="base64"), "does not know"),
        (read_source, revision(source=SOURCE + "\n"), "revision 2 of `paper` came with a digest that is not its own"),
        (read_source, revision(source=SOURCE.replace("\r", "")), "revision 2 of `paper` came with a digest that is not its own"),
        (find, row("other"), "a revision of `other`, where `paper` was asked for"),
        (read_history, revisions(8, 8), "out of order"),
        (read_history, revisions(7, 8), "out of order"),
        (read_history, revisions(9), "out of order"),
        (read_history, revisions(8, 7, 6), "3 rows, where 2 were asked for"),
        (read_history, revisions(8, slug="other"), "a revision of `other`"),
        (read_acts, acts(7, 8), "out of order"),
        (read_acts, acts(9), "out of order"),
        (read_acts, acts(8, 7, 6), "3 rows, where 2 were asked for"),
        (read_acts, acts(8, workspace=OTHER_WORKSPACE), "holds Workspace"),
        (hold, facts(content_digest=digest_of(b"another")), "a revision of `paper` with content"),
    ],
)
def test_what_was_not_asked_for_is_never_given_on(ask: Any, answer: Json, message: str) -> None:
    with odd_server(says(answer)) as odd, client_of(odd.address) as client, pytest.raises(Fault, match=message):
        ask(client)


@pytest.mark.parametrize("ask", [find, hold, read_source])
@pytest.mark.parametrize("code", ["flow_not_found", "revision_not_found", "content_not_found"])
def test_what_is_not_there_is_none(ask: Any, code: str) -> None:
    with odd_server(problem(code, 404)) as odd, client_of(odd.address) as client:
        assert None is ask(client)


def test_a_removed_flow_has_no_current_source_and_its_revisions_are_read() -> None:
    def answer(connection: Any, request: Any) -> None:
        step = problem("revision_not_found", 404) if request.target.endswith("/current") else says(revision())
        step(connection, request)

    with odd_server(answer) as odd, client_of(odd.address) as client:
        assert None is client.source("paper")
        found = client.source("paper", 2)
    assert found is not None
    assert SOURCE.encode() == found.content


@pytest.mark.parametrize("slug", ["", ".", "..", "../../healthz", "a/b", "a b", "ü", "x" * 129, "paper?x=1", "paper#x", "%2e%2e"])
def test_under_what_is_no_slug_nothing_is_asked_for(slug: str) -> None:
    with odd_server(says(row())) as odd, client_of(odd.address) as client:
        assert (None, None, None) == (client.find(slug), client.source(slug), client.holding(slug, digest_of(b"")))
        assert ([], []) == (list(client.history(slug, 10)), list(client.acts(slug, 10)))
        for refused in (
            client.save(slug, b"", base=None),
            client.restore(slug, 1, base=1),
            client.remove(slug, base=1),
            client.difference(slug, 1, 2),
            client.export([slug]),
        ):
            assert isinstance(refused, Refusal)
            assert RefusalCode.SLUG_MALFORMED is refused.code
        assert [] == odd.asked


# --- writing ------------------------------------------------------------------------------------------------------------------------


def saved(**changed: Any) -> Json:
    return {"revision": revision(**changed), "created": True}


@pytest.mark.parametrize(("base", "header"), [(None, ("if-none-match", "*")), (1, ("if-match", '"1"'))])
def test_a_save_names_its_base_and_sends_the_source_as_it_is(base: int | None, header: tuple[str, str]) -> None:
    with odd_server(says(saved(), 201)) as odd, client_of(odd.address) as client:
        answer = client.save("paper", SOURCE.encode(), base=base, note="said")
        (asked,) = odd.asked
    assert isinstance(answer, Saved)
    assert ("PUT", "/v1/flows/paper", header[1]) == (asked.method, asked.target, asked.headers[header[0]])
    assert {"source": SOURCE, "note": "said", "override": False, "dry_run": False} == json.loads(asked.body)


def test_a_conflict_names_both_revisions_and_the_difference() -> None:
    difference = {"old": "paper revision 1", "new": "paper revision 2", "text": "-a\n+b\n", "cut": False}
    members = {"slug": "paper", "base": revision(revision=1), "named": 1, "current": revision(), "difference": difference}
    with odd_server(problem("base_stale", 412, **members)) as odd, client_of(odd.address) as client:
        answer = client.save("paper", b"mine", base=1)
    assert isinstance(answer, Conflict)
    assert answer.base is not None
    assert answer.current is not None
    assert answer.difference is not None
    assert (1, 2, 1, "-a\n+b\n") == (answer.base.revision, answer.current.revision, answer.named, answer.difference.text)


@pytest.mark.parametrize(
    "members",
    [
        {"current": revision(source="tampered")},
        {"base": revision(source="tampered")},
        {"slug": "other"},
        {"current": revision(slug="other")},
        {"current": revision(workspace=OTHER_WORKSPACE)},
        {"removed": act(workspace=OTHER_WORKSPACE)},
    ],
)
def test_a_conflict_over_something_else_is_refused(members: Json) -> None:
    with (
        odd_server(problem("base_stale", 412, **{"slug": "paper", **members})) as odd,
        client_of(odd.address) as client,
        pytest.raises(Fault),
    ):
        client.save("paper", b"mine", base=1)


def test_what_does_not_compile_comes_back_with_its_diagnostics() -> None:
    with (
        odd_server(problem("not_compiled", 422, diagnostics=[{"code": "x", "at": [1, {"a": None}]}])) as odd,
        client_of(odd.address) as client,
    ):
        answer = client.save("paper", b"x", base=None)
    assert NotCompiled(({"code": "x", "at": [1, {"a": None}]},)) == answer


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * 300_000], ids=["no UTF-8", "too large"])
def test_what_no_service_could_compile_is_not_sent(content: bytes) -> None:
    with odd_server(says(saved())) as odd, client_of(odd.address) as client:
        answer = client.save("paper", content, base=None)
        assert [] == odd.asked
    assert isinstance(answer, NotCompiled)
    assert answer.diagnostics


def test_a_refusal_comes_back_as_one() -> None:
    with odd_server(problem("name_differs", 422, "it is named `a`", allowed=["name it `b`"])) as odd, client_of(odd.address) as client:
        assert Refusal(RefusalCode.NAME_DIFFERS, "it is named `a`", ("name it `b`",)) == client.save("paper", b"x", base=None)


def test_a_refusal_that_nobody_knows_is_a_fault() -> None:
    with odd_server(problem("of_tomorrow", 422, "not so")) as odd, client_of(odd.address) as client:
        with pytest.raises(ServiceUnavailable, match="did not take the request: not so"):
            client.save("paper", b"x", base=None)
        assert 1 == len(odd.asked)


@pytest.mark.parametrize("wrong", [{"workspace": OTHER_WORKSPACE}, {"kind": "imported"}])
def test_an_answer_that_tells_nothing_of_a_removal_is_not_taken_for_one(wrong: Json) -> None:
    """The removal is looked up, and found not to be there."""

    def answer(connection: Any, request: Any) -> None:
        step = says({"act": act(**wrong), "created": True}) if request.method == "DELETE" else says(row())
        step(connection, request)

    with odd_server(answer) as odd, client_of(odd.address) as client, pytest.raises(OutcomeUnknown):
        client.remove("paper", base=2)
    assert ["DELETE", "GET"] == [each.method for each in odd.asked]


@pytest.mark.parametrize("before", [-5, 0, 2**31, 2**70])
def test_a_bound_that_no_service_takes_is_given_as_one_that_means_the_same(before: int) -> None:
    with odd_server(says({"revisions": [], "next": None})) as odd, client_of(odd.address) as client:
        assert [] == list(client.history("paper", 10**9, before))
        (asked,) = odd.asked
    assert asked.target == f"/v1/flows/paper/revisions?limit=500{'&before=0' if before < 1 else ''}"


def parting(here: Json, **there: Any) -> Json:
    new = {
        "slug": "paper",
        "definition": CANONICAL,
        **{name: revision()[name] for name in ("source", "compiler", "author", "note", "created")},
    }
    new |= {name: revision()[name] for name in ("content_digest", "definition_digest")} | there
    return {"slug": "paper", "revision": 2, "here": here, "there": new}


def test_histories_that_part_are_told_with_both_revisions() -> None:
    step = problem("histories_part", 409, bundle=digest_of(b"bundle"), flows=[parting(facts())])
    with odd_server(step) as odd, client_of(odd.address) as client:
        answer = client.take_in(b"bundle", note="é & so", expected=digest_of(b"bundle"), accept=True)
        (asked,) = odd.asked
    assert isinstance(answer, BundleConflict)
    assert [("paper", 2, "ada", SOURCE.encode())] == [
        (each.slug, each.revision, each.here.author, each.there.content) for each in answer.flows
    ]
    assert ("POST", b"bundle", "application/octet-stream") == (asked.method, asked.body, asked.headers["content-type"])
    digest = digest_of(b"bundle").replace(":", "%3A")
    assert f"/v1/bundle?note=%C3%A9+%26+so&expected={digest}&accept=true" == asked.target


@pytest.mark.parametrize(
    "flow", [parting(facts(workspace=OTHER_WORKSPACE)), parting(facts(slug="other")), parting(facts(), source="tampered")]
)
def test_histories_that_part_over_something_else_are_refused(flow: Json) -> None:
    step = problem("histories_part", 409, bundle=digest_of(b"bundle"), flows=[flow])
    with odd_server(step) as odd, client_of(odd.address) as client, pytest.raises(Fault):
        client.take_in(b"bundle")


def step_of(body: bytes, kind: str) -> Step:
    return says(body, 200, kind)


def test_a_bundle_comes_whole_in_pieces() -> None:
    bundle = bytes(range(256)) * 1000
    with odd_server(step_of(bundle, "application/octet-stream")) as odd, client_of(odd.address) as client:
        pieces = client.export(["paper", "letter"])
        assert not isinstance(pieces, Refusal)
        assert bundle == b"".join(pieces)
        assert ["/v1/bundle?slug=paper&slug=letter"] == [each.target for each in odd.asked]


def test_a_bundle_of_another_type_is_none() -> None:
    with odd_server(step_of(b"<html>", "text/html")) as odd, client_of(odd.address) as client:
        with pytest.raises(ServiceUnavailable, match="answered with `text/html`"):
            client.export([])
        assert ["/v1/bundle"] == [each.target for each in odd.asked]


@pytest.mark.parametrize("wrong", [{"flows": [{"slug": "../x", "first": 1, "last": 1}]}, {"bundle": "none"}])
def test_an_answer_that_tells_nothing_of_a_bundle_is_not_taken_for_one(wrong: Json) -> None:
    answer = {"bundle": digest_of(b"bundle"), "origin": OTHER_WORKSPACE, "flows": []} | wrong
    with odd_server(says(answer)) as odd, client_of(odd.address) as client, pytest.raises(OutcomeUnknown):
        client.take_in(b"bundle")
    assert ["/v1/bundle", "/v1/bundle?dry_run=true"] == [each.target for each in odd.asked]
