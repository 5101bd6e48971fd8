"""Brackets set right, for a text that does not parse: closers that are missing are put in, those that close nothing are taken out.

Invariants: in the tokens given back every bracket has its partner and pairs nest; what was put in is empty and stands right after a
token; each fault of a bracket is reported here, once, so that the parser meets none. The time is linear.
"""

from dataclasses import dataclass, field
from typing import Final

from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.syntax.faults import Fault, Note, fix
from stateward.compiler.syntax.tokens import CLOSERS, PARAMETERS, Tokens

OPENERS_SHOWN_MAX: Final = 3
ON_LINE_MAX: Final = 16
"""Open brackets that are looked at to tell which of them a closer was meant for."""
_MARKS: Final = {"LBRACE": "{", "RBRACE": "}", "LSQB": "[", "RSQB": "]", "LPAR": "(", PARAMETERS: "(", "RPAR": ")"}
_CLOSING: Final = frozenset(CLOSERS.values())
_KEYS: Final = frozenset({"NAME", "STRING"})


@dataclass(slots=True)
class Balanced:
    """Tokens in which brackets pair and nest."""

    tokens: Tokens
    faults: list[Fault] = field(default_factory=list)
    partner: list[int] = field(default_factory=list)
    """By token: for a bracket the number of its other half, else -1."""
    is_loose: bool = False
    """Whether the first and the last token are braces put around a module that has none."""


@dataclass(slots=True)
class _Pairing:
    """Which brackets pair, as far as they do."""

    partner: list[int]
    strays: set[int] = field(default_factory=set)
    """Closers that close nothing."""
    swapped: dict[int, int] = field(default_factory=dict)
    """Closers of the wrong kind, with the opener each was meant for."""
    cut_at: dict[int, int] = field(default_factory=dict)
    """Openers without a closer, with the number of the token before which they end."""

    @property
    def faults(self) -> int:
        return len(self.strays) + len(self.swapped) + len(self.cut_at)


def balance(tokens: Tokens) -> Balanced:
    """Set the brackets of a text right."""
    pairing = _pair(tokens, None)
    if pairing.faults:
        indented = _pair(tokens, _Indents(tokens))
        if indented.faults <= pairing.faults:
            pairing = indented
        _narrow(tokens.kinds, pairing)
    balanced = Balanced(_rebuilt(tokens, pairing), _faults(tokens, pairing))
    number_partners(balanced)
    return balanced


def starts_field(kinds: list[str], at: int) -> bool:
    """Tell whether `path =` stands at a token."""
    last = len(kinds) - 1
    while at < last and kinds[at] in _KEYS:
        if kinds[at + 1] != "DOT":
            return kinds[at + 1] == "EQUAL"
        at += 2
    return False


class _Indents:
    """How far in the lines of tokens begin."""

    def __init__(self, tokens: Tokens) -> None:
        self.of_line: list[int] = []
        """By token: the offset in its line of the first token of its line."""
        self.is_head: list[bool] = []
        """By token: whether it is the first of its line."""
        self.line: list[int] = []
        """By token: the offset at which its line begins."""
        text, line_start, indent = tokens.text, 0, 0
        line_end = text.find("\n")
        head = True
        for start in tokens.starts:
            while -1 < line_end < start:
                line_start, line_end = line_end + 1, text.find("\n", line_end + 1)
                head = True
            head = head and not text[line_start:start].strip(" \t\r")
            indent = start - line_start if head else indent
            self.of_line.append(indent)
            self.is_head.append(head)
            self.line.append(line_start)
            head = False

    def is_before(self, closer: int, opener: int) -> bool:
        """Tell whether a closer begins its line further out than the line of an opener, so that it closes something around it."""
        return self.is_head[closer] and self.of_line[closer] < self.of_line[opener]

    def is_swapped(self, closer: int, stack: list[int], kinds: list[str]) -> bool:
        """Tell whether a closer of another kind than the innermost opener was meant for it: on its line no other opener fits."""
        on_line = [opener for opener in stack[-ON_LINE_MAX:] if self.line[opener] == self.line[closer]]
        return bool(on_line) and all(CLOSERS[kinds[opener]] != kinds[closer] for opener in on_line)


def _pair(tokens: Tokens, indents: _Indents | None) -> _Pairing:
    """Pair brackets by kind and, where indents are given, by the lines they stand on."""
    kinds = tokens.kinds
    pairing = _Pairing([-1] * len(kinds))
    stack: list[int] = []
    open_count = dict.fromkeys(_CLOSING, 0)
    misfits: dict[int, int] = {}

    def abandon(at: int) -> None:
        opener = stack.pop()
        open_count[CLOSERS[kinds[opener]]] -= 1
        if opener in misfits:
            pairing.swapped[misfits[opener]] = opener
            pairing.strays.discard(misfits[opener])
        else:
            pairing.cut_at[opener] = at

    for at, kind in enumerate(kinds):
        if kind in CLOSERS:
            stack.append(at)
            open_count[CLOSERS[kind]] += 1
        elif kind in _CLOSING:
            while indents and len(stack) > 1 and indents.is_before(at, stack[-1]):
                abandon(at)
            if indents and indents.is_swapped(at, stack, kinds):
                opener = stack.pop()
                open_count[CLOSERS[kinds[opener]]] -= 1
                pairing.swapped[at] = opener
                continue
            if not open_count[kind]:
                pairing.strays.add(at)
                if stack:
                    misfits.setdefault(stack[-1], at)
                continue
            while CLOSERS[kinds[stack[-1]]] != kind:
                abandon(at)
            opener = stack.pop()
            open_count[kind] -= 1
            pairing.partner[opener], pairing.partner[at] = at, opener
    while stack:
        abandon(len(kinds))
    return pairing


def _narrow(kinds: list[str], pairing: _Pairing) -> None:
    """End parentheses and arrays without a closer at the first token that cannot stand in them."""
    for opener in sorted(pairing.cut_at, reverse=True):
        if kinds[opener] == "LBRACE":
            continue
        end = pairing.cut_at[opener]
        at = opener + 1
        while at < end and kinds[at] != "SEMICOLON" and not (kinds[at - 1] != "DOT" and starts_field(kinds, at)):
            at = pairing.cut_at.get(at, max(at, pairing.partner[at]) + 1)
        pairing.cut_at[opener] = min(at, end)


def _rebuilt(tokens: Tokens, pairing: _Pairing) -> Tokens:
    """Put in and take out what the pairing says."""
    if not pairing.faults:
        return tokens
    missing: dict[int, list[int]] = {}
    for opener in sorted(pairing.cut_at, reverse=True):
        missing.setdefault(pairing.cut_at[opener], []).append(opener)
    made = Tokens(tokens.text, comments=tokens.comments, unclosed=tokens.unclosed)
    left_out = pairing.strays | {at + 1 for at in pairing.strays if _is_end_of_stray(tokens.kinds, at)}
    for at, kind in enumerate([*tokens.kinds, ""]):
        for opener in missing.get(at, ()):
            made.add(CLOSERS[tokens.kinds[opener]], tokens.ends[at - 1], tokens.ends[at - 1])
        if kind and at not in left_out:
            opener = pairing.swapped.get(at, -1)
            made.add(kind if opener < 0 else CLOSERS[tokens.kinds[opener]], tokens.starts[at], tokens.ends[at])
    return made


def _is_end_of_stray(kinds: list[str], at: int) -> bool:
    """Tell whether a semicolon after a stray closer ends nothing else."""
    return kinds[at + 1 : at + 2] == ["SEMICOLON"] and (at == 0 or kinds[at - 1] in {"SEMICOLON", "LBRACE"})


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


def _faults(tokens: Tokens, pairing: _Pairing) -> list[Fault]:
    faults = [_closes_nothing(tokens, at) for at in pairing.strays]
    faults += [_closes_wrongly(tokens, at, opener) for at, opener in pairing.swapped.items()]
    ends: dict[int, list[int]] = {}
    for opener, at in pairing.cut_at.items():
        ends.setdefault(at, []).append(opener)
    if not tokens.unclosed:
        faults += [_never_closed(tokens, at, openers) for at, openers in ends.items()]
    return faults


def _mark(tokens: Tokens, at: int) -> str:
    return _MARKS[tokens.kinds[at]]


def _closes_nothing(tokens: Tokens, at: int) -> Fault:
    mark = _mark(tokens, at)
    start, end = tokens.starts[at], tokens.ends[at]
    return Fault(
        start, end, f"`{mark}` closes nothing", "nothing is open here", fix=fix(f"take `{mark}` out", (start, end, ""), safe=False)
    )


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
        fix=fix(f"insert `{closers}`", (end, end, closers), safe=False) if left <= 0 else None,
    )
