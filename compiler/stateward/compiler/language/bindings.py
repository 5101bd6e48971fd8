"""The static pass over names: which are bound, seen, hidden, never used, or never defined, wherever evaluation would not look.

Invariants: nothing is evaluated; the walk is one generator per node on a stack of its own, so depth costs no recursion. A finding stands
at the very place at which the evaluator would report it as an error, so that it can be told once.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.language.nesting import children
from stateward.compiler.source import Place, Source
from stateward.compiler.syntax.tree import Arm, Field, Key, Lambda, Let, Match, Module, Name, Node, Object, Wildcard

FINDINGS_MAX: Final = 1_000
"""Findings of one module that are told."""
UNUSED: Final = "unused_binding"
SHADOWED: Final = "shadowed_name"
UNRESOLVED: Final = "unresolved_in_unused_code"
DUPLICATE: Final = "duplicate_in_unused_code"


@dataclass(slots=True, eq=False)
class _Group:
    """Names that are bound together. `inside` is the one whose value is being walked."""

    inside: "_Bound | None" = None


@dataclass(slots=True, eq=False)
class _Bound:
    """A bound name. `uses` are the names of its group that its value uses."""

    key: Key
    group: _Group
    is_used: bool = False
    uses: "set[_Bound]" = field(default_factory=set)


class BindingsPass:
    """One walk over one module."""

    def __init__(self, source: Source, roots: Collection[str] = ()) -> None:
        """Begin; `roots` are the names that are known only at run time where no scope binds them."""
        self._source = source
        self._roots = roots
        self._seen: dict[str, list[_Bound]] = {}
        self.findings: list[Diagnostic] = []

    def walk(self, module: Module) -> None:
        """Walk a whole module."""
        stack = [self._visit(module.body)]
        while stack:
            below = next(stack[-1], None)
            if below is None:
                stack.pop()
            else:
                stack.append(self._visit(below))

    def _visit(self, node: Node) -> Iterator[Node]:
        """Give the nodes below a node, with the names that they see in force while each is walked."""
        match node:
            case Name():
                self._use(node)
                return iter(())
            case Let():
                return self._let(node)
            case Lambda():
                return self._function(node)
            case Object():
                return self._object(node)
            case Match():
                return self._match(node)
            case _:
                return children(node)

    def _let(self, node: Let) -> Iterator[Node]:
        bound = self._enter([binding.path[0] for binding in node.bindings], "bound")
        group = bound[0].group if bound else _Group()
        for binding, each in zip(node.bindings, bound, strict=True):
            group.inside = each
            yield binding.value
        group.inside = None
        yield node.body
        self._leave(bound)
        self._report_unused(bound)

    def _function(self, node: Lambda) -> Iterator[Node]:
        yield from (param.annotation for param in node.params if param.annotation is not None)
        bound = self._enter([param.name for param in node.params], "named")
        yield node.body
        self._leave(bound)

    def _object(self, node: Object) -> Iterator[Node]:
        self._report_repeated(node)
        bound = [] if node.braced else self._enter(_first_keys(node.fields), None)
        yield from (each.value for each in node.fields)
        if node.rest is not None:
            yield node.rest
        self._leave(bound)

    def _match(self, node: Match) -> Iterator[Node]:
        yield node.subject
        for arm in node.arms:
            yield from _arm(arm)

    def _enter(self, keys: Sequence[Key], verb: str | None) -> list[_Bound]:
        """Bind names together, one for each key; a name that is bound twice is one name."""
        group = _Group()
        bound: dict[str, _Bound] = {}
        for key in keys:
            first = bound.get(key.text)
            outer = self._seen.get(key.text)
            if first is not None and verb is not None:
                earlier = self._label(first.key, f"first {verb} here")
                self._report(DUPLICATE, f"{quoted(key.text)} is {verb} twice", key, f"{verb} again here", earlier)
            elif outer:
                self._report(
                    SHADOWED,
                    f"{quoted(key.text)} hides an outer name",
                    key,
                    "hides the outer one",
                    self._label(outer[-1].key, "the outer one"),
                )
            elif key.text in self._roots:
                self._report(SHADOWED, f"{quoted(key.text)} hides what guards read of a run", key, "hides the root")
            bound.setdefault(key.text, _Bound(key, group))
        for each in bound.values():
            self._seen.setdefault(each.key.text, []).append(each)
        return [bound[key.text] for key in keys]

    def _leave(self, bound: Iterable[_Bound]) -> None:
        for each in dict.fromkeys(bound):
            self._seen[each.key.text].pop()

    def _use(self, node: Name) -> None:
        seen = self._seen.get(node.text)
        if seen:
            user = seen[-1].group.inside
            if user is None:
                seen[-1].is_used = True
            else:
                user.uses.add(seen[-1])
        elif not node.text[0].isupper() and node.text not in self._roots:
            self._report(UNRESOLVED, f"{quoted(node.text)} is not defined", node, "not defined")

    def _report_unused(self, bound: Sequence[_Bound]) -> None:
        reached = [each for each in bound if each.is_used]
        for each in reached:  # grows while it is walked, up to the number of bindings
            for used in each.uses:
                if not used.is_used:
                    used.is_used = True
                    reached.append(used)
        for each in dict.fromkeys(bound):
            if not each.is_used:
                self._report(UNUSED, f"{quoted(each.key.text)} is never used", each.key, "never used")

    def _report_repeated(self, node: Object) -> None:
        for again, first in _repeated(node.fields):
            message = f"the field {quoted(again.text)} is set twice"
            self._report(DUPLICATE, message, again, "set again here", self._label(first, "first set here"))

    def _report(self, code: str, message: str, node: Node, label: str, *secondary: Label) -> None:
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(Diagnostic(code, Severity.WARNING, message, self._label(node, label), secondary))

    def _label(self, node: Node, text: str) -> Label:
        return Label(Place(self._source, node.span), text)


def _arm(arm: Arm) -> Iterator[Node]:
    if not isinstance(arm.pattern, Wildcard):
        yield arm.pattern
    yield arm.body


def _first_keys(fields: Iterable[Field]) -> list[Key]:
    keys: dict[str, Key] = {}
    for each in fields:
        keys.setdefault(each.path[0].text, each.path[0])
    return list(keys.values())


@dataclass(slots=True)
class _Written:
    """What is written for one key so far."""

    key: Key
    below: "dict[str, _Written] | None"
    """The keys below it, where they are known from the text; None where something else stands there."""


def _repeated(fields: Iterable[Field]) -> Iterator[tuple[Key, Key]]:
    """Give each key that is set again, with the one that set it first."""
    top: dict[str, _Written] = {}
    for each in fields:
        at: dict[str, _Written] | None = top
        for key in each.path[:-1]:
            at = at.setdefault(key.text, _Written(key, {})).below if at is not None else None
        if at is None:
            continue
        last = each.path[-1]
        if last.text in at:
            yield last, at[last.text].key
        else:
            at[last.text] = _Written(last, _keys(each.value))


def _keys(value: Node) -> dict[str, _Written] | None:
    """Give the keys of an object that is written out; those below them do not matter to a repeated key."""
    if not isinstance(value, Object):
        return None
    return {key.text: _Written(key, None) for key in _first_keys(value.fields)}
