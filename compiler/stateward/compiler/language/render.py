"""A value as text of the language, in canonical form: data as it would be authored, constraints as they would be written.

Invariants: data printed here evaluates to the same data again; a type that holds itself is printed once and then named as its author
named it; what failed is printed as `_` and has been reported. The walk runs on a stack of its own.
"""

import re
from collections.abc import Generator
from decimal import Decimal
from typing import Final, TypeAlias

from stateward.compiler.language.collecting import uncollected
from stateward.compiler.language.constraints import INT_MIN, Anything, Bounded, ElementsOf, EntriesOf, HostCheck, Matching, OfType
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.guard import Guard
from stateward.compiler.language.layout import Block, Doc, breaks, laid_out, row
from stateward.compiler.language.reporting import PathStep
from stateward.compiler.language.values import (
    AnyValue,
    ArrayValue,
    Cell,
    ConstraintValue,
    DefaultValue,
    Failed,
    FunctionValue,
    ObjectValue,
    Part,
    ScalarValue,
)
from stateward.compiler.source import Source
from stateward.compiler.syntax.tree import Node

SHOWN_MAX: Final = 16 * 1024 * 1024
"""Characters of a value that are printed."""
HOLE: Final = "_"
ESCAPED_SLASH: Final = r"\/"
RESERVED: Final = frozenset({"let", "in", "match", "import", "default", "as", "true", "false"})
_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})

Printing: TypeAlias = Generator["Printing", Doc, Doc]
"""A text being put together: asks for the texts of parts."""


def show(evaluation: Evaluation) -> str:
    """Print the value of an evaluation. Everything is forced; `evaluation.diagnostics` tells what failed on the way."""
    reporter = evaluation.machine.reporter
    root = evaluation.root
    with uncollected():
        doc = _run(_Printer(evaluation).cell(root, None))
    reporter.step = None
    text = laid_out(doc, SHOWN_MAX)
    if text is None:
        message = f"the value takes more than {SHOWN_MAX:,} characters to print"
        reporter.report(Fault(Kind.LIMIT, message, root.place, "too long to print"), root.scope)
    return HOLE if text is None else text


def _run(printing: Printing) -> Doc:
    stack = [printing]
    doc: Doc | None = None
    while stack:
        try:
            stack.append(stack[-1].send(doc) if doc is not None else next(stack[-1]))
            doc = None
        except StopIteration as done:
            stack.pop()
            doc = done.value
    assert doc is not None
    return doc


class _Printer:
    def __init__(self, evaluation: Evaluation) -> None:
        self._machine = evaluation.machine
        self._guard = Guard(evaluation.machine)
        self._types: set[int] = set()
        """The constraints around the one being printed, by the expressions of their items."""

    def cell(self, cell: Cell, step: PathStep | None) -> Printing:
        self._machine.reporter.step = step
        if not self._guard.may_visit(cell):
            return HOLE
        return (yield self._value(self._machine.force(cell), cell, step))

    def _value(self, value: AnyValue, cell: Cell, step: PathStep | None) -> Printing:
        match value:
            case ScalarValue():
                return scalar_text(value.value)
            case ArrayValue():
                return (yield self._array(value, cell, step))
            case ObjectValue():
                return (yield self._object(value, cell, step))
            case FunctionValue():
                return _authored(value.source, value.node)
            case ConstraintValue():
                return (yield self._constraint(value, step))
            case DefaultValue():
                return (yield self._with_default(value, step))
            case Failed():
                return HOLE

    def _array(self, value: ArrayValue, cell: Cell, step: PathStep | None) -> Printing:
        if not self._guard.may_enter(value, cell):
            return HOLE
        items = []
        for at, each in enumerate(value.items):
            items.append((yield self.cell(each, PathStep(step, at, None, each))))
        self._guard.leave(value)
        if any(breaks(item) for item in items):
            return Block("[", tuple(row(item, ",") for item in items), "]")
        return row("[", *[part for item in items for part in (", ", item)][1:], "]")

    def _object(self, value: ObjectValue, cell: Cell, step: PathStep | None) -> Printing:
        if not self._guard.may_enter(value, cell):
            return HOLE
        lines = []
        for name, slot in value.fields.items():
            lines.append(row(f"{key_text(name)} = ", (yield self.cell(slot.cell, PathStep(step, name, slot, slot.cell))), ";"))
        if value.rest is not None:
            lines.append(row("...", (yield self._item(value.rest, step))))
        self._guard.leave(value)
        return Block("{", tuple(lines), "}") if lines else "{}"

    def _constraint(self, value: ConstraintValue, step: PathStep | None) -> Printing:
        if len(value.parts) == 1:
            return (yield self._part(value.parts[0], step))
        ranked: dict[tuple[int, bool, str], Doc] = {}
        for part in value.parts:
            doc = yield self._part(part, step)
            ranked[*_rank(part), laid_out(doc, SHOWN_MAX) or ""] = doc
        return row(*[each for key in sorted(ranked) for each in (" & ", ranked[key])][1:])

    def _part(self, part: Part, step: PathStep | None) -> Printing:
        match part.atom:
            case Anything():
                return "Unknown"
            case OfType(family=family):
                return family.value
            case Bounded(sign=sign, limit=limit):
                text = scalar_text(limit)
                return f"{sign} ({text})" if " " in text else f"{sign} {text}"
            case Matching(pattern=pattern):
                return f"/{pattern.replace('/', ESCAPED_SLASH)}/"
            case HostCheck(name=name):
                return name
            case ElementsOf(item=item):
                return row("[...", (yield self._item(item, step)), "]")
            case EntriesOf(item=item):
                return row("{...", (yield self._item(item, step)), "}")

    def _item(self, cell: Cell, step: PathStep | None) -> Printing:
        """Print the type of items, or a default; one that is inside itself, or deep, as its author wrote it."""
        key = id(cell.node)
        value = self._machine.force(cell)
        if isinstance(value, ArrayValue | ObjectValue) and self._guard.is_inside(value):
            return _authored(cell.scope.module.source, cell.node)
        if key in self._types or len(self._types) >= self._machine.limits.nesting:
            return _authored(cell.scope.module.source, cell.node)
        self._types.add(key)
        text = yield self.cell(cell, step)
        self._types.discard(key)
        return text

    def _with_default(self, value: DefaultValue, step: PathStep | None) -> Printing:
        base = yield self._constraint(value.base, step)
        default = yield self._item(value.default, step)
        abstract = isinstance(value.default.value, DefaultValue)
        return row(base, " default (", default, ")") if abstract else row(base, " default ", default)


def _authored(source: Source, node: Node) -> str:
    return source.slice(node.span)


def _rank(part: Part) -> tuple[int, bool]:
    """Order the parts of a constraint: what it is, its least, its most, then patterns and the rest."""
    match part.atom:
        case Bounded():
            return 1, not part.atom.is_lower
        case Matching():
            return 2, False
        case HostCheck():
            return 3, False
        case _:
            return 0, False


def scalar_text(value: bool | int | float | str) -> str:
    """Write a scalar so that it reads back as the same one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPES)}"'
    if isinstance(value, int):
        return str(value) if value != INT_MIN else f"{value + 1} - 1"
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else f"{text}.0"


def key_text(name: str) -> str:
    """Write the name of a field, in quotes where it needs them."""
    if _PLAIN_KEY.fullmatch(name) and name not in RESERVED:
        return name
    return scalar_text(name)
