"""Residues to guards: every operand gets a type, every obligation a proof, every choice an arm for whatever comes.

Invariants: nothing is evaluated and nothing is asked but what the flow declares; every fault is independent of the others, since what has
no type silences what is made of it. The walk runs on a stack of its own. What comes out is of type Bool and has at most `NODES_MAX` nodes
as a tree.
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from types import GeneratorType
from typing import Any, NamedTuple, TypeAlias, assert_never

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import listed, nearest, quoted
from stateward.compiler.language.choosing import lowered
from stateward.compiler.language.declared import Declared, Types, elsewhere
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.folding import comparison, computation, conjunction, disjunction, negated, nodes_up_to
from stateward.compiler.language.kinds import (
    BOOL,
    BOOLS,
    FLOAT,
    INT,
    VISIT_COUNT,
    Part,
    families_of,
    origins,
    provably,
    told,
    united,
    with_word,
    wrong_operand,
)
from stateward.compiler.language.residues import (
    Choice,
    Comparison,
    Computation,
    Demand,
    Junction,
    Literal,
    Negation,
    Obligation,
    Reference,
    Residue,
)
from stateward.compiler.language.values import Scope
from stateward.compiler.predicates.constraints import NUMBERS, Anything, EntriesOf, Family
from stateward.compiler.predicates.guards import INPUT, KNOWN, NODES_MAX, SPENT, VARS, VISITS, Guard, Lit, Ref
from stateward.compiler.predicates.schema import AllOf, Exactly, RecordOf, Schema
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Access, Binary, Unary


class Finding(NamedTuple):
    """A fault and the scope it was found in."""

    fault: Fault
    scope: Scope


class Typed(NamedTuple):
    """A guard; None where it has none, for what the findings say or for what was said before."""

    guard: Guard | None
    findings: tuple[Finding, ...]


Walk: TypeAlias = Generator[Residue, Part | None, Part | None]
"""A residue that is being typed: asks for what stands below it."""


def typed(residue: Residue, types: Types) -> Typed:
    """Type a residue whose constraints were taken down."""
    typing = _Typing(types)
    part = typing.run(residue)
    if part is not None and part.families != BOOLS:
        place = residue.place
        message = f"a guard comes to a Bool, and this is {told(part)}"
        typing.tell(Fault(Kind.TYPE_MISMATCH, message, place, "not a Bool", origins((part,), place)), residue.scope)
        part = None
    if part is not None and not typing.is_small(part):
        part = None
    return Typed(part.guard if part is not None else None, tuple(typing.findings))


_NAMES = {VARS: "variable", INPUT: "input", VISITS: "state", KNOWN: "variable"}


class _Typing:
    """One walk over one residue."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self.findings: list[Finding] = []

    def tell(self, fault: Fault, scope: Scope) -> None:
        self.findings.append(Finding(fault, scope))

    def is_small(self, part: Part) -> bool:
        """Tell whether a guard is not too large; one that is, is reported."""
        if nodes_up_to(part.guard, NODES_MAX) <= NODES_MAX:
            return True
        message = f"the guard has more than {NODES_MAX} nodes"
        notes = ("each arm of a `match` asks of its subject again",)
        self.tell(Fault(Kind.LIMIT, message, part.residue.place, "too large", (), notes), part.residue.scope)
        return False

    def run(self, residue: Residue) -> Part | None:
        stack: list[Walk] = []
        made: Any = self._begin(residue)
        while True:
            if type(made) is GeneratorType:
                stack.append(made)
                made = None
            elif not stack:
                part: Part | None = made
                return part
            try:
                made = self._begin(stack[-1].send(made))
            except StopIteration as done:
                stack.pop()
                made = done.value

    def _begin(self, residue: Residue) -> Part | Walk | None:
        match residue:
            case Literal(value=value):
                return Part(residue, Lit(value), (Exactly(value),))
            case Reference():
                return self._reference(residue)
            case Negation():
                return self._negation(residue)
            case Junction():
                return self._junction(residue)
            case Comparison():
                return self._comparison(residue)
            case Computation():
                return self._computation(residue)
            case Choice():
                return self._choice(residue)
            case Obligation():
                return self._obligation(residue)
        assert_never(residue)

    # --- what is read ---------------------------------------------------------------------------------------------------------------

    def _reference(self, residue: Reference) -> Part | None:
        declared = self._declared(residue)
        if declared is None:
            return None
        schemas = [declared.schema]
        for at, name in enumerate(residue.path[2:], 2):
            below = _below(schemas[-1], name)
            if below is None:
                self.tell(_no_field(residue, at, schemas[-1], declared), residue.scope)
                return None
            schemas.append(below)
        kept = True
        for demand in residue.demands:
            at_demand = Part(residue, Ref(residue.path), (schemas[demand.depth - 2],), declared.place)
            kept = self._meets(at_demand, demand, ".".join(residue.path[: demand.depth])) and kept
        return Part(residue, Ref(residue.path), (schemas[-1],), declared.place) if kept else None

    def _declared(self, residue: Reference) -> Declared | None:
        """Find what a reference leads to; None where that is nothing, which is told, or nobody knows."""
        root, name = residue.path[:2]
        if root == SPENT:
            return Declared(BOOL)
        names: Mapping[str, Declared | None] = self._types.inputs if root == INPUT else self._types.variables
        known: Collection[str] = self._types.states if root == VISITS else names
        if name not in known:
            if (VARS if root == KNOWN else root) not in self._types.lossy:
                self.tell(_undeclared(residue, known, self._types), residue.scope)
            return None
        if root == VISITS:
            return Declared(VISIT_COUNT)
        return Declared(BOOL) if root == KNOWN else names[name]

    # --- what is computed -----------------------------------------------------------------------------------------------------------

    def _negation(self, residue: Negation) -> Walk:
        operand = yield residue.operand
        if not self._takes(BOOLS, _LOGIC, residue, (operand,)) or operand is None:
            return None
        return Part(residue, negated(operand.guard), (BOOL,))

    def _junction(self, residue: Junction) -> Walk:
        left = yield residue.left
        right = yield residue.right
        if not self._takes(BOOLS, _LOGIC, residue, (left, right)) or left is None or right is None:
            return None
        join = conjunction if residue.sign == "&&" else disjunction
        return Part(residue, join([left.guard, right.guard]), (BOOL,))

    def _comparison(self, residue: Comparison) -> Walk:
        left = yield residue.left
        right = yield residue.right
        is_order = residue.sign not in {"==", "!="}
        if (is_order and not self._takes(NUMBERS, _ORDER, residue, (left, right))) or left is None or right is None:
            return None
        if not is_order and not _comparable(left.families, right.families):
            self.tell(_not_comparable(residue, left, right), residue.scope)
            return None
        return Part(residue, comparison(residue.sign, left.guard, right.guard), (BOOL,))

    def _computation(self, residue: Computation) -> Walk:
        left = yield residue.left
        right = yield residue.right
        if not self._takes(NUMBERS, _ARITHMETIC, residue, (left, right)) or left is None or right is None:
            return None
        if frozenset({Family.FLOAT}) in {left.families, right.families}:
            kinds = [FLOAT]
        else:
            kinds = [INT] if left.families | right.families == {Family.INT} else [INT, FLOAT]
        return Part(residue, computation(residue.sign, left.guard, right.guard), united(kinds))

    def _takes(
        self,
        families: frozenset[Family],
        wanted: tuple[str, str],
        residue: Negation | Junction | Comparison | Computation,
        operands: Sequence[Part | None],
    ) -> bool:
        """Tell whether all operands are of a type; those that are not are reported."""
        wrong = [(at, part) for at, part in enumerate(operands) if part is not None and not part.families <= families]
        for at, part in wrong:
            self.tell(wrong_operand(*wanted, part, _operand_place(residue, at)), residue.scope)
        return not wrong

    def _obligation(self, residue: Obligation) -> Walk:
        operand = yield residue.operand
        return operand if operand is not None and self._meets(operand, residue.demand, None) else None

    def _choice(self, residue: Choice) -> Walk:
        subject = yield residue.subject
        bodies = []
        for branch in residue.branches:
            body = yield branch.body
            bodies.append(body)
        sound = [body for body in bodies if body is not None]
        if subject is None or len(sound) < len(bodies):
            return None
        part, faults = lowered(residue, subject, sound)
        for fault in faults:
            self.tell(fault, residue.scope)
        return part if part is not None and self.is_small(part) else None

    def _meets(self, part: Part, demand: Demand, text: str | None) -> bool:
        """Tell whether what is demanded of a part is proved; where it is not, that is reported."""
        schema = demand.wanted.schema
        assert schema is not None, "the constraints of a residue were taken down"
        if provably(part.kinds, schema):
            return True
        place, declared = part.residue.place, demand.wanted.place
        what = quoted(text) if text is not None else told(part)
        message = f"{what} does not provably meet {quoted(declared.source.slice(declared.span))}"
        labels = (Label(declared, "this demand"), *origins((part,), place))
        self.tell(Fault(Kind.CONSTRAINT_VIOLATION, message, place, "not provably narrower", labels), demand.scope)
        return False


_LOGIC = ("logic needs true or false", "not a Bool")
_ORDER = ("only numbers have an order", "not a number")
_ARITHMETIC = ("arithmetic needs numbers", "not a number")


def _operand_place(residue: Negation | Junction | Comparison | Computation, at: int) -> Place:
    """Give where an operand stands in the expression."""
    node = residue.node
    if isinstance(node, Binary):
        operand = node.right if at else node.left
    else:
        assert isinstance(node, Unary)
        operand = node.operand
    return Place(residue.source, operand.span)


def _comparable(left: frozenset[Family], right: frozenset[Family]) -> bool:
    if left <= NUMBERS and right <= NUMBERS:
        return True
    return left == right and len(left) == 1 and left <= {Family.STRING, Family.BOOL}


def _not_comparable(residue: Comparison, left: Part, right: Part) -> Fault:
    place = residue.place
    labels = (Label(_operand_place(residue, 0), told(left)), Label(_operand_place(residue, 1), told(right)))
    message = f"{told(left)} and {told(right)} cannot be compared"
    return Fault(Kind.TYPE_MISMATCH, message, place, "not comparable", (*labels, *origins((left, right), place)))


def _below(schema: Schema, name: str) -> Schema | None:
    """Give what a field of a value may hold; None where there is no such field."""
    match schema:
        case RecordOf(members=members, rest=rest):
            return next((member.schema for member in members if member.name == name), rest)
        case AllOf(atoms=atoms):
            items = [atom.item for atom in atoms if isinstance(atom, EntriesOf)]
            if len(items) == 1:
                return items[0]
            return AllOf((Anything(),)) if items or all(isinstance(atom, Anything) for atom in atoms) else None
        case _:
            return None


def _key_place(residue: Reference, at: int) -> Place:
    """Give where one name of a path stands."""
    step = residue.steps[at]
    assert isinstance(step.node, Access)
    return Place(step.scope.module.source, step.node.key.span)


def _undeclared(residue: Reference, known: Collection[str], types: Types) -> Fault:
    root, name = residue.path[:2]
    noun = _NAMES[root]
    meant = nearest(name, known) or (elsewhere(types, name, root) if root != KNOWN else None)
    notes = (f"the flow declares {listed(sorted(known))}",) if known else (f"the flow declares no {noun}",)
    message, place = f"no {noun} is named {quoted(name)}", _key_place(residue, 1)
    help_ = f"did you mean {quoted(meant)}?" if meant else None
    return Fault(Kind.UNRESOLVED_IDENTIFIER, message, place, "not declared", (), notes, help_)


def _no_field(residue: Reference, at: int, schema: Schema, declared: Declared) -> Fault:
    text, name = ".".join(residue.path[:at]), residue.path[at]
    place = _key_place(residue, at)
    labels = (Label(declared.place, "declared here"),) if declared.place is not None else ()
    if not isinstance(schema, RecordOf):
        message = f"{quoted(text)} is {with_word(families_of(schema))} and has no fields"
        return Fault(Kind.TYPE_MISMATCH, message, place, "not a field", labels)
    near = nearest(name, [member.name for member in schema.members])
    help_ = f"did you mean {quoted(near)}?" if near else None
    return Fault(Kind.UNRESOLVED_IDENTIFIER, f"{quoted(text)} has no field {quoted(name)}", place, "no such field", labels, help=help_)
