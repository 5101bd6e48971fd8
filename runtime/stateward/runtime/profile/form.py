"""The form of a profile: which fields there are, what each may hold, and how the layers that say it come to one value.

One table directs the reading, the joining, what is shown and the reference. A *right* that several layers say is what all of them
grant, in whatever order they stand; a *choice* is that of the highest layer that says it. What no layer says has the value given here.

Invariants: joining rights is commutative, associative and idempotent, and never grants what one side denies; the verifier is chosen whole,
so that no layer sends the key of another one elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, assert_never

from stateward.runtime.core.limits import REJECTIONS_MAX
from stateward.runtime.ports import LEASE_SECONDS_MAX
from stateward.runtime.profile import commands
from stateward.runtime.profile.selectors import all_selectors_fault, in_common, selector_fault
from stateward.runtime.profile.terms import DEFAULT, Commands, Value, VerifierKind
from stateward.runtime.profile.texts import address_fault, key_path_fault, model_fault, name_fault, program_fault, text_fault
from stateward.runtime.session.browse import PAGE_ENTRIES_MAX, READ_BYTES_MAX
from stateward.runtime.session.entries import Assurance

VERSION: Final = 1
"""The version of this form."""
ITEMS_MAX: Final = 128
"""Items of one list."""
ABOUT_BYTES_MAX: Final = 200
CALLS_MAX: Final = 1_000
SECONDS_MAX: Final = 24 * 60 * 60
TOKENS_MAX: Final = 1_000_000_000
VERIFICATIONS_MAX: Final = 1_000_000

ASSURANCES: Final = tuple(each.value for each in Assurance)
"""From the least to the most sure."""
KINDS: Final = tuple(each.value for each in VerifierKind)


@dataclass(frozen=True, slots=True)
class Flag:
    """A Bool."""


@dataclass(frozen=True, slots=True)
class Number:
    """An Int from `least` to `most`, both included."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Word:
    """One of some Strings."""

    words: tuple[str, ...]


class Check(StrEnum):
    """What a text has to be."""

    LINE = "a line"
    NAME = "a name"
    MODEL = "a model"
    ADDRESS = "an address"
    KEY_PATH = "a path"
    PROGRAM = "a program"
    SELECTOR = "a selector"
    SELECTORS = "a set of flows"


@dataclass(frozen=True, slots=True)
class Text:
    """A String that passes a check."""

    check: Check


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of at most ITEMS_MAX items."""

    item: Word | Text
    first: Check | None = None
    """What the first item has to be, and that there is one."""


@dataclass(frozen=True, slots=True)
class ListOfCommands:
    """An array of at most ITEMS_MAX beginnings of commands, each an array of one word or more."""


Type: TypeAlias = Flag | Number | Word | Text | ListOf | ListOfCommands


class Rule(StrEnum):
    """How what several layers say comes to one value."""

    BOTH = "granted by all layers that say it"
    LEAST = "the least of what layers say"
    STRICTEST = "the strictest of what layers say"
    COMMON = "what all layers that say it have in common"
    CHOICE = "said by the highest layer"
    WHOLE = "chosen together with the other fields of the verifier, by the highest layer that has any"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the form."""

    name: str
    """Dotted when it lies in a section."""
    type: Type
    rule: Rule
    unsaid: Value
    """Its value where no layer says it."""
    doc: str

    @property
    def section(self) -> str:
        """The section it lies in; empty for a field of the profile itself."""
        return self.name.rpartition(".")[0]


def _right(name: str, type_: Type, rule: Rule, doc: str) -> Field:
    return Field(name, type_, rule, DEFAULT.values()[name], doc)


_JUDGE: Final = (
    Field("verifier.kind", Word(KINDS), Rule.WHOLE, VerifierKind.PERSON.value, "Who judges."),
    Field("verifier.provider", Text(Check.NAME), Rule.WHOLE, "", "The provider of the model, such as `openai` or `anthropic`."),
    Field("verifier.base_url", Text(Check.ADDRESS), Rule.WHOLE, "", "The address of an OpenAI-compatible server, instead of a provider."),
    Field("verifier.model", Text(Check.MODEL), Rule.WHOLE, "", "The model, as its provider names it."),
    Field("verifier.key_file", Text(Check.KEY_PATH), Rule.WHOLE, "", "The file that holds the key; only its user may read it."),
    Field(
        "verifier.key_command",
        ListOf(Text(Check.LINE), Check.PROGRAM),
        Rule.WHOLE,
        (),
        "The command that prints the key, instead of a file.",
    ),
    Field("verifier.program", ListOf(Text(Check.LINE), Check.PROGRAM), Rule.WHOLE, (), "The program that judges, outside of the work."),
)
_RIGHTS: Final = (
    _right("verifiers", ListOf(Word(KINDS)), Rule.COMMON, "The kinds of verifier that may judge."),
    _right("demonstration", Flag(), Rule.BOTH, "Whether a script may judge; what it lets through proves nothing."),
    _right("feature.flow", Flag(), Rule.BOTH, "Whether flows may be started and left."),
    _right("selectors", ListOf(Text(Check.SELECTORS)), Rule.COMMON, "The flows that may be started; `builtin:*` is all of a kind."),
    _right("agent_selectors", ListOf(Text(Check.SELECTOR)), Rule.COMMON, "The flows that an agent may start for itself."),
    _right("operator_assurance", Word(ASSURANCES), Rule.STRICTEST, "How sure the runtime has to be of an operator."),
    _right("bounds.turns", Number(1, CALLS_MAX), Rule.LEAST, "Calls of the model in one verification."),
    _right("bounds.wall_seconds", Number(1, SECONDS_MAX), Rule.LEAST, "How long one verification may take."),
    _right("bounds.tokens", Number(1, TOKENS_MAX), Rule.LEAST, "Tokens of one verification, in and out."),
    _right("bounds.output_tokens", Number(1, TOKENS_MAX), Rule.LEAST, "Tokens of one reply of the model."),
    _right("bounds.read_bytes", Number(1024, READ_BYTES_MAX), Rule.LEAST, "What one read shows of a file or an entry."),
    _right("bounds.page_entries", Number(1, PAGE_ENTRIES_MAX), Rule.LEAST, "What one page shows of the log."),
    _right("caps.hold_after", Number(1, REJECTIONS_MAX), Rule.LEAST, "Judgements on the same evidence until the flow is held."),
    _right("caps.visit_verifications", Number(1, VERIFICATIONS_MAX), Rule.LEAST, "Verifications of one visit."),
    _right("caps.instance_verifications", Number(1, VERIFICATIONS_MAX), Rule.LEAST, "Verifications of one flow."),
    _right("caps.visit_tokens", Number(1, TOKENS_MAX), Rule.LEAST, "Tokens of all verifications of one visit."),
    _right("caps.instance_tokens", Number(1, TOKENS_MAX), Rule.LEAST, "Tokens of all verifications of one flow."),
    _right("checks.allow", ListOfCommands(), Rule.COMMON, "The commands that checks may run: those that begin with these words."),
    _right("checks.workdir_programs", Flag(), Rule.BOTH, "Whether a check may run a program that lies in the folder of the work."),
)
_OTHERS: Final = (
    Field("lease_seconds", Number(1, int(LEASE_SECONDS_MAX)), Rule.CHOICE, 15, "How long an attempt waits for a verifier that died."),
)

FIELDS: Final[Mapping[str, Field]] = {each.name: each for each in (*_JUDGE, *_RIGHTS, *_OTHERS)}
"""Every field that says something of a Worker, by name, in the order in which they are shown."""

VERSION_FIELD: Final = "schema_version"
ABOUT_FIELD: Final = "about"
BASE_FIELD: Final = "base"
ABOUT_FILE: Final[Mapping[str, str]] = {
    VERSION_FIELD: f"The version of this form; {VERSION}. Every file says it.",
    ABOUT_FIELD: "What the profile is for, in a line.",
    BASE_FIELD: "The built-in profile that a profile of one's own stands on; by default the one of its name, else `default`.",
}
"""The fields that say something of the file itself."""

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    section: tuple(each.name.rpartition(".")[2] for each in FIELDS.values() if each.section == section)
    for section in dict.fromkeys(each.section for each in FIELDS.values() if each.section)
}
"""The names in each section."""
TOP: Final = (*ABOUT_FILE, *dict.fromkeys(each.section or each.name for each in FIELDS.values()))
"""The names in a profile itself."""


OTHER_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "": {
        **dict.fromkeys(("judge", "model", "provider"), "verifier"),
        **dict.fromkeys(("extends", "inherits", "parent"), BASE_FIELD),
        **dict.fromkeys(("description", "title"), ABOUT_FIELD),
        **dict.fromkeys(("version", "schema"), VERSION_FIELD),
        **dict.fromkeys(("flows", "allow", "allowed"), "selectors"),
        **dict.fromkeys(("limits", "budget"), "bounds"),
    },
    "verifier": {
        **dict.fromkeys(("type",), "kind"),
        **dict.fromkeys(("key", "apikey", "token", "secret", "keyenv", "apikeyfile"), "key_file"),
        **dict.fromkeys(("url", "endpoint", "host", "server", "address"), "base_url"),
        **dict.fromkeys(("name",), "model"),
        **dict.fromkeys(("command", "cmd", "path"), "program"),
    },
    "checks": {
        **dict.fromkeys(("allowed", "commands", "programs", "command"), "allow"),
    },
    "bounds": {
        **dict.fromkeys(("timeout", "seconds", "time"), "wall_seconds"),
        **dict.fromkeys(("maxturns", "calls", "steps"), "turns"),
        **dict.fromkeys(("maxtokens",), "output_tokens"),
    },
}
"""What fields are called elsewhere, by section and folded (lower case, without `-` and `_`), and what each is called here."""


def text_problem(check: Check, text: str) -> str | None:
    """Say what keeps a text from being what is checked for, as the end of a sentence that begins with it; None when nothing does."""
    match check:
        case Check.LINE:
            return text_fault(text)
        case Check.NAME:
            return name_fault(text)
        case Check.MODEL:
            return model_fault(text)
        case Check.ADDRESS:
            return address_fault(text)
        case Check.KEY_PATH:
            return key_path_fault(text)
        case Check.PROGRAM:
            return program_fault(text)
        case Check.SELECTOR:
            return selector_fault(text)
        case Check.SELECTORS:
            return all_selectors_fault(text)
    assert_never(check)


def joined(field: Field, upper: Value, lower: Value) -> Value:
    """Join what two layers say of a field, the upper one first."""
    match field.rule, upper, lower:
        case Rule.BOTH, bool(), bool():
            return upper and lower
        case Rule.LEAST, int(), int():
            return min(upper, lower)
        case Rule.STRICTEST, str(), str():
            return max(upper, lower, key=ASSURANCES.index)
        case Rule.COMMON, tuple(), tuple():
            return in_common(upper, lower)
        case Rule.COMMON, Commands(beginnings=ours), Commands(beginnings=theirs):
            return Commands(commands.in_common(ours, theirs))
        case _:
            assert field.rule in {Rule.CHOICE, Rule.WHOLE}, f"{field.name} holds what its rule cannot join"
            return upper
