"""How flows are named: selectors, and the slugs in them.

Invariant: a slug is ASCII and holds nothing that a path, a selector or a terminal gives another meaning.
"""

import re
from dataclasses import dataclass
from typing import Final

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown
from stateward.runtime.ports import Unresolved

BUILTIN: Final = "builtin"
WORKSPACE: Final = "workspace"
_SLUG: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SCOPES: Final = (BUILTIN, WORKSPACE)


@dataclass(frozen=True, slots=True)
class Selector:
    """How a flow is named: where it is kept, and under what."""

    scope: str
    slug: str

    def __str__(self) -> str:
        return f"{self.scope}:{self.slug}"


def parse_selector(text: str) -> Selector | Unresolved:
    """Read a selector; nothing but `builtin:<slug>` and `workspace:<slug>` is one."""
    scope, colon, slug = text.partition(":")
    if colon and scope in _SCOPES and is_slug(slug):
        return Selector(scope, slug)
    named = text if is_slug(text) else "<slug>"
    return Unresolved("bad_selector", f"{shown(text)} is no selector", f"write `{BUILTIN}:{named}` or `{WORKSPACE}:{named}`")


def is_slug(text: str) -> bool:
    """Tell whether a flow can be kept under this: 1 to 128 ASCII letters, digits, `-` and `_`."""
    return _SLUG.fullmatch(text) is not None


def slug_problem(text: str) -> Refusal | None:
    """Refuse what cannot be a slug."""
    if is_slug(text):
        return None
    allowed = ("name it with 1 to 128 ASCII letters, digits, `-` and `_`",)
    return Refusal(RefusalCode.SLUG_MALFORMED, f"{shown(text)} cannot be a slug", allowed)
