"""Brackets set right, for a text that does not parse: those that are missing are put in, those too many are taken out.

Invariants: in the tokens given back every bracket has its partner and pairs nest; what was put in is empty and stands right after a
token; each fault of a bracket is reported here, once, so that the parser meets none.
"""

from dataclasses import dataclass, field
from typing import Final

from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.syntax.faults import FAULTS_MAX, Fault, Note, fix
from stateward.compiler.syntax.pairing import Pairing, pair
from stateward.compiler.syntax.tokens import CLOSERS, ERROR, PARAMETERS, PUNCTUATION, Tokens, starts_field

OPENERS_SHOWN_MAX: Final = 3
MISSING_MAX: Final = 8
"""Places at which a missing brace is tried."""
_MARKS: Final = {"LBRACE": "{", "RBRACE": "}", "LSQB": "[", "RSQB": "]", "LPAR": "(", PARAMETERS: "(", "RPAR": ")"}
_CLOSING: Final = frozenset(CLOSERS.values())
_WANTING: Final = (
    frozenset(PUNCTUATION.values())
    .union({"IN", "AS", "DEFAULT", "MERGE", "DIVIDE"})
    .difference(_CLOSING, CLOSERS, {"SEMICOLON", "WILDCARD"})
)
"""Tokens after which an expression or a name is to follow, so that a stray closer stands in its place."""
_BEFORE_VALUES: Final = frozenset({"EQUAL", "ARROW", "COLON", "MERGE", "COMPOSE", "AS", "DEFAULT"})


@dataclass(slots=True)
class Balanced:
    """Tokens in which brackets pair and nest."""

    tokens: Tokens
    faults: list[Fault] = field(default_factory=list)
    partner: list[int] = field(default_factory=list)
    """By token: for a bracket the number of its other half, else -1."""
    after_strays: set[int] = field(default_factory=set)
    """Numbers of tokens before which a closer was taken out."""
    is_loose: bool = False
    """Whether the first and the last token are braces put around a module that has none."""


def balance(tokens: Tokens) -> Balanced:
    """Set the brackets of a text right."""
    pairing = pair(tokens)
    if pairing.stopped_at is not None:
        tokens = _cut(tokens, pairing.stopped_at)
        pairing = pair(tokens)
    tokens, pairing, opened = _opened(tokens, pairing)
    rebuilt, after_strays = _rebuilt(tokens, pairing)
    balanced = Balanced(rebuilt, [*opened, *_faults(tokens, pairing)], pairing.partner, after_strays)
    if balanced.tokens is not tokens:
        number_partners(balanced)
    return balanced


def number_partners(balanced: Balanced) -> None:
    """Find the partner of each bracket, and tell parentheses from those that open parameters."""
    kinds = balanced.tokens.kinds
    partner = balanced.partner = [-1] * len(kinds)
    stack: list[int] = []
    for at, kind in enumerate(kinds):
        if kind in CLOSERS:
            stack.append(at)
        elif kind in _CLOSING:
            opener = stack.pop()
            partner[at], partner[opener] = opener, at
            if kind == "RPAR":
                kinds[opener] = PARAMETERS if kinds[at + 1 : at + 2] == ["ARROW"] else "LPAR"


def _cut(tokens: Tokens, at: int) -> Tokens:
    """Leave the rest of a text alone in which too many brackets are wrong."""
    cut = Tokens(tokens.text, tokens.kinds[:at], tokens.starts[:at], tokens.ends[:at], tokens.comments, unclosed=True)
    cut.add(ERROR, tokens.starts[at], len(tokens.text))
    return cut


def _opened(tokens: Tokens, pairing: Pairing) -> tuple[Tokens, Pairing, list[Fault]]:
    """Put in braces where a value begins with a field and a brace closes nothing later on."""
    faults: list[Fault] = []
    kinds = tokens.kinds
    places = [at for at in range(1, len(kinds)) if kinds[at - 1] in _BEFORE_VALUES and starts_field(kinds, at)] if pairing.strays else []
    for place in places[:MISSING_MAX]:
        at = place + len(faults)
        tried = _with_brace(tokens, at)
        better = pair(tried)
        if better.faults < pairing.faults:
            tokens, pairing = tried, better
            faults.append(_never_opened(tokens, at))
    return tokens, pairing, faults


def _with_brace(tokens: Tokens, at: int) -> Tokens:
    place = tokens.ends[at - 1]
    return Tokens(
        tokens.text,
        [*tokens.kinds[:at], "LBRACE", *tokens.kinds[at:]],
        [*tokens.starts[:at], place, *tokens.starts[at:]],
        [*tokens.ends[:at], place, *tokens.ends[at:]],
        comments=tokens.comments,
        unclosed=tokens.unclosed,
    )


def _rebuilt(tokens: Tokens, pairing: Pairing) -> tuple[Tokens, set[int]]:
    """Put in and take out what the pairing says; gives also the numbers of the tokens before which something was taken out."""
    if not pairing.faults:
        return tokens, set()
    kinds = tokens.kinds
    missing: dict[int, list[int]] = {}
    for opener in sorted(pairing.cut_at, reverse=True):
        missing.setdefault(pairing.cut_at[opener], []).append(opener)
    made = Tokens(tokens.text, comments=tokens.comments, unclosed=tokens.unclosed)
    after_strays: set[int] = set()
    left_out = pairing.strays | pairing.repeated | {at + 1 for at in pairing.strays if _is_end_of_stray(kinds, at)}
    for at, kind in enumerate([*kinds, ""]):
        for opener in missing.get(at, ()):
            made.add(CLOSERS[kinds[opener]], tokens.ends[at - 1], tokens.ends[at - 1])
        if at in missing and (starts_field(kinds, at) or kind == "IN"):
            made.add("SEMICOLON", tokens.ends[at - 1], tokens.ends[at - 1])
        if at in pairing.strays and kinds[at - 1 : at] and kinds[at - 1] in _WANTING:
            made.add(ERROR, tokens.starts[at], tokens.ends[at])
        elif kind and at not in left_out:
            opener = pairing.swapped.get(at, -1)
            made.add(kind if opener < 0 else CLOSERS[kinds[opener]], tokens.starts[at], tokens.ends[at])
        elif kind:
            after_strays.add(len(made.kinds))
    return made, after_strays


def _is_end_of_stray(kinds: list[str], at: int) -> bool:
    """Tell whether a semicolon after a stray closer ends nothing else."""
    return kinds[at + 1 : at + 2] == ["SEMICOLON"] and (at == 0 or kinds[at - 1] in {"SEMICOLON", "LBRACE"})


def _faults(tokens: Tokens, pairing: Pairing) -> list[Fault]:
    faults = [_closes_nothing(tokens, at) for at in sorted(pairing.strays)[:FAULTS_MAX]]
    faults += [_closes_wrongly(tokens, at, opener) for at, opener in sorted(pairing.swapped.items())[:FAULTS_MAX]]
    faults += [_is_repeated(tokens, at) for at in sorted(pairing.repeated)[:FAULTS_MAX]]
    ends: dict[int, list[int]] = {}
    for opener, at in pairing.cut_at.items():
        ends.setdefault(at, []).append(opener)
    if tokens.unclosed:
        ends.pop(len(tokens.kinds), None)  # what the open string swallowed is not missing
    return faults + [_never_closed(tokens, at, openers) for at, openers in sorted(ends.items())[:FAULTS_MAX]]


def _mark(tokens: Tokens, at: int) -> str:
    return _MARKS[tokens.kinds[at]]


def _never_opened(tokens: Tokens, at: int) -> Fault:
    place = tokens.starts[at]
    mend = fix("insert `{`", (place, place, " {"), safe=False)
    return Fault(place, place, "`{` is missing before the first field of an object", "`{` belongs here", help="write `{`", fix=mend)


def _closes_nothing(tokens: Tokens, at: int) -> Fault:
    mark = _mark(tokens, at)
    start, end = tokens.starts[at], tokens.ends[at]
    more = len(tokens.kinds) > at + 1 and tokens.kinds[at + 1] == "SEMICOLON" and tokens.starts[at + 1] == end
    mend = fix(f"take `{tokens.text[start : end + more]}` out", (start, end + more, ""), safe=False)
    opener = next(_MARKS[kind] for kind, closer in CLOSERS.items() if closer == tokens.kinds[at])
    notes = (f"its `{opener}` may be missing above",) if _ends_block(tokens.text, start) else ()
    return Fault(start, end, f"`{mark}` closes nothing", "nothing is open here", notes=notes, fix=mend)


def _ends_block(text: str, start: int) -> bool:
    """Tell whether a closer begins a line that stands further out than the line before it, as one does that ends a block."""
    line = text.rfind("\n", 0, start) + 1
    above = text[:line].rstrip()
    above_line = above.rfind("\n") + 1
    return bool(above) and not text[line:start].strip() and _indent(text, line) < _indent(text, above_line)


def _is_repeated(tokens: Tokens, at: int) -> Fault:
    start, end = tokens.starts[at], tokens.ends[at]
    mend = fix("take one `{` out", (start, end, ""), safe=False)
    return Fault(start, end, "`{` is repeated", "closed once only", help="take one `{` out", fix=mend)


def _closes_wrongly(tokens: Tokens, at: int, opener: int) -> Fault:
    start, end = tokens.starts[at], tokens.ends[at]
    opening, closing = _mark(tokens, opener), _MARKS[CLOSERS[tokens.kinds[opener]]]
    return Fault(
        start,
        end,
        f"`{opening}` is closed by `{_mark(tokens, at)}`",
        f"`{closing}` belongs here",
        secondary=(Note(tokens.starts[opener], tokens.ends[opener], "opened here"),),
        help=f"close it with `{closing}`",
        fix=fix(f"replace it by `{closing}`", (start, end, closing), safe=False),
    )


def _never_closed(tokens: Tokens, at: int, openers: list[int]) -> Fault:
    """Say where brackets end for want of a closer; `openers` in any order, the innermost names the fault."""
    openers = sorted(openers, reverse=True)
    closers = "".join(_MARKS[CLOSERS[tokens.kinds[opener]]] for opener in openers[:OPENERS_SHOWN_MAX])
    innermost = openers[0]
    end = tokens.ends[at - 1]
    left = len(openers) - OPENERS_SHOWN_MAX
    return Fault(
        end,
        end,
        f"`{_mark(tokens, innermost)}` is never closed",
        f"`{closers[0]}` is missing here",
        secondary=tuple(Note(tokens.starts[each], tokens.ends[each], "opened here") for each in openers[:OPENERS_SHOWN_MAX]),
        notes=(f"{counted(left, 'more bracket')} stay open here",) if left > 0 else (),
        help=f"close it with `{closers[0]}`",
        fix=fix(f"insert `{closers}`", (end, end, _closing(tokens, at, openers)), safe=False) if left <= 0 else None,
    )


def _closing(tokens: Tokens, at: int, openers: list[int]) -> str:
    """Write the closers of brackets, the innermost first; those of brackets on earlier lines stand under the lines that these begin in."""
    kinds, text, end = tokens.kinds, tokens.text, tokens.ends[at - 1]
    written = ""
    for opener in openers:
        line = text.rfind("\n", 0, tokens.starts[opener]) + 1
        is_on_line = "\n" not in text[tokens.starts[opener] : end]
        ends_field = kinds[max(opener - 1, 0)] == "EQUAL" and (starts_field(kinds, at) or not is_on_line)
        is_ended = opener == openers[-1] and kinds[at : at + 1] in (["SEMICOLON"], ["COMMA"])
        if not is_on_line:
            written += ("\r\n" if text[end : end + 2] == "\r\n" else "\n") + text[line : tokens.starts[opener]][: _indent(text, line)]
        written += _MARKS[CLOSERS[kinds[opener]]] + (";" if ends_field and not is_ended else "")
    return written


def _indent(text: str, line: int) -> int:
    """Count the blanks that a line begins with."""
    at = line
    while text[at : at + 1] in {" ", "\t"}:
        at += 1
    return at - line
