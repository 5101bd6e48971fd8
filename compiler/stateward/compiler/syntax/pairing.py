"""Which brackets belong together, in a text that does not parse.

Invariants: pairs nest; every bracket is in a pair, or is told to be stray, meant for another kind, repeated, or without its other half.
The time is linear.
"""

from dataclasses import dataclass, field
from typing import Final

from stateward.compiler.syntax.faults import FAULTS_MAX
from stateward.compiler.syntax.tokens import CLOSERS, Tokens, starts_field

ON_LINE_MAX: Final = 16
"""Open brackets that are looked at to tell which of them a closer was meant for."""
BRACKETS: Final = frozenset(CLOSERS.keys()) | frozenset(CLOSERS.values())
_CLOSING: Final = frozenset(CLOSERS.values())


@dataclass(slots=True)
class Pairing:
    """Which brackets pair, as far as they do."""

    partner: list[int]
    strays: set[int] = field(default_factory=set)
    """Closers that close nothing."""
    swapped: dict[int, int] = field(default_factory=dict)
    """Closers of the wrong kind, with the opener each was meant for."""
    cut_at: dict[int, int] = field(default_factory=dict)
    """Openers without a closer, with the number of the token before which they end."""
    stopped_at: int | None = None
    """The token at which too much was wrong to go on."""
    repeated: set[int] = field(default_factory=set)
    """Braces without a closer that only repeat the brace beside them."""

    @property
    def faults(self) -> int:
        """How much is wrong."""
        return len(self.strays) + len(self.swapped) + len(self.cut_at) + len(self.repeated)


class Indents:
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

    def is_inner(self, closer: int, opener: int) -> bool:
        """Tell whether a closer stands on a line of its own further in than the line of the opener, so that it closes something else.

        It may stand as far in as what the opener holds, and no further: then it would be part of a value.
        """
        if not self.is_head[closer] or not self.is_head[opener + 1] or opener + 1 == closer:
            return False
        return self.of_line[opener] < self.of_line[closer] <= self.of_line[opener + 1]

    def is_swapped(self, closer: int, stack: list[int], kinds: list[str]) -> bool:
        """Tell whether a closer of another kind than the innermost opener was meant for it: on its line no other opener fits."""
        on_line = [opener for opener in stack[-ON_LINE_MAX:] if self.line[opener] == self.line[closer]]
        return bool(on_line) and all(CLOSERS[kinds[opener]] != kinds[closer] for opener in on_line)

    def is_outside(self, at: int, opener: int) -> bool:
        """Tell whether a token begins its line no further in than the line of an opener whose own first line is further in."""
        if not self.is_head[at] or self.of_line[at] > self.of_line[opener] or self.line[at] == self.line[opener]:
            return False
        return self.is_head[opener + 1] and self.of_line[opener + 1] > self.of_line[opener]


def pair(tokens: Tokens) -> Pairing:
    """Pair the brackets of a text: by kind alone, or by the lines they stand on where that finds no more wrong."""
    if not BRACKETS.intersection(tokens.kinds):
        return Pairing([-1] * len(tokens.kinds))
    pairing = _paired(tokens.kinds, None)
    if not pairing.faults or pairing.stopped_at is not None:
        return pairing
    indents = Indents(tokens)
    indented = _paired(tokens.kinds, indents)
    if indented.faults <= pairing.faults and indented.stopped_at is None:
        pairing = indented
    _narrow(tokens.kinds, pairing, indents)
    return pairing


def _paired(kinds: list[str], indents: Indents | None) -> Pairing:
    pairing = Pairing([-1] * len(kinds))
    stack: list[int] = []
    open_count = dict.fromkeys(_CLOSING, 0)
    misfits: dict[int, int] = {}

    def abandon(at: int) -> None:
        opener = stack.pop()
        open_count[CLOSERS[kinds[opener]]] -= 1
        if opener in misfits:
            pairing.swapped[misfits[opener]] = opener
            pairing.strays.discard(misfits[opener])
        elif "LBRACE" == kinds[opener] in kinds[opener + 1 : opener + 2]:
            pairing.repeated.add(opener)
        else:
            pairing.cut_at[opener] = at

    for at, kind in enumerate(kinds):
        if kind in CLOSERS:
            stack.append(at)
            open_count[CLOSERS[kind]] += 1
        elif kind in _CLOSING:
            while indents and len(stack) > 1 and indents.is_before(at, stack[-1]):
                abandon(at)
            if indents and stack and indents.is_inner(at, stack[-1]):
                pairing.strays.add(at)
                continue
            if indents and indents.is_swapped(at, stack, kinds):
                opener = stack.pop()
                open_count[CLOSERS[kinds[opener]]] -= 1
                pairing.swapped[at] = opener
                continue
            if pairing.faults > FAULTS_MAX:
                pairing.stopped_at = at
                break
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


def _narrow(kinds: list[str], pairing: Pairing, indents: Indents) -> None:
    """End brackets without a closer at the first token that cannot stand in them."""
    for opener in sorted(pairing.cut_at, reverse=True):
        end = pairing.cut_at[opener]
        ends_before = _ends_braces if kinds[opener] == "LBRACE" else _ends_others
        at, open_lets = opener + 1, 0
        while at < end and (open_lets or not ends_before(kinds, indents, opener, at)):
            open_lets = max(0, open_lets + (kinds[at] == "LET") - (kinds[at] == "IN"))
            at = pairing.cut_at.get(at, max(at, pairing.partner[at]) + 1)
        pairing.cut_at[opener] = min(at, end)


def _ends_braces(kinds: list[str], indents: Indents, opener: int, at: int) -> bool:
    """Tell whether braces end before a token directly in them: a second semicolon, an `in`, or a field whose line begins outside."""
    if kinds[at] == "SEMICOLON":
        return kinds[at - 1] == "SEMICOLON" or at - 1 == opener
    return kinds[at] == "IN" or (indents.is_outside(at, opener) and starts_field(kinds, at))


def _ends_others(kinds: list[str], _indents: Indents, _opener: int, at: int) -> bool:
    """Tell whether an array or parentheses end before a token directly in them: they hold neither semicolons nor fields."""
    return kinds[at] in {"SEMICOLON", "IN"} or (kinds[at - 1] != "DOT" and starts_field(kinds, at))
