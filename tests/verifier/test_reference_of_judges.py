"""The reference says what there is."""

import re
from pathlib import Path

from stateward.runtime.session import browse_text
from stateward.runtime.session.browse import CALL_DISTANCE_MAX, SEARCH_BYTES_MAX
from stateward.runtime.verifier.finish import FINISH
from stateward.runtime.verifier.tools import VerifierTools
from stateward.runtime.workdir.view import WorkdirView
from tests.verifier.logs import asked
from tests.verifier.test_tools import Hand

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "judge.md").read_text("utf-8")


def rows(page: str) -> dict[str, list[str]]:
    """The first two cells of each row of a table that begins with a name."""
    found = re.findall(r"^\| `(\w+)` \|([^|]*)\|", page, re.MULTILINE)
    return {name: re.findall(r"`(\w+)`", cell) for name, cell in found}


def declared(tools: VerifierTools) -> dict[str, list[str]]:
    return {each.name: [*each.parameters["properties"]] for each in tools.declarations}


def test_it_lists_every_tool_with_its_arguments(tmp_path: Path) -> None:
    with WorkdirView(tmp_path) as view:
        assert declared(Hand(asked(), view).tools) == rows(PAGE)


def test_it_says_the_form_of_the_call_that_ends() -> None:
    members = FINISH.parameters["properties"]["results"]["items"]["properties"]
    assert f"`{FINISH.name} {{results: [{{{', '.join(members)}}}]}}`" in PAGE


def test_it_lists_every_member_that_is_understood() -> None:
    names = [browse_text._TOOL, browse_text._USE, browse_text._INPUT, browse_text._COMMAND, browse_text._STATUS]
    assert [] == [each for each in names if f"| {', '.join(f'`{name}`' for name in each)}" not in PAGE]
    hidden = sorted(browse_text._HIDDEN_TYPES | browse_text._HIDDEN_ROLES)
    assert [] == [each for each in hidden if f"`{each}`" not in PAGE]


def test_it_says_the_limits() -> None:
    assert f"{SEARCH_BYTES_MAX // 1024 // 1024} MiB" in PAGE
    assert f"at most {CALL_DISTANCE_MAX} entries" in PAGE
