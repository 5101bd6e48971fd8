"""Objects and arrays as they are written: dotted keys, repeated keys, the fields of a module without braces.

Invariants: no field is evaluated here; fields keep the order of first mention; a repeated field is reported when its object is
evaluated and is a hole from then on, with everything that was written for it still searched for faults.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.language.faults import Fault, Kind, told
from stateward.compiler.language.literals import constraint
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.names import failed_at, scope_around
from stateward.compiler.language.symbols import refused
from stateward.compiler.language.values import AnyValue, ArrayValue, Cell, Failed, ObjectValue, Scope, Slot, SymbolicValue, Task
from stateward.compiler.predicates.constraints import ElementsOf, EntriesOf
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Array, Bad, Field, Key, Object


def array(machine: Machine, node: Array, scope: Scope) -> AnyValue:
    """Evaluate `[…]`, or the constraint `[...T]`. Where the type is broken text, so is the whole."""
    if node.rest is not None and not node.items:
        if isinstance(node.rest, Bad):
            return failed_at(node, scope)
        return constraint(ElementsOf(Cell(node.rest, scope)), node, scope)
    machine.make_items(len(node.items), node, scope)
    return ArrayValue(scope.module.source, node, None, tuple([Cell(item, scope) for item in node.items]))


def object_(machine: Machine, node: Object, scope: Scope) -> AnyValue:
    """Evaluate `{…}`, the constraint `{...T}`, or the fields of a module without braces.

    Broken text stands for fields that nobody knows, as a broken rest does: where there are no others, nothing is known of the object.
    """
    rest = node.broken[0] if node.broken else node.rest
    if rest is not None and not node.fields:
        if isinstance(rest, Bad):
            return failed_at(node, scope)
        return constraint(EntriesOf(Cell(rest, scope)), node, scope)
    machine.spend(len(node.fields), node, scope)
    inner = scope if node.braced else scope_around(machine, node, scope)
    fields = _plain_fields(node, inner)
    if fields is None:
        fields = _fields(machine, tuple(_Mention(field, 0) for field in node.fields), node, inner)
    if not node.braced:
        inner.names.update((name, slot.cell) for name, slot in fields.items())
    return ObjectValue(scope.module.source, node, None, fields, Cell(rest, inner) if rest is not None else None)


FIELDS_PER_STEP: Final = 4
"""Fields that may be copied for the price of one step."""


@dataclass(frozen=True, slots=True)
class _Mention:
    """A field as written, seen from the object that its first `depth` keys lead to."""

    field: Field
    depth: int

    @property
    def key(self) -> Key:
        return self.field.path[self.depth]

    @property
    def is_last(self) -> bool:
        return self.depth + 1 == len(self.field.path)


def _plain_fields(node: Object, scope: Scope) -> dict[str, Slot] | None:
    """Give the fields of an object whose keys are plain and all different, None for any other."""
    source = scope.module.source
    fields = {}
    for field in node.fields:
        key = field.path[0]
        if len(field.path) > 1 or key.text in fields:
            return None
        fields[key.text] = Slot(key, source, Cell(field.value, scope))
    return fields


def _fields(machine: Machine, mentions: Sequence[_Mention], node: Object, scope: Scope) -> dict[str, Slot]:
    grouped: dict[str, list[_Mention]] = {}
    for mention in mentions:
        grouped.setdefault(mention.key.text, []).append(mention)
    source = scope.module.source
    return {name: Slot(group[0].key, source, _cell(machine, group, node, scope)) for name, group in grouped.items()}


def _cell(machine: Machine, group: Sequence[_Mention], node: Object, scope: Scope) -> Cell:
    """Make the cell of one field from all that is written for it."""
    first = group[0]
    value = first.field.value
    failed = None
    for mention in group[1:]:
        if mention.is_last:
            failed = machine.fail(_repeated(mention, first, scope), mention.key, scope)
    if failed is not None:
        written = tuple(Cell(mention.field.value, scope) for mention in group)
        return Cell(node, scope, Failed(failed.source, failed.node, None, written))
    below = tuple(_Mention(mention.field, mention.depth + 1) for mention in group if not mention.is_last)
    if not first.is_last:
        return Cell(node, scope, make=lambda machine: _nested(machine, first, below, node, scope))
    whole = Cell(value, scope)
    return Cell(node, scope, make=lambda machine: _extended(machine, whole, below, node, scope)) if below else whole


def _nested(machine: Machine, first: _Mention, below: Sequence[_Mention], node: Object, scope: Scope) -> AnyValue:
    """Make the object that dotted keys alone describe."""
    machine.spend(len(below), node, scope)
    return ObjectValue(scope.module.source, first.key, None, _fields(machine, below, node, scope), None)


def _extended(machine: Machine, whole: Cell, below: Sequence[_Mention], node: Object, scope: Scope) -> Task:
    """Add what dotted keys say to an object that is written as a whole before them."""
    value = yield whole
    if type(value) is Failed:
        return value
    if type(value) is SymbolicValue:
        return machine.fail(refused("a field added to it", whole.place, value), below[0].key, scope)
    if type(value) is not ObjectValue:
        return machine.fail(_no_object(value, whole, below[0], scope), below[0].key, scope)
    machine.spend(len(below) + len(value.fields) // FIELDS_PER_STEP, node, scope)
    fields = dict(value.fields)
    for name, slot in _fields(machine, below, node, scope).items():
        earlier = fields.get(name)
        fields[name] = slot if earlier is None else _clashing(machine, name, earlier, slot, scope)
    return ObjectValue(value.source, value.node, value.via, fields, value.rest)


def _clashing(machine: Machine, name: str, earlier: Slot, slot: Slot, scope: Scope) -> Slot:
    failed = machine.fail(_twice(name, slot.place, earlier.place), slot.key, scope)
    written = (earlier.cell, slot.cell)
    return Slot(slot.key, slot.source, Cell(slot.cell.node, scope, Failed(failed.source, failed.node, None, written)))


def _repeated(again: _Mention, first: _Mention, scope: Scope) -> Fault:
    source = scope.module.source
    return _twice(again.key.text, Place(source, again.key.span), Place(source, first.key.span))


def _twice(name: str, again: Place, first: Place) -> Fault:
    return Fault(Kind.CONFLICT, f"the field {quoted(name)} is set twice", again, "set again here", (Label(first, "first set here"),))


def _no_object(value: AnyValue, whole: Cell, mention: _Mention, scope: Scope) -> Fault:
    source = scope.module.source
    written = mention.field.path[mention.depth - 1]
    return Fault(
        Kind.CONFLICT,
        f"{quoted(written.text)} is {told(value)} and takes no fields",
        Place(source, written.span),
        "adds a field",
        (Label(whole.place, "not an object"),),
    )
