"""Colours in whatever uses Pygments: the classes of `highlighting` under its names. The only file that knows Pygments.

Invariants: any text has an answer, nothing is raised, and the values put together are the text.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Final, TypeAlias

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from stateward.compiler.source import BYTE_ORDER_MARK
from stateward.compiler.syntax.highlighting import TokenClass, classes

TokenType: TypeAlias = Any
"""One of the types of `pygments.token`, which have none that a type checker knows."""
TOKEN_TYPES: Final[dict[TokenClass, TokenType]] = {
    TokenClass.KEYWORD: Keyword,
    TokenClass.BOOLEAN: Keyword.Constant,
    TokenClass.NUMBER: Number,
    TokenClass.STRING: String,
    TokenClass.ESCAPE: String.Escape,
    TokenClass.PATTERN: String.Regex,
    TokenClass.OPERATOR: Operator,
    TokenClass.PUNCTUATION: Punctuation,
    TokenClass.COMMENT: Comment.Single,
    TokenClass.NAME: Name.Variable,
    TokenClass.FIELD: Name.Attribute,
    TokenClass.TYPE: Keyword.Type,
    TokenClass.INVALID: Error,
}


class DcdlLexer(Lexer):  # type: ignore[misc] # Pygments ships no types
    """Colours DCDL. Unlike others it leaves line ends at the beginning and end of a text alone, unless `stripnl` or `ensurenl` is given."""

    name = "DCDL"
    aliases: ClassVar[list[str]] = ["dcdl"]
    filenames: ClassVar[list[str]] = ["*.dcdl"]
    mimetypes: ClassVar[list[str]] = ["text/x-dcdl"]

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"stripnl": False, "ensurenl": False, **options})

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, TokenType, str]]:
        """Give (offset, type, value) for the whole text."""
        mark = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
        at = 0
        for start, end, told in classes(text[mark:]):
            if at < start + mark:
                yield at, Whitespace, text[at : start + mark]
            at = end + mark
            yield start + mark, TOKEN_TYPES[told], text[start + mark : at]
        if at < len(text):
            yield at, Whitespace, text[at:]
