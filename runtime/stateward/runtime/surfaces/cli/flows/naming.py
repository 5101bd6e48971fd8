"""The flows that a command names: slugs, selectors of the Workspace, patterns of slugs."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from stateward.compiler.diagnostics.wording import nearest, quoted
from stateward.runtime.engine.selectors import BUILTIN, WORKSPACE
from stateward.runtime.ports import PAGE_MAX, FlowAuthority, FlowRow
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.writing import shown_path

_PATTERN: Final = frozenset("*?[")


def slug_of(named: str) -> str:
    """Give the slug that was named, by itself or as `workspace:<slug>`. Raises Stop for a built-in flow, which is kept by nobody."""
    scope, colon, slug = named.partition(":")
    if colon and scope == BUILTIN:
        raise Stop(STATUS_USAGE, f"`{shown_path(named)}` is built in, and no Workspace keeps it", "see `stateward flow list`")
    return slug if colon and scope == WORKSPACE else named


def is_pattern(named: str) -> bool:
    """Tell whether several flows may be meant."""
    return bool(_PATTERN & {*named})


def rows(flows: FlowAuthority, *, removed: bool) -> Iterator[FlowRow]:
    """List all flows by slug."""
    after = ""
    while page := flows.flows(PAGE_MAX, after, removed=removed):
        yield from page
        after = page[-1].last.slug


def fitting(flows: FlowAuthority, pattern: str, *, removed: bool) -> Iterator[FlowRow]:
    """List the flows whose slug fits a pattern."""
    return (each for each in rows(flows, removed=removed) if fnmatchcase(each.last.slug, pattern))


def known(flows: FlowAuthority, named: str) -> FlowRow:
    """Find a flow, also a removed one. Raises Stop when there is none."""
    slug = slug_of(named)
    found = flows.find(slug)
    if found is None:
        near = nearest(slug, [each.last.slug for each in flows.flows(PAGE_MAX, removed=True)])
        remedy = "see what there is with `stateward flow list`" if near is None else f"did you mean `{near}`?"
        raise Stop(STATUS_USAGE, f"the Workspace keeps no flow {quoted(shown_path(slug))}", remedy)
    return found


def slugs_named(flows: FlowAuthority, named: Sequence[str]) -> list[str]:
    """Give the slugs that are named, those of patterns too, each once. Raises Stop where one names nothing."""
    found: list[str] = []
    for each in named:
        if not is_pattern(each):
            found.append(known(flows, each).last.slug)
            continue
        fit = [row.last.slug for row in fitting(flows, slug_of(each), removed=True)]
        if not fit:
            raise Stop(STATUS_USAGE, f"no flow fits {quoted(shown_path(each))}", "see what there is with `stateward flow list --removed`")
        found += fit
    return list(dict.fromkeys(found))
