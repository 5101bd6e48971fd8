"""Every code has a page, and what the page shows is what happens."""

import re
from pathlib import Path

import pytest

from docs.diagnostics.__main__ import HERE, documents
from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.diagnostics.pages import FOLDER, Example, page_of, parsed
from stateward.compiler.limits import FLOW_LIMITS
from stateward.compiler.pipeline import compile_source


def found_in(example: Example) -> tuple[Diagnostic, ...]:
    slug = example.file.removesuffix(".dcdl")
    return compile_source(example.data, name=example.file, slug=slug, limits=example.limits).diagnostics


def test_there_is_a_page_for_each_registered_code_and_no_other() -> None:
    assert sorted(CODES) == sorted(path.stem for path in FOLDER.iterdir())


@pytest.mark.parametrize("code", CODES)
def test_the_source_that_fails_has_this_fault_and_no_other(code: str) -> None:
    assert [(code, CODES[code].severity)] == [(each.code, each.severity) for each in found_in(page_of(code).fails)]


@pytest.mark.parametrize("code", CODES)
def test_the_source_that_passes_has_no_fault(code: str) -> None:
    assert () == found_in(page_of(code).passes)


@pytest.mark.parametrize("code", CODES)
def test_a_page_names_the_limit_that_its_examples_are_checked_with_where_it_is_not_the_real_one(code: str) -> None:
    page = page_of(code)
    assert page.fails.limits == page.passes.limits
    assert (page.fails.limits != FLOW_LIMITS) == ("is checked with a limit of" in page.meaning)


@pytest.mark.parametrize("code", CODES)
def test_a_page_explains_in_sentences(code: str) -> None:
    page = page_of(code)
    for text in (page.meaning, page.change):
        for paragraph in text.split("\n\n"):
            assert paragraph.endswith((".", "`"))
            assert paragraph[0].isupper() or paragraph.startswith("`")
        assert not set(re.findall(r"\w+", text.lower())) & {"illegal", "please", "you", "your", "simply"}


def test_the_documentation_is_what_is_made_of_the_pages() -> None:
    written = {path.name: path.read_text("utf-8") for path in HERE.glob("*.md")}
    assert sorted(documents()) == sorted(written)
    assert [] == [name for name, text in documents().items() if written[name] != text], "run: python docs/diagnostics"


def test_a_page_without_its_parts_is_no_page() -> None:
    whole = (FOLDER / "wrong_type.md").read_text("utf-8")
    for part in ("# wrong_type\n", "## Fails\n", "## Passes\n", "## What to change\n"):
        with pytest.raises(ValueError, match="does not have the form of a page"):
            parsed("wrong_type", whole.replace(part, "## Other\n"))
    with pytest.raises(ValueError, match="does not have the form of a page"):
        parsed("unknown_field", whole)
    with pytest.raises(ValueError, match="an example says colour"):
        parsed("wrong_type", whole.replace("```dcdl\n", "```dcdl colour=3\n"))


def test_links_between_the_documents_lead_somewhere() -> None:
    for name, text in documents().items():
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert (HERE / target).resolve().exists() or Path(target).name in documents(), f"{name} links to {target}"
