"""The prompt of a judge: shipped text, and between its parts what the attempt is about.

Invariants: the shipped text is cut at its marks before anything is put there, so nothing in what is put there is ever looked up;
instructions and conditions stand byte for byte as the pinned definition has them, the reason with everything in it made visible; each
stands in a block, and so does what variables hold. The digest is that of the shipped text and of the tools: it names the version of the
prompt, whatever it is asked about. What is said of variables is part of the prompt, and of its digest, only where a flow has some.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from stateward.resources import folder
from stateward.runtime.core.texts import is_blank
from stateward.runtime.ports import Question, VerificationRequest
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.visible import visible
from stateward.runtime.verifier.blocks import block
from stateward.runtime.verifier.declared import ToolDeclaration
from stateward.runtime.verifier.held import has_any, held_lines, part_lines

_SYSTEM: Final = "verifier-system.md"
_QUESTION: Final = "verifier-question.md"
_WORKDIR: Final = {True: "verifier-with-workdir.md", False: "verifier-without-workdir.md"}
_VARIABLES: Final = "verifier-variables.md"
_FILES: Final = (_SYSTEM, _QUESTION, *_WORKDIR.values())
_MARK: Final = re.compile(r"^\[\[([a-z]+)\]\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a judge is given before it looks around."""

    system: str
    """The same for every attempt."""
    user: str
    digest: str
    """Of the shipped text and the tools."""


def prompt(request: VerificationRequest, channels: Sequence[str], tools: Sequence[ToolDeclaration], *, with_workdir: bool) -> Prompt:
    """Write the prompt of an attempt; `channels` are lines that say what records this Worker."""
    parts = {
        "state": f"flow `{request.flow}`, state `{request.state}`, visit {request.visit}, attempt {request.attempt_number}",
        "instructions": _said(request.attempt, request.instructions),
        "reason": block(request.attempt, visible(request.reason)),
        "conditions": "\n\n".join(_condition(request.attempt, each) for each in request.questions),
        "channels": "\n".join(channels) or "None.",
        "workdir": _text(_WORKDIR[with_workdir]),
    }
    files: tuple[str, ...] = _FILES
    if has_any(request):
        files = (*_FILES, _VARIABLES)
        parts["conditions"] += "\n\n" + _filled(_VARIABLES, _held(request))
    return Prompt(_text(_SYSTEM), _filled(_QUESTION, parts), _digest(files, tuple(tools)))


def _held(request: VerificationRequest) -> dict[str, str]:
    return {
        "variables": block(request.attempt, visible("\n".join(held_lines(request)))),
        "parts": "\n".join(part_lines(request)) or "Nothing.",
    }


def _filled(name: str, parts: Mapping[str, str]) -> str:
    """Put parts into a shipped text, each where its mark stands."""
    fixed = _MARK.split(_text(name))
    # Split at marks with one group, so texts and names alternate.
    return "".join(parts[each] if place % 2 else each for place, each in enumerate(fixed))


def _condition(attempt: str, question: Question) -> str:
    return f"`{question.transition}`:\n{block(attempt, question.condition)}"


def _said(attempt: str, text: str) -> str:
    return "There are none." if is_blank(text) else block(attempt, text)


@cache
def _text(name: str) -> str:
    return (folder("prompts") / name).read_text("utf-8").removesuffix("\n")


def _digest(files: Sequence[str], tools: Sequence[ToolDeclaration]) -> str:
    declared = [[each.name, each.description, each.parameters] for each in tools]
    return digest_of(json.dumps([[_text(each) for each in files], declared], ensure_ascii=False, sort_keys=True).encode())
