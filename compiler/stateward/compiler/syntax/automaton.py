"""The LALR automaton: tokens and tables in, nodes out.

Invariants: a node is made the moment its rule is complete, so no other tree exists and nothing recurses; when a token fits no rule the
stacks are those of the longest sound beginning of the text, with every token before it taken.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from stateward.compiler.syntax.tables import PASS_ON, Tables

Maker: TypeAlias = Callable[..., Any]
FINISHED: Final = -1


@dataclass(slots=True)
class Stacks:
    """Where the automaton stands: the states, and above the first of them the value that led into each."""

    states: list[int]
    values: list[Any] = field(default_factory=list)


def run(tables: Tables, makers: list[Maker | None], stacks: Stacks, end: int, kinds: list[str], at: int) -> int:
    """Take tokens from number `at` on until one does not fit (its number is returned) or the text ends soundly (`FINISHED`).

    `kinds` ends in `$END`; `end` is the state in which the text may end; `makers` are by rule.
    """
    states, values = stacks.states, stacks.values
    actions, gotos, left, size, goals = tables.actions, tables.gotos, tables.left, tables.size, tables.goals
    state = states[-1]
    kind = kinds[at]
    row = actions[state]
    while kind in row:
        action = row[kind]
        if action >= 0:
            states.append(action)
            values.append(at)
            at += 1
            kind = kinds[at]
            state = action
            row = actions[state]
            continue
        if action <= PASS_ON:
            number = PASS_ON - action
            below = states[-2]
            state = goals[number].get(below, -1)
            if state < 0:
                state = tables.goal(number, below)
            states[-1] = state
            row = actions[state]
            continue
        rule = ~action
        count = size[rule]
        maker = makers[rule]
        assert maker is not None
        arguments = values[-count:]
        del values[-count:], states[-count:]
        values.append(maker(*arguments))
        state = gotos[states[-1]][left[rule]]
        states.append(state)
        row = actions[state]
    return FINISHED if state == end else at
