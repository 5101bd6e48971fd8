"""What opens a service: which variable wins, what is refused, and that a token is never shown."""

import os
from pathlib import Path

import pytest

from stateward.runtime.remote.address import RemoteUnusable
from stateward.runtime.remote.credentials import TOKEN_BYTES_MAX, Access, Token, access_of, token_in, token_of

SERVER = "https://flows.example.org"
TOKEN = "sw_" + "t" * 43
OTHER = "sw_" + "o" * 43


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n", "ascii")
    path.chmod(0o600)
    return path


def access(environment: dict[str, str], chosen: str | None = None) -> Access:
    found = access_of(chosen, environment)
    assert found is not None
    return found


def shown_by(token: Token | None) -> str:
    assert token is not None
    return token.authorization.removeprefix("Bearer ")


def test_nothing_is_reached_where_nothing_is_named() -> None:
    assert None is access_of(None, {})
    assert None is access_of(None, {"STATEWARD_SERVER": "", "STATEWARD_TOKEN": TOKEN})


def test_the_server_that_is_chosen_wins_over_the_one_of_the_environment() -> None:
    assert SERVER == str(access({"STATEWARD_SERVER": SERVER}).address)
    assert "https://other.example.org" == str(access({"STATEWARD_SERVER": SERVER}, "https://other.example.org").address)


def test_the_file_wins_over_the_variable_and_may_be_missing_both(file: Path) -> None:
    assert None is token_of({})
    assert TOKEN == shown_by(token_of({"STATEWARD_TOKEN": TOKEN}))
    assert TOKEN == shown_by(token_of({"STATEWARD_TOKEN": OTHER, "STATEWARD_TOKEN_FILE": str(file)}))
    assert OTHER == shown_by(token_of({"STATEWARD_TOKEN": f" {OTHER}\n", "STATEWARD_TOKEN_FILE": ""}))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o666])
def test_a_file_that_others_can_read_or_write_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(RemoteUnusable) as refused:
        token_in(file)
    assert f"others can read or write the token file `{file}`" == refused.value.message
    assert f"run `chmod 600 {file}`, and issue another token" == refused.value.remedy


def test_a_file_that_is_none_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    with pytest.raises(RemoteUnusable, match="cannot be read: no such file or directory"):
        token_in(tmp_path / "missing")
    with pytest.raises(RemoteUnusable, match="is no file"):
        token_in(tmp_path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(RemoteUnusable, match="is no file"):
        token_in(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "gives nothing"),
        (b" \n", "gives nothing"),
        (b"two words", "gives something else than one word in ASCII"),
        (b"one\ntwo", "gives something else than one word in ASCII"),
        ("tökén".encode(), "gives something else than one word in ASCII"),
        (b"a\0b", "gives something else than one word in ASCII"),
        (b"x" * (TOKEN_BYTES_MAX + 1), f"gives more than {TOKEN_BYTES_MAX} bytes"),
    ],
    ids=["empty", "blank", "two words", "two lines", "no ASCII", "NUL", "too much"],
)
def test_what_is_no_token_is_refused_and_not_told(file: Path, data: bytes, message: str) -> None:
    file.write_bytes(data)
    with pytest.raises(RemoteUnusable) as refused:
        token_in(file)
    assert f"the token file `{file}` {message}" == refused.value.message


def test_a_variable_that_holds_no_token_is_refused_and_not_told() -> None:
    with pytest.raises(RemoteUnusable) as refused:
        token_of({"STATEWARD_TOKEN": "hush hush"})
    assert "the variable STATEWARD_TOKEN gives something else than one word in ASCII" == refused.value.message


def test_another_machine_without_tls_is_allowed_by_a_variable_alone() -> None:
    assert "http://10.0.0.1" == str(access({"STATEWARD_SERVER": "http://10.0.0.1", "STATEWARD_ALLOW_HTTP": "1"}).address)
    for other in ("yes", "0", "true"):
        with pytest.raises(RemoteUnusable, match=f"STATEWARD_ALLOW_HTTP is `{other}`"):
            access_of(SERVER, {"STATEWARD_ALLOW_HTTP": other})


def test_the_certificates_and_the_proxy_are_named_by_variables_of_their_own() -> None:
    found = access({"STATEWARD_CA_FILE": "/etc/ca.pem", "STATEWARD_PROXY": "http://proxy:3128", "HTTPS_PROXY": "http://evil"}, SERVER)
    assert (Path("/etc/ca.pem"), "http://proxy:3128") == (found.ca_file, str(found.proxy))
    bare = access({"HTTPS_PROXY": "http://evil", "SSL_CERT_FILE": "/evil"}, SERVER)
    assert (None, None) == (bare.ca_file, bare.proxy)


def test_a_token_is_shown_by_nothing_that_shows_values() -> None:
    found = access({"STATEWARD_TOKEN": TOKEN}, SERVER)
    assert TOKEN not in f"{found!r} {found} {found.token!r} {found.token} {[found.token]}"
    assert "told Token(…), Token(…)." == found.token.kept_out_of(f"told {TOKEN}, {TOKEN}.")  # type: ignore[union-attr]
