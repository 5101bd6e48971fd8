"""Layers to one profile: operator over workspace over role over built-in.

Invariants: what comes out never grants what any layer denies, whatever the others say; a profile that would be judged by whom a layer does
not allow is none. Two profiles, or a profile and one that a log pins, are narrowed by each other by the same rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, reduce
from typing import Final, NoReturn

from stateward.runtime.core.bounds import Bounds
from stateward.runtime.ports.checking import CheckRights
from stateward.runtime.profile.form import FIELDS, SECTIONS, Field, Rule, joined
from stateward.runtime.profile.selectors import allowed
from stateward.runtime.profile.terms import (
    NOT_PINNED,
    Commands,
    KeyCommand,
    KeyFile,
    KeySource,
    ModelSettings,
    Profile,
    Rights,
    Terms,
    Value,
    VerifierBounds,
    VerifierKind,
)
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import Assurance
from stateward.runtime.session.payloads import PinnedProfile
from stateward.runtime.session.strict import Malformed, parse

JUDGE: Final = tuple(each.name for each in FIELDS.values() if each.rule is Rule.WHOLE)
"""The fields that are chosen together."""
_WHO_JUDGES: Final = ("verifier.provider", "verifier.base_url", "verifier.model", "verifier.program")
PAIRS_KEPT: Final = 64
"""Pairs of a profile in force and one that is pinned of which it is remembered what both grant: it is asked at every decision."""


class Layer(StrEnum):
    """Who says something, the highest first."""

    OPERATOR = "operator"
    WORKSPACE = "workspace"
    ROLE = "role"
    BUILT_IN = "built-in"


@dataclass(frozen=True, slots=True)
class Said:
    """What one layer says."""

    layer: Layer
    file: str
    """The file it stands in, as people know it."""
    digest: str
    """Of the bytes of that file."""
    terms: Terms
    about: str = ""


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why layers come to no profile."""

    message: str
    remedy: str


_UNSAID: Final[Terms] = {each.name: each.unsaid for each in FIELDS.values()}


def combined(upper: Terms, lower: Terms) -> Terms:
    """Join what two layers say, the upper one first. Of a field that only one of them says, that is what both come to."""
    ours = {name: value for name, value in upper.items() if name not in JUDGE}
    theirs = {name: value for name, value in lower.items() if name not in JUDGE}
    judge = {name: value for name, value in (upper if _has_judge(upper) else lower).items() if name in JUDGE}
    both = {name: joined(FIELDS[name], value, theirs[name]) for name, value in ours.items() if name in theirs}
    return {**theirs, **ours, **both, **judge}


def _has_judge(terms: Terms) -> bool:
    return any(name in terms for name in JUDGE)


def profile_of(name: str, layers: Sequence[Terms]) -> Profile | Unusable:
    """Give the profile that layers come to, the highest first."""
    nothing: Terms = {}
    return _made(name, reduce(combined, layers, nothing))


def set_by(field: Field, layers: Sequence[Said]) -> tuple[Layer, ...]:
    """Say which layers gave a field its value, the highest first; none where it is what it is when nobody says it."""
    if field.rule is Rule.WHOLE:
        return next(((each.layer,) for each in layers if _has_judge(each.terms)), ())
    saying = [(each.layer, each.terms[field.name]) for each in layers if field.name in each.terms]
    if field.rule is Rule.CHOICE:
        return tuple(layer for layer, _ in saying[:1])
    if not saying:
        return ()
    value = reduce(lambda upper, lower: joined(field, upper, lower), (said for _, said in saying))
    deciding = tuple(layer for layer, said in saying if said == value)
    return deciding or tuple(layer for layer, _ in saying)


@lru_cache(maxsize=PAIRS_KEPT)
def granted(in_force: Profile, pinned: PinnedProfile) -> Rights:
    """Give what both the profile in force and the one that a log pins grant.

    Raises Malformed when what is pinned is no value of a profile, or not the one that its digest is of.
    """
    return _rights({**_UNSAID, **combined(in_force.values(), pinned_terms(pinned))})


def other_judge(in_force: Profile, pinned: PinnedProfile) -> str:
    """Give the field in which the judge of the profile in force is not the one that a log pins; empty when it is the same.

    Whoever sets the environment of a command chooses where its profiles lie, and that may be the worker. Raises Malformed.
    """
    then, now = pinned_terms(pinned), in_force.values()
    return next((f"`{each}`" for each in _WHO_JUDGES if each in then and then[each] != now[each]), "")


def pinned_terms(pinned: PinnedProfile) -> Terms:
    """Read what a log pins. One that was pinned before there were more says four fields, and lets no check be run. Raises Malformed."""
    if not pinned.value:
        return {
            **NOT_PINNED,
            "demonstration": pinned.demonstration,
            "feature.flow": pinned.flow_enabled,
            "agent_selectors": tuple(sorted(pinned.agent_selectors)),
        }
    if digest_of(pinned.value.encode()) != pinned.digest:
        raise Malformed("the profile that is pinned is not the one that its digest is of")
    given = parse(pinned.value.encode())
    if not isinstance(given, dict):
        raise Malformed("the profile that is pinned is no object")
    return {**NOT_PINNED, **{name: _pinned_value(name, value) for name, value in given.items()}}


def _pinned_value(name: str, given: object) -> Value:
    field = FIELDS.get(name)
    if field is not None and isinstance(field.unsaid, Commands):
        return Commands(tuple(_words(name, each) for each in given)) if isinstance(given, list) else _unknown(name)
    value = tuple(given) if isinstance(given, list) else given
    if (
        field is None
        or type(value) is not type(field.unsaid)
        or (isinstance(value, tuple) and not all(isinstance(each, str) for each in value))
    ):
        _unknown(name)
    assert isinstance(value, bool | int | str | tuple)
    return value


def _words(name: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(each, str) for each in given):
        _unknown(name)
    return tuple(given)


def _unknown(name: str) -> NoReturn:
    raise Malformed(f"the profile that is pinned says `{name:.80}` in an unknown way")


def _made(name: str, said: Terms) -> Profile | Unusable:
    terms: Terms = {**_UNSAID, **said}
    kind, rights = VerifierKind(_text(terms, "verifier.kind")), _rights(terms)
    if kind not in rights.verifiers:
        allow = " or ".join(f"`{each}`" for each in rights.verifiers) or "nobody"
        return Unusable(f"profile `{name}` is to be judged by `{kind}`, and its layers allow {allow}", "choose another verifier")
    if kind is VerifierKind.SCRIPTED and not rights.demonstration:
        return Unusable(f"profile `{name}` is to be judged by a script, and is no demonstration", "choose another verifier")
    return Profile(
        name,
        kind,
        demonstration=rights.demonstration,
        flow_enabled=rights.flow_enabled,
        agent_selectors=rights.agent_selectors,
        bounds=rights.bounds,
        lease_seconds=float(_number(terms, "lease_seconds")),
        operator_assurance=rights.operator_assurance,
        selectors=rights.selectors,
        verifiers=rights.verifiers,
        verification=rights.verification,
        visit_tokens_max=rights.visit_tokens_max,
        instance_tokens_max=rights.instance_tokens_max,
        model=_model(terms) if kind is VerifierKind.MODEL else None,
        program=_texts(terms, "verifier.program"),
        checks=rights.checks,
    )


def _rights(terms: Terms) -> Rights:
    selectors = _texts(terms, "selectors")
    caps = (_number(terms, f"caps.{each}") for each in ("hold_after", "visit_verifications", "instance_verifications"))
    return Rights(
        demonstration=_flag(terms, "demonstration"),
        flow_enabled=_flag(terms, "feature.flow"),
        selectors=selectors,
        agent_selectors=tuple(each for each in _texts(terms, "agent_selectors") if allowed(each, selectors)),
        verifiers=tuple(VerifierKind(each) for each in _texts(terms, "verifiers")),
        operator_assurance=Assurance(_text(terms, "operator_assurance")),
        bounds=Bounds(*caps),
        verification=VerifierBounds(**{each: _number(terms, f"bounds.{each}") for each in SECTIONS["bounds"]}),
        visit_tokens_max=_number(terms, "caps.visit_tokens"),
        instance_tokens_max=_number(terms, "caps.instance_tokens"),
        checks=CheckRights(_commands(terms, "checks.allow"), _flag(terms, "checks.workdir_programs")),
    )


def _model(terms: Terms) -> ModelSettings:
    key: KeySource | None = None
    if file := _text(terms, "verifier.key_file"):
        key = KeyFile(file)
    elif command := _texts(terms, "verifier.key_command"):
        key = KeyCommand(command)
    return ModelSettings(_text(terms, "verifier.model"), _text(terms, "verifier.provider"), _text(terms, "verifier.base_url"), key)


def _flag(terms: Mapping[str, Value], name: str) -> bool:
    return terms[name] is True


def _text(terms: Mapping[str, Value], name: str) -> str:
    value = terms[name]
    assert isinstance(value, str), f"{name} is a text"
    return value


def _texts(terms: Mapping[str, Value], name: str) -> tuple[str, ...]:
    value = terms[name]
    assert isinstance(value, tuple), f"{name} is a list"
    return value


def _commands(terms: Mapping[str, Value], name: str) -> tuple[tuple[str, ...], ...]:
    value = terms[name]
    assert isinstance(value, Commands), f"{name} is a list of commands"
    return value.beginnings


def _number(terms: Mapping[str, Value], name: str) -> int:
    value = terms[name]
    assert isinstance(value, int), f"{name} is a number"
    return value
