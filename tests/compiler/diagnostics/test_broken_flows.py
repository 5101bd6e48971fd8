"""The guide to broken flows: what it shows is what is said, the first diagnostic names the true fault, and fixes do what it says."""

import re
from typing import NamedTuple

import pytest

from docs.diagnostics.__main__ import GUIDE, GUIDE_FILE, examples, renewed
from stateward.compiler.cli.mending import mend
from stateward.compiler.pipeline import Compilation, compile_source
from stateward.compiler.source import Source

TEXT = GUIDE.read_text("utf-8")


class Fault(NamedTuple):
    """What is truly wrong with a source of the guide."""

    code: str
    at: str
    """The text that is at fault; empty where something is missing."""
    line: int
    errors: int = 1
    mended_by: str | None = None
    """The least sure fixes that it takes to mend it; None where it cannot be mended by fixes."""


FAULTS = {
    "A misspelt target": Fault("transition_target_not_found", '"chekc"', 7, mended_by="unsafe"),
    "A semicolon that was forgotten": Fault("dcdl_syntax", "", 6, mended_by="safe"),
    "A quote that was never closed": Fault("dcdl_syntax", '"', 10, mended_by="unsafe"),
    "A quote inside of a text": Fault("dcdl_syntax", '"', 10, mended_by="unsafe"),
    "Quotes from a word processor": Fault("dcdl_syntax", "“All tests passed.”", 12, mended_by="safe"),
    "A name without quotes": Fault("dcdl_evaluation", "build", 3, mended_by="unsafe"),
    "A brace that was not closed": Fault("dcdl_syntax", "", 14, mended_by="unsafe"),
    "A line that was left in the middle": Fault("dcdl_syntax", "", 13),
    "A state without a way out": Fault("non_terminal_without_transition", "check", 9),
    "A merge that was not resolved": Fault("dcdl_syntax", "<<<<<<<", 10),
    "Lines of a diff": Fault("dcdl_syntax", "-", 13, mended_by="unsafe"),
    "A placeholder that was not filled in": Fault("dcdl_syntax", "{{ project }}", 2),
    "JSON in the middle": Fault("dcdl_syntax", ":", 12, errors=4, mended_by="safe"),
    "A file in YAML": Fault("dcdl_syntax", "schema_version", 1),
    "A list of states": Fault("wrong_type", "[…", 4),
    "Fields in square brackets": Fault("dcdl_syntax", "[", 4, mended_by="safe"),
    "A comment of another language": Fault("dcdl_syntax", "//", 3, mended_by="safe"),
    "A truth of another language": Fault("dcdl_evaluation", "True", 16, mended_by="unsafe"),
    "Words of another tool": Fault("unknown_field", "to", 12, errors=4, mended_by="unsafe"),
    "A condition as a statement": Fault("dcdl_syntax", "if", 12),
    "A condition beside its transition": Fault("unknown_field", "condition", 7),
    "States that stand in no `states`": Fault("missing_field", "build", 4),
    "A state that is there twice": Fault("dcdl_evaluation", "check", 16),
    "A state that nothing leads to": Fault("unreachable_state", "publish", 16),
    "A state that was renamed": Fault("initial_not_found", '"build"', 3, errors=2, mended_by="unsafe"),
    "The name of another flow": Fault("name_differs_from_slug", '"nightly"', 2, mended_by="unsafe"),
    "Round and round": Fault("terminal_missing", "states", 4),
    "A part without a way out": Fault("terminal_unreachable", "repair", 16),
    "An end that goes on": Fault("terminal_has_transitions", "transitions", 16),
}


def sources() -> dict[str, str]:
    """Give the sources of the guide by their titles."""
    return {title: found for title, part in re.findall(r"^### (.+)\n((?:(?!^#).*\n)*)", TEXT, re.MULTILINE) for found in examples(part)}


def compiled(source: Source | bytes) -> Compilation:
    return compile_source(source, name=GUIDE_FILE, slug=GUIDE_FILE.removesuffix(".dcdl"))


def test_the_guide_shows_what_is_said_today() -> None:
    assert renewed(TEXT) == TEXT, "run: python docs/diagnostics"


def test_the_guide_has_twenty_flows_and_more_and_each_is_in_the_table() -> None:
    assert 20 <= len(sources()) == len(examples(TEXT))
    assert list(FAULTS) == list(sources())


def test_the_flow_that_they_are_slips_in_is_fine() -> None:
    sound = TEXT.split("```dcdl\n")[1].split("```")[0]
    assert () == compiled(sound.encode()).diagnostics


@pytest.mark.parametrize("title", FAULTS)
def test_the_first_diagnostic_names_the_true_fault(title: str) -> None:
    fault = FAULTS[title]
    first, *others = compiled(sources()[title].encode()).diagnostics
    place = first.primary.place
    at = place.source.slice(place.span)
    assert (fault.code, fault.line) == (first.code, place.source.line_column(place.span.start)[0])
    assert at.startswith(fault.at[:-1]) if fault.at.endswith("…") else at in {fault.at, f"{fault.at}:"}
    assert fault.errors == 1 + len(others)


@pytest.mark.parametrize("title", FAULTS)
def test_fixes_mend_what_the_guide_says_they_do(title: str) -> None:
    before = compiled(sources()[title].encode())
    left = {unsafe: mend(before, compiled, unsafe=unsafe).compilation.diagnostics for unsafe in (False, True)}
    mended_by = "safe" if not left[False] else "unsafe" if not left[True] else None
    assert FAULTS[title].mended_by == mended_by
    prose = TEXT.split(f"### {title}\n")[1].split("\n### ")[0].split("\n## ")[0]
    if "`--fix`" in prose:
        assert "safe" == mended_by
    if "--unsafe-fixes" in prose:
        assert "unsafe" == mended_by


def test_links_of_the_guide_lead_somewhere() -> None:
    assert [] == [each for each in re.findall(r"\]\(([^)#:]+)\)", TEXT) if not (GUIDE.parent / each).exists()]
