"""Fields between parentheses or square brackets, as other languages have them: the brackets are taken for the braces that were meant.

Invariants: this is asked about texts that do not parse; what is between brackets that no field follows stays as it is; arguments of a call
and parameters are left to the parser, which knows more about them.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from stateward.compiler.syntax.faults import FAULTS_MAX, Fault, fix
from stateward.compiler.syntax.tokens import CLOSERS, OPERAND_ENDS, Tokens, starts_field

_OTHERS: Final = frozenset({"LPAR", "LSQB"})
_CLOSERS: Final = frozenset(CLOSERS.values())


def with_braces(tokens: Tokens) -> Tokens:
    """Give tokens in which fields stand in braces, with what there is to say about those that did not."""
    found = list(islice(_around_fields(tokens), FAULTS_MAX))
    if not found:
        return tokens
    kinds = list(tokens.kinds)
    faults: list[Fault] = []
    for opener, closer in found:
        kinds[opener] = "LBRACE"
        if closer is not None:
            kinds[closer] = "RBRACE"
        faults.append(_fault(tokens, opener, closer))
    return Tokens(
        tokens.text,
        kinds,
        tokens.starts,
        tokens.ends,
        tokens.comments,
        [*tokens.faults, *faults],
        tokens.invisible,
        tokens.stopped,
        tokens.unclosed,
    )


def _around_fields(tokens: Tokens) -> Iterator[tuple[int, int | None]]:
    """Give each bracket around fields that is no brace, with its closer where that is no brace either."""
    kinds, touching = tokens.kinds, zip(tokens.starts, [-1, *tokens.ends], strict=False)
    stack: list[int | None] = []
    for at, (kind, (start, end)) in enumerate(zip(kinds, touching, strict=False)):
        if kind in CLOSERS:
            calls = kind == "LPAR" and start == end and at > 0 and kinds[at - 1] in OPERAND_ENDS
            stack.append(at if kind in _OTHERS and not calls and starts_field(kinds, at + 1) else None)
        elif kind in _CLOSERS and stack:
            opener = stack.pop()
            if opener is not None:
                yield opener, at if CLOSERS[kinds[opener]] == kind else None
    yield from ((opener, None) for opener in stack if opener is not None)


def _fault(tokens: Tokens, opener: int, closer: int | None) -> Fault:
    start, end = tokens.starts[opener], tokens.ends[opener]
    mark = tokens.text[start:end]
    edits = [(start, end, "{")]
    if closer is not None:
        edits.append((tokens.starts[closer], tokens.ends[closer], "}"))
    return Fault(
        start,
        end,
        f"`{mark}` stands where `{{` belongs",
        "fields stand in braces",
        help="write `{` and `}` around fields",
        fix=fix("put the fields in braces", *edits),
    )
