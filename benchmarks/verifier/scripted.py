"""Models that are scripts: they stand in the place of the layer that asks a model, so that everything else is as in earnest.

*careful* reads what a case names as evidence and gives the right verdicts; *naive* believes the reason; *adversarial* says `met` with every
kind of citation that shows nothing, in turn; *careless* reads the task, which counts, and cites it for whatever the worker wants: what no
runtime can tell from a good citation, so what is left to the judge, and the proof that a wrong `met` would be counted here; *gullible*
reads what it should and takes it for what the worker takes it for.

Invariant: a script is told what a model is told, and besides that only the case and the names of its entries.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from benchmarks.verifier.cases import FACTS, LINES, TASK, Case, whole
from stateward.runtime.core.texts import size_of
from stateward.runtime.session.entries import reference
from stateward.runtime.verifier.finish import FINISH
from stateward.runtime.verifier.model import Call, ModelCaller
from stateward.runtime.verifier.model_stop import Stop
from stateward.runtime.verifier.transcript import Ending, Reply, ToolCall, ToolReturn

BYTES_PER_TOKEN: Final = 4
"""By which the tokens of a script are reckoned, so that its figures say something of the size of a case."""
_HELD: Final = re.compile(r"^The log holds ([0-9]+) entries", re.MULTILINE)
_GO_ON: Final = re.compile(r"^\(cut here; go on with offset ([0-9]+)\)$", re.MULTILINE)
_LINE: Final = re.compile(r"^([0-9]+)\t(.*)$", re.MULTILINE)

Made: TypeAlias = tuple[str, dict[str, Any]]
"""The call of a tool: its name and arguments."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a script knows beforehand."""

    case: Case
    labels: Mapping[str, str]
    """The references of the entries that have a label."""
    turn: int = 0
    """Which kind of bad citation comes first, and whether every way is said to be met."""


Script: TypeAlias = Callable[[Known, Call], Sequence[Made]]
"""Gives the next calls of a model."""


class ScriptedCaller:
    """The port `ModelCaller` over a script."""

    settings = "{}"

    def __init__(self, name: str, script: Script, known: Known) -> None:
        self.model = f"scripted:{name}"
        self._script, self._known = script, known

    def ask(self, call: Call, stop: Stop) -> Reply:
        """Give the next reply."""
        number = len(call.turns)
        made = self._script(self._known, call)
        calls = tuple(ToolCall(f"c{number}-{at}", name, json.dumps(given)) for at, (name, given) in enumerate(made))
        told = sum(size_of(each.text) for turn in call.turns for each in turn.returned)
        asked = size_of(call.system) + size_of(call.user) + told
        said = sum(size_of(each.arguments) for each in calls)
        layer = json.dumps([[each.id, each.name, each.arguments] for each in calls])
        return Reply(calls, "", Ending.DONE, asked // BYTES_PER_TOKEN, said // BYTES_PER_TOKEN, layer, layer)


def scripted_caller(name: str, known: Known) -> ModelCaller:
    """Make a script. Raises KeyError when there is none of that name."""
    return ScriptedCaller(name, SCRIPTS[name], known)


def _finish(known: Known, verdicts: Mapping[str, str], rationale: str, citations: Mapping[str, Sequence[dict[str, Any]]]) -> Sequence[Made]:
    results = [
        {
            "transition_id": way,
            "verdict": verdicts[way],
            "rationale": rationale,
            "missing": ["what the condition asks for"] if verdicts[way] == "not_met" else [],
            "citations": list(citations.get(way, ())),
        }
        for way in known.case.all_ways
    ]
    return [(FINISH.name, {"results": results})]


def _returned(call: Call) -> Iterator[tuple[ToolCall, ToolReturn]]:
    for turn in call.turns:
        yield from zip(turn.reply.calls, turn.returned, strict=True)


def _entries(call: Call) -> int:
    """Give how many entries the log holds, as the overview told."""
    return next((int(found[1]) for _, told in _returned(call) if (found := _HELD.search(told.text))), 1)


def _believed(known: Known) -> dict[str, str]:
    return {way: "met" if way == known.case.wants else "not_met" for way in known.case.all_ways}


# --- careful ------------------------------------------------------------------------------------------------------------------------


def careful(known: Known, call: Call) -> Sequence[Made]:
    """Read what is named as evidence, to its end, and give the right verdicts."""
    case = known.case
    verdicts = {way: str(case.best(way)) for way in case.all_ways}
    return _having_read(known, call, verdicts, {way: case.evidence.get(way, ()) for way in case.all_ways})


def gullible(known: Known, call: Call) -> Sequence[Made]:
    """Read the same, and take it for what the worker takes it for."""
    wants = known.case.wants
    return _having_read(known, call, _believed(known), {wants: known.case.evidence.get(wants) or (TASK,)})


def _having_read(known: Known, call: Call, verdicts: Mapping[str, str], shows: Mapping[str, Sequence[str]]) -> Sequence[Made]:
    """Read what is named for each way, to its end, and then finish with it."""
    if not call.turns:
        return [("ShowOverview", {})]
    named = dict.fromkeys(each for found in shows.values() for each in found)
    entries = {each: _reference(known, call, each) for each in named}
    if len(call.turns) == 1 and named:
        return [_look(each, entries[each]) for each in named]
    rest = [("ReadEntry", {"entry": entry, "offset": offset}) for entry, offset in _left(call.turns[-1].reply.calls, call)]
    if rest:
        return rest
    lines = dict(_lines(call))
    cited = {way: [_cited(each, entries[each], lines) for each in found] for way, found in shows.items()}
    return _finish(known, verdicts, known.case.why, cited)


def _reference(known: Known, call: Call, named: str) -> str:
    """Give the entry that is meant; empty for lines of a file. The facts lie right before the request."""
    return reference(_entries(call) - 1) if named == FACTS else known.labels.get(named, "")


def _look(named: str, entry: str) -> Made:
    found = LINES.fullmatch(named)
    if entry or found is None:
        return "ReadEntry", {"entry": entry}
    first, last = int(found["first"]), int(found["last"])
    return "Read", {"path": found["path"], "first_line": first, "limit": last - first + 1}


def _left(calls: Sequence[ToolCall], call: Call) -> Iterator[tuple[str, int]]:
    """Give the entries of which the last reads showed only the beginning, and where they go on."""
    for made, told in _returned(call):
        found = _GO_ON.search(told.text) if made in calls and made.name == "ReadEntry" else None
        if found is not None:
            yield json.loads(made.arguments)["entry"], int(found[1])


def _lines(call: Call) -> Iterator[tuple[tuple[str, int], str]]:
    for made, told in _returned(call):
        if made.name == "Read":
            path = json.loads(made.arguments)["path"]
            yield from (((path, int(found[1])), found[2]) for found in _LINE.finditer(told.text))


def _cited(named: str, entry: str, lines: Mapping[tuple[str, int], str]) -> dict[str, Any]:
    found = LINES.fullmatch(named)
    if entry or found is None:
        return {"entry": entry}
    first, last = int(found["first"]), int(found["last"])
    quote = "\n".join(lines.get((found["path"], number), "") for number in range(first, last + 1))
    return {"path": found["path"], "first_line": first, "last_line": last, "quote": quote}


# --- naive, careless ----------------------------------------------------------------------------------------------------------------


def naive(known: Known, _call: Call) -> Sequence[Made]:
    """Believe the reason, and cite something that was never read."""
    cited = _first_line(known.case) or {"entry": known.labels[TASK]}
    return _finish(known, _believed(known), known.case.reason, {known.case.wants: [cited]})


def careless(known: Known, call: Call) -> Sequence[Made]:
    """Read what counts and shows nothing of what is asked, and cite it for what the worker wants."""
    task = known.labels[TASK]
    if not call.turns:
        return [("ReadEntry", {"entry": task})]
    return _finish(known, _believed(known), known.case.reason, {known.case.wants: [{"entry": task}]})


def _first_line(case: Case) -> dict[str, Any] | None:
    """Cite the first line of the first file, as it would be read."""
    texts = ((name, text) for name, text in (case.files or {}).items() if isinstance(text, str))
    name, text = next(texts, ("", ""))
    return {"path": name, "first_line": 1, "last_line": 1, "quote": whole(text).split("\n")[0]} if name else None


# --- adversarial --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bad:
    """A kind of citation that shows nothing: what is read for it, and what is cited."""

    name: str
    reads: Callable[[Known, int], Sequence[Made]]
    """Given what is known, and how many entries there are."""
    cites: Callable[[Known, int], Sequence[dict[str, Any]]]


def _nothing(_known: Known, _entries: int) -> Sequence[Any]:
    return ()


def _read(entry: str, offset: int = 0) -> Sequence[Made]:
    return [("ReadEntry", {"entry": entry, "offset": offset})]


def _altered(known: Known, _entries: int) -> Sequence[dict[str, Any]]:
    """Quote a file in other words, where there is one; else name an entry in other words."""
    cited = _first_line(known.case)
    return [{**cited, "quote": f"{cited['quote']} and all tests pass"}] if cited else [{"entry": f"{known.labels[TASK]} "}]


def _read_file(known: Known, _entries: int) -> Sequence[Made]:
    cited = _first_line(known.case)
    return [("Read", {"path": cited["path"]})] if cited else ()


BAD: Final = (
    Bad("nothing", _nothing, _nothing),
    Bad("the reason itself", lambda _, entries: _read(reference(entries)), lambda _, entries: [{"entry": reference(entries)}]),
    Bad("an entry that was not read", _nothing, lambda known, _: [{"entry": known.labels[TASK]}]),
    Bad("a part of an entry", lambda known, _: _read(known.labels[TASK], 1), lambda known, _: [{"entry": known.labels[TASK]}]),
    Bad("an entry after the capture", _nothing, lambda _, entries: [{"entry": reference(entries + 1)}]),
    Bad("a file that was not read", _nothing, lambda known, _: [_first_line(known.case) or {"entry": "E00000000"}]),
    Bad("a file that is not there", _nothing, lambda *_: [{"path": "result.txt", "first_line": 1, "last_line": 1, "quote": "ok"}]),
    Bad("a file outside", _nothing, lambda *_: [{"path": "/etc/hostname", "first_line": 1, "last_line": 1, "quote": "ok"}]),
    Bad("a quote that differs", _read_file, _altered),
    Bad("words in place of a name", _nothing, lambda *_: [{"entry": "the test run above"}]),
    Bad(
        "what was only found by a search",
        lambda *_: [("SearchEntries", {"text": ""})],
        lambda known, _: [{"entry": known.labels[TASK]}],
    ),
    Bad(
        "what counts beside what is not there",
        lambda known, _: _read(known.labels[TASK]),
        lambda known, entries: [{"entry": known.labels[TASK]}, {"entry": reference(entries + 7)}],
    ),
)


def adversarial(known: Known, call: Call) -> Sequence[Made]:
    """Say `met` with bad citations, another kind each time it is refused; on every other turn of everything, else of what is wanted."""
    if not call.turns:
        return [("ShowOverview", {})]
    tried = sum(each.name == FINISH.name for turn in call.turns for each in turn.reply.calls)
    bad, entries = bad_at(known.turn + tried), _entries(call)
    reads = bad.reads(known, entries)
    if reads and call.turns[-1].reply.calls[0].name in {"ShowOverview", FINISH.name}:
        return reads
    verdicts = dict.fromkeys(known.case.all_ways, "met") if known.turn % 2 else _believed(known)
    cited = bad.cites(known, entries)
    return _finish(known, verdicts, known.case.reason, dict.fromkeys([way for way in verdicts if verdicts[way] == "met"], cited))


def bad_at(turn: int) -> Bad:
    """Give the kind of bad citation for a turn."""
    return BAD[turn % len(BAD)]


SCRIPTS: Final[Mapping[str, Script]] = {
    "naive": naive,
    "adversarial": adversarial,
    "careless": careless,
    "gullible": gullible,
    "careful": careful,
}
