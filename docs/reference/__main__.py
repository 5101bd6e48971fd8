"""`python docs/reference`: renew the tables of the page about guards.

The page is written by hand; only what stands between `<!-- table: NAME -->` and `<!-- end -->` is renewed. Each cell is what the compiler
says of a guard, or what the guard comes to where it is evaluated, so that the tables are never older than the program.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final, TypeAlias

from stateward.compiler.language.data import Hole
from stateward.compiler.language.declared import Declared
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.predicates.guards import ROOTS, Bag, Compare, Fits, Guard, evaluate
from stateward.compiler.predicates.schema import INT_EXACT_MAX, Plain, Schema
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse

PAGE: Final = Path(__file__).resolve().parent / "guards.md"
_TABLE: Final = re.compile(r"<!-- table: (?P<name>\w+) -->\n(?:(?!<!-- end -->).*\n)*<!-- end -->\n")

TYPES: Final[Mapping[str, str]] = {
    "Bool": "Bool",
    "Int": "Int",
    "Float": "Float",
    "String": "String",
    "Array": "[...Int]",
    "Object": "{...Int}",
    "Unknown": "Unknown",
}
"""A type of each kind, as it would be declared."""
LOGIC: Final = ("&&", "||")
EQUALITY: Final = ("==", "!=")
ORDER: Final = ("<", "<=", ">", ">=")
ARITHMETIC: Final = ("+", "-", "*")
SAMPLES: Final[Mapping[str, tuple[Plain, Plain]]] = {"Bool": (True, False), "Int": (2, 3), "Float": (0.5, 2.0), "String": ("a", "b")}
"""Two values of each scalar type: one for the left operand, one for the right."""
PATTERNS: Final = ("true", "1", "1.5", '"a"', "Int", "> 0", "/a/", "[...Int]", "{...Int}")
NARROWED: Final = ("Bool", "Int", "Float", "String", "Int & >= 0", "/^(a\\|b)$/", "[...Int]", "{...Int}", "Unknown")
"""Constraints that have an obligation each; a bar is written so that it stands in a table."""

Table: TypeAlias = Callable[[], Iterator[str]]


@dataclass(frozen=True)
class Declarations:
    """The variables of a flow, and nothing else."""

    variables: Mapping[str, Declared]
    inputs: Mapping[str, Declared] = field(default_factory=dict)
    states: Sequence[str] = ()
    lossy: Sequence[str] = ()


def schema_of(text: str) -> Schema:
    """Take down a constraint."""
    source = Source.from_text("type", text)
    evaluation = Evaluation(source, parse(source).module)
    declared = evaluation.schema(evaluation.root)
    assert not isinstance(declared, Hole), text
    return declared[0]


def guard_of(text: str, **types: str) -> Guard | None:
    """Type a guard over variables of some types; None when the compiler refuses it."""
    source = Source.from_text("guard", text)
    evaluation = Evaluation(source, parse(source).module, roots=ROOTS)
    return evaluation.guard(evaluation.root, Declarations({name: Declared(schema_of(each)) for name, each in types.items()}))


def result_of(sign: str, left: str, right: str) -> str:
    """Give the type of what an operator comes to between two types; a dash when it refuses them."""
    types = {"x": TYPES[left], "y": TYPES[right]}
    if sign not in ARITHMETIC:
        return "Bool" if guard_of(f"vars.x {sign} vars.y", **types) is not None else "–"
    proved = [kind for kind in ("Int", "Float") if guard_of(f"((vars.x {sign} vars.y) as {kind}) == 0", **types) is not None]
    return proved[0] if proved else "–"


def value_of(guard: Guard, **variables: "Plain | None") -> str:
    """Give what a guard comes to, as it would be written; missing variables are None."""
    value = evaluate(guard, Bag({name: each for name, each in variables.items() if each is not None}, {}, {}))
    return "unknown" if value is None else _written(value)


def _written(value: "Plain | None") -> str:
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


# --- tables -------------------------------------------------------------------------------------------------------------------------


def _rows(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(head)
    yield f"| {' | '.join(names)} |"
    yield f"| {' | '.join(['---'] * len(names))} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _signs(signs: Iterable[str]) -> str:
    return " ".join(f"`{sign}`" for sign in signs).replace("|", "\\|")


def accepted(signs: Sequence[str]) -> Table:
    """Make the table of what operators of one kind come to between all types."""

    def table() -> Iterator[str]:
        rows = []
        for left in TYPES:
            cells = [{result_of(sign, left, right) for sign in signs} for right in TYPES]
            assert all(len(cell) == 1 for cell in cells), "operators of one kind take the same types"
            rows.append([f"**{left}**", *(next(iter(cell)) for cell in cells)])
        yield from _rows([_signs(signs), *TYPES], rows)

    return table


def prefixes() -> Iterator[str]:
    """Write which types the prefixes take."""
    not_ = ["Bool" if guard_of("!vars.x", x=each) is not None else "–" for each in TYPES.values()]
    minus = []
    for each in TYPES.values():
        proved = [kind for kind in ("Int", "Float") if guard_of(f"((-vars.x) as {kind}) == 0", x=each) is not None]
        minus.append(proved[0] if proved else "–")
    yield from _rows(["", *TYPES], [["`!`", *not_], ["`-`", *minus]])


def truths(sign: str) -> Table:
    """Make the truth table of `&&` or `||`."""

    def table() -> Iterator[str]:
        guard = guard_of(f"vars.x {sign} vars.y", x="Bool", y="Bool")
        assert guard is not None
        values = (True, False, None)
        rows = ([f"**{_written(x)}**", *(value_of(guard, x=x, y=y) for y in values)] for x in values)
        yield from _rows([_signs([sign]), *map(_written, values)], rows)

    return table


def negation() -> Iterator[str]:
    """Write the truth table of `!`."""
    guard = guard_of("!vars.x", x="Bool")
    assert guard is not None
    values = (True, False, None)
    yield from _rows(["`!`", *map(_written, values)], [["", *(value_of(guard, x=x) for x in values)]])


def values() -> Iterator[str]:
    """Write what the other operators come to between all types that they take, with and without their operands."""
    rows = []
    for sign in (*EQUALITY, *ORDER, *ARITHMETIC):
        for left, right in product(SAMPLES, SAMPLES):
            if result_of(sign, left, right) != "–":
                rows.append([f"`{sign}`", left, right, *_values(sign, left, right)])
    yield from _rows(["", "left", "right", "an example", "left missing", "right missing", "both missing"], rows)


def _values(sign: str, left: str, right: str) -> Iterator[str]:
    x, y = SAMPLES[left][0], SAMPLES[right][1]
    yield f"`{_written(x)} {sign} {_written(y)}` is {_come_to(sign, left, right, x, y)}"
    for first, second in ((None, y), (x, None), (None, None)):
        yield _come_to(sign, left, right, first, second)


def _come_to(sign: str, left: str, right: str, x: "Plain | None", y: "Plain | None") -> str:
    """Give the value of an operation. One that gives a number is no guard; it is the left side of one."""
    if sign not in ARITHMETIC:
        guard = guard_of(f"vars.x {sign} vars.y", x=left, y=right)
        assert guard is not None
        return value_of(guard, x=x, y=y)
    asked = guard_of(f"vars.x {sign} vars.y == 0", x=left, y=right)
    assert asked is not None
    assert isinstance(asked, Compare)
    return value_of(asked.left, x=x, y=y)


def beyond() -> Iterator[str]:
    """Write what comes of results that no number holds."""
    rows = []
    for sign, kind, most in (("+", "Int", 2**63 - 1), ("*", "Int", INT_EXACT_MAX), ("*", "Float", 1.5e300)):
        guard = guard_of(f"vars.x {sign} vars.x > 0", x=kind)
        assert guard is not None
        rows.append([f"`{most} {sign} {most} > 0`", value_of(guard, x=most)])
    yield from _rows(["", "comes to"], rows)


def patterns() -> Iterator[str]:
    """Write what becomes of a pattern of `match`, by the type of what it is held against."""
    rows = ([f"**{name}**", *(_asked(each, pattern) for pattern in PATTERNS)] for name, each in TYPES.items())
    yield from _rows(["", *(f"`{pattern}`" for pattern in PATTERNS)], rows)


def _asked(type_: str, pattern: str) -> str:
    guard = guard_of(f"match vars.x {{ {pattern}: true; _: false; }}", x=type_)
    if guard is None:
        return "–"
    return "always" if isinstance(guard, Fits) and guard.schema == schema_of("Unknown") else "asked"


def obligations() -> Iterator[str]:
    """Write which obligations are proved, by the type of what they are laid on."""
    rows = ([f"**{name}**", *(_proved(each, wanted.replace("\\", "")) for wanted in NARROWED)] for name, each in TYPES.items())
    yield from _rows(["`as`", *(f"`{wanted}`" for wanted in NARROWED)], rows)


def _proved(type_: str, wanted: str) -> str:
    guard = guard_of(f"match (vars.x as {wanted}) {{ _: true; }}", x=type_)
    return "proved" if guard is not None else "–"


TABLES: Final[Mapping[str, Table]] = {
    "logic": accepted(LOGIC),
    "equality": accepted(EQUALITY),
    "order": accepted(ORDER),
    "arithmetic": accepted(ARITHMETIC),
    "prefixes": prefixes,
    "and": truths("&&"),
    "or": truths("||"),
    "not": negation,
    "values": values,
    "beyond": beyond,
    "patterns": patterns,
    "obligations": obligations,
}
"""What makes the lines of each table of the page, by name."""


def tables_of(page: str) -> list[str]:
    """Give the names of the tables of a page."""
    return [found["name"] for found in _TABLE.finditer(page)]


def renewed(page: str) -> str:
    """Give a page with its tables as they are by now."""
    return _TABLE.sub(lambda found: _block(found["name"]), page)


def _block(name: str) -> str:
    return "\n".join([f"<!-- table: {name} -->", "", *TABLES[name](), "", "<!-- end -->", ""])


def main() -> None:
    """Write the page."""
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
