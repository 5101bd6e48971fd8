"""`default`: a constraint with the value to take where nothing concrete is given.

Invariants: an unused default is never looked at; a used one is checked against its constraint, once.
"""

from stateward.compiler.language.combining import Site, held_against, violation
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.refine import refine
from stateward.compiler.language.values import Cell, ConstraintValue, DefaultValue, Failed, Scope, SymbolicValue, Task
from stateward.compiler.predicates.constraints import Anything
from stateward.compiler.syntax.tree import Binary, Node


def defaulted(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `left default right`. What is a value already, an object type too, takes no default; the last default wins."""
    left = yield node.left, scope
    base = left.base if isinstance(left, DefaultValue) else left
    if isinstance(base, SymbolicValue):
        return Site(machine, node, scope).at_run_time("`default`", base)
    if not isinstance(base, ConstraintValue):
        return left
    return with_default(base, Cell(node.right, scope), node, scope)


def with_default(base: ConstraintValue, default: Cell, node: Node, scope: Scope) -> DefaultValue:
    """Give a constraint a default."""
    settled = Cell(default.node, default.scope, make=lambda machine: _settled(base, default, Site(machine, node, scope)))
    return DefaultValue(scope.module.source, node, None, base, default, settled)


def _settled(base: ConstraintValue, default: Cell, site: Site) -> Task:
    """Check a default that is used."""
    value = yield default
    if isinstance(value, Failed):
        return value
    if isinstance(value, SymbolicValue):
        return site.at_run_time("`default`", value)
    if isinstance(value, DefaultValue):
        site.machine.closing.append(default)  # what it comes to may be what it is the default of
    if isinstance(value, ConstraintValue | DefaultValue):
        demand = next((part for part in base.parts if not isinstance(part.atom, Anything)), None)
        return value if demand is None else site.fail(violation, value, demand, site)
    return (yield held_against(value, base.parts, site, 0, refine))
