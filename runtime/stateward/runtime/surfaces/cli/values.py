"""Values as they are typed for variables and inputs: `NAME=VALUE`.

A value is JSON. What is no JSON, or is JSON that does not fit, is taken as a text as it stands where the name is declared to hold one: so
`version=1.10` of a String is "1.10", and of a Float 1.1. Invariant: what a value is follows from its text and the declaration alone.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import click

from stateward.compiler.predicates.declarations import Declaration
from stateward.compiler.predicates.schema import misfit
from stateward.compiler.predicates.text import schema_text
from stateward.runtime.core.texts import shown
from stateward.runtime.session.strict import Malformed, parse
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.options import spoken

SHOWN_BYTES_MAX: Final = 80


class Typed(NamedTuple):
    """A value for a name, as it was typed."""

    name: str
    text: str


def typed(text: str) -> Typed:
    """Take a `NAME=VALUE`. Raises BadParameter."""
    name, sign, value = spoken(text).partition("=")
    if not name or not sign:
        raise click.BadParameter(f"{shown(text, SHOWN_BYTES_MAX)} is no NAME=VALUE")
    return Typed(name, value)


INPUTS: Final = click.option(
    "--input",
    "inputs",
    type=typed,
    multiple=True,
    metavar="NAME=VALUE",
    help="What the flow is given: JSON, or a text for an input that holds one; may be given more than once.",
)


def values_of(given: Sequence[Typed], declared: Sequence[Declaration]) -> dict[str, object]:
    """Read what was typed. A name that is not declared is left to whoever knows what is. Raises Stop."""
    schemas = {each.name: each for each in declared}
    values: dict[str, object] = {}
    for each in given:
        if each.name in values:
            raise Stop(STATUS_USAGE, f"{shown(each.name)} is given twice", "give it once")
        values[each.name] = _value(each, schemas.get(each.name))
    return values


def _value(given: Typed, declared: Declaration | None) -> object:
    try:
        value = parse(given.text.encode())
    except Malformed:
        if declared is None or misfit(declared.schema, given.text) is None:
            return given.text
        holds = schema_text(declared.schema)
        message = f"{shown(given.text, SHOWN_BYTES_MAX)} is no JSON, and `{given.name}` holds no such text"
        raise Stop(STATUS_USAGE, message, f"give `{given.name}` a value of `{holds}`") from None
    takes_text = declared is not None and misfit(declared.schema, value) is not None and misfit(declared.schema, given.text) is None
    return given.text if takes_text else value


def object_of(data: bytes, named: str) -> Mapping[str, object]:
    """Read a JSON object with a value for each name. Raises Stop."""
    try:
        values = parse(data)
    except Malformed as problem:
        raise Stop(STATUS_USAGE, f"{named} is not usable: {problem}", "write it as one JSON object") from problem
    if not isinstance(values, dict):
        raise Stop(STATUS_USAGE, f"{named} is not usable: it is no object", "write it as one JSON object, with a value for each name")
    return values
