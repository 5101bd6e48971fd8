"""Statements: what they say follows from the log, and what was signed is what another implementation checks."""

import json
from base64 import b64decode, b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope as OtherEnvelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from stateward.runtime.core.events import Account, EntryCitation, FailureCause, Usage, Verdict
from stateward.runtime.engine.forking import Forked
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import VerificationRequest, VerifierAnswered, VerifierOutcome
from stateward.runtime.session.acts import head_text, read_head
from stateward.runtime.session.entries import Head
from stateward.runtime.session.envelope import (
    PAYLOAD_TYPE,
    SIGNATURES_MAX,
    Envelope,
    EnvelopeProblem,
    Signature,
    encoded,
    read_envelope,
    write_envelope,
)
from stateward.runtime.session.statement import (
    PREDICATE_TYPE,
    About,
    StatementProblem,
    make_statement,
    read_statement,
)
from stateward.runtime.session.verification import Anchor, verify
from stateward.store.keys import Purpose
from stateward.store.seal import is_signed, public_half, public_pem, sign
from tests.runtime.engines import MODEL, NOON, PERSON, Desk, Judge, failing, saying
from tests.runtime.judgements import judgement
from tests.store.sealing import key_folder


def stated(desk: Desk, worker: str | None = None) -> bytes:
    named = worker or desk.worker
    view, entries, ends = desk.engine.view(named), list(desk.sessions.entries(named)), desk.sessions.ends(named)
    assert isinstance(view, WorkerView)
    assert ends is not None
    verified = verify(named, ends, entries, lambda *_: True, anchors=[Anchor(view.head, "witness")])
    about = About(
        worker=view.worker,
        workspace=view.workspace,
        head=view.head,
        profile=view.profile,
        verifier=view.verifier,
        isolation=view.isolation,
        self_judged=view.self_judged,
        made=NOON,
        made_by="stateward 0",
    )
    return make_statement(about, verified, entries)


def signed(tmp_path: Path, statement: bytes) -> tuple[Envelope, str]:
    key = key_folder(tmp_path / "keys").current(Purpose.SIGN)
    signature = sign(key, encoded(PAYLOAD_TYPE, statement))
    return Envelope(PAYLOAD_TYPE, statement, (Signature(key.id, signature),)), public_pem(public_half(key))


@pytest.fixture
def desk() -> Desk:
    desk = Desk("review")
    desk.request("I am done", {})
    desk.record_evidence()
    desk.request("I cannot be checked", Judge(failing(FailureCause.TIMEOUT)))
    desk.request("now I am", {"ready": Verdict.MET})
    desk.request("it is good", {"good": Verdict.MET})
    return desk


def test_a_statement_says_which_path_was_taken_on_which_verdicts(desk: Desk) -> None:
    predicate = read_statement(stated(desk))
    (flow,) = predicate["flows"]
    assert ("workspace:review", "completed", "done", "person") == (flow["selector"], flow["status"], flow["state"], flow["chosen_by"])
    assert ["implement", "check", "done"] == [step["state"] for step in flow["path"]]
    assert {"visit": 1, "state": "implement", "entry": "E00000002"} == flow["path"][0]
    entered = flow["path"][1]
    assert ("ready", "now I am") == (entered["transition"], entered["reason"])
    expected = [
        {"transition": "ready", "verdict": "met", "checked": "met"},
        {"transition": "$cancel", "verdict": "not_met", "checked": "not_met"},
    ]
    assert expected == entered["verdicts"]
    assert {"requested": 4, "entered": 2, "no_condition_met": 1, "could not check: timeout": 1} == flow["attempts"]


def test_a_statement_says_who_judged_under_what_and_how_far_the_log_can_be_relied_on(desk: Desk) -> None:
    predicate = read_statement(stated(desk))
    usage = {"requests": 0, "input_tokens": 0, "output_tokens": 0}
    judge = {"kind": "scripted", "model": None, "prompt_digest": None, "judges": [], "self_judged": False, "usage": usage}
    assert (judge, True, "local") == (predicate["verifier"], predicate["demonstration"], predicate["isolation"])
    log, head = predicate["log"], desk.view.head
    assert {"seq": head.seq, "digest": head.digest} == log["head"]
    assert ("yes", "yes", "yes", 0, len(desk.log())) == (log["intact"], log["complete"], log["anchored"], log["sealed"], log["unsealed"])
    assert {"engine": 0, "host": 1, "operator": 1, "claim": 8, "diagnostic": 1, "workdir": 0} == log["evidence"]
    assert len(desk.log()) == sum(log["evidence"].values()) == log["entries"]


def judged(desk: Desk, reason: str, way: str, account: Account) -> None:
    def answer(request: VerificationRequest) -> VerifierOutcome:
        given = [judgement(each.transition, Verdict.MET if each.transition == way else Verdict.NOT_MET) for each in request.questions]
        cited = tuple(replace(each, citations=(EntryCitation("E00000002"),)) for each in given)
        return VerifierAnswered(cited, account=account)

    desk.request(reason, Judge(answer, "model"))


def test_a_statement_names_the_models_that_judged_their_prompts_and_what_they_cost() -> None:
    desk = Desk("review", profile=MODEL)
    judged(desk, "not yet", "none", Account(Usage(2, 100, 20), "some-model", "sha256:p", "sha256:t1"))
    judged(desk, "done", "ready", Account(Usage(1, 50, 10), "some-model", "sha256:p", "sha256:t2"))
    verifier = read_statement(stated(desk))["verifier"]
    assert ("model", "some-model", "sha256:p") == (verifier["kind"], verifier["model"], verifier["prompt_digest"])
    assert {"requests": 3, "input_tokens": 150, "output_tokens": 30} == verifier["usage"]
    judged(desk, "right", "good", Account(None, "another-model", "sha256:p", "sha256:t3"))
    predicate = read_statement(stated(desk))
    assert (None, "sha256:p") == (predicate["verifier"]["model"], predicate["verifier"]["prompt_digest"])
    assert ["some-model", "another-model"] == [each["model"] for each in predicate["verifier"]["judges"]]
    path = predicate["flows"][0]["path"]
    assert [("some-model", "sha256:t2"), ("another-model", "sha256:t3")] == [
        (each["model"], each["transcript_digest"]) for each in path[1:]
    ]


def test_the_subjects_are_the_log_and_the_definition(desk: Desk) -> None:
    members = json.loads(stated(desk))
    assert ("https://in-toto.io/Statement/v1", PREDICATE_TYPE) == (members["_type"], members["predicateType"])
    digests = {each["name"]: each["digest"]["sha256"] for each in members["subject"]}
    expected = {
        f"session {desk.worker}": desk.view.head.digest.removeprefix("sha256:"),
        "flow workspace:review": desk.flow.pin.definition_digest.removeprefix("sha256:"),
    }
    assert expected == digests


def test_an_operators_act_is_in_the_statement() -> None:
    desk = Desk("review")
    desk.engine.operate(desk.worker, "cancel", "no longer wanted", PERSON)
    predicate = read_statement(stated(desk))
    (act,) = predicate["operator_acts"]
    assert ("cancel", "no longer wanted", "ada") == (act["verb"], act["reason"], act["by"]["principal"])
    assert "instance_cancelled" == predicate["flows"][0]["path"][-1]["act"]
    assert "cancelled" == predicate["flows"][0]["status"]


def forked(desk: Desk) -> str:
    fork = desk.engine.fork(desk.worker, "try another way", PERSON)
    assert isinstance(fork, Forked)
    desk.engine.request_transition(fork.worker, "fixed it", PERSON, Judge(saying({"bad": Verdict.MET})))
    return fork.worker


def test_a_statement_about_a_fork_says_what_it_goes_on_from_and_its_own_path() -> None:
    desk = Desk("review")
    desk.request("now I am", {"ready": Verdict.MET})
    head = desk.view.head
    fork = forked(desk)
    predicate = read_statement(stated(desk, fork))
    assert {"worker": desk.worker, "seq": head.seq, "digest": head.digest} == predicate["forked_from"]
    (flow,) = predicate["flows"]
    assert ("workspace:review", desk.flow.pin.definition_digest, "person") == (
        flow["selector"],
        flow["definition_digest"],
        flow["chosen_by"],
    )
    assert (2, ["fix"], {"requested": 1, "entered": 1}) == (
        flow["entered_before_fork"],
        [step["state"] for step in flow["path"]],
        flow["attempts"],
    )
    assert ("fix", "active") == (flow["state"], flow["status"])
    assert 4 == predicate["log"]["entries"]


def test_a_statement_about_a_fork_is_checked_by_its_signature_alone(tmp_path: Path) -> None:
    desk = Desk("review")
    desk.request("now I am", {"ready": Verdict.MET})
    statement = stated(desk, forked(desk))
    envelope, _ = signed(tmp_path, statement)
    read = read_envelope(write_envelope(envelope))
    public = public_half(key_folder(tmp_path / "keys").current(Purpose.SIGN))
    assert is_signed(public, read.signed, read.signatures[0].signature)
    assert desk.worker == read_statement(read.payload)["forked_from"]["worker"]


def test_the_same_log_and_time_give_the_same_bytes(desk: Desk) -> None:
    assert stated(desk) == stated(desk)


# --- envelopes, against another implementation --------------------------------------------------------------------------------------


def other_key(pem: str) -> SSlibKey:
    return SSlibKey.from_crypto(load_pem_public_key(pem.encode("ascii")))  # type: ignore[arg-type]  # it is one of Ed25519


def other_envelope(data: bytes) -> OtherEnvelope:
    return OtherEnvelope.from_dict(json.loads(data))


def test_another_implementation_accepts_the_signature(desk: Desk, tmp_path: Path) -> None:
    envelope, pem = signed(tmp_path, stated(desk))
    key = other_key(pem)
    members = json.loads(write_envelope(envelope))
    members["signatures"][0]["keyid"] = key.keyid  # it matches signatures and keys by ids of its own
    other = OtherEnvelope.from_dict(members)
    assert {key.keyid: key} == other.verify([key], 1)
    assert other.pae() == envelope.signed


def test_another_implementation_refuses_what_we_refuse(desk: Desk, tmp_path: Path) -> None:
    envelope, pem = signed(tmp_path, stated(desk))
    key = other_key(pem)
    members = json.loads(write_envelope(envelope))
    members["signatures"][0]["keyid"] = key.keyid
    tampered = b64decode(members["payload"]).replace(b'"demonstration":true', b'"demonstration":false')
    members["payload"] = b64encode(tampered).decode("ascii")
    with pytest.raises(VerificationError):
        OtherEnvelope.from_dict(json.loads(json.dumps(members))).verify([key], 1)  # it takes members out of what it is given
    ours = read_envelope(json.dumps(members).encode())
    key_public = public_half(key_folder(tmp_path / "keys").current(Purpose.SIGN))
    assert not is_signed(key_public, ours.signed, ours.signatures[0].signature)


@pytest.mark.parametrize("payload", [b"", b"{}", "é".encode(), b"\x00" * 100])
def test_the_encoding_before_signing_is_that_of_another_implementation(payload: bytes) -> None:
    other = OtherEnvelope(payload, PAYLOAD_TYPE, {})
    assert other.pae() == encoded(PAYLOAD_TYPE, payload)


def test_an_envelope_comes_back_as_it_was_written(tmp_path: Path) -> None:
    envelope, _ = signed(tmp_path, b"{}")
    assert envelope == read_envelope(write_envelope(envelope))
    assert envelope.payload == other_envelope(write_envelope(envelope)).payload


@pytest.mark.parametrize(
    "change",
    [
        {"payload": "no base64!"},
        {"payload": None},
        {"payloadType": 5},
        {"payloadType": "text/plain"},
        {"signatures": None},
        {"signatures": [5]},
        {"signatures": [{"keyid": "k"}]},
        {"signatures": [{"sig": "!"}]},
    ],
)
def test_what_is_no_envelope_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    envelope, _ = signed(tmp_path, b"{}")
    members = {**json.loads(write_envelope(envelope)), **change}
    with pytest.raises(EnvelopeProblem):
        read_envelope(json.dumps(members).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_bytes_that_are_no_envelope_are_refused(data: bytes) -> None:
    with pytest.raises(EnvelopeProblem, match="it is no DSSE envelope in JSON"):
        read_envelope(data)


def test_the_signatures_that_are_looked_at_are_bounded(tmp_path: Path) -> None:
    envelope, _ = signed(tmp_path, b"{}")
    many = Envelope(PAYLOAD_TYPE, b"{}", envelope.signatures * 1000)
    assert SIGNATURES_MAX == len(read_envelope(write_envelope(many)).signatures)


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b'{"_type": "x", "predicateType": "y", "predicate": {}}', b'{"_type":1,"predicateType":2,"predicate":3}'],
)
def test_what_is_signed_and_no_statement_of_ours_states_nothing(data: bytes) -> None:
    with pytest.raises(StatementProblem):
        read_statement(data)


# --- heads as texts -----------------------------------------------------------------------------------------------------------------


def test_a_head_is_read_with_and_without_the_name_of_the_algorithm() -> None:
    head = Head(12, "sha256:" + "0f" * 32)
    assert (head, head) == (read_head(head_text(head)), read_head("12:" + "0f" * 32))


@pytest.mark.parametrize(
    "text", ["", "12", ":", "x:" + "0f" * 32, "12:" + "0f" * 31, "12:" + "0F" * 32, "-1:" + "0f" * 32, "²:" + "0f" * 32]
)
def test_what_is_no_head_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a head is the number of an entry"):
        read_head(text)
