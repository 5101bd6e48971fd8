"""What each rule of the grammar makes: one method per alias.

Invariants: a method gets one argument per symbol of its rule, a token as its number, anything else as what its rule made; it touches
nothing but its arguments, and its node runs from the first to the last token of the rule. A broken field, binding, arm or parameter is a
`Bad` in its list; it is left out of the node the list becomes, except that an object with a broken field has a `Bad` rest: nobody knows
which fields it was to have.
"""

import re
from typing import Final, TypeAlias, TypeVar

from stateward.compiler.syntax.lexer import Tokens
from stateward.compiler.syntax.tree import (
    Access,
    Arm,
    Array,
    Bad,
    Binary,
    Binding,
    BoolLit,
    Bound,
    Call,
    Expr,
    Field,
    FloatLit,
    Import,
    IntLit,
    Key,
    Lambda,
    Let,
    Match,
    Module,
    Name,
    Object,
    Param,
    Paren,
    RegexLit,
    StringLit,
    TypeWord,
    Unary,
    Wildcard,
)

Item = TypeVar("Item")
TokenNumber: TypeAlias = int

INFINITY: Final = float("inf")
INT_MAX: Final = 2**63 - 1
INT_DIGITS_MAX: Final = 19
FLOAT_DIGITS_MAX: Final = 309
"""No more digits than this can stand before the point of a finite number."""
TYPE_WORDS: Final = frozenset({"String", "Int", "Float", "Bool", "Unknown"})
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}


def unescaped(body: str) -> str:
    """Resolve the escapes of a string's body."""
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), body)


class Builder:
    """Makes nodes out of the tokens of one text."""

    def __init__(self, text: str, tokens: Tokens) -> None:
        self.text = text
        self.starts = tokens.starts
        self.ends = tokens.ends

    def _text(self, token: TokenNumber) -> str:
        return self.text[self.starts[token] : self.ends[token]]

    def _value(self, token: TokenNumber) -> str:
        body = self.text[self.starts[token] + 1 : self.ends[token] - 1]
        return unescaped(body) if "\\" in body else body

    # Lists

    def first(self, item: Item) -> list[Item]:
        """Begin a list."""
        return [item]

    def more(self, items: list[Item], item: Item) -> list[Item]:
        """Go on with a list."""
        items.append(item)
        return items

    def more_after_separator(self, items: list[Item], _separator: TokenNumber, item: Item) -> list[Item]:
        """Go on with a list whose items are separated."""
        items.append(item)
        return items

    def ended(self, item: Item, _end: TokenNumber) -> Item:
        """Leave out the token that ends an item."""
        return item

    # Modules and objects

    def module(self, body: Expr) -> Module:
        """Make the module of an expression."""
        return Module(body.start, body.end, body)

    def loose_module(self, fields: list[Field | Bad]) -> Module:
        """Make the module of fields without braces; it reaches to the last token."""
        start, end = self.starts[0], self.ends[-1]
        return Module(start, end, self._object(start, end, fields, None, braced=False))

    def _object(self, start: int, end: int, fields: list[Field | Bad], rest: Expr | None, *, braced: bool = True) -> Object:
        sound = tuple([field for field in fields if type(field) is Field])
        if rest is None and len(sound) != len(fields):
            rest = next(field for field in fields if type(field) is Bad)
        return Object(start, end, sound, rest, braced)

    def object_empty(self, opener: TokenNumber, closer: TokenNumber) -> Object:
        """`{}`."""
        return Object(self.starts[opener], self.ends[closer], (), None, True)

    def object_of_rest(self, opener: TokenNumber, _ellipsis: TokenNumber, rest: Expr, closer: TokenNumber) -> Object:
        """`{...rest}`."""
        return Object(self.starts[opener], self.ends[closer], (), rest, True)

    def object_of_fields(self, opener: TokenNumber, fields: list[Field | Bad], closer: TokenNumber) -> Object:
        """`{ fields }`."""
        return self._object(self.starts[opener], self.ends[closer], fields, None)

    def object_ended(self, opener: TokenNumber, fields: list[Field | Bad], _end: TokenNumber, closer: TokenNumber) -> Object:
        """`{ fields; }`."""
        return self._object(self.starts[opener], self.ends[closer], fields, None)

    def object_with_rest(
        self, opener: TokenNumber, fields: list[Field | Bad], _end: TokenNumber, _ellipsis: TokenNumber, rest: Expr, closer: TokenNumber
    ) -> Object:
        """`{ fields; ...rest }`."""
        return self._object(self.starts[opener], self.ends[closer], fields, rest)

    def object_with_rest_ended(
        self,
        opener: TokenNumber,
        fields: list[Field | Bad],
        _end: TokenNumber,
        _ellipsis: TokenNumber,
        rest: Expr,
        _rest_end: TokenNumber,
        closer: TokenNumber,
    ) -> Object:
        """`{ fields; ...rest; }`."""
        return self._object(self.starts[opener], self.ends[closer], fields, rest)

    def field(self, path: list[Key], _equal: TokenNumber, value: Expr) -> Field:
        """`path = value`."""
        return Field(path[0].start, value.end, tuple(path), value)

    def plain_key(self, token: TokenNumber) -> Key:
        """A name as a key."""
        start, end = self.starts[token], self.ends[token]
        return Key(start, end, self.text[start:end], False)

    def quoted_key(self, token: TokenNumber) -> Key:
        """A string as a key."""
        return Key(self.starts[token], self.ends[token], self._value(token), True)

    # Functions, `let`, `match`, `import`

    def _function(self, opener: TokenNumber, parameters: list[Param | Bad], body: Expr) -> Lambda:
        sound = tuple([parameter for parameter in parameters if type(parameter) is Param])
        return Lambda(self.starts[opener], body.end, sound, body)

    def function_without_parameters(self, opener: TokenNumber, _closer: TokenNumber, _arrow: TokenNumber, body: Expr) -> Lambda:
        """`() => body`."""
        return self._function(opener, [], body)

    def function(
        self, opener: TokenNumber, parameters: list[Param | Bad], _closer: TokenNumber, _arrow: TokenNumber, body: Expr
    ) -> Lambda:
        """`(parameters) => body`."""
        return self._function(opener, parameters, body)

    def parameter(self, token: TokenNumber) -> Param:
        """`name`."""
        return Param(self.starts[token], self.ends[token], self.plain_key(token), None)

    def constrained_parameter(self, token: TokenNumber, _colon: TokenNumber, constraint: Expr) -> Param:
        """`name: constraint`."""
        return Param(self.starts[token], constraint.end, self.plain_key(token), constraint)

    def let_without_bindings(self, let: TokenNumber, _in: TokenNumber, body: Expr) -> Let:
        """`let in body`."""
        return Let(self.starts[let], body.end, (), body)

    def let(self, let: TokenNumber, bindings: list[Binding | Bad], _in: TokenNumber, body: Expr) -> Let:
        """`let bindings in body`."""
        sound = tuple([binding for binding in bindings if type(binding) is Binding])
        return Let(self.starts[let], body.end, sound, body)

    def binding(self, path: list[Key], _equal: TokenNumber, value: Expr, _end: TokenNumber) -> Binding:
        """`name = value;`."""
        return Binding(path[0].start, value.end, tuple(path), value)

    def match_without_arms(self, match: TokenNumber, subject: Expr, _opener: TokenNumber, closer: TokenNumber) -> Match:
        """`match subject {}`."""
        return Match(self.starts[match], self.ends[closer], subject, ())

    def match(self, match: TokenNumber, subject: Expr, _opener: TokenNumber, arms: list[Arm | Bad], closer: TokenNumber) -> Match:
        """`match subject { arms }`."""
        sound = tuple([arm for arm in arms if type(arm) is Arm])
        return Match(self.starts[match], self.ends[closer], subject, sound)

    def match_ended(
        self, match: TokenNumber, subject: Expr, opener: TokenNumber, arms: list[Arm | Bad], _end: TokenNumber, closer: TokenNumber
    ) -> Match:
        """`match subject { arms; }`."""
        return self.match(match, subject, opener, arms, closer)

    def arm(self, pattern: Expr, _colon: TokenNumber, body: Expr) -> Arm:
        """`pattern: body`."""
        return Arm(pattern.start, body.end, pattern, body)

    def import_of_text(self, word: TokenNumber, specifier: TokenNumber) -> Import:
        """`import "specifier"`."""
        return Import(self.starts[word], self.ends[specifier], self._value(specifier), True)

    def import_of_name(self, word: TokenNumber, specifier: TokenNumber) -> Import:
        """`import name`."""
        return Import(self.starts[word], self.ends[specifier], self._text(specifier), False)

    # Operators

    def binary(self, left: Expr, operator: TokenNumber, right: Expr) -> Binary:
        """`left operator right`."""
        return Binary(left.start, right.end, self._text(operator), left, right)

    def unary(self, operator: TokenNumber, operand: Expr) -> Unary:
        """`-operand`, `!operand`."""
        return Unary(self.starts[operator], operand.end, self._text(operator), operand)

    def bound(self, operator: TokenNumber, operand: Expr) -> Bound:
        """`> operand` and the like."""
        return Bound(self.starts[operator], operand.end, self._text(operator), operand)

    def access(self, base: Expr, _dot: TokenNumber, key: Key) -> Access:
        """`base.key`."""
        return Access(base.start, key.end, base, key)

    def call_without_arguments(self, callee: Expr, _opener: TokenNumber, closer: TokenNumber) -> Call:
        """`callee()`."""
        return Call(callee.start, self.ends[closer], callee, ())

    def call(self, callee: Expr, _opener: TokenNumber, arguments: list[Expr], closer: TokenNumber) -> Call:
        """`callee(arguments)`."""
        return Call(callee.start, self.ends[closer], callee, tuple(arguments))

    # Primaries

    def name(self, token: TokenNumber) -> Name | TypeWord:
        """A name; the type words always mean the type."""
        start, end = self.starts[token], self.ends[token]
        text = self.text[start:end]
        return TypeWord(start, end, text) if text in TYPE_WORDS else Name(start, end, text)

    def string(self, token: TokenNumber) -> StringLit:
        """A string."""
        return StringLit(self.starts[token], self.ends[token], self._value(token))

    def integer(self, token: TokenNumber) -> IntLit | Bad:
        """Digits; outside of 64 bits they are `Bad`."""
        start, end = self.starts[token], self.ends[token]
        digits = self.text[start:end].lstrip("0")
        value = int(digits or "0") if len(digits) <= INT_DIGITS_MAX else INT_MAX + 1
        return IntLit(start, end, value) if value <= INT_MAX else Bad(start, end)

    def floating(self, token: TokenNumber) -> FloatLit | Bad:
        """`digits.digits`; what is not finite is `Bad`."""
        start, end = self.starts[token], self.ends[token]
        text = self.text[start:end].lstrip("0")
        value = float(text) if text.index(".") <= FLOAT_DIGITS_MAX else INFINITY
        return FloatLit(start, end, value) if value < INFINITY else Bad(start, end)

    def regex(self, token: TokenNumber) -> RegexLit:
        """`/pattern/`."""
        start, end = self.starts[token], self.ends[token]
        return RegexLit(start, end, self.text[start + 1 : end - 1].replace("\\/", "/"))

    def true(self, token: TokenNumber) -> BoolLit:
        """`true`."""
        return BoolLit(self.starts[token], self.ends[token], True)

    def false(self, token: TokenNumber) -> BoolLit:
        """`false`."""
        return BoolLit(self.starts[token], self.ends[token], False)

    def wildcard(self, token: TokenNumber) -> Wildcard:
        """`_`."""
        return Wildcard(self.starts[token], self.ends[token])

    def paren(self, opener: TokenNumber, inner: Expr, closer: TokenNumber) -> Paren:
        """`(inner)`."""
        return Paren(self.starts[opener], self.ends[closer], inner)

    def array_empty(self, opener: TokenNumber, closer: TokenNumber) -> Array:
        """`[]`."""
        return Array(self.starts[opener], self.ends[closer], (), None)

    def array(self, opener: TokenNumber, items: list[Expr], closer: TokenNumber) -> Array:
        """`[items]`."""
        return Array(self.starts[opener], self.ends[closer], tuple(items), None)

    def array_ended(self, opener: TokenNumber, items: list[Expr], _comma: TokenNumber, closer: TokenNumber) -> Array:
        """`[items,]`."""
        return self.array(opener, items, closer)

    def array_of_rest(self, opener: TokenNumber, _ellipsis: TokenNumber, rest: Expr, closer: TokenNumber) -> Array:
        """`[...rest]`."""
        return Array(self.starts[opener], self.ends[closer], (), rest)

    def array_of_rest_ended(
        self, opener: TokenNumber, ellipsis: TokenNumber, rest: Expr, _comma: TokenNumber, closer: TokenNumber
    ) -> Array:
        """`[...rest,]`."""
        return self.array_of_rest(opener, ellipsis, rest, closer)

    # Broken text: the recovery leaves the node of the broken part in the place of a token

    def bad(self, node: Bad) -> Bad:
        """A broken expression."""
        return node

    def broken(self, node: Bad, _end: TokenNumber | None = None) -> Bad:
        """A broken field, binding, arm or parameter."""
        return node
