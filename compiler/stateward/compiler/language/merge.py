"""`//`: the right side wins; objects merge field by field, at any depth.

Invariants: a field of both sides is looked at on both, so one that fails on the left fails though it is replaced; a field of one side
only stays as lazy as it was.
"""

from stateward.compiler.language.combining import Site
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.objects import FIELDS_PER_STEP
from stateward.compiler.language.residues import Reference
from stateward.compiler.language.values import AnyValue, Failed, ObjectValue, Scope, Slot, SymbolicValue, Task, known
from stateward.compiler.syntax.tree import Binary


def merging(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `left // right`."""
    left = yield node.left, scope
    right = yield node.right, scope
    return (yield merge(left, right, Site(machine, node, scope), 0))


def merge(left: AnyValue, right: AnyValue, site: Site, depth: int) -> AnyValue | Task:
    """Put the right value over the left one."""
    site.enter(depth)
    if isinstance(left, Failed) or isinstance(right, Failed):
        return site.silent()
    if isinstance(left, SymbolicValue) or isinstance(right, SymbolicValue):
        return _with_symbol(left, right, site, depth)
    if isinstance(left, ObjectValue) and isinstance(right, ObjectValue):
        return _objects(left, right, site, depth)
    return right


def _with_symbol(left: AnyValue, right: AnyValue, site: Site, depth: int) -> AnyValue:
    """Put a field over another of which one is a symbol: the right one wins, unless both may be objects."""
    if depth and not (_may_be_object(left) and _may_be_object(right)):
        return right
    return site.at_run_time("`//`", left, right)


def _may_be_object(value: AnyValue) -> bool:
    return isinstance(value, ObjectValue) or (isinstance(value, SymbolicValue) and isinstance(value.residue, Reference))


def _objects(left: ObjectValue, right: ObjectValue, site: Site, depth: int) -> Task:
    site.enter(depth, (len(left.fields) + len(right.fields)) // FIELDS_PER_STEP)
    fields = dict(left.fields)
    for name, slot in right.fields.items():
        earlier = left.fields.get(name)
        if earlier is None:
            fields[name] = slot
            continue
        under = yield earlier.cell
        value = yield merge(under, (yield slot.cell), site, depth + 1)
        fields[name] = Slot(slot.key, slot.source, known(value, slot.cell))
    rest = right.rest or left.rest
    return ObjectValue(site.scope.module.source, site.node, None, fields, rest)
