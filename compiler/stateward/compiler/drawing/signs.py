"""The signs of answers: drawn, not written, so that no font has to have them; told apart by shape and not by colour alone."""

from typing import assert_never

from stateward.compiler.drawing.marks import Answered


def number(value: float) -> str:
    """Write a number to a tenth of a pixel."""
    rounded = round(value, 1)
    return f"{rounded:.1f}".removesuffix(".0") if rounded else "0"


def sign(answer: Answered, x: float, y: float) -> str:
    """Draw the sign of an answer around a point, 10 wide at most."""
    match answer:
        case Answered.MET:
            return f'<path class="sign met" d="M{number(x - 4.5)} {number(y)}l3.2 3.4 5.8 -7"/>'
        case Answered.NOT_MET:
            return f'<path class="sign not_met" d="M{number(x - 3.5)} {number(y - 3.5)}l7 7m0 -7l-7 7"/>'
        case Answered.UNCHECKED:
            return f'<text class="question" x="{number(x)}" y="{number(y + 4.7)}" text-anchor="middle">?</text>'
    assert_never(answer)
