"""A key that is the output of a command: bounded, without a shell, told by its id alone."""

import json
import os
import stat
from pathlib import Path

import pytest

from stateward.runtime.ports import KeysUnusable
from stateward.store import key_command
from stateward.store.key_command import CommandKeys, configure, configured
from stateward.store.keys import KeyFolder, Purpose
from stateward.store.seal import HmacSealer
from tests.store.sealing import NOON

DIGEST = "sha256:" + "a" * 64
SECRET = "0f" * 32


def script(folder: Path, text: str, name: str = "keyring") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", "ascii")
    path.chmod(0o700)
    return str(path)


def keys(folder: Path) -> CommandKeys:
    return CommandKeys(folder, lambda: NOON)


def problem(folder: Path, *command: str) -> KeysUnusable:
    with pytest.raises(KeysUnusable) as raised:
        configure(folder / "keys", command)
    assert not (folder / "keys").exists()
    return raised.value


@pytest.mark.parametrize(
    "printed", [SECRET, SECRET.upper(), "Dw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8="], ids=["hex", "upper case", "base64"]
)
def test_what_a_command_prints_seals_and_its_id_follows_from_it(tmp_path: Path, printed: str) -> None:
    key_id = configure(tmp_path / "keys", [script(tmp_path, f"echo {printed}")])
    sealer = HmacSealer(keys(tmp_path / "keys"))
    assert key_id == sealer.key_id
    assert sealer.check(key_id, DIGEST, sealer.seal(DIGEST))
    assert HmacSealer(keys(tmp_path / "keys")).check(key_id, DIGEST, sealer.seal(DIGEST))
    assert [key_command.COMMAND_NAME] == [each.name for each in (tmp_path / "keys").iterdir()]


def test_a_folder_without_a_command_holds_its_keys_itself(tmp_path: Path) -> None:
    assert (None, None) == (configured(tmp_path / "none"), configured(tmp_path))
    made = keys(tmp_path / "keys").current(Purpose.SEAL)
    assert (
        made == keys(tmp_path / "keys").current_and_kept(Purpose.SEAL) == KeyFolder(tmp_path / "keys", lambda: NOON).current(Purpose.SEAL)
    )
    assert made.id != keys(tmp_path / "keys").rotate(Purpose.SEAL).id
    assert 2 == len(keys(tmp_path / "keys").listed())


def test_keys_of_the_folder_go_on_checking_and_signing(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    before = HmacSealer(keys(folder))
    old, seal = before.key_id, before.seal(DIGEST)
    key_id = configure(folder, [script(tmp_path, f"echo {SECRET}")])
    after = keys(folder)
    assert (True, None) == (HmacSealer(after).check(old, DIGEST, seal), HmacSealer(after).check("seal-" + "0" * 32, DIGEST, seal))
    signing = after.current(Purpose.SIGN)
    assert signing == keys(folder).current_if_any(Purpose.SIGN) == after.find(signing.id)
    assert {(old, False), (key_id, True), (signing.id, True)} == {(each.id, each.current) for each in after.listed()}
    assert signing.id != after.rotate(Purpose.SIGN).id
    with pytest.raises(KeysUnusable, match="the key that seals is what"):
        after.rotate(Purpose.SEAL)


def test_the_command_is_asked_once_for_the_life_of_the_keys(tmp_path: Path) -> None:
    count = tmp_path / "count"
    configure(tmp_path / "keys", [script(tmp_path, f"echo x >> {count}; echo {SECRET}")])
    sealer = HmacSealer(keys(tmp_path / "keys"))
    for _ in range(3):
        sealer.seal(DIGEST)
    assert "x\nx\n" == count.read_text("ascii")


def test_arguments_are_passed_as_they_are_and_read_by_no_shell(tmp_path: Path) -> None:
    program = script(tmp_path, 'test "$1" = "$(printf %s "; echo \\$HOME *")" && echo ' + SECRET)
    assert configure(tmp_path / "keys", [program, "; echo $HOME *"]).startswith("seal-")


def test_the_environment_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATEWARD_TEST_SECRET", "leaked")
    seen = tmp_path / "seen"
    configure(tmp_path / "keys", [script(tmp_path, f"env > {seen}; echo {SECRET}")])
    names = {line.partition("=")[0] for line in seen.read_text("utf-8").splitlines()}
    assert names <= {"PATH", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_", *key_command.PASSED}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exit 3", "ended with status 3"),
        (f"echo {SECRET}; exit 1", "ended with status 1"),
        ("kill -9 $$", "ended with status -9"),
        ("true", "printed no key"),
        (f"echo {SECRET}00", "printed no key"),
        (f"echo {SECRET[:-2]}", "printed no key"),
        (f"echo {SECRET[:-1]}x", "printed no key"),
        (f"echo {SECRET}; echo {SECRET}", "printed no key"),
        ("printf '\\377\\000'", "printed no key"),
        ("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done", "printed more than 4096 bytes"),
    ],
)
def test_a_command_that_gives_no_key_is_refused_and_nothing_it_printed_is_told(tmp_path: Path, text: str, why: str) -> None:
    program = script(tmp_path, text)
    found = problem(tmp_path, program)
    assert f"the command `{program}` for the key {why}" == found.message
    assert SECRET[:8] not in f"{found.message} {found.remedy}"


def test_a_command_that_never_ends_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_command, "SECONDS_MAX", 0.2)
    program = script(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 600")
    assert f"the command `{program}` for the key ran longer than 0.2 seconds" == problem(tmp_path, program).message
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text("ascii")), 0)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ((), "the command for the key has 0 words, and 1 to 64 are run"),
        (("keyring",), "the command for the key is `keyring`, which is no whole path"),
        (("/nowhere/keyring",), "the command `/nowhere/keyring` for the key cannot be run: no such file or directory"),
        (("/bin/sh", "a\0b"), "the command for the key holds a NUL"),
        (("/bin/sh", *["x"] * 64), "the command for the key has 65 words, and 1 to 64 are run"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path: Path, command: tuple[str, ...], why: str) -> None:
    assert why == problem(tmp_path, *command).message


def test_a_command_that_fails_later_leaves_what_was_configured(tmp_path: Path) -> None:
    program = Path(script(tmp_path, f"echo {SECRET}"))
    configure(tmp_path / "keys", [str(program)])
    program.unlink()
    with pytest.raises(KeysUnusable, match="cannot be run"):
        keys(tmp_path / "keys").current(Purpose.SEAL)
    assert (str(program),) == configured(tmp_path / "keys")


@pytest.mark.parametrize("content", ["", "nonsense", "{}", "[]", "[1]", '["keyring"]', '"/bin/sh"'])
def test_a_file_that_names_no_command_is_refused(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "keys"
    folder.mkdir(0o700)
    (folder / key_command.COMMAND_NAME).write_text(content, "ascii")
    (folder / key_command.COMMAND_NAME).chmod(0o600)
    with pytest.raises(KeysUnusable, match="names no command"):
        keys(folder).current(Purpose.SEAL)


def test_a_file_that_others_can_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    configure(folder, [script(tmp_path, f"echo {SECRET}")])
    named = folder / key_command.COMMAND_NAME
    assert 0o600 == stat.S_IMODE(named.stat().st_mode)
    assert [str(tmp_path / "keyring")] == json.loads(named.read_bytes())
    named.chmod(0o620)
    with pytest.raises(KeysUnusable):
        keys(folder).current(Purpose.SEAL)
