"""Slips where the name of a field, binding or parameter is to stand, or the `=` after it."""

from typing import Final

from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.source import Span
from stateward.compiler.syntax.faults import Fault, Note, fix
from stateward.compiler.syntax.loose import OUTER_REST
from stateward.compiler.syntax.mends import Asked, Mend, at_spot, in_gap
from stateward.compiler.syntax.spot import CLOSING, RESERVED_KINDS, Construct, Spot
from stateward.compiler.syntax.tables import END
from stateward.compiler.syntax.tokens import CLOSERS

PIECES_MAX: Final = 64
"""Tokens of a name with hyphens that are put together."""
_WORDS: Final = RESERVED_KINDS | {"NAME", "INT"}
_ENDS: Final = CLOSING | {END, "SEMICOLON", "COMMA"}
_AFTER_OPERANDS: Final = CLOSING | {END, "LPAR", "AS", "DEFAULT", "MERGE", "COMPOSE", "OR", "AND", "EQ", "NE", "LT", "LE", "GT", "GE"} | {
    "CONCAT", "PLUS", "MINUS", "TIMES", "DIVIDE"
}  # fmt: skip
"""What stands after an operand and never after the name of a binding."""
_STATEMENTS: Final = frozenset({"if", "else", "elif", "unless", "for", "while", "switch", "case", "return"})
"""Words with which other languages begin a statement."""
PLACEHOLDER_MAX: Final = 80
"""Code points of a placeholder that was left in a text."""
_ALIKE: Final = {"COLON": ":", "EQ": "==", "ARROW": "=>"}


def _wants_name(spot: Spot) -> bool:
    return not spot.wants_expression and spot.accepts("NAME")


def let_in_front(spot: Spot) -> Mend | None:
    """Answer `{ let a = 1; }`, `let a = 1; let b = 2; in …`."""
    if not _wants_name(spot) or spot.kind != "LET" or not spot.starts_field(1):
        return None
    span = spot.span()
    label = "the bindings began with one `let`" if spot.construct is Construct.LET else "no part of a field"
    mend = fix("take `let` out", (span.start, spot.span(1).start, ""))
    return Mend(at_spot(spot, "`let` stands in front of a name", label, "write the name alone", mend), skip=1)


def reserved_word(spot: Spot) -> Mend | None:
    """Answer `{ default = 1; }`, `x.in`."""
    if not _wants_name(spot) or spot.kind not in RESERVED_KINDS:
        return None
    after_dot = spot.kind_at(-1) == "DOT"
    if not after_dot and spot.construct is not Construct.PARAMETERS and spot.kind_at(1) not in {"EQUAL", "DOT", "COLON"}:
        return None
    word, span = spot.text_at(), spot.span()
    quotable = spot.accepts("STRING")
    return Mend(
        at_spot(
            spot,
            f"`{word}` is a reserved word",
            "cannot be a plain name",
            f'quote the name: `"{word}"`' if quotable else "take another name",
            fix("quote the name", (span.start, span.end, f'"{word}"')) if quotable else None,
        ),
        replace="NAME",
    )


def name_with_digit_first(spot: Spot) -> Mend | None:
    """Answer `1a = 1`, `_a = 1`, `1 = 1`."""
    if not _wants_name(spot) or spot.kind not in {"INT", "WILDCARD"} or spot.kind_at(-1) == "DOT":
        return None
    message = "a plain name begins with a letter"
    if spot.kind_at(1) in _WORDS and spot.touches(1):
        start, word = spot.span(1), spot.text_at() + spot.text_at(1)
        first = spot.span()
        fault = Fault(
            start.start,
            start.end,
            message,
            f"follows {'`_`' if spot.kind == 'WILDCARD' else 'a digit'}",
            help=f'quote the name: `"{word}"`',
            secondary=(Note(first.start, first.end, "not a letter"),),
            fix=fix("quote the name", (first.start, start.end, f'"{word}"')),
        )
        return Mend(fault, skip=1)
    if spot.kind_at(1) not in {"EQUAL", "DOT"}:
        return None
    span = spot.span()
    mend = fix("quote the name", (span.start, span.end, f'"{spot.text_at()}"'))
    return Mend(at_spot(spot, message, "not a letter", f'quote the name: `"{spot.text_at()}"`', mend), replace="NAME")


def subject_missing(spot: Spot) -> Mend | None:
    """Answer `match { 1: 2; }`."""
    if spot.construct is not Construct.OBJECT or spot.kind_at(-1) != "LBRACE" or spot.kind_at(-2) != "MATCH":
        return None
    gap = spot.span(-2).end
    fault = Fault(gap, gap, "`match` has no value to look at", "a value belongs here", help="write `match value { … }`")
    return Mend(fault, drop=1, insert=("ERROR",), skip=-1)


def import_as_statement(spot: Spot) -> Mend | None:
    """Answer `import "common.dcdl"; a = 1;`."""
    if not _wants_name(spot) or spot.kind != "IMPORT" or spot.construct not in {Construct.OBJECT, Construct.LOOSE}:
        return None
    help_ = f"write `name = import {spot.text_at(1)};`" if spot.kind_at(1) == "STRING" else None
    return Mend(at_spot(spot, "an import stands in no field", "its value goes nowhere", help_))


def placeholder_in_braces(spot: Spot) -> Mend | None:
    """Answer `name = {{ name }};`."""
    if not _wants_name(spot) or spot.kind != "LBRACE" or spot.kind_at(-1) != "LBRACE" or not spot.touches():
        return None
    inner, outer = spot.partner(0), spot.partner(-1)
    span = Span(spot.span(-1).start, spot.span(outer).end)
    if outer != inner + 1 or not spot.touches(outer) or len(written := spot.text[span.start : span.end]) > PLACEHOLDER_MAX:
        return None
    message = f"{quoted(written)} is a placeholder that was not filled in"
    return Mend(Fault(span.start, span.end, message, "left by a template", help="write the value"))


def name_missing(spot: Spot) -> Mend | None:
    """Answer anything else where a name is to stand."""
    if not _wants_name(spot):
        return None
    if spot.kind_at(-1) == "DOT" and spot.kind_at(-2) == "INT" and spot.kind not in {"INT", "FLOAT"} and spot.touches(-1):
        number = spot.text[spot.span(-2).start : spot.gap]
        mend = fix("write the zero", (spot.gap, spot.gap, "0"))
        return Mend(in_gap(spot, "a Float ends with a digit", "a digit belongs here", f"write `{number}0`", mend))
    if spot.kind_at(-1) == "DOT" and spot.kind in {"INT", "FLOAT"} and spot.kind_at(-2) in {"INT", "FLOAT"}:
        start, end = spot.span(-2).start, spot.span().end
        number = spot.text[start:end]
        mend = fix("make it a text", (start, end, f'"{number}"'), safe=False)
        return Mend(Fault(start, end, f"{quoted(number)} is no number", "one point too many", help='put a text in `"`', fix=mend))
    if spot.kind_at(-1) == "DOT":
        blame = in_gap if spot.kind in _ENDS or spot.kind == "EQUAL" else at_spot
        return Mend(blame(spot, "a name is missing after `.`", "a name belongs here"))
    if spot.kind_at(-1) == "IMPORT":
        return Mend(at_spot(spot, "`import` names no module", "a string or a name belongs here"))
    if spot.construct is Construct.PARAMETERS:
        return _parameter_missing(spot)
    if spot.construct is Construct.LET:
        return Mend(at_spot(spot, "the name of a binding is missing", "a name belongs here")) if spot.is_before_in else None
    if spot.kind == OUTER_REST:
        return Mend(at_spot(spot, "a module without braces has no rest", "only in braces", "put the fields in braces"))
    return Mend(at_spot(spot, "the name of a field is missing", "a name belongs here"))


def _parameter_missing(spot: Spot) -> Mend:
    if spot.kind not in _ENDS:
        return Mend(at_spot(spot, "a parameter is no plain name", "a name belongs here"))
    mend = None
    if spot.kind == "RPAR" and spot.kind_at(-1) == "COMMA":
        comma = spot.span(-1)
        mend = fix("take the comma out", (comma.start, comma.end, ""))
    return Mend(in_gap(spot, "the name of a parameter is missing", "a name belongs here", fix_=mend), insert=("ERROR",))


def name_with_hyphen(spot: Spot) -> Mend | None:
    """Answer `{ code-review = 1; }`."""
    if not spot.accepts("EQUAL") or spot.kind != "MINUS" or not spot.touches() or spot.kind_at(-1) == "STRING":
        return None
    count = 0
    while count < PIECES_MAX and _continues_name(spot, count):
        count += 2
    if not count or spot.kind_at(count) not in {"EQUAL", "DOT", "COLON", "LBRACE"}:
        return None
    start, end = spot.span(-1).start, spot.span(count - 1).end
    word = spot.text[start:end]
    quotable = spot.construct is not Construct.LET
    blamed = spot.span(count) if spot.at == 2 and spot.construct is Construct.LOOSE else spot.span()
    fault = Fault(
        blamed.start,
        blamed.end,
        f"{quoted(word)} is no plain name",
        "a plain name has no `-`" if blamed == spot.span() else "the name before it has a `-`",
        help=f'quote the name: `"{word}"`' if quotable else "write `_` for `-`",
        secondary=(Note(start, end, "read as a difference"),),
        fix=fix("quote the name", (start, end, f'"{word}"')) if quotable else None,
    )
    return Mend(fault, grow=count)


def _continues_name(spot: Spot, offset: int) -> bool:
    """Tell whether a hyphen and a word follow without a blank."""
    if spot.kind_at(offset) != "MINUS" or spot.kind_at(offset + 1) not in _WORDS:
        return False
    return spot.touches(offset) and spot.touches(offset + 1)


def other_than_equal(spot: Spot) -> Mend | None:
    """Answer `a: 1`, `a == 1`, `a := 1`, `a: Int = 1`."""
    if not spot.accepts("EQUAL") or spot.kind not in _ALIKE:
        return None
    mark, span = _ALIKE[spot.kind], spot.span()
    if spot.kind == "COLON" and spot.kind_at(1) == "EQUAL":
        message = "`:=` stands where `=` belongs" if spot.touches(1) else "`:` stands before `=`"
        return Mend(at_spot(spot, message, "no `:` before `=`", fix_=fix("take `:` out", (span.start, span.end, ""))), skip=1)
    if spot.kind == "COLON" and _has_constraint(spot):
        what = "binding" if spot.construct is Construct.LET else "field"
        return Mend(
            at_spot(spot, f"a {what} has no constraint before its `=`", "`=` belongs here", "write the constraint as part of the value")
        )
    blank = "" if spot.text[span.start - 1 : span.start].isspace() else " "
    mend = fix(f"replace `{mark}` by `=`", (span.start, span.end, f"{blank}="))
    return Mend(at_spot(spot, f"`{mark}` stands where `=` belongs", "`=` belongs here", "write `=`", mend), replace="EQUAL")


def _has_constraint(spot: Spot) -> bool:
    """Tell whether `=` comes after something like `: Int`, before the field or binding ends."""
    for offset in range(1, 8):
        if spot.kind_at(offset) == "EQUAL":
            return not spot.starts_field(offset - 1) or spot.same_line(offset - 1)
        if spot.kind_at(offset) in _ENDS or spot.kind_at(offset) in CLOSERS:
            return False
    return False


def arrow_for_equal(spot: Spot) -> Mend | None:
    """Answer `a -> 1`."""
    if not spot.accepts("EQUAL") or spot.kind != "MINUS" or spot.kind_at(1) != "GT" or not spot.touches(1):
        return None
    start, end = spot.span().start, spot.span(1).end
    blank = "" if spot.text[start - 1 : start].isspace() else " "
    mend = fix("replace `->` by `=`", (start, end, f"{blank}="))
    fault = Fault(start, end, "`->` stands where `=` belongs", "`=` belongs here", help="write `=`", fix=mend)
    return Mend(fault, insert=("EQUAL",), skip=2)


def statement(spot: Spot) -> Mend | None:
    """Answer `if passed then …`, `for (x in y) …` where a field belongs."""
    word = spot.text_at(-1)
    if not spot.accepts("EQUAL") or spot.kind not in {"NAME", "LPAR", "NOT"} or spot.kind_at(-1) != "NAME" or word not in _STATEMENTS:
        return None
    if not spot.same_line() or spot.starts_field():
        return None
    start, end = spot.span(-1).start, spot.gap
    return Mend(Fault(start, end, f"`{word}` is no word of DCDL", "a plain name in DCDL", help="write fields, as in `name = value;`"))


def word_in_front(spot: Spot) -> Mend | None:
    """Answer `state review = {`, `state "review" {`: a word before the name of a field."""
    heads = spot.starts_field() or (spot.kind in {"NAME", "STRING"} and spot.kind_at(1) == "LBRACE")
    if not heads or not spot.accepts("EQUAL") or not spot.same_line() or spot.kind_at(-1) != "NAME":
        return None
    word = spot.span(-1)
    fault = Fault(
        word.start,
        word.end,
        f"{quoted(spot.text_at(-1))} stands in front of a name",
        "one word too many",
        fix=fix("take the word out", (word.start, spot.span().start, ""), safe=False),
    )
    return Mend(fault, back=True)


def in_before_body(spot: Spot) -> Mend | None:
    """Answer `let a = 1; a + 1`: the body was begun without `in`."""
    if spot.construct is not Construct.LET or spot.is_before_in or not spot.accepts("EQUAL") or spot.kind not in _AFTER_OPERANDS:
        return None
    begun = -1
    while spot.kind_at(begun - 1) == "DOT":
        begun -= 2
    if spot.kind_at(begun - 1) != "SEMICOLON":
        return None
    gap = spot.span(begun - 1).end
    fault = Fault(gap, gap, "`in` is missing after the bindings", "`in` belongs here", fix=fix("insert `in`", (gap, gap, " in")))
    return Mend(fault, insert=("IN",), skip=begun, back=True)


def equal_missing(spot: Spot) -> Mend | None:
    """Answer a name without `=`, and perhaps without a value."""
    if not spot.accepts("EQUAL"):
        return None
    subject = quoted(spot.subject or spot.text_at(-1))
    if spot.kind == "LPAR" and spot.touches():
        return Mend(at_spot(spot, f"{subject} has parameters before its `=`", "`=` belongs here", "write `name = (x) => …`"))
    begins = spot.accepts("EQUAL", spot.kind) and spot.kind not in {"MINUS", "NOT", "LT", "GT", "LE", "GE"}
    if begins and (spot.same_line() or spot.kind in CLOSERS) and not spot.starts_field():
        mend = fix("insert `=`", (spot.gap, spot.gap, " ="))
        return Mend(in_gap(spot, f"`=` is missing after {subject}", "`=` belongs here", fix_=mend), insert=("EQUAL",))
    value = spot.automaton.values[-1]
    fault = Fault(spot.start_of(value), spot.gap, f"{subject} has no value", "`=` and a value are missing")
    if spot.kind in _ENDS:
        return Mend(fault, insert=("EQUAL", "ERROR"))
    return Mend(fault)


ASKED: Final[tuple[Asked, ...]] = (
    let_in_front,
    reserved_word,
    subject_missing,
    name_with_digit_first,
    import_as_statement,
    placeholder_in_braces,
    name_missing,
    name_with_hyphen,
    other_than_equal,
    arrow_for_equal,
    statement,
    word_in_front,
    in_before_body,
    equal_missing,
)
