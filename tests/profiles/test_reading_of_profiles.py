"""A file of a profile says all of what it holds or nothing, and what is wrong with it is told in the compiler's own form."""

from pathlib import Path

import pytest

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.diagnostics.text import Look, render
from stateward.runtime.profile.form import FIELDS, ITEMS_MAX, OTHER_NAMES, SECTIONS, TOP, Number
from stateward.runtime.profile.problems import OWN_CODES
from stateward.runtime.profile.reading import FILE_BYTES_MAX, Read, read_profile
from stateward.runtime.profile.terms import Commands
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled

SNAPSHOTS = Path(__file__).parent / "snapshots"
HEAD = "schema_version = 1;\n"


def faults(text: str, *, with_base: bool = True) -> tuple[Diagnostic, ...]:
    found = read_profile("mine.dcdl", text.encode(), with_base=with_base)
    assert isinstance(found, tuple), f"nothing is wrong with {text!r}"
    return found


def read(text: str, *, with_base: bool = True) -> Read:
    found = read_profile("mine.dcdl", text.encode(), with_base=with_base)
    assert isinstance(found, Read), render(found)
    return found


def test_a_file_says_what_stands_in_it_and_nothing_else() -> None:
    text = """\
    schema_version = 1;
    about = "Reviews by a model.";
    base = "demonstration";
    verifier = { kind = "model"; provider = "openai"; model = "m-1"; key_file = "~/keys/openai"; };
    feature.flow = true;
    selectors = ["workspace:b", "builtin:*", "builtin:a"];
    bounds = { turns = 6 * 2; };
    """
    terms = {
        "verifier.kind": "model",
        "verifier.provider": "openai",
        "verifier.model": "m-1",
        "verifier.key_file": "~/keys/openai",
        "feature.flow": True,
        "selectors": ("builtin:*", "workspace:b"),
        "bounds.turns": 12,
    }
    assert Read(terms, "Reviews by a model.", "demonstration") == read(text)


def test_commands_are_kept_in_their_one_way() -> None:
    text = HEAD + 'checks.allow = [["make", "test"], ["tox"], ["make"], ["tox"]];'
    assert {"checks.allow": Commands((("make",), ("tox",)))} == read(text).terms


def test_a_word_of_a_command_that_cannot_be_one_is_named() -> None:
    (found,) = faults(HEAD + 'checks.allow = [["tox"], ["make", 5]];')
    assert "`allow[1][1]` must be a String, not an Int" == found.message


def test_a_command_that_is_one_text_is_offered_as_words() -> None:
    (found,) = faults(HEAD + 'checks.allow = ["make test"];')
    assert ("`allow[0]` must be an Array, not a String", 'write `["make", "test"]`') == (found.message, found.help)
    (odd,) = faults(HEAD + "checks.allow = [\"echo '$x'\"];")
    assert odd.help is None


def test_a_file_may_say_nothing() -> None:
    assert Read({}, "", "") == read(HEAD)


def test_a_file_may_be_computed_as_far_as_the_language_goes() -> None:
    text = "let turns = 5; in { schema_version = 1; bounds = { turns = turns; } // { tokens = turns * 1000; }; }"
    assert {"bounds.turns": 5, "bounds.tokens": 5000} == read(text).terms


FAULTS: dict[str, tuple[str, list[str]]] = {
    "no version": ("demonstration = false;", ["missing_field"]),
    "nothing at all": ("", ["dcdl_syntax"]),
    "a version to come": ("schema_version = 2; anything = 1;", ["unsupported_schema_version"]),
    "a version that is none": ('schema_version = "1";', ["wrong_type"]),
    "a version that is a truth": ("schema_version = true;", ["wrong_type"]),
    "no object": ("[1, 2]", ["wrong_type"]),
    "an unknown field": (HEAD + "verifer.kind = 1;", ["unknown_field"]),
    "an unknown field of a section": (HEAD + "bounds = { turn = 5; };", ["unknown_field"]),
    "a field of a section by itself": (HEAD + "turns = 5;", ["unknown_field"]),
    "a field of another section": (HEAD + "caps.turns = 5;", ["unknown_field"]),
    "a field of the profile in a section": (HEAD + "caps.lease_seconds = 5;", ["unknown_field"]),
    "a key that stands in the file": (
        HEAD + 'verifier = { kind = "model"; provider = "p"; model = "m"; key = "s"; };',
        ["unknown_field"],
    ),
    "a section that is none": (HEAD + "caps = 5;", ["wrong_type"]),
    "a Bool in words": (HEAD + 'feature.flow = "yes";', ["wrong_type"]),
    "an Int in words": (HEAD + 'bounds.turns = "5";', ["wrong_type"]),
    "an Int that is a truth": (HEAD + "bounds.turns = true;", ["wrong_type"]),
    "half a turn": (HEAD + "bounds.turns = 0.5;", ["wrong_type"]),
    "a list that is none": (HEAD + 'selectors = "builtin:a";', ["wrong_type"]),
    "an item of another type": (HEAD + 'selectors = ["builtin:a", 4];', ["wrong_type"]),
    "too many items": (HEAD + "selectors = [" + '"builtin:a", ' * (ITEMS_MAX + 1) + "];", ["value_not_allowed"]),
    "an unknown word": (HEAD + 'operator_assurance = "tokn";', ["value_not_allowed"]),
    "an unknown kind in a list": (HEAD + 'verifiers = ["person", "jury"];', ["value_not_allowed"]),
    "a selector of nothing": (HEAD + 'selectors = ["coder-review"];', ["value_not_allowed"]),
    "a selector of no flow": (HEAD + 'agent_selectors = ["builtin:a/b"];', ["value_not_allowed"]),
    "all flows for an agent": (HEAD + 'agent_selectors = ["builtin:*"];', ["value_not_allowed"]),
    "an odd base": (HEAD + 'base = "../default";', ["value_not_allowed"]),
    "a blank line": (HEAD + 'about = " ";', ["value_not_allowed"]),
    "a long line": (HEAD + f'about = "{"x" * 201}";', ["value_not_allowed"]),
    "a line with a line end": (HEAD + 'about = "a\\nb";', ["value_not_allowed"]),
    "a verifier of no kind": (HEAD + 'verifier.model = "m";', ["missing_field"]),
    "a model without a name": (HEAD + 'verifier = { kind = "model"; provider = "p"; };', ["verifier_incomplete"]),
    "a model with a long name": (HEAD + f'verifier = {{ kind = "model"; provider = "p"; model = "{"m" * 201}"; }};', ["value_not_allowed"]),
    "a model of nobody": (HEAD + 'verifier = { kind = "model"; model = "m"; };', ["verifier_incomplete"]),
    "a model of two": (
        HEAD + 'verifier = { kind = "model"; model = "m"; provider = "p"; base_url = "https://h"; };',
        ["verifier_incomplete"],
    ),
    "two keys": (
        HEAD + 'verifier = { kind = "model"; model = "m"; provider = "p"; key_file = "/k"; key_command = ["/c"]; };',
        ["verifier_incomplete"],
    ),
    "a person with a model": (HEAD + 'verifier = { kind = "person"; model = "m"; };', ["verifier_incomplete"]),
    "a command without a program": (HEAD + 'verifier.kind = "command";', ["verifier_incomplete"]),
    "a command of no words": (HEAD + 'verifier = { kind = "command"; program = []; };', ["value_not_allowed"]),
    "a program from anywhere": (HEAD + 'verifier = { kind = "command"; program = ["judge"]; };', ["value_not_allowed"]),
    "a key from anywhere": (HEAD + 'verifier = { kind = "model"; model = "m"; provider = "p"; key_file = "k"; };', ["value_not_allowed"]),
    "a command that is one text": (HEAD + 'checks.allow = ["make test"];', ["wrong_type"]),
    "a command of no words at all": (HEAD + "checks.allow = [[]];", ["value_not_allowed"]),
    "a command with a blank word": (HEAD + 'checks.allow = [["make", " "]];', ["value_not_allowed"]),
    "too many commands": (HEAD + "checks.allow = [" + '["make"], ' * (ITEMS_MAX + 1) + "];", ["value_not_allowed"]),
    "an import": (HEAD + 'bounds.turns = (import "other.dcdl").turns;', ["dcdl_import"]),
    "what has no value": (HEAD + "bounds.turns = 1 / 0;", ["dcdl_evaluation"]),
    "what does not parse": (HEAD + "bounds.turns = ;", ["dcdl_syntax"]),
    "what is too large": (HEAD + "#" * FILE_BYTES_MAX, ["source_too_large"]),
}


@pytest.mark.parametrize(("text", "codes"), FAULTS.values(), ids=FAULTS.keys())
def test_each_fault_is_told_alone(text: str, codes: list[str]) -> None:
    assert codes == [each.code for each in faults(text)]


def test_bytes_that_are_no_text_are_told_as_such() -> None:
    found = read_profile("mine.dcdl", b"schema_version = 1; # \xff", with_base=False)
    assert isinstance(found, tuple)
    assert ["source_not_utf8"] == [each.code for each in found]


@pytest.mark.parametrize(("text", "codes"), FAULTS.values(), ids=FAULTS.keys())
def test_messages_follow_the_rules_of_wording(text: str, codes: list[str]) -> None:
    for each in faults(text):
        assert each.code in {*CODES, *OWN_CODES}
        for said in (each.message, each.primary.text, *each.notes):
            assert said == said.strip()
            assert not said.endswith(".")
            assert said[:1] == said[:1].lower() or said.startswith("`")
            assert not set(said.lower().split()) & {"illegal", "please", "you", "i", "invalid"}
            assert safe(said) == said
        assert each.primary.text


def test_only_a_profile_of_ones_own_stands_on_another() -> None:
    assert ["unknown_field"] == [each.code for each in faults(HEAD + 'base = "default";', with_base=False)]


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("verifier.API-Key", "key_file"),
        ("verifier.token", "key_file"),
        ("verifier.url", "base_url"),
        ("verifier.knd", "kind"),
        ("bounds.timeout", "wall_seconds"),
        ("limits", "bounds"),
        ("verifer", "verifier"),
    ],
)
def test_what_a_field_is_called_elsewhere_is_met_with_its_name_here(field: str, meant: str) -> None:
    name = field.replace("API-Key", '"API-Key"')
    (fault, *_) = [each for each in faults(f"{HEAD}{name} = 1;") if each.code == "unknown_field"]
    assert f"did you mean `{meant}`?" == fault.help


def test_every_other_name_leads_to_a_field_and_is_none_itself() -> None:
    for section, names in OTHER_NAMES.items():
        known = SECTIONS.get(section, TOP)
        assert {*names.values()} <= {*known}
        assert {*names}.isdisjoint(known)
        assert all(each == each.lower().replace("_", "").replace("-", "") for each in names)


NUMBERS = {name: each.type for name, each in FIELDS.items() if isinstance(each.type, Number)}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_may_be_exactly_its_least_and_its_most_and_no_further(name: str) -> None:
    range_ = NUMBERS[name]
    for inside in (range_.least, range_.most):
        assert {name: inside} == read(f"{HEAD}{name} = {inside};").terms
    for outside, nearest in ((range_.least - 1, range_.least), (range_.most + 1, range_.most)):
        (fault,) = faults(f"{HEAD}{name} = {outside};")
        assert ("value_not_allowed", f"write `{nearest}`") == (fault.code, fault.help)


ADDRESSES = {
    "https://host/v1": None,
    "https://host:8443": None,
    "http://localhost:8000/v1": None,
    "http://127.0.0.1/v1": None,
    "http://[::1]:80/v1": None,
    "http://host/v1": "sends the key over the network in the clear",
    "http://localhost.example/v1": "sends the key over the network in the clear",
    "http://127.0.0.1.example/": "sends the key over the network in the clear",
    "https://user@host/": "holds a user or a password",
    "https://user:word@host/": "holds a user or a password",
    "https://host/?key=1": "holds a `?` or a `#`",
    "https://host/#a": "holds a `?` or a `#`",
    "https://host:port/": "is no address",
    "https://[::1/": "is no address",
    "https:///v1": "does not begin with `https://` and a host",
    "file:///etc/passwd": "does not begin with `https://` and a host",
    "host/v1": "does not begin with `https://` and a host",
    " ": "is blank",
    "https://ho\u202est/": "holds U+202E RIGHT-TO-LEFT OVERRIDE",
    f"https://{'h' * 1024}": "has more than 1,024 bytes",
}


@pytest.mark.parametrize(("address", "fault"), ADDRESSES.items(), ids=range(len(ADDRESSES)))
def test_an_address_gives_nothing_away(address: str, fault: str | None) -> None:
    text = f'{HEAD}verifier = {{ kind = "model"; model = "m"; base_url = "{address}"; }};'
    found = read_profile("mine.dcdl", text.encode(), with_base=False)
    said = [each.message for each in found] if isinstance(found, tuple) else []
    assert ([] if fault is None else [f"`base_url` {fault}"]) == said


MESSY = """\
verifier = { kind = "modl"; mdoel = "x"; base_url = "https://me:word@host"; key_command = []; };
turns = 3;
bounds = { turns = 0; tokens = "7"; wall_seconds = 1 / 0; };
agent_selectors = ["builtin:*", 4, "buildin:x"];
feature.flow = "yes";
base = "Default";
caps = 3;
"""
HALF = """\
schema_version = 1;
verifier = { kind = "model"; program = ["/bin/judge"]; key_file = "/k"; key_command = ["/bin/key"]; };
"""


@pytest.mark.parametrize(("name", "text"), [("messy", MESSY), ("half", HALF)])
def test_renderings(name: str, text: str) -> None:
    shown = render(faults(text), Look(width=100))
    assert_snapshot(SNAPSHOTS / f"{name}.txt", titled([("profiles/mine.dcdl", text), ("rendering", shown)]))
