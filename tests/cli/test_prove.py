"""`stateward log verify` and `export`, `attest` and `key`, as the installed program: what they find, say and end with."""

import json
import shutil
import sqlite3
import stat
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.session.export import read_export
from stateward.store.triggers import TRIGGERS
from tests.cli.program import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    """A Worker that went through a whole flow."""
    made = place(tmp_path)
    made.done(*made.scripted())
    return made


def by_hand(here: Place, *statements: str) -> None:
    connection = sqlite3.connect(here.store, isolation_level=None)
    for name in TRIGGERS:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for sql in TRIGGERS.values():
        connection.execute(sql)
    connection.close()


def verified(here: Place, *more: str) -> tuple[int, Any]:
    ended = here.call("log", "verify", "--json", *more)
    return ended.status, json.loads(ended.out)


def answers(data: Any) -> tuple[str, str, str]:
    return data["intact"], data["complete"], data["anchored"]


def keys_of(here: Place) -> Path:
    return here.folder / ".local" / "share" / "stateward" / "keys"


# --- log ----------------------------------------------------------------------------------------------------------------------------


def test_a_log_is_shown_with_and_without_the_name_of_the_command(here: Place) -> None:
    worker = here.status()["worker"]
    assert here.done("log") == here.done("log", "show") == here.done("log", worker) == here.done("log", worker[-6:])
    assert here.done("log", "--json", "--after", "3") == here.done("log", "show", worker, "--after", "3", "--json")
    assert "verify" in here.done("log", "--help")


def test_a_log_that_nobody_touched_is_well(here: Place) -> None:
    status, data = verified(here)
    assert (0, ("yes", "yes", "yes"), False, []) == (status, answers(data), data["rolled_back"], data["findings"])
    assert (data["entries"], 0, "witness") == (data["sealed"], data["unsealed"], data["anchors"][0]["source"])
    said = here.done("log", "verify")
    assert f"anchored  yes: witness at E{data['entries']:08d}" in said


def test_an_altered_entry_is_found_named_and_not_gone_on_with(here: Place) -> None:
    by_hand(here, "UPDATE entries SET payload = x'7b7d' WHERE seq = 5")
    status, data = verified(here)
    assert (1, ("no", "yes", "yes"), [("altered", 5)]) == (
        status,
        answers(data),
        [(each["code"], each["seq"]) for each in data["findings"]],
    )
    ended = here.call("log", "verify")
    assert (1, True) == (ended.status, "E00000005  altered  its payload is not what was written" in ended.out)
    resumed = here.call(*here.scripted("--resume"))
    assert (3, True) == (resumed.status, "entry E00000005" in resumed.err)


@pytest.mark.parametrize(
    "change",
    [
        ("UPDATE entries SET payload = x'7b7d' WHERE seq = 5",),
        ("DELETE FROM entries WHERE seq = 5",),
        (
            "UPDATE entries SET seq = 99 WHERE seq = 5",
            "UPDATE entries SET seq = 5 WHERE seq = 7",
            "UPDATE entries SET seq = 7 WHERE seq = 99",
        ),
        ("UPDATE entries SET seal = zeroblob(32) WHERE seq = 5",),
    ],
    ids=["altered", "deleted", "swapped", "seal"],
)
def test_a_damaged_log_shows_what_is_before_the_damage_and_why_there_is_no_more(here: Place, change: tuple[str, ...]) -> None:
    by_hand(here, *change)
    ended = here.call("log", "--json")
    assert (3, [1, 2, 3, 4]) == (ended.status, [json.loads(line)["seq"] for line in ended.out.splitlines()])
    assert ended.err.startswith("error: entry E00000005 of Worker ")
    shown = here.call("log")
    assert (3, True, False) == (shown.status, "E00000004" in shown.out, "E00000005" in shown.out)


def test_an_older_copy_put_back_is_rolled_back_and_without_witness_nobody_can_tell(tmp_path: Path) -> None:
    here = place(tmp_path)
    here.call(*here.scripted("--max-requests", "1"))
    shutil.copy(here.store, here.folder / "copy.db")
    here.done(*here.scripted("--resume"))
    head = here.status()["head"]
    for beside in here.store.parent.glob("store.db-*"):
        beside.unlink()
    shutil.copy(here.folder / "copy.db", here.store)
    status, data = verified(here)
    assert (1, ("yes", "yes", "no"), True) == (status, answers(data), data["rolled_back"])
    assert "anchored  no: it was rolled back" in here.call("log", "verify").out
    shutil.rmtree(keys_of(here) / "witness")
    status, data = verified(here)
    assert (0, ("yes", "yes", "unknown")) == (status, answers(data))
    status, data = verified(here, "--expect", f"{head['seq']}:{head['digest']}")
    assert (1, ("yes", "yes", "no")) == (status, answers(data))


def test_an_older_copy_is_only_looked_at_until_a_person_accepts_it_and_a_statement_says_so_for_ever(tmp_path: Path) -> None:
    here = place(tmp_path)
    here.call(*here.scripted("--max-requests", "1"))
    shutil.copy(here.store, here.folder / "copy.db")
    here.done(*here.scripted("--resume"))
    for beside in here.store.parent.glob("store.db-*"):
        beside.unlink()
    shutil.copy(here.folder / "copy.db", here.store)
    refused = here.call(*here.scripted("--resume"))
    assert (3, True) == (refused.status, "is known outside the store, and the log ends at" in refused.err)
    assert (True, []) == (here.status()["rolled_back"], here.status()["rollbacks"])
    paused = here.call("operate", "pause", here.status()["worker"], "--reason", "wait")
    assert (1, True) == (paused.status, "rolled_back" in paused.out)
    accepted = here.call("operate", "accept-rollback", here.status()["worker"], "--reason", "the disk died")
    assert (0, True) == (accepted.status, "accept-rollback recorded" in accepted.out)
    here.done(*here.scripted("--resume"))
    assert "the disk died" in here.done("status")
    assert (0, ("yes", "yes", "yes")) == (verified(here)[0], answers(verified(here)[1]))
    here.done("attest", "create", "--output", "statement.json")
    predicate = json.loads(here.done("attest", "verify", "statement.json", "--json"))["statement"]["predicate"]
    assert (1, ["accept-rollback"]) == (predicate["log"]["rollbacks_accepted"], [each["verb"] for each in predicate["operator_acts"]])


def test_a_secret_that_got_into_a_log_is_taken_out_and_the_log_verifies_as_before(here: Place) -> None:
    secret = here.folder / "secret"
    secret.write_text("Ticket 41\n", "ascii")
    worker, head = here.status()["worker"], here.status()["head"]
    said = here.done("operate", "redact", worker, "--name", "TICKET", "--from", str(secret), "--reason", "it is secret")
    assert said.startswith("redacted E00000002")
    assert "Ticket 41" not in here.done("log", "--json")
    assert "«secret:TICKET»" in here.done("log", "--json")
    status, data = verified(here, "--expect", f"{head['seq']}:{head['digest']}")
    assert (0, ("yes", "yes", "yes"), True) == (status, answers(data), data["redacted"] >= 1)
    assert "a secret was taken out of" in here.done("log", "verify")
    assert "no entry of this log holds it" in here.done(
        "operate", "redact", worker, "--name", "TICKET", "--from", str(secret), "--reason", "it is secret"
    )
    secret.write_text("short", "ascii")
    refused = here.call("operate", "redact", worker, "--name", "TICKET", "--from", str(secret), "--reason", "it is secret")
    assert (2, True) == (refused.status, "has 5 characters" in refused.err)


def test_a_key_may_be_what_a_command_prints(tmp_path: Path) -> None:
    here = place(tmp_path)
    here.call(*here.scripted("--max-requests", "1"))
    program = here.folder / "keyring"
    program.write_text(f'#!/bin/sh\ntest "$1" = --name && echo {"0f" * 32}\n', "ascii")
    program.chmod(0o700)
    refused = here.call("key", "command", str(program), "--other")
    assert (3, True) == (refused.status, "ended with status 1" in refused.err)
    said = here.done("key", "command", str(program), "--name")
    assert said.startswith("entries are sealed with seal-")
    here.done(*here.scripted("--resume"))
    status, data = verified(here)
    assert (0, ("yes", "yes", "yes"), data["entries"]) == (status, answers(data), data["sealed"])
    listed = [json.loads(line) for line in here.done("key", "list", "--json").splitlines()]
    assert [said.split()[4]] == [each["id"] for each in listed if each["current"] and each["purpose"] == "seal"]
    assert 3 == here.call("key", "rotate").status
    worker = here.status()["worker"]
    program.unlink()
    gone = here.call("operate", "pause", worker, "--reason", "wait")
    assert (3, True) == (gone.status, "cannot be run" in gone.err)


def test_a_worker_that_was_taken_out_of_the_store_is_missed_by_its_witness(here: Place) -> None:
    worker = here.status()["worker"]
    by_hand(here, "DELETE FROM entries", "DELETE FROM heads", "DELETE FROM workers")
    status, data = verified(here, worker)
    assert (1, True, ["rolled_back"]) == (status, data["rolled_back"], [each["code"] for each in data["findings"]])


def test_a_head_that_was_written_down_anchors_a_log(here: Place) -> None:
    head = here.status()["head"]
    status, data = verified(here, "--expect", f"{head['seq']}:{head['digest']}")
    assert (0, "yes", "expected head") == (status, data["anchored"], data["anchors"][0]["source"])
    ended = here.call("log", "verify", "--expect", "twelve")
    assert (2, True) == (ended.status, "`twelve` is no head" in ended.err)


def test_a_log_whose_key_is_elsewhere_is_shown_and_of_unknown_intactness_and_not_gone_on_with(here: Place) -> None:
    keys_of(here).rename(here.folder / "away")
    status, data = verified(here)
    assert (0, ("unknown", "yes", "unknown"), 1) == (status, answers(data), len(data["unknown_keys"]))
    assert data["entries"] == len(here.log())
    assert not keys_of(here).exists()
    resumed = here.call(*here.scripted("--resume"))
    assert (3, True) == (resumed.status, "which is not in the key folder" in resumed.err)


def test_an_export_is_a_whole_log_that_can_be_read_anywhere(here: Place) -> None:
    here.done("log", "export", "--output", "log.jsonl")
    text = (here.work / "log.jsonl").read_text("ascii")
    assert text == here.done("log", "export")
    read = read_export(text.splitlines(keepends=True))
    status = here.status()
    assert (status["worker"], status["head"]) == (read.worker, {"seq": read.head.seq, "digest": read.head.digest})
    assert read.state.instance is not None
    assert status["flow"]["state"] == read.state.instance.state


def test_an_export_that_cannot_be_written_is_said_in_one_line(here: Place) -> None:
    ended = here.call("log", "export", "--output", "no/such/folder/log.jsonl")
    told = "error: the folder of `no/such/folder/log.jsonl` does not exist\n  = help: make it first: mkdir -p "
    assert (2, True) == (ended.status, ended.err.startswith(told))


def test_an_export_of_a_damaged_log_leaves_the_file_that_was_there(here: Place) -> None:
    here.done("log", "export", "--output", "log.jsonl")
    before = (here.work / "log.jsonl").read_bytes()
    by_hand(here, "UPDATE entries SET payload = x'7b7d' WHERE seq = 5")
    ended = here.call("log", "export", "--output", "log.jsonl")
    assert (3, True) == (ended.status, ended.err.startswith("error: entry E00000005 of Worker "))
    assert (["log.jsonl"], before) == (
        [each.name for each in here.work.iterdir() if "log" in each.name],
        (here.work / "log.jsonl").read_bytes(),
    )


# --- attest -------------------------------------------------------------------------------------------------------------------------


def test_a_statement_is_checked_offline_and_says_which_key_it_trusted_and_why(here: Place, tmp_path: Path) -> None:
    worker = here.status()["worker"]
    here.done("attest", "create", "--output", "statement.json")
    said = " ".join(here.done("attest", "verify", "statement.json").split())  # wide paths are broken over lines
    assert f"it is in the key folder {keys_of(here)}" in said
    for expected in (worker, "builtin:coder-review revision 1", "scripted, a demonstration", "isolation local", "anchored yes"):
        assert expected in said
    (here.folder / "key.pem").write_text(here.done("key", "public"), "ascii")
    (tmp_path / "elsewhere").mkdir()
    elsewhere = place(tmp_path / "elsewhere")
    path = str(here.work / "statement.json")
    distrusted = elsewhere.call("attest", "verify", path)
    assert (1, True) == (distrusted.status, "no key is trusted here" in distrusted.err)
    trusted = elsewhere.done("attest", "verify", path, "--key", str(here.folder / "key.pem"), "--json")
    assert f"it was named with `--key {here.folder / 'key.pem'}`" == json.loads(trusted)["trusted"]["why"]
    assert [] == list(elsewhere.work.iterdir())


@pytest.mark.parametrize("what", ["payload", "signature", "key id"])
def test_a_statement_that_was_tampered_with_is_refused_in_one_clear_line(here: Place, what: str) -> None:
    here.done("attest", "create", "--output", "statement.json")
    path = here.work / "statement.json"
    members = json.loads(path.read_text("ascii"))
    signature = members["signatures"][0]
    if what == "payload":
        changed = b64decode(members["payload"]).replace(b'"demonstration":true', b'"demonstration":false')
        members["payload"] = b64encode(changed).decode("ascii")
    elif what == "signature":
        signature["sig"] = b64encode(bytes(64)).decode("ascii")
    else:
        signature["keyid"] = "sign-" + "0" * 32
        signature["sig"] = b64encode(bytes(64)).decode("ascii")
    path.write_text(json.dumps(members), "ascii")
    ended = here.call("attest", "verify", "statement.json")
    first, *others = ended.err.splitlines()
    assert (1, "") == (ended.status, ended.out)
    assert first.startswith("error: `statement.json` is not to be trusted: ")
    assert all(line.startswith("  = ") for line in others)


def test_another_key_than_the_named_one_is_not_trusted(here: Place) -> None:
    here.done("attest", "create", "--output", "statement.json")
    here.done("key", "rotate")
    (here.work / "new.pem").write_text(here.done("key", "public"), "ascii")
    ended = here.call("attest", "verify", "statement.json", "--key", "new.pem")
    assert (1, True) == (ended.status, "none of the 1 trusted keys signed it" in ended.err)
    assert "signed by" in here.done("attest", "verify", "statement.json")  # the old key is kept for checking


def test_nothing_is_stated_about_a_log_that_is_not_well(here: Place) -> None:
    by_hand(here, "UPDATE entries SET seal = zeroblob(32) WHERE seq = 5")
    ended = here.call("attest", "create", "--output", "statement.json")
    assert (1, True, False) == (ended.status, "E00000005 its seal is not one of key" in ended.err, (here.work / "statement.json").exists())


@pytest.mark.parametrize("content", ["", "{}", "[]"])
def test_what_is_no_statement_is_refused(here: Place, content: str) -> None:
    (here.work / "file").write_text(content, "ascii")
    ended = here.call("attest", "verify", "file")
    assert (1, "error: `file` is no statement: it is no DSSE envelope in JSON") == (ended.status, ended.err.splitlines()[0])


def test_a_statement_or_key_that_is_not_there_is_wrong_usage(here: Place) -> None:
    assert 2 == here.call("attest", "verify", "nothing").status
    here.done("attest", "create", "--output", "statement.json")
    assert 2 == here.call("attest", "verify", "statement.json", "--key", "nothing").status
    assert 2 == here.call("attest", "verify", "statement.json", "--key", "statement.json").status


# --- key ----------------------------------------------------------------------------------------------------------------------------


def test_reading_makes_no_key_and_writing_makes_one_for_this_user_only(tmp_path: Path) -> None:
    here = place(tmp_path)
    assert "no key was made yet" in here.done("key", "list")
    assert 2 == here.call("status").status
    assert not keys_of(here).exists()
    here.done(*here.scripted())
    (listed,) = [json.loads(line) for line in here.done("key", "list", "--json").splitlines()]
    assert ("seal", True) == (listed["purpose"], listed["current"])
    files = [each for each in keys_of(here).rglob("*") if each.is_file()]
    assert {0o600} == {stat.S_IMODE(each.stat().st_mode) for each in files}
    assert {0o700} == {stat.S_IMODE(each.stat().st_mode) for each in (keys_of(here), keys_of(here) / "witness")}


def test_a_log_goes_on_over_a_rotation_and_is_well(tmp_path: Path) -> None:
    here = place(tmp_path)
    here.call(*here.scripted("--max-requests", "1"))
    here.done("key", "rotate")
    here.done(*here.scripted("--resume"))
    status, data = verified(here)
    assert (0, "yes", data["entries"]) == (status, data["intact"], data["sealed"])
    keys = [json.loads(line) for line in here.done("key", "list", "--json").splitlines()]
    assert [("seal", False), ("seal", True), ("sign", True)] == sorted((each["purpose"], each["current"]) for each in keys)


def test_no_secret_is_printed(here: Place) -> None:
    here.done("attest", "create", "--output", "statement.json")
    secrets = [json.loads(path.read_text("ascii"))["key"] for path in keys_of(here).glob("*.key")]
    printed = here.done("key", "list") + here.done("key", "list", "--json") + here.done("key", "public") + here.done("log", "export")
    assert 2 == len(secrets)
    assert [] == [secret for secret in secrets if secret in printed or b64decode(secret).hex() in printed]


def test_keys_that_others_can_read_end_every_command_that_needs_them(here: Place) -> None:
    for path in keys_of(here).glob("*.key"):
        path.chmod(0o644)
    for command in (["log"], ["log", "verify"], ["key", "list"], ["attest", "create", "--output", "s.json"]):
        ended = here.call(*command)
        assert (3, True) == (ended.status, "can be read or written by others (mode 0644)" in ended.err)


def test_a_witness_that_cannot_be_written_is_said_and_fails_nothing(here: Place) -> None:
    shutil.rmtree(keys_of(here) / "witness")
    (keys_of(here) / "witness").write_text("", "ascii")
    ended = here.call(*here.scripted())
    assert 0 == ended.status
    assert 1 == ended.err.count("warning: no witness of the log is kept in")


def test_a_signing_key_that_is_not_here_is_wrong_usage(here: Place) -> None:
    assert 2 == here.call("key", "public", "sign-" + "0" * 32).status
