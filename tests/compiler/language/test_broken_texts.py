"""Evaluating what a broken text leaves: what only follows from the broken part is not told, what stands by itself is."""

import pytest

from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse


def faults(text: str) -> list[str]:
    """Give the faults that the evaluation finds beyond those of the parser."""
    source = Source.from_text("main.dcdl", text)
    parsed = parse(source)
    assert parsed.diagnostics, "the text is sound"
    evaluation = Evaluation(source, parsed.module)
    evaluation.data(evaluation.root)
    return [f"{each.kind}: {each.message}" for each in evaluation.diagnostics]


@pytest.mark.parametrize(
    "text",
    [
        "{ , = 1; }",
        "{ a = { , = 1; }; a.c = 2; }",
        "{ = 1; }.a",
        "{ = 1; } as { a = Int; }",
        "= 1; b = a + 1;",
        "a , = 1; b = a + 1;",
        "a , = 1; b = { c = a; };",
        "[...]",
        "{...}",
        "let f = (x) => x; in f(1,)",
        "let f = (x, y) => x; in f(1,, 2)",
        "[1,, 2] as [Int, Int]",
        "[1, 2] as [Int,, Int]",
        "[1 2] as [Int]",
        "let x , = 1; y = 2; in x + y",
        "let code-review = 1; in code-review",
        "code-review = 1; b = code-review;",
        "a , = 1; b , = 2; c = [a, b];",
        "let a: Int = 1; in a",
        "((x? ) => x + 1)(2)",
        "let f = (if x) => x; in f(1)",
        "let f = (x) => x; in f(if 1)",
        "let f = (x = 1) => x; in f()",
        "match 1 { = 1: 2; }",
        "(match 1 { 1 2: 3; 1: Int; }) + 1",
        "{ = 1; a = 1; ...Int }.c",
        "(0 | 1) + true",
        "[1..3]",
        "let x = 1; = 2; in x + y",
        "let 1 = 1; in x",
        "let x = 1+ y = 2; in x + y",
        "a = 1 + b = 2; c = b;",
        "let let = 1; in x",
        "let x = 1( ; in x",
        "let y = 2; in y + [",
    ],
)
def test_what_only_follows_from_a_broken_part_is_not_told(text: str) -> None:
    assert [] == faults(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ , = 1; b = nope; }", "unresolved_identifier: `nope` is not defined"),
        ("a , = 1; b = nope;", "unresolved_identifier: `nope` is not defined"),
        ("let f = (x) => x; in { a = ; b = f(1, 2); }", "type_mismatch: the function takes 1 argument, not 2"),
        ("{ a = ; b = [1] as [Int, Int]; }", "constraint_violation: the Array has 1 item, not 2 items"),
        ("{ a = ; b = Int; }", "materialize: `b` has no value and no default"),
        ("let x , = 1; in y", "unresolved_identifier: `y` is not defined"),
        ("match 1 { 1: nope; = 1: 2; }", "unresolved_identifier: `nope` is not defined"),
        ("1 \uff0b true", "type_mismatch: arithmetic needs numbers, and this is the Bool `true`"),
    ],
)
def test_what_stands_by_itself_is_told_beside_a_broken_part(text: str, expected: str) -> None:
    assert [expected] == faults(text)
