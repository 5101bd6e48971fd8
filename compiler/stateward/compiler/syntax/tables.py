"""The parser's tables as plain data: how they are kept as JSON and what the automaton needs of them.

Invariants: states are numbered by a walk from the start states in the order of their symbols' names, so equal grammars give equal
tables; `digest` is that of the grammar's text the tables were made from. A pass-on rule (one symbol, no alias) makes no node: a run of
them is taken in one step, whose goal is looked up in `goals` and remembered there.
"""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, TypedDict

END: Final = "$END"
PASS_ON: Final = -10_000
"""Actions at and below this are runs of pass-on rules."""


class TableData(TypedDict):
    """The form kept as JSON. An action is a state to go to (zero and up) or, below zero, a rule to reduce by: `~action`."""

    digest: str
    rules: list[tuple[str, int, str | None]]
    """Left side, length of the right side, alias."""
    actions: list[dict[str, int]]
    """By state: terminal to action."""
    gotos: list[dict[str, int]]
    """By state: rule name to state."""
    starts: dict[str, int]
    ends: dict[str, int]
    """By start rule: the state in which the text may end."""
    symbols: list[str]
    """By state: the symbol that leads into it."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables made ready for the automaton."""

    actions: list[dict[str, int]]
    """As in `TableData`, but a reduction by a pass-on rule is `PASS_ON - n`, n an index into `goals`."""
    gotos: list[dict[str, int]]
    left: list[str]
    size: list[int]
    alias: list[str | None]
    starts: dict[str, int]
    ends: dict[str, int]
    symbols: list[str]
    passes: list[tuple[str, str]] = field(default_factory=list)
    """By n: the rule's left side and the terminal it is reduced at."""
    goals: list[dict[int, int]] = field(default_factory=list)
    """By n: from the state below to the state at which the run ends. Filled as it is used; never larger than the number of states."""

    def goal(self, n: int, below: int) -> int:
        """Find where a run of pass-on rules ends that starts above state `below`, and remember it."""
        left, terminal = self.passes[n]
        state = self.gotos[below][left]
        action = self.actions[state].get(terminal, 0)
        if action <= PASS_ON:
            state = self.goal(PASS_ON - action, below)
        self.goals[n][below] = state
        return state


def digest_of(grammar: str) -> str:
    """Give the digest by which tables know their grammar."""
    return sha256(grammar.encode()).hexdigest()


def ready(data: TableData) -> Tables:
    """Make the tables of the kept form ready for use."""
    left = [rule[0] for rule in data["rules"]]
    size = [rule[1] for rule in data["rules"]]
    alias = [rule[2] for rule in data["rules"]]
    tables = Tables(data["actions"], data["gotos"], left, size, alias, data["starts"], data["ends"], data["symbols"])
    pass_on = {~number for number, name in enumerate(alias) if name is None and size[number] == 1}
    for row in tables.actions:
        for terminal, action in row.items():
            if action in pass_on:
                row[terminal] = PASS_ON - len(tables.goals)
                tables.passes.append((left[~action], terminal))
                tables.goals.append({})
    return tables


def kept_form(data: TableData) -> str:
    """Give the text of the tables file: JSON, a state a line."""
    return json.dumps(data, separators=(",", ":")).replace("},{", "},\n{") + "\n"
