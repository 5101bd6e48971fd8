"""`python docs/diagnostics`: write the pages of the diagnostics, and renew the guide to broken flows.

The pages are those that `stateward explain` prints. The guide is written by hand; only the blocks `text` that follow a source in it are
renewed. What is written is what `stateward compile` says of each source, so that it is never older than the program.
"""

import re
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
GUIDE: Final = HERE.parent / "guide" / "broken-flows.md"
GUIDE_FILE: Final = "release.dcdl"
"""What the sources of the guide are called."""
_SHOWN: Final = re.compile(r"```dcdl\n(?P<source>(?:(?!```).*\n)*)```\n\n```text\n(?:(?!```).*\n)*```\n")
"""A source, and what is said of it."""
_HEAD: Final = """\
# Diagnostics

Every code that `stateward compile` may report, in the order in which things are checked. A code never changes its meaning and is never used
again for another. `stateward explain CODE` prints the same pages at the terminal; [broken flows](../guide/broken-flows.md) shows what
people slip on, and how it is told.

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


def examples(guide: str) -> list[str]:
    """Give the sources of the guide of which it shows what is said."""
    return [found["source"] for found in _SHOWN.finditer(guide)]


def renewed(guide: str) -> str:
    """Give the guide with what is said of each source by now."""
    return _SHOWN.sub(lambda found: f"```dcdl\n{found['source']}```\n\n```text\n{_told(found['source'])}```\n", guide)


def _told(source: str) -> str:
    return _said(Example(source, GUIDE_FILE))


def main() -> None:
    """Write every file."""
    for name, text in documents().items():
        (HERE / name).write_text(text, "utf-8")
    GUIDE.write_text(renewed(GUIDE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
