"""What a log keeps of a profile, and how it and the profile in force narrow each other."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given

from stateward.runtime.core.bounds import Bounds
from stateward.runtime.ports.checking import CheckRights
from stateward.runtime.profile import (
    DEFAULT,
    DEMONSTRATION,
    KeyCommand,
    KeyFile,
    ModelSettings,
    Profile,
    Rights,
    VerifierBounds,
    VerifierKind,
)
from stateward.runtime.profile.form import FIELDS
from stateward.runtime.profile.layers import granted, pinned_terms, profile_of
from stateward.runtime.session.acts import ForkOrigin
from stateward.runtime.session.chain import digest_of, link
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Assurance, Kind, NewEntry
from stateward.runtime.session.payloads import PinnedProfile, SessionStarted, decode, encode
from stateward.runtime.session.strict import Malformed, Newer
from tests.profiles.terms import LAYERS
from tests.profiles.test_layers import RIGHTS, is_within

MODEL = replace(
    DEFAULT,
    name="reviews",
    verifier=VerifierKind.MODEL,
    model=ModelSettings("m-1", "openai", "", KeyCommand(("/bin/key", "a-word"))),
    agent_selectors=("builtin:a",),
)
EARLIER = PinnedProfile("default", demonstration=False, flow_enabled=True, agent_selectors=("builtin:a",))
"""Pinned before there was more than these fields."""


def session(profile: PinnedProfile, origin: ForkOrigin | None = None) -> SessionStarted:
    return SessionStarted("w", "ws", profile, "person", "local", ActorClass.PERSON, "/home/ada", origin)


def read(data: bytes) -> object:
    given = NewEntry(Kind.SESSION_STARTED, Actor(ActorClass.ENGINE, "in_process"), datetime(2026, 1, 1, tzinfo=UTC), data)
    return decode(link("w", GENESIS, given))


@pytest.mark.parametrize("origin", [None, ForkOrigin("parent", 7, "sha256:0")])
@pytest.mark.parametrize("profile", [DEFAULT.pinned(), MODEL.pinned(), EARLIER], ids=["default", "model", "earlier"])
def test_what_is_pinned_is_read_back_as_it_was(profile: PinnedProfile, origin: ForkOrigin | None) -> None:
    started = session(profile, origin)
    assert started == read(encode(started))


def test_a_session_that_pins_no_value_is_written_as_it_always_was() -> None:
    assert 1 == json.loads(encode(session(EARLIER)))["v"]
    assert 2 == json.loads(encode(session(EARLIER, ForkOrigin("parent", 7, "sha256:0"))))["v"]
    assert {"name", "demonstration", "flow_enabled", "agent_selectors"} == set(json.loads(encode(session(EARLIER)))["profile"])


def test_a_session_of_a_form_to_come_is_a_newer_programs() -> None:
    written = json.loads(encode(session(DEFAULT.pinned())))
    with pytest.raises(Newer):
        read(json.dumps({**written, "v": written["v"] + 1}).encode())


def test_the_value_and_digest_of_the_default_are_these_for_ever() -> None:
    """A change here changes what new logs pin: then the version of the session changes, and so do this test and the recorded histories."""
    expected = (
        '{"agent_selectors":[],"bounds.output_tokens":8192,"bounds.page_entries":50,"bounds.read_bytes":32768,"bounds.tokens":400000,"bounds.turns":12,'
        '"bounds.wall_seconds":300,"caps.hold_after":3,"caps.instance_tokens":20000000,"caps.instance_verifications":10000,'
        '"caps.visit_tokens":2000000,"caps.visit_verifications":100,"demonstration":false,"feature.flow":true,'
        '"operator_assurance":"none","selectors":["builtin:*","workspace:*"],"verifier.base_url":"","verifier.kind":"person",'
        '"verifier.model":"","verifier.program":[],"verifier.provider":"","verifiers":["command","model","person","scripted"]}'
    )
    pinned = DEFAULT.pinned()
    assert (expected, digest_of(expected.encode())) == (pinned.value, pinned.digest)


def test_all_fields_are_pinned_but_those_that_say_only_how_this_machine_works() -> None:
    assert sorted({*FIELDS} - {"lease_seconds", "verifier.key_file", "verifier.key_command"}) == list(MODEL.values())


def test_where_a_key_is_found_is_not_pinned() -> None:
    for key in (KeyCommand(("/bin/key", "a-word")), KeyFile("/home/ada/a-word")):
        assert MODEL.model is not None
        pinned = replace(MODEL, model=replace(MODEL.model, key=key)).pinned()
        assert "a-word" not in encode(session(pinned)).decode()
        assert MODEL.pinned().digest == pinned.digest


PROFILES = LAYERS.map(lambda layers: profile_of("any", layers)).filter(lambda made: isinstance(made, Profile))


def rights(profile: Profile) -> Rights:
    """Give the rights that a profile has by itself."""
    return Rights(**{each.name: getattr(profile, each.name) for each in fields(Rights)})


@given(PROFILES, PROFILES)
def test_the_profile_in_force_and_the_one_pinned_only_narrow_each_other(in_force: Profile, other: Profile) -> None:
    both = granted(in_force, other.pinned())
    assert both == granted(other, in_force.pinned())
    spoken = replace(DEFAULT, **{each.name: getattr(both, each.name) for each in fields(Rights)}).values()
    for field in RIGHTS:
        for each in (in_force, other):
            assert is_within(field, spoken[field.name], each.values()[field.name])


@given(PROFILES)
def test_a_profile_is_not_narrowed_by_itself(profile: Profile) -> None:
    assert rights(profile) == granted(profile, profile.pinned())


def test_each_right_of_a_profile_in_force_is_narrowed_by_what_is_pinned() -> None:
    strict = Profile(
        "strict",
        VerifierKind.PERSON,
        flow_enabled=False,
        bounds=Bounds(1, 2, 3),
        operator_assurance=Assurance.TOKEN,
        selectors=("builtin:a",),
        verifiers=(VerifierKind.PERSON,),
        verification=VerifierBounds(1, 1, 1, 1, 1024, 1),
        visit_tokens_max=1,
        instance_tokens_max=2,
    )
    assert rights(strict) == granted(DEFAULT, strict.pinned()) == granted(strict, DEFAULT.pinned())


def test_what_was_pinned_before_there_were_more_fields_narrows_by_those() -> None:
    wide = replace(DEFAULT, agent_selectors=("builtin:a", "builtin:b"))
    assert ("builtin:a",) == granted(wide, EARLIER).agent_selectors
    assert not granted(DEFAULT, replace(EARLIER, flow_enabled=False)).flow_enabled
    assert not granted(DEMONSTRATION, EARLIER).demonstration
    assert DEFAULT.bounds == granted(DEFAULT, EARLIER).bounds


@pytest.mark.parametrize(
    "value",
    [
        "[]",
        "{",
        '{"bounds.turns":1,"bounds.turns":9}',
        '{"bounds.turns":"1"}',
        '{"bounds.turns":true}',
        '{"feature.flow":1}',
        '{"selectors":["builtin:a",1]}',
        '{"right.to.fly":true}',
        '{"checks.allow":["pytest"]}',
        '{"checks.allow":[[]]}',
        '{"checks.allow":[["pytest",1]]}',
        '{"checks.allow":"pytest"}',
    ],
)
def test_a_pinned_value_that_no_program_writes_is_told_as_damage(value: str) -> None:
    with pytest.raises(Malformed):
        pinned_terms(replace(EARLIER, value=value, digest=digest_of(value.encode())))


def test_a_log_that_pins_no_checks_lets_none_be_run() -> None:
    wide = replace(DEFAULT, checks=CheckRights((("make",),), workdir_programs=True))
    for pinned in (EARLIER, DEFAULT.pinned()):
        assert CheckRights() == granted(wide, pinned).checks


def test_a_check_may_be_run_as_far_as_the_profile_in_force_and_the_one_pinned_let_it() -> None:
    wide = replace(DEFAULT, checks=CheckRights((("make",), ("pytest", "-q")), workdir_programs=True))
    narrow = replace(DEFAULT, checks=CheckRights((("make", "test"), ("tox",))))
    assert CheckRights((("make", "test"),)) == granted(wide, narrow.pinned()).checks == granted(narrow, wide.pinned()).checks


def test_a_pinned_value_that_its_digest_is_not_of_is_told_as_damage() -> None:
    pinned = DEFAULT.pinned()
    with pytest.raises(Malformed):
        pinned_terms(replace(pinned, value=pinned.value.replace('"bounds.turns":12', '"bounds.turns":99')))
