"""The flows of a Workspace that a service holds, under the contract of every authority, over a real socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX
from stateward.runtime.core.refusal import RefusalCode
from stateward.runtime.ports import FlowAuthority, Removed, Revision
from stateward.runtime.remote.forms import SLUGS_MAX
from tests.contracts.authority import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.authority import given, kept, refused, source
from tests.contracts.snapshots import HERE, THERE
from tests.remote.services import Running, running


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "store.db", HERE.id) as started:
        yield started


@pytest.fixture
def authority(service: Running) -> Iterator[FlowAuthority]:
    with service.client("ada") as client:
        yield client


@pytest.fixture
def second(service: Running) -> Iterator[FlowAuthority]:
    with service.client("bob") as client:
        yield client


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[FlowAuthority]:
    with running(tmp_path / "elsewhere.db", THERE.id) as started, started.client("eve") as client:
        yield client


def test_as_many_flows_as_a_bundle_names_are_named_in_one_request(authority: FlowAuthority) -> None:
    slugs = [f"{number:0114}" for number in range(SLUGS_MAX)]
    refused(authority.export(slugs), RefusalCode.FLOW_NOT_FOUND)
    many = refused(authority.export([*slugs, "more"]), RefusalCode.INPUT_TOO_LARGE)
    assert "501 flows are too many to name at once" == many.message
    refused(authority.export([f"{number:0128}" for number in range(SLUGS_MAX)]), RefusalCode.INPUT_TOO_LARGE)


def test_the_longest_note_is_kept_whatever_it_is_said_about(authority: FlowAuthority) -> None:
    note = "\U0001f701" * 1024
    kept(authority, note=note)
    removed = given(Removed, authority.remove("paper", base=1, note=note))
    assert (note, note) == (removed.act.note, authority.history("paper", 1)[0].note)


def test_the_largest_source_is_kept_byte_for_byte(authority: FlowAuthority) -> None:
    """Every character of the comment is two in JSON."""
    content = source()
    content += b"\n# " + b'"' * (FLOW_SOURCE_BYTES_MAX - len(content) - 3)
    assert FLOW_SOURCE_BYTES_MAX == len(content)
    assert content == kept(authority, content).content
    assert content == given(Revision, authority.source("paper", 1)).content
