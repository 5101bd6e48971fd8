"""What the fields and values of a Flow source are called elsewhere, so that a habit from another tool is met with the right name.

Invariants: words are folded (lower case, without `-` and `_`); no word of a level is a field of that level; each leads to one field.
"""

from collections.abc import Container, Mapping
from typing import Final

from stateward.compiler.diagnostics.wording import nearest
from stateward.compiler.flow.schema import Level

OTHER_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "flow": {
        **dict.fromkeys(("version", "schema", "v"), "schema_version"),
        **dict.fromkeys(("id", "title", "slug", "flowname"), "name"),
        **dict.fromkeys(("start", "begin", "entry", "first", "startat", "initialstate", "startstate"), "initial"),
        **dict.fromkeys(("nodes", "steps", "stages", "phases", "tasks"), "states"),
    },
    "state": {
        **dict.fromkeys(("prompt", "description", "desc", "text", "task", "todo", "body", "goal"), "instructions"),
        **dict.fromkeys(("final", "end", "isfinal", "isterminal", "isend", "accepting", "type", "kind"), "terminal"),
        **dict.fromkeys(("on", "next", "to", "goto", "edges", "exits", "outcomes", "events", "choices"), "transitions"),
    },
    "transition": {
        **dict.fromkeys(("to", "next", "goto", "dest", "destination", "state", "nextstate", "then"), "target"),
        **dict.fromkeys(("when", "if", "cond", "guard", "criteria", "criterion", "check", "requires", "description"), "condition"),
    },
}
"""By level, the field that each word stands for."""

TRUTHS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("true", "yes", "on", "1"), "true"),
    **dict.fromkeys(("false", "no", "off", "0"), "false"),
}
"""How a Bool is written elsewhere, in any case, and how it is here."""


def field_meant(name: str, level: Level, there: Container[str]) -> str | None:
    """Give the field that an unknown one was probably meant to be: one that is not there yet, and is near or called so elsewhere."""
    near = nearest(name, [each for each in level.index if each not in there])
    if near is not None:
        return near
    other = OTHER_NAMES.get(level.what, {}).get(name.lower().replace("-", "").replace("_", ""))
    return other if other is not None and other not in there else None
