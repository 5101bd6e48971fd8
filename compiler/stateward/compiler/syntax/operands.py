"""Slips where an expression is to begin."""

from typing import Final

from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.syntax.faults import Fault, fix
from stateward.compiler.syntax.loose import OUTER_REST
from stateward.compiler.syntax.mends import Asked, Mend, at_spot, in_gap
from stateward.compiler.syntax.spot import Construct, Spot
from stateward.compiler.syntax.tables import END
from stateward.compiler.syntax.tokens import ERROR, PARAMETERS

_SEPARATORS: Final = {"SEMICOLON": "semicolon", "COMMA": "comma"}
_BEFORE_PARTS: Final = frozenset({"LBRACE", "LET", "LSQB", "LPAR", PARAMETERS, END})


def separator_again(spot: Spot) -> Mend | None:
    """Answer `a = 1;; b = 2`, `[1,, 2]`, `{ ; a = 1 }`."""
    before = spot.kind_at(-1)
    alone = before == END == spot.kind_at(1)
    if (
        alone
        or spot.kind not in _SEPARATORS
        or not (before in _SEPARATORS or (before in _BEFORE_PARTS and spot.construct is not Construct.PAREN))
    ):
        return None
    span, mark = spot.span(), _SEPARATORS[spot.kind]
    mend = fix(f"take the {mark} out", (span.start, span.end, ""), safe=spot.kind == "SEMICOLON")
    return Mend(at_spot(spot, f"nothing stands before a {mark}", f"one {mark} too many", f"take the {mark} out", mend), skip=1)


def equal_again(spot: Spot) -> Mend | None:
    """Answer `a = = 1`."""
    if not spot.wants_expression or spot.kind not in {"EQUAL", "EQ"} or spot.kind_at(-1) != "EQUAL":
        return None
    span = spot.span()
    mend = fix(f"take `{spot.text_at()}` out", (span.start, span.end, ""))
    return Mend(at_spot(spot, "`=` is repeated", "one `=` too many", fix_=mend), skip=1)


def function_without_parentheses(spot: Spot) -> Mend | None:
    """Answer `1 + (x) => x`."""
    if not spot.wants_expression or spot.kind != PARAMETERS:
        return None
    return Mend(at_spot(spot, "a function is an operand without parentheses", "a function begins here", "put the function in parentheses"))


def rest_among_items(spot: Spot) -> Mend | None:
    """Answer `[1, ...Int]`, and a rest anywhere else than alone in an array or last in an object."""
    if not spot.wants_expression or spot.kind not in {"ELLIPSIS", OUTER_REST}:
        return None
    if spot.kind_at(-1) == "EQUAL" and spot.kind_at(1) in {"SEMICOLON", "RBRACE", END}:
        return Mend(at_spot(spot, "`...` is no value", "left out", "write the value"), replace=ERROR)
    if spot.construct is Construct.ARRAY:
        return Mend(at_spot(spot, "a rest stands beside items", "alone in its array"))
    return Mend(at_spot(spot, "a rest stands outside of an object or array", "no expression"))


def argument_missing(spot: Spot) -> Mend | None:
    """Answer `f(1, )`."""
    if not spot.wants_expression or spot.kind != "RPAR" or spot.kind_at(-1) != "COMMA":
        return None
    comma = spot.span(-1)
    mend = fix("take the comma out", (comma.start, comma.end, ""))
    return Mend(in_gap(spot, "no argument follows the last comma", "an argument belongs here", "take the comma out", mend), insert=(ERROR,))


def zero_missing(spot: Spot) -> Mend | None:
    """Answer `.5`."""
    if not spot.wants_expression or spot.kind != "DOT" or spot.kind_at(1) not in {"INT", "FLOAT"} or not spot.touches(1):
        return None
    start, end = spot.span().start, spot.span(1).end
    written = spot.text[start:end]
    if spot.kind_at(1) == "FLOAT":
        fault = Fault(start, end, f"{quoted(written)} is no number", "one point too many", help='put a text in `"`')
    else:
        mend = fix("write the zero", (start, start, "0"))
        fault = Fault(start, end, "a Float begins with a digit", "no digit before the point", help=f"write `0{written}`", fix=mend)
    return Mend(fault, insert=(ERROR,), skip=2)


def placeholder(spot: Spot) -> Mend | None:
    """Answer `name = <name>;`."""
    kinds = [spot.kind_at(at) for at in (-4, -3, -2, -1)]
    if not spot.wants_expression or kinds != ["EQUAL", "LT", "NAME", "GT"] or not (spot.touches(-2) and spot.touches(-1)):
        return None
    start, end = spot.span(-3).start, spot.gap
    message = f"{quoted(spot.text[start:end])} is a placeholder that was not filled in"
    return Mend(Fault(start, end, message, "left by a template", help="write the value"), drop=2, insert=(ERROR,))


def expression_missing(spot: Spot) -> Mend | None:
    """Answer anything else where an expression is to begin."""
    if not spot.wants_expression:
        return None
    before = spot.text_at(-1)
    message = f"an expression is missing after {quoted(before)}" if before else "an expression is missing"
    if spot.accepts(ERROR, spot.kind):
        return Mend(in_gap(spot, message, "an expression belongs here"), insert=(ERROR,))
    return Mend(at_spot(spot, message, "no expression begins here"))


ASKED: Final[tuple[Asked, ...]] = (
    separator_again,
    equal_again,
    function_without_parentheses,
    rest_among_items,
    argument_missing,
    zero_missing,
    placeholder,
    expression_missing,
)
