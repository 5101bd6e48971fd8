"""What may be written at the cursor: fields by position, ids of states, values, words of the language, names in scope.

Invariants: told by what stands before the cursor, so that it works in a text that is half written, which is the usual case; every edit
replaces what is written at the cursor, on its line, and nothing else; a snippet is given beside its plain text, for editors without them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Final, NamedTuple

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.context import ITEM, Context, Where, context_at
from stateward.compiler.editor.hovering import type_of
from stateward.compiler.editor.outline import level_at, spec_at
from stateward.compiler.editor.states import Role, States
from stateward.compiler.flow.schema import ArrayOfTexts, ConstraintsByName, Duration, FieldSpec, MapOf, Mode, ObjectOf, OneOf, ScalarType
from stateward.compiler.source import Span

ITEMS_MAX: Final = 1_000
WORDS: Final = {
    "let": ("let ${1:name} = $2; in $0", "binds names for what follows"),
    "match": ("match ${1:value} { ${2:pattern}: $3; _: $0; }", "chooses by value"),
    "import": ('import "${1:./file.dcdl}"', "takes in another module"),
}
"""Words of the language that begin values, each with its snippet."""
JOINING: Final = {
    "default": ("default $0", "takes the right side where the left has no value"),
    "as": ("as $0", "holds a value against a constraint"),
}
"""Those that go on behind a value."""
_PLACES: Final = re.compile(r"\$\{\d+:([^}]*)\}|\$\d+")
_GIVEN: Final = re.compile(r"[ \t]*=")
_ENDED: Final = re.compile(r"[ \t]*;")
_IDS: Final = frozenset({"initial", "target"})
TRANSITION: Final = '{ target = "$1"; condition = "$2"; }'
NAMED_TRANSITION: Final = '${1:done} = { target = "$2"; condition = "$3"; };'
STATE: Final = '{\n    instructions = "$1";\n    transitions = {\n        ${2:done} = { target = "$3"; condition = "$4"; };\n    };\n}'
NAMED_STATE: Final = (
    '${1:id} = {\n    instructions = "$2";\n    transitions = {\n        ${3:done} = { target = "$4"; condition = "$5"; };\n    };\n};'
)


class Sort(Enum):
    """What an item is."""

    FIELD = "field"
    STATE = "state"
    VALUE = "value"
    WORD = "word"
    NAME = "name"
    SKELETON = "skeleton"


class Item(NamedTuple):
    """Something that may be written."""

    label: str
    sort: Sort
    detail: str
    documentation: str
    span: Span
    """What it replaces."""
    snippet: str
    """With `$1` and its kin where the author goes on."""
    rank: int = 1
    """Lower ones come first."""

    @property
    def text(self) -> str:
        """What is written where an editor knows no snippets."""
        return plain(self.snippet)


def plain(snippet: str) -> str:
    """Give the text of a snippet without its places."""
    return re.sub(r"\\([$}\\])", r"\1", _PLACES.sub(lambda found: found[1] or "", snippet))


def literal(text: str) -> str:
    """Write a text so that a snippet shows it as it is."""
    return re.sub(r"([$}\\])", r"\\\1", text)


def complete(analysis: Analysis, offset: int) -> list[Item]:
    """Give what may be written at an offset."""
    context = context_at(analysis.source.text, offset)
    found = _items(analysis, context)
    return [each for _, each in zip(range(ITEMS_MAX), found, strict=False)]


def _items(analysis: Analysis, context: Context) -> Iterator[Item]:
    match context.where:
        case Where.KEY:
            yield from _keys(analysis, context)
        case Where.BINDING:
            if not context.is_first:
                yield Item("in", Sort.WORD, "ends the names that are bound", "", context.span, "in $0")
        case Where.VALUE:
            yield from _values(analysis, context)
            yield from _names(analysis, context)
        case Where.AFTER:
            yield from _words(JOINING, context)
        case Where.STRING:
            yield from _texts(_closed(analysis, context.span), context)
        case Where.NOWHERE:
            pass


def _closed(analysis: Analysis, span: Span) -> Analysis:
    """Give the text with the string at the cursor closed, where it is not: what stands behind it is no part of it."""
    text = analysis.source.text
    written = text[span.start : span.end]
    if len(written) > 1 and written.endswith('"'):
        return analysis
    return Analysis(analysis.source.name, f'{text[: span.start]}""{text[span.end :]}', analysis.slug)


# --- fields ---------------------------------------------------------------------------------------------------------------------------


def _keys(analysis: Analysis, context: Context) -> Iterator[Item]:
    level = level_at(context.path, analysis.form)
    if level is None:
        yield from _skeletons(analysis, context)
        return
    written = {each.path[-1] for each in analysis.entries if each.path[:-1] == context.path and each.key.span != context.span}
    is_given = _GIVEN.match(analysis.source.text, context.span.end) is not None
    is_ended = _ENDED.match(analysis.source.text, context.span.end) is not None
    for spec in level.fields:
        if spec.name not in written:
            snippet = spec.name if is_given else _field(spec).removesuffix(";" if is_ended else "")
            yield Item(spec.name, Sort.FIELD, type_of(spec), spec.doc, context.span, snippet, 0 if spec.required else 1)
    if not context.path and not written:
        snippet, about = WORDS["let"]
        yield Item("let", Sort.WORD, about, "", context.span, snippet, 2)


def _field(spec: FieldSpec) -> str:
    match spec.type:
        case _ if spec.mode is Mode.GUARD:
            return f"{spec.name} = $1;"
        case MapOf() | ObjectOf() | ConstraintsByName():
            return f"{spec.name} = {{\n    $0\n}};"
        case ArrayOfTexts():
            return f'{spec.name} = ["$1"];'
        case Duration():
            return f'{spec.name} = "${{1:10m}}";'
        case OneOf(words=words):
            return f'{spec.name} = "${{1:{words[-1]}}}";'
        case ScalarType.STRING:
            return f'{spec.name} = "$1";'
        case ScalarType.BOOL:
            return f"{spec.name} = ${{1:true}};"
        case _:
            return f"{spec.name} = ${{1:{spec.example or 1}}};"


def _skeletons(analysis: Analysis, context: Context) -> Iterator[Item]:
    if _GIVEN.match(analysis.source.text, context.span.end):
        return
    match context.path:
        case ("states",):
            yield Item("state", Sort.SKELETON, "a state with a way out", "", context.span, NAMED_STATE)
        case ("states", _, "transitions"):
            yield Item("transition", Sort.SKELETON, "a way out of the state", "", context.span, NAMED_TRANSITION)
        case _:
            pass


# --- values ---------------------------------------------------------------------------------------------------------------------------


def _values(analysis: Analysis, context: Context) -> Iterator[Item]:
    spec = spec_at(context.path, analysis.form)
    if spec is None:
        yield from _bodies(context)
        if context.path and context.path[-1] == ITEM:
            yield from _names_of(analysis, context)
        return
    match spec.type:
        case _ if spec.mode is Mode.GUARD:
            yield from _readable(analysis, context)
        case ArrayOfTexts():
            yield Item('["…"]', Sort.VALUE, type_of(spec), spec.doc, context.span, '["$0"]')
        case OneOf(words=words):
            yield from (Item(f'"{word}"', Sort.VALUE, type_of(spec), spec.doc, context.span, f'"{word}"') for word in words)
        case Duration():
            yield Item('"10m"', Sort.VALUE, type_of(spec), spec.doc, context.span, '"${1:10m}"')
        case MapOf() | ObjectOf() | ConstraintsByName():
            yield Item("{ … }", Sort.VALUE, type_of(spec), spec.doc, context.span, "{\n    $0\n}")
        case ScalarType.BOOL:
            yield from (Item(word, Sort.VALUE, type_of(spec), spec.doc, context.span, word) for word in ("true", "false"))
        case ScalarType.INT:
            number = spec.example or "1"
            yield Item(number, Sort.VALUE, type_of(spec), spec.doc, context.span, number)
        case ScalarType.STRING if spec.is_name:
            yield from _texts(_closed(analysis, context.span) if context.span.start == context.span.end else analysis, context)
        case ScalarType.STRING:
            yield Item('"…"', Sort.VALUE, type_of(spec), spec.doc, context.span, '"$0"')


def _readable(analysis: Analysis, context: Context) -> Iterator[Item]:
    """Give what a guard may read, as it is written there."""
    flow = analysis.flow
    for root, declarations in (("vars", flow.variables), ("input", flow.inputs)) if flow is not None else ():
        for each in declarations.items:
            written = f"{root}.{each.name}"
            about = each.place.source.slice(each.place.span)
            yield Item(written, Sort.VALUE, about, "", context.span, literal(written), 0)
    for state in analysis.states:
        written = f"visits.{state.id}"
        yield Item(written, Sort.VALUE, "how often the state was entered", "", context.span, literal(written))
    yield Item("spent.exceeded", Sort.VALUE, "whether a way out leads to a state without a visit left", "", context.span, "spent.exceeded")


def _bodies(context: Context) -> Iterator[Item]:
    match context.path:
        case (*_, "[]"):
            pass
        case ("states", _):
            yield Item("state", Sort.SKELETON, "what a state is", "", context.span, STATE)
        case ("states", _, "transitions", _):
            yield Item("transition", Sort.SKELETON, "what a way out is", "", context.span, TRANSITION)
        case _:
            pass


def _texts(analysis: Analysis, context: Context) -> Iterator[Item]:
    """Give the texts that a field takes which names something, with their quotes."""
    if context.path and context.path[-1] == ITEM:
        yield from _names_of(analysis, context)
    elif context.path and context.path[-1] in _IDS and spec_at(context.path, analysis.form) is not None:
        yield from _ids(analysis, context)
    elif context.path == ("name",) and analysis.slug is not None:
        yield Item(analysis.slug, Sort.VALUE, "the slug of this file", "", context.span, literal(f'"{analysis.slug}"'))


def _names_of(analysis: Analysis, context: Context) -> Iterator[Item]:
    """Give what may be named in a list."""
    spec = spec_at(context.path[:-1], analysis.form)
    flow = analysis.flow
    if flow is None or spec is None or not isinstance(spec.type, ArrayOfTexts):
        return
    names: Iterable[str] = ()
    if spec.type.what == "variable":
        names = (each.name for each in flow.variables.items)
    elif spec.type.what == "check":
        names = (each.name for each in flow.checks.items)
    yield from (Item(each, Sort.VALUE, spec.type.what, "", context.span, literal(f'"{each}"'), 0) for each in names)


def _ids(analysis: Analysis, context: Context) -> Iterator[Item]:
    first = {each.id: _first_line(each.instructions.value) for each in analysis.states if each.instructions is not None}
    seen: set[str] = set()
    for each in States(analysis).uses:
        if each.role is Role.DECLARED and each.id not in seen:
            seen.add(each.id)
            yield Item(each.id, Sort.STATE, "state", first.get(each.id, ""), context.span, literal(f'"{each.id}"'), 0)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:200]


def _names(analysis: Analysis, context: Context) -> Iterator[Item]:
    before = len(analysis.source.text[: context.span.start].rstrip())  # where a `let` ends whose value is not yet there
    for bound in analysis.scopes.visible(before):
        if bound.kind != "field":
            yield Item(bound.key.text, Sort.NAME, bound.kind, "", context.span, literal(bound.key.text), 2)
    yield from _words(WORDS, context)


def _words(words: Mapping[str, tuple[str, str]], context: Context) -> Iterator[Item]:
    return (Item(word, Sort.WORD, about, "", context.span, snippet, 3) for word, (snippet, about) in words.items())
