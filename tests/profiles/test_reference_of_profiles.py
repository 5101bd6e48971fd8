"""The reference tells every field of the form as it is."""

from pathlib import Path

import pytest

from stateward.runtime.profile.form import ABOUT_FILE, FIELDS, Field, Flag, ListOf, ListOfCommands, Number, Rule, Text, Word
from stateward.runtime.profile.places import OPERATOR_FILE, WORKSPACES
from stateward.runtime.profile.reading import Read, read_profile
from stateward.runtime.profile.terms import Commands, Value

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "profiles.md").read_text("utf-8")
RULES = {
    Rule.BOTH: "all",
    Rule.LEAST: "least",
    Rule.STRICTEST: "strictest",
    Rule.COMMON: "common",
    Rule.CHOICE: "highest",
    Rule.WHOLE: "verifier",
}


def row(field: Field) -> str:
    return f"| `{field.name}` | {_type(field)} | {_value(field.unsaid)} | {RULES[field.rule]} | {field.doc} |"


def _type(field: Field) -> str:
    match field.type:
        case Flag():
            return "Bool"
        case Number(least=least, most=most):
            return f"{least:,} to {most:,}"
        case Word(words=words):
            return " ".join(f"`{each}`" for each in words)
        case Text(check=check):
            return check.value
        case ListOf(item=Word(words=words)):
            return "list of " + " ".join(f"`{each}`" for each in words)
        case ListOf(item=Text(check=check), first=first):
            return "list: a program and its words" if first is not None else f"list, each {check.value}"
        case ListOfCommands():
            return "list of lists of words"


def _value(value: Value) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case str():
            return f"`{value}`" if value else ""
        case Commands():
            return ""
        case tuple():
            return " ".join(f"`{each}`" for each in value)


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_has_its_row(name: str) -> None:
    assert row(FIELDS[name]) in PAGE


@pytest.mark.parametrize("name", ABOUT_FILE)
def test_each_field_about_the_file_has_its_row(name: str) -> None:
    assert f"| `{name}` | {ABOUT_FILE[name]} |" in PAGE


def test_the_page_has_no_row_for_what_there_is_not() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    named = {line.split("`")[1] for line in rows}
    assert {*FIELDS, *ABOUT_FILE} == named - {"value_not_allowed", "verifier_incomplete"}


def test_the_page_says_where_the_layers_lie() -> None:
    for part in (str(OPERATOR_FILE), f"/{WORKSPACES}/", "/profiles/"):
        assert part in PAGE


def test_the_examples_of_the_page_are_right() -> None:
    examples = [part.split("```")[0] for part in PAGE.split("```dcdl\n")[1:]]
    assert len(examples) > 1
    for example in examples:
        found = read_profile("example.dcdl", example.encode(), with_base=True)
        assert isinstance(found, Read), found
