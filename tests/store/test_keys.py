"""The key folder: private, made when it is needed, never mended in silence."""

import errno
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stateward.runtime.ports import KeysUnusable
from stateward.store.keys import KeyFolder, Purpose
from stateward.store.seal import HmacSealer, is_signed, public_half, public_pem, read_public_pem, sign
from tests.store.sealing import key_folder, sealer

DIGEST = "sha256:" + "a" * 64


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_and_a_key_are_made_when_something_is_first_sealed_for_this_user_only(tmp_path: Path) -> None:
    folder = tmp_path / "share" / "stateward" / "keys"
    keys = key_folder(folder)
    assert (None, (), None) == (keys.find("seal-" + "0" * 32), keys.listed(), keys.current_if_any(Purpose.SEAL))
    assert not folder.exists()
    made = keys.current(Purpose.SEAL)
    assert [0o700, 0o600] == [mode(folder), mode(folder / f"{made.id}.key")]
    assert made == key_folder(folder).current(Purpose.SEAL)


def test_a_key_is_shown_by_its_id_alone(tmp_path: Path) -> None:
    key = key_folder(tmp_path / "keys").current(Purpose.SEAL)
    assert f"Key('{key.id}')" == repr(key)


def test_many_that_need_the_first_key_at_once_get_the_same_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: key_folder(tmp_path / "keys").current(Purpose.SEAL).id, range(16)))
    assert 1 == len(set(made))
    assert made[:1] == [each.id for each in key_folder(tmp_path / "keys").listed()]


def test_rotation_makes_a_new_key_and_keeps_the_old_one_for_checking(tmp_path: Path) -> None:
    keys = key_folder(tmp_path / "keys")
    old = HmacSealer(keys)
    old_id, seal = old.key_id, old.seal(DIGEST)
    new_id = keys.rotate(Purpose.SEAL).id
    later = sealer(tmp_path / "keys")
    assert new_id == later.key_id != old_id
    assert (True, False) == (later.check(old_id, DIGEST, seal), later.check(new_id, DIGEST, seal))
    assert {old_id: False, new_id: True} == {each.id: each.current for each in keys.listed()}


def test_a_sealer_goes_on_with_the_key_it_began_with(tmp_path: Path) -> None:
    running = sealer(tmp_path / "keys")
    began_with = running.key_id
    key_folder(tmp_path / "keys").rotate(Purpose.SEAL)
    assert began_with == running.key_id


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620, 0o602, 0o666])
def test_a_key_that_others_can_read_or_write_is_refused_by_name(tmp_path: Path, bits: int) -> None:
    key = key_folder(tmp_path / "keys").current(Purpose.SEAL)
    path = tmp_path / "keys" / f"{key.id}.key"
    path.chmod(bits)
    with pytest.raises(KeysUnusable, match=f"can be read or written by others .mode 0{bits:o}") as refused:
        key_folder(tmp_path / "keys").current(Purpose.SEAL)
    assert str(path) in refused.value.message
    assert "chmod go-rwx" in refused.value.remedy


@pytest.mark.parametrize("bits", [0o750, 0o705, 0o777])
def test_a_key_folder_that_others_can_look_into_is_refused(tmp_path: Path, bits: int) -> None:
    key_folder(tmp_path / "keys").current(Purpose.SEAL)
    (tmp_path / "keys").chmod(bits)
    for use in (KeyFolder.listed, lambda keys: keys.current(Purpose.SEAL), lambda keys: keys.find("seal-" + "0" * 32)):
        with pytest.raises(KeysUnusable, match="can be read or written by others"):
            use(key_folder(tmp_path / "keys"))


def test_a_key_that_is_a_link_is_refused(tmp_path: Path) -> None:
    key = key_folder(tmp_path / "keys").current(Purpose.SEAL)
    path = tmp_path / "keys" / f"{key.id}.key"
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeysUnusable, match="cannot be used"):
        key_folder(tmp_path / "keys").current(Purpose.SEAL)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"v": 2}', b"x" * 5000])
def test_a_file_that_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    key = key_folder(tmp_path / "keys").current(Purpose.SEAL)
    path = tmp_path / "keys" / f"{key.id}.key"
    path.write_bytes(content)
    with pytest.raises(KeysUnusable, match=key.id):
        key_folder(tmp_path / "keys").current(Purpose.SEAL)


def test_nothing_is_sealed_with_a_key_that_was_put_in_anothers_place(tmp_path: Path) -> None:
    key, other = key_folder(tmp_path / "keys").current(Purpose.SEAL), key_folder(tmp_path / "other").current(Purpose.SEAL)
    members = json.loads((tmp_path / "other" / f"{other.id}.key").read_text("ascii"))
    (tmp_path / "keys" / f"{key.id}.key").write_text(json.dumps({**members, "id": key.id}), "ascii")
    with pytest.raises(KeysUnusable, match=f"the file of key `{key.id}` holds another key"):
        sealer(tmp_path / "keys").seal(DIGEST)
    assert False is sealer(tmp_path / "keys").check(key.id, DIGEST, HmacSealer(key_folder(tmp_path / "x")).seal(DIGEST))


@pytest.mark.parametrize("others", [False, True])
def test_nothing_is_sealed_any_more_with_a_key_whose_file_went(tmp_path: Path, others: bool) -> None:
    running = sealer(tmp_path / "keys")
    file = tmp_path / "keys" / f"{running.key_id}.key"
    kept = file.read_bytes()
    file.unlink()
    if others:
        file.write_bytes(b"{}")
        file.chmod(0o600)
    said = "is no key file of this program" if others else "was removed while the key was in use"
    for _ in range(2):
        with pytest.raises(KeysUnusable, match=said):
            _ = running.key_id
    file.write_bytes(kept)
    file.chmod(0o600)
    assert file.stem == running.key_id


@pytest.mark.parametrize("key_id", ["", "../secret", "seal-..", "seal-" + "A" * 32, "sign-" + "0" * 31, "other-" + "0" * 32, "\udc80"])
def test_what_is_no_id_names_no_file(tmp_path: Path, key_id: str) -> None:
    (tmp_path / "secret.key").write_text("{}", "ascii")
    keys = key_folder(tmp_path / "keys")
    keys.current(Purpose.SEAL)
    assert None is keys.find(key_id)


def test_a_folder_that_cannot_be_made_is_a_fault_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "ascii")
    with pytest.raises(KeysUnusable, match="cannot be used: not a directory") as refused:
        sealer(tmp_path / "file" / "keys").seal(DIGEST)
    assert "STATEWARD_KEYS" in refused.value.remedy


def test_a_folder_without_space_for_a_key_is_a_fault_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(KeysUnusable, match="no space left on device") as refused:
        sealer(tmp_path / "keys").seal(DIGEST)
    assert "free some space on that disk" == refused.value.remedy
    monkeypatch.undo()
    assert 32 == len(sealer(tmp_path / "keys").seal(DIGEST))


def test_no_environment_variable_holds_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(os.environ)
    sealer(tmp_path / "keys").seal(DIGEST)
    assert before == dict(os.environ)


def test_a_seal_is_of_one_digest_only_and_no_signing_key_seals(tmp_path: Path) -> None:
    keys = key_folder(tmp_path / "keys")
    one = HmacSealer(keys)
    seal = one.seal(DIGEST)
    assert (True, False, False, False) == (
        one.check(one.key_id, DIGEST, seal),
        one.check(one.key_id, DIGEST[:-1] + "b", seal),
        one.check(one.key_id, DIGEST, seal[:-1]),
        one.check(one.key_id, DIGEST, b""),
    )
    assert None is one.check(keys.current(Purpose.SIGN).id, DIGEST, seal)


def test_a_signature_is_checked_by_the_public_half_that_pem_carries(tmp_path: Path) -> None:
    key = key_folder(tmp_path / "keys").current(Purpose.SIGN)
    key_id, public = read_public_pem(public_pem(public_half(key)).encode("ascii"))
    assert (key.id, public_half(key)) == (key_id, public)
    signature = sign(key, b"said")
    assert (True, False, False) == (
        is_signed(public, b"said", signature),
        is_signed(public, b"said otherwise", signature),
        is_signed(public, b"said", b""),
    )


@pytest.mark.parametrize("data", [b"", b"-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n"])
def test_what_is_no_public_key_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="it is no public key in PEM"):
        read_public_pem(data)
