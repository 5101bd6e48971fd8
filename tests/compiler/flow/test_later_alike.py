"""Version 2 holds all of version 1: what is wrong with a source of the one is wrong with the same source of the other."""

import json
from collections.abc import Sequence

import pytest

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.pipeline import compile_source
from stateward.resources.catalog import BuiltinSource, builtins
from tests.compiler.flow.sources import FAULTS, SLUG, SLUGS
from tests.compiler.flow.test_cases import CASES

FIRST, SECOND = "schema_version = 1", "schema_version = 2"
SOURCES = {
    **{name: (text, SLUGS.get(name, SLUG)) for name, text in FAULTS.items() if isinstance(text, str) and FIRST in text},
    **{name: (text, name) for name, text in CASES.items() if FIRST in text},
}
ONLY_IN_FIRST = {"dcdl_import", "an_import_that_nothing_uses"}
"""What imports is another matter."""


def told(source: str, slug: str) -> list[tuple[str, str, int]]:
    return [_told(each) for each in compile_source(source.encode(), slug=slug).diagnostics]


def _told(each: Diagnostic) -> tuple[str, str, int]:
    return each.code, each.message, each.primary.place.span.start


def without_conditions(found: Sequence[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Leave out that a condition is missing, which is told in other words where others may stand in its place."""
    return [each for each in found if not each[1].endswith("has no `condition`") and each[0] != "transition_without_condition"]


@pytest.mark.parametrize("name", sorted(SOURCES.keys() - ONLY_IN_FIRST))
def test_a_fault_of_version_1_is_one_of_version_2(name: str) -> None:
    source, slug = SOURCES[name]
    first, second = told(source, slug), told(source.replace(FIRST, SECOND), slug)
    assert without_conditions(first) == without_conditions(second)
    assert len(first) == len(second)


@pytest.mark.parametrize("flow", builtins(), ids=lambda each: each.slug)
def test_a_flow_of_version_1_is_the_same_flow_in_version_2(flow: BuiltinSource) -> None:
    content = flow.content.decode()
    first, second = compile_source(content.encode()), compile_source(content.replace(FIRST, SECOND).encode())
    assert {**json.loads(first.canonical or b""), "schema_version": 2} == json.loads(second.canonical or b"")
