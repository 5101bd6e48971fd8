"""Whole sessions, as the hosts tell of them: each input, what is answered and what the log holds of it, to be read as prose."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.session.entries import Entry
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled, visible
from tests.hooks.bench import Bench

SESSIONS = Path(__file__).parent / "sessions"
PAYLOAD_SHOWN = 160


def shown(entry: Entry, folder: Path) -> str:
    """Show an entry in a line."""
    actor = entry.actor
    who = " ".join(filter(None, (str(actor.actor_class), actor.channel, actor.principal, (actor.host_session or "")[:8])))
    payload = entry.payload.decode("utf-8", "backslashreplace").replace(str(folder), "/home/ada/shop")
    return f"  {entry.reference} {entry.kind} by {who}: {payload[:PAYLOAD_SHOWN]}{'…' if len(payload) > PAYLOAD_SHOWN else ''}"


def step(bench: Bench, given: Mapping[str, Any]) -> Iterator[str]:
    """Carry out a step of a session and tell it."""
    before = len(bench.desk.log())
    if "session" in given:
        bench.session, bench.transcript = given["session"], bench.folder / f"{given['session']}.jsonl"
    bench.write(*given.get("write", ()))
    yield from (f"transcript: {json.dumps(each, ensure_ascii=False)}" for each in given.get("write", ()))
    if "hook" in given:
        sent = bench.given(given.get("input", given["hook"]), **given.get("changed", {}))
        answer = bench.answer(given["hook"], sent)
        left_out = {"session_id", "cwd", "transcript_path", "permission_mode", "model"}
        yield f"{given['hook']} < {json.dumps({name: value for name, value in sent.items() if name not in left_out}, ensure_ascii=False)}"
        yield from (f"> {line}" for line in said(answer.output))
        assert "" == answer.notice
    if "ask" in given:
        bench.ask(given["ask"], *given.get("met", ()))
        yield f"asked: {given['ask']}"
    yield "log:"
    yield from (shown(each, bench.folder) for each in bench.desk.log()[before:])


def said(output: str) -> Iterator[str]:
    """Show an answer, its long texts line by line."""
    if not output:
        yield "(nothing)"
        return
    answer = json.loads(output)
    inner = answer.get("hookSpecificOutput", answer)
    yield json.dumps({name: value for name, value in inner.items() if "\n" not in value}, ensure_ascii=False)
    for name, value in inner.items():
        if "\n" in value:
            yield f"{name}:"
            yield from (f"  {line}".rstrip() for line in value.split("\n"))


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_session_is_answered_and_recorded_as_the_snapshot_tells(tmp_path: Path, host: str) -> None:
    bench = Bench(tmp_path, host)
    steps = [json.loads(line) for line in (SESSIONS / f"{host}.jsonl").read_text("utf-8").splitlines()]
    told = titled((given["title"] or "and once more", "\n".join(step(bench, given))) for given in steps)
    assert_snapshot(SESSIONS / f"{host}.txt", visible(_numbered(told.replace(bench.desk.worker, "WORKER"))))


def _numbered(text: str) -> str:
    """Give ids that are counted through the whole test run numbers of their own."""
    ids: dict[str, str] = {}
    parts = text.split("0198c0de-0000-7000-8000-")
    counted = [f"ID-{ids.setdefault(each[:12], str(len(ids) + 1))}{each[12:]}" for each in parts[1:]]
    return parts[0] + "".join(counted)
