"""What stands between the tokens and matters to people: comments. Blank lines are read off the text between tokens."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comment:
    """`#` to the end of its line, the line end (and a CR before it) excluded; offsets are code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Trivia:
    """All comments of a source, in order."""

    comments: tuple[Comment, ...] = ()
