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

LATER_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "flow": {
        **dict.fromkeys(("vars", "var", "context", "memory", "data", "properties"), "variables"),
        **dict.fromkeys(("params", "parameters", "args", "arguments"), "inputs"),
        **dict.fromkeys(("tests", "commands", "verifications", "gates"), "checks"),
    },
    "state": {
        **dict.fromkeys(("sees", "needs", "uses", "consumes"), "reads"),
        **dict.fromkeys(("sets", "outputs", "produces", "updates", "assigns"), "writes"),
        **dict.fromkeys(("selection", "mode", "order", "strategy"), "select"),
        **dict.fromkeys(("budget", "bounds", "maximum", "maxvisits", "retries", "maxretries", "attempts"), "limits"),
    },
    "transition": {
        **dict.fromkeys(("if", "guard", "unless", "expression"), "when"),
        **dict.fromkeys(("tests", "verify", "run", "commands"), "checks"),
        **dict.fromkeys(("else", "default", "fallback", "always"), "otherwise"),
    },
    "limit": {**dict.fromkeys(("visit", "maxvisits", "entries", "retries", "attempts", "times"), "visits")},
    "check": {
        **dict.fromkeys(("cmd", "run", "exec", "script", "program", "argv", "args"), "command"),
        **dict.fromkeys(("limit", "timeoutseconds", "deadline", "duration"), "timeout"),
    },
}
"""The same for the fields that came with version 2, before which they go there."""

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
    word = name.lower().replace("-", "").replace("_", "")
    others = (names.get(level.what, {}).get(word) for names in (LATER_NAMES, OTHER_NAMES))
    return next((other for other in others if other in level.index and other not in there), None)
