"""Rights are what all layers grant; choices are those of the highest layer: whatever the layers say, in whatever order they come."""

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.profile import commands
from stateward.runtime.profile.form import ASSURANCES, FIELDS, Field, ListOf, Rule, Word
from stateward.runtime.profile.layers import JUDGE, Layer, Said, Unusable, combined, profile_of, set_by
from stateward.runtime.profile.selectors import allowed
from stateward.runtime.profile.terms import Commands, KeyCommand, KeyFile, ModelSettings, Profile, Terms, Value, VerifierKind
from tests.profiles.terms import BEGINNINGS, LAYERS, SELECTORS, TERMS

NOTHING: Terms = {}
RIGHTS = [each for each in FIELDS.values() if each.rule not in {Rule.CHOICE, Rule.WHOLE}]
ALL = {"verifiers": tuple(sorted(VerifierKind)), "demonstration": True}
"""What lets any verifier judge."""


def joined(layers: list[Terms]) -> Terms:
    return reduce(combined, layers, NOTHING)


def granted(field: Field, value: Value) -> frozenset[object]:
    """Give what a value of a right that is no number grants, one by one."""
    match field.rule, value:
        case Rule.BOTH, bool():
            return frozenset({True} if value else ())
        case Rule.STRICTEST, str():
            return frozenset(ASSURANCES[ASSURANCES.index(value) :])
        case Rule.COMMON, Commands(beginnings=beginnings):
            return frozenset(each for each in BEGINNINGS if commands.allowed(each, beginnings))
        case Rule.COMMON, tuple():
            assert isinstance(field.type, ListOf)
            there = field.type.item.words if isinstance(field.type.item, Word) else SELECTORS
            return frozenset(each for each in there if allowed(each, value))
    raise AssertionError(f"{field.name} is no such right")


def is_within(field: Field, narrow: Value, wide: Value) -> bool:
    """Tell whether one value of a right grants nothing that the other does not."""
    if field.rule is Rule.LEAST:
        assert isinstance(narrow, int)
        assert isinstance(wide, int)
        return narrow <= wide
    return granted(field, narrow) <= granted(field, wide)


@given(LAYERS)
def test_nothing_is_granted_that_any_layer_denies(layers: list[Terms]) -> None:
    result = joined(layers)
    for field in RIGHTS:
        for layer in layers:
            if field.name in layer:
                assert is_within(field, result[field.name], layer[field.name])


@given(LAYERS)
def test_everything_is_granted_that_all_layers_grant_that_say_it(layers: list[Terms]) -> None:
    result = joined(layers)
    for field in RIGHTS:
        saying = [layer[field.name] for layer in layers if field.name in layer]
        if not saying:
            assert field.name not in result
        elif field.rule is Rule.LEAST:
            assert result[field.name] in saying
        else:
            assert frozenset.intersection(*(granted(field, each) for each in saying)) == granted(field, result[field.name])


@given(LAYERS.flatmap(lambda layers: st.tuples(st.just(layers), st.permutations(layers))))
def test_rights_do_not_depend_on_the_order_of_the_layers(both: tuple[list[Terms], list[Terms]]) -> None:
    one, other = (joined(layers) for layers in both)
    names = {field.name for field in RIGHTS}
    assert {name: value for name, value in one.items() if name in names} == {name: value for name, value in other.items() if name in names}


@given(TERMS, TERMS, TERMS)
def test_it_does_not_matter_which_layers_are_joined_first(one: Terms, two: Terms, three: Terms) -> None:
    assert combined(combined(one, two), three) == combined(one, combined(two, three))


@given(TERMS)
def test_a_layer_that_is_said_twice_says_no_more(terms: Terms) -> None:
    assert terms == combined(terms, terms)
    assert terms == combined(terms, NOTHING) == combined(NOTHING, terms)


@given(LAYERS, TERMS, st.integers(0, 4))
def test_one_more_layer_anywhere_widens_nothing_that_was_said(layers: list[Terms], more: Terms, at: int) -> None:
    before, after = joined(layers), joined([*layers[:at], more, *layers[at:]])
    for field in RIGHTS:
        if field.name in before:
            assert is_within(field, after[field.name], before[field.name])


@given(LAYERS)
def test_a_choice_is_that_of_the_highest_layer_that_says_it(layers: list[Terms]) -> None:
    said = [each["lease_seconds"] for each in layers if "lease_seconds" in each]
    assert said[:1] == [value for name, value in joined(layers).items() if name == "lease_seconds"]


@given(LAYERS)
def test_a_verifier_is_never_put_together_from_two_layers(layers: list[Terms]) -> None:
    judges = [{name: value for name, value in each.items() if name in JUDGE} for each in layers]
    chosen = {name: value for name, value in joined(layers).items() if name in JUDGE}
    assert next((each for each in judges if each), {}) == chosen


@given(LAYERS)
def test_a_profile_is_within_each_of_its_layers_or_is_none(layers: list[Terms]) -> None:
    profile = profile_of("any", layers)
    if isinstance(profile, Unusable):
        kind = next((each["verifier.kind"] for each in layers if "verifier.kind" in each), "person")
        result = joined(layers)
        assert kind not in result.get("verifiers", SELECTORS) or (kind == "scripted" and not result.get("demonstration", False))
        return
    for field in RIGHTS:
        for layer in layers:
            if field.name in layer:
                assert is_within(field, profile.values()[field.name], layer[field.name])


def test_a_lower_layer_cannot_send_the_key_of_a_higher_one_elsewhere() -> None:
    upper: Terms = {"verifier.kind": "model", "verifier.model": "m", "verifier.provider": "openai", "verifier.key_file": "/etc/key"}
    lower: Terms = {"verifier.kind": "model", "verifier.model": "m", "verifier.base_url": "https://elsewhere.example"}
    profile = profile_of("any", [upper, lower])
    assert isinstance(profile, Profile)
    assert ModelSettings("m", "openai", "", KeyFile("/etc/key")) == profile.model


def test_a_key_may_come_from_a_command() -> None:
    terms: Terms = {"verifier.kind": "model", "verifier.model": "m", "verifier.provider": "p", "verifier.key_command": ("/bin/key", "x")}
    profile = profile_of("any", [terms])
    assert isinstance(profile, Profile)
    assert ModelSettings("m", "p", "", KeyCommand(("/bin/key", "x"))) == profile.model


def test_a_command_may_judge() -> None:
    profile = profile_of("any", [{"verifier.kind": "command", "verifier.program": ("/bin/judge",)}])
    assert isinstance(profile, Profile)
    assert (VerifierKind.COMMAND, ("/bin/judge",), None) == (profile.verifier, profile.program, profile.model)


def test_who_judges_has_to_be_allowed_by_every_layer() -> None:
    layers: list[Terms] = [{"verifiers": ("command", "model")}, {"verifier.kind": "person"}]
    message = "profile `mine` is to be judged by `person`, and its layers allow `command` or `model`"
    assert Unusable(message, "choose another verifier") == profile_of("mine", layers)


def test_a_script_judges_only_where_every_layer_lets_it_be_a_demonstration() -> None:
    script: Terms = {"verifier.kind": "scripted", "demonstration": True}
    assert isinstance(profile_of("mine", [script]), Profile)
    message = "profile `mine` is to be judged by a script, and is no demonstration"
    assert Unusable(message, "choose another verifier") == profile_of("mine", [{"demonstration": False}, script])


def test_an_agent_starts_only_what_may_be_started_at_all() -> None:
    profile = profile_of("mine", [{"selectors": ("builtin:*",)}, {"agent_selectors": ("builtin:a", "workspace:b")}])
    assert isinstance(profile, Profile)
    assert ("builtin:a",) == profile.agent_selectors


def said(layer: Layer, terms: Terms) -> Said:
    return Said(layer, f"{layer}.dcdl", "sha256:0", terms)


OPERATOR = said(Layer.OPERATOR, {"bounds.turns": 8, "selectors": ("builtin:*",), "demonstration": False, "lease_seconds": 9})
ROLE = said(Layer.ROLE, {"bounds.turns": 20, "selectors": ("builtin:a", "workspace:a"), "demonstration": False, "verifier.kind": "person"})
BUILT_IN = said(Layer.BUILT_IN, {"verifier.kind": "scripted", "demonstration": True, "lease_seconds": 3, "verifiers": ("person",)})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bounds.turns", [Layer.OPERATOR]),
        ("selectors", [Layer.OPERATOR, Layer.ROLE]),
        ("demonstration", [Layer.OPERATOR, Layer.ROLE]),
        ("lease_seconds", [Layer.OPERATOR]),
        ("verifiers", [Layer.BUILT_IN]),
        ("verifier.kind", [Layer.ROLE]),
        ("verifier.model", [Layer.ROLE]),
        ("caps.hold_after", []),
    ],
)
def test_it_is_told_which_layers_gave_a_field_its_value(name: str, expected: list[Layer]) -> None:
    assert tuple(expected) == set_by(FIELDS[name], [OPERATOR, ROLE, BUILT_IN])


def test_what_no_layer_says_is_as_the_form_has_it() -> None:
    profile = profile_of("mine", [])
    assert isinstance(profile, Profile)
    assert {name: each.unsaid for name, each in FIELDS.items() if name in profile.values()} == profile.values()
