"""The service holds to its own OpenAPI document, whatever it is asked."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import negative_data_rejection

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.attended import Attended, ToStart
from stateward.runtime.ports import Submitted
from stateward.runtime.session.entries import Actor
from tests.http.desk import Desk, based_on, desk, flow
from tests.runtime.engines import WORKSPACE
from tests.runtime.engines import Desk as Work
from tests.store.children import LONG

EXAMPLES = 200 if LONG else 20
ALL = ("read", "write", "resolve", "operate")
HOST = {"Host": "localhost"}
CONFIG: dict[str, Any] = {
    "generation": {"deterministic": True, "mode": "all"},
    "checks": {
        # What no schema can say: which revision is the last, which of two headers is meant, and what compiles.
        "positive_data_acceptance": {"expected-statuses": ["2xx", "3xx", "401", "403", "404", "409", "412", "422", "428"]},
    },
}


@pytest.fixture(scope="module")
def asked() -> Iterator[Desk]:
    """A service with a flow of two revisions, one that was removed, and another."""
    with desk(workers=attended()) as opened:
        opened.save(flow("One."))
        opened.save(flow("Two."), 1)
        opened.save(flow(name="gone"), slug="gone")
        opened.ask("DELETE", "/v1/flows/gone", headers=based_on(1))
        yield opened


@pytest.fixture(scope="module")
def document(asked: Desk) -> Any:
    return schemathesis.openapi.from_asgi("/v1/openapi.json", asked.app, config=SchemathesisConfig.from_dict(CONFIG), headers=HOST)


def attended() -> Attended:
    """Give Workers of which the service attends to one."""
    worked = Work("review")

    def start(wanted: ToStart, actor: Actor) -> Submitted | Refusal:
        return worked.engine.start_worker(WORKSPACE, wanted.segments, actor, wanted.submission)

    def nobody(_worker: str, _actor: Actor, _token: str) -> Refusal:
        return Refusal(RefusalCode.PROFILE_UNUSABLE, "there is no profile")

    return Attended(WORKSPACE, worked.engine, worked.engine, nobody, start, lambda _: None)


OPERATIONS = [
    ("GET", "/v1/bundle"),
    ("POST", "/v1/bundle"),
    ("GET", "/v1/flows"),
    ("DELETE", "/v1/flows/{slug}"),
    ("GET", "/v1/flows/{slug}"),
    ("PUT", "/v1/flows/{slug}"),
    ("GET", "/v1/flows/{slug}/acts"),
    ("GET", "/v1/flows/{slug}/current"),
    ("GET", "/v1/flows/{slug}/difference"),
    ("GET", "/v1/flows/{slug}/holding"),
    ("POST", "/v1/flows/{slug}/restore"),
    ("GET", "/v1/flows/{slug}/revisions"),
    ("GET", "/v1/flows/{slug}/revisions/{revision}"),
    ("GET", "/v1/snapshots"),
    ("GET", "/v1/workers"),
    ("POST", "/v1/workers"),
    ("GET", "/v1/workers/{worker}"),
    ("GET", "/v1/workers/{worker}/attempts/{attempt}"),
    ("GET", "/v1/workers/{worker}/cursor"),
    ("GET", "/v1/workers/{worker}/events"),
    ("GET", "/v1/workers/{worker}/flow"),
    ("POST", "/v1/workers/{worker}/input"),
    ("GET", "/v1/workers/{worker}/log"),
    ("POST", "/v1/workers/{worker}/notes"),
    ("POST", "/v1/workers/{worker}/records"),
    ("POST", "/v1/workers/{worker}/requests"),
    ("POST", "/v1/workers/{worker}/runs"),
    ("POST", "/v1/workers/{worker}/stops"),
    ("POST", "/v1/workers/{worker}/variables"),
    ("DELETE", "/v1/workers/{worker}/verification"),
    ("GET", "/v1/workspace"),
]


def test_every_operation_is_asked(document: Any) -> None:
    found = {(each.ok().method.upper(), each.ok().path) for each in document.get_all_operations()}
    assert set(OPERATIONS) == found


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[f"{method} {path}" for method, path in OPERATIONS])
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_is_answered_with_what_is_not_declared(asked: Desk, document: Any, method: str, path: str, mode: GenerationMode) -> None:
    headers = {"Authorization": f"Bearer {asked.token(*ALL)}", **HOST}
    operation = document[path][method]

    declared = {each.name for each in operation.query}

    @given(operation.as_strategy(generation_mode=mode))
    @settings(max_examples=EXAMPLES, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def answered_as_declared(case: schemathesis.Case) -> None:
        # A parameter that nobody declared and whose value is an empty list or object is not in the address at all.
        vanished = any(
            name not in declared and not isinstance(value, bool | int | float) and not value for name, value in case.query.items()
        )
        case.call_and_validate(headers=headers, excluded_checks=[negative_data_rejection] if vanished else [])

    answered_as_declared()
