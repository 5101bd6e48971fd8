"""Text to tree. The only file that knows Lark, which makes the tables of the grammar; `automaton` runs them.

Invariants: `parse` raises on no text; a source without errors has a tree without `Bad` nodes.
"""

import json
from dataclasses import dataclass
from functools import cache
from pkgutil import get_data
from typing import Any, Final

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.limits import LIMITS, Limits
from stateward.compiler.source import Place, Source, Span
from stateward.compiler.syntax.automaton import FINISHED, Stacks, run
from stateward.compiler.syntax.builders import Builder
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.tables import END, TableData, Tables, digest_of, ready
from stateward.compiler.syntax.tree import Bad, Module
from stateward.compiler.syntax.trivia import Trivia

GRAMMAR_FILE: Final = "grammar.lark"
TABLES_FILE: Final = "tables.json"
STARTS: Final = ("lone", "loose")
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
    tables = _tables()
    tokens = scan(source.text)
    tokens.kinds.append(END)
    builder = Builder(source.text, tokens)
    makers = [getattr(builder, alias) if alias else None for alias in tables.alias]
    start = "loose" if _is_loose(tokens.kinds) else "lone"
    stacks = Stacks([tables.starts[start]])
    at = run(tables, makers, stacks, tables.ends[start], tokens.kinds, 0)
    trivia = Trivia(tuple(tokens.comments))
    if at == FINISHED:
        return Parse(stacks.values[-1], trivia, ())
    span = Span(tokens.starts[at], tokens.ends[at]) if at < len(tokens.starts) else source.end
    fault = Diagnostic(
        "dcdl_syntax", Severity.ERROR, "this is not DCDL from here on", Label(Place(source, span), "not expected here"), kind="syntax"
    )
    whole = Span(0, len(source.text))
    return Parse(Module(whole.start, whole.end, Bad(whole.start, whole.end)), trivia, (fault,))


def _is_loose(kinds: list[str]) -> bool:
    at = 0
    while kinds[at] in {"NAME", "STRING"}:
        if kinds[at + 1] != "DOT":
            return kinds[at + 1] == "EQUAL"
        at += 2
    return False


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
    from lark import Lark
    from lark.grammar import Rule
    from lark.lexer import Lexer, TerminalDef

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
