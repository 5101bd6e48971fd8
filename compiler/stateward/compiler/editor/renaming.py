"""Renaming a state or a bound name: everywhere, or not at all with the reason.

Invariant: what is offered was tried: the renamed text is read again, and gives the same flow but for the id, and names that lead where they
led before. Whatever that shows to be otherwise is refused.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from stateward.compiler.diagnostics.model import Edit, errors_of
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.declared import DeclaredNames, Use
from stateward.compiler.editor.graphing import Graph
from stateward.compiler.editor.renaming_declared import edits_of, is_the_same, why_not
from stateward.compiler.editor.scopes import Bound
from stateward.compiler.editor.states import States, StateUse
from stateward.compiler.flow.identifiers import RULE, identifier_fault
from stateward.compiler.flow.typed import FlowSource, Located, Texts, TransitionSource
from stateward.compiler.language.nesting import children
from stateward.compiler.predicates.forms import guard_data
from stateward.compiler.predicates.recounting import recounted
from stateward.compiler.source import Span
from stateward.compiler.syntax.tokens import RESERVED
from stateward.compiler.syntax.tree import Binary, Call, Match, Node, Object, StringLit

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class Renameable(NamedTuple):
    """What can be renamed at a place."""

    span: Span
    name: str


class Refused(NamedTuple):
    """Why nothing is renamed."""

    reason: str


def renameable(analysis: Analysis, offset: int) -> Renameable | Refused | None:
    """Give the name at an offset; None where there is none that could be renamed."""
    use = States(analysis).at(offset)
    if use is not None:
        assert use.word is not None, "it was found by its word"
        return _state_problem(analysis, use.id) or Renameable(use.word, use.id)
    named = DeclaredNames(analysis).at(offset)
    if named is not None:
        reason = why_not(analysis, named)
        return Renameable(named.word, named.name) if reason is None else Refused(reason)
    bound = analysis.scopes.at(offset)
    if bound is None:
        return None
    span = next(each for each in (bound.key.span, *bound.uses) if each.start <= offset <= each.end)
    return _bound_problem(analysis, bound) or Renameable(span, bound.key.text)


def rename(analysis: Analysis, offset: int, new: str) -> list[Edit] | Refused | None:
    """Give the edits that rename what stands at an offset; None where there is nothing to rename."""
    found = renameable(analysis, offset)
    if not isinstance(found, Renameable):
        return found
    if new == found.name:
        return []
    use = States(analysis).at(offset)
    if use is not None:
        return _rename_state(analysis, use, new)
    named = DeclaredNames(analysis).at(offset)
    return _rename_bound(analysis, offset, new) if named is None else _rename_declared(analysis, named, new)


# --- states ---------------------------------------------------------------------------------------------------------------------------


def _state_problem(analysis: Analysis, id_: str) -> Refused | None:
    unread = _unread(analysis) or _unread_ids(analysis)
    if unread is not None:
        return unread
    states = States(analysis)
    if states.declaration(id_) is None:
        return Refused(f"no state is declared as `{id_}`")
    uses = states.of(id_)
    unspelled = [each.place for each in uses if each.word is None or each.place.source is not analysis.source]
    spelled = {each.place.span for each in uses}
    computed = [*(each.span.start for each in unspelled), *(at.start for at in _computing(analysis, id_) if at not in spelled)]
    if computed:
        line, column = analysis.source.line_column(computed[0])
        return Refused(f"an id is computed at {line}:{column}, and may come to `{id_}`")
    return None


def _computing(analysis: Analysis, id_: str) -> Iterator[Span]:
    """Give the texts equal to an id from which something is computed: the branches that were not taken among them."""
    open_: list[tuple[Node, bool]] = [(analysis.parsed.module, False)]
    while open_:
        node, computes = open_.pop()
        if computes and isinstance(node, StringLit) and node.value == id_:
            yield node.span
        computes = computes or isinstance(node, Binary | Call | Match)
        open_ += ((each, computes and not isinstance(each, Object)) for each in children(node))


def _unread(analysis: Analysis) -> Refused | None:
    errors = errors_of(analysis.parsed.diagnostics)
    if errors:
        return Refused(f"the text has {counted(len(errors), 'fault')} of form, behind which a use may be hidden")
    return None


def _unread_ids(analysis: Analysis) -> Refused | None:
    """Refuse where an id could not be read, which may be the one that is renamed."""
    flow = analysis.flow
    lost = [each.transition.key for each in Graph(analysis).ways if each.target is None]
    lost += [each.when.place for _, each in analysis.edges if each.when is not None and each.when.guard is None]
    lost += [each.transitions.key or each.key for each in analysis.states if each.transitions is not None and not each.transitions.complete]
    if flow is not None and flow.states is not None and not flow.states.complete:
        lost.append(flow.states.key)
    if lost:
        line, column = lost[0].source.line_column(lost[0].span.start)
        return Refused(f"what stands at {line}:{column} could not be read, and may name a state")
    if flow is None or flow.initial is None:
        return Refused("what `initial` names could not be read")
    return None


def _rename_state(analysis: Analysis, use: StateUse, new: str) -> list[Edit] | Refused:
    fault = identifier_fault(new)
    if fault is not None:
        return Refused(f"`{new}` {fault}; an id {RULE}")
    states = States(analysis)
    if states.declaration(new) is not None:
        return Refused(f"there is a state `{new}` already")
    places = sorted({each.place.span for each in states.of(use.id)})
    edits = [Edit(span, _spelled(analysis, span, new)) for span in places]
    after = _edited(analysis, edits)
    if _shape(analysis.flow, {use.id: new}) != _shape(after.flow, {}):
        return Refused(f"`{use.id}` also says something else where it is written, which would change with it")
    return edits


def _spelled(analysis: Analysis, span: Span, id_: str) -> str:
    """Write an id in place of another, with quotes where that has them or where it needs them."""
    return f'"{id_}"' if analysis.source.text[span.start] == '"' else spelled(id_)


def spelled(id_: str) -> str:
    """Write an id as the name of a field, with quotes where it needs them."""
    return id_ if _NAME.fullmatch(id_) and id_ not in RESERVED else f'"{id_}"'


def _shape(flow: FlowSource | None, renamed: dict[str, str]) -> Any:
    """Give all that a flow says, with ids of states renamed where they are ids."""
    if flow is None:
        return None

    def id_(value: Located[str] | None) -> str | None:
        return None if value is None else renamed.get(value.value, value.value)

    states = () if flow.states is None else flow.states.items
    return (
        flow.schema_version,
        _text(flow.name),
        id_(flow.initial),
        tuple((each.name, each.schema, repr(each.default)) for each in (*flow.variables.items, *flow.inputs.items)),
        tuple((each.name, _texts(each.command), _text(each.timeout)) for each in flow.checks.items),
        tuple(
            (
                renamed.get(state.id, state.id),
                _text(state.instructions),
                state.terminal,
                (_texts(state.reads), _texts(state.writes), _text(state.select), state.visits_max and state.visits_max.value),
                None
                if state.transitions is None
                else tuple((each.id, id_(each.target), _text(each.condition), _decided(each, renamed)) for each in state.transitions.items),
            )
            for state in states
        ),
    )


def _decided(transition: TransitionSource, renamed: dict[str, str]) -> Any:
    """Give what decides a transition without a verifier, with ids of states renamed where a guard counts their visits."""
    guard = transition.when.guard if transition.when is not None else None
    otherwise = transition.otherwise is not None and transition.otherwise.value
    return None if guard is None else recounted(guard_data(guard), renamed), _texts(transition.checks), otherwise


def _texts(texts: Texts | None) -> tuple[str, ...]:
    return tuple(each.value for each in texts.items) if texts is not None else ()


def _text(value: Located[str] | None) -> str | None:
    return None if value is None else value.value


# --- variables, inputs and checks -------------------------------------------------------------------------------------------------------


def _rename_declared(analysis: Analysis, named: Use, new: str) -> list[Edit] | Refused:
    reason = why_not(analysis, named, new)
    if reason is not None:
        return Refused(reason)
    edits = edits_of(analysis, named, spelled(new), new)
    if not is_the_same(analysis.compilation.data, _edited(analysis, edits).compilation.data, named, new):
        return Refused(f"`{named.name}` is also computed or says something else where it is written")
    return edits


# --- bound names ----------------------------------------------------------------------------------------------------------------------


def _bound_problem(analysis: Analysis, bound: Bound) -> Refused | None:
    if bound.kind == "field":
        return Refused(f"`{bound.key.text}` is a field, whose name the form gives")
    return _unread(analysis)


def _rename_bound(analysis: Analysis, offset: int, new: str) -> list[Edit] | Refused:
    if not _NAME.fullmatch(new) or new in RESERVED:
        return Refused(
            f"`{new}` is no name: one begins with a letter, goes on with letters, digits and `_`, and is no word of the language"
        )
    bound = analysis.scopes.at(offset)
    assert bound is not None, "it can be renamed"
    if new in bound.scope.names:
        return Refused(f"`{new}` is bound here already")
    edits = [Edit(span, new) for span in sorted({bound.key.span, *bound.uses})]
    after = _edited(analysis, edits)
    if _led(analysis) != _led(after) or _shape(analysis.flow, {}) != _shape(after.flow, {}):
        return Refused(f"`{new}` means something else at a place where the name is used")
    return edits


def _led(analysis: Analysis) -> Sequence[tuple[int, int]]:
    """Give which use leads to which bound name: both by their number, which renaming does not change."""
    order = sorted(analysis.scopes.bound, key=lambda each: (each.key.start, each.key.end))
    uses = sorted((span.start, number) for number, bound in enumerate(order) for span in bound.uses)
    return list(_numbered(uses))


def _numbered(uses: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    yield from ((place, bound) for place, (_, bound) in enumerate(uses))


def _edited(analysis: Analysis, edits: Sequence[Edit]) -> Analysis:
    text, parts, at = analysis.source.text, [], 0
    for each in edits:
        parts += [text[at : each.span.start], each.replacement]
        at = each.span.end
    return Analysis(analysis.source.name, "".join([*parts, text[at:]]), analysis.slug)
