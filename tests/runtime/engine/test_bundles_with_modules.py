"""Bundles in which something is imported: what is read of them, and what is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.bundle_reading import read_bundle
from stateward.runtime.engine.bundles import LINE_DIGEST, Bundle, json_of
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.taking import untrue
from stateward.runtime.ports import Saved, Workspace
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.closures import closure_digest_of
from stateward.store.memory import MemoryFlowStore
from tests.contracts.authority_modules import IMPORTING, modules
from tests.runtime.engines import NOON, WORKSPACE, TickingClock

Line = dict[str, Any]
COMPILER = "stateward 0"


def bundle() -> bytes:
    store = MemoryFlowStore()
    store.ensure(Workspace(WORKSPACE, "here", NOON))
    flows = WorkspaceFlows(store, WORKSPACE, "ada", COMPILER, TickingClock(), name="here")
    assert isinstance(flows.save("paper", IMPORTING, base=None, modules=modules()), Saved)
    pieces = flows.export(())
    assert not isinstance(pieces, Refusal)
    return b"".join(pieces)


BUNDLE = bundle()


def forged(change: Callable[[list[Line]], None]) -> bytes:
    """Change the lines of the bundle, and make all digests of the form anew."""
    lines: list[Line] = [json.loads(each) for each in BUNDLE.splitlines()]
    change(lines)
    written, before = b"", sha256()
    for line in lines:
        line.pop(LINE_DIGEST)
        if "bundle_digest" in line:
            line["bundle_digest"] = f"sha256:{before.hexdigest()}"
        data = json_of({**line, LINE_DIGEST: digest_of(json_of(line))}) + b"\n"
        before.update(data)
        written += data
    return written


def read(data: bytes) -> Bundle:
    answer = read_bundle(data)
    assert isinstance(answer, Bundle), answer
    return answer


def test_what_is_imported_is_read_with_its_digest() -> None:
    (revision,) = read(BUNDLE).flows[0].revisions
    assert (modules(), closure_digest_of(modules())) == (revision.modules, revision.closure_digest)
    assert None is untrue(read(BUNDLE), COMPILER, accept=False)
    assert BUNDLE == forged(lambda lines: None)


def of_revision(**members: object) -> Callable[[list[Line]], None]:
    return lambda lines: lines[2].update(members)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (of_revision(modules=[]), "it has no modules where it says so"),
        (of_revision(modules=None), "it has no modules where it says so"),
        (of_revision(modules=["a.md"]), "a module is not its path and its content"),
        (of_revision(modules=[{"path": "a.md"}]), "a module is not its path and its content"),
        (of_revision(modules=[{"text": "", "path": "a.md"}]), "a module is not its path and its content"),
        (of_revision(modules=[{"path": 1, "text": ""}]), "a text is missing"),
        (of_revision(modules=[{"path": "a.md", "base64": "YQ=="}]), "its source is not spelled as in a bundle"),
        (of_revision(modules=[{"path": each, "text": ""} for each in ("b", "a")]), "its modules are more than 256, or not in the order"),
        (of_revision(modules=[{"path": "a", "text": ""}] * 2), "its modules are more than 256, or not in the order"),
        (of_revision(modules=[{"path": f"{each:03}", "text": ""} for each in range(257)]), "its modules are more than 256, or not in"),
        (of_revision(modules=[{"path": "a", "text": "x" * 1024 * 1024}]), "its source and its modules have more than 1048576 bytes"),
        (lambda lines: lines[0].update(version=1), "a bundle of version 1 holds no modules"),
        (lambda lines: lines[2].pop("modules"), "a bundle of version 2 imports something, and none of its revisions does"),
    ],
)
def test_what_is_no_bundle_with_modules_is_refused(change: Callable[[list[Line]], None], problem: str) -> None:
    answer = read_bundle(forged(change))
    assert isinstance(answer, Refusal), answer
    assert RefusalCode.BUNDLE_MALFORMED is answer.code
    assert problem in answer.message


@pytest.mark.parametrize(
    "others",
    [
        [{"path": "parts/texts.dcdl", "text": 'ready = "It is written.";'}, {"path": "write.md", "text": "Do what else it says."}],
        [{"path": "parts/texts.dcdl", "text": 'ready = "It is written.";'}],
        [
            {"path": "parts/texts.dcdl", "text": 'ready = "It is written.";'},
            {"path": "spare.md", "text": "Nobody needs it."},
            {"path": "write.md", "text": "Write."},
        ],
    ],
    ids=["another text", "one too few", "one too many"],
)
def test_a_definition_that_does_not_come_of_those_modules_is_untrue(others: list[Line]) -> None:
    refusal = untrue(read(forged(of_revision(modules=others))), COMPILER, accept=False)
    assert refusal is not None
    assert RefusalCode.DEFINITION_UNTRUE is refusal.code


def test_what_another_compiler_made_is_taken_on_somebodys_word() -> None:
    made = read(forged(of_revision(compiler="another 1", modules=[{"path": "write.md", "text": "Else."}])))
    refusal = untrue(made, COMPILER, accept=False)
    assert refusal is not None
    assert RefusalCode.COMPILER_DIFFERS is refusal.code
    assert None is untrue(made, COMPILER, accept=True)


def test_modules_count_as_work() -> None:
    made = read(BUNDLE)
    large = replace(made.flows[0].revisions[0], modules=(*modules(), ("x.md", b"x" * 1000)), closure_digest="sha256:x")
    cost = 2 * (len(IMPORTING) + sum(len(content) for _, content in large.modules))
    changed = replace(made, flows=(replace(made.flows[0], revisions=(large,)),))
    refusal = untrue(changed, COMPILER, accept=False, work_max=cost - 1)
    assert refusal is not None
    assert RefusalCode.BUNDLE_TOO_COSTLY is refusal.code
