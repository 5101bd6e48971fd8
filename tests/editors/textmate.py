"""A small interpreter of TextMate grammars: what an editor does with one, over the expressions of Python.

It knows `match`, `begin`, `end`, `name`, `captures`, `beginCaptures`, `endCaptures`, `patterns` and `include`, lines one at a time with
their line end, and captures that have patterns of their own; a grammar with anything else is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

KNOWN: Final = {"match", "begin", "end", "name", "captures", "beginCaptures", "endCaptures", "patterns", "include"}
STEPS_MAX: Final = 100
"""Rules that may be begun and ended at one place of a text without a step on."""

Rule = dict[str, Any]


class UnknownRuleError(Exception):
    """A rule has a key that is not known here."""


@cache
def expression(text: str) -> re.Pattern[str]:
    """Compile an expression of a grammar."""
    return re.compile(text, re.MULTILINE)


def rules(value: object) -> Iterator[Rule]:
    """Go through all rules of a grammar, at any depth."""
    match value:
        case dict():
            if value.keys() & {"match", "begin", "include"}:
                yield value
            for each in value.values():
                yield from rules(each)
        case list():
            for each in value:
                yield from rules(each)


@dataclass
class Interpreter:
    """Gives each character of a text the innermost scope that a grammar has for it."""

    grammar: dict[str, Any]
    scopes: list[str] = field(default_factory=list)
    found: dict[str, re.Match[str] | None] = field(default_factory=dict)
    """What each expression found last in the present line; what lies ahead need not be looked for again."""

    def __post_init__(self) -> None:
        for rule in rules(self.grammar):
            if rule.keys() - KNOWN - {"repository", "scopeName", "fileTypes", "$comment"}:
                raise UnknownRuleError(f"{sorted(rule)}")

    def colour(self, text: str) -> list[str]:
        """Give a scope for each character; an empty one where the grammar has none."""
        self.scopes = [""] * len(text)
        stack: list[Rule] = []
        offset = 0
        for line in re.findall(r"[^\n]*\n|[^\n]+", text):
            self._line(line, offset, stack)
            offset += len(line)
        return self.scopes

    def _line(self, line: str, offset: int, stack: list[Rule]) -> None:
        at = steps = 0
        self.found = {}
        while at <= len(line):
            inside = stack[-1] if stack else {"patterns": self.grammar["patterns"]}
            rule, found = self._first(inside, line, at)
            if found is None:
                self._paint(offset + at, offset + len(line), inside.get("name"))
                return
            self._paint(offset + at, offset + found.start(), inside.get("name"))
            self._paint(offset + found.start(), offset + found.end(), (rule or inside).get("name"))
            steps = 0 if found.end() > at else steps + 1
            assert steps < STEPS_MAX, f"no step on at {at} of {line!r}"
            if rule is None:
                self._captures(inside.get("endCaptures", inside.get("captures", {})), found, offset)
                stack.pop()
            elif "begin" in rule:
                self._captures(rule.get("beginCaptures", rule.get("captures", {})), found, offset)
                stack.append(rule)
            else:
                assert found.end() > found.start(), f"{rule['match']} matches nothing at {at} of {line!r}"
                self._captures(rule.get("captures", {}), found, offset)
            at = found.end()

    def _first(self, inside: Rule, line: str, at: int) -> tuple[Rule | None, re.Match[str] | None]:
        """Find what comes first: the end of the present rule before others at the same place, then in the order of the grammar."""
        best: tuple[Rule | None, re.Match[str] | None] = (None, self._search(inside["end"], line, at) if "end" in inside else None)
        for rule in self._flat(inside.get("patterns", [])):
            found = self._search(rule.get("match") or rule["begin"], line, at)
            if found and (best[1] is None or found.start() < best[1].start()):
                best = (rule, found)
        return best

    def _search(self, text: str, line: str, at: int) -> re.Match[str] | None:
        if text not in self.found or ((last := self.found[text]) and last.start() < at):
            self.found[text] = expression(text).search(line, at)
        return self.found[text]

    def _flat(self, patterns: list[Rule]) -> Iterator[Rule]:
        for rule in patterns:
            if "include" in rule:
                yield from self._flat([self.grammar["repository"][rule["include"].removeprefix("#")]])
            elif "match" in rule or "begin" in rule:
                yield rule
            else:
                yield from self._flat(rule["patterns"])

    def _captures(self, captures: dict[str, Rule], found: re.Match[str], offset: int) -> None:
        for group, rule in captures.items():
            start, end = found.span(int(group))
            if start == end:
                continue
            self._paint(offset + start, offset + end, rule.get("name"))
            if "patterns" in rule:
                self._inner(rule, found[int(group)], offset + start)

    def _inner(self, rule: Rule, text: str, offset: int) -> None:
        inner = Interpreter({"patterns": rule["patterns"], "repository": self.grammar["repository"]})
        for at, scope in enumerate(inner.colour(text)):
            self._paint(offset + at, offset + at + 1, scope)

    def _paint(self, start: int, end: int, scope: str | None) -> None:
        if scope:
            self.scopes[start:end] = [scope] * (end - start)
