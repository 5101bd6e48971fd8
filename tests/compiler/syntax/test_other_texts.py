"""Texts that are no DCDL at all have one fault, whatever they hold."""

import pytest

from tests.compiler.syntax.asked import errors

JSON = '{\n  "name": "x",\n  "states": [{"id": 1, "next": null}, {"id": 2}]\n}\n'
BROKEN_JSON = '{\n  "name": "x",\n  // note\n  "states": [1, 2,],\n}\n'
MARKDOWN = """\
# Review

This flow doesn't start before the text is "done"; see [the guide](guide.md).

- write it,
- read it: twice.

```dcdl
states = { a = { terminal = true; }; };
```
"""
LIST = "* one item here is enough\n* another item is not needed at all\n"
PROSE = "Dear reader, this is a text that says nothing of states.\nIt's here by mistake (and so are you).\n"
YAML = "name: review\nstates:\n  - id: draft\n    next: check\n"
TOML = "# about\ntitle = 'x'\nsince = 2020-01-01\n\n[owner]\nname = \"me\"\n"
HTML = '<!DOCTYPE html>\n<html lang="en"><body class="x">Hello</body></html>\n'
BINARY = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x03\x00>\x00" + "\x00\x01\x02{[(" * 50


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (JSON, "this is JSON and no DCDL"),
        (BROKEN_JSON, "this is JSON and no DCDL"),
        ('[{"a": 1}, {"b": 2}]', "this is JSON and no DCDL"),
        (MARKDOWN, "this is Markdown and no DCDL"),
        (LIST, "this is Markdown and no DCDL"),
        (PROSE, "this is prose and no DCDL"),
        (YAML, "this is YAML and no DCDL"),
        ("---\nname: x\n", "this is YAML and no DCDL"),
        (TOML, "this is TOML or INI and no DCDL"),
        ("[a]\nb = 1\n", "this is TOML or INI and no DCDL"),
        ("[flow]\nname=x\n", "this is TOML or INI and no DCDL"),
        ("a = 1\n[[b.c-d]] # more\ne = 2\n", "this is TOML or INI and no DCDL"),
        ("<html></html>", "this is markup and no DCDL"),
        ("<p>text</p>", "this is markup and no DCDL"),
        (HTML, "this is markup and no DCDL"),
        (BINARY, "this is binary data and no DCDL"),
        ("", "an expression is missing"),
        ("  \n# only a comment\n", "an expression is missing"),
    ],
)
def test_a_text_of_another_kind_has_one_fault(text: str, message: str) -> None:
    assert [message] == [each.message for each in errors(text)]


@pytest.mark.parametrize(
    "text",
    [
        '[1, 2, "x", true]',
        '"just a text"',
        "{}",
        '{ "a" = 1; }',
        'name = "x"; # a: b\ntext = "\n```\ncode\n```\n# Title\n- item\n";',
    ],
)
def test_what_is_both_is_dcdl(text: str) -> None:
    assert [] == errors(text)


@pytest.mark.parametrize(
    "text",
    [
        'name: "x"; states = {};',
        '{ "a": 1; "b" = 2; }',
        'a = "one\n two three four five six seven eight";\nb = c d e f g h i j k;\n',
        "a = [\n[x]\n[y]\n]\nb = 1 2",
        "states = { a = { instructions = words that lost their quotes are many words here; }; };",
    ],
)
def test_dcdl_with_a_slip_is_still_dcdl(text: str) -> None:
    assert [] == [each.message for each in errors(text) if "no DCDL" in each.message]


@pytest.mark.parametrize("text", [JSON, YAML, TOML, HTML])
def test_a_format_that_is_often_mistaken_for_dcdl_has_a_remedy(text: str) -> None:
    (found,) = errors(text)
    assert found.help is not None
