"""What each rule of the grammar makes: one method per alias.

Invariants: a method gets one argument per symbol of its rule, a token as its number, anything else as what its rule made; it touches
nothing but its arguments, and its node runs from the first to the last token of the rule. A broken field, binding or arm is a `Bad` in
its list, and stands under `broken` in the node the list becomes; a function with a broken parameter is `Bad` as a whole, since nobody
knows what it takes.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias, TypeVar
from unicodedata import normalize

from stateward.compiler.syntax.faults import ESCAPE_CODE, FAULTS_MAX, Fault, fix
from stateward.compiler.syntax.tokens import RESERVED, Tokens
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
FLOAT_FRACTION_MAX: Final = 1_200
"""Digits after the point beyond these cannot change the value: 1,075 are the most that lie exactly between two Floats."""
TYPE_WORDS: Final = frozenset({"String", "Int", "Float", "Bool", "Unknown"})
OPERATORS: Final = frozenset(
    {"as", "default", "//", "&", "||", "&&", "==", "!=", "<", "<=", ">", ">=", "++", "+", "-", "*", "/", "!"}
)  # fmt: skip
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_UNKNOWN_ESCAPE: Final = re.compile(r"\\(?:[ntr\\\"'/\n\r]|([\s\S]))")
"""An escape, and in a group what it escapes without need. The mark of another quote, a slash and a line end mean what they look like."""
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}


def unescaped(body: str) -> str:
    """Resolve the escapes of a string's body."""
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), body)


def unknown_escape(at: int, char: str) -> Fault:
    """Warn of an escape that stands for nothing but its character; `at` is the place of the character."""
    return Fault(
        at - 1,
        at + 1,
        f"`\\{char}` is no escape and stands for `{char}`",
        "not an escape",
        notes=('the escapes are `\\n`, `\\t`, `\\r`, `\\\\` and `\\"`',),
        fix=fix("write the backslash twice", (at - 1, at - 1, "\\"), safe=False),
        warning=True,
        code=ESCAPE_CODE,
    )


def _broken(items: Sequence[object], sound: Sequence[object]) -> tuple[Bad, ...]:
    return tuple([item for item in items if type(item) is Bad]) if len(sound) != len(items) else ()


def mended_names(items: Iterable[Field | Binding]) -> tuple[Bad, ...]:
    """Cover the names that only a mend made names: an expression that uses one of them finds something else."""
    keys = [item.path[0] for item in items]
    return tuple([Bad(key.start, key.end) for key in keys if not key.quoted and (key.text in RESERVED or not _PLAIN.fullmatch(key.text))])


class Builder:
    """Makes nodes out of the tokens of one text."""

    def __init__(self, text: str, tokens: Tokens) -> None:
        self.text = text
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.faults: list[Fault] = []
        """Numbers that have no value."""
        self.warnings: list[Fault] = []
        """Strings whose value may not be what their author thinks."""

    def _text(self, token: TokenNumber) -> str:
        return self.text[self.starts[token] : self.ends[token]]

    def _is_put_in(self, token: TokenNumber) -> bool:
        """Tell whether a token is not the author's."""
        return self.starts[token] == self.ends[token]

    def _operator(self, token: TokenNumber) -> str | None:
        """Give the operator that a token is, or the one that it looks like; None where it is none."""
        text = self._text(token)
        if text in OPERATORS:
            return text
        meant = normalize("NFKC", text)
        return meant if meant in OPERATORS else None

    def _value(self, token: TokenNumber) -> str:
        start = self.starts[token] + 1
        body = self.text[start : self.ends[token] - 1]
        if "\\" not in body:
            return body
        for found in _UNKNOWN_ESCAPE.finditer(body):
            if found[1] and len(self.warnings) < FAULTS_MAX:
                self.warnings.append(unknown_escape(start + found.start(1), found[1]))
        return unescaped(body)

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
        return Object(start, end, sound, rest, braced, _broken(fields, sound))

    def object_empty(self, opener: TokenNumber, closer: TokenNumber) -> Object:
        """Make `{}`."""
        return Object(self.starts[opener], self.ends[closer], (), None, True)

    def object_of_rest(self, opener: TokenNumber, _ellipsis: TokenNumber, rest: Expr, closer: TokenNumber) -> Object:
        """Make `{...rest}`."""
        return Object(self.starts[opener], self.ends[closer], (), rest, True)

    def object_of_fields(self, opener: TokenNumber, fields: list[Field | Bad], closer: TokenNumber) -> Object:
        """Make `{ fields }`."""
        return self._object(self.starts[opener], self.ends[closer], fields, None)

    def object_ended(self, opener: TokenNumber, fields: list[Field | Bad], _end: TokenNumber, closer: TokenNumber) -> Object:
        """Make `{ fields; }`."""
        return self._object(self.starts[opener], self.ends[closer], fields, None)

    def object_with_rest(
        self, opener: TokenNumber, fields: list[Field | Bad], _end: TokenNumber, _ellipsis: TokenNumber, rest: Expr, closer: TokenNumber
    ) -> Object:
        """Make `{ fields; ...rest }`."""
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
        """Make `{ fields; ...rest; }`."""
        return self._object(self.starts[opener], self.ends[closer], fields, rest)

    def field(self, path: list[Key], _equal: TokenNumber, value: Expr) -> Field:
        """Make `path = value`."""
        return Field(path[0].start, value.end, tuple(path), value)

    def plain_key(self, token: TokenNumber) -> Key:
        """Make a key of a name."""
        start, end = self.starts[token], self.ends[token]
        return Key(start, end, self.text[start:end], False)

    def quoted_key(self, token: TokenNumber) -> Key:
        """Make a key of a string."""
        return Key(self.starts[token], self.ends[token], self._value(token), True)

    # Functions, `let`, `match`, `import`

    def function_without_parameters(self, opener: TokenNumber, _closer: TokenNumber, _arrow: TokenNumber, body: Expr) -> Lambda:
        """Make `() => body`."""
        return Lambda(self.starts[opener], body.end, (), body)

    def function(
        self, opener: TokenNumber, parameters: list[Param | Bad], _closer: TokenNumber, _arrow: TokenNumber, body: Expr
    ) -> Lambda | Bad:
        """Make `(parameters) => body`."""
        sound = tuple([parameter for parameter in parameters if type(parameter) is Param])
        if len(sound) != len(parameters):
            return Bad(self.starts[opener], body.end)
        return Lambda(self.starts[opener], body.end, sound, body)

    def parameter(self, token: TokenNumber) -> Param:
        """Make `name`."""
        return Param(self.starts[token], self.ends[token], self.plain_key(token), None)

    def constrained_parameter(self, token: TokenNumber, _colon: TokenNumber, constraint: Expr) -> Param:
        """Make `name: constraint`."""
        return Param(self.starts[token], constraint.end, self.plain_key(token), constraint)

    def let_without_bindings(self, let: TokenNumber, _in: TokenNumber, body: Expr) -> Let:
        """Make `let in body`."""
        return Let(self.starts[let], body.end, (), body)

    def let(self, let: TokenNumber, bindings: list[Binding | Bad], _in: TokenNumber, body: Expr) -> Let:
        """Make `let bindings in body`."""
        sound = tuple([binding for binding in bindings if type(binding) is Binding])
        return Let(self.starts[let], body.end, sound, body, _broken(bindings, sound) + mended_names(sound))

    def binding(self, path: list[Key], _equal: TokenNumber, value: Expr, _end: TokenNumber) -> Binding:
        """Make `name = value;`."""
        return Binding(path[0].start, value.end, tuple(path), value)

    def match_without_arms(self, match: TokenNumber, subject: Expr, _opener: TokenNumber, closer: TokenNumber) -> Match:
        """Make `match subject {}`."""
        return Match(self.starts[match], self.ends[closer], subject, ())

    def match(self, match: TokenNumber, subject: Expr, _opener: TokenNumber, arms: list[Arm | Bad], closer: TokenNumber) -> Match:
        """Make `match subject { arms }`."""
        sound = tuple([arm for arm in arms if type(arm) is Arm])
        return Match(self.starts[match], self.ends[closer], subject, sound, _broken(arms, sound))

    def match_ended(
        self, match: TokenNumber, subject: Expr, opener: TokenNumber, arms: list[Arm | Bad], _end: TokenNumber, closer: TokenNumber
    ) -> Match:
        """Make `match subject { arms; }`."""
        return self.match(match, subject, opener, arms, closer)

    def arm(self, pattern: Expr, _colon: TokenNumber, body: Expr) -> Arm:
        """Make `pattern: body`."""
        return Arm(pattern.start, body.end, pattern, body)

    def import_of_text(self, word: TokenNumber, specifier: TokenNumber) -> Import:
        """Make `import "specifier"`."""
        return Import(self.starts[word], self.ends[specifier], self._value(specifier), True)

    def import_of_name(self, word: TokenNumber, specifier: TokenNumber) -> Import:
        """Make `import name`."""
        return Import(self.starts[word], self.ends[specifier], self._text(specifier), False)

    # Operators

    def binary(self, left: Expr, operator: TokenNumber, right: Expr) -> Binary | Bad:
        """Make `left operator right`, or `Bad` where there is no such operator."""
        meant = self._operator(operator)
        return Binary(left.start, right.end, meant, left, right) if meant else Bad(left.start, right.end)

    def unary(self, operator: TokenNumber, operand: Expr) -> Unary | Bad:
        """Make `-operand`, `!operand`."""
        start, meant = self.starts[operator], self._operator(operator)
        return Unary(start, operand.end, meant, operand) if meant else Bad(start, operand.end)

    def bound(self, operator: TokenNumber, operand: Expr) -> Bound | Bad:
        """Make `> operand` and the like."""
        start, meant = self.starts[operator], self._operator(operator)
        return Bound(start, operand.end, meant, operand) if meant else Bad(start, operand.end)

    def access(self, base: Expr, _dot: TokenNumber, key: Key) -> Access:
        """Make `base.key`."""
        return Access(base.start, key.end, base, key)

    def call_without_arguments(self, callee: Expr, _opener: TokenNumber, closer: TokenNumber) -> Call | Bad:
        """Make `callee()`, or `Bad` as in `call`."""
        if self._is_put_in(closer):
            return Bad(callee.start, self.ends[closer])
        return Call(callee.start, self.ends[closer], callee, ())

    def call(self, callee: Expr, _opener: TokenNumber, arguments: list[Expr], closer: TokenNumber) -> Call | Bad:
        """Make `callee(arguments)`, or `Bad` where nobody knows which arguments there were to be."""
        if self._is_put_in(closer):
            return Bad(callee.start, self.ends[closer])
        return Call(callee.start, self.ends[closer], callee, tuple(arguments))

    # Primaries

    def name(self, token: TokenNumber) -> Name | TypeWord:
        """Make a name; the type words always mean the type."""
        start, end = self.starts[token], self.ends[token]
        text = self.text[start:end]
        return TypeWord(start, end, text) if text in TYPE_WORDS else Name(start, end, text)

    def string(self, token: TokenNumber) -> StringLit:
        """Make a string."""
        return StringLit(self.starts[token], self.ends[token], self._value(token))

    def integer(self, token: TokenNumber) -> IntLit | Bad:
        """Make an Int, or `Bad` where the digits do not fit 64 bits."""
        start, end = self.starts[token], self.ends[token]
        digits = self.text[start:end].lstrip("0")
        value = int(digits or "0") if len(digits) <= INT_DIGITS_MAX else INT_MAX + 1
        if value <= INT_MAX:
            return IntLit(start, end, value)
        return self._valueless(Fault(start, end, "an Int does not fit 64 bits", "larger than 9223372036854775807"))

    def floating(self, token: TokenNumber) -> FloatLit | Bad:
        """Make a Float, or `Bad` where it is not finite."""
        start, end = self.starts[token], self.ends[token]
        text = self.text[start:end].lstrip("0")
        point = text.index(".")
        value = float(text[: point + FLOAT_FRACTION_MAX]) if point <= FLOAT_DIGITS_MAX else INFINITY
        if value < INFINITY:
            return FloatLit(start, end, value)
        return self._valueless(Fault(start, end, "a Float is not finite", "larger than any Float"))

    def _valueless(self, fault: Fault) -> Bad:
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(fault)
        return Bad(fault.start, fault.end)

    def regex(self, token: TokenNumber) -> RegexLit:
        """Make `/pattern/`."""
        start, end = self.starts[token], self.ends[token]
        return RegexLit(start, end, self.text[start + 1 : end - 1].replace("\\/", "/"))

    def true(self, token: TokenNumber) -> BoolLit:
        """Make `true`."""
        return BoolLit(self.starts[token], self.ends[token], True)

    def false(self, token: TokenNumber) -> BoolLit:
        """Make `false`."""
        return BoolLit(self.starts[token], self.ends[token], False)

    def wildcard(self, token: TokenNumber) -> Wildcard:
        """Make `_`."""
        return Wildcard(self.starts[token], self.ends[token])

    def paren(self, opener: TokenNumber, inner: Expr, closer: TokenNumber) -> Paren:
        """Make `(inner)`."""
        return Paren(self.starts[opener], self.ends[closer], inner)

    def array_empty(self, opener: TokenNumber, closer: TokenNumber) -> Array | Bad:
        """Make `[]`, or `Bad` as in `array`."""
        if self._is_put_in(closer):
            return Bad(self.starts[opener], self.ends[closer])
        return Array(self.starts[opener], self.ends[closer], (), None)

    def array(self, opener: TokenNumber, items: list[Expr], closer: TokenNumber) -> Array | Bad:
        """Make `[items]`, or `Bad` where nobody knows which items there were to be, or whether an array was meant."""
        if self._is_put_in(closer):
            return Bad(self.starts[opener], self.ends[closer])
        return Array(self.starts[opener], self.ends[closer], tuple(items), None)

    def array_ended(self, opener: TokenNumber, items: list[Expr], _comma: TokenNumber, closer: TokenNumber) -> Array | Bad:
        """Make `[items,]`."""
        return self.array(opener, items, closer)

    def array_of_rest(self, opener: TokenNumber, _ellipsis: TokenNumber, rest: Expr, closer: TokenNumber) -> Array:
        """Make `[...rest]`."""
        return Array(self.starts[opener], self.ends[closer], (), rest)

    def array_of_rest_ended(
        self, opener: TokenNumber, ellipsis: TokenNumber, rest: Expr, _comma: TokenNumber, closer: TokenNumber
    ) -> Array:
        """Make `[...rest,]`."""
        return self.array_of_rest(opener, ellipsis, rest, closer)

    # Broken text: the recovery leaves the node of the broken part in the place of a token

    def bad(self, node: Bad | TokenNumber) -> Bad:
        """Take a broken expression: what the recovery made, or a token that was reported when it was found."""
        return Bad(self.starts[node], self.ends[node]) if isinstance(node, int) else node

    def broken(self, node: Bad | TokenNumber, _end: TokenNumber | None = None) -> Bad:
        """Take a broken field, binding, arm or parameter."""
        return self.bad(node)
