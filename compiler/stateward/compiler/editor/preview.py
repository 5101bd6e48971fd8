"""The picture of the flow in a text."""

from typing import NamedTuple

from stateward.compiler.diagnostics.model import errors_of
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.drawing.svg import draw_svg
from stateward.compiler.editor.analysis import Analysis


class Preview(NamedTuple):
    """A picture, or why there is none."""

    svg: str | None
    message: str


def preview(analysis: Analysis) -> Preview:
    """Draw the flow, in colours that follow the viewer; say why where it cannot be drawn."""
    definition = analysis.compilation.definition
    if definition is not None:
        return Preview(draw_svg(definition), "")
    return Preview(
        None, f"the flow has {counted(len(errors_of(analysis.compilation.diagnostics)), 'error')}, and is drawn when it has none"
    )
