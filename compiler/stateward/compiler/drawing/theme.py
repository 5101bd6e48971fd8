"""The colours of a picture, light and dark, as a style sheet.

Colours are written as they are, not as variables: a viewer that knows no variables (many that are no browser) would draw all in black.
Invariants: no rule reaches out of the picture; with `auto` a viewer that knows no colour scheme shows the light one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

FONT: Final = "Arial,'Liberation Sans',Helvetica,sans-serif"
"""All of the same widths, as far as they are there."""


class Theme(StrEnum):
    """Which colours a picture has."""

    LIGHT = "light"
    DARK = "dark"
    AUTO = "auto"
    """As the viewer is set."""


@dataclass(frozen=True, slots=True)
class _Colours:
    paper: str
    ink: str
    soft: str
    line: str
    box: str
    frame: str
    end: str
    back: str
    faint: str
    mark: str
    current: str
    visited: str
    met: str
    not_met: str
    unchecked: str


_LIGHT: Final = _Colours(
    paper="#ffffff",
    ink="#1f2328",
    soft="#59636e",
    line="#6e7781",
    box="#f6f8fa",
    frame="#818b98",
    end="#eef1f4",
    back="#8250df",
    faint="#afb8c1",
    mark="#0969da",
    current="#cfe6ff",
    visited="#eef6ff",
    met="#1a7f37",
    not_met="#cf222e",
    unchecked="#9a6700",
)
_DARK: Final = _Colours(
    paper="#0d1117",
    ink="#e6edf3",
    soft="#9198a1",
    line="#848d97",
    box="#161b22",
    frame="#6e7681",
    end="#21262d",
    back="#b392f0",
    faint="#484f58",
    mark="#58a6ff",
    current="#143d6b",
    visited="#121d2f",
    met="#3fb950",
    not_met="#f85149",
    unchecked="#d29922",
)
_COLOURS: Final[Mapping[Theme, _Colours]] = {Theme.LIGHT: _LIGHT, Theme.DARK: _DARK, Theme.AUTO: _LIGHT}

_SHAPES: Final = """
text{font-family:FONT}
.name{font-size:14px;font-weight:bold}
.row,.count,.note{font-size:12px}
.title{font-size:17px;font-weight:bold}
.box,.inner{stroke-width:1.4}
.current .box{stroke-width:3}
.line,.loop{fill:none;stroke-width:1.4}
.back{stroke-dasharray:6 4}
.cancel{stroke-dasharray:1.5 3.5;stroke-linecap:round}
.taken{stroke-width:2.6}
.sign{fill:none;stroke-width:2.2;stroke-linecap:round;stroke-linejoin:round}
.question{font-size:13px;font-weight:bold}
"""


def style_sheet(theme: Theme, scope: str) -> str:
    """Give the rules of a picture; `scope` is the class that its root alone has."""
    rules = [_scoped(_SHAPES.replace("FONT", FONT), scope), _scoped(_coloured(_COLOURS[theme]), scope)]
    if theme is Theme.AUTO:
        rules.append(f"@media (prefers-color-scheme:dark){{\n{_scoped(_coloured(_DARK), scope)}\n}}")
    return "\n".join(rules)


def _scoped(rules: str, scope: str) -> str:
    lines = rules.strip().splitlines()
    parts = (line.partition("{") for line in lines)
    return "\n".join(f"{','.join(f'.{scope} {each}' for each in chosen.split(','))}{{{rest}" for chosen, _, rest in parts)


def _coloured(of: _Colours) -> str:
    return f"""
.paper,.label{{fill:{of.paper}}}
.name,.title,.row{{fill:{of.ink}}}
.note,.count{{fill:{of.soft}}}
.box{{fill:{of.box};stroke:{of.frame}}}
.inner{{fill:none;stroke:{of.frame}}}
.end .box{{fill:{of.end}}}
.cancelled .box,.cancelled .inner{{stroke:{of.not_met}}}
.visited .box{{fill:{of.visited};stroke:{of.mark}}}
.visited .inner{{stroke:{of.mark}}}
.current .box{{fill:{of.current};stroke:{of.mark}}}
.line,.loop{{stroke:{of.line}}}
.head,.start{{fill:{of.line}}}
.line.back{{stroke:{of.back}}}
.head.back{{fill:{of.back}}}
.line.cancel{{stroke:{of.faint}}}
.head.cancel{{fill:{of.faint}}}
.line.taken,.loop.taken{{stroke:{of.mark}}}
.head.taken,.row.taken,.count.taken,.visited .count{{fill:{of.mark}}}
.sign.met{{stroke:{of.met}}}
.sign.not_met{{stroke:{of.not_met}}}
.question{{fill:{of.unchecked}}}
"""
