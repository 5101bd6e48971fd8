"""Mermaid and DOT: what is written is read back by the rules of each language, whatever the names are."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.drawing.dot import draw_dot
from stateward.compiler.drawing.marks import Answered, Marks
from stateward.compiler.drawing.mermaid import draw_mermaid
from stateward.compiler.flow.definition import CompiledFlowDefinition
from tests.compiler.diagnostics.snapshots import assert_snapshot
from tests.compiler.drawing.graphs import REVIEW, SHAPES, Ways, built_in, definition

SNAPSHOTS = Path(__file__).parent / "snapshots"
FLOWS = {**{name: definition(name, ways) for name, ways in SHAPES.items()}, **built_in()}
UNDER_WAY = Marks(
    current="fix",
    visits={"implement": 1, "review": 2, "fix": 2},
    taken={("implement", "submit"): 1, ("review", "request-changes"): 2, ("fix", "resubmit"): 1},
    answers={"resubmit": Answered.NOT_MET},
)
HOSTILE: Ways = {
    'a"b': {"x|y]": "_c_", "1. one": "`d`", "<b>z</b>": "e#35;", "\\N\\l\\": "end"},
    "_c_": {"__t__": "- f", "e;nd": "end", "%% no comment": "end"},
    "`d`": {"-->": "end", '"] --> x': "end"},
    "e#35;": {"*s*": "end", "&quot;&#34;": "end"},
    "- f": {"状態": "end", "q\\n": "end", "a\nb": "end"},
    "end": {},
}


@dataclass
class Read:
    """What was written, read back."""

    states: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)
    initial: str = ""

    def labelled(self) -> list[tuple[str, str, str]]:
        return [(self.states[source], label, self.states[target]) for source, label, target in self.edges]


def declared(flow: CompiledFlowDefinition, *, cancelled: bool = False) -> list[tuple[str, str, str]]:
    return [
        (safe(state.id), safe(each.id), safe(each.target))
        for state in flow.states
        for each in state.transitions
        if cancelled or not each.synthetic
    ]


MERMAID_STATE = re.compile(r'  (s\d+)(?:\["([^"]*)"\]|\(\["([^"]*)"\]\)|\{\{"([^"]*)"\}\})')
MERMAID_EDGE = re.compile(r'  (s\d+) (?:-->|-\.->)\|"([^"]*)"\| (s\d+)')
MERMAID_REST = re.compile(r"flowchart TD|  classDef [a-z]+ [a-z0-9:,# -]+|  class s\d+ [a-z]+|  linkStyle [\d,]+ [a-z0-9:,#-]+|")


def mermaid_label(text: str) -> str:
    """Read a label as Mermaid does: `#` begins an entity, and no other sign of ASCII stands there that could mean anything."""
    assert re.fullmatch(r"(#\d+;|[A-Za-z0-9 ]|[-_](?=[A-Za-z0-9])|[^\x00-\x7f])*", text)
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text)


def read_mermaid(text: str) -> Read:
    read = Read()
    for line in text.split("\n"):
        if found := MERMAID_STATE.fullmatch(line):
            read.states[found[1]] = mermaid_label(next(each for each in found.groups()[1:] if each is not None))
        elif found := MERMAID_EDGE.fullmatch(line):
            read.edges.append((found[1], mermaid_label(found[2]), found[3]))
        elif found := re.fullmatch(r"  start\(\( \)\) --> (s\d+)", line):
            read.initial = found[1]
        else:
            assert MERMAID_REST.fullmatch(line), line
    return read


TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([A-Za-z_]\w*)|(->|[{}\[\];,=]))', re.DOTALL)


def dot_tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text.rstrip()):
        found = TOKEN.match(text, at)
        assert found, text[at : at + 40]
        at = found.end()
        yield found[0].strip()


def dot_string(token: str) -> str:
    """Read a string as a label is shown: a backslash stands for what comes behind it, and is never one of the escapes of labels."""
    assert (token[0], token[-1]) == ('"', '"')
    assert {"\\", '"'} >= set(re.findall(r"\\(.)", token))
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def attributes(tokens: list[str]) -> dict[str, str]:
    assert (tokens[0], tokens[-1]) == ("[", "]")
    inner = tokens[1:-1]
    assert {","} >= set(inner[3::4])
    assert {"="} == set(inner[1::4])
    return dict(zip(inner[0::4], map(dot_string, inner[2::4]), strict=True))


def read_dot(text: str) -> tuple[str, Read]:
    tokens = list(dot_tokens(text))
    assert (tokens[0], tokens[2], tokens[-1]) == ("digraph", "{", "}")
    read, statement = Read(), list[str]()
    for each in tokens[3:-1]:
        if each != ";":
            statement.append(each)
            continue
        match statement:
            case ["start", "->", state]:
                read.initial = state
            case [source, "->", target, *rest]:
                read.edges.append((source, attributes(rest)["label"], target))
            case ["graph" | "node" | "edge" | "start", *rest]:
                attributes(rest)
            case [state, *rest]:
                read.states[state] = attributes(rest)["label"]
        statement = []
    assert statement == []
    return dot_string(tokens[1]), read


def check(flow: CompiledFlowDefinition, *, cancelled: bool = False) -> None:
    name, dot = read_dot(draw_dot(flow, cancelled=cancelled))
    assert safe(flow.name) == name
    for read in (dot, read_mermaid(draw_mermaid(flow, cancelled=cancelled))):
        assert [safe(state.id) for state in flow.states if cancelled or state.id != "$cancelled"] == [*read.states.values()]
        assert declared(flow, cancelled=cancelled) == read.labelled()
        assert safe(flow.initial) == read.states[read.initial]


@pytest.mark.parametrize("cancelled", [False, True])
@pytest.mark.parametrize("name", FLOWS)
def test_every_state_and_transition_is_read_back(name: str, cancelled: bool) -> None:
    check(FLOWS[name], cancelled=cancelled)


def test_names_are_never_read_as_syntax() -> None:
    check(definition('a "name" \\ of } its own', HOSTILE), cancelled=True)


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=2, max_size=5, unique=True))
def test_any_names_are_read_back(names: list[str]) -> None:
    ways = {name: {f"{name}{other}": other for other in names} for name in names[:-1]}
    check(definition("any", {**ways, names[-1]: {}}))


def test_what_happened_in_a_run_is_written() -> None:
    flow = definition("coder-review", REVIEW)
    assert_snapshot(SNAPSHOTS / "review_under_way.mermaid", draw_mermaid(flow, UNDER_WAY))
    assert_snapshot(SNAPSHOTS / "review_under_way.dot", draw_dot(flow, UNDER_WAY))


def test_the_synthetic_end_is_there_when_it_was_entered() -> None:
    flow = definition("coder-review", REVIEW)
    marks = Marks(current="$cancelled", visits={"$cancelled": 1}, taken={("fix", "$cancel"): 1})
    found = [read_dot(draw_dot(flow, marks))[1], read_mermaid(draw_mermaid(flow, marks))]
    for read in found:
        assert [("fix", "$cancel  ×1", "$cancelled  ×1")] == [each for each in read.labelled() if "$" in each[2]]
