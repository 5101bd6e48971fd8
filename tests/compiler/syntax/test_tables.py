"""The tables beside the grammar are those of the grammar, and the automaton takes what Lark's own parser takes."""

import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Token, UnexpectedToken
from lark.exceptions import GrammarError
from lark.lexer import Lexer
from lark.utils import logger as lark_logger

from stateward.compiler.syntax import parser
from stateward.compiler.syntax.builders import Builder
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.tables import ready
from stateward.compiler.syntax.tokens import starts_field
from tests.compiler.dcdl_sources import TOKENS, written
from tests.compiler.syntax.asked import errors

FOLDER = Path(parser.__file__).parent
GRAMMAR = (FOLDER / parser.GRAMMAR_FILE).read_text("utf-8")
KEPT = json.loads((FOLDER / parser.TABLES_FILE).read_text("utf-8"))


class Handed(Lexer):
    """Hands on the tokens of our lexer, by the interface that Lark has for that."""

    def __init__(self, lexer_conf: Any) -> None:
        """Take what Lark says of its terminals, which are ours."""

    def lex(self, text: str) -> Iterator[Token]:  # type: ignore[override] # the interface that Lark calls by default
        """Give the tokens of a text."""
        tokens = scan(text, 500)
        for kind, start, end in zip(tokens.kinds, tokens.starts, tokens.ends, strict=True):
            yield Token(kind, text[start:end], start)


def with_handed(**options: Any) -> Lark:
    """Make Lark's own parser of the grammar."""
    return Lark(GRAMMAR, parser="lalr", lexer=Handed, start=list(parser.STARTS), **options)


def test_the_kept_tables_are_those_of_the_grammar() -> None:
    """After a change of the grammar: `python -m stateward.compiler.syntax`."""
    assert KEPT == json.loads(json.dumps(parser.build_tables(GRAMMAR)))


def test_tables_of_another_grammar_are_made_anew_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {parser.GRAMMAR_FILE: GRAMMAR, parser.TABLES_FILE: '{"digest": "of another"}'}
    monkeypatch.setattr(parser, "_read", kept.__getitem__)
    made = parser._tables.__wrapped__()
    assert ready(KEPT).actions == made.actions


def test_every_alias_of_the_grammar_has_something_that_makes_it_and_nothing_is_left_over() -> None:
    aliases = {alias for _, _, alias in KEPT["rules"] if alias}
    assert aliases == {name for name in vars(Builder) if not name.startswith("_")}


def test_a_rule_without_alias_has_one_symbol() -> None:
    assert [] == [rule for rule in KEPT["rules"] if rule[2] is None and rule[1] != 1]


def conflicts(caplog: pytest.LogCaptureFixture) -> dict[str, set[str]]:
    """Give the shift/reduce conflicts by terminal: the rules that could have ended there."""
    before = lark_logger.level
    lark_logger.addHandler(caplog.handler)
    lark_logger.setLevel(logging.DEBUG)
    try:
        with_handed(debug=True)
    finally:
        lark_logger.removeHandler(caplog.handler)
        lark_logger.setLevel(before)
    found: dict[str, set[str]] = {}
    terminal = ""
    for record in caplog.records:
        message = record.getMessage()
        if message.startswith("Shift/Reduce conflict for terminal "):
            terminal = message.split()[4].rstrip(":")
        elif message.startswith(" * "):
            found.setdefault(terminal, set()).add(message[4:-1])
    return found


LEVELS = {
    "refinement": ("expression", ["AS"]),
    "defaulted": ("refinement", ["DEFAULT"]),
    "merge": ("defaulted", ["MERGE"]),
    "composition": ("merge", ["COMPOSE"]),
    "disjunction": ("composition", ["OR"]),
    "conjunction": ("disjunction", ["AND"]),
    "comparison": ("conjunction", ["EQ", "NE", "LT", "LE", "GT", "GE"]),
    "concatenation": ("comparison", ["CONCAT"]),
    "sum": ("concatenation", ["PLUS", "MINUS"]),
    "product": ("sum", ["TIMES", "DIVIDE"]),
}
"""A level of operators, the looser one whose rules it ends, and its own operators."""


def test_the_conflicts_are_those_where_an_expression_reaches_as_far_as_it_can(caplog: pytest.LogCaptureFixture) -> None:
    """At each operator of a level the level could end, as the last part of a `let` or of a comparison in front. It goes on."""
    expected: dict[str, set[str]] = {}
    for level, (looser, operators) in LEVELS.items():
        ends = {f"{looser} : {level}"} | {f"{looser} : {looser} {each} {level}" for each in LEVELS.get(looser, ("", []))[1]}
        expected |= dict.fromkeys(operators, ends)
    expected["CONCAT"] = expected["CONCAT"] | {f"prefixed : {sign} concatenation" for sign in ("LT", "LE", "GT", "GE")}
    assert expected == conflicts(caplog)


def test_the_grammar_has_no_other_conflict() -> None:
    with pytest.raises(GrammarError, match="Shift/Reduce"):
        with_handed(strict=True)


def larks_word(reference: Lark, text: str) -> bool:
    """Ask Lark's own parser whether it takes a text."""
    start = parser.STARTS[starts_field(scan(text, 500).kinds, 0)]
    try:
        reference.parse(text, start=start)
    except UnexpectedToken:
        return False
    return True


def test_the_automaton_takes_what_larks_parser_takes() -> None:
    reference = with_handed()
    choices = random.Random(7)  # noqa: S311 - no secret
    soups = [" ".join(choices.choices(TOKENS, k=choices.randrange(1, 9))) for _ in range(1_500)]
    texts = [text for text in soups if not scan(text, 500).faults] + [written(seed) for seed in range(200)]
    assert [text for text in texts if larks_word(reference, text)] == [text for text in texts if not errors(text)]
