"""The page of each code: what it means, a source that fails, one that passes, and what to change. Kept once, as Markdown.

Invariants: there is a page for each registered code and no other; a page has the four parts in this order, and its examples are whole
sources that say under which name, in which encoding and under which limits they are compiled. Documentation and the command `explain`
are made of these pages.

```
# code
meaning, in paragraphs
## Fails
(a block `dcdl`, after which there may stand `file=`, `encoding=` and limits such as `states=`)
## Passes
(another)
## What to change
paragraphs
```
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from stateward.compiler.diagnostics.codes import CODES, Code
from stateward.compiler.limits import FLOW_LIMITS, FlowLimits

FOLDER: Final = Path(__file__).resolve().parent / "pages"
FILE: Final = "paper.dcdl"
"""What an example is called that does not say."""
_BLOCK: Final = r"```dcdl ?([^\n]*)\n(.*?\n)```\n"
_PAGE: Final = re.compile(
    rf"# (?P<code>\w+)\n\n(?P<meaning>.+?)\n\n## Fails\n\n(?P<fails>{_BLOCK})\n## Passes\n\n(?P<passes>{_BLOCK})\n"
    r"## What to change\n\n(?P<change>.+)\n",
    re.DOTALL,
)
_FENCED: Final = re.compile(_BLOCK, re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """A whole source, and how it is compiled."""

    text: str
    file: str = FILE
    encoding: str = "utf-8"
    """In which its bytes are saved."""
    limits: FlowLimits = field(default=FLOW_LIMITS)

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode(self.encoding)


@dataclass(frozen=True, slots=True)
class Page:
    """What there is to say about a code."""

    code: Code
    meaning: str
    """Paragraphs of Markdown."""
    fails: Example
    """A source of which this code is the first that is told."""
    passes: Example
    """The same source without the fault."""
    change: str
    """Paragraphs of Markdown: what to do."""


def page_of(code: str) -> Page:
    """Read the page of a registered code."""
    return parsed(code, (FOLDER / f"{code}.md").read_text("utf-8"))


def parsed(code: str, text: str) -> Page:
    """Take a page apart. Raises ValueError when it does not have its form."""
    found = _PAGE.fullmatch(text)
    if found is None or found["code"] != code:
        raise ValueError(f"the page of `{code}` does not have the form of a page")
    return Page(CODES[code], found["meaning"], _example(found["fails"]), _example(found["passes"]), found["change"])


def _example(block: str) -> Example:
    found = _FENCED.fullmatch(block)
    assert found is not None, "the pattern of a page has found it"
    said = dict(each.split("=", 1) for each in found[1].split())
    name, encoding = said.pop("file", FILE), said.pop("encoding", "utf-8")
    return Example(found[2], name, encoding, _limits(said))


def _limits(said: Mapping[str, str]) -> FlowLimits:
    numbers = {name: int(number) for name, number in said.items()}
    known = {each.name for each in fields(FlowLimits)} - {"language"}
    if not numbers.keys() <= known:
        raise ValueError(f"an example says {', '.join(sorted(numbers))}")
    changed: dict[str, Any] = dict(numbers)
    return replace(FLOW_LIMITS, **changed)
