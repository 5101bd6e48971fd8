"""Whether the exit status of a shell command says how all of it went, or may hide that a part of it failed.

Invariants: pure; errs on the side of "may be masked"; a command that is not understood is not called plain. Nothing is run or expanded.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

COMMAND_CHARACTERS_MAX: Final = 64 * 1024
"""Of a command that is looked at; a longer one is not."""

_TOKEN: Final = re.compile(
    r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|\|\||\|&|&&|[<>]&|&>|>\||\||;|&|\n|[^\\'"|&;<>\n]+|.""",
    re.DOTALL,
)
_SETTINGS: Final = re.compile(r"\s*set((?:\s+(?:-[a-zA-Z]+(?:\s+pipefail)?))+)\s*(?:;|&&|\n)")
"""What a script sets at its beginning."""
_RUNS_TEXT: Final = re.compile(r"\b(?:sh|bash|dash|zsh|ksh|fish|eval|ssh|su|watch)\b")
"""What runs a quoted text as a command."""
_UNSETS: Final = re.compile(r"\btrap\b|\bset\s+\+")

_PIPE: Final = "a pipeline ends with the status of its last command"
_OR: Final = "`||` puts another status in the place of a failure"
_SEQUENCE: Final = "only the last of several commands sets the status"
_BACKGROUND: Final = "a command in the background sets no status"
_NEGATED: Final = "`!` turns the status round"
_TOO_LONG: Final = "the command is too long to be looked at"


def masked_by(command: str | Sequence[str]) -> str | None:
    """Say what may keep a failure out of the status of a command; None when nothing of the kind is seen.

    A command is a line for a shell, or a program and its arguments.
    """
    line = command if isinstance(command, str) else shlex.join(command)
    if len(line) > COMMAND_CHARACTERS_MAX:
        return _TOO_LONG
    line, pipes_fail, stops_at_failure = _settings(line.strip())
    line = line.strip().rstrip("; \t\n")
    if line.startswith("!"):
        return _NEGATED
    masks = {"||": _OR, "&": _BACKGROUND}
    if not pipes_fail:
        masks |= {"|": _PIPE, "|&": _PIPE}
    if not stops_at_failure:
        masks |= {";": _SEQUENCE, "\n": _SEQUENCE}
    found = next((masks[token] for token in _TOKEN.findall(line) if token in masks), None)
    return found or next((inner for text in _run_texts(line) if (inner := masked_by(text))), None)


def _settings(line: str) -> tuple[str, bool, bool]:
    """Take what a script sets first off it: whether a pipeline fails with any of its commands, and whether a failure ends it."""
    pipes_fail = stops_at_failure = False
    while found := _SETTINGS.match(line):
        pipes_fail |= "pipefail" in found[1]
        stops_at_failure |= re.search(r"-[a-zA-Z]*e", found[1]) is not None
        line = line[found.end() :]
    undone = _UNSETS.search(line) is not None
    return line, pipes_fail and not undone, stops_at_failure and not undone


def _run_texts(line: str) -> Iterator[str]:
    """Give the quoted texts in a line that may be run as commands of their own: two deep at most, for there are two kinds of quotes."""
    if _RUNS_TEXT.search(line) is None:
        return
    for token in _TOKEN.findall(line):
        if len(token) > 1 and token[0] == token[-1] and token[0] in "'\"":
            yield token[1:-1]
