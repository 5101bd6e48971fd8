"""`python docs/diagnostics`: write the pages of the diagnostics, from those that `stateward explain` prints.

What is added here is what `stateward compile` says of the source that fails, so that it is never older than the program.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from stateward.compiler.diagnostics.codes import CODES, Code
from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.diagnostics.pages import Example, page_of
from stateward.compiler.diagnostics.text import Look, render
from stateward.compiler.pipeline import compile_source

HERE: Final = Path(__file__).resolve().parent
LOOK: Final = Look(width=110)
INDEX: Final = "README.md"
_HEAD: Final = """\
# Diagnostics

Every code that `stateward compile` may report, in the order in which things are checked. A code never changes its meaning and is never used
again for another. `stateward explain CODE` prints the same pages at the terminal.

These pages are written by `python docs/diagnostics`.
"""


def documents() -> Mapping[str, str]:
    """Give the text of every file of this folder that is written by this program, by its name."""
    return {INDEX: _index(), **{f"{code}.md": _page(code) for code in CODES}}


def _index() -> str:
    errors, warnings = (_table(severity) for severity in Severity)
    return (
        f"{_HEAD}\n## Errors\n\nNo definition comes of a flow with an error.\n\n{errors}\n"
        f"## Warnings\n\nThey do not block. `--strict` makes errors of them, `--allow CODE` accepts one.\n\n{warnings}"
    )


def _table(severity: Severity) -> str:
    rows = "".join(f"| [`{code.name}`]({code.name}.md) | {code.title} |\n" for code in CODES.values() if code.severity is severity)
    return f"| code | |\n| --- | --- |\n{rows}"


def _page(name: str) -> str:
    page = page_of(name)
    return "\n".join(
        [
            f"# `{name}`\n",
            f"*{_kind(page.code)}.* {page.meaning}\n",
            "## A source that fails\n",
            *_source(page.fails),
            "`stateward compile` says of it:\n",
            f"```text\n{_said(page.fails)}```\n",
            "## The same source, mended\n",
            *_source(page.passes),
            f"## What to change\n\n{page.change}\n",
            "[All diagnostics](README.md)\n",
        ]
    )


def _kind(code: Code) -> str:
    return "An error" if code.severity is Severity.ERROR else "A warning"


def _source(example: Example) -> Iterator[str]:
    yield f"```dcdl\n{example.text}```\n"


def _said(example: Example) -> str:
    slug = example.file.removesuffix(".dcdl")
    compilation = compile_source(example.data, name=example.file, slug=slug, limits=example.limits)
    return render(compilation.diagnostics, LOOK).removesuffix("\n")


def main() -> None:
    """Write every file."""
    for name, text in documents().items():
        (HERE / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
