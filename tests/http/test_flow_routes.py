"""Flows and their revisions as resources, over every kind of store."""

import hashlib
from typing import Any

import pytest

from tests.http.desk import HERE, Desk, based_on, fine, flow, problem

FIRST, SECOND, THIRD = flow("One."), flow("Two."), flow("Three.")


def digest(source: str) -> str:
    return f"sha256:{hashlib.sha256(source.encode()).hexdigest()}"


def listed(answer: Any) -> list[tuple[str, int]]:
    return [(each["last"]["slug"], each["last"]["revision"]) for each in answer["flows"]]


def test_a_new_flow_is_created_and_says_where_it_lies(either: Desk) -> None:
    answer = either.save(FIRST, note="begun")
    saved = fine(answer, 201)
    assert (True, 1, "ada", "begun", FIRST) == (
        saved["created"],
        *(saved["revision"][each] for each in ("revision", "author", "note", "source")),
    )
    assert ('"1"', "/v1/flows/paper") == (answer.headers["etag"], answer.headers["location"])
    assert (HERE, digest(FIRST)) == (saved["revision"]["workspace"], saved["revision"]["content_digest"])


def test_a_save_on_the_last_revision_makes_the_next_one(either: Desk) -> None:
    either.save(FIRST)
    answer = either.save(SECOND, 1, name="bob")
    assert (True, 2, "bob") == (fine(answer)["created"], answer.json()["revision"]["revision"], answer.json()["revision"]["author"])
    assert '"2"' == answer.headers["etag"]
    assert "location" not in answer.headers


def test_a_save_that_is_made_again_makes_no_revision(either: Desk) -> None:
    first = fine(either.save(FIRST), 201)
    assert {**first, "created": False} == fine(either.save(FIRST))
    either.save(SECOND, 1)
    assert (False, 2) == (fine(either.save(SECOND, 1))["created"], fine(either.get("/v1/flows/paper"))["last"]["revision"])


def test_a_source_comes_back_byte_for_byte(either: Desk) -> None:
    source = "\ufeff" + flow("Schön “so”.").replace("\n", "\r\n")
    either.save(source)
    assert source == fine(either.get("/v1/flows/paper/revisions/1"))["source"]
    assert source.encode() == either.flows.revision(HERE, "paper", 1).content  # type: ignore[union-attr]


def test_a_stale_save_is_told_what_won_and_what_changed(either: Desk) -> None:
    either.save(FIRST)
    either.save(SECOND, 1, name="bob")
    stale = problem(either.save(THIRD, 1), 412, "base_stale")
    assert (1, 1, FIRST, 2, "bob", SECOND) == (
        stale["named"],
        *(stale["base"][each] for each in ("revision", "source")),
        *(stale["current"][each] for each in ("revision", "author", "source")),
    )
    assert "`paper` is at revision 2 by bob; the request was made from revision 1" == stale["detail"]
    assert ("paper revision 1", "paper revision 2") == (stale["difference"]["old"], stale["difference"]["new"])
    assert "Two." in stale["difference"]["text"]
    assert 2 == fine(either.get("/v1/flows/paper"))["last"]["revision"]


def test_a_new_slug_that_is_taken_is_a_conflict_without_a_base(either: Desk) -> None:
    either.save(FIRST)
    stale = problem(either.save(SECOND), 412, "base_stale")
    assert "base" not in stale
    assert "named" not in stale
    assert 1 == stale["current"]["revision"]


def test_a_base_of_a_slug_that_is_new_is_a_conflict_without_a_winner(either: Desk) -> None:
    stale = problem(either.save(FIRST, 3), 412, "base_stale")
    assert (3, False) == (stale["named"], "current" in stale)
    assert "the request was made from revision 3 of `paper`, and no flow has that name" == stale["detail"]


def test_an_override_is_kept_and_says_so(either: Desk) -> None:
    either.save(FIRST)
    either.save(SECOND, 1, name="bob")
    saved = fine(either.save(THIRD, 1, override=True, note="mine"))
    assert 3 == saved["revision"]["revision"]
    assert "mine\nsaved over revision 2 by bob; it was made from revision 1" == saved["revision"]["note"]


def test_a_dry_run_answers_and_keeps_nothing(either: Desk) -> None:
    answer = either.save(FIRST, dry_run=True)
    assert (True, 1) == (fine(answer)["created"], answer.json()["revision"]["revision"])
    assert "etag" not in answer.headers
    problem(either.get("/v1/flows/paper"), 404, "flow_not_found")


def test_what_does_not_compile_is_told_with_diagnostics(either: Desk) -> None:
    refused = problem(either.save("name = 3;"), 422, "not_compiled")
    assert "the source has 4 errors; nothing was stored" == refused["detail"]
    assert "missing_field" in {each["code"] for each in refused["diagnostics"]}
    assert {"start", "end", "file", "text"} == set(refused["diagnostics"][0]["primary"])
    problem(either.get("/v1/flows/paper"), 404, "flow_not_found")


def test_a_flow_of_another_name_is_refused_with_what_may_be_done(either: Desk) -> None:
    refused = problem(either.save(FIRST, slug="letter"), 422, "name_differs")
    assert ["name it `letter`", "save it as `paper`"] == refused["allowed"]


def test_a_malformed_slug_is_refused_where_it_is_written_and_not_found_where_it_is_read(service: Desk) -> None:
    assert "cannot be a slug" in problem(service.save(FIRST, slug="pa%20per"), 400, "slug_malformed")["detail"]
    assert "there is no flow `pa per` in this Workspace" == problem(service.get("/v1/flows/pa%20per"), 404, "flow_not_found")["detail"]
    assert (
        "there is no flow `pa?[31m?` in this Workspace" == problem(service.get("/v1/flows/pa%1b[31m%60"), 404, "flow_not_found")["detail"]
    )


def test_a_removed_flow_stays_readable_and_can_be_brought_back(either: Desk) -> None:
    either.save(FIRST)
    removed = fine(either.ask("DELETE", "/v1/flows/paper?note=over", headers=based_on(1)))
    assert (True, "removed", 1, "ada", "over") == (
        removed["created"],
        *(removed["act"][each] for each in ("kind", "revision", "author", "note")),
    )
    assert {**removed, "created": False} == fine(either.ask("DELETE", "/v1/flows/paper", headers=based_on(1)))
    answer = either.get("/v1/flows/paper")
    assert removed["act"] == fine(answer)["removed"]
    assert "etag" not in answer.headers
    assert FIRST == fine(either.get("/v1/flows/paper/revisions/1"))["source"]
    gone = problem(either.get("/v1/flows/paper/current"), 404, "revision_not_found")
    assert "`paper` was removed, and has no current revision" == gone["detail"]
    assert [removed["act"]] == fine(either.get("/v1/flows/paper/acts"))["acts"]
    stale = problem(either.save(SECOND), 412, "base_stale")
    assert removed["act"] == stale["removed"]
    restored = fine(either.ask("POST", "/v1/flows/paper/restore", headers=based_on(1), json={"revision": 1}))
    assert (2, FIRST) == (restored["revision"]["revision"], restored["revision"]["source"])


def test_a_removal_on_an_old_revision_is_a_conflict(either: Desk) -> None:
    either.save(FIRST)
    either.save(SECOND, 1)
    assert 2 == problem(either.ask("DELETE", "/v1/flows/paper", headers=based_on(1)), 412, "base_stale")["current"]["revision"]
    problem(either.ask("DELETE", "/v1/flows/letter", headers=based_on(1)), 404, "flow_not_found")


def test_restoring_what_never_was_is_refused(either: Desk) -> None:
    either.save(FIRST)
    for revision in (0, 2, -(2**53) + 1, 2**53 - 1):
        problem(either.ask("POST", "/v1/flows/paper/restore", headers=based_on(1), json={"revision": revision}), 404, "revision_not_found")


def test_flows_are_listed_page_by_page_and_each_page_leads_to_the_next(either: Desk) -> None:
    for slug in ("a", "b", "c"):
        either.save(flow(name=slug), slug=slug)
    either.ask("DELETE", "/v1/flows/b", headers=based_on(1))
    answer = either.get("/v1/flows?limit=1")
    assert ([("a", 1)], "a") == (listed(fine(answer)), answer.json()["next"])
    assert '</v1/flows?limit=1&after=a>; rel="next"' == answer.headers["link"]
    answer = either.get(answer.links["next"]["url"])
    assert [("c", 1)] == listed(fine(answer))
    answer = either.get(answer.links["next"]["url"])
    assert ([], None, False) == (listed(fine(answer)), answer.json()["next"], "link" in answer.headers)
    assert [("a", 1), ("b", 1), ("c", 1)] == listed(fine(either.get("/v1/flows?removed=true")))


def test_revisions_are_listed_backwards_page_by_page(either: Desk) -> None:
    for number, source in enumerate((FIRST, SECOND, THIRD)):
        either.save(source, number or None)
    answer = either.get("/v1/flows/paper/revisions?limit=2")
    assert ([3, 2], 2) == ([each["revision"] for each in fine(answer)["revisions"]], answer.json()["next"])
    assert "source" not in answer.json()["revisions"][0]
    answer = either.get(answer.links["next"]["url"])
    assert ([1], None, False) == ([each["revision"] for each in fine(answer)["revisions"]], answer.json()["next"], "link" in answer.headers)
    assert [] == fine(either.get("/v1/flows/paper/revisions?before=1"))["revisions"]
    assert None is fine(either.get("/v1/flows/paper/revisions?limit=3"))["next"]


@pytest.mark.parametrize("path", ["revisions", "acts", "revisions/1", "current", "difference?old=1&new=1", "holding?digest=x", ""])
def test_nothing_is_there_of_a_flow_that_is_not(service: Desk, path: str) -> None:
    problem(service.get(f"/v1/flows/paper/{path}".rstrip("/")), 404, "flow_not_found")


def test_a_revision_that_is_not_there_is_told_with_how_many_there_are(either: Desk) -> None:
    either.save(FIRST)
    missing = problem(either.get("/v1/flows/paper/revisions/2"), 404, "revision_not_found")
    assert "`paper` has no revision 2, and its last one is 1" == missing["detail"]
    problem(either.get(f"/v1/flows/paper/revisions/{2**53 - 1}"), 404, "revision_not_found")


def test_two_revisions_are_compared(either: Desk) -> None:
    either.save(FIRST)
    either.save(SECOND, 1)
    compared = fine(either.get("/v1/flows/paper/difference?old=1&new=2"))
    assert ("paper revision 1", "paper revision 2", False) == (compared["old"], compared["new"], compared["cut"])
    assert "Two." in compared["text"]
    assert "" == fine(either.get("/v1/flows/paper/difference?old=1&new=1"))["text"]
    missing = problem(either.get("/v1/flows/paper/difference?old=1&new=3"), 404, "revision_not_found")
    assert ["name one from 1 to 2"] == missing["allowed"]


def test_a_content_is_found_by_its_digest(either: Desk) -> None:
    either.save(FIRST)
    either.save(SECOND, 1)
    assert 1 == fine(either.get(f"/v1/flows/paper/holding?digest={digest(FIRST)}"))["revision"]
    for unknown in (digest(THIRD), "sha256:", "%00"):
        problem(either.get(f"/v1/flows/paper/holding?digest={unknown}"), 404, "content_not_found")


def test_what_is_known_is_not_sent_again(either: Desk) -> None:
    either.save(FIRST)
    either.save(SECOND, 1)
    for path, tag in (("", '"2"'), ("/revisions/1", '"1"'), ("/current", '"2"')):
        answer = either.get(f"/v1/flows/paper{path}")
        assert tag == answer.headers["etag"]
        for known in (tag, f"W/{tag}", f'"9", {tag}', "*"):
            again = either.get(f"/v1/flows/paper{path}", headers={"If-None-Match": known})
            assert (304, tag, b"") == (again.status_code, again.headers["etag"], again.content)
        assert 200 == either.get(f"/v1/flows/paper{path}", headers={"If-None-Match": '"9"'}).status_code


def test_the_tag_of_a_removed_flow_is_not_taken_for_that_of_the_flow(either: Desk) -> None:
    either.save(FIRST)
    either.ask("DELETE", "/v1/flows/paper", headers=based_on(1))
    assert fine(either.get("/v1/flows/paper", headers={"If-None-Match": '"1"'}))["removed"] is not None
