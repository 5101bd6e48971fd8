"""Draw the pictures of this folder: `python -m docs.pictures` at the root of the repository, or `make docs`.

With `--check` nothing is written, and the exit status is 1 when a picture is not what would be drawn.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from docs.pictures.sixty import NAME, source
from stateward.compiler.drawing.marks import UNMARKED, Answered, Marks
from stateward.compiler.drawing.svg import draw_svg
from stateward.compiler.drawing.theme import Theme
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.pipeline import compile_source
from stateward.resources.catalog import builtins

HERE: Final = Path(__file__).resolve().parent
RUN: Final = Marks(
    current="review",
    visits={"implement": 1, "review": 3, "fix": 2},
    taken={("implement", "submit"): 1, ("review", "request_changes"): 2, ("fix", "resubmit"): 2},
    answers={"approve": Answered.NOT_MET, "request_changes": Answered.UNCHECKED},
)
"""A run of coder-review as a log might tell it."""


def pictures() -> Mapping[str, str]:
    """Draw everything; by the name of the file."""
    flows = {each.slug: _compiled(each.content, each.slug) for each in builtins()} | {NAME: _compiled(source().encode(), NAME)}
    drawn = {f"{slug}-{theme}.svg": draw_svg(flow, theme=theme) for slug, flow in flows.items() for theme in Theme}
    for theme in Theme:
        drawn[f"coder-review-under-way-{theme}.svg"] = draw_svg(flows["coder-review"], RUN, theme=theme)
    drawn["coder-review-cancelled-auto.svg"] = draw_svg(flows["coder-review"], UNMARKED, cancelled=True)
    return drawn


def _compiled(content: bytes, slug: str) -> CompiledFlowDefinition:
    definition = compile_source(content, name=f"{slug}.dcdl", slug=slug).definition
    assert definition is not None, f"{slug} compiles"
    return definition


def stale(drawn: Mapping[str, str]) -> list[str]:
    """Name the pictures that are missing, are not what would be drawn, or would not be drawn."""
    kept = {path.name: path.read_text("utf-8") for path in HERE.glob("*.svg")}
    return sorted(name for name in {*kept, *drawn} if kept.get(name) != drawn.get(name))


def main(arguments: list[str]) -> int:
    """Write what is stale, or only say so."""
    drawn = pictures()
    changed = stale(drawn)
    if arguments == ["--check"]:
        for name in changed:
            print(f"stale: docs/pictures/{name}")
        return 1 if changed else 0
    for name in changed:
        if name in drawn:
            (HERE / name).write_text(drawn[name], "utf-8")
        else:
            (HERE / name).unlink()
    print(f"drew {len(changed)} of {len(drawn)} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
