"""What every TokenStore does.

A test module for an adapter imports everything here and offers a fixture `tokens` that gives an empty store in which the Workspaces
`HERE` and `THERE` are.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from stateward.runtime.ports import StoredToken, TokenStore
from stateward.runtime.session.chain import digest_of
from tests.contracts.flows import HERE, NOON, THERE

FIRST = "0198c0de-0000-7000-8000-000000000101"
SECOND = "0198c0de-0000-7000-8000-000000000102"
THIRD = "0198c0de-0000-7000-8000-000000000103"
LATER = NOON + timedelta(hours=1)
EVENING = timezone(timedelta(hours=5, minutes=30))


def issued(token: str = FIRST, workspace: str = HERE.id, scopes: tuple[str, ...] = ("read", "resolve")) -> StoredToken:
    secret = f"{workspace}/{token}".encode()
    return StoredToken(
        id=token,
        workspace=workspace,
        digest=digest_of(secret),
        name="ci",
        scopes=scopes,
        issuer="ada",
        created=NOON,
        expires=NOON + timedelta(days=30),
    )


def test_a_token_is_found_by_its_digest_as_it_was_kept(tokens: TokenStore) -> None:
    forever = replace(issued(SECOND, scopes=("work:0198c0de-0000-7000-8000-000000000001", "write")), expires=None)
    nothing = replace(issued(THIRD, scopes=()), name="", issuer="bjørn")
    for token in (issued(), forever, nothing):
        tokens.keep(token)
    assert [issued(), forever, nothing] == [tokens.by_digest(each.digest) for each in (issued(), forever, nothing)]
    assert None is tokens.by_digest(digest_of(b"another"))
    assert None is tokens.by_digest(FIRST)


def test_tokens_of_a_workspace_are_listed_by_id_page_by_page(tokens: TokenStore) -> None:
    for token in (issued(THIRD), issued(FIRST), issued(SECOND), issued(FIRST, THERE.id)):
        tokens.keep(token)
    assert [issued(FIRST), issued(SECOND), issued(THIRD)] == list(tokens.listed(HERE.id, 10))
    assert [issued(FIRST), issued(SECOND)] == list(tokens.listed(HERE.id, 2))
    assert [issued(THIRD)] == list(tokens.listed(HERE.id, 2, after=SECOND))
    assert [issued(FIRST, THERE.id)] == list(tokens.listed(THERE.id, 10))
    assert [] == list(tokens.listed("0198c0de-0000-7000-8000-00000000000c", 10))


def test_a_revoked_token_is_still_found_and_listed_with_the_time_of_that(tokens: TokenStore) -> None:
    tokens.keep(issued())
    tokens.keep(issued(SECOND))
    revoked = replace(issued(), revoked=LATER)
    assert revoked == tokens.revoke(HERE.id, FIRST, LATER)
    assert revoked == tokens.by_digest(issued().digest)
    assert [revoked, issued(SECOND)] == list(tokens.listed(HERE.id, 10))


def test_a_token_that_was_revoked_before_stays_as_it_was(tokens: TokenStore) -> None:
    tokens.keep(issued())
    tokens.revoke(HERE.id, FIRST, LATER)
    assert replace(issued(), revoked=LATER) == tokens.revoke(HERE.id, FIRST, LATER + timedelta(days=1))
    assert replace(issued(), revoked=LATER) == tokens.by_digest(issued().digest)


def test_of_threads_that_revoke_one_token_one_sets_the_time_and_all_are_told_it(tokens: TokenStore) -> None:
    tokens.keep(issued())
    times = [LATER + timedelta(minutes=number) for number in range(8)]
    with ThreadPoolExecutor(4) as threads:
        answers = set(threads.map(lambda time: tokens.revoke(HERE.id, FIRST, time), times))
    assert {tokens.by_digest(issued().digest)} == answers


def test_a_token_that_is_not_there_is_not_revoked(tokens: TokenStore) -> None:
    tokens.keep(issued())
    assert None is tokens.revoke(HERE.id, SECOND, LATER)
    assert None is tokens.revoke(THERE.id, FIRST, LATER)
    assert issued() == tokens.by_digest(issued().digest)


@pytest.mark.parametrize(
    "second", [issued(), replace(issued(), digest=digest_of(b"other"), name="other"), replace(issued(), id=SECOND, workspace=THERE.id)]
)
def test_a_token_whose_id_or_digest_is_there_is_not_kept(tokens: TokenStore, second: StoredToken) -> None:
    tokens.keep(issued())
    with pytest.raises(ValueError, match="is there already"):
        tokens.keep(second)
    assert ([issued()], []) == (list(tokens.listed(HERE.id, 10)), list(tokens.listed(THERE.id, 10)))
    assert issued() == tokens.by_digest(issued().digest)


def test_of_threads_that_keep_one_token_at_once_one_does(tokens: TokenStore) -> None:
    def keep(name: str) -> bool:
        try:
            tokens.keep(replace(issued(), name=name))
        except ValueError:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        kept = dict(zip("abcdefgh", threads.map(keep, "abcdefgh"), strict=True))
    found = tokens.by_digest(issued().digest)
    assert found is not None
    assert [found.name] == [name for name, was_kept in kept.items() if was_kept]


def test_a_time_given_with_another_offset_is_the_same_moment(tokens: TokenStore) -> None:
    tokens.keep(replace(issued(), created=NOON.astimezone(EVENING), expires=LATER.astimezone(EVENING)))
    assert replace(issued(), expires=LATER, revoked=LATER) == tokens.revoke(HERE.id, FIRST, LATER.astimezone(EVENING))


@pytest.mark.parametrize(
    "broken",
    [
        replace(issued(), digest="sw_" + "A" * 43),
        replace(issued(), digest=issued().digest.upper()),
        replace(issued(), id=""),
        replace(issued(), name="n" * 1025),
        replace(issued(), name="\udc80"),
        replace(issued(), issuer="a\0b"),
        replace(issued(), scopes=("write", "read")),
        replace(issued(), scopes=("read", "read")),
        replace(issued(), scopes=("read write",)),
        replace(issued(), scopes=("",)),
        replace(issued(), scopes=tuple(f"work:{number:03}" for number in range(65))),
        replace(issued(), created=NOON.replace(tzinfo=None)),
        replace(issued(), expires=NOON.replace(tzinfo=None)),
        replace(issued(), revoked=LATER),
    ],
    ids=[
        "secret", "digest", "no id", "name", "no Unicode", "NUL", "unsorted", "twice", "two in one", "blank", "many", "naive", "naive end",
        "revoked",
    ],
)  # fmt: skip
def test_what_no_store_takes_is_refused_before_anything_is_written(tokens: TokenStore, broken: StoredToken) -> None:
    with pytest.raises(ValueError):
        tokens.keep(broken)
    assert [] == list(tokens.listed(HERE.id, 10))


def test_a_naive_time_revokes_nothing(tokens: TokenStore) -> None:
    tokens.keep(issued())
    with pytest.raises(ValueError):
        tokens.revoke(HERE.id, FIRST, datetime(2026, 3, 1))  # noqa: DTZ001 -- that it is naive is the point
    assert issued() == tokens.by_digest(issued().digest)
