"""Bundles: what is written is read again, and nothing else is, wherever it was changed."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.resources.catalog import builtins
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine import bundle_reading, flows, limits
from stateward.runtime.engine.bundle_reading import read_bundle
from stateward.runtime.engine.bundles import Bundle, BundleHeader, BundleWriter
from stateward.runtime.engine.compiling import canonical_of, compiled
from stateward.runtime.engine.fitness import unfit
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.taking import untrue
from stateward.runtime.ports import PAGE_MAX, Brought, Removed, Revision, Saved, TakenIn, Workspace
from stateward.runtime.session.chain import digest_of
from stateward.store import revisions as kept_by_stores
from stateward.store.memory import MemoryFlowStore
from tests.runtime.engines import NOON, WORKSPACE, TickingClock
from tests.runtime.source_folders import source

Lines = list[dict[str, Any]]
ELSEWHERE = "0198c0de-0000-7000-8000-0000000000ee"


def authority(author: str = "ada", *, compiler: str = "stateward 0", workspace: str = WORKSPACE) -> WorkspaceFlows:
    store = MemoryFlowStore()
    store.ensure(Workspace(workspace, "here", NOON))
    return WorkspaceFlows(store, workspace, author, compiler, TickingClock(), name="hé\u202ere")


def filled(compiler: str = "stateward 0") -> WorkspaceFlows:
    """Give a Workspace with a flow of three revisions, one that was removed, and one with an odd source."""
    made = authority(compiler=compiler)
    for slug, text, base in [
        ("paper", "it.", None),
        ("paper", "more.", 1),
        ("gone", "it.", None),
        ("odd", "é\u2028 \\\\ \U0001f600\r\n", None),
    ]:
        assert isinstance(made.save(slug, source(text, slug), base=base, note=text), Saved)
    assert isinstance(made.restore("paper", 1, base=2), Saved)
    made.remove("gone", base=1, note="why")
    return made


def bundle_of(made: WorkspaceFlows, *slugs: str) -> bytes:
    pieces = made.export(slugs)
    assert not isinstance(pieces, Refusal), pieces
    return b"".join(pieces)


BUNDLE = bundle_of(filled())
SMALL = bundle_of(filled(), "gone")


def read(data: bytes) -> Bundle:
    answer = read_bundle(data)
    assert isinstance(answer, Bundle), answer
    return answer


def refused(answer: object, code: RefusalCode = RefusalCode.BUNDLE_MALFORMED) -> str:
    assert isinstance(answer, Refusal), answer
    assert code is answer.code, answer
    assert answer.message.isprintable()
    assert len(answer.message) < 500
    assert answer.allowed
    return answer.message


def lines_of(data: bytes) -> Lines:
    """Give the members of each line, without its digest."""
    found = [json.loads(line) for line in data.splitlines()]
    for each in found:
        del each["line_digest"]
    return found


def signed(lines: Lines, *, whole: bool = True) -> bytes:
    """Write lines as whoever knows the form would, with every digest right."""
    data = b""
    for members in lines:
        over_all = {"bundle_digest": digest_of(data)} if whole and members.get("type") == "end" else {}
        text = json.dumps({**members, **over_all}, separators=(",", ":"))
        data += (text[:-1] + f',"line_digest":"{digest_of(text.encode())}"}}\n').encode()
    return data


def forged(change: Callable[[Lines], object]) -> bytes:
    lines = lines_of(BUNDLE)
    change(lines)
    return signed(lines)


# --- what is written ----------------------------------------------------------------------------------------------------------------


def test_what_was_written_is_read_again_as_it_was() -> None:
    made = filled()
    bundle = read(bundle_of(made))
    assert (WORKSPACE, "hé\u202ere", "ada") == (bundle.header.workspace, bundle.header.name, bundle.header.by)
    assert ["gone", "odd", "paper"] == [each.slug for each in bundle.flows]
    for flow in bundle.flows:
        for number, new in enumerate(flow.revisions, start=1):
            there = made.source(flow.slug, number)
            assert isinstance(there, Revision)
            assert (
                there.content,
                there.content_digest,
                there.definition_digest,
                there.compiler,
                there.author,
                there.note,
                there.created,
            ) == (
                new.content,
                new.content_digest,
                new.definition_digest,
                new.compiler,
                new.author,
                new.note,
                new.created,
            )
            assert new.definition_digest == digest_of(new.definition)
    removed = [(each.removed.author, each.removed.note) if each.removed else None for each in bundle.flows]
    assert [("ada", "why"), None, None] == removed


def test_the_digest_is_that_of_every_byte_before_the_last_line() -> None:
    assert digest_of(BUNDLE[: BUNDLE.rindex(b"\n", 0, -1) + 1]) == read(BUNDLE).digest


def test_a_definition_is_there_once_and_every_byte_is_ascii() -> None:
    kinds = [each.get("type", "bundle") for each in lines_of(BUNDLE)]
    expected = ["bundle", "definition", "revision", "removal", "definition", "revision"]
    assert [*expected, "definition", "revision", "definition", "revision", "revision", "end"] == kinds
    assert BUNDLE.isascii()


def test_every_digest_can_be_made_by_anybody() -> None:
    assert signed(lines_of(BUNDLE)) == BUNDLE


def test_the_same_workspace_gives_the_same_bundle_but_for_its_first_line_and_the_digest_over_it() -> None:
    made = filled()
    first, second = bundle_of(made).splitlines(), bundle_of(made).splitlines()
    assert first[1:-1] == second[1:-1]
    assert first[0] != second[0]


def test_a_source_that_is_no_text_comes_back_as_it_was() -> None:
    writer, canonical = BundleWriter(), canonical_of(CompiledFlowDefinition.model_validate_json(json.dumps(_definition("paper"))))
    revision = Revision(WORKSPACE, "", "paper", 1, digest_of(b"\xff"), digest_of(canonical), "another 1", "ada", "", NOON, b"\xff")
    pieces = [writer.header(BundleHeader(WORKSPACE, "", NOON, "ada")), writer.definition(digest_of(canonical), canonical)]
    data = b"".join([*pieces, writer.revision(revision), writer.end()])
    assert b"\xff" == read(data).flows[0].revisions[0].content


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200), st.datetimes())
def test_any_note_and_any_time_come_back_as_they_were(note: str, time: datetime) -> None:
    canonical = canonical_of(CompiledFlowDefinition.model_validate_json(json.dumps(_definition("paper"))))
    created = time.replace(tzinfo=UTC)
    revision = Revision(WORKSPACE, "", "paper", 1, digest_of(b""), digest_of(canonical), "another 1", note, note, created, b"")
    writer = BundleWriter()
    pieces = [writer.header(BundleHeader(WORKSPACE, note, created, note)), writer.definition(digest_of(canonical), canonical)]
    bundle = read(b"".join([*pieces, writer.revision(revision), writer.end()]))
    new = bundle.flows[0].revisions[0]
    assert (note, note, created, note) == (new.note, new.author, new.created, bundle.header.name)


# --- what was changed ---------------------------------------------------------------------------------------------------------------


def test_a_changed_byte_anywhere_is_refused_and_its_line_is_named() -> None:
    line = 1
    for at, byte in enumerate(SMALL):
        for change in (1, 0x20):
            answer = read_bundle(SMALL[:at] + bytes([byte ^ change]) + SMALL[at + 1 :])
            assert isinstance(answer, Refusal), (at, change)
            assert answer.code is RefusalCode.BUNDLE_NEWER or answer.message.startswith(f"line {line} of the bundle is wrong: "), (
                at,
                answer,
            )
        line += byte == 0x0A


@given(st.data())
def test_any_other_change_of_bytes_is_refused(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(BUNDLE)))
    end = data.draw(st.integers(start, min(start + 40, len(BUNDLE))))
    changed = BUNDLE[:start] + data.draw(st.binary(max_size=40)) + BUNDLE[end:]
    assert changed == BUNDLE or isinstance(read_bundle(changed), Refusal)


def test_a_cut_bundle_is_refused_wherever_it_ends() -> None:
    for end in range(len(SMALL)):
        assert isinstance(read_bundle(SMALL[:end]), Refusal), end


def test_missing_doubled_and_exchanged_lines_are_refused() -> None:
    lines = BUNDLE.splitlines(keepends=True)
    for at in range(len(lines)):
        assert isinstance(read_bundle(b"".join(lines[:at] + lines[at + 1 :])), Refusal), at
        assert isinstance(read_bundle(b"".join(lines[: at + 1] + lines[at:])), Refusal), at
        for other in range(at):
            exchanged = list(lines)
            exchanged[at], exchanged[other] = lines[other], lines[at]
            assert isinstance(read_bundle(b"".join(exchanged)), Refusal), (at, other)


def test_a_line_of_another_bundle_is_refused_although_it_is_sound_in_itself() -> None:
    lines, others = BUNDLE.splitlines(keepends=True), bundle_of(filled()).splitlines(keepends=True)
    assert lines[0] == others[0] or "line 12 " in refused(read_bundle(b"".join([others[0], *lines[1:]])))


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"{}\n", b"[]\n", b"null\n", b"\xff\n", b"PK\x03\x04", b"[" * 100_000, b"{" * 100_000 + b"\n", b"1" * 10_000 + b"\n"],
)
def test_what_is_no_bundle_is_refused_at_its_first_line(data: bytes) -> None:
    message = refused(read_bundle(data))
    assert message.startswith("line 1 of the bundle is wrong: ") if data else message == "the bundle is empty"
    assert "Expecting" not in message
    assert "codec" not in message


def test_a_bundle_that_came_through_another_line_end_or_with_a_mark_is_refused() -> None:
    message = refused(read_bundle(BUNDLE.replace(b"\n", b"\r\n")))
    assert "line 1 of the bundle is wrong: it ends in CR LF, and lines of a bundle end in LF" == message
    refused(read_bundle(b"\xef\xbb\xbf" + BUNDLE))
    refused(read_bundle(BUNDLE + b"\n"))


# --- what was forged ----------------------------------------------------------------------------------------------------------------


CANCEL = {"id": "$cancel", "target": "$cancelled", "condition": "It cannot go on.", "synthetic": True}
READY = {"id": "ready", "target": "done", "condition": "It is so.", "synthetic": False}


def _definition(name: str, **changed: Any) -> dict[str, Any]:
    return {"schema_version": 1, "name": name, "initial": "write", "states": _states(), **changed}


def _states(**changed: Any) -> list[dict[str, Any]]:
    return [
        {"id": "write", "instructions": "Write.", "terminal": False, "transitions": [READY, CANCEL], **changed},
        {"id": "done", "instructions": "", "terminal": True, "transitions": []},
        {"id": "$cancelled", "instructions": "", "terminal": True, "transitions": []},
    ]


def _defined(definition: object, *, sort: bool = True) -> Callable[[Lines], object]:
    """Put another definition in the place of the first flow's."""

    def change(lines: Lines) -> None:
        canonical = json.dumps(definition, sort_keys=sort, separators=(",", ":"), ensure_ascii=False)
        lines[1]["canonical"], lines[1]["definition_digest"] = canonical, digest_of(canonical.encode())
        lines[2]["definition_digest"] = digest_of(canonical.encode())

    return change


def _set(line: int, name: str, value: object) -> Callable[[Lines], object]:
    return lambda lines: lines[line].update({name: value})


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (_set(0, "format", "another"), 1, "it is not the first of a bundle"),
        (_set(0, "version", 0), 1, "its version is none that there is: `0`"),
        (_set(0, "version", True), 1, "its version is none"),
        (_set(0, "version", 1.0), 1, "its version is none"),
        (_set(0, "version", "2"), 1, "its version is none"),
        (_set(0, "workspace", {"name": "", "id": ""}), 1, "its Workspace has no id and name"),
        (_set(0, "by", None), 1, "a text is missing"),
        (_set(0, "more", 1), 1, "its members are not format, version, workspace, exported, by"),
        (_set(0, "exported", "2026-03-01T12:00:00Z"), 1, "`2026-03-01T12:00:00Z` is no time"),
        (_set(0, "exported", "2026-13-01T12:00:00.000000Z"), 1, "is no time"),
        (_set(0, "exported", 7), 1, "`7` is no time"),
        (_set(1, "type", "another"), 2, "it is of no known type"),
        (_set(1, "type", ["end"]), 2, "it is of no known type"),
        (lambda lines: lines[1].pop("type"), 2, "it is of no known type"),
        (_set(1, "canonical", "{}"), 2, "its definition has another digest"),
        (_defined({}), 2, "its definition is none that this program knows"),
        (_defined(_definition("gone", more=1)), 2, "its definition is none that this program knows"),
        (_defined(_definition("gone"), sort=False), 2, "its definition is not in its canonical form"),
        (_defined(_definition("gone", initial="nowhere")), 2, "its definition names a state that is not there"),
        (_defined(_definition("another")), 3, "flow `gone` has the definition of a flow of another name"),
        (lambda lines: lines.insert(2, dict(lines[4])), 3, "no revision follows that has the definition before it"),
        (lambda lines: lines.insert(5, lines.pop(1)), 2, "its definition is not there"),
        (lambda lines: lines.insert(4, dict(lines[1])), 5, "its definition was there before"),
        (lambda lines: lines[2].pop("note"), 3, "its members are not type, slug, revision"),
        (_set(2, "revision", 2), 3, "its revision is 2, expected 1"),
        (_set(2, "revision", True), 3, "a number is missing"),
        (_set(2, "revision", 1.0), 3, "a number is missing"),
        (_set(2, "revision", "1"), 3, "a number is missing"),
        (_set(2, "slug", "a b"), 3, "`a b` cannot be a slug"),
        (_set(2, "slug", "other"), 3, "flow `other` has the definition of a flow of another name"),
        (_set(2, "definition_digest", {}), 3, "its definition is not there"),
        (_set(2, "content_digest", digest_of(b"")), 3, "its source has another digest"),
        (_set(2, "note", "a\0b"), 3, "a text holds a NUL, or is no Unicode"),
        (_set(2, "author", "\ud800"), 3, "a text holds a NUL, or is no Unicode"),
        (_set(2, "author", "x" * 1025), 3, "a text has 1025 bytes, more than 1024"),
        (_set(2, "compiler", 0), 3, "a text is missing"),
        (_set(2, "text", "\ud800"), 3, "its source is no Unicode"),
        (_set(2, "created", "2026-03-01T12:00:00.000000+00:00"), 3, "is no time"),
        (_set(3, "revision", 2), 4, "it does not follow the last revision of its flow"),
        (_set(3, "slug", "odd"), 4, "it does not follow the last revision of its flow"),
        (lambda lines: lines.insert(4, dict(lines[3])), 5, "it does not follow the last revision of its flow"),
        (lambda lines: lines.insert(1, lines.pop(3)), 2, "it does not follow the last revision of its flow"),
        (lambda lines: lines.insert(3, {**lines[2], "revision": 3}), 4, "its revision is 3, expected 2"),
        (lambda lines: lines.__setitem__(slice(1, 6), [*lines[4:6], *lines[1:4]]), 5, "flow `gone` comes after `odd`"),
        (_set(-1, "flows", 2), 12, "2 flows, 5 revisions and 4 definitions should be there, and 3, 5 and 4 are"),
        (_set(-1, "revisions", 5.0), 12, "a count is no number"),
        (_set(-1, "definitions", "\x1b[31m" * 100), 12, "a count is no number"),
        (_set(-1, "flows", True), 12, "a count is no number"),
        (lambda lines: lines.append(dict(lines[-1])), 13, "it follows the end"),
        (lambda lines: lines.append(dict(lines[0])), 13, "it follows the end"),
        (lambda lines: lines.pop(), 12, "the end is missing"),
        (lambda lines: lines.insert(1, dict(lines[0])), 2, "it is of no known type"),
    ],
)  # fmt: skip
def test_what_was_forged_with_every_digest_right_is_refused_where_it_is_wrong(
    change: Callable[[Lines], object], line: int, said: str
) -> None:
    message = refused(read_bundle(forged(change)))
    assert message.startswith(f"line {line} of the bundle is wrong: {said}") or (said in message and f"line {line} " in message), message


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"schema_version": 3}, "is of schema version 3, and this program knows versions 1 and 2"),
        ({"schema_version": -(10**40)}, "is of schema version -1000"),
        ({"states": _states(id="done")}, "has a state twice"),
        ({"states": _states()[:-1]}, "names a state that is not there"),
        ({"states": _states(transitions=[{**READY, "target": "nowhere"}, CANCEL])}, "names a state that is not there"),
        ({"states": [*_states(), *({**_states()[1], "id": f"s{number}"} for number in range(127))]}, "has more than 128 states"),
        ({"states": _states(transitions=[])}, "has a state that is neither an end nor left"),
        ({"states": _states(terminal=True)}, "has a state that is neither an end nor left"),
        ({"states": [*_states()[:2], {**_states(id="$cancelled")[0]}]}, "has a state that is neither an end nor left"),
        ({"states": _states(transitions=[READY])}, "has a state that cannot be left as every state can"),
        ({"states": _states(transitions=[CANCEL, READY])}, "has a state that cannot be left as every state can"),
        ({"states": _states(transitions=[READY, {**CANCEL, "target": "done"}])}, "has a state that cannot be left as every state can"),
        ({"states": _states(transitions=[READY, {**CANCEL, "synthetic": False}])}, "has a state that cannot be left as every state can"),
        ({"states": _states(transitions=[{**READY, "synthetic": True}, CANCEL])}, "has a state that cannot be left as every state can"),
        ({"states": _states(transitions=[READY, READY, CANCEL])}, "has a state with a transition twice, or with more than 32"),
        ({"states": _states(transitions=[*({**READY, "id": f"t{n}"} for n in range(33)), CANCEL])}, "has a state with a transition twice"),
        ({"states": _states(transitions=[{**READY, "id": "t" * 129}, CANCEL])}, "has a name of more than 128 bytes"),
        ({"states": _states(instructions="é" * 16385)}, "has a text of more than 32768 bytes"),
        ({"states": _states(transitions=[{**READY, "condition": "x" * 32769}, CANCEL])}, "has a text of more than 32768 bytes"),
    ],
)
def test_a_definition_that_no_flow_can_run_on_is_refused_although_it_has_the_form_of_one(changed: dict[str, Any], said: str) -> None:
    message = refused(authority().take_in(forged(_defined(_definition("gone", **changed))), accept=True))
    assert message.startswith(f"line 2 of the bundle is wrong: its definition {said}")


def test_whatever_the_compiler_makes_can_be_run() -> None:
    made = [compiled(each.content, each.slug, each.slug).definition for each in builtins()]
    assert [None] * len(made) == [unfit(each) for each in made if each is not None]
    ways = [{**READY, "id": f"{number:0128}", "condition": "x" * 32768} for number in range(32)]
    largest = [*({**_states()[1], "id": f"s{number}"} for number in range(126)), *_states(transitions=[*ways, CANCEL])]
    assert None is unfit(CompiledFlowDefinition.model_validate_json(json.dumps(_definition("x", states=largest))))


def test_a_source_is_spelled_as_text_wherever_it_can_be() -> None:
    def change(lines: Lines) -> None:
        del lines[2]["text"]
        lines[2] |= {"base64": "", "content_digest": digest_of(b"")}

    assert "its source is not spelled as in a bundle" in refused(read_bundle(forged(change)))

    def garble(lines: Lines) -> None:
        change(lines)
        lines[2]["base64"] = "é"

    assert "its source is no base64" in refused(read_bundle(forged(garble)))


def test_a_digest_over_all_that_is_not_theirs_is_refused_at_the_last_line() -> None:
    lines = lines_of(BUNDLE)
    lines[-1]["bundle_digest"] = digest_of(b"")
    assert "line 12 of the bundle is wrong: it has another digest" in refused(read_bundle(signed(lines, whole=False)))


@pytest.mark.parametrize("header", [{"version": 3}, {"version": 7, "workspace": None, "more": [1.5]}, {"version": 10**30}])
def test_a_newer_version_is_refused_by_name_whatever_it_looks_like(header: dict[str, Any]) -> None:
    data = json.dumps({"format": "stateward.bundle", **header}).encode() + b"\nanything\n"
    message = refused(read_bundle(data), RefusalCode.BUNDLE_NEWER)
    assert message.startswith(f"the bundle is of version {header['version']}"[:60])
    assert message.endswith("and this program knows version 2")


# --- limits -------------------------------------------------------------------------------------------------------------------------


def test_more_than_a_bundle_holds_is_refused_on_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    made = filled()
    for module in (bundle_reading, flows):
        monkeypatch.setattr(module, "BUNDLE_BYTES_MAX", len(BUNDLE) - 1)
    assert f"more than {len(BUNDLE) - 1}" in refused(read_bundle(BUNDLE), RefusalCode.BUNDLE_TOO_LARGE)
    assert f"more than {len(BUNDLE) - 1} bytes" in refused(made.export([]), RefusalCode.BUNDLE_TOO_LARGE)
    for module in (bundle_reading, flows):
        monkeypatch.setattr(module, "BUNDLE_BYTES_MAX", len(BUNDLE))
    assert len(BUNDLE) == len(bundle_of(made))
    read(BUNDLE)


def test_more_revisions_than_a_bundle_holds_are_refused_on_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    made = filled()
    for module in (bundle_reading, flows):
        monkeypatch.setattr(module, "BUNDLE_REVISIONS_MAX", 4)
    assert "line 11 of the bundle is wrong: there are more than 4 revisions" in refused(read_bundle(BUNDLE))
    refused(made.export([]), RefusalCode.BUNDLE_TOO_LARGE)
    bundle_of(made, "paper")


def test_a_line_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = max(len(line) for line in BUNDLE.splitlines())
    monkeypatch.setattr(bundle_reading, "BUNDLE_LINE_BYTES_MAX", longest)
    read(BUNDLE)
    monkeypatch.setattr(bundle_reading, "BUNDLE_LINE_BYTES_MAX", longest - 1)
    assert f"it has more than {longest - 1} bytes" in refused(read_bundle(BUNDLE))


def test_whatever_a_store_keeps_can_be_in_a_bundle_and_nothing_more() -> None:
    assert kept_by_stores.CONTENT_BYTES_MAX == limits.SOURCE_KEPT_BYTES_MAX
    assert kept_by_stores.DEFINITION_BYTES_MAX == limits.DEFINITION_BYTES_MAX
    assert kept_by_stores.NOTE_BYTES_MAX == limits.NOTE_KEPT_BYTES_MAX
    assert kept_by_stores.NAME_BYTES_MAX == limits.NAME_KEPT_BYTES_MAX


# --- taking in ----------------------------------------------------------------------------------------------------------------------


def untold(compiler: str) -> bytes:
    """Give a bundle whose first flow has another definition than its source compiles to, made by some compiler."""

    def change(lines: Lines) -> None:
        _defined(_definition("gone"))(lines)
        lines[2]["compiler"] = compiler

    return forged(change)


def test_a_definition_that_this_compiler_does_not_make_of_its_source_is_refused_even_if_it_is_to_be_accepted() -> None:
    here = authority()
    for accept in (False, True):
        message = refused(here.take_in(untold("stateward 0"), accept=accept), RefusalCode.DEFINITION_UNTRUE)
        assert "revision 1 of flow `gone` has another definition than its source compiles to" == message
    assert [] == list(here.flows(PAGE_MAX, removed=True))


def test_a_definition_of_another_compiler_is_taken_in_only_when_that_is_accepted() -> None:
    here = authority()
    message = refused(here.take_in(untold("stateward 9")), RefusalCode.COMPILER_DIFFERS)
    assert (
        "revision 1 of flow `gone` was compiled by `stateward 9`, and `stateward 0` makes another definition of its source, or none"
        == message
    )
    assert [] == list(here.flows(PAGE_MAX, removed=True))
    assert isinstance(here.take_in(untold("stateward 9"), accept=True), TakenIn)
    gone = here.source("gone", 1)
    assert gone is not None
    assert "stateward 9" == gone.compiler


def test_what_another_compiler_made_needs_no_word_where_this_one_makes_the_same() -> None:
    here = authority(compiler="stateward 1")
    assert isinstance(here.take_in(BUNDLE), TakenIn)
    paper = here.source("paper")
    assert paper is not None
    assert "stateward 0" == paper.compiler


def test_a_source_that_does_not_compile_is_untrue() -> None:
    def change(lines: Lines) -> None:
        lines[2] |= {"text": "nothing", "content_digest": digest_of(b"nothing")}

    refused(authority().take_in(forged(change)), RefusalCode.DEFINITION_UNTRUE)


def test_a_bundle_goes_through_several_workspaces_and_stays_the_same() -> None:
    first, second = authority(workspace=ELSEWHERE), authority()
    assert isinstance(first.take_in(BUNDLE), TakenIn)
    on = bundle_of(first)
    assert BUNDLE.splitlines()[1:-1] == on.splitlines()[1:-1]
    answer = second.take_in(on)
    assert isinstance(answer, TakenIn)
    assert (ELSEWHERE, (Brought("gone", 1, 1, removed=True), Brought("odd", 1, 1), Brought("paper", 1, 3))) == (answer.origin, answer.flows)


def test_what_a_bundle_brings_says_that_it_hides_a_flow_or_brings_one_back() -> None:
    there, here = authority(workspace=ELSEWHERE), authority()
    assert isinstance(there.save("paper", source("one."), base=None), Saved)
    assert isinstance(here.take_in(bundle_of(there)), TakenIn)
    assert isinstance(there.save("paper", source("two."), base=1), Saved)
    assert isinstance(there.remove("paper", base=2), Removed)
    hiding = bundle_of(there)
    expected = (Brought("paper", 2, 2, removed=True),)
    assert [expected, expected] == [_flows_brought(here, hiding, dry_run=dry_run) for dry_run in (True, False)]
    assert (Brought("paper", 3, 2, removed=True, was_removed=True),) == _flows_brought(here, hiding)
    assert isinstance(there.save("paper", source("three."), base=2), Saved)
    returning = bundle_of(there)
    expected = (Brought("paper", 3, 3, was_removed=True),)
    assert [expected, expected] == [_flows_brought(here, returning, dry_run=dry_run) for dry_run in (True, False)]


def test_what_compiling_the_sources_of_a_bundle_costs_is_counted_and_bounded() -> None:
    bundle = read(BUNDLE)
    sources = {(each.slug, each.content) for flow in bundle.flows for each in flow.revisions}
    steps = {content: compiled(content, slug, slug).steps for slug, content in sources}
    last = bundle.flows[-1].revisions[1].content
    enough = sum(steps[content] + limits.WORK_PER_BYTE * len(content) for _, content in sources) - steps[last]
    assert steps[last] > 0
    assert untrue(bundle, "stateward 0", accept=False, work_max=enough) is None
    refusal = untrue(bundle, "stateward 0", accept=False, work_max=enough - 1)
    assert "revision 2 of flow `paper`" in refused(refusal, RefusalCode.BUNDLE_TOO_COSTLY)


def test_a_workspace_that_bounds_the_work_refuses_a_bundle_that_costs_more_and_takes_in_nothing() -> None:
    store = MemoryFlowStore()
    store.ensure(Workspace(WORKSPACE, "here", NOON))
    bounded = WorkspaceFlows(store, WORKSPACE, "ada", "stateward 0", TickingClock(), bundle_work_max=0)
    for dry_run in (True, False):
        refused(bounded.take_in(BUNDLE, dry_run=dry_run), RefusalCode.BUNDLE_TOO_COSTLY)
    assert () == tuple(bounded.flows(PAGE_MAX, removed=True))


def _flows_brought(flows: WorkspaceFlows, bundle: bytes, *, dry_run: bool = False) -> tuple[Brought, ...]:
    answer = flows.take_in(bundle, dry_run=dry_run)
    assert isinstance(answer, TakenIn)
    return answer.flows


def test_what_is_saved_while_a_bundle_is_given_is_not_in_it() -> None:
    made = filled()
    pieces = made.export([])
    assert not isinstance(pieces, Refusal)
    assert isinstance(made.save("paper", source("late."), base=3), Saved)
    assert isinstance(made.save("late", source(name="late"), base=None), Saved)
    assert lines_of(BUNDLE)[1:-1] == lines_of(b"".join(pieces))[1:-1]


def test_a_bundle_is_given_piece_by_piece() -> None:
    pieces = filled().export([])
    assert isinstance(pieces, Iterator)
    assert len(BUNDLE.splitlines()) == len(list(pieces))


def test_the_page_on_the_form_names_every_member_in_its_order() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "bundle.md").read_text("utf-8")
    rows = [row.split(" | ")[1] for row in page.split("## What is refused")[0].splitlines() if row.startswith("| ")][2:]
    named = [re.findall(r"`(\w+)`", re.sub(r"\((?!how)[^)]*\)", "", row)) for row in rows]
    spelled = {tuple(line) for line in lines_of(BUNDLE)}
    assert {tuple(each for each in names if each != "base64") for names in named} == spelled
