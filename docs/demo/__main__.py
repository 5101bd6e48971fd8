"""`make demo`: the flow `coder-review` on a small git repository, from the first claim to the end.

The worker is this script. It really edits and commits; what the verifier says comes from answers.json, which is why everything shown is
marked as a demonstration. Each request is made by a process of its own, so the Worker is restored from its log every time.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from stateward.compiler.drawing.marks import Marks
from stateward.compiler.drawing.text import draw_text
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import EventId, Recorded
from stateward.runtime.core.replay import replay
from stateward.runtime.session.event_codec import EVENT

HERE: Final = Path(__file__).resolve().parent
PLACE: Final = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE.parents[1] / "build" / "demo"
"""A folder that is made anew each time."""
PROJECT: Final = PLACE / "project"
KEYS: Final = PLACE / "keys"
STATEWARD: Final = Path(sys.executable).with_name("stateward")
FLOW: Final = "builtin:coder-review"
TICKET: Final = 'Ticket 41: initials("Ada King Lovelace") must give "AKL", and a name without any part must give "?".'

FIRST: Final = """def initials(name):
    first, last = name.split()
    return first[0] + last[0]
"""
CHANGED: Final = """def initials(name):
    return "".join(part[0] for part in name.split())
"""
MENDED: Final = """def initials(name):
    return "".join(part[0] for part in name.split()) or "?"
"""
TESTS: Final = """from names import initials


def test_two_parts():
    assert initials("Ada Lovelace") == "AL"
"""
TEST_MIDDLE: Final = """

def test_middle_name():
    assert initials("Ada King Lovelace") == "AKL"
"""
TEST_NONE: Final = """

def test_no_name():
    assert initials("") == "?"
"""


def main() -> None:
    """Run the demonstration."""
    if shutil.which("git") is None:
        sys.exit("the demonstration needs git; install it and run `make demo` again")
    shutil.rmtree(PLACE, ignore_errors=True)
    PROJECT.mkdir(parents=True)
    say("a small project, under git")
    git("init", "--quiet", "--initial-branch", "main")
    commit("Begin", {"names.py": FIRST, "test_names.py": TESTS})

    say("the worker claims to be done and has done nothing: rejected")
    ask("--text", TICKET)
    say("the worker makes the change, and a test: on to the review")
    commit("Take every part of a name", {"names.py": CHANGED, "test_names.py": TESTS + TEST_MIDDLE})
    ask("--resume")
    say("the review finds a fault: on to the fix")
    ask("--resume")
    say("the worker mends it: back to the review")
    commit("Answer ? for no name", {"names.py": MENDED, "test_names.py": TESTS + TEST_MIDDLE + TEST_NONE})
    ask("--resume")
    say("the review is clean now, and the work is closed")
    ask("--resume")
    ask("--resume")
    finish()


def finish() -> None:
    """Show the graph and the timeline, and fold the log once more by hand."""
    status = json.loads(stateward("status", "--json"))
    entries = [json.loads(line) for line in stateward("log", "--json").splitlines()]
    definition = definition_of(FLOW)
    say("the graph, with how often each state was entered")
    print(draw_text(definition, Marks(current=status["flow"]["state"], visits=status["flow"]["visits"])))
    say("the timeline")
    print(stateward("log"))
    state, visit, outcome = folded(entries, status["flow"]["definition_digest"], definition)
    same = (state, visit, outcome) == (status["flow"]["state"], status["flow"]["visit"], status["flow"]["status"])
    if not same or outcome != "completed":
        sys.exit(f"the log replays to {state}, {outcome}, and the Worker says {status['flow']['state']}, {status['flow']['status']}")
    say(f"completed; the log of {len(entries)} entries replays to the same state")
    print(f"look around:\n  STATEWARD_KEYS={shlex.quote(str(KEYS))} {shlex.join([str(STATEWARD), 'status', *where()])}")


def folded(entries: Sequence[Mapping[str, Any]], digest: str, definition: CompiledFlowDefinition) -> tuple[str, int, str]:
    """Fold the events of a log as it is printed."""
    events = (Recorded(EventId(entry["seq"], index), EVENT.read(event)) for entry in entries for index, event in enumerate(entry["events"]))
    instance = replay(events, {digest: definition}).instance
    assert instance is not None, "a flow was started"
    return instance.state, instance.visit, str(instance.status)


def definition_of(selector: str) -> CompiledFlowDefinition:
    """Give the definition that a selector compiles to."""
    return CompiledFlowDefinition.model_validate_json(stateward("compile", selector, "--output", "-", located=False))


def ask(*more: str) -> None:
    """Make one request, in a process of its own, and show it."""
    command = [str(STATEWARD), "run", FLOW, "--answers", str(HERE / "answers.json"), "--max-requests", "1", *where(), *more]
    print(f"$ stateward run {FLOW} {' '.join(more)}", flush=True)
    done = subprocess.run(command, env=environment(), check=False)
    if done.returncode not in {0, 1}:
        sys.exit(f"the demonstration failed: exit status {done.returncode}")


def stateward(*arguments: str, located: bool = True) -> str:
    """Run a command that reads, and give what it prints."""
    command = [str(STATEWARD), *arguments, *(where() if located else ())]
    return subprocess.run(command, env=environment(), check=True, stdout=subprocess.PIPE, text=True).stdout


def environment() -> Mapping[str, str]:
    """Keep the keys that seal the demonstration beside it, and the user's own out of it."""
    return {**os.environ, "STATEWARD_KEYS": str(KEYS)}


def where() -> tuple[str, ...]:
    """Name the project and the store of the demonstration."""
    return "--workdir", str(PROJECT), "--store", str(PLACE / "store.db")


def commit(message: str, files: Mapping[str, str]) -> None:
    """Write files and commit them."""
    for name, text in files.items():
        (PROJECT / name).write_text(text, "utf-8")
    git("add", *files)
    git("commit", "--quiet", "--message", message)
    print(git("log", "--oneline", "--max-count", "1"), end="")


def git(*arguments: str) -> str:
    """Run git on the project, by itself: nobody's configuration, no hooks."""
    who = {
        f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "demo"), ("EMAIL", "demo@localhost"))
    }
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    done = subprocess.run(["git", *arguments], cwd=PROJECT, env=alone | who, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def say(text: str) -> None:
    """Print a heading."""
    print(f"\n=== {text}", flush=True)


if __name__ == "__main__":
    main()
