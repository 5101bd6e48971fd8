"""The commands that run Workers on flows of a service: `start`, `run` and `status` with `--server`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import FlowAuthority, Removed
from tests.cli.program import Ended, Place, place
from tests.contracts.authority import kept, source, texts
from tests.contracts.snapshots import HERE, THERE
from tests.remote.odd_server import odd_server, problem
from tests.remote.services import Running, running, token_of

AWAY = "http://127.0.0.1:9"


@pytest.fixture
def shop(tmp_path: Path) -> Place:
    """A folder of work with a store of its own; the service has another."""
    (tmp_path / "shop").mkdir()
    return place(tmp_path / "shop")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "served.db", HERE.id) as started:
        yield started


@pytest.fixture
def ada(service: Running) -> Iterator[FlowAuthority]:
    with service.client("ada") as client:
        yield client


@pytest.fixture
def token(service: Running, tmp_path: Path) -> Path:
    """A file with a token that resolves and does nothing else."""
    path = tmp_path / "token"
    path.write_text(f"{token_of(service.store, HERE.id, 'worker', 'resolve')}\n", "ascii")
    path.chmod(0o600)
    return path


def start(shop: Place, address: str, token: Path, *more: str) -> Ended:
    return shop.call("start", "workspace:paper", "--server", address, "--json", *more, STATEWARD_TOKEN_FILE=str(token))


def started(shop: Place, address: str, token: Path) -> dict[str, object]:
    ended = start(shop, address, token)
    assert (0, "") == (ended.status, ended.err)
    data: dict[str, object] = json.loads(ended.out)
    return data


def marker(shop: Place) -> str:
    return (shop.work / ".stateward" / "workspace").read_text("ascii").strip()


def nothing_began(shop: Place) -> bool:
    return not (shop.work / ".stateward").exists() and not shop.store.exists()


def test_a_worker_is_started_on_a_flow_of_the_service_and_the_folder_belongs_to_its_workspace(
    shop: Place, service: Running, ada: FlowAuthority, token: Path
) -> None:
    revision = kept(ada)
    data = started(shop, service.address, token)
    flow = data["flow"]
    assert isinstance(flow, dict)
    assert (HERE.id, HERE.id) == (data["workspace"], marker(shop))
    assert (revision.definition_digest, 1) == (flow["definition_digest"], flow["current_revision"])


def test_the_service_and_the_token_can_be_named_by_the_environment(shop: Place, service: Running, ada: FlowAuthority, token: Path) -> None:
    kept(ada)
    text = token.read_text("ascii").strip()
    ended = shop.call("start", "workspace:paper", "--json", STATEWARD_SERVER=service.address, STATEWARD_TOKEN=text)
    assert (0, "") == (ended.status, ended.err)
    assert HERE.id == marker(shop)


def test_a_run_works_through_a_flow_of_the_service(shop: Place, service: Running, ada: FlowAuthority, token: Path, tmp_path: Path) -> None:
    kept(ada)
    answers = tmp_path / "answers.json"
    verdicts = {"ready": {"verdict": "met", "rationale": "it is there"}}
    answers.write_text(json.dumps({"requests": [{"reason": "it is written", "verdicts": verdicts}]}), "utf-8")
    arguments = ("run", "workspace:paper", "--text", "Ticket 41", "--answers", str(answers), "--server", service.address)
    ended = shop.call(*arguments, STATEWARD_TOKEN_FILE=str(token))
    assert (0, "") == (ended.status, ended.err)
    assert "started Worker " in ended.out
    assert HERE.id == marker(shop)


def test_a_run_is_resumed_without_the_service(shop: Place, service: Running, ada: FlowAuthority, token: Path, tmp_path: Path) -> None:
    kept(ada)
    answers = tmp_path / "answers.json"
    not_yet = {"ready": {"verdict": "not_met", "rationale": "it is not there", "missing": ["the paper"]}}
    met = {"ready": {"verdict": "met", "rationale": "it is there"}}
    requests = [{"reason": "soon", "verdicts": not_yet}, {"reason": "it is written", "verdicts": met}]
    answers.write_text(json.dumps({"requests": requests}), "utf-8")
    arguments = ("run", "workspace:paper", "--text", "Ticket 41", "--answers", str(answers))
    first = shop.call(*arguments, "--max-requests", "1", "--server", service.address, STATEWARD_TOKEN_FILE=str(token))
    assert (1, "") == (first.status, first.err)
    for more in ((), ("--server", AWAY)):
        resumed = shop.call(*arguments, "--resume", *more)
        assert (0, "") == (resumed.status, resumed.err)


def test_status_tells_of_a_newer_revision_and_goes_on_without_the_service(
    shop: Place, service: Running, ada: FlowAuthority, token: Path
) -> None:
    kept(ada)
    started(shop, service.address, token)
    kept(ada, source("more."), base=1)
    environment = {"STATEWARD_TOKEN_FILE": str(token)}
    told = shop.call("status", "--server", service.address, **environment)
    assert "revision 2 is current" in told.out
    assert isinstance(ada.remove("paper", base=2), Removed)
    assert "none is current any more" in shop.call("status", "--server", service.address, **environment).out
    away = shop.call("status", "--server", AWAY, "--json", **environment)
    assert (0, 1) == (away.status, json.loads(away.out)["flow"]["current_revision"])
    assert away.err.startswith("warning: which revision of `workspace:paper` is current is not known: ")
    alone = shop.call("status", "--json")
    assert (0, 1) == (alone.status, json.loads(alone.out)["flow"]["current_revision"])
    assert alone.err.endswith("is not known: the store here never kept it, and no service is named\n")


def test_while_the_service_is_away_nothing_is_begun(shop: Place, token: Path) -> None:
    ended = start(shop, AWAY, token)
    assert (3, "") == (ended.status, ended.out)
    assert f"error: {AWAY} cannot be reached: " in ended.err
    assert "= help: " in ended.err
    assert nothing_began(shop)


def test_a_flow_that_the_service_does_not_hold_begins_nothing(shop: Place, service: Running, token: Path) -> None:
    ended = start(shop, service.address, token)
    assert 2 == ended.status
    assert "there is no flow `workspace:paper` in this Workspace" in ended.err
    assert nothing_began(shop)


@pytest.mark.parametrize("workspace", ["../../evil", "..", ""])
def test_a_service_that_names_no_workspace_makes_no_folder_anywhere(shop: Place, token: Path, tmp_path: Path, workspace: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    with odd_server(problem("flow_not_found", 404)) as odd:
        odd.workspace = workspace
        ended = start(shop, odd.address, token)
    assert 3 == ended.status
    assert "which is no id of one" in ended.err
    assert before == sorted(tmp_path.rglob("*"))


def test_a_token_that_others_can_read_opens_nothing(shop: Place, service: Running, ada: FlowAuthority, token: Path) -> None:
    kept(ada)
    token.chmod(0o644)
    ended = start(shop, service.address, token)
    assert 3 == ended.status
    assert f"others can read or write the token file `{token}`" in ended.err
    assert nothing_began(shop)


def test_without_a_token_nothing_is_answered(shop: Place, service: Running, ada: FlowAuthority) -> None:
    kept(ada)
    ended = shop.call("start", "workspace:paper", "--server", service.address)
    assert 3 == ended.status
    assert f"{service.address} answers only whoever shows a token" in ended.err
    assert "STATEWARD_TOKEN_FILE" in ended.err
    assert nothing_began(shop)


def test_a_folder_of_another_workspace_is_not_started_in(shop: Place, service: Running, ada: FlowAuthority, token: Path) -> None:
    kept(ada)
    (shop.work / ".stateward").mkdir()
    (shop.work / ".stateward" / "workspace").write_text(f"{THERE.id}\n", "ascii")
    ended = start(shop, service.address, token)
    assert 3 == ended.status
    assert f"holds Workspace `{HERE.id}`, and `{THERE.id}` was expected" in ended.err
    assert not shop.store.exists()


def test_an_address_with_a_password_is_refused_and_not_told(shop: Place, token: Path) -> None:
    address = "https://ada:hush-hush@flows.example.org"
    for ended in (start(shop, address, token), shop.call("start", "workspace:paper", STATEWARD_SERVER=address)):
        assert 2 == ended.status
        assert "the address of the service holds a user or a password" in ended.err
        assert "hush" not in ended.err + ended.out
    assert nothing_began(shop)


def test_two_folders_of_one_workspace_share_the_store_of_its_workers(
    shop: Place, service: Running, ada: FlowAuthority, token: Path
) -> None:
    kept(ada)
    first = started(shop, service.address, token)
    (shop.work / "other").mkdir()
    (shop.work / ".stateward").rename(shop.folder / "moved")
    ended = start(shop, service.address, token, "--workdir", "other")
    assert (0, "") == (ended.status, ended.err)
    assert HERE.id == json.loads(ended.out)["workspace"]
    assert first["worker"] != json.loads(ended.out)["worker"]


def test_the_commands_on_flows_work_on_those_of_the_service_and_begin_nothing_here(shop: Place, service: Running, tmp_path: Path) -> None:
    path = tmp_path / "author"
    path.write_text(token_of(service.store, HERE.id, "ada"), "ascii")
    path.chmod(0o600)
    environment = {"STATEWARD_SERVER": service.address, "STATEWARD_TOKEN_FILE": str(path)}
    file = shop.work / "paper.dcdl"

    def flow(status: int, *arguments: str) -> str:
        ended = shop.call("flow", *arguments, **environment)
        assert status == ended.status, ended
        return ended.out + ended.err

    file.write_bytes(source())
    assert "saved workspace:paper revision 1" in flow(0, "save", "paper.dcdl", "--note", "first")
    file.write_bytes(source("more."))
    assert "revision 2" in flow(0, "save", "paper.dcdl")
    assert "workspace:paper" in flow(0, "list")
    assert "first" in flow(0, "history", "paper")
    assert source("more.").decode() in flow(0, "show", "paper")
    assert "Write more." in flow(0, "diff", "paper", "1", "2")
    file.write_bytes(source().replace(b'"done"', b'"dnoe"'))
    assert "transition_target_not_found" in flow(1, "save", "paper.dcdl")
    with service.client("bob") as bob:
        kept(bob, source("bob's."), base=2)
    file.write_bytes(source("mine."))
    assert "bob" in flow(1, "save", "paper.dcdl")
    assert "bundle sha256:" in flow(0, "export", "--output", "paper.bundle", "paper")
    assert "removed" in flow(0, "remove", "paper", "--base", "3")
    with service.client("bob") as bob:
        assert [source(), source("more."), source("bob's.")] == texts(bob)
    assert not (shop.work / ".stateward" / "workspace").exists()
    assert not shop.store.exists()
