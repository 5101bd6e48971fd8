"""The syntax tree of DCDL.

Invariants: spans (`start`, `end`, code points) lie inside the text and nest; a node's span runs from its first to its last token;
authored parentheses are nodes, so the tree reprints as it was written; where the text is broken a `Bad` node stands, and the parser
has reported why. Nodes are never changed after they were built.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar, dataclass_transform

from stateward.compiler.source import Span

_T = TypeVar("_T")

if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, eq_default=False)
    def node(cls: type[_T]) -> type[_T]:
        """Declare a tree node."""
else:
    # A frozen dataclass costs three times as much to build; the type checker keeps the nodes frozen instead.
    node = dataclass(slots=True, eq=False)


@node
class Node:
    """What every node has: the half-open range of code points it covers."""

    start: int
    end: int

    @property
    def span(self) -> Span:
        """The range as a value."""
        return Span(self.start, self.end)


@node
class IntLit(Node):
    """Digits; the value fits 64 bits signed. Leading zeros are found in the text only."""

    value: int


@node
class FloatLit(Node):
    """`digits.digits`, finite."""

    value: float


@node
class StringLit(Node):
    """A quoted string; `value` has its escapes resolved."""

    value: str


@node
class RegexLit(Node):
    r"""`/…/`; `pattern` has `\/` resolved and is otherwise as written."""

    pattern: str


@node
class BoolLit(Node):
    """`true` or `false`."""

    value: bool


@node
class Name(Node):
    """A name in an expression."""

    text: str


@node
class TypeWord(Node):
    """`String`, `Int`, `Float`, `Bool` or `Unknown` in an expression."""

    text: str


@node
class Wildcard(Node):
    """`_`, only as the whole pattern of an arm."""


@node
class Key(Node):
    """A field name, plain or quoted; `text` is the name itself."""

    text: str
    quoted: bool


@node
class Field(Node):
    """`path = value`."""

    path: tuple[Key, ...]
    value: "Expr"


@node
class Object(Node):
    """`{ … }`, or the fields of a module without braces (`braced` false)."""

    fields: tuple[Field, ...]
    rest: "Expr | None"
    braced: bool
    broken: "tuple[Bad, ...]" = ()
    """Broken text that was to be fields, or names of fields that are not what their author wrote."""


@node
class Array(Node):
    """`[ … ]` with an optional `...rest`."""

    items: "tuple[Expr, ...]"
    rest: "Expr | None"


@node
class Paren(Node):
    """Authored parentheses."""

    inner: "Expr"


@node
class Unary(Node):
    """`-` or `!` before an operand."""

    operator: str
    operand: "Expr"


@node
class Bound(Node):
    """A prefix comparison: a numeric constraint."""

    operator: str
    operand: "Expr"


@node
class Binary(Node):
    """Two operands; `operator` is one of `as default // & || && == != < <= > >= ++ + - * /`."""

    operator: str
    left: "Expr"
    right: "Expr"


@node
class Access(Node):
    """`base.key`."""

    base: "Expr"
    key: Key


@node
class Call(Node):
    """`callee(arguments)`."""

    callee: "Expr"
    arguments: "tuple[Expr, ...]"


@node
class Binding(Node):
    """`name = value;` of a `let`; a path of two and more parses and is an `unsupported_feature`."""

    path: tuple[Key, ...]
    value: "Expr"


@node
class Let(Node):
    """`let … in body`."""

    bindings: tuple[Binding, ...]
    body: "Expr"
    broken: "tuple[Bad, ...]" = ()
    """As in an object, of bindings."""


@node
class Param(Node):
    """A parameter, perhaps with a constraint."""

    name: Key
    annotation: "Expr | None"


@node
class Lambda(Node):
    """`(params) => body`."""

    params: tuple[Param, ...]
    body: "Expr"


@node
class Arm(Node):
    """`pattern: body`."""

    pattern: "Expr | Wildcard"
    body: "Expr"


@node
class Match(Node):
    """`match subject { arms }`."""

    subject: "Expr"
    arms: tuple[Arm, ...]
    broken: "tuple[Bad, ...]" = ()
    """Broken text that was to be arms."""


@node
class Import(Node):
    """`import "specifier"` or `import name`."""

    specifier: str
    quoted: bool


@node
class Bad(Node):
    """Where an expression should stand and the text is broken; evaluates to a hole without a word."""


Expr: TypeAlias = (
    IntLit | FloatLit | StringLit | RegexLit | BoolLit | Name | TypeWord | Object | Array | Paren | Unary | Bound | Binary | Access | Call
    | Let | Lambda | Match | Import | Wildcard | Bad
)  # fmt: skip


@node
class Module(Node):
    """A whole source: one expression, or the fields of an object without braces."""

    body: Expr
