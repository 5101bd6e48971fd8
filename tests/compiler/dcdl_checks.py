"""What holds of every text that is parsed and of every text that is formatted; asked by properties and by the fuzzer."""

from stateward.compiler.diagnostics.model import Diagnostic, Severity
from stateward.compiler.formatting.printer import format_source
from stateward.compiler.source import Source
from stateward.compiler.syntax.faults import FAULTS_MAX
from stateward.compiler.syntax.parser import Parse, parse
from stateward.compiler.syntax.tree import Bad
from tests.compiler.dcdl_trees import nodes, parts, shape


def check_parse(text: str) -> Parse:
    """Parse a text: spans lie in it and nest, diagnostics are in order and well worded, and what is broken has its reason."""
    source = Source.from_text("main.dcdl", text)
    found = parse(source)
    _check_tree(source, found)
    for diagnostic in found.diagnostics:
        _check_diagnostic(source, diagnostic)
    spans = [each.primary.place.span for each in found.diagnostics]
    assert spans == sorted(spans)
    assert len(spans) <= 2 * FAULTS_MAX
    done = 0
    for comment in found.trivia.comments:
        assert done <= comment.start < comment.end
        assert source.text[comment.start] == "#"
        done = comment.end
    return found


def _check_tree(source: Source, found: Parse) -> None:
    assert 0 <= found.module.start <= found.module.end <= len(source.text)
    has_bad = False
    for node in nodes(found.module):
        assert node.start <= node.end, node
        for part in parts(node):
            assert node.start <= part.start, (node, part)
            assert part.end <= node.end, (node, part)
        has_bad = has_bad or isinstance(node, Bad)
    assert not has_bad or any(each.severity is Severity.ERROR for each in found.diagnostics)


def _check_diagnostic(source: Source, diagnostic: Diagnostic) -> None:
    for label in (diagnostic.primary, *diagnostic.secondary):
        assert label.place.source is source
        assert label.place.span.end <= len(source.text)
    for fix in diagnostic.fixes:
        assert all(edit.span.end <= len(source.text) for edit in fix.edits)
        assert any(edit.replacement != source.slice(edit.span) for edit in fix.edits)
    message = diagnostic.message
    assert not message.endswith("."), message
    assert message.startswith(("U+", "Int", "Float")) or not message[0].isupper(), message
    assert diagnostic.primary.text


def check_format(text: str) -> None:
    """Format a text: broken ones are refused; others keep their tree and comments, and formatting again changes nothing."""
    source = Source.from_text("main.dcdl", text)
    before = parse(source)
    made = format_source(source)
    errors = tuple(each for each in before.diagnostics if each.severity is Severity.ERROR)
    if errors or not isinstance(made, str):
        assert errors == made
        return
    again = Source.from_text("again.dcdl", made)
    after = parse(again)
    assert not any(each.severity is Severity.ERROR for each in after.diagnostics), made
    assert shape(before.module) == shape(after.module)
    assert comments(source, before) == comments(again, after)
    assert made == format_source(again)
    assert made.endswith("\n")
    assert not made.startswith("\n")


def comments(source: Source, found: Parse) -> list[str]:
    """Give the comments of a text, without the CR of a line end."""
    return [source.text[each.start : each.end].rstrip("\r") for each in found.trivia.comments]
