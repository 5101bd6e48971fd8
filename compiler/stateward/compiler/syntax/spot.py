"""The place at which a token fits no rule, with what can be asked about it.

Invariants: a spot only looks; brackets pair and nest; the token before the first and after the last is `$END` and empty.
"""

from enum import Enum
from functools import cached_property
from typing import Any, Final

from stateward.compiler.source import Span
from stateward.compiler.syntax.automaton import Automaton
from stateward.compiler.syntax.brackets import Balanced
from stateward.compiler.syntax.tables import END
from stateward.compiler.syntax.tokens import CLOSERS, ERROR, PUNCTUATION, RESERVED, starts_field
from stateward.compiler.syntax.tree import Field, Key, Node

RESERVED_KINDS: Final = frozenset(RESERVED.values())
AHEAD_MAX: Final = 1_000
"""Tokens, or brackets with all that they hold, that are searched for the `in` of a `let`."""
MARK_KINDS: Final = frozenset(PUNCTUATION.values())
CLOSING: Final = frozenset(CLOSERS.values())


class Construct(Enum):
    """What the spot lies directly in."""

    LONE = "the module"
    LOOSE = "the module without braces"
    OBJECT = "an object"
    MATCH = "the arms of a match"
    ARRAY = "an array"
    CALL = "the arguments of a call"
    PAREN = "parentheses"
    PARAMETERS = "the parameters of a function"
    LET = "the bindings of a let"


_PARTS: Final = frozenset({"fields", "items", "arms"})
SEPARATORS: Final = {
    Construct.LOOSE: "SEMICOLON",
    Construct.OBJECT: "SEMICOLON",
    Construct.MATCH: "SEMICOLON",
    Construct.LET: "SEMICOLON",
    Construct.ARRAY: "COMMA",
    Construct.CALL: "COMMA",
    Construct.PARAMETERS: "COMMA",
}
"""What stands between the parts of a construct."""


class Spot:
    """A token that does not fit, and where the automaton stands."""

    def __init__(self, automaton: Automaton, balanced: Balanced, kinds: list[str], at: int) -> None:
        self.automaton = automaton
        self.kinds = kinds
        self.at = at
        self.text = balanced.tokens.text
        self._starts = balanced.tokens.starts
        self._ends = balanced.tokens.ends
        self._partner = balanced.partner
        self._is_loose = balanced.is_loose
        self._unclosed = balanced.tokens.unclosed
        self._after_strays = balanced.after_strays

    @property
    def kind(self) -> str:
        """The kind of the token."""
        return self.kinds[self.at]

    def kind_at(self, offset: int) -> str:
        """Give the kind of a token near by."""
        at = self.at + offset
        return self.kinds[at] if 0 <= at < len(self.kinds) else END

    def span(self, offset: int = 0) -> Span:
        """Give where a token near by stands; the end of the text has an empty span right after the last token."""
        at = self.at + offset
        if at < 0:
            return Span(0, 0)
        if at >= len(self._starts):
            end = self._ends[-1] if self._ends else len(self.text)
            return Span(end, end)
        return Span(self._starts[at], self._ends[at])

    @property
    def gap(self) -> int:
        """Where something is missing: right after the token before; at the end of a text without tokens."""
        return self._ends[self.at - 1] if self.at else self.span().start

    def text_at(self, offset: int = 0) -> str:
        """Give the text of a token near by."""
        span = self.span(offset)
        return self.text[span.start : span.end]

    def touches(self, offset: int = 0) -> bool:
        """Tell whether nothing stands between a token near by and the one before it."""
        return self.at + offset > 0 and self.span(offset).start == self.span(offset - 1).end

    def same_line(self, offset: int = 0) -> bool:
        """Tell whether a token near by stands on the line on which the one before it ends."""
        return "\n" not in self.text[self.span(offset - 1).end : self.span(offset).start]

    def starts_field(self, offset: int = 0) -> bool:
        """Tell whether `path =` stands at a token near by."""
        return starts_field(self.kinds, self.at + offset)

    def partner(self, offset: int) -> int:
        """Give how far away the other half of a bracket near by is, counted from the spot's token."""
        return self._partner[self.at + offset] - self.at

    @cached_property
    def is_before_in(self) -> bool:
        """Whether the `in` of the bindings around the spot comes later on, as far as one looks."""
        at, open_lets = self.at, 0
        for _ in range(AHEAD_MAX):
            kind = self.kinds[at]
            if kind in CLOSING or kind == END:
                break
            if kind == "IN" and not open_lets:
                return True
            open_lets += (kind == "LET") - (kind == "IN")
            at = max(at, self._partner[at]) + 1
        return False

    def accepts(self, *kinds: str) -> bool:
        """Tell whether tokens of these kinds would fit here, one after the other."""
        return self.automaton.accepts(kinds)

    @cached_property
    def wants_expression(self) -> bool:
        """Whether an expression could begin here."""
        return self.accepts("INT")

    @cached_property
    def _base(self) -> tuple[Construct, int]:
        """The construct, and how many states lie on the stack up to and with what opens it."""
        symbols, states = self.automaton.tables.symbols, self.automaton.states
        closed_lets = closed = 0
        for depth in range(len(states) - 1, 0, -1):
            symbol = symbols[states[depth]]
            if symbol == "IN":
                closed_lets += 1
            elif symbol == "LET":
                if not closed_lets:
                    return Construct.LET, depth + 1
                closed_lets -= 1
            elif symbol in CLOSING:
                closed += 1
            elif symbol in CLOSERS and closed:
                closed -= 1
            elif symbol in CLOSERS:
                if depth == 1 and self._is_loose:
                    break
                return self._opened_by(symbol, symbols[states[depth - 1]]), depth + 1
        return (Construct.LOOSE, 2) if self._is_loose else (Construct.LONE, 1)

    @staticmethod
    def _opened_by(symbol: str, below: str) -> Construct:
        match symbol:
            case "LBRACE":
                return Construct.MATCH if below == "expression" else Construct.OBJECT
            case "LSQB":
                return Construct.ARRAY
            case "LPAR":
                return Construct.CALL if below == "postfixed" else Construct.PAREN
            case _:
                return Construct.PARAMETERS

    @property
    def construct(self) -> Construct:
        """What the spot lies directly in."""
        return self._base[0]

    @property
    def base(self) -> int:
        """How many states lie on the stack up to and with the token that opens the construct."""
        return self._base[1]

    def begun(self, *symbols: str) -> bool:
        """Tell whether these symbols are the last on the stack."""
        states = self.automaton.states[-len(symbols) :]
        return list(symbols) == [self.automaton.tables.symbols[state] for state in states]

    def on_stack(self, symbol: str) -> bool:
        """Tell whether a symbol lies on the stack inside of the construct."""
        symbols = self.automaton.tables.symbols
        return any(symbols[state] == symbol for state in self.automaton.states[self.base :])

    @cached_property
    def subject(self) -> str | None:
        """The name of the field or binding whose value is being read, or was read last, as written."""
        symbols, states, values = self.automaton.tables.symbols, self.automaton.states, self.automaton.values
        last = values[-1] if values else None
        if isinstance(last, list):
            last = last[-1]
        if isinstance(last, Field):
            return self.text[last.path[0].start : last.path[-1].end]
        for depth in range(self.base, len(states)):
            if symbols[states[depth]] in {"path", "binding_path"}:
                path: list[Key] = values[depth - 1]
                return self.text[path[0].start : path[-1].end]
        return None

    def start_of(self, value: Any) -> int:
        """Give where what lies on the stack begins."""
        match value:
            case Node(start=start):
                return start
            case [first, *_]:
                return self.start_of(first)
            case int():
                return self._starts[value]
            case _:
                raise AssertionError("nothing else lies on the stack")

    def sync(self) -> int:
        """Find the next token at which the construct can go on: a separator, its end, or the head of another field."""
        separator = SEPARATORS.get(self.construct)
        has_fields = self.construct in {Construct.LOOSE, Construct.OBJECT, Construct.LET}
        kinds, at, open_lets = self.kinds, self.at, 0
        while kinds[at] not in CLOSING and kinds[at] != END:
            kind = kinds[at]
            if kind == "LET":
                open_lets += 1
            elif kind == "IN":
                if not open_lets and self.construct is Construct.LET:
                    break
                open_lets = max(0, open_lets - 1)
            elif not open_lets and (kind == separator or (has_fields and at > self.at and self._heads_field(at))):
                break
            at = max(at, self._partner[at]) + 1
        return at

    def end(self) -> int:
        """Find the token that closes the construct."""
        kinds, at = self.kinds, self.at
        while kinds[at] not in CLOSING and kinds[at] != END:
            at = max(at, self._partner[at]) + 1
        return at

    def _heads_field(self, at: int) -> bool:
        return self.kinds[at - 1] != "DOT" and starts_field(self.kinds, at)

    @property
    def is_reported(self) -> bool:
        """Whether what is wrong here was reported when the tokens were found."""
        if ERROR in {self.kind, self.kind_at(-1)} or (self._unclosed and self.gap == len(self.text)):
            return True
        if self._is_odd_mark(-1) or self._is_odd_mark(0):
            return True
        if self.at in self._after_strays:
            return True
        if self.kind in CLOSERS and self._ends_early(self.at) and self.construct is not Construct.LONE:
            return True
        return self.is_in_doubt or (self._is_in_open and self.construct in {Construct.PAREN, Construct.CALL, Construct.PARAMETERS})

    @property
    def opener(self) -> int:
        """The number of the bracket that opens the construct; -1 where none does."""
        if self.construct in {Construct.LONE, Construct.LOOSE, Construct.LET}:
            return -1
        number: int = self.automaton.values[self.base - 2]
        return number

    @property
    def is_in_doubt(self) -> bool:
        """Whether not even the first part of the construct fits, where it or one around it is never closed: its bracket was not meant."""
        if self.opener < 0 or self._has_parts:
            return False
        symbols, states, values = self.automaton.tables.symbols, self.automaton.states, self.automaton.values
        kind = symbols[states[self.base - 1]]
        openers = (values[depth - 1] for depth in range(1, self.base) if symbols[states[depth]] == kind)
        return any(self._ends_early(opener) for opener in openers)

    @property
    def _is_in_open(self) -> bool:
        """Whether the construct has an end that was put in."""
        return self.opener >= 0 and self._ends_early(self.opener)

    def _is_odd_mark(self, offset: int) -> bool:
        """Tell whether a token near by is a mark that is written in no way of the language."""
        text = self.text_at(offset)
        return self.kind_at(offset) in MARK_KINDS and text != "" and text not in PUNCTUATION

    def _ends_early(self, opener: int) -> bool:
        """Tell whether a bracket of the author's has an end that was put in."""
        closer = self._partner[opener]
        return self._starts[closer] == self._ends[closer] and self._starts[opener] < self._ends[opener]

    @property
    def _has_parts(self) -> bool:
        """Whether a part of the construct is complete."""
        states = self.automaton.states
        return len(states) > self.base and self.automaton.tables.symbols[states[self.base]] in _PARTS
