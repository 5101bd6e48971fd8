"""Functions called, fields accessed."""

from typing import Final

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import counted, listed, quoted
from stateward.compiler.language.arithmetic import DEFAULT_NOTE
from stateward.compiler.language.combining import Site
from stateward.compiler.language.faults import Fault, Kind, told, written_at
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.names import failed_at, wait
from stateward.compiler.language.refine import refine
from stateward.compiler.language.symbols import field, refused
from stateward.compiler.language.values import (
    AnyValue,
    Cell,
    DefaultValue,
    Failed,
    FunctionValue,
    ObjectValue,
    Scope,
    SymbolicValue,
    Task,
    Use,
    through,
)
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Access, Bad, Call, Expr, Param, Paren

STEPS_PER_CALL: Final = 4
"""Steps that a call costs beyond those of its expressions: it makes a scope."""


def paren(_machine: Machine, node: Paren, scope: Scope) -> Task:
    """Evaluate what stands in parentheses."""
    return (yield node.inner, scope)


def call(machine: Machine, node: Call, scope: Scope) -> Task:
    """Evaluate a call; the arguments wait until they are needed."""
    callee = yield node.callee, scope
    if isinstance(callee, Failed):
        return failed_at(node, scope)
    if isinstance(callee, SymbolicValue):
        return machine.fail(refused("a call", Place(scope.module.source, node.callee.span), callee), node, scope)
    if not isinstance(callee, FunctionValue):
        return machine.fail(_no_function(callee, node.callee, scope), node, scope)
    params = callee.function.params
    if len(params) != len(node.arguments):
        if any(isinstance(argument, Bad) for argument in node.arguments):
            return failed_at(node, scope)
        return machine.fail(_wrong_count(callee, node, scope), node, scope)
    machine.begin_call(node, scope)
    use = Use(node, scope)
    inner = Scope(callee.scope.module, callee.scope, use)
    machine.spend(STEPS_PER_CALL + len(params), node, scope)
    for param, argument in zip(params, node.arguments, strict=True):
        if param.name.text in inner.names:
            machine.calls -= 1
            return machine.fail(_parameter_twice(param, callee, inner), node, scope)
        given = Cell(argument, scope)
        inner.names[param.name.text] = given if param.annotation is None else _annotated(given, param.annotation, callee, use)
    value = yield callee.function.body, inner
    machine.calls -= 1
    return through(value, scope.module.source, node)


def _annotated(given: Cell, annotation: Expr, callee: FunctionValue, use: Use) -> Cell:
    """Hold an argument against the type of its parameter when it is first needed. The type does not see the parameters."""
    scope = Scope(callee.scope.module, callee.scope, use)
    around = Scope(given.scope.module, call=use)

    def checked(machine: Machine) -> Task:
        value = yield given
        return (yield refine(value, (yield annotation, scope), Site(machine, given.node, around, scope), 0))

    return Cell(given.node, given.scope, make=checked)


def _no_function(callee: AnyValue, node: Expr, scope: Scope) -> Fault:
    place = Place(scope.module.source, node.span)
    message = f"only a function can be called, and this is {told(callee)}"
    return Fault(Kind.TYPE_MISMATCH, message, place, "not a function", written_at(callee, place, "written here"))


def _wrong_count(callee: FunctionValue, node: Call, scope: Scope) -> Fault:
    wants, has = len(callee.function.params), len(node.arguments)
    names = listed([param.name.text for param in callee.function.params])
    return Fault(
        Kind.TYPE_MISMATCH,
        f"the function takes {counted(wants, 'argument')}, not {has}",
        Place(scope.module.source, node.span),
        f"{counted(has, 'argument')} given",
        (Label(callee.place, f"takes {names}" if names else "takes none"),),
    )


def _parameter_twice(param: Param, callee: FunctionValue, scope: Scope) -> Fault:
    name = param.name.text
    first = next(each for each in callee.function.params if each.name.text == name)
    source = scope.module.source
    return Fault(
        Kind.CONFLICT,
        f"the parameter {quoted(name)} is named twice",
        Place(source, param.name.span),
        "named again here",
        (Label(Place(source, first.name.span), "first named here"),),
    )


def access(machine: Machine, node: Access, scope: Scope) -> Task:
    """Evaluate `base.key`."""
    base = yield node.base, scope
    if isinstance(base, Failed):
        return failed_at(node, scope)
    if isinstance(base, SymbolicValue):
        return field(machine, node, base, scope)
    if not isinstance(base, ObjectValue):
        return machine.fail(_no_fields(base, node, scope), node, scope)
    slot = base.fields.get(node.key.text)
    if slot is not None:
        return (yield wait(machine, slot.cell, node, scope))
    if base.rest is not None and isinstance((yield base.rest), Failed):
        return failed_at(node, scope)
    return machine.fail(_no_field(machine, base, node, scope), node, scope)


def _no_fields(base: AnyValue, node: Access, scope: Scope) -> Fault:
    place = Place(scope.module.source, node.key.span)
    notes = (DEFAULT_NOTE,) if isinstance(base, DefaultValue) else ()
    message = f"{told(base)} has no fields"
    return Fault(Kind.TYPE_MISMATCH, message, place, "not a field", (Label(base.place, f"this is {told(base)}"),), notes)


def _no_field(machine: Machine, base: ObjectValue, node: Access, scope: Scope) -> Fault:
    near = machine.reporter.nearest(node.key.text, base.fields)
    return Fault(
        Kind.UNRESOLVED_IDENTIFIER,
        f"there is no field {quoted(node.key.text)}",
        Place(scope.module.source, node.key.span),
        "no such field",
        (Label(base.place, "the object"),),
        help=f"did you mean {quoted(near)}?" if near else None,
    )
