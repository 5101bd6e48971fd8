"""The built-in flows as they ship."""

import json

import pytest

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
