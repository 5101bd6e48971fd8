"""The LALR automaton: tokens and tables in, nodes out.

Invariants: a node is made the moment its rule is complete, so no other tree exists and nothing recurses; when a token fits no rule the
stacks are those of the longest sound beginning of the text, with every token before it taken.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from stateward.compiler.syntax.tables import PASS_ON, Tables

Maker: TypeAlias = Callable[..., Any]
FINISHED: Final = -1
_NESTING: Final = frozenset({"LBRACE", "LSQB", "LPAR", "LPARAMS", "LET", "MATCH", "ARROW"})
_SIGNS: Final = frozenset({"MINUS", "NOT", "LT", "LE", "GT", "GE"})
"""Signs nest where no operand stands before them."""


@dataclass(slots=True)
class Automaton:
    """Tables, what the rules make, and the stacks."""

    tables: Tables
    makers: list[Maker]
    """By rule; what stands at a rule that only passes a value on is never called."""
    start: str
    stack_max: int
    """States that may lie on the stack; at one more `run` stops as if the token did not fit."""
    high: int
    """Height of the stack above which it is remembered to have been `high_passed`."""
    high_passed: bool = False
    states: list[int] = field(init=False)
    values: list[Any] = field(default_factory=list)
    """What led into each state but the first: a token's number or what a rule made."""

    def __post_init__(self) -> None:
        self.states = [self.tables.starts[self.start]]

    @property
    def is_too_deep(self) -> bool:
        """Whether `run` stopped because the stack is full."""
        return len(self.states) > self.stack_max

    def run(self, kinds: list[str], at: int) -> int:
        """Take tokens from number `at` on until one does not fit (its number is returned) or the text ends soundly (`FINISHED`).

        `kinds` ends in `$END`.
        """
        states, values, makers, tables = self.states, self.values, self.makers, self.tables
        actions, gotos, left, size, goals = tables.actions, tables.gotos, tables.left, tables.size, tables.goals
        height_max = self.stack_max if self.high_passed else self.high
        state = states[-1]
        kind = kinds[at]
        row = actions[state]
        while kind in row:
            action = row[kind]
            if action >= 0:
                states.append(action)
                if len(states) > height_max:
                    self.high_passed, height_max = True, self.stack_max
                    if len(states) > height_max:
                        return at
                values.append(at)
                at += 1
                kind = kinds[at]
                state = action
            elif action <= PASS_ON:
                below = states[-2]
                state = goals[PASS_ON - action].get(below) or tables.goal(PASS_ON - action, below)
                states[-1] = state
            else:
                rule = ~action
                count = size[rule]
                # Most rules have one symbol or three: taking those apart by hand saves a quarter of the time of the whole loop.
                if count == 1:
                    values[-1] = makers[rule](values[-1])
                elif count == 3:
                    third, second = values.pop(), values.pop()
                    values[-1] = makers[rule](values[-1], second, third)
                    del states[-2:]
                else:
                    arguments = values[-count:]
                    del values[1 - count :], states[1 - count :]
                    values[-1] = makers[rule](*arguments)
                state = gotos[states[-2]][left[rule]]
                states[-1] = state
            row = actions[state]
        return FINISHED if state == tables.ends[self.start] else at

    def feed(self, kind: str, value: Any) -> None:
        """Take one token that is not in the text, and which fits."""
        stand_in = [kind, ""]
        at = self.run(stand_in, 0)
        assert at == 1, "a token that does not fit"
        self.values[-1] = value

    def accepts(self, kinds: Iterable[str], dropped: int = 0) -> bool:
        """Tell whether tokens of these kinds would fit, one after the other, with that many states taken off the stack first."""
        states = self.states[: len(self.states) - dropped]
        return all(self._step(states, kind) for kind in kinds)

    def nesting_passed_at(self, limit: int) -> int:
        """Give the number of the token at which more than `limit` brackets, signs and bodies lie in each other on the stack."""
        symbols = self.tables.symbols
        depth = last = 0
        below = ""
        for state, value in zip(self.states[1:], self.values, strict=False):
            symbol = symbols[state]
            if symbol in _NESTING or (symbol in _SIGNS and not below.islower()):
                depth, last = depth + 1, value
                if depth > limit:
                    break
            below = symbol
        return last

    def _step(self, states: list[int], kind: str) -> bool:
        tables = self.tables
        while True:
            action = tables.actions[states[-1]].get(kind)
            if action is None:
                return kind == "$END" and states[-1] == tables.ends[self.start]
            if action >= 0:
                states.append(action)
                return True
            if action <= PASS_ON:
                states[-1] = tables.goal(PASS_ON - action, states[-2])
            else:
                del states[-tables.size[~action] :]
                states.append(tables.gotos[states[-1]][tables.left[~action]])
