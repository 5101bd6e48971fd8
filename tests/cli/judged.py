"""A place whose Workers are judged under profiles of the user's own."""

import json
from pathlib import Path
from typing import Any

from tests.cli.program import Place, place

KEY = "sk-kept-to-itself"
TEXT = "the haiku\nis here\n"
CITED = {"path": "notes.txt", "first_line": 1, "last_line": 2, "quote": "the haiku\nis here"}


def judged_place(folder: Path, **profiles: str) -> Place:
    """Make a place with a file of work and these profiles, each the text of its `verifier` and what follows."""
    here = place(folder)
    (here.work / "notes.txt").write_text(TEXT)
    configured(folder / ".config", **profiles)
    return here


def configured(configuration: Path, **profiles: str) -> Path:
    """Put profiles, and the key of a model, below a folder of configuration, and give that."""
    roles = configuration / "stateward" / "profiles"
    roles.mkdir(parents=True, mode=0o700)
    key = roles.parent / "key"
    key.touch(0o600)
    key.write_text(f"{KEY}\n")
    for name, verifier in profiles.items():
        (roles / f"{name}.dcdl").write_text(f'schema_version = 1;\nabout = "Of the tests.";\nverifier = {verifier}\n')
    return configuration


def model(url: str, more: str = "") -> str:
    return f'{{ kind = "model"; base_url = "{url}"; model = "m"; key_file = "~/.config/stateward/key"; }};\n{more}'


def finish(*citations: dict[str, Any], verdict: str = "met") -> tuple[str, dict[str, Any]]:
    """The call that ends: `finish` as said, and the way of giving up not met."""
    missing = [] if verdict == "met" else ["the haiku"]
    first = {"transition_id": "finish", "verdict": verdict, "rationale": "I looked", "missing": missing, "citations": list(citations)}
    second = {"transition_id": "$cancel", "verdict": "not_met", "rationale": "it can", "missing": ["a blocker"], "citations": []}
    return "FinishFlowVerification", {"results": [first, second]}


def started(here: Place, profile: str) -> str:
    """Start a Worker and give its id."""
    data = json.loads(here.done("start", "builtin:single-step", "--text", "Write a haiku.", "--profile", profile, "--json"))
    assert (1, "active") == (data["flow"]["visit"], data["flow"]["status"])
    worker = data["worker"]
    assert isinstance(worker, str)
    return worker


def asked(here: Place, reason: str = "it is written") -> tuple[int, Any]:
    """Ask to leave, and give the exit status and what was told."""
    ended = here.call("request", "--reason", reason, "--json")
    assert ended.err == ""
    return ended.status, json.loads(ended.out)
