"""Strategies that write DCDL: whole sources that parse, with any spacing and comments an author may use, and texts that are nearly DCDL.

The texts are correct by the grammar only: names may be unknown and types may clash.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, Protocol, TypeVar

from hypothesis import strategies as st

RESERVED: Final = ("as", "default", "false", "import", "in", "let", "match", "true")
DEPTH_MAX: Final = 3
TOKENS: Final = (
    "{", "}", "[", "]", "(", ")", "=", ";", ",", ".", ":", "=>", "...", "//", "&", "||", "&&", "==", "!=", "<", "<=", ">", ">=", "++",
    "+", "-", "*", "/", "!", "_", "a", "b1", "Int", "String", *RESERVED, "0", "12", "1.5", '"s"', '"a\\nb"', "/a+/", "# c\n", " ", "\n",
)  # fmt: skip
"""Tokens of the language, as they are written."""
ODD_TOKENS: Final = (
    "'s'", '"', "'", "`", "“x”", "|", "..", "....", "%", "?", "$x", "é", "ß1", "\x00", "\x0c", "\u00a0", "\ufeff", "\u200b", "\ud800", "/*",
    "*/", "/", "\\", "<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "```", ":=", "；", "1a", "0x1", "\r", "null", "if", "and", "9" * 30,
)  # fmt: skip
"""What else stands in texts that were to be DCDL."""

_BLANKS: Final = ("", " ") * 12 + ("  ", "\n", "\n\n", "\t", "\r\n", " # note\n", "\n# é\r\n")
_LINE_BLANKS: Final = ("", " ", "\n", "\n\n", "\r\n", " # note\n", "\n# one\n# two\n", "# é\r\n", "\n\n\n# own\n\n")
"""What stands where authors mostly put comments: around the items of brackets."""
_NAMES: Final = ("a", "b", "c1", "foo_bar", "State", "Int", "String", "Unknown", "null", "x")
_BINARY: Final = ("as", "default", "//", "&", "||", "&&", "==", "!=", "<", "<=", ">", ">=", "++", "+", "-", "*", "/")
_STRING_PIECES: Final = ("a", " ", "\\n", "\\t", '\\"', "\\\\", "\\q", "\n", "\r\n", "#", "{", "//", "é", "😀", "日", "'", "...")
_PATTERN_PIECES: Final = ("a", "[a-z]", "\\/", "\\d", ".", "^", "$", " ", "#")
_Choice = TypeVar("_Choice")


class Choices(Protocol):
    """Where a writer's choices come from."""

    def __call__(self, choices: Sequence[_Choice], /) -> _Choice:
        """Choose one of several things."""


class Writer:
    """Writes one source, by choices made elsewhere."""

    def __init__(self, choose: Choices) -> None:
        self.choose = choose
        self.depth = 0

    def pick(self, *choices: Callable[[], str]) -> str:
        """Write one of several things."""
        return self.choose(choices)()

    def maybe(self, text: str) -> str:
        """Write a text or nothing."""
        return self.choose((text, ""))

    def several(self, part: Callable[[], str], least: int = 0) -> list[str]:
        """Write a few parts."""
        return [part() for _ in range(self.choose(range(least, 3)))]

    def some(self) -> range:
        """Choose how often to do something, from not at all to three times."""
        return range(self.choose(range(4)))

    def spaced(self, *parts: str) -> str:
        """Join parts with blanks and comments; what would be read as one token is kept apart."""
        text = ""
        for part in parts:
            blank = self.choose(_BLANKS)
            joins = text and part and text[-1] not in "{}[]();, \n" and part[0] not in "{}[]();, \n"
            text += (" " if joins and not blank else blank) + part
        return text

    def separated(self, parts: list[str], separator: str, *, ended: bool = False) -> str:
        """Join parts with separators, perhaps with one after the last."""
        row = [each for part in parts for each in (self.choose(_LINE_BLANKS) + part + self.choose(_BLANKS), separator)]
        if row and not (ended and self.choose((True, False))):
            row.pop()
        return "".join(row) + self.choose(_LINE_BLANKS)

    # Tokens

    def name(self) -> str:
        """Write a name."""
        return self.choose(_NAMES)

    def string(self) -> str:
        """Write a string."""
        return '"' + "".join(self.choose(_STRING_PIECES) for _ in self.some()) + '"'

    def literal(self) -> str:
        """Write an expression of one token."""
        return self.pick(self.name, self.string, self._integer, self._floating, self._pattern, self._boolean)

    def _integer(self) -> str:
        return self.choose(("0", "007", "42", str(2**63 - 1)))

    def _floating(self) -> str:
        return self.choose(("0.0", "1.50", "007.25", "123456789.000001"))

    def _pattern(self) -> str:
        return "/x" + "".join(self.choose(_PATTERN_PIECES) for _ in self.some()) + "/"

    def _boolean(self) -> str:
        return self.choose(("true", "false"))

    def key(self) -> str:
        """Write the name of a field."""
        return self.pick(self.name, self.name, self.string)

    # Expressions

    def expression(self) -> str:
        """Write an expression; a function only here, as it stands in no operator without parentheses."""
        return self.pick(self.binary, self.binary, self.prefixed, self.prefixed, self.function)

    def binary(self) -> str:
        """Write a chain of operators."""
        row = [self.prefixed()]
        for _ in self.choose((range(1), range(1), range(2))):
            row += [self.choose(_BINARY), self.prefixed()]
        return self.spaced(*row)

    def prefixed(self) -> str:
        """Write an operand."""
        if self.depth >= DEPTH_MAX:
            return self.literal()
        self.depth += 1
        text = self.pick(self.literal, self.literal, self.postfixed, self.postfixed, self._sign, self._bound, self.let)
        self.depth -= 1
        return text

    def _sign(self) -> str:
        return self.spaced(self.choose("-!"), self.prefixed())

    def _bound(self) -> str:
        return self.spaced(self.choose(("<", "<=", ">", ">=")), self.prefixed())

    def postfixed(self) -> str:
        """Write something in brackets or a literal, with accesses and calls."""
        row = [self.pick(self.literal, self.object, self.object, self.array, self.match, self._paren, self._import)]
        for _ in range(self.choose((0, 0, 0, 1, 2))):
            row += self.choose((self._access, self._call))()
        return self.spaced(*row)

    def _access(self) -> list[str]:
        return [".", self.key()]

    def _call(self) -> list[str]:
        return ["(", self.separated(self.several(self.expression), ","), ")"]

    def _paren(self) -> str:
        return self.spaced("(", self.expression(), ")")

    def _import(self) -> str:
        return self.spaced("import", self.pick(self.name, self.string))

    def field(self) -> str:
        """Write a field without its semicolon."""
        return self.spaced(*self._path(), "=", self.expression())

    def _path(self) -> list[str]:
        row = [self.key()]
        for _ in range(self.choose((0, 0, 0, 1, 2))):
            row += [".", self.key()]
        return row

    def _rest(self) -> str:
        return self.spaced("...", self.expression())

    def object(self) -> str:
        """Write an object in braces."""
        if self.choose(range(5)) == 0:
            return self.spaced("{", self._rest(), "}")
        if self.choose(range(5)) == 0:
            fields = self.separated(self.several(self.field, 1), ";")
            return self.spaced("{", fields, ";", self._rest(), self.maybe(";"), "}")
        return self.spaced("{", self.separated(self.several(self.field), ";", ended=True), "}")

    def array(self) -> str:
        """Write an array."""
        if self.choose(range(5)) == 0:
            return self.spaced("[", self._rest(), self.maybe(","), "]")
        return self.spaced("[", self.separated(self.several(self.expression), ",", ended=True), "]")

    def function(self) -> str:
        """Write a function."""
        return self.spaced("(", self.separated(self.several(self._parameter), ","), ")", "=>", self.expression())

    def _parameter(self) -> str:
        return self.name() if self.choose((True, False)) else self.spaced(self.name(), ":", self.expression())

    def let(self) -> str:
        """Write a `let`."""
        return self.spaced("let", *self.several(self._binding), "in", self.expression())

    def _binding(self) -> str:
        return self.spaced(self.name(), "=", self.expression(), ";")

    def match(self) -> str:
        """Write a `match`."""
        return self.spaced("match", self.expression(), "{", self.separated(self.several(self._arm), ";", ended=True), "}")

    def _arm(self) -> str:
        return self.spaced(self.pick(self.expression, lambda: "_"), ":", self.expression())

    # Modules

    def module(self) -> str:
        """Write a whole source."""
        return self.spaced(self.pick(self.expression, self._fields), self.maybe("# end"))

    def _fields(self) -> str:
        row: list[str] = []
        for field in self.several(self.field, 1):
            row += [field, self.choose((";", ";", "\n"))]
        return self.spaced(*row)


def drawn(draw: st.DrawFn) -> Choices:
    """Let hypothesis choose."""

    def choose(choices: Sequence[_Choice]) -> _Choice:
        return draw(st.sampled_from(choices))

    return choose


def written(seed: int) -> str:
    """Give a source that parses, the same for the same seed: much faster than drawing it, but nothing can shrink it."""
    return Writer(Random(seed).choice).module()  # noqa: S311 - no secret


@st.composite
def sources(draw: st.DrawFn) -> str:
    """Write sources that parse."""
    return Writer(drawn(draw)).module()


@st.composite
def token_soups(draw: st.DrawFn) -> str:
    """Write tokens in any order."""
    return "".join(draw(st.lists(st.sampled_from(TOKENS + ODD_TOKENS), max_size=40)))


def damaged(seed: int) -> str:
    """Give a source that parses, with a piece or two put in, taken out or replaced; the same for the same seed."""
    choices = Random(seed)  # noqa: S311 - no secret
    return _damaged(Writer(choices.choice).module(), choices.choice)


def _damaged(text: str, choose: Choices) -> str:
    for _ in choose((range(1), range(2), range(3))):
        at = choose(range(len(text) + 1))
        end = choose(range(at, min(len(text), at + 3) + 1))
        text = text[:at] + choose(("", "", *TOKENS, *ODD_TOKENS)) + text[end:]
    return text


@st.composite
def damaged_sources(draw: st.DrawFn) -> str:
    """Write sources that parse, and put in, take out or replace a piece or two."""
    return _damaged(Writer(drawn(draw)).module(), drawn(draw))
