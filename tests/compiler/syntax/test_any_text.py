"""Properties of any text: it parses without an exception, spans lie inside of it and nest, and what is broken is said to be."""

from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.diagnostics.model import Diagnostic, Severity
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import Parse, parse
from stateward.compiler.syntax.tree import Bad
from tests.compiler.dcdl_sources import damaged_sources, sources, token_soups, written
from tests.compiler.dcdl_trees import nodes, parts
from tests.compiler.syntax.asked import errors, mended


def check(text: str) -> Parse:
    """Parse a text, and check what holds of every parse."""
    source = Source.from_text("main.dcdl", text)
    found = parse(source)
    check_tree(source, found)
    for diagnostic in found.diagnostics:
        check_diagnostic(source, diagnostic)
    assert list(found.diagnostics) == sorted(found.diagnostics, key=lambda each: each.primary.place.span)
    ends = [0, *(comment.end for comment in found.trivia.comments)]
    assert all(before <= comment.start < comment.end for before, comment in zip(ends, found.trivia.comments, strict=False))
    return found


def check_tree(source: Source, found: Parse) -> None:
    """Check that the nodes of a tree lie in the text and in each other, and that a bad one has its reason."""
    assert 0 <= found.module.start <= found.module.end <= len(source.text)
    for node in nodes(found.module):
        assert node.start <= node.end
        assert [] == [part for part in parts(node) if not (node.start <= part.start and part.end <= node.end)]
    is_broken = any(each.severity is Severity.ERROR for each in found.diagnostics)
    assert is_broken or not any(isinstance(node, Bad) for node in nodes(found.module))


def check_diagnostic(source: Source, diagnostic: Diagnostic) -> None:
    """Check that a diagnostic keeps to the text and to the rules of wording."""
    for label in (diagnostic.primary, *diagnostic.secondary):
        assert label.place.source is source
        assert label.place.span.end <= len(source.text)
    for fix in diagnostic.fixes:
        assert all(edit.span.end <= len(source.text) for edit in fix.edits)
        assert mended(source.text, fix) != source.text
    assert not diagnostic.message.endswith(".")
    assert not diagnostic.message[0].isupper() or diagnostic.message.startswith("U+")
    assert diagnostic.primary.text


@given(st.text())
@settings(deadline=None)
def test_any_text_parses(text: str) -> None:
    check(text)


@given(token_soups())
@settings(deadline=None, max_examples=300)
def test_tokens_in_any_order_parse(text: str) -> None:
    check(text)


@given(damaged_sources())
@settings(deadline=None, max_examples=60)
def test_damaged_sources_parse(text: str) -> None:
    check(text)


@given(st.binary())
@settings(deadline=None)
def test_bytes_read_in_any_encoding_parse(data: bytes) -> None:
    check(data.decode("latin-1"))
    check(data.decode("utf-8", "surrogateescape"))


@given(sources())
@settings(deadline=None, max_examples=60)
def test_what_the_grammar_writes_has_no_errors(text: str) -> None:
    assert [] == errors(text)
    check(text)


@given(st.integers(0, 10**9))
@settings(deadline=None, max_examples=200)
def test_long_sources_have_no_errors(seed: int) -> None:
    assert [] == errors(written(seed))
