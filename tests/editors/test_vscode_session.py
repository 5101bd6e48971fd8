"""The extension for VS Code in a session with the installed server, run by node with a stand-in for the editor's own module."""

import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from editors.package import FOLDER
from tests.cli.program import STATEWARD
from tests.editor.client import Editor

NODE = shutil.which("node")
SCRIPT = Path(__file__).parent / "node" / "session.js"
FLOW = """schema_version = 1;
name = "paper";
initial: "write";
states = {
    write = { instructions = "Write."; transitions = { send = { target = ""; condition = "It is written."; }; }; };
    done = { instructions = ""; terminal = true; };
};
"""
FORMATTED = """schema_version = 1;
name = "paper";
initial = "draft";
states = {
    draft = {
        instructions = "Write.";
        transitions = {
            send = {
                target = "done";
                condition = "It is written.";
            };
        };
    };
    done = {
        instructions = "";
        terminal = true;
    };
};
"""
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


@cache
def session() -> dict[str, Any]:
    environment = os.environ | {"STATEWARD_PROGRAM": str(STATEWARD)}
    done = subprocess.run([str(NODE), str(SCRIPT), str(FOLDER), FLOW], capture_output=True, text=True, check=False, env=environment)
    assert (0, "") == (done.returncode, done.stderr)
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def test_faults_are_shown_mended_and_gone() -> None:
    seen = session()
    assert ["dcdl_syntax", "transition_target_not_found"] == seen["first"]
    assert "replace `:` by `=`" == seen["actions"][0]
    assert ["transition_target_not_found"] == seen["mended"]


def test_a_target_is_completed_and_a_state_is_renamed() -> None:
    seen = session()
    assert (["done", "write"], []) == (seen["offered"], seen["completed"])
    assert ("write", []) == (seen["prepared"], seen["renamed"])
    assert "no id" in seen["refused"]


def test_the_text_is_formatted_and_the_flow_is_drawn_beside_it() -> None:
    seen = session()
    assert (FORMATTED, [], True) == (seen["text"], seen["formatted"], seen["picture"])


def test_what_is_known_of_names_is_shown() -> None:
    seen = session()
    assert (True, 1, 2, 2) == (seen["hover"], seen["definition"], seen["references"], seen["highlights"])
    assert ["draft"] == seen["found"]
    assert (["done"], []) == (seen["calls"], seen["callers"])
    assert ["schema_version", "name", "initial", "draft", "done"] == seen["symbols"]


def test_the_form_of_the_text_is_shown() -> None:
    seen = session()
    assert (True, 1, 0, True) == (seen["folds"], seen["selected"], seen["tokens"], seen["hints"])


def test_the_author_is_told_of_no_failure() -> None:
    seen = session()
    assert [] == seen["shown"]
    assert [] == [each for each in seen["logged"] if "ended with status 0" not in each]


def test_what_was_overtaken_is_no_failure_to_the_editor() -> None:
    assert ["CancellationError", "CancellationError", "Error"] == session()["failures"]


def test_the_author_is_told_when_the_server_is_gone_by_itself_and_only_then() -> None:
    (told,) = session()["gone"]
    assert "stateward: the language server is gone: ended by SIGKILL. A command starts it again." == told


def test_the_editor_knows_which_kinds_of_actions_there_are() -> None:
    assert ["quickfix", "refactor.rewrite", "source.fixAll"] == session()["kinds"]


def test_the_extension_offers_all_that_the_server_can_do() -> None:
    known = set(re.findall(r"^    (\w+Provider): ", (FOLDER / "features.js").read_text("utf-8"), re.MULTILINE))
    with Editor() as editor:
        offered = {name for name, value in editor.capabilities.items() if name.endswith("Provider") and value != {"commands": []}}
    assert offered == known
