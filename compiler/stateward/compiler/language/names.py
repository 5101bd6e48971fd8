"""Names: how they are looked up, what an unknown one comes to, and `let`."""

import re
from collections.abc import Iterator
from typing import Final

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.language.declared import elsewhere
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.literals import TYPES, constraint
from stateward.compiler.language.machine import SCOPES_PER_STEP, Machine
from stateward.compiler.language.nesting import children, sibling_field
from stateward.compiler.language.symbols import root
from stateward.compiler.language.values import AnyValue, Cell, Failed, LostNames, ModuleContext, Scope, Task, Use, through
from stateward.compiler.predicates.constraints import HostCheck
from stateward.compiler.predicates.guards import INPUT, VARS, VISITS
from stateward.compiler.source import Place
from stateward.compiler.syntax.tokens import RESERVED
from stateward.compiler.syntax.tree import Bad, Binding, Let, Name, Node, Object

ASK_KNOWN: Final = "write `known.<variable>` to ask whether there is a value"
ARRAY_WORD: Final = "Array"
NOTHING_WORDS: Final = frozenset({"null", "nil", "none", "undefined"})
FOREIGN_TYPES: Final = {
    "Array": "[...T]",
    "List": "[...T]",
    "Object": "{...T}",
    "Map": "{...T}",
    "Dict": "{...T}",
    "Record": "{...T}",
    "Integer": "Int",
    "Number": "Float",
    "Double": "Float",
    "Boolean": "Bool",
    "Str": "String",
    "Text": "String",
    "Any": "Unknown",
}
"""What types are called elsewhere."""
TYPES_IN_SMALL: Final = {
    **{word.lower(): word for word in TYPES},
    **{word.lower(): FOREIGN_TYPES[word] for word in ("Integer", "Number", "Double", "Boolean", "Str")},
}
"""Names that can hardly be meant as anything but types."""
ROOTS_MEANT: Final = {"var": VARS, "variable": VARS, "variables": VARS, "inputs": INPUT, "visit": VISITS}
"""What the roots of guards are taken to be called."""

LOST_MAX: Final = 1_024
"""Characters of one broken part that are searched for names."""
LOST_PER_STEP: Final = 64
"""Characters that are searched for the price of one step."""
SIGNS_MAX: Final = 16
"""Characters before a name that are searched for `--`."""
_SIGNS: Final = re.compile(r"--[ \t]+\Z")
_SET: Final = re.compile(r"([A-Za-z][A-Za-z0-9_]*)[ \t\r\n]*=(?![=>])")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def name(machine: Machine, node: Name, scope: Scope) -> AnyValue | Task:
    """Evaluate a name."""
    cell = _found(machine, node, scope)
    if cell is None:
        return _unknown(machine, node, scope)
    if cell.value is not None:
        return through(cell.value, scope.module.source, node)
    return wait(machine, cell, node, scope)


def wait(machine: Machine, cell: Cell, node: Node, scope: Scope) -> Task:
    """Wait for a cell on behalf of a use."""
    machine.asking = Use(node, scope)
    value = yield cell
    return through(value, scope.module.source, node)


def _found(machine: Machine, node: Name, scope: Scope) -> Cell | None:
    passed = 0
    around: Scope | None = scope
    while around is not None:
        cell = around.names.get(node.text)
        if cell is not None:
            break
        around = around.parent
        passed += 1
    if passed > SCOPES_PER_STEP:
        machine.spend(passed // SCOPES_PER_STEP, node, scope)
    return around.names[node.text] if around is not None else None


def _unknown(machine: Machine, node: Name, scope: Scope) -> AnyValue:
    if _is_lost(node.text, scope):
        return failed_at(node, scope)
    if node.text in machine.roots:
        return root(node, scope)
    if node.text[0].isupper() and node.text != ARRAY_WORD:
        return constraint(HostCheck(node.text), node, scope)
    return machine.fail(_unresolved(machine, node, scope), node, scope)


def _unresolved(machine: Machine, node: Name, scope: Scope) -> Fault:
    place = Place(scope.module.source, node.span)
    told = quoted(node.text)
    if node.text == ARRAY_WORD:
        return Fault(
            Kind.UNRESOLVED_IDENTIFIER, f"{told} is no type", place, "no type of this name", help="write `[...T]` for an array of `T`"
        )
    meant = elsewhere(machine.types, node.text) if machine.types is not None else None
    meant = meant or (ROOTS_MEANT.get(node.text) if machine.roots else None)
    if meant is not None:
        help_ = f"did you mean {quoted(meant)}?"
        return Fault(Kind.UNRESOLVED_IDENTIFIER, f"{told} is not defined", place, "not defined", help=help_)
    if node.text in NOTHING_WORDS:
        return Fault(
            Kind.UNRESOLVED_IDENTIFIER,
            f"{told} is not defined",
            place,
            "not a value",
            notes=("the language has no null",),
            help="leave the field out" if machine.types is None else ASK_KNOWN,
        )
    sibling = sibling_field(scope.module.tree, node) if machine.reporter.may_search() else None
    if sibling is not None:
        return Fault(
            Kind.UNRESOLVED_IDENTIFIER,
            f"{told} is not defined here",
            place,
            "not in scope",
            secondary=(Label(Place(scope.module.source, sibling), "this field is not in scope"),),
            notes=("fields between braces do not see each other",),
            help="bind the value with `let` around the object",
        )
    if _SIGNS.search(place.source.text, max(place.span.start - SIGNS_MAX, 0), place.span.start):
        notes = ("`--` before it is two signs",)
        return Fault(Kind.UNRESOLVED_IDENTIFIER, f"{told} is not defined", place, "not defined", (), notes, "begin a comment with `#`")
    near = machine.reporter.nearest(node.text, visible(scope)) or (TYPES_IN_SMALL.get(node.text) if machine.roots else None)
    return Fault(
        Kind.UNRESOLVED_IDENTIFIER, f"{told} is not defined", place, "not defined", help=f"did you mean {quoted(near)}?" if near else None
    )


def _is_lost(text: str, scope: Scope) -> bool:
    """Tell whether a name may have been lost with broken text: in a scope around it, or in a value that swallowed what follows it."""
    around: Scope | None = scope
    while around is not None:
        if around.lost is not None and (around.lost.is_any or text in around.lost.words):
            return True
        around = around.parent
    module = scope.module
    if module.swallowed is None:
        module.swallowed = frozenset(_swallowed(module))
    return text in module.swallowed


def _swallowed(module: ModuleContext) -> Iterator[str]:
    waiting: list[Node] = [module.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Bad):
            yield from _SET.findall(module.source.text, node.start, node.end)
        else:
            waiting += children(node)


def scope_around(machine: Machine, node: Let | Object, scope: Scope) -> Scope:
    """Make the scope of bindings, or of the fields of a module without braces; it has no names yet."""
    lost = None
    if node.broken:
        texts = [scope.module.source.slice(each.span)[:LOST_MAX] for each in node.broken]
        machine.spend(sum(map(len, texts)) // LOST_PER_STEP, node, scope)
        words = frozenset(word for text in texts for word in _WORD.findall(text))
        lost = LostNames(words, is_any=any(not _WORD.match(text) or text in RESERVED for text in texts))
    made = Scope(scope.module, scope, scope.call, lost=lost)
    machine.scopes.append(made)
    return made


def visible(scope: Scope) -> Iterator[str]:
    """Give the names that a scope sees, the innermost first."""
    around: Scope | None = scope
    while around is not None:
        yield from around.names
        around = around.parent


def unknown_check(machine: Machine, check: HostCheck) -> tuple[tuple[str, ...], str | None]:
    """Give the notes and the help for a check that no host supplies."""
    near = FOREIGN_TYPES.get(check.name) or machine.reporter.nearest(check.name, TYPES)
    notes = (f"{quoted(check.name)} is no known type, and there is no check of that name",)
    return notes, f"did you mean {quoted(near)}?" if near else None


def let(machine: Machine, node: Let, scope: Scope) -> Task:
    """Evaluate `let`: all its bindings see each other."""
    inner = scope_around(machine, node, scope)
    first: dict[str, Binding] = {}
    for binding in node.bindings:
        key = binding.path[0]
        earlier = first.setdefault(key.text, binding)
        if len(binding.path) > 1:
            failed = machine.fail(_dotted(binding, scope), binding, scope)
        elif earlier is not binding:
            failed = machine.fail(_bound_twice(binding, earlier, scope), binding, scope)
        else:
            inner.names[key.text] = Cell(binding.value, inner)
            continue
        inner.names[key.text] = Cell(binding.value, inner, failed)
    machine.spend(len(node.bindings), node, scope)
    return (yield node.body, inner)


def _dotted(binding: Binding, scope: Scope) -> Fault:
    place = Place(scope.module.source, binding.span)
    return Fault(
        Kind.UNSUPPORTED_FEATURE,
        "a binding of `let` has a dotted name",
        place,
        "bound by a path",
        help=f"bind {quoted(binding.path[0].text)} to an object",
    )


def _bound_twice(again: Binding, earlier: Binding, scope: Scope) -> Fault:
    source = scope.module.source
    key = again.path[0]
    return Fault(
        Kind.CONFLICT,
        f"{quoted(key.text)} is bound twice",
        Place(source, key.span),
        "bound again here",
        secondary=(Label(Place(source, earlier.path[0].span), "first bound here"),),
    )


def failed_at(node: Node, scope: Scope) -> Failed:
    """Give a failed value without a word: what it follows from has been reported."""
    return Failed(scope.module.source, node, None)
