"""Which values are kept out of everything, and what is said of those that cannot be."""

from pathlib import Path

import pytest

from stateward.runtime.secrets import SecretsUnusable, known_secrets
from tests.cli.judged import asked, judged_place, started

VALUE = "tr0ub4dor&3-tr0ub4dor"


def kept(folder: Path, name: str, value: bytes, mode: int = 0o600) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.touch(mode)
    file.chmod(mode)
    file.write_bytes(value)
    return file


def test_files_and_variables_named_like_secrets_are_known(tmp_path: Path) -> None:
    kept(tmp_path, "deploy", f"{VALUE}\n".encode())
    known = known_secrets(
        tmp_path, {"CI_TOKEN": "ghp_0123456789", "SHORT_TOKEN": "abc", "EDITOR": "vi-editor-x", "my_api_key": "9876543210"}
    )
    assert ("CI_TOKEN", "my_api_key", "deploy") == known.names
    assert "«secret:deploy» «secret:CI_TOKEN» abc vi-editor-x" == known.mask(f"{VALUE} ghp_0123456789 abc vi-editor-x")


def test_a_token_that_nobody_named_is_known_by_its_shape(tmp_path: Path) -> None:
    assert "it is «secret:token»" == known_secrets(tmp_path, {}).mask("it is ghp_" + "0aB" * 12)


def test_no_folder_is_no_secret(tmp_path: Path) -> None:
    assert () == known_secrets(tmp_path / "nothing", {}).names


@pytest.mark.parametrize(
    ("name", "value", "mode", "says"),
    [
        ("deploy", VALUE.encode(), 0o640, "others can read or write the secret"),
        ("deploy", b"\xff" * 20, 0o600, "is no UTF-8"),
        ("deploy", b"short", 0o600, "has 5 characters"),
        ("de ploy", VALUE.encode(), 0o600, "has a name that"),
    ],
)
def test_a_secret_that_cannot_be_kept_ends_the_command(tmp_path: Path, name: str, value: bytes, mode: int, says: str) -> None:
    kept(tmp_path, name, value, mode)
    with pytest.raises(SecretsUnusable) as told:
        known_secrets(tmp_path, {})
    assert says in told.value.message
    assert VALUE not in told.value.message


def test_a_secret_in_a_reason_is_neither_stored_nor_told(tmp_path: Path) -> None:
    here = judged_place(tmp_path)
    kept(tmp_path / ".config" / "stateward" / "secrets", "deploy", VALUE.encode())
    started(here, "default")
    asked(here, f"it is deployed with {VALUE}")
    given = here.done("verify", "--dry-run", "--json")
    assert (False, True) == (VALUE in given, "it is deployed with «secret:deploy»" in given)
    assert not any(VALUE.encode() in each.read_bytes() for each in here.store.parent.iterdir())
