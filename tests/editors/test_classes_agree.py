"""The language, the TextMate grammar and Pygments give one class to each character of every source that there is to try.

What is not compared, and why:

* Line ends: an editor keeps them out of its lines, and no class can be seen on them.
* White space that belongs to no part of the language: inside of a foreign comment the grammar marks it as well, since it marks the whole.
* What follows the quote of a string that is never closed: the language looks for the quote that was left out and goes on after it, and a
  grammar cannot look back.
* What follows the first 20,000 characters: the sources at the limits of the language are made of one part said over and over, and an
  editor does not colour longer lines. The cut source is one that all three read; where the cut opened a string, see above.
"""

import json
import re
from pathlib import Path

import pytest
from pygments.token import Whitespace

from stateward.compiler.source import BYTE_ORDER_MARK, Source
from stateward.compiler.syntax.highlighting import TokenClass, classes
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.pygments_lexer import TOKEN_TYPES, DcdlLexer
from tests.conformance.cases import read_cases
from tests.editors.textmate import Interpreter, UnknownRuleError, expression, rules

ROOT = Path(__file__).resolve().parents[2]
CONFORMANCE = ROOT / "tests" / "conformance"
GRAMMAR = json.loads((ROOT / "editors" / "vscode" / "syntaxes" / "dcdl.tmLanguage.json").read_text("utf-8"))
COMPARED_MAX = 20_000
SCOPES = {
    "comment.line.number-sign": TokenClass.COMMENT,
    "constant.character.escape": TokenClass.ESCAPE,
    "constant.language.boolean": TokenClass.BOOLEAN,
    "constant.numeric": TokenClass.NUMBER,
    "invalid.illegal": TokenClass.INVALID,
    "invalid.illegal.escape": TokenClass.INVALID,
    "keyword.control": TokenClass.KEYWORD,
    "keyword.control.wildcard": TokenClass.KEYWORD,
    "keyword.operator": TokenClass.OPERATOR,
    "punctuation": TokenClass.PUNCTUATION,
    "string.quoted.double": TokenClass.STRING,
    "string.regexp": TokenClass.PATTERN,
    "support.type": TokenClass.TYPE,
    "variable.other": TokenClass.NAME,
    "variable.other.property": TokenClass.FIELD,
}
"""Each scope of the grammar, without the name of the language, and its class."""
ONLY_PYTHON = re.compile(r"\(\?[^:=!<]|\(\?<[^=!]|\\[AZzGhHkKpPuUxQER](?![0-9a-f]{4})|[*+?}][+]")
"""What means one thing to Python, another to JavaScript or to the expressions of editors."""
SOURCES = [
    *(
        (case.id, case.source)
        for path in ("dcdl/eval", "dcdl/format", "flow/compile")
        for case in read_cases(CONFORMANCE / f"{path}.jsonl")
    ),
    *(
        (f"{case.id}:{name}", text)
        for case in read_cases(CONFORMANCE / "dcdl/eval.jsonl")
        for name, text in case.fields.get("files", {}).items()
    ),
    *((path.name, path.read_text("utf-8")) for path in sorted((ROOT / "resources").rglob("*.dcdl"))),
]


def of_language(text: str) -> list[str]:
    given: list[str] = [""] * len(text)
    for start, end, told in classes(text):
        given[start:end] = [told] * (end - start)
    return given


def of_pygments(text: str) -> list[str]:
    names: dict[object, str] = {kind: told for told, kind in TOKEN_TYPES.items()} | {Whitespace: ""}
    marked = BYTE_ORDER_MARK + text  # so that no other mark is taken for the one that is no part of a source
    return [names[kind] for _, kind, value in DcdlLexer().get_tokens_unprocessed(marked) for _ in value][1:]


def of_grammar(text: str) -> list[str]:
    scopes = Interpreter(GRAMMAR).colour(text)
    return [SCOPES[scope.removesuffix(".dcdl")] if scope else "" for scope in scopes]


def compared(text: str, told: list[str]) -> list[int]:
    """Give the places at which the grammar is held against the language."""
    tokens = scan(text, len(text) + 1)
    end = tokens.starts[-1] if tokens.unclosed else len(text)
    return [at for at in range(end) if text[at] not in "\r\n" and (told[at] or text[at] not in " \t")]


@pytest.mark.parametrize(("name", "whole"), SOURCES, ids=[name for name, _ in SOURCES])
def test_a_source_has_the_same_classes_everywhere(name: str, whole: str) -> None:
    text = Source.from_text(name, whole).text[:COMPARED_MAX]
    told, drawn = of_language(text), of_grammar(text)
    assert told == of_pygments(text)
    assert [] == [(at, text[at : at + 20], told[at], drawn[at]) for at in compared(text, told) if told[at] != drawn[at]]


def test_the_sources_show_every_class() -> None:
    assert set(TokenClass) == {told for _, text in SOURCES for *_, told in classes(text[:COMPARED_MAX])}


def test_three_whole_sources_and_no_more_are_not_compared_to_their_end() -> None:
    told = {name: of_language(text) for name, text in SOURCES if len(text) <= COMPARED_MAX}
    seen = {name: len(compared(text, told[name])) for name, text in SOURCES if name in told}
    whole = {
        name: sum(bool(each) and char not in "\r\n" for char, each in zip(text, told[name], strict=True))
        for name, text in SOURCES
        if name in told
    }
    assert ["lexical/string-7", "lexical/string-8", "spans/end_of_file-3"] == sorted(name for name in told if seen[name] < whole[name])


def test_every_expression_of_the_grammar_means_the_same_to_python_and_to_editors() -> None:
    found = [rule[key] for rule in rules(GRAMMAR) for key in ("match", "begin", "end") if key in rule]
    assert 30 < len(found)
    for text in found:
        expression(text)
        assert ONLY_PYTHON.search(text) is None, text


def test_every_include_of_the_grammar_is_there_and_every_part_is_included() -> None:
    included = {rule["include"].removeprefix("#") for rule in rules(GRAMMAR) if "include" in rule}
    assert included == GRAMMAR["repository"].keys()


def test_the_interpreter_refuses_a_rule_that_it_does_not_know() -> None:
    with pytest.raises(UnknownRuleError):
        Interpreter({"patterns": [{"begin": "a", "while": "b"}]})
