"""What layers may say, at random: any values that the form allows."""

from collections.abc import Mapping
from typing import Final

from hypothesis import strategies as st

from stateward.runtime.profile import commands
from stateward.runtime.profile.form import FIELDS, Check, Field, Flag, ListOf, ListOfCommands, Number, Rule, Text, Word
from stateward.runtime.profile.selectors import canonical
from stateward.runtime.profile.terms import Commands, Terms, Value

SELECTORS: Final = ("builtin:a", "builtin:b", "workspace:a", "workspace:b")
"""The flows that there are in these tests."""
BEGINNINGS: Final = (("make",), ("make", "test"), ("make", "test", "-k"), ("pytest",), ("pytest", "-q"))
"""The commands that are allowed in these tests."""
PATTERNS: Final = (*SELECTORS, "builtin:*", "workspace:*")
_JUDGES: Final[tuple[Terms, ...]] = (
    {"verifier.kind": "person"},
    {"verifier.kind": "scripted"},
    {"verifier.kind": "command", "verifier.program": ("/usr/bin/judge", "--strict")},
    {"verifier.kind": "model", "verifier.model": "m", "verifier.provider": "openai", "verifier.key_file": "/etc/key"},
    {"verifier.kind": "model", "verifier.model": "n", "verifier.base_url": "https://h/v1", "verifier.key_command": ("/usr/bin/key",)},
)
_RANGE: Final = 4
"""How far a number may lie above the least, so that layers often agree."""


def values(field: Field) -> st.SearchStrategy[Value]:
    """Give the values of a field."""
    match field.type:
        case Flag():
            return st.booleans()
        case Number(least=least, most=most):
            return st.integers(least, min(least + _RANGE, most)) | st.just(most)
        case Word(words=words):
            return st.sampled_from(words)
        case ListOf(item=Word(words=words)):
            return st.sets(st.sampled_from(words)).map(canonical)
        case ListOf(item=Text(check=Check.SELECTOR)):
            return st.sets(st.sampled_from(SELECTORS)).map(canonical)
        case ListOf():
            return st.sets(st.sampled_from(PATTERNS)).map(canonical)
        case ListOfCommands():
            return st.sets(st.sampled_from(BEGINNINGS)).map(commands.canonical).map(Commands)
        case Text():
            raise AssertionError("a text alone is only in a verifier")


_PLAIN: Final[Mapping[str, st.SearchStrategy[Value]]] = {
    each.name: values(each) for each in FIELDS.values() if each.rule is not Rule.WHOLE
}  # fmt: skip

TERMS: Final[st.SearchStrategy[Terms]] = st.builds(
    lambda plain, judge: {**plain, **judge},
    st.fixed_dictionaries({}, optional=_PLAIN),
    st.sampled_from(({}, *_JUDGES)),
)
"""What one layer says."""
LAYERS: Final = st.lists(TERMS, min_size=1, max_size=4)
"""What several say, the highest first."""
