"""A service for tests: its app over a real store, with a token for every scope, and what it logs."""

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from httpx2 import Response
from starlette.testclient import TestClient

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.tokens import Issued, issue
from stateward.runtime.ports import FlowStore, TokenStore, Workspace, Workspaces
from stateward.runtime.session.masking import Secrets
from stateward.runtime.surfaces.http.app import make_app
from stateward.runtime.surfaces.http.logs import ServiceLog
from stateward.runtime.surfaces.http.service import Bounds, Names, Service
from stateward.store.database import open_store
from stateward.store.memory import MemoryFlowStore
from stateward.store.memory_tokens import MemoryTokens

HERE = "0198c0de-0000-7000-8000-00000000000a"
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
PROGRAM = "stateward 0.1.0"
SCOPES = ("read", "write", "resolve", "verify", "operate")
BOTH = ("read", "write")

USUAL = Bounds()

FLOW = """schema_version = 1;
name = "%s";
initial = "write";
states = {
    write = { instructions = "%s"; transitions = { done = { target = "end"; condition = "It is."; }; }; };
    end = { instructions = "Rest."; terminal = true; };
};
"""


def flow(text: str = "Write it.", name: str = "paper") -> str:
    return FLOW % (name, text)


class Ticking:
    """A clock that goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@dataclass
class Desk:
    """A service, and how it is asked."""

    service: Service
    app: FastAPI
    client: TestClient
    flows: FlowStore
    written: io.StringIO
    issuing: TokenStore
    issued: dict[tuple[str, ...], str] = field(default_factory=dict)

    def token(self, *scopes: str, name: str = "ada") -> str:
        """Give a token for these scopes."""
        place = (name, *scopes)
        if place not in self.issued:
            number = len(self.issued) + 1
            answer = issue(
                self.issuing,
                HERE,
                token=f"0198c0de-0000-7000-8000-{number:012x}",
                secret=number.to_bytes(32, "big"),
                name=name,
                scopes=scopes,
                issuer="root",
                now=NOON,
            )
            assert isinstance(answer, Issued), answer
            self.issued[place] = answer.secret
        return self.issued[place]

    def ask(self, method: str, path: str, *, scopes: tuple[str, ...] = BOTH, name: str = "ada", **more: Any) -> Response:
        """Ask as somebody with these scopes."""
        headers = {"Authorization": f"Bearer {self.token(*scopes, name=name)}", **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def get(self, path: str, **more: Any) -> Response:
        return self.ask("GET", path, **more)

    def save(self, source: str, base: int | None = None, slug: str = "paper", name: str = "ada", **more: Any) -> Response:
        """Save a source on a revision."""
        return self.ask("PUT", f"/v1/flows/{slug}", name=name, headers=based_on(base), json={"source": source, **more})

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]


def based_on(base: int | None) -> Mapping[str, str]:
    return {"If-None-Match": "*"} if base is None else {"If-Match": f'"{base}"'}


def problem(answer: Response, status: int, code: str) -> dict[str, Any]:
    """Take an answer as the problem that it has to be, and give it."""
    told = (answer.status_code, answer.json().get("code"), answer.headers["content-type"])
    assert (status, code, "application/problem+json") == told, answer.text
    data: dict[str, Any] = answer.json()
    assert (f"urn:stateward:problem:{code}", status) == (data["type"], data["status"])
    assert answer.headers["x-request-id"] == data["request_id"]
    assert data["title"]
    assert data["detail"]
    return data


def fine(answer: Response, status: int = 200) -> Any:
    """Take an answer as one of success, and give it."""
    assert status == answer.status_code, answer.text
    return answer.json()


@contextmanager
def desk(place: Path | str | None = None, *, bounds: Bounds = USUAL, origins: tuple[str, ...] = (), **changed: Any) -> Iterator[Desk]:
    """Open a service over the store that lies there; in memory without one."""
    with ExitStack() as opened:
        reads, writes, tokens, issuing, workspaces = opened.enter_context(_stores(place))
        clock = Ticking()
        service = Service(
            workspace=HERE,
            program=PROGRAM,
            reads=lambda author: WorkspaceFlows(reads, HERE, author, PROGRAM, clock),
            writes=lambda author: WorkspaceFlows(writes, HERE, author, PROGRAM, clock),
            tokens=tokens,
            clock=clock,
            ready=lambda: _looked(workspaces),
            names=Names(frozenset({"localhost", "testserver"}), frozenset(origins)),
            bounds=bounds,
        )
        service = replace(service, **changed)
        written = io.StringIO()
        app = make_app(service, ServiceLog(written, mask=Secrets({}, shapes=True).mask, as_text=False))
        client = opened.enter_context(TestClient(app))
        yield Desk(service, app, client, writes, written, issuing)


def _looked(workspaces: Workspaces) -> None:
    assert workspaces.get(HERE) is not None


@contextmanager
def _stores(place: Path | str | None) -> Iterator[tuple[FlowStore, FlowStore, TokenStore, TokenStore, Workspaces]]:
    if place is None:
        flows, tokens = MemoryFlowStore(), MemoryTokens()
        flows.ensure(Workspace(HERE, "", NOON))
        yield flows, flows, tokens, tokens, flows
        return
    with open_store(place, write=True, create=True) as writer:
        writer.workspaces.ensure(Workspace(HERE, "", NOON))
        with open_store(place, write=False) as reader:
            yield reader.flows, writer.flows, reader.tokens, writer.tokens, reader.workspaces
