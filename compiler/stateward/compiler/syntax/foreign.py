"""Texts that are no DCDL at all: other formats, prose, binary data. Such a text has one fault, whatever it holds.

Invariants: this is asked about texts that do not parse, so it may guess; it errs on the side of DCDL.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

from stateward.compiler.syntax.faults import Fault
from stateward.compiler.syntax.tokens import ERROR, OPERAND_ENDS, Tokens, starts_field

FIRST_TOKENS: Final = 12
"""A text of another kind goes wrong within so many tokens."""
WORD_PAIRS_MIN: Final = 4
"""Words side by side on a line that make prose; DCDL has none."""
HEAD: Final = 4_096
CONTROLS_MIN: Final = 4
CONTROLS_SHARE: Final = 0.02
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")
_MARKUP: Final = re.compile(r"\s*<(?:!|\?|/?[A-Za-z][\w:-]*[\s/>])")
_MARKDOWN: Final = re.compile(r"^(?:#{1,6} \S|[-*+] \S|\d+[.)] \S|>|\||---\s*$)|\]\(|\*\*\w", re.MULTILINE)
_TABLE: Final = re.compile(r"""^[ \t]*(\[\[?[\w.\-"' ]+\]\]?)[ \t]*(?:\#.*)?\r?$""", re.MULTILINE)
_YAML: Final = re.compile(r"(?:---\s*\n|\s*(?:#[^\n]*\n\s*)*)[\w.-]+:(?:\s|$)")
MARKUP: Final = "markup"
BINARY: Final = "binary data"
MARKDOWN: Final = "Markdown"
FENCE: Final = "```"
_FENCE_HELP: Final = "keep the lines between the fences alone"
TABLES: Final = "TOML or INI"
_HELP: Final[Mapping[str, str]] = {
    "JSON": 'write `name = value;` for each `"name": value`',
    "YAML": "write `name = value;` for each `name: value`",
    TABLES: "write `name = { … };` for each `[name]`",
    "prose": 'write a text as `instructions = "…";` of a state',
    MARKUP: "save the text of the source, not the page that shows it",
}
"""The one change that leads on."""


def kind_of(tokens: Tokens, stuck: int) -> Fault | None:
    """Tell what a text is that is no DCDL; `stuck` is the first token that did not fit."""
    name = _kind(tokens, stuck)
    if not name:
        return None
    start, end = (tokens.starts[0], tokens.ends[0]) if tokens.starts else (0, 0)
    if name == BINARY:
        found = _CONTROL.search(tokens.text)
        start = found.start() if found else 0
        end = start + 1
    newline = tokens.text.find("\n", start, end)
    help_ = _FENCE_HELP if name == MARKDOWN and tokens.text.lstrip().startswith(FENCE) else _HELP.get(name)
    return Fault(start, end if newline == -1 else newline, f"this is {name} and no DCDL", f"{name} begins here", help_)


def _kind(tokens: Tokens, stuck: int) -> str | None:
    text, kinds = tokens.text, tokens.kinds
    head = text[:HEAD]
    controls = len(_CONTROL.findall(head))
    if controls >= CONTROLS_MIN and controls > CONTROLS_SHARE * len(head):
        return BINARY
    if _is_json(tokens):
        return "JSON"
    if _is_toml(tokens):
        return TABLES
    if stuck >= FIRST_TOKENS or starts_field(kinds, 0):
        return None
    if _MARKUP.match(text):
        return MARKUP
    if _YAML.match(text) and "SEMICOLON" not in kinds and "EQUAL" not in kinds:
        return "YAML"
    if _has_fence(tokens) or _word_pairs(tokens) > max(WORD_PAIRS_MIN - 1, kinds.count("EQUAL")):
        return MARKDOWN if _has_fence(tokens) or _MARKDOWN.search(text) else "prose"
    return None


def is_page(text: str) -> bool:
    """Tell whether a text begins with a tag and closes one: a short page may happen to be an expression of comparisons."""
    return bool(_MARKUP.match(text)) and "</" in text


def _is_json(tokens: Tokens) -> bool:
    kinds = tokens.kinds
    if not kinds or kinds[0] not in {"LBRACE", "LSQB"} or "EQUAL" in kinds or "SEMICOLON" in kinds:
        return False
    objects = [at for at, kind in enumerate(kinds[:FIRST_TOKENS]) if kind == "LBRACE"]
    if any(kinds[at + 1 : at + 3] == ["STRING", "COLON"] for at in objects):
        return True
    try:
        json.loads(tokens.text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_toml(tokens: Tokens) -> bool:
    """Tell whether a table begins somewhere: a name in brackets on a line of its own, with `key = value` below it."""
    kinds = tokens.kinds
    if "LSQB" not in kinds or "SEMICOLON" in kinds:
        return False
    for found in _TABLE.finditer(tokens.text[:HEAD]):
        opener = bisect_left(tokens.starts, found.start(1))
        below = bisect_left(tokens.starts, found.end(1))
        if kinds[opener : opener + 1] == ["LSQB"] and (opener == 0 or kinds[opener - 1] in OPERAND_ENDS) and starts_field(kinds, below):
            return True
    return False


def _has_fence(tokens: Tokens) -> bool:
    return any(kind == ERROR and tokens.text.startswith(FENCE, start) for kind, start in zip(tokens.kinds, tokens.starts, strict=True))


def _word_pairs(tokens: Tokens) -> int:
    """Count names side by side on one line."""
    pairs = 0
    for at in range(1, len(tokens.kinds)):
        if tokens.kinds[at - 1] == "NAME" == tokens.kinds[at]:
            between = tokens.text[tokens.ends[at - 1] : tokens.starts[at]]
            pairs += "\n" not in between
    return pairs
