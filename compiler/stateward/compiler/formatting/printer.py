"""A source in its canonical form.

Invariants: formatting what was formatted changes nothing; the tree stays the same, but for parentheses around a computed bound; every
comment is kept. A part with a comment in a place where no line can begin stays as it was written. Nothing recurses: a node is laid out
as a row of texts and smaller nodes, and the nodes wait their turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.compiler.diagnostics.model import Diagnostic, Severity
from stateward.compiler.formatting.margins import Margins
from stateward.compiler.formatting.parts import Part, parts_of
from stateward.compiler.source import Source
from stateward.compiler.syntax.faults import Fault
from stateward.compiler.syntax.parser import parse
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
    Paren,
    RegexLit,
    StringLit,
    TypeWord,
    Unary,
    Wildcard,
)

INDENT: Final = 4
FORMATTED_MAX: Final = 16 * 1024 * 1024
"""Code points of a formatted text: depth times length could make any number of blanks."""

Literal: TypeAlias = IntLit | FloatLit | StringLit | RegexLit | BoolLit | Name | TypeWord | Wildcard | Bad
Inline: TypeAlias = Field | Binding | Arm | Paren | Unary | Bound | Import | Literal
Piece: TypeAlias = str | tuple[Part, int]
"""A text, or a part that is still to be laid out, with the indent of the line it begins on."""


@dataclass(frozen=True, slots=True)
class Item:
    """What has lines of its own in a bracket, and what ends it."""

    start: int
    end: int
    pieces: Sequence[Piece]
    separator: str


def format_source(source: Source) -> str | tuple[Diagnostic, ...]:
    """Give the canonical text of a source, without a byte-order mark, or why it has none: the errors of its syntax."""
    parsed = parse(source)
    errors = tuple(each for each in parsed.diagnostics if each.severity is Severity.ERROR)
    if errors:
        return errors
    text = Printer(source, Margins(source, parsed.trivia)).print(parsed.module)
    if text is None:
        end = len(source.text)
        message = f"the formatted text is longer than {FORMATTED_MAX:,} characters"
        return (Fault(end, end, message, "deep and long", kind="limit").diagnostic(source),)
    return text


class Printer:
    """Lays out the nodes of one source."""

    def __init__(self, source: Source, margins: Margins) -> None:
        self.text = source.text
        self.margins = margins
        self._commented: set[int] = set()
        """Identities of the nodes with a comment that lies in none of their parts."""
        self._broken: set[int] = set()
        """Identities of the nodes that take more than one line."""

    def print(self, module: Module) -> str | None:
        """Give the text of a module; None when it would be too long."""
        body = module.body
        self._look_over(body)
        if isinstance(body, Object) and not body.braced:
            items = [Item(field.start, field.end, [(field, 0)], ";") for field in body.fields]
        else:
            items = [Item(body.start, body.end, [(body, 0)], "")]
        waiting = self._lines(0, len(self.text), items, 0)[::-1]
        written: list[str] = []
        length = 0
        while waiting:
            piece = waiting.pop()
            if isinstance(piece, str):
                written.append(piece)
                length += len(piece)
                if length > FORMATTED_MAX:
                    return None
            else:
                waiting.extend(reversed(self._laid_out(*piece)))
        return "".join(written).lstrip("\n") + "\n"

    def _look_over(self, root: Expr) -> None:
        """Find out which nodes have comments of their own and which take more than one line."""
        order: list[Part] = [root]
        for node in order:  # grows while it is walked, up to the number of nodes
            order.extend(parts_of(node))
        for node in reversed(order):
            comments = self.margins.count(node.start, node.end)
            if comments and comments > sum(self.margins.count(part.start, part.end) for part in parts_of(node)):
                self._commented.add(id(node))
                self._broken.add(id(node))
            elif _is_always_broken(node) or any(id(part) in self._broken for part in parts_of(node)):
                self._broken.add(id(node))

    # Texts and lines

    def _shown(self, node: Part | Key) -> str:
        return self.text[node.start : node.end]

    def _path(self, path: tuple[Key, ...]) -> str:
        return ".".join(self._shown(key) for key in path)

    def _new_line(self, start: int, end: int, indent: int) -> str:
        """Begin a line; an empty one before it is kept."""
        return ("\n\n" if self.margins.has_blank_line(start, end) else "\n") + " " * indent

    def _comments(self, start: int, end: int, indent: int, *, behind: bool) -> tuple[list[Piece], int]:
        """Write the comments between two offsets; `behind`, the first may stay on the line that is there. Gives where the last one ends."""
        pieces: list[Piece] = []
        for comment in self.margins.comments(start, end):
            if behind and self.margins.same_line(start, comment.start):
                pieces.append(" ")
            else:
                pieces.append(self._new_line(start, comment.start, indent))
            pieces.append(self.margins.shown(comment))
            start, behind = comment.end, False
        return pieces, start

    def _lines(self, start: int, end: int, items: list[Item], indent: int, *, behind: bool = False) -> list[Piece]:
        """Write items on lines of their own, with the comments around them, between two offsets."""
        pieces: list[Piece] = []
        for item in items:
            comments, start = self._comments(start, item.start, indent, behind=behind)
            pieces += [*comments, self._new_line(start, item.start, indent), *item.pieces, item.separator]
            start, behind = item.end, True
        comments, _ = self._comments(start, end, indent, behind=behind)
        return [*pieces, *comments]

    def _closing(self, start: int, end: int, indent: int) -> str:
        """Begin the line of a closing bracket; `start` is where the last item before it ends."""
        comments = self.margins.comments(start, end)
        return self._new_line(comments[-1].end if comments else start, end, indent)

    # Nodes

    def _laid_out(self, node: Part, indent: int) -> list[Piece]:
        match node:
            case Object():
                return self._object(node, indent)
            case Array():
                return self._array(node, indent)
            case Let():
                return self._let(node, indent)
            case Match():
                return self._match(node, indent)
            case Binary():
                return self._binary(node, indent)
            case Access() | Call():
                return self._postfixed(node, indent)
            case _ if id(node) in self._commented:
                return [self.margins.verbatim(node.start, node.end)]
            case Lambda():
                return self._lambda(node, indent)
            case _:
                return self._inline(node, indent)

    def _inline(self, node: Inline, indent: int) -> list[Piece]:
        """Lay out what begins no line of its own."""
        match node:
            case Field(path=path, value=value) | Binding(path=path, value=value):
                return [self._path(path), " = ", (value, indent)]
            case Arm(pattern=pattern, body=body):
                return [(pattern, indent), ": ", (body, indent)]
            case Paren(inner=inner):
                return ["(", (inner, indent), ")"]
            case Unary(operator=operator, operand=operand):
                return [operator, (operand, indent)]
            case Bound(operator=operator, operand=Binary() as operand):
                return [operator, " (", (operand, indent), ")"]
            case Bound(operator=operator, operand=operand):
                return [operator, " ", (operand, indent)]
            case Import():
                return ["import ", self._specifier(node)]
            case _:
                return [self._shown(node)]

    def _specifier(self, node: Import) -> str:
        return self.text[node.start : node.end].removeprefix("import").lstrip(" \t\r\n")

    def _object(self, node: Object, indent: int) -> list[Piece]:
        inside, last = node.start + 1, node.end - 1
        items = [Item(field.start, field.end, [(field, indent + INDENT)], ";") for field in node.fields]
        if node.rest is not None:
            if not items and id(node) not in self._commented:
                return ["{...", (node.rest, indent), "}"]
            items.append(self._rest(node.rest, items[-1].end if items else inside, indent, ""))
        return self._bracketed("{}", inside, last, items, indent)

    def _array(self, node: Array, indent: int) -> list[Piece]:
        inside, last = node.start + 1, node.end - 1
        if node.rest is not None:
            if id(node) not in self._commented:
                return ["[...", (node.rest, indent), "]"]
            return self._bracketed("[]", inside, last, [self._rest(node.rest, inside, indent, ",")], indent)
        if id(node) in self._broken:
            items = [Item(item.start, item.end, [(item, indent + INDENT)], ",") for item in node.items]
            return self._bracketed("[]", inside, last, items, indent)
        return ["[", *self._listed(node.items, indent), "]"]

    def _rest(self, rest: Expr, start: int, indent: int, separator: str) -> Item:
        """Make the item of a rest whose dots stand between an offset and its expression."""
        dots = self.margins.find("...", start, rest.start)
        if self.margins.count(dots, rest.start):
            return Item(dots, rest.end, [self.margins.verbatim(dots, rest.end)], separator)
        return Item(dots, rest.end, ["...", (rest, indent + INDENT)], separator)

    def _bracketed(self, brackets: str, inside: int, last: int, items: list[Item], indent: int) -> list[Piece]:
        """Write items between brackets, one a line; `inside` and `last` are where the opener ends and the closer begins."""
        if not items and not self.margins.count(inside, last):
            return [brackets]
        opener, closer = brackets[0], brackets[1]
        end = items[-1].end if items else inside
        return [opener, *self._lines(inside, last, items, indent + INDENT), self._closing(end, last, indent), closer]

    def _listed(self, nodes: Sequence[Expr], indent: int) -> list[Piece]:
        pieces: list[Piece] = []
        for node in nodes:
            pieces += [", ", (node, indent)]
        return pieces[1:]

    def _let(self, node: Let, indent: int) -> list[Piece]:
        after_let = node.start + len("let")
        last = node.bindings[-1].end if node.bindings else after_let
        in_start = self.margins.find("in", last, node.body.start)
        in_end = in_start + len("in")
        bindings = [Item(each.start, each.end, [(each, indent + INDENT)], ";") for each in node.bindings]
        body = Item(node.body.start, node.body.end, [(node.body, indent + INDENT)], "")
        return [
            "let",
            *self._lines(after_let, in_start, bindings, indent + INDENT, behind=True),
            self._closing(last, in_start, indent),
            "in",
            *self._lines(in_end, node.body.end, [body], indent + INDENT, behind=True),
        ]

    def _match(self, node: Match, indent: int) -> list[Piece]:
        opener = self.margins.find("{", node.subject.end, node.arms[0].start if node.arms else node.end)
        outside = self.margins.count(node.start, opener) - self.margins.count(node.subject.start, node.subject.end)
        if outside:
            return [self.margins.verbatim(node.start, node.end)]
        arms = [Item(arm.start, arm.end, [(arm, indent + INDENT)], ";") for arm in node.arms]
        return ["match ", (node.subject, indent), " ", *self._bracketed("{}", opener + 1, node.end - 1, arms, indent)]

    def _lambda(self, node: Lambda, indent: int) -> list[Piece]:
        pieces: list[Piece] = []
        for param in node.params:
            pieces += [", ", self._shown(param.name)]
            if param.annotation is not None:
                pieces += [": ", (param.annotation, indent)]
        head: list[Piece] = ["(", *pieces[1:], ") =>"]
        if isinstance(node.body, Lambda) or id(node.body) in self._broken:
            return [*head, "\n" + " " * (indent + INDENT), (node.body, indent + INDENT)]
        return [*head, " ", (node.body, indent)]

    def _binary(self, node: Binary, indent: int) -> list[Piece]:
        """Write a whole chain of operators that leans to the left."""
        pieces: list[Piece] = []
        left: Expr = node
        commented = False
        while isinstance(left, Binary):
            commented = commented or id(left) in self._commented
            pieces += [(left.right, indent), f" {left.operator} "]
            left = left.left
        if commented:
            return [self.margins.verbatim(node.start, node.end)]
        return [(left, indent), *reversed(pieces)]

    def _postfixed(self, node: Access | Call, indent: int) -> list[Piece]:
        """Write a whole chain of accesses and calls."""
        rows: list[list[Piece]] = []
        base: Expr = node
        commented = False
        while isinstance(base, Access | Call):
            commented = commented or id(base) in self._commented
            if isinstance(base, Access):
                rows.append([".", self._shown(base.key)])
                base = base.base
            else:
                rows.append(["(", *self._listed(base.arguments, indent), ")"])
                base = base.callee
        if commented:
            return [self.margins.verbatim(node.start, node.end)]
        return [(base, indent), *(piece for row in reversed(rows) for piece in row)]


def _is_always_broken(node: Part) -> bool:
    match node:
        case Let():
            return True
        case Object(fields=fields):
            return bool(fields)
        case Match(arms=arms):
            return bool(arms)
        case Array(items=items):
            return any(isinstance(item, Object) for item in items)
        case _:
            return False
