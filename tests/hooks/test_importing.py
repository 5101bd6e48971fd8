"""Transcripts are taken in where they were left, each thing once, whatever else tells of it and whenever the program dies."""

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Cursor, Fault, HostChannel, HostRecord, Recorded
from stateward.runtime.ports.bindings import Binding
from stateward.runtime.session.entries import Kind
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.surfaces.hooks import importing, transcripts
from stateward.runtime.surfaces.hooks import records as hook_records
from stateward.runtime.surfaces.hooks.calls import Part
from stateward.runtime.surfaces.hooks.importing import take_in
from stateward.runtime.surfaces.hooks.transcripts import TranscriptUnusable
from tests.hooks.bench import Bench
from tests.hooks.lines import Line, claude_called, claude_came, claude_said, claude_typed, codex_called, codex_came, codex_said

TURN: Sequence[Line] = (
    claude_typed("l-1", "Mend the ticket, please."),
    claude_said("l-2", "I run the tests."),
    claude_called("l-3", "toolu_01Tests", "Bash", {"command": "pytest -q"}),
    claude_came("l-4", "toolu_01Tests", "3 passed"),
    claude_said("l-5", "They pass."),
)
CODEX_TURN: Sequence[Line] = (
    codex_said("2026-11-30T09:00:01Z", "I run the tests."),
    codex_called("2026-11-30T09:00:02Z", "call_Tests01", "shell", {"command": ["pytest", "-q"]}),
    codex_came("2026-11-30T09:00:03Z", "call_Tests01", "3 passed"),
    codex_said("2026-11-30T09:00:04Z", "They pass."),
)
TAKEN = [Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.ASSISTANT_MESSAGE]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.start()
    return made


def taken(bench: Bench) -> list[str]:
    """Give the kinds of what was taken in."""
    return [each for each in bench.kinds() if each in {*TAKEN, Kind.NOTE}]


def test_what_a_turn_came_to_is_taken_in_and_what_was_typed_is_left_to_its_hook(bench: Bench) -> None:
    bench.write(*TURN)
    bench.stop()
    assert TAKEN == taken(bench)
    assert Kind.EXTENSION == bench.kinds()[-1]
    assert not any("Mend the ticket" in each for each in bench.records())


def test_the_rollout_of_codex_is_taken_in_as_well(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "codex")
    bench.start()
    bench.write({"type": "session_meta", "payload": {"id": "x"}}, *CODEX_TURN, {"type": "event_msg", "payload": {"type": "token_count"}})
    bench.stop()
    bench.stop(again=True)
    assert TAKEN == taken(bench)


@pytest.mark.parametrize("first", ["hook", "transcript"])
def test_the_same_call_from_hook_and_transcript_is_one_entry_and_the_first_form_stays(bench: Bench, first: str) -> None:
    bench.write(*TURN)
    if first == "hook":
        bench.hook("post-tool")
        bench.stop()
    else:
        bench.stop()
        bench.hook("post-tool")
    assert 1 == taken(bench).count(Kind.TOOL_CALL) == taken(bench).count(Kind.TOOL_RESULT)
    assert (first == "hook") == ("tool_response" in bench.records(Kind.TOOL_RESULT)[0])


def test_what_is_written_later_is_taken_in_later(bench: Bench) -> None:
    bench.write(*TURN[:3])
    bench.hook("pre-compact")
    bench.write(*TURN[3:])
    bench.stop()
    bench.stop()
    assert TAKEN == taken(bench)


def test_half_a_line_is_left_until_it_is_whole(bench: Bench) -> None:
    whole = '{"type":"assistant","uuid":"l-9","message":{"content":[{"type":"text","text":"Later."}]}}'
    bench.write(*TURN, whole[:40])
    bench.stop()
    assert TAKEN == taken(bench)
    bench.write(whole[40:] + "\n")
    bench.stop()
    assert ["Later."] == [each for each in ("Later.",) if any(each in record for record in bench.records())]
    assert 5 == len(taken(bench))


def test_a_file_that_was_rewritten_is_read_again_and_its_ids_tell_what_is_new(bench: Bench) -> None:
    bench.write(*TURN)
    bench.stop()
    bench.transcript.unlink()
    bench.write(claude_said("l-0", "A summary of what was."), *TURN[2:], claude_said("l-6", "And more."))
    bench.stop()
    assert [*TAKEN, Kind.ASSISTANT_MESSAGE, Kind.ASSISTANT_MESSAGE] == taken(bench)
    assert {"A summary of what was.", "And more."} <= {each.split('"text": "')[-1][:-2] for each in bench.records(Kind.ASSISTANT_MESSAGE)}


def test_what_was_said_before_the_session_worked_here_is_not_taken_in(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write(*TURN)
    bench.start(source="resume")
    bench.write(claude_said("l-7", "Now for this."))
    bench.stop()
    assert [Kind.ASSISTANT_MESSAGE] == taken(bench)


def test_stateward_s_own_calls_and_their_results_are_left_out_even_in_two_imports(bench: Bench) -> None:
    own = "mcp__stateward__request_flow_transition"
    bench.write(claude_said("l-1", "I ask."), claude_called("l-2", "toolu_own", own, {"reason": "done"}))
    bench.hook("pre-compact")
    bench.write(claude_came("l-3", "toolu_own", "The flow stays in state `implement`."), *TURN)
    bench.stop()
    assert [Kind.ASSISTANT_MESSAGE, *TAKEN] == taken(bench)
    assert not any("toolu_own" in each for each in bench.records())


@pytest.mark.parametrize(
    ("name", "namespace"), [("mcp__stateward__flow_status", None), ("flow_status", "mcp__stateward__"), ("flow_status", "mcp__stateward")]
)
def test_codex_names_stateward_s_own_tools_in_several_ways(tmp_path: Path, name: str, namespace: str | None) -> None:
    bench = Bench(tmp_path, "codex")
    bench.start()
    call = {"type": "function_call", "name": name, "namespace": namespace, "arguments": "{}", "call_id": "call_own"}
    bench.write({"timestamp": "t1", "type": "response_item", "payload": call}, codex_came("t2", "call_own", "in `implement`"), *CODEX_TURN)
    bench.stop()
    assert TAKEN == taken(bench)


def test_a_line_of_a_sub_agent_carries_its_id(bench: Bench) -> None:
    bench.write(claude_called("l-1", "toolu_sub", "Read", {}, isSidechain=True, agentId="agent-7"))
    bench.stop()
    assert ["agent-7"] == [each.actor.principal for each in bench.entries() if each.kind == Kind.TOOL_CALL]


def test_hidden_reasoning_is_not_taken_in(bench: Bench) -> None:
    thinking = {"type": "assistant", "uuid": "l-1", "message": {"content": [{"type": "thinking", "thinking": "hm"}]}}
    bench.write(thinking)
    bench.stop()
    assert [] == taken(bench)


@pytest.mark.parametrize(
    "line", ["", "not JSON", "[]", "{}", '{"type":"assistant"}', '{"type":"assistant","message":7}', "\udcff\x00", "{" * 5000]
)
def test_what_is_no_line_of_a_transcript_is_passed_over(bench: Bench, line: str) -> None:
    with bench.transcript.open("ab") as file:
        file.write(line.encode("utf-8", "surrogateescape") + b"\n")
    bench.write(*TURN)
    bench.stop()
    assert TAKEN == taken(bench)


def test_a_line_over_the_limit_is_passed_over_and_what_follows_is_taken_in(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "STEP_BYTES", 512)
    bench.write(claude_said("l-0", "x" * 3000), *TURN)
    bench.stop()
    assert TAKEN == taken(bench)


def test_a_long_transcript_is_taken_in_in_several_commits_and_the_rest_the_next_time(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "RECORDS_MAX", 5)
    monkeypatch.setattr(importing, "COMMITS_MAX", 2)
    bench.write(*(claude_said(f"l-{number}", f"word {number}") for number in range(23)))
    bench.stop()
    assert 10 == len(taken(bench))
    bench.stop()
    bench.stop()
    assert 23 == len(taken(bench))
    assert [f"word {number}" for number in range(23)] == [each.split('"text": "')[-1][:-2] for each in bench.records()]


def test_words_alone_do_not_keep_an_agent_that_does_nothing_at_work(bench: Bench) -> None:
    ends = []
    for number in range(4):
        bench.write(claude_said(f"done-{number}", "I am done."))
        bench.hook("pre-compact")
        ends.append(bench.stop(again=number > 0))
    assert ["blocked", "blocked", "blocked", "warned"] == ends


def test_what_only_the_transcript_tells_of_counts_as_new(bench: Bench) -> None:
    assert ["blocked", "blocked", "blocked"] == [bench.stop(again=True) for _ in range(3)]
    bench.write(*TURN)
    assert "blocked" == bench.stop(again=True)


@pytest.mark.parametrize("spoil", ["link", "fifo", "folder", "relative", "other"])
def test_only_a_file_of_its_own_is_read(bench: Bench, tmp_path: Path, spoil: str) -> None:
    path = bench.transcript
    if spoil == "link":
        (tmp_path / "secret.jsonl").write_text('{"type":"assistant","uuid":"x","message":{"content":[{"type":"text","text":"s"}]}}\n')
        path.symlink_to(tmp_path / "secret.jsonl")
    elif spoil == "fifo":
        os.mkfifo(path)
    elif spoil == "folder":
        path.mkdir()
    named = {"relative": "t.jsonl", "other": "/etc/hostname"}.get(spoil, str(path))
    answer = bench.answer("pre-compact", bench.given("pre-compact", transcript_path=named))
    assert "the transcript is not taken in" in answer.notice
    assert [] == taken(bench)


def test_a_transcript_that_is_not_there_yet_is_no_fault(bench: Bench) -> None:
    assert {} == bench.hook("pre-compact") == bench.hook("pre-compact", transcript_path=None)


def test_secrets_of_a_transcript_are_never_in_the_log(tmp_path: Path) -> None:
    secret = "hunter2hunter2"  # noqa: S105 -- what is to be found nowhere
    bench = Bench(tmp_path, secrets=Secrets({"KEY": secret}))
    bench.start()
    bench.write(claude_came("l-1", "toolu_1", f"export KEY={secret}"), claude_said("l-2", f"It is {secret}."))
    bench.stop()
    assert 2 == len(taken(bench))
    assert not any(secret.encode() in each.payload for each in bench.desk.log())


def test_what_is_very_long_is_kept_with_its_beginning_and_its_end(bench: Bench) -> None:
    bench.write(claude_came("l-1", "toolu_1", "first" + "x" * (2 * hook_records.PAYLOAD_BYTES_MAX) + "last"))
    bench.stop()
    (record,) = bench.records(Kind.TOOL_RESULT)
    assert len(record) < hook_records.PAYLOAD_BYTES_MAX + 100
    assert ("first" in record, "last" in record, "bytes are left out" in record) == (True, True, True)


@pytest.mark.parametrize("more", [0, hook_records.MARGIN_CHARACTERS])
@pytest.mark.parametrize("inside", [1, 10_000, 19_999])
def test_a_secret_that_lies_where_a_long_text_is_cut_leaves_nothing_of_itself(more: int, inside: int) -> None:
    secret = "Q" * 20_000
    half = "x" * (hook_records.PAYLOAD_BYTES_MAX // 2 + more - inside) + secret
    text = f"{half}{'y' * 2 * hook_records.MARGIN_CHARACTERS}{half[::-1]}"
    (record,) = hook_records.records_of([Part("note", text, "u", "")], "claude", "s", Secrets({"KEY": secret}))
    assert (True, True, False) == tuple(each in record.payload for each in (b"xx", b"left out", b"Q"))
    assert len(record.payload) < hook_records.PAYLOAD_BYTES_MAX + 100


def test_what_is_in_the_place_of_a_transcript_is_told(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "other")
    for path, said in (
        (tmp_path / "link.jsonl", "it is a link"),
        (tmp_path, "is named by its whole path"),
        ("t.jsonl", "by its whole path"),
    ):
        assert said in bench.answer("pre-compact", bench.given("pre-compact", transcript_path=str(path))).notice


# --- dying ------------------------------------------------------------------------------------------------------------------------------


class Died(Fault):
    """The process is gone."""


class DyingChannel:
    """A channel whose process dies right before or right after some commit."""

    def __init__(self, inner: HostChannel, at: int, *, after: bool) -> None:
        self._inner, self._left, self._after = inner, at, after

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def record(self, records: Sequence[HostRecord], cursor: Cursor | None = None) -> Recorded | Refusal:
        self._left -= 1
        if self._left == 0 and not self._after:
            raise Died("before")
        answer = self._inner.record(records, cursor)
        if self._left == 0:
            raise Died("after")
        return answer


@pytest.mark.parametrize("seed", range(25))
def test_an_import_that_dies_at_any_moment_brings_each_thing_once_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 -- a choice of moments
    monkeypatch.setattr(importing, "RECORDS_MAX", chance.randint(2, 5))
    bench = Bench(tmp_path)
    bench.start()
    bound = bench.opening.bindings().find("claude", bench.session)
    assert isinstance(bound, Binding)
    words = [claude_said(f"l-{number}", f"word {number}") for number in range(40)]
    while words:
        some = chance.randint(1, 12)
        bench.write(*words[:some])
        words = words[some:]
        with bench.opening.channel(bench.desk.worker, bench.session) as channel:
            dying = DyingChannel(channel, chance.randint(1, 4), after=chance.random() < 0.5)
            try:
                take_in(dying, bench.host, bound, str(bench.transcript), NO_SECRETS)
            except Died:
                bench.desk.restart()
    with bench.opening.channel(bench.desk.worker, bench.session) as channel:
        take_in(channel, bench.host, bound, str(bench.transcript), NO_SECRETS)
        again = take_in(channel, bench.host, replace(bound), str(bench.transcript), NO_SECRETS)
    assert 0 == again.acts
    assert [f"word {number}" for number in range(40)] == [each.split('"text": "')[-1][:-2] for each in bench.records()]


def test_a_folder_that_others_own_is_no_transcript(tmp_path: Path) -> None:
    with pytest.raises(TranscriptUnusable, match=r"whole path, which ends in `.jsonl`"), transcripts.opened(str(tmp_path / "t.txt")):
        pass
