"""`stateward token`: issuing shows a token once, listing never does, revoking is for good."""

import json
from pathlib import Path

import pytest

from tests.cli.program import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def listed(here: Place) -> list[dict[str, object]]:
    return [json.loads(line) for line in here.done("token", "list", "--json").splitlines()]


def test_the_token_alone_is_printed_and_what_it_is_beside_it(here: Place) -> None:
    ended = here.call("token", "issue", "--name", "ada", "--scope", "write", "--scope", "read")
    assert (0, 1, True) == (ended.status, len(ended.out.splitlines()), ended.out.startswith("sw_"))
    (kept,) = listed(here)
    assert f"issued token {kept['id']} to ada, for read, write, for ever; this is the only time that it is shown" in ended.err
    assert ended.out.strip() not in here.done("token", "list", "--json") + here.done("token", "list")
    assert ("ada", ["read", "write"], "good", None) == tuple(kept[each] for each in ("name", "scopes", "state", "expires"))


def test_a_script_gets_all_of_it_as_json(here: Place) -> None:
    issued = json.loads(here.done("token", "issue", "--name", "ci", "--scope", "resolve", "--expires", "30d", "--json"))
    assert issued.pop("token").startswith("sw_")
    assert [issued] == listed(here)
    assert str(issued["expires"]) > str(issued["created"])


def test_tokens_are_listed_for_people_with_until_when_they_are_good(here: Place) -> None:
    assert "no token was issued" in _begun(here).done("token", "list")
    here.call("token", "issue", "--name", "ada", "--scope", "read", "--expires", "1h")
    here.call("token", "issue", "--name", "bob", "--scope", "write")
    here.done("token", "revoke", str(listed(here)[1]["id"]))
    first, second = here.done("token", "list").splitlines()[1:]
    assert " until " in first
    assert " revoked " in second


def _begun(here: Place) -> Place:
    here.call("token", "issue", "--name", "x", "--scope", "all")  # is refused, and begins nothing
    assert not (here.work / ".stateward").exists()
    (here.work / "paper.dcdl").write_text(
        'schema_version = 1; name = "paper"; initial = "a"; states = { a = { instructions = "Rest."; terminal = true; }; };'
    )
    here.done("flow", "save", "paper.dcdl")
    return here


def test_a_revoked_token_stays_revoked_at_the_time_it_was(here: Place) -> None:
    here.call("token", "issue", "--name", "ada", "--scope", "read")
    (token,) = listed(here)
    assert f"revoked token {token['id']}\n" == here.done("token", "revoke", str(token["id"]))
    (revoked,) = listed(here)
    assert ("revoked", True) == (revoked["state"], revoked["revoked"] is not None)
    assert here.done("token", "revoke", str(token["id"])).startswith(f"nothing changed: token {token['id']} was revoked ")
    assert [revoked] == listed(here)
    assert revoked == json.loads(here.done("token", "revoke", str(token["id"]), "--json"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("issue", "--name", "ada", "--scope", "all"), "error: `all` is no scope"),
        (("issue", "--name", "", "--scope", "read"), "error: `` cannot be the name of a token"),
        (("issue", "--name", "ada"), "error: missing option `--scope`"),
        (
            ("issue", "--name", "ada", "--scope", "read", "--expires", "0d"),
            "give hours, days or weeks such as 12h, 30d or 8w",
        ),
        (("issue", "--name", "ada", "--scope", "read", "--expires", "3661d"), "at most 3660d"),
        (("list",), "error: no Workspace at"),
    ],
)
def test_what_is_refused_says_why_and_begins_no_workspace(here: Place, arguments: tuple[str, ...], said: str) -> None:
    ended = here.call("token", *arguments)
    assert (2, "") == (ended.status, ended.out)
    assert said in ended.err
    assert not (here.work / ".stateward").exists()


def test_what_is_no_token_cannot_be_revoked(here: Place) -> None:
    here.call("token", "issue", "--name", "ada", "--scope", "read")
    ended = here.call("token", "revoke", "nothing")
    assert (2, "error: there is no token `nothing` in this Workspace\n  = help: see `stateward token list`\n") == (
        ended.status,
        ended.err,
    )


def test_a_token_given_for_its_id_is_not_shown_again(here: Place) -> None:
    secret = here.call("token", "issue", "--name", "ci", "--scope", "read").out.strip()
    for given in (secret, f" {secret}", secret[:-4]):
        ended = here.call("token", "revoke", given)
        assert (2, "") == (ended.status, ended.out)
        assert given.strip()[3:] not in ended.err
        assert "a token itself" in ended.err
        assert "`stateward token list`" in ended.err


@pytest.mark.parametrize(
    "command",
    [
        ("flow", "show"),
        ("flow", "resolve"),
        ("flow", "history"),
        ("flow", "export", "-o", "x"),
        ("flow", "import"),
        ("token", "issue", "--name", "ci", "--scope"),
    ],
)
def test_no_message_shows_a_token_that_was_given_for_something_else(here: Place, command: tuple[str, ...]) -> None:
    secret = here.call("token", "issue", "--name", "ci", "--scope", "read").out.strip()
    ended = here.call(*command, secret)
    assert ended.status
    assert secret[3:] not in ended.out + ended.err
