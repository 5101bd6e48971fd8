"""Bound names: where each is bound, where it is used, and which are seen at a place.

Invariants: nothing is evaluated; the walk needs no recursion; a name that is bound twice at one place is the first of the two.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stateward.compiler.language.nesting import children
from stateward.compiler.source import Span
from stateward.compiler.syntax.tree import Arm, Expr, Key, Lambda, Let, Match, Module, Name, Node, Object, Wildcard

LOOKUPS_MAX: Final = 2_000_000
"""Scopes that are looked through for the names of one text."""


@dataclass(slots=True, eq=False)
class Bound:
    """A bound name."""

    key: Key
    kind: str
    """`let`, `parameter` or `field`."""
    value: Expr | None
    scope: "Scope"
    """The scope that it is bound in."""
    uses: list[Span] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Scope:
    """Names that are bound together, with the expression in which they are seen."""

    node: Node
    parent: "Scope | None"
    names: dict[str, Bound] = field(default_factory=dict)


class _Open(NamedTuple):
    node: Node
    scope: Scope | None


class Scopes:
    """The names of one module."""

    def __init__(self, module: Module) -> None:
        self.bound: list[Bound] = []
        self._scopes: list[Scope] = []
        self._lookups = 0
        open_ = [_Open(module.body, None)]
        while open_:
            node, scope = open_.pop()
            if isinstance(node, Name):
                self._use(node, scope)
            else:
                open_ += self._below(node, scope)

    def at(self, offset: int) -> Bound | None:
        """Give what is bound or used at an offset."""
        for each in self.bound:
            if any(span.start <= offset <= span.end for span in (each.key.span, *each.uses)):
                return each
        return None

    def visible(self, offset: int) -> Iterator[Bound]:
        """Give what is seen at an offset, the innermost first."""
        around = [scope for scope in self._scopes if scope.node.start <= offset <= scope.node.end]
        seen: set[str] = set()
        for scope in sorted(around, key=lambda each: each.node.start, reverse=True):
            for name, bound in scope.names.items():
                if name not in seen:
                    seen.add(name)
                    yield bound

    def _below(self, node: Node, scope: Scope | None) -> Iterator[_Open]:
        match node:
            case Let(bindings=bindings, body=body):
                inner = self._enter(node, scope, "let", ((each.path[0], each.value) for each in bindings))
                yield from (_Open(each.value, inner) for each in bindings)
                yield _Open(body, inner)
            case Lambda(params=params, body=body):
                yield from (_Open(each.annotation, scope) for each in params if each.annotation is not None)
                yield _Open(body, self._enter(node, scope, "parameter", ((each.name, None) for each in params)))
            case Object(fields=fields, rest=rest):
                if not node.braced:
                    keys = ((each.path[0], each.value if len(each.path) == 1 else None) for each in fields)
                    scope = self._enter(node, scope, "field", keys)
                yield from (_Open(each.value, scope) for each in fields)
                if rest is not None:
                    yield _Open(rest, scope)
            case Match(subject=subject, arms=arms):
                yield _Open(subject, scope)
                for arm in arms:
                    yield from (_Open(each, scope) for each in _arm(arm))
            case _:
                yield from (_Open(each, scope) for each in children(node))

    def _enter(self, node: Node, parent: Scope | None, kind: str, keys: Iterable[tuple[Key, Expr | None]]) -> Scope:
        scope = Scope(node, parent)
        for key, value in keys:
            if key.text not in scope.names:
                scope.names[key.text] = Bound(key, kind, value, scope)
        self.bound += scope.names.values()
        self._scopes.append(scope)
        return scope

    def _use(self, node: Name, scope: Scope | None) -> None:
        while scope is not None and self._lookups < LOOKUPS_MAX:
            self._lookups += 1
            found = scope.names.get(node.text)
            if found is not None:
                found.uses.append(node.span)
                return
            scope = scope.parent


def _arm(arm: Arm) -> Iterator[Node]:
    if not isinstance(arm.pattern, Wildcard):
        yield arm.pattern
    yield arm.body
