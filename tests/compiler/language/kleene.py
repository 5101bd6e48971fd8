"""Guards that mean something, each with a reading of its own: the truth tables, written out.

A reading takes what is known by name, None being what is missing, and gives what the guard comes to, None where nobody can tell.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from hypothesis import strategies as st

Known: TypeAlias = Mapping[str, "bool | int | float | str | None"]
Value: TypeAlias = "bool | int | float | str | None"
Read: TypeAlias = Callable[[Known], Value]

INT_MAX: Final = 2**63 - 1


class Guarded(NamedTuple):
    """A text of the language and what it comes to."""

    text: str
    read: Read


AND: Final = {
    (True, True): True, (True, False): False, (True, None): None,
    (False, True): False, (False, False): False, (False, None): False,
    (None, True): None, (None, False): False, (None, None): None,
}  # fmt: skip
OR: Final = {
    (True, True): True, (True, False): True, (True, None): True,
    (False, True): True, (False, False): False, (False, None): None,
    (None, True): True, (None, False): None, (None, None): None,
}  # fmt: skip
NOT: Final = {True: False, False: True, None: None}

DOMAINS: Final[Mapping[str, tuple[Value, ...]]] = {
    "flag": (True, False, None),
    "other": (True, False, None),
    "count": (-1, 0, 1, 2, 2**53 - 1, None),
    "few": (0, 1, 2, None),
    "rate": (-0.5, 0.0, 1.0, 2.5, None),
    "text": ("", "a", "ab", None),
    "size": ("small", "large", None),
}
"""The variables and all that each may hold here; None: nothing was written."""

bags: st.SearchStrategy[Known] = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in DOMAINS.items()})


def _variable(name: str) -> Guarded:
    return Guarded(f"vars.{name}", lambda known: known[name])


def _literal(text: str, value: Value) -> Guarded:
    return Guarded(text, lambda _: value)


def _number(value: Value) -> "int | float | None":
    assert not isinstance(value, bool | str)
    return value


def _in_bounds(value: "int | float") -> "int | float | None":
    return None if isinstance(value, int) and not -INT_MAX - 1 <= value <= INT_MAX else value


def _strict(take: Callable[..., Value], *operands: Guarded) -> Read:
    """Read what is unknown as soon as an operand is."""

    def read(known: Known) -> Value:
        values = [each.read(known) for each in operands]
        return None if None in values else take(*values)

    return read


def _computed(sign: str, left: Guarded, right: Guarded) -> Guarded:
    compute = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[sign]
    return Guarded(f"({left.text} {sign} {right.text})", _strict(lambda a, b: _in_bounds(compute(a, b)), left, right))


def _compared(sign: str, left: Guarded, right: Guarded) -> Guarded:
    compare = {
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    }[sign]
    return Guarded(f"({left.text} {sign} {right.text})", _strict(compare, left, right))


def _joined(sign: str, left: Guarded, right: Guarded) -> Guarded:
    table = AND if sign == "&&" else OR
    return Guarded(f"({left.text} {sign} {right.text})", lambda known: table[left.read(known), right.read(known)])  # type: ignore[index]  # Bools


def _chosen(subject: Guarded, arms: list[tuple[str, Callable[[Value], bool]]], bodies: list[Guarded]) -> Guarded:
    def read(known: Known) -> Value:
        value = subject.read(known)
        if value is None:
            return None
        return next(body.read(known) for (_, fits), body in zip(arms, bodies, strict=True) if fits(value))

    written = " ".join(f"{pattern}: {body.text};" for (pattern, _), body in zip(arms, bodies, strict=True))
    return Guarded(f"(match {subject.text} {{ {written} }})", read)


def _is(wanted: Value) -> Callable[[Value], bool]:
    return lambda value: value == wanted


def _any(_value: Value) -> bool:
    return True


_BOOL_ARMS: Final = ([("true", _is(True)), ("false", _is(False))], [("false", _is(False)), ("_", _any)], [("Bool", _any)], [("_", _any)])
_INT_ARMS: Final = (
    [("0", _is(0)), ("> 1", lambda value: value > 1), ("_", _any)],
    [("Int & >= 1", lambda value: value >= 1), ("Int", _any)],
    [("< 0", lambda value: value < 0), (">= 0 & < 2", lambda value: 0 <= value < 2), ("_", _any)],
)
_FEW_ARMS: Final = ([("0", _is(0)), ("1", _is(1)), ("2", _is(2))], [("> 0", lambda value: value > 0), ("0", _is(0))])
_TEXT_ARMS: Final = (
    [('"a"', _is("a")), ("/b/", lambda value: "b" in value), ("_", _any)],
    [("/^a/", lambda value: value[:1] == "a"), ("String", _any)],
)
_SIZE_ARMS: Final = ([('"small"', _is("small")), ('"large"', _is("large"))], [("/^(large|huge)$/", _is("large")), ("_", _any)])

ints = st.one_of(
    st.sampled_from([_variable("count"), _variable("few")]),
    st.sampled_from([0, 1, 2, 3, 2**53 - 1, 2**62]).map(lambda value: _literal(str(value), value)),
)
floats = st.one_of(st.just(_variable("rate")), st.sampled_from([0.0, 0.5, 2.5]).map(lambda value: _literal(str(value), value)))
texts = st.one_of(
    st.sampled_from([_variable("text"), _variable("size")]),
    st.sampled_from(["", "a", "small"]).map(lambda value: _literal(f'"{value}"', value)),
)
leaves = st.one_of(
    st.sampled_from([_variable("flag"), _variable("other"), _literal("true", True), _literal("false", False)]),
    st.sampled_from(list(DOMAINS)).map(lambda name: Guarded(f"known.{name}", lambda known: known[name] is not None)),
)


@st.composite
def _numbers(draw: st.DrawFn, bools: st.SearchStrategy[Guarded]) -> Guarded:
    made = draw(st.one_of(ints, floats))
    for _ in range(draw(st.integers(0, 2))):
        match draw(st.integers(0, 3)):
            case 0:
                made = Guarded(f"(-{made.text})", _strict(lambda value: _in_bounds(-value), made))
            case 1:
                made = Guarded(f"(let n = {made.text}; in n)", made.read)
            case _:
                made = _computed(draw(st.sampled_from("+-*")), made, draw(st.one_of(ints, floats)))
    if draw(st.booleans()):
        return made
    return _chosen(draw(bools), _BOOL_ARMS[0], [draw(ints), draw(ints)])


def _bodies(bools: st.SearchStrategy[Guarded], count: int) -> st.SearchStrategy[list[Guarded]]:
    """Give the bodies of arms, often all the same, so that nothing is taken to depend on none of them."""
    return st.one_of(bools.map(lambda body: [body] * count), st.lists(bools, min_size=count, max_size=count))


@st.composite
def _bools(draw: st.DrawFn, bools: st.SearchStrategy[Guarded]) -> Guarded:
    numbers = _numbers(bools)
    match draw(st.integers(0, 10)):
        case 0 | 1:
            return _joined("&&", draw(bools), draw(bools))
        case 2 | 3:
            return _joined("||", draw(bools), draw(bools))
        case 4:
            inner = draw(bools)
            return Guarded(f"!{inner.text}", lambda known: NOT[inner.read(known)])  # type: ignore[index]  # a Bool
        case 5:
            return _compared(draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="])), draw(numbers), draw(numbers))
        case 6:
            return _compared(draw(st.sampled_from(["==", "!="])), draw(texts), draw(texts))
        case 7:
            return _compared(draw(st.sampled_from(["==", "!="])), draw(bools), draw(bools))
        case 8:
            inner = draw(bools)
            return Guarded(f"((given: Bool) => given)({inner.text})", inner.read)
        case 9:
            subject, arms = draw(st.sampled_from([("count", _INT_ARMS), ("few", _FEW_ARMS), ("text", _TEXT_ARMS), ("size", _SIZE_ARMS)]))
            chosen = draw(st.sampled_from(arms))
            return _chosen(_variable(subject), chosen, draw(_bodies(bools, len(chosen))))
        case _:
            chosen = draw(st.sampled_from(_BOOL_ARMS))
            return _chosen(draw(bools), chosen, draw(_bodies(bools, len(chosen))))


guards: st.SearchStrategy[Guarded] = st.recursive(leaves, _bools, max_leaves=8)
"""Guards of type Bool over the variables."""
