"""Make the kept store of a release, by that release: `python make.py FOLDER WORK`, with its four roots in PYTHONPATH.

What is made lies in FOLDER: the store as a file and as a script of SQL, the keys that both are sealed with, and the rules of immutability.
WORK is a folder that is not there yet, and gone afterwards: its path is in the logs. Needs `pg_dump` in PATH and, in STATEWARD_POSTGRESQL,
the URL of an empty database.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from stateward.runtime.ports import RecordKey
from stateward.runtime.session.entries import Actor, ActorClass, Assurance, Kind
from stateward.runtime.wiring import locate, writing
from stateward.store.postgres_rules import RULES
from stateward.store.triggers import TRIGGERS

ROOT = Path(__file__).resolve().parents[3]
ANSWERS = ROOT / "docs" / "demo" / "answers.json"
FLOW = """# A paper is written and read.
schema_version = 1;
name = "paper";
initial = "write";

states = {
    write = {
        instructions = "Write what is asked for. Version %d.";
        transitions = { submit = { target = "read"; condition = "It is written – all of it."; }; };
    };
    read = {
        instructions = "Read it.";
        transitions = {
            again = { target = "write"; condition = "Something in it is wrong."; };
            accept = { target = "done"; condition = "Nothing in it is wrong."; };
        };
    };
    done = { instructions = "It is done."; terminal = true; };
};
"""
SCRIPT = """{"requests": [
    {"reason": "half of it is written", "verdicts": {"submit": "not_met"}},
    {"reason": "it is written", "verdicts": {"submit": "met"}},
    {"reason": "one word is wrong", "verdicts": {"again": "met", "accept": "not_met"}}
]}
"""
HOST = Actor(ActorClass.HOST, "cli", "host", Assurance.NONE)
LARGE = b"x" * (256 * 1024 + 1)
"""Lies beside its entry."""


def program(work: Path, place: str, keys: Path, *arguments: str, status: int = 0) -> None:
    code = "from stateward.runtime.surfaces.cli import main; main()"
    environment = {**os.environ, "STATEWARD_STORE": place, "STATEWARD_KEYS": str(keys)}
    ended = subprocess.run([sys.executable, "-c", code, *arguments], cwd=work, env=environment, stdin=subprocess.DEVNULL, check=False)
    assert status == ended.returncode, arguments


def live(work: Path, place: str, keys: Path) -> None:
    """Live through what a store of version 2 can hold; version 1 knows neither `flow remove` nor `token`."""

    def call(*arguments: str, status: int = 0) -> None:
        program(work, place, keys, *arguments, status=status)

    work.mkdir(parents=True)
    flow, script = work / "paper.dcdl", work / "answers.json"
    script.write_text(SCRIPT, "utf-8")
    flow.write_text(FLOW % 1, "utf-8")
    call("flow", "save", str(flow), "--note", "the first – with a dash")
    call("run", "workspace:paper", "--text", "About stores", "--answers", str(script), status=1)  # the script ends before the flow does
    for number in (2, 3):
        flow.write_text(FLOW % number, "utf-8")
        call("flow", "save", str(flow), "--base", str(number - 1), "--note", f"version {number}")
    flow.with_name("letter.dcdl").write_text((FLOW % 1).replace('"paper"', '"letter"'), "utf-8")
    call("flow", "save", "letter.dcdl")
    flow.with_name("memo.dcdl").write_text((FLOW % 1).replace('"paper"', '"memo"'), "utf-8")
    call("flow", "save", "memo.dcdl")
    call("flow", "remove", "memo", "--base", "1", "--note", "nobody reads it")
    call("token", "issue", "--name", "reader", "--scope", "read")
    call("run", "builtin:coder-review", "--text", "Ticket 41", "--answers", str(ANSWERS))
    call("start", "builtin:single-step", "--text", "A mistake")
    with_engine(work, place, keys)


def with_engine(work: Path, place: str, keys: Path) -> None:
    """Do what no command does: keep a large payload and a transcript."""
    os.environ["STATEWARD_STORE"], os.environ["STATEWARD_KEYS"] = place, str(keys)
    location = locate(work)
    with writing(location) as runtime:
        *_, middle, finished, mistaken = runtime.worker_ids()
        runtime.engine.record(middle, Kind.TOOL_RESULT, LARGE, HOST, RecordKey("host", "session", "use-1", "result"))
        for number in (1, 2, 3):
            assert runtime.transcripts.append(finished, "a-1", number, f"record {number}".encode())
    program(work, place, keys, "operate", "delete", mistaken, "--yes")
    program(work, place, keys, "start", "builtin:single-step", "--text", "One step")
    program(work, place, keys, "request", "--reason", "the step is done", status=1)


def main() -> None:
    folder, work = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    keys, file, url = folder / "keys", folder / "store.db", os.environ.pop("STATEWARD_POSTGRESQL")
    for place, marker in ((str(file), "workspace-sqlite"), (url, "workspace-postgresql")):
        live(work, place, keys)
        shutil.copy(work / ".stateward" / "workspace", folder / marker)
        shutil.rmtree(work)
    dumped = subprocess.run(
        ["pg_dump", "--inserts", "--no-owner", "--no-privileges", "--schema=stateward", url], check=True, capture_output=True, text=True
    )
    (folder / "store.sql").write_text(tidied(dumped.stdout), "utf-8")
    (folder / "rules.json").write_text(json.dumps(rules(), indent=1, ensure_ascii=False) + "\n", "utf-8")


def rules() -> dict[str, Any]:
    """Give the rules of immutability as the release makes them."""
    on_postgresql = {rule.name: {"table": rule.table, "trigger": rule.trigger, "body": rule.body} for rule in RULES}
    return {"sqlite": dict(TRIGGERS), "postgresql": on_postgresql}


def tidied(dump: str) -> str:
    """Keep of a dump what makes the store, on every server: not its settings nor its comments, nor a large text that says nothing."""
    lines = [line for line in dump.splitlines() if line and not line.startswith(("--", "SET ", "SELECT pg_catalog.set_config", "\\"))]
    large = f"'\\x{LARGE.hex()}'"
    return "\n".join(lines).replace(large, f"convert_to(repeat('x', {len(LARGE)}), 'UTF8')") + "\n"


if __name__ == "__main__":
    main()
