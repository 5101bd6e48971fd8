"""Tokens: how they are issued, and what shows whether one is good."""

from datetime import UTC, datetime, timedelta

import pytest

from stateward.runtime.engine.tokens import (
    SCOPES_MAX,
    TOKEN_CHARACTERS_MAX,
    Access,
    Issued,
    NotIssued,
    check,
    is_scope,
    issue,
)
from stateward.runtime.ports import StoredToken
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.masking import Secrets
from stateward.store.memory_tokens import MemoryTokens
from tests.contracts.flows import HERE, THERE

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ID = "0198c0de-0000-7000-8000-000000000101"
WORKER = "0198c0de-0000-7000-8000-000000000001"
SECRET = bytes(range(32))
TEXT = "sw_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"


@pytest.fixture
def tokens() -> MemoryTokens:
    return MemoryTokens()


def issued(tokens: MemoryTokens, **changed: object) -> Issued | NotIssued:
    given: dict[str, object] = {"token": ID, "secret": SECRET, "name": "ci", "scopes": ("write", "read"), "issuer": "ada", "now": NOW}
    return issue(tokens, HERE.id, **{**given, **changed})  # type: ignore[arg-type]


def test_what_is_kept_of_a_token_is_the_digest_of_its_text(tokens: MemoryTokens) -> None:
    kept = StoredToken(ID, HERE.id, digest_of(TEXT.encode()), "ci", ("read", "write"), "ada", NOW, NOW + timedelta(days=1))
    assert Issued(kept, TEXT) == issued(tokens, expires=NOW + timedelta(days=1))
    assert kept == tokens.by_digest(digest_of(TEXT.encode()))


def test_a_token_gives_its_name_and_the_scopes_it_was_issued_for_each_once(tokens: MemoryTokens) -> None:
    issued(tokens, scopes=("write", "read", "write"))
    access = check(tokens, HERE.id, TEXT, NOW)
    assert Access(ID, "ci", ("read", "write")) == access
    assert access is not None
    assert [True, True, False] == [access.has(each) for each in ("read", "write", "resolve")]


def test_a_token_is_good_until_its_time_is_over(tokens: MemoryTokens) -> None:
    issued(tokens, expires=NOW + timedelta(seconds=1))
    assert check(tokens, HERE.id, TEXT, NOW + timedelta(microseconds=999_999)) is not None
    assert None is check(tokens, HERE.id, TEXT, NOW + timedelta(seconds=1))


def test_a_revoked_token_is_good_no_more(tokens: MemoryTokens) -> None:
    issued(tokens)
    tokens.revoke(HERE.id, ID, NOW)
    assert None is check(tokens, HERE.id, TEXT, NOW)


def test_a_token_is_good_in_its_own_workspace_alone(tokens: MemoryTokens) -> None:
    issued(tokens)
    assert None is check(tokens, THERE.id, TEXT, NOW)


@pytest.mark.parametrize("text", ["", "sw_", TEXT[:-1], TEXT + "A", TEXT.lower(), TEXT[3:], ID, "sw_é", "sw_\udcff", "x" * 100_000])
def test_any_other_text_gives_none(tokens: MemoryTokens, text: str) -> None:
    issued(tokens)
    assert None is check(tokens, HERE.id, text, NOW)


def test_a_text_is_looked_at_no_further_than_a_token_could_be_long(tokens: MemoryTokens) -> None:
    issued(tokens)
    cut = (TEXT + TOKEN_CHARACTERS_MAX * "A")[: TOKEN_CHARACTERS_MAX + 1]
    tokens.keep(StoredToken(WORKER, HERE.id, digest_of(cut.encode()), "ci", ("read",), "ada", NOW, None))
    assert check(tokens, HERE.id, cut + "and what follows", NOW) is not None


@pytest.mark.parametrize("scope", ["read", "write", "resolve", "verify", "operate", f"work:{WORKER}", f"record:{WORKER}"])
def test_a_scope_is(scope: str) -> None:
    assert is_scope(scope)


@pytest.mark.parametrize(
    "scope", ["", "all", "Read", "read ", "work", "work:", "work:*", f"read:{WORKER}", f"work:{WORKER}x", f":{WORKER}", "read:"]
)
def test_no_scope_is(scope: str) -> None:
    assert not is_scope(scope)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scopes": ()}, "a token without a scope would open nothing"),
        ({"scopes": ("read", "all")}, "`all` is no scope"),
        ({"scopes": ("wr\x1b[31mite",)}, r"`wr\x1b[31mite` is no scope"),
        ({"scopes": tuple(f"work:{WORKER[:-2]}{each:02x}" for each in range(SCOPES_MAX + 1))}, "the token has 65 scopes"),
        ({"name": ""}, "`` cannot be the name of a token"),
        ({"name": " ci"}, "` ci` cannot be the name of a token"),
        ({"name": "c\ni"}, r"`c\ni` cannot be the name of a token"),
        ({"name": "c\udcffi"}, r"`c\udcffi` cannot be the name of a token"),
        ({"name": 257 * "é"}, "the name has 514 bytes"),
        ({"expires": NOW}, "the token would have expired before it is issued"),
    ],
)
def test_no_token_is_issued_and_none_is_kept(tokens: MemoryTokens, changed: dict[str, object], message: str) -> None:
    answer = issued(tokens, **changed)
    assert isinstance(answer, NotIssued)
    assert message == answer.message
    assert answer.help
    assert () == tuple(tokens.listed(HERE.id, 10))


def test_a_token_is_kept_out_of_texts_by_its_shape_alone(tokens: MemoryTokens) -> None:
    answer = issued(tokens, secret=bytes([251] * 32))
    assert isinstance(answer, Issued)
    assert "curl -H 'Authorization: Bearer «secret:token»'" == Secrets({}, shapes=True).mask(
        f"curl -H 'Authorization: Bearer {answer.secret}'"
    )
