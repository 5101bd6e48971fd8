"""The built-in flows as they ship."""

import json

import pytest

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.formatting.printer import format_source
from stateward.compiler.pipeline import compile_source
from stateward.compiler.source import Source
from stateward.resources import folder
from stateward.resources.catalog import BuiltinSource, builtin, builtins

SLUGS = ["coder-review", "operator-run", "single-step"]


def test_these_flows_ship() -> None:
    assert [each.slug for each in builtins()] == SLUGS
    assert sorted(path.stem for path in folder("flows").glob("*.dcdl")) == SLUGS


@pytest.mark.parametrize("source", builtins(), ids=lambda each: each.slug)
def test_a_changed_text_has_a_new_line_in_the_manifest(source: BuiltinSource) -> None:
    manifest = json.loads((folder("flows") / "manifest.json").read_text("utf-8"))
    assert source.revision == len(manifest[source.slug]), "add the digest of the new text as the last line of its slug"


def test_no_digest_is_listed_twice() -> None:
    manifest = json.loads((folder("flows") / "manifest.json").read_text("utf-8"))
    digests = [digest for listed in manifest.values() for digest in listed]
    assert len(digests) == len(set(digests))


def test_a_built_in_flow_is_known_by_a_virtual_path() -> None:
    source = builtin("coder-review")
    assert source is not None
    assert source.path == "builtin/flows/coder-review.dcdl"


@pytest.mark.parametrize("slug", ["", "nope", "../flows/coder-review", "coder-review.dcdl", "manifest", "/etc/passwd", "coder-review\0"])
def test_only_a_slug_of_the_manifest_is_looked_up(slug: str) -> None:
    assert builtin(slug) is None


@pytest.mark.parametrize("source", builtins(), ids=lambda each: each.slug)
def test_a_built_in_flow_compiles_without_a_warning_under_its_slug(source: BuiltinSource) -> None:
    compilation = compile_source(source.content, name=source.path, slug=source.slug)
    assert compilation.diagnostics == ()
    assert compilation.definition is not None
    assert compilation.definition.name == source.slug


@pytest.mark.parametrize("source", builtins(), ids=lambda each: each.slug)
def test_a_built_in_flow_is_in_canonical_form(source: BuiltinSource) -> None:
    assert format_source(Source.from_bytes(source.path, source.content)) == source.content.decode()


def _definition(slug: str) -> CompiledFlowDefinition:
    source = builtin(slug)
    assert source is not None
    definition = compile_source(source.content).definition
    assert definition is not None
    return definition


@pytest.mark.parametrize(
    ("slug", "ways", "end"),
    [
        ("single-step", ["finish"], "done"),
        ("coder-review", ["submit", "request_changes", "resubmit", "approve", "reopen", "resubmit", "approve", "finish"], "done"),
        (
            "operator-run",
            ["provision", "ready", "verify", "findings", "fixed", "passed", "findings", "fixed", "passed", "clean", "close"],
            "closed",
        ),
        ("operator-run", ["provision", "broken", "retry", "ready", "ask", "recheck", "broken", "call_off"], "called_off"),
        ("operator-run", ["provision", "ready", "ask", "resume", "verify", "passed", "clean", "reopen", "ask", "call_off"], "called_off"),
        ("operator-run", ["call_off"], "called_off"),
    ],
)
def test_a_built_in_flow_is_walked_to_its_end(slug: str, ways: list[str], end: str) -> None:
    definition = _definition(slug)
    state = definition.state(definition.initial)
    for way in ways:
        transition = state.transition(way)
        assert transition is not None, f"`{state.id}` has no way `{way}`"
        state = definition.state(transition.target)
    assert (state.id, state.terminal) == (end, True)


@pytest.mark.parametrize("slug", SLUGS)
def test_instructions_and_conditions_are_worth_reading(slug: str) -> None:
    for state in _definition(slug).states[:-1]:
        assert len(state.instructions) > (40 if state.terminal else 200)
        conditions = [each.condition for each in state.transitions]
        assert len(set(conditions)) == len(conditions)
        assert min(map(len, conditions), default=200) > 100
