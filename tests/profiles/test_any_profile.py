"""Whatever a file holds, it is read whole or refused with what is wrong; what is read always comes to a profile or to why it is none."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.text import render
from stateward.runtime.profile import Profile
from stateward.runtime.profile.form import ABOUT_FILE, FIELDS, ITEMS_MAX, ListOf, Number, Word
from stateward.runtime.profile.layers import Unusable, profile_of
from stateward.runtime.profile.reading import Read, read_profile

WORDS: Final = st.sampled_from(
    ["model", "person", "command", "scripted", "tty", "builtin:*", "builtin:a", "/bin/x", "~/k", "https://h", "openai", "", " ", "é\u200b"]
)
SCALARS: Final = st.one_of(
    WORDS.map(lambda text: f'"{text}"'),
    st.integers(-2, 10**10).map(str),
    st.sampled_from(["true", "false", "1.5", "Int", "1 / 0", "nobody", 'import "x.dcdl"', "{ }", "[1]", "Int default 3", "(x) => x"]),
)
VALUES: Final = SCALARS | st.lists(SCALARS, max_size=3).map(lambda items: f"[{', '.join(items)}]")
NAMES: Final = st.sampled_from(
    [*FIELDS, *ABOUT_FILE, *dict.fromkeys(each.section for each in FIELDS.values() if each.section), "turns", "x.y"]
)
SOURCES: Final = st.dictionaries(NAMES, VALUES, max_size=6).map(
    lambda fields: "".join(f"{name} = {value};\n" for name, value in {"schema_version": "1", **fields}.items())
)


def fits(name: str, value: object) -> bool:
    match FIELDS[name].type, value:
        case Number(least=least, most=most), int():
            return least <= value <= most
        case Word(words=words), str():
            return value in words
        case ListOf(), tuple():
            return len(value) <= ITEMS_MAX and all(isinstance(each, str) for each in value)
        case _:
            return type(value) is type(FIELDS[name].unsaid)


@given(SOURCES | st.text(max_size=80), st.booleans())
def test_any_text_is_read_or_refused(text: str, with_base: bool) -> None:
    found = read_profile("any.dcdl", text.encode("utf-8", "replace"), with_base=with_base)
    if isinstance(found, Read):
        assert {} == {name: value for name, value in found.terms.items() if not fits(name, value)}
        assert isinstance(profile_of("any", [found.terms]), Profile | Unusable)
    else:
        assert found
        assert render(found)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert read_profile("any.dcdl", data, with_base=True)
