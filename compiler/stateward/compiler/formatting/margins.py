"""What stands between the tokens of a source, as the printer needs it: comments by place, blank lines, words that no node holds.

Invariants: a comment is shown as it was written, without the CR of its line end; offsets are code points of the source.
"""

import re
from bisect import bisect_left
from typing import Final

from stateward.compiler.source import Source
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.trivia import Comment, Trivia

_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_LINE_END: Final = re.compile(r"\r+\n")


class Margins:
    """The comments and blank lines of one source."""

    def __init__(self, source: Source, trivia: Trivia) -> None:
        self.text = source.text
        self._comments = trivia.comments
        self._starts = [comment.start for comment in trivia.comments]

    def comments(self, start: int, end: int) -> tuple[Comment, ...]:
        """Give the comments that begin between two offsets."""
        return self._comments[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def count(self, start: int, end: int) -> int:
        """Count the comments that begin between two offsets."""
        if not self._starts:
            return 0
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def shown(self, comment: Comment) -> str:
        """Give the text of a comment."""
        return self.text[comment.start : comment.end].rstrip("\r")

    def has_blank_line(self, start: int, end: int) -> bool:
        """Tell whether an empty line stands between two offsets with no token but separators between them."""
        return bool(_BLANK_LINE.search(self.text, start, end))

    def same_line(self, start: int, end: int) -> bool:
        """Tell whether no line ends between two offsets."""
        return self.text.find("\n", start, end) == -1

    def find(self, word: str, start: int, end: int) -> int:
        """Find a token that stands between two offsets, outside of comments."""
        for comment in self.comments(start, end):
            found = self.text.find(word, start, comment.start)
            if found != -1:
                return found
            start = comment.end
        found = self.text.find(word, start, end)
        assert found != -1, f"no {word} where the grammar has one"
        return found

    def verbatim(self, start: int, end: int) -> str:
        """Give a piece of the source as it was written, with LF for the line ends outside of strings."""
        piece = self.text[start:end]
        if "\r" not in piece:
            return piece
        tokens = scan(piece, len(piece))
        pieces, done = [], 0
        for token_start, token_end in zip(tokens.starts, tokens.ends, strict=True):
            pieces += [_LINE_END.sub("\n", piece[done:token_start]), piece[token_start:token_end]]
            done = token_end
        return "".join(pieces)
