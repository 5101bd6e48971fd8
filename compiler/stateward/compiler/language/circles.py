"""How a circle is told: values, or modules, that need each other."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.values import Cell, Use, Value
from stateward.compiler.syntax.tree import Import

LINKS_TOLD_MAX: Final = 8
"""Links of a circle that a diagnostic names."""

Link: TypeAlias = tuple[Use | None, Cell]
"""A use, and the cell it needs; a use is unknown where an operator needed the cell."""


def circle(links: Sequence[Link]) -> Fault:
    """Describe a circle; the last link closes it by needing the cell that needs the first one."""
    closing, cell = links[-1]
    place = closing.place if closing is not None else cell.place
    names = [_name(link) for link in (links[-1], *links)]
    chain = _chain(names)
    labels = tuple(
        Label(use.place, f"needs {quoted(_name((use, needed)))}") for use, needed in links[: min(len(links) - 1, LINKS_TOLD_MAX)] if use
    )
    if all(use is not None and isinstance(use.node, Import) for use, _ in links):
        return Fault(Kind.CYCLE, f"import cycle `{chain}`", place, "closes the circle", labels)
    notes = (f"the circle is `{chain}`",) if len(links) > 1 else ()
    return Fault(Kind.CYCLE, f"{quoted(names[0])} depends on itself", place, "closes the circle", labels, notes)


def modules_around(cell: Cell, inner: Value) -> tuple[tuple[str, ...], tuple[Label, ...]]:
    """Tell, in notes and labels, by which imports a cell comes back to the module of a value; nothing where it never left it."""
    module = cell.scope.module
    names = [inner.source.name] if isinstance(cell.node, Import) else []
    labels = []
    while module.source is not inner.source and module.imported is not None:
        names.append(module.source.name)
        labels.append(Label(module.imported.place, f"needs {quoted(module.source.name)}"))
        module = module.imported.scope.module
    if not names or module.source is not inner.source:
        return (), ()
    chain = _chain([*names, inner.source.name][::-1])
    return (f"import cycle `{chain}`",), tuple(labels[:LINKS_TOLD_MAX])


def _chain(names: list[str]) -> str:
    return " -> ".join(names if len(names) <= LINKS_TOLD_MAX + 1 else [*names[:LINKS_TOLD_MAX], "…", names[-1]])


def _name(link: Link) -> str:
    use, cell = link
    if use is None:
        return cell.place.source.slice(cell.node.span)
    if isinstance(use.node, Import):
        return cell.scope.module.source.name
    return use.place.source.slice(use.node.span)
