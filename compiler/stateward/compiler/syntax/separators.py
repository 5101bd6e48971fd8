"""Slips after a part that is complete: what is to stand between parts, and text that belongs to none."""

import re
from typing import Final

from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.syntax.faults import Fault, Note, fix
from stateward.compiler.syntax.loose import OUTER_REST
from stateward.compiler.syntax.mends import Asked, Mend, at_spot, in_gap
from stateward.compiler.syntax.spot import CLOSING, RESERVED_KINDS, SEPARATORS, Construct, Spot
from stateward.compiler.syntax.tables import END
from stateward.compiler.syntax.tokens import ERROR, PARAMETERS

LOOK_AHEAD_MAX: Final = 40
"""Tokens that are looked at to tell whether another arm begins."""
_MARKS: Final = {"SEMICOLON": ";", "COMMA": ","}
_NAMES: Final = {"SEMICOLON": "a semicolon", "COMMA": "a comma"}
_KEYS: Final = RESERVED_KINDS | {"NAME", "STRING", "INT"}
_BEGINNINGS: Final = frozenset(
    {"NAME", "STRING", "INT", "FLOAT", "REGEX", "TRUE", "FALSE", "LBRACE", "LSQB", "LET", "MATCH", "IMPORT", "NOT", PARAMETERS}
)
_WORD_OPERATORS: Final = {"and": "&&", "or": "||", "is": "=="}
_MATCH: Final = "write `match condition { true: …; false: …; }`"
_FUNCTION: Final = "write `(x) => …`"
_OTHER_WORDS: Final = {
    **dict.fromkeys(("if", "else", "elif", "then", "unless", "switch", "case", "when", "while", "for"), _MATCH),
    **dict.fromkeys(("function", "func", "fn", "def", "lambda"), _FUNCTION),
}
"""Words of other languages, and what is written here."""
_OF_FIELDS: Final = frozenset({Construct.OBJECT, Construct.LOOSE, Construct.LET})
_ENDS_VALUES: Final = CLOSING | {END, "SEMICOLON", "COMMA"}
_EXPONENT: Final = re.compile(r"[eE][0-9]*")


def colon_missing(spot: Spot) -> Mend | None:
    """Answer `match x { 1 => 2; 3 = 4; 5; }`."""
    if spot.construct is not Construct.MATCH or not spot.accepts("COLON"):
        return None
    span = spot.span()
    if spot.kind in {"ARROW", "EQUAL"}:
        mark = spot.text_at()
        mend = fix(f"replace `{mark}` by `:`", (span.start, span.end, ":"))
        return Mend(at_spot(spot, f"`{mark}` stands where `:` belongs", "`:` belongs here", "write `:`", mend), replace="COLON")
    if spot.kind in _MARKS or spot.kind in CLOSING:
        return Mend(in_gap(spot, "an arm has no value", "`:` and a value are missing"), insert=("COLON", ERROR))
    if _begins_arm(spot):
        return Mend(at_spot(spot, "something is left over after a pattern", "no part of the pattern"))
    if spot.kind in _BEGINNINGS and spot.kind_at(-1) != "NAME":
        mend = fix("insert `:`", (spot.gap, spot.gap, ":"))
        return Mend(in_gap(spot, "`:` is missing after a pattern", "`:` belongs here", fix_=mend), insert=("COLON",))
    return None


def arms_missing(spot: Spot) -> Mend | None:
    """Answer `match x;`."""
    if not spot.accepts("LBRACE") or spot.kind_at(-1) == "MATCH":
        return None
    return Mend(in_gap(spot, "`match` has no arms", "`{` and arms belong here"))


def in_missing(spot: Spot) -> Mend | None:
    """Answer `let a = 1;`, `let a = 1; { b = a; }`, and a last binding with no semicolon either."""
    if spot.construct is not Construct.LET or (spot.is_before_in and not spot.accepts("SEMICOLON", "IN")):
        return None
    after_value = spot.accepts("SEMICOLON", "IN") and (spot.kind in CLOSING or spot.kind == END)
    if not after_value and not spot.accepts("IN"):
        return None
    start = ("SEMICOLON", "IN") if after_value else ("IN",)
    message, label = "`in` is missing after the bindings", "`in` belongs here"
    if spot.accepts(*start, spot.kind):
        mend = fix("insert `in`", (spot.gap, spot.gap, " in"))
        return Mend(in_gap(spot, message, label, fix_=mend), insert=start)
    return Mend(in_gap(spot, message, label, "write `in` and the value"), insert=(*start, ERROR))


def nothing_after_rest(spot: Spot) -> Mend | None:
    """Answer `{ ...Int; }`, `{ ...a; b = 1 }`, `[...Int, 1]`."""
    closer = {Construct.OBJECT: "RBRACE", Construct.ARRAY: "RSQB"}.get(spot.construct)
    if spot.kind == "EQUAL" and spot.kind_at(-2) == "ELLIPSIS" and not spot.same_line(-1):
        dots = spot.span(-2)
        return Mend(Fault(dots.start, dots.end, "`...` stands where a field belongs", "no field", help="write the fields, or take it out"))
    if not closer or not spot.on_stack("ELLIPSIS") or not spot.accepts(closer):
        return None
    count = 0
    while spot.kind_at(count) not in CLOSING and spot.kind_at(count) != END:
        count = max(count, spot.partner(count)) + 1
    span = spot.span()
    mend = fix("take it out", (span.start, span.end, "")) if count == 1 and spot.kind in _MARKS else None
    what = "an object" if closer == "RBRACE" else "an array"
    return Mend(
        at_spot(spot, f"something follows the rest of {what}", "nothing may follow a rest", fix_=mend),
        skip=count if mend else 0,
        to_end=True,
    )


def other_separator(spot: Spot) -> Mend | None:
    """Answer `{ a = 1, b = 2 }`, `[1; 2]`."""
    separator = SEPARATORS.get(spot.construct, "")
    if spot.kind not in _MARKS or spot.kind == separator or not spot.accepts(separator):
        return None
    fields = spot.construct in {Construct.OBJECT, Construct.LOOSE, Construct.LET}
    if fields and not (spot.kind_at(1) in _KEYS or spot.kind_at(1) in CLOSING or spot.kind_at(1) in {END, "ELLIPSIS", OUTER_REST}):
        return None
    wanted, found, span = _MARKS[separator], _MARKS[spot.kind], spot.span()
    mend = fix(f"replace `{found}` by `{wanted}`", (span.start, span.end, wanted))
    return Mend(
        at_spot(spot, f"`{found}` stands where `{wanted}` belongs", f"`{wanted}` belongs here", f"write `{wanted}`", mend),
        replace=separator,
    )


def quote_inside(spot: Spot) -> Mend | None:
    """Answer `a = "say "done" at once";`: a quote that touches a word ended the string, and another string ends on the line."""
    if spot.kind_at(-1) != "STRING" or not spot.touches() or spot.construct not in _OF_FIELDS or spot.starts_field():
        return None
    if not spot.text_at()[:1].isalnum():
        return None
    count = next((at for at in range(LOOK_AHEAD_MAX) if spot.kind_at(at + 1) in _ENDS_VALUES), LOOK_AHEAD_MAX)
    if spot.kind_at(count) != "STRING" or not all(spot.same_line(at) for at in range(count + 1)):
        return None
    start, end = spot.span(-1).start, spot.span(count).end
    quotes = [at for at in range(start + 1, end - 1) if spot.text[at] == '"' and spot.text[at - 1] != "\\"]
    mend = fix('write each as `\\"`', *((at, at + 1, '\\"') for at in quotes), safe=False)
    at = spot.gap - 1
    fault = Fault(at, at + 1, "a string ends at a quote inside of it", "ends here", help='write `\\"` for a quote in a string', fix=mend)
    return Mend(fault, skip=count + 1)


def prefix_of_string(spot: Spot) -> Mend | None:
    """Answer `a = f"text";`."""
    if spot.kind != "STRING" or spot.kind_at(-1) != "NAME" or not spot.touches() or spot.construct not in _OF_FIELDS:
        return None
    word = spot.span(-1)
    message = f"{quoted(spot.text_at(-1))} stands in front of a string"
    mend = fix("take it out", (word.start, word.end, ""), safe=False)
    return Mend(Fault(word.start, word.end, message, "one word too many", help="take it out", fix=mend), drop=1, insert=(ERROR,), skip=1)


def texts_side_by_side(spot: Spot) -> Mend | None:
    """Answer `a = "one " "text";`."""
    if spot.kind != "STRING" or spot.kind_at(-1) != "STRING" or spot.construct not in _OF_FIELDS or spot.starts_field():
        return None
    mend = fix("make one string of them", (spot.gap - 1, spot.span().start + 1, ""), safe=False)
    return Mend(at_spot(spot, "two strings stand side by side", "no part of the value", "write one string", mend), skip=1)


def separator_missing(spot: Spot) -> Mend | None:
    """Answer `{ a = 1 b = 2 }`, `[1 2]`, `let a = 1 in a`: the next part begins."""
    separator = SEPARATORS.get(spot.construct, "")
    if not separator or not spot.accepts(separator) or not _begins_part(spot):
        return None
    if not spot.accepts(separator, spot.kind) and spot.kind not in RESERVED_KINDS and spot.kind != "INT":
        return None
    mark = _MARKS[separator]
    mend = fix(f"insert `{mark}`", (spot.gap, spot.gap, mark))
    message = f"{_NAMES[separator]} is missing {_after(spot)}"
    # How many items, arguments or parameters there were to be is a guess: what counts them is to find a broken one among them.
    insert = (separator, ERROR, separator) if separator == "COMMA" else (separator,)
    return Mend(in_gap(spot, message, f"`{mark}` belongs here", fix_=mend), insert=insert)


def _begins_part(spot: Spot) -> bool:
    match spot.construct:
        case Construct.OBJECT | Construct.LOOSE:
            new_line = not spot.same_line() and spot.kind in _KEYS and spot.kind_at(1) in {"MINUS", "COLON", "LBRACE", "DOT", "EQ", "EQUAL"}
            return spot.starts_field() or new_line or spot.kind in {"ELLIPSIS", OUTER_REST}
        case Construct.LET:
            return spot.starts_field() or spot.kind == "IN"
        case Construct.MATCH:
            return (spot.kind in _BEGINNINGS or spot.kind in {"WILDCARD", "LPAR"}) and _begins_arm(spot)
        case Construct.ARRAY | Construct.CALL | Construct.PARAMETERS:
            return spot.kind in _BEGINNINGS and not spot.touches() and spot.text_at() not in _WORD_OPERATORS
        case _:
            return False


def _begins_arm(spot: Spot) -> bool:
    return spot.kind_at(_to_colon(spot)) == "COLON"


def _to_colon(spot: Spot) -> int:
    """Count the tokens before the next `:` of the arms, or before what ends the arm."""
    offset = 0
    while offset < LOOK_AHEAD_MAX and spot.kind_at(offset) not in CLOSING and spot.kind_at(offset) not in {"SEMICOLON", "COLON", END}:
        offset = max(offset, spot.partner(offset)) + 1
    return offset


def _after(spot: Spot) -> str:
    match spot.construct:
        case Construct.OBJECT | Construct.LOOSE:
            return f"after the field {quoted(spot.subject or '')}"
        case Construct.LET:
            return f"after the binding {quoted(spot.subject or '')}"
        case Construct.MATCH:
            return "after an arm"
        case Construct.ARRAY:
            return "between two items"
        case Construct.CALL:
            return "between two arguments"
        case _:
            return "between two parameters"


def equal_in_parentheses(spot: Spot) -> Mend | None:
    """Answer `(x = 1) => x`, `f(x = 1)`."""
    if spot.construct is Construct.CALL and spot.kind == "EQUAL":
        return Mend(at_spot(spot, "an argument has a name", "arguments go by their places"))
    if spot.construct is not Construct.PARAMETERS or spot.kind != "EQUAL":
        return None
    return Mend(at_spot(spot, "a parameter has no default", "no part of a parameter"))


def index(spot: Spot) -> Mend | None:
    """Answer `x["key"]`, `x[0]`."""
    if spot.kind != "LSQB" or not spot.touches():
        return None
    closer = spot.partner(0)
    mend = None
    if closer == 2 and spot.kind_at(1) == "STRING":
        mend = fix("write it as an access", (spot.span().start, spot.span(closer).end, f".{spot.text_at(1)}"))
    help_ = "write `.` and the name" if closer == 2 and spot.kind_at(1) == "STRING" else None
    return Mend(at_spot(spot, "a value is indexed with `[`", "there is no indexing", help_, mend))


def arrow(spot: Spot) -> Mend | None:
    """Answer `x => x`, `f(x) => x`."""
    if spot.kind == PARAMETERS:
        return Mend(at_spot(spot, "a function has a name before its parameters", "parameters begin here", "write `name = (x) => …`"))
    if spot.kind != "ARROW":
        return None
    if spot.kind_at(-1) != "NAME":
        return Mend(at_spot(spot, "`=>` follows no parameters", "no parameters before it"))
    name = spot.span(-1)
    mend = fix("put the parameter in parentheses", (name.start, name.end, f"({spot.text_at(-1)})"))
    fault = at_spot(spot, "a parameter stands without parentheses", "after a bare name", f"write `({spot.text_at(-1)}) =>`", mend)
    return Mend(fault)


def number_with_letters(spot: Spot) -> Mend | None:
    """Answer `0x10`, `1e5`, `10ms`, `1_000`."""
    if spot.kind_at(-1) not in {"INT", "FLOAT"} or spot.kind not in {"NAME", "WILDCARD"} or not spot.touches():
        return None
    number, text = spot.text_at(-1), spot.text_at()
    whole = Note(spot.span(-1).start, spot.span().end, "read as two things")
    if spot.kind == "WILDCARD":
        message = "a number has no `_` between its digits"
    elif number == "0" and text[0] in "xXbBoO":
        message = "a number is written in decimal digits only"
    elif _EXPONENT.fullmatch(text):
        message = "a number has no exponent"
    else:
        message = f"{quoted(number + text)} is neither a number nor a name"
    return Mend(Fault(spot.span().start, spot.span().end, message, "touches a number", secondary=(whole,)))


def other_language(spot: Spot) -> Mend | None:
    """Answer `if x then y`, `a and b`."""
    word = spot.text_at()
    if spot.kind == "NAME" and word in _WORD_OPERATORS and spot.kind_at(1) in _BEGINNINGS | {"LPAR", "MINUS"}:
        sign, span = _WORD_OPERATORS[word], spot.span()
        mend = fix(f"replace `{word}` by `{sign}`", (span.start, span.end, sign), safe=word in {"and", "or"})
        return Mend(at_spot(spot, f"`{word}` is no operator", "a plain name in DCDL", f"write `{sign}`", mend))
    if spot.kind_at(-1) == "NAME" and spot.text_at(-1) == "not":
        span = spot.span(-1)
        mend = fix("replace `not` by `!`", (span.start, spot.span().start, "!"))
        return Mend(Fault(span.start, span.end, "`not` is no operator", "a plain name in DCDL", help="write `!`", fix=mend))
    head = -1
    if spot.kind_at(-1) == "RPAR":
        head = spot.partner(-1) - 1
    for offset in (0, head):
        word = spot.text_at(offset)
        if spot.kind_at(offset) == "NAME" and word in _OTHER_WORDS:
            span = spot.span(offset)
            return Mend(Fault(span.start, span.end, f"`{word}` is no word of DCDL", "a plain name in DCDL", help=_OTHER_WORDS[word]))
    return None


def second_equal(spot: Spot) -> Mend | None:
    """Answer `a = b = c`."""
    if spot.kind != "EQUAL" or spot.construct is Construct.LONE:
        return None
    return Mend(at_spot(spot, "a value holds `=`", "one `=` too many", "compare with `==`"))


def left_over(spot: Spot) -> Mend | None:
    """Answer anything else after a complete part."""
    if spot.construct is Construct.LONE:
        span = spot.span()
        last = spot.kind == "SEMICOLON" and spot.kind_at(1) == END
        mend = fix("take `;` out", (span.start, span.end, "")) if last else None
        message = "a semicolon ends an expression" if last else "something is left over after the expression of the module"
        return Mend(at_spot(spot, message, "the module ends before this", fix_=mend))
    if spot.construct is Construct.PAREN and spot.kind == "COLON":
        return Mend(at_spot(spot, "parameters are followed by no `=>`", "the constraint of a parameter", "write `=>` after the parameters"))
    if spot.construct is Construct.PAREN:
        return Mend(at_spot(spot, "parentheses hold more than one expression", "`)` belongs before this"))
    if spot.kind == "NAME" == spot.kind_at(-1) and spot.same_line():
        return Mend(at_spot(spot, "words stand side by side without quotes", "no part of the value", 'put a text in `"`'))
    subject = f"the value of {quoted(spot.subject)}" if spot.subject else "a value"
    return Mend(at_spot(spot, f"something is left over after {subject}", "no part of the value"))


ASKED: Final[tuple[Asked, ...]] = (
    colon_missing,
    arms_missing,
    in_missing,
    nothing_after_rest,
    other_separator,
    quote_inside,
    prefix_of_string,
    texts_side_by_side,
    separator_missing,
    equal_in_parentheses,
    index,
    other_language,
    arrow,
    number_with_letters,
    second_equal,
    left_over,
)
