"""What stands under the cursor, explained: a state, where a transition leads, the value of a name, a field.

Invariants: texts of authors are shown as code, in a fence that none of them can end; what cannot be told is left out, never guessed.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, assert_never

from stateward.compiler.diagnostics.model import errors_of
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.declared import DeclaredNames, Part, Use, What
from stateward.compiler.editor.graphing import Graph
from stateward.compiler.editor.outline import Entry, spec_at
from stateward.compiler.editor.scopes import Bound, Scope
from stateward.compiler.editor.states import Role, States
from stateward.compiler.flow.schema import (
    ArrayOfTexts,
    ConstraintsByName,
    Duration,
    FieldSpec,
    MapOf,
    Mode,
    ObjectOf,
    OneOf,
    ScalarType,
)
from stateward.compiler.flow.typed import StateSource, TransitionSource
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.render import show
from stateward.compiler.limits import FLOW_LIMITS
from stateward.compiler.source import Source, Span
from stateward.compiler.syntax.parser import parse
from stateward.compiler.syntax.tree import Let

LINES_MAX: Final = 12
CHARACTERS_MAX: Final = 800
"""Of one text of an author that is shown."""
NAME_CHARACTERS_MAX: Final = 200
"""Of one name that is shown, which may be none: whatever an author put where an id belongs."""
_TICKS: Final = re.compile(r"`+")


class Hover(NamedTuple):
    """An explanation, in Markdown, of a part of the text."""

    span: Span
    markdown: str


def hover(analysis: Analysis, offset: int) -> Hover | None:
    """Explain what stands at an offset; None where there is nothing to explain."""
    use = States(analysis).at(offset)
    if use is not None:
        assert use.word is not None, "it was found by its word"
        state = Graph(analysis).state(use.id)
        if state is not None and use.role is not Role.TARGET:
            return Hover(use.word, _joined(_state(analysis, state)))
        if state is not None:
            return Hover(use.word, _joined([f"Leads to {_named('state', use.id)}", *list(_state(analysis, state))[1:]]))
    transition = _transition_at(analysis, offset)
    if transition is not None:
        return transition
    named = DeclaredNames(analysis).at(offset)
    if named is not None:
        return Hover(named.word, _joined(_named_use(analysis, named)))
    bound = analysis.scopes.at(offset)
    if bound is not None and bound.kind != "field":
        span = next(each for each in (bound.key.span, *bound.uses) if each.start <= offset <= each.end)
        return Hover(span, _joined(_bound(analysis, bound)))
    return _field_at(analysis, offset)


def _joined(parts: "Iterator[str] | list[str]") -> str:
    return "\n\n".join(parts)


def _named(what: str, id_: str) -> str:
    return f"{what} {_inline(id_)}"


def _inline(text: str) -> str:
    """Show a name as code, on one line: a blank line would end it, and what follows would be read as Markdown."""
    text = " ".join(text.split())[:NAME_CHARACTERS_MAX] or " "
    ticks = _fence(text, 1)
    return f"{ticks}{text}{ticks}" if not text.startswith("`") and not text.endswith("`") else f"{ticks} {text} {ticks}"


def _fence(text: str, least: int) -> str:
    return "`" * max([least, *(len(each) + 1 for each in _TICKS.findall(text))])


def _block(text: str, language: str = "text") -> str:
    """Show the beginning of a text as code."""
    lines = text.strip("\n").splitlines()
    shown = "\n".join(lines[:LINES_MAX])
    cut = len(lines) > LINES_MAX or len(shown) > CHARACTERS_MAX
    shown = shown[:CHARACTERS_MAX] + ("\n…" if cut else "")
    fence = _fence(shown, 3)
    return f"{fence}{language}\n{shown}\n{fence}"


# --- states and transitions -----------------------------------------------------------------------------------------------------------


def _state(analysis: Analysis, state: StateSource) -> Iterator[str]:
    graph = Graph(analysis)
    marks = [mark for mark, holds in (("initial", graph.is_initial(state.id)), ("terminal", state.terminal is True)) if holds]
    if graph.reached is not None and state.id not in graph.reached:
        marks.append("unreachable")
    yield _named("state", state.id) + (f" ({', '.join(marks)})" if marks else "")
    if state.instructions is not None and state.instructions.value.strip():
        yield _block(state.instructions.value)
    ways = [f"- {_inline(each.transition.id)} → {_inline(each.target)}" for each in graph.out_of(state.id) if each.target is not None]
    if ways:
        yield "\n".join(ways)
    yield f"{counted(len(graph.into(state.id)), 'way')} in"


def _transition_at(analysis: Analysis, offset: int) -> Hover | None:
    for state, transition in analysis.edges:
        place = transition.key
        if place.source is analysis.source and place.span.start <= offset <= place.span.end:
            return Hover(place.span, _joined(_transition(state, transition)))
    return None


def _transition(state: StateSource, transition: TransitionSource) -> Iterator[str]:
    leads = "" if transition.target is None else f", leads to {_named('state', transition.target.value)}"
    yield f"{_named('transition', transition.id)} of {_named('state', state.id)}{leads}"
    if transition.when is not None:
        place = transition.when.place
        yield f"when\n\n{_block(place.source.slice(place.span), 'dcdl')}"
    if transition.checks is not None and transition.checks.items:
        yield f"checks {', '.join(_inline(each.value) for each in transition.checks.items)}"
    if transition.otherwise is not None and transition.otherwise.value:
        yield "otherwise: when no other is met"
    if transition.condition is not None:
        yield _block(transition.condition.value)


# --- variables, inputs and checks -------------------------------------------------------------------------------------------------------


def _named_use(analysis: Analysis, named: Use) -> Iterator[str]:
    """Tell what is declared of a name, and which states say what of it."""
    yield _named(named.what.value, named.name)
    flow = analysis.flow
    assert flow is not None, "its names were read"
    declarations = flow.variables.items if named.what is What.VARIABLE else flow.inputs.items if named.what is What.INPUT else ()
    for each in declarations:
        if each.name == named.name:
            yield _block(each.place.source.slice(each.place.span), "dcdl")
    for check in flow.checks.items if named.what is What.CHECK else ():
        if check.name == named.name and check.command is not None:
            yield _block(" ".join(each.value for each in check.command.items))
    uses = DeclaredNames(analysis).of(named)
    for part, told in ((Part.WRITTEN, "set in"), (Part.READ, "read in"), (Part.RUN, "run in")):
        states = dict.fromkeys(each.state for each in uses if each.part is part and each.state is not None)
        if states:
            yield f"{told} {', '.join(_inline(state) for state in states)}"


# --- names ----------------------------------------------------------------------------------------------------------------------------


def _bound(analysis: Analysis, bound: Bound) -> Iterator[str]:
    yield f"{bound.kind} {_inline(bound.key.text)}"
    value = _value(analysis, bound)
    if value is not None:
        yield _block(value, "dcdl")
    elif bound.value is not None:
        yield f"is bound to\n\n{_block(analysis.source.slice(bound.value.span), 'dcdl')}"


def _value(analysis: Analysis, bound: Bound) -> str | None:
    """Give what a name of the module evaluates to; None where it is bound within something, or does not evaluate."""
    if bound.kind != "let" or not _is_of_module(bound.scope) or errors_of(analysis.parsed.diagnostics):
        return None
    node = bound.scope.node
    assert isinstance(node, Let), "a `let` binds in its own scope"
    source = Source.from_text(analysis.source.name, analysis.source.text[: node.body.start] + bound.key.text)
    evaluation = Evaluation(source, parse(source).module, limits=FLOW_LIMITS.language)
    shown = show(evaluation)
    return None if errors_of(evaluation.diagnostics) else shown.rstrip("\n")


def _is_of_module(scope: Scope | None) -> bool:
    """Tell whether a scope, and all around it, are the `let`s that a module begins with."""
    while scope is not None:
        if not isinstance(scope.node, Let) or (scope.parent is not None and not _is_body(scope)):
            return False
        scope = scope.parent
    return True


def _is_body(scope: Scope) -> bool:
    parent = scope.parent
    return parent is not None and isinstance(parent.node, Let) and parent.node.body is scope.node


# --- fields ---------------------------------------------------------------------------------------------------------------------------


def _field_at(analysis: Analysis, offset: int) -> Hover | None:
    entry = _entry_at(analysis, offset)
    spec = None if entry is None else spec_at(entry.path, analysis.form)
    return None if entry is None or spec is None else Hover(entry.key.span, _joined(_field(spec)))


def _entry_at(analysis: Analysis, offset: int) -> Entry | None:
    return next((each for each in analysis.entries if each.key.start <= offset <= each.key.end), None)


def _field(spec: FieldSpec) -> Iterator[str]:
    yield f"{_inline(spec.name)}: {type_of(spec)}, {'required' if spec.required else 'optional'}"
    yield spec.doc


def type_of(spec: FieldSpec) -> str:
    """Say of which type a field is."""
    match spec.type:
        case _ if spec.mode is Mode.GUARD:
            return "guard"
        case MapOf(level=level):
            return f"{level.what}s by id"
        case ObjectOf(level=level):
            return f"object of {level.what}s"
        case ConstraintsByName():
            return "constraints by name"
        case ArrayOfTexts(what=what):
            return f"array of {what}s" if what == "text" else f"array of {what} names"
        case Duration():
            return "duration"
        case OneOf(words=words):
            return " or ".join(f'"{word}"' for word in words)
        case ScalarType():
            return str(spec.type)
    assert_never(spec.type)
