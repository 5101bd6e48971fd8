"""A value as text of the language, in canonical form: data as it would be authored, constraints as they would be written.

Invariants: data printed here evaluates to the same data again; a type that holds itself is printed once and then named as its author
named it; what failed is printed as `_` and has been reported. The walk runs on a stack of its own and stops at the character that is too
many, so that what is short to write and endless to print costs no more than the limit.
"""

import re
from collections.abc import Generator
from decimal import Decimal
from typing import Final, TypeAlias

from stateward.compiler.language.collecting import uncollected
from stateward.compiler.language.data import ArrayData, Data, Hole, ObjectData, Scalar
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.guard import Guard
from stateward.compiler.language.layout import Block, Doc, breaks, laid_out, row
from stateward.compiler.language.machine import NodeBudget
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
    SymbolicValue,
)
from stateward.compiler.predicates.constraints import INT_MIN, Anything, Bounded, ElementsOf, EntriesOf, HostCheck, Matching, OfType
from stateward.compiler.source import Source
from stateward.compiler.syntax.tree import Node

SHOWN_MAX: Final = 8 * 1024 * 1024
"""Characters of a value that are printed. A text or a key that is used in many places counts in each."""
COMPARED_MAX: Final = 1_024
"""Characters up to which the parts of a constraint are put in the order of their texts; longer ones stay in the author's."""
HOLE: Final = "_"
ESCAPED_SLASH: Final = r"\/"
RESERVED: Final = frozenset({"let", "in", "match", "import", "default", "as", "true", "false"})
_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})

Printing: TypeAlias = Generator["Printing", Doc, Doc]
"""A text being put together: asks for the texts of parts."""


class _TooLongError(Exception):
    """More is to be printed than may be."""


def show(evaluation: Evaluation) -> str:
    """Print the value of an evaluation. Everything is forced; `evaluation.diagnostics` tells what failed on the way."""
    with uncollected():
        try:
            text = laid_out(_run(_Printer(evaluation).cell(evaluation.root, None)), SHOWN_MAX)
        except _TooLongError:
            text = None
    evaluation.machine.reporter.step = None
    if text is None:
        _report_too_long(evaluation)
        return HOLE
    return text


def may_be_printed(evaluation: Evaluation, data: Data) -> bool:
    """Tell whether data, in whatever form, is short enough to be printed; where it is not, that is reported."""
    left = SHOWN_MAX
    todo = [data]
    while todo and left >= 0:
        part = todo.pop()
        match part:
            case Scalar(value=value):
                left -= len(value) if isinstance(value, str) else 0
            case ArrayData(items=items):
                todo.extend(items)
            case ObjectData(fields=fields):
                left -= sum(map(len, fields))
                todo.extend(field.value for field in fields.values())
            case Hole():
                pass
    if left < 0:
        _report_too_long(evaluation)
    return left >= 0


def _report_too_long(evaluation: Evaluation) -> None:
    root = evaluation.root
    message = f"the value takes more than {SHOWN_MAX:,} characters to print"
    evaluation.machine.reporter.report(Fault(Kind.LIMIT, message, root.place, "too long to print"), root.scope)


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
        self._guard = Guard(evaluation.machine, NodeBudget(evaluation.machine.limits.nodes))
        self._types: set[int] = set()
        """The constraints around the one being printed, by the expressions of their items."""
        self._left = SHOWN_MAX
        """Characters that may still be printed."""

    def _counted(self, text: str) -> str:
        """Count a text before anything is made of it."""
        self._left -= len(text)
        if self._left < 0:
            raise _TooLongError
        return text

    def cell(self, cell: Cell, step: PathStep | None) -> Printing:
        self._machine.reporter.step = step
        if not self._guard.may_visit(cell):
            return HOLE
        return (yield self._value(self._machine.force(cell), cell, step))

    def _value(self, value: AnyValue, cell: Cell, step: PathStep | None) -> Printing:
        match value:
            case ScalarValue():
                return scalar_text(self._counted(value.value) if isinstance(value.value, str) else value.value)
            case ArrayValue():
                return (yield self._array(value, cell, step))
            case ObjectValue():
                return (yield self._object(value, cell, step))
            case FunctionValue() | SymbolicValue():
                return self._authored(value.source, value.node)
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
            key = key_text(self._counted(name))
            lines.append(row(f"{key} = ", (yield self.cell(slot.cell, PathStep(step, name, slot, slot.cell))), ";"))
        if value.rest is not None:
            lines.append(row("...", (yield self._item(value.rest, step))))
        self._guard.leave(value)
        return Block("{", tuple(lines), "}") if lines else "{}"

    def _constraint(self, value: ConstraintValue, step: PathStep | None) -> Printing:
        if len(value.parts) == 1:
            return (yield self._part(value.parts[0], step))
        ranked: dict[tuple[int, bool, str, int], Doc] = {}
        for at, part in enumerate(value.parts):
            doc = yield self._part(part, step)
            text = laid_out(doc, COMPARED_MAX)
            ranked[*_rank(part), text or "", at if text is None else 0] = doc
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
                return f"/{self._counted(pattern).replace('/', ESCAPED_SLASH)}/"
            case HostCheck(name=name):
                return self._counted(name)
            case ElementsOf(item=item):
                return row("[...", (yield self._item(item, step)), "]")
            case EntriesOf(item=item):
                return row("{...", (yield self._item(item, step)), "}")

    def _item(self, cell: Cell, step: PathStep | None) -> Printing:
        """Print the type of items, or a default; one that is inside itself, or deep, as its author wrote it."""
        key = id(cell.node)
        value = self._machine.force(cell)
        if isinstance(value, ArrayValue | ObjectValue) and self._guard.is_inside(value):
            return self._authored(cell.scope.module.source, cell.node)
        if key in self._types or len(self._types) >= self._machine.limits.nesting:
            return self._authored(cell.scope.module.source, cell.node)
        self._types.add(key)
        text = yield self.cell(cell, step)
        self._types.discard(key)
        return text

    def _authored(self, source: Source, node: Node) -> str:
        return self._counted(source.slice(node.span))

    def _with_default(self, value: DefaultValue, step: PathStep | None) -> Printing:
        base = yield self._constraint(value.base, step)
        default = yield self._item(value.default, step)
        abstract = isinstance(value.default.value, DefaultValue)
        return row(base, " default (", default, ")") if abstract else row(base, " default ", default)


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
