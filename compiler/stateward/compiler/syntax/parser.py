"""Text to tree. The only file that knows Lark, which makes the tables of the grammar; `automaton` runs them.

Invariants: `parse` raises on no text; a source without errors has a tree without `Bad` nodes.
"""

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pkgutil import get_data
from typing import Any, Final

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.limits import LIMITS, Limits
from stateward.compiler.source import Source
from stateward.compiler.syntax.automaton import FINISHED, Automaton
from stateward.compiler.syntax.brackets import balance
from stateward.compiler.syntax.builders import Builder
from stateward.compiler.syntax.depth import too_deep_node
from stateward.compiler.syntax.echoes import habits_once, without_echoes
from stateward.compiler.syntax.enclosed import with_braces
from stateward.compiler.syntax.faults import FAULTS_MAX, Fault, too_deep, too_large
from stateward.compiler.syntax.foreign import is_page, kind_of
from stateward.compiler.syntax.leftovers import (
    marks_in_texts,
    without_conflicts,
    without_diff_marks,
    without_line_numbers,
    without_odd_comments,
)
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.loose import braced, seems_loose
from stateward.compiler.syntax.pasted import (
    without_diff_head,
    without_here_texts,
    without_html_comments,
    without_html_quotes,
    without_mail_signs,
)
from stateward.compiler.syntax.recovery import Recovery
from stateward.compiler.syntax.tables import END, TableData, Tables, digest_of, ready
from stateward.compiler.syntax.tokens import Tokens, starts_field
from stateward.compiler.syntax.tree import Bad, Module
from stateward.compiler.syntax.trivia import Trivia

GRAMMAR_FILE: Final = "grammar.lark"
TABLES_FILE: Final = "tables.json"
STARTS: Final = ("lone", "loose")
UTF8_BYTES_MAX: Final = 4
STATES_PER_LEVEL: Final = 30
"""More states than one level of nesting can put on the stack: two for each level of operators and what opens the level."""
_WITHOUT: Final = (
    without_diff_head,
    without_here_texts,
    without_mail_signs,
    without_html_comments,
    without_html_quotes,
    without_conflicts,
    without_diff_marks,
    without_line_numbers,
)
"""What takes away what tools left in a text, in order."""
LARK_REDUCE: Final = 1
"""How Lark tells a reduction in what it serializes; anything else is a step to another state."""


@dataclass(frozen=True, slots=True)
class Parse:
    """What a text came to: its tree, what stands between its tokens, what is wrong with it."""

    module: Module
    trivia: Trivia
    diagnostics: tuple[Diagnostic, ...]


def parse(source: Source, limits: Limits = LIMITS) -> Parse:
    """Parse a text. Whatever it holds, there is an answer; where it is broken, the tree has `Bad` nodes and a diagnostic says why."""
    size_max = limits.module_bytes
    if len(source.text) > size_max // UTF8_BYTES_MAX and source.byte_offset(len(source.text)) > size_max:
        return _refused(source, Trivia(), [too_large(min(len(source.text), size_max), size_max)])
    with _no_collection():
        attempt = _Attempt(source, limits, scan(source.text, limits.nesting))
        module, faults = attempt.plain()
        if faults is None:
            module, faults = attempt.recovered()
    trivia = Trivia(tuple(attempt.tokens.comments))
    if module is None:
        return _refused(source, trivia, faults)
    return Parse(module, trivia, _diagnostics(source, faults))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the collector of cycles from looking at what is made: many nodes and no cycle. A third of the time is saved."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Attempt:
    """One text being parsed: plainly first, which nearly every text passes, then with recovery."""

    def __init__(self, source: Source, limits: Limits, tokens: Tokens) -> None:
        self.source = source
        self.limits = limits
        self.tokens = tokens
        self.stuck = 0
        """The first token that does not fit."""
        self.builder, self.automaton = self._started(tokens, loose=starts_field(tokens.kinds, 0))

    def plain(self) -> tuple[Module | None, list[Fault] | None]:
        """Parse; without an answer to the second part the text is broken."""
        tokens = self.tokens
        if tokens.stopped:
            return None, [tokens.stopped]
        kinds = [*tokens.kinds, END]
        self.stuck = self.automaton.run(kinds, 0)
        if self.automaton.is_too_deep:
            return None, [self._too_deep(self.automaton, tokens)]
        if self.stuck != FINISHED or (tokens.faults and is_page(tokens.text)):
            return None, None
        module: Module = self.automaton.values[-1]
        faults = [*tokens.faults, *self.builder.faults, *self.builder.warnings, *marks_in_texts(tokens)]
        # What lies in so many others had to wait for as many to be complete.
        return self._measured(module, faults) if self.automaton.high_passed else (module, faults)

    def recovered(self) -> tuple[Module | None, list[Fault]]:
        """Parse a broken text as far as it goes."""
        foreign = kind_of(self.tokens, self.stuck)
        if foreign:
            return None, [foreign]
        tokens = self.tokens
        left: list[Fault] = []
        for without in _WITHOUT:
            text, found = without(tokens)
            if found:
                left += found
                tokens = scan(text, self.limits.nesting)
                if tokens.stopped:
                    return None, [tokens.stopped]
        tokens = with_braces(without_odd_comments(tokens))
        balanced = balance(tokens)
        if seems_loose(balanced):
            balanced = braced(balanced)
        if balanced.tokens is not self.tokens or self.automaton.start != STARTS[False]:
            self.builder, self.automaton = self._started(balanced.tokens, loose=False)
            self.stuck = 0
        recovery = Recovery(self.automaton, balanced)
        module = recovery.module(self.stuck)
        if self.automaton.is_too_deep:
            return None, [self._too_deep(self.automaton, balanced.tokens)]
        found = habits_once(without_echoes([*tokens.faults, *balanced.faults, *recovery.faults], balanced.tokens, recovery.left_over))
        found = [*left, *found, *self.builder.faults, *self.builder.warnings, *marks_in_texts(tokens)]
        return self._measured(module, found) if module else (None, found)

    def _started(self, tokens: Tokens, *, loose: bool) -> tuple[Builder, Automaton]:
        tables = _tables()
        builder = Builder(self.source.text, tokens)
        makers = [getattr(builder, alias or "first") for alias in tables.alias]
        nesting = self.limits.nesting
        return builder, Automaton(tables, makers, STARTS[loose], nesting * STATES_PER_LEVEL, high=nesting)

    def _measured(self, module: Module, faults: list[Fault]) -> tuple[Module | None, list[Fault]]:
        """Refuse a tree that is too deep."""
        deep = too_deep_node(module, self.limits.nesting)
        if deep:
            return None, [too_deep(deep.start, deep.end, self.limits.nesting)]
        return module, faults

    def _too_deep(self, automaton: Automaton, tokens: Tokens) -> Fault:
        at = automaton.nesting_passed_at(self.limits.nesting)
        return too_deep(tokens.starts[at], tokens.ends[at], self.limits.nesting)


def _refused(source: Source, trivia: Trivia, faults: list[Fault]) -> Parse:
    whole = Bad(0, len(source.text))
    return Parse(Module(whole.start, whole.end, whole), trivia, _diagnostics(source, faults))


def _diagnostics(source: Source, faults: list[Fault]) -> tuple[Diagnostic, ...]:
    ordered = sorted(faults, key=lambda fault: (fault.start, fault.end))
    left = {False: FAULTS_MAX, True: FAULTS_MAX}  # warnings never crowd out errors
    told = []
    for fault in ordered:
        if left[fault.warning]:
            left[fault.warning] -= 1
            told.append(fault.diagnostic(source))
    return tuple(told)


@cache
def _tables() -> Tables:
    grammar, kept = _read(GRAMMAR_FILE), _read(TABLES_FILE)
    data: TableData = json.loads(kept or "{}")
    if data.get("digest") != digest_of(grammar):
        data = build_tables(grammar)
    return ready(data)


def _read(name: str) -> str:
    found = get_data(__package__, name)
    assert found is not None
    return found.decode()


def build_tables(grammar: str) -> TableData:
    """Have Lark make the tables of a grammar; the states are numbered as `tables` promises."""
    # Loaded here, as the kept tables make it needless at nearly every start.
    from lark import Lark  # noqa: PLC0415 - see above
    from lark.grammar import Rule  # noqa: PLC0415 - see above
    from lark.lexer import Lexer, TerminalDef  # noqa: PLC0415 - see above

    class NoLexer(Lexer):
        def __init__(self, lexer_conf: object) -> None: ...

        def lex(self, lexer_state: object, parser_state: object) -> Any:
            raise NotImplementedError

    lark = Lark(grammar, parser="lalr", lexer=NoLexer, start=list(STARTS))
    data, memo = lark.memo_serialize([TerminalDef, Rule])
    return plain_tables(data["parser"]["parser"], memo, digest_of(grammar))


def plain_tables(made: dict[str, Any], memo: dict[int, Any], digest: str) -> TableData:
    """Take down what Lark serializes to the kept form."""
    names: dict[int, str] = made["tokens"]
    memo_ids = sorted(
        {argument["@"] for row in made["states"].values() for action, argument in row.values() if action == LARK_REDUCE},
        key=lambda number: (memo[number]["origin"]["name"], memo[number]["order"]),
    )
    rule_numbers = {number: place for place, number in enumerate(memo_ids)}
    rows = {
        state: {names[token]: step if step[0] != LARK_REDUCE else (LARK_REDUCE, rule_numbers[step[1]["@"]]) for token, step in row.items()}
        for state, row in made["states"].items()
    }
    order, symbols = _walked(rows, [made["start_states"][start] for start in STARTS])
    place = {state: number for number, state in enumerate(order)}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for state in order:
        steps = {name: ~goal if step == LARK_REDUCE else place[goal] for name, (step, goal) in sorted(rows[state].items())}
        actions.append({name: action for name, action in steps.items() if not name.islower()})
        gotos.append({name: action for name, action in steps.items() if name.islower()})
    rules = [(memo[number]["origin"]["name"], len(memo[number]["expansion"]), memo[number]["alias"]) for number in memo_ids]
    starts = {start: place[made["start_states"][start]] for start in STARTS}
    ends = {start: place[made["end_states"][start]] for start in STARTS}
    return TableData(digest=digest, rules=rules, actions=actions, gotos=gotos, starts=starts, ends=ends, symbols=symbols)


def _walked(rows: dict[int, dict[str, tuple[int, int]]], starts: list[int]) -> tuple[list[int], list[str]]:
    order, symbols = list(starts), [""] * len(starts)
    seen = set(order)
    for state in order:  # grows while it is walked, up to the number of states
        for name, (step, goal) in sorted(rows[state].items()):
            if step != LARK_REDUCE and goal not in seen:
                seen.add(goal)
                order.append(goal)
                symbols.append(name)
    return order, symbols
