"""Renaming a variable, an input or a check: in its declaration, in lists of names and in guards.

Invariant: as with states, what is offered was tried: the renamed text compiles to the same definition but for the name.
"""

from typing import Any, Final

from stateward.compiler.diagnostics.model import Edit
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.declared import DeclaredNames, Part, Use, What
from stateward.compiler.flow.identifiers import RULE, identifier_fault
from stateward.compiler.flow.lower import DefinitionData
from stateward.compiler.predicates.guards import INPUT, KNOWN, VARS

_ROOTS: Final = {What.VARIABLE: frozenset({VARS, KNOWN}), What.INPUT: frozenset({INPUT}), What.CHECK: frozenset[str]()}
_LISTS: Final = {What.VARIABLE: frozenset({"reads", "writes"}), What.INPUT: frozenset[str](), What.CHECK: frozenset({"checks"})}
_DECLARED: Final = {What.VARIABLE: "variables", What.INPUT: "inputs", What.CHECK: "checks"}


def why_not(analysis: Analysis, named: Use, new: str | None = None) -> str | None:
    """Say why a name cannot be renamed, or not to `new`; None where nothing is against it."""
    names = DeclaredNames(analysis)
    if analysis.compilation.data is None:
        return "the flow has errors, behind which a use may be hidden"
    if not any(each.part is Part.DECLARED for each in names.of(named)):
        return f"no {named.what.value} is declared as `{named.name}` in this text"
    other = {What.VARIABLE: What.INPUT, What.INPUT: What.VARIABLE}.get(named.what)
    if any((each.what, each.part) == (other, Part.DECLARED) and each.name in {named.name, new} for each in names.uses):
        return "an input gives the variable of its name the first value"
    if new is None:
        return None
    if identifier_fault(new) is not None:
        return f"`{new}` {identifier_fault(new)}; a name {RULE}"
    if any((each.what, each.part, each.name) == (named.what, Part.DECLARED, new) for each in names.uses):
        return f"there is a {named.what.value} `{new}` already"
    return None


def edits_of(analysis: Analysis, named: Use, spelled: str, new: str) -> list[Edit]:
    """Give the edits: `spelled` is how the name is written where it needs quotes and has none."""
    text = analysis.source.text
    spans = sorted({each.word for each in DeclaredNames(analysis).of(named)})
    return [Edit(span, new if text[span.start - 1 : span.start] == '"' else spelled) for span in spans]


def is_the_same(before: DefinitionData | None, after: DefinitionData | None, named: Use, new: str) -> bool:
    """Tell whether two definitions differ in a name alone."""
    return after is not None and _renamed(before, named, new) == after


def _renamed(data: Any, named: Use, new: str, holder: str = "") -> Any:
    """Give a part of a definition with a name in place of another; `holder` is the member that it stands in."""
    match data:
        case {"ref": [root, name, *below]} if root in _ROOTS[named.what] and name == named.name:
            return {"ref": [root, new, *below]}
        case {"name": name} if holder == _DECLARED[named.what] and name == named.name:
            return {**data, "name": new}
        case {"lit": _}:
            return data
        case dict():
            return {member: _renamed(each, named, new, member) for member, each in data.items()}
        case list() if holder in _LISTS[named.what]:
            return [_listed(each, named, new, holder) for each in data]
        case list():
            return [_renamed(each, named, new, holder) for each in data]
        case _:
            return data


def _listed(data: object, named: Use, new: str, holder: str) -> Any:
    if isinstance(data, str):
        return new if data == named.name else data
    return _renamed(data, named, new, holder)
