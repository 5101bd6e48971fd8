"""The fields of a verifier that belong together: which of them each kind needs, and which say nothing beside it."""

from collections.abc import Iterator, Mapping
from typing import Final

from stateward.compiler.flow.problems import Problem
from stateward.compiler.language.data import FieldData, ObjectData
from stateward.runtime.profile.problems import MissingField, OutOfPlace
from stateward.runtime.profile.terms import Value, VerifierKind

SECTION: Final = "verifier"
BELONG_TO: Final[Mapping[str, VerifierKind]] = {
    **dict.fromkeys(("provider", "base_url", "model", "key_file", "key_command"), VerifierKind.MODEL),
    "program": VerifierKind.COMMAND,
}
"""The kind for which a field is there; `kind` itself is there for all."""
INSTEAD: Final = (("provider", "base_url"), ("key_file", "key_command"))
"""Fields of which one stands in the place of the other."""


def judge_problems(section: FieldData | None, taken: Mapping[str, Value]) -> Iterator[Problem]:
    """Say what is wrong with the verifier as a whole; `taken` is what was read without a fault."""
    if section is None or not isinstance(section.value, ObjectData):
        return
    fields = section.value.fields
    if "kind" not in fields:
        yield MissingField("the verifier", "kind", '"model"', section.key, (SECTION, "kind"))
    kind = taken.get(f"{SECTION}.kind")
    if not isinstance(kind, str):
        return
    yield from _strangers(kind, fields)
    yield from _missing(VerifierKind(kind), section, fields)


def _strangers(kind: str, fields: Mapping[str, FieldData]) -> Iterator[Problem]:
    for name, field in fields.items():
        owner = BELONG_TO.get(name)
        if owner is not None and owner != kind:
            yield OutOfPlace(name, field.key, (SECTION, name), f"belongs to a verifier of kind `{owner}`, and this one is of kind `{kind}`")
    for first, second in INSTEAD:
        if kind == VerifierKind.MODEL and first in fields and second in fields:
            yield OutOfPlace(second, fields[second].key, (SECTION, second), f"stands in place of `{first}`, and both are there")


def _missing(kind: VerifierKind, section: FieldData, fields: Mapping[str, FieldData]) -> Iterator[Problem]:
    needed: tuple[tuple[str, str], ...] = ()
    if kind is VerifierKind.MODEL:
        needed = (("model", '"…"'),)
        if not fields.keys() & {"provider", "base_url"}:
            needed = (*needed, ("provider", '"openai"'))
    elif kind is VerifierKind.COMMAND:
        needed = (("program", '["/…"]'),)
    for name, example in needed:
        if name not in fields:
            yield MissingField(f"the verifier of kind `{kind}`", name, example, section.key, (SECTION, name), "verifier_incomplete")
