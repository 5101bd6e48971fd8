"""Flows of version 2 compared and drawn."""

import pytest

from stateward.compiler.drawing.differences import Change, Renamed, Restated, changes
from stateward.compiler.drawing.svg import draw_svg
from stateward.compiler.drawing.ways import decided_by
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.pipeline import compile_source
from tests.compiler.flow.sources import GOOD, GOOD_2, changed


def defined(source: str) -> CompiledFlowDefinition:
    definition = compile_source(source.encode()).definition
    assert definition is not None
    return definition


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("attempts < 3", "attempts < 4", Restated("when", "review", "back", "vars.attempts < 3", "vars.attempts < 4")),
        (" checks = [\"spelling\"]; condition", " condition", Restated("checks", "draft", "submit", "spelling", "")),
        ("visits = 5", "visits = 6", Restated("visits", "draft", None, "5", "6")),
        ('writes = ["attempts"];', "", Restated("writes", "draft", None, "attempts", "")),
        ("default 0", "default 1", Restated("variable attempts", None, None, "Int & >= 0 default 0", "Int & >= 0 default 1")),
        ('"90s"', '"2m"', Restated("check spelling", None, None, *(f'["codespell", "paper.md"] within {time} s' for time in (90, 120)))),
        ("inputs = {", "inputs = { strict = Bool default false;", Restated("input strict", None, None, "", "Bool default false")),
    ],
)  # fmt: skip
def test_what_decides_and_what_is_declared_is_compared(old: str, new: str, change: Change) -> None:
    assert (change,) == changes(defined(GOOD_2), defined(changed((old, new), of=GOOD_2)))


def test_a_guard_that_counts_visits_of_a_renamed_state_did_not_change() -> None:
    old = changed(("attempts < 3", "attempts < 3 && visits.review < 9"), of=GOOD_2)
    new = old.replace("    review = {", "    look = {").replace('"review"', '"look"').replace("visits.review", "visits.look")
    assert (Renamed("state", "review", "look"),) == changes(defined(old), defined(new))


def test_a_version_alone_is_a_change() -> None:
    later = GOOD.replace("schema_version = 1", "schema_version = 2")
    assert (Restated("schema version", None, None, "1", "2"),) == changes(defined(GOOD), defined(later))


def test_a_transition_without_a_condition_is_shown_with_what_decides_it() -> None:
    definition = defined(changed(('condition = "Something is to be mended.";', ""), of=GOOD_2))
    ways = {each.id: decided_by(each) for state in definition.states for each in state.transitions if not each.synthetic}
    assert ways == {"submit": "checks spelling\nIt is written.", "back": "when vars.attempts < 3", "accept": "checks spelling"}
    assert "when vars.attempts &lt; 3" in draw_svg(definition)
