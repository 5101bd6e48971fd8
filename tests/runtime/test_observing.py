"""What is measured of verifications, as a collector on this machine receives it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from stateward.runtime.core.events import Account, FailureCause, Usage, Verdict
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import NoObserver, VerificationRequest, VerifierAnswered, VerifierOutcome
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.wiring.observing import ENDPOINTS, TelemetryObserver, observing
from tests.runtime.engines import Desk, Judge, failing, verdicts
from tests.runtime.judgements import MET


@dataclass
class Collector:
    """What came, by its path."""

    port: int
    bodies: dict[str, list[bytes]] = field(default_factory=dict)

    def spans(self) -> list:
        requests = map(ExportTraceServiceRequest.FromString, self.bodies.get("/v1/traces", []))
        return [span for each in requests for one in each.resource_spans for scope in one.scope_spans for span in scope.spans]

    def metrics(self) -> dict:
        requests = map(ExportMetricsServiceRequest.FromString, self.bodies.get("/v1/metrics", []))
        return {each.name: each for one in requests for res in one.resource_metrics for sc in res.scope_metrics for each in sc.metrics}


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            there.bodies.setdefault(self.path, []).append(body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    there = Collector(server.server_port)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv(ENDPOINTS[0], f"http://127.0.0.1:{there.port}")
    yield there
    server.shutdown()
    thread.join()
    server.server_close()


def attributes(span: object) -> dict:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}  # type: ignore[attr-defined]


def costly(request: VerificationRequest) -> VerifierOutcome:
    answered = verdicts(request, {"x": MET})
    assert isinstance(answered, VerifierAnswered)
    return VerifierAnswered(answered.judgements, account=Account(Usage(2, 700, 30), "some-model"))


def observed_by(observer: object) -> Desk:
    desk = Desk("fork")
    desk.engine = Engine(
        desk.sessions,
        desk.catalog,
        desk.clock,
        desk.ids,
        DEMONSTRATION,
        leases=desk.leases,
        observer=observer,  # type: ignore[arg-type]
    )
    return desk


def test_a_verification_is_a_span_with_its_verdicts_tokens_and_outcome(collector: Collector) -> None:
    with observing() as observer:
        assert isinstance(observer, TelemetryObserver)
        desk = observed_by(observer)
        answer = desk.request("All of it is done.", Judge(costly)).answer
    (span,) = collector.spans()
    assert {
        "stateward.flow": "fork",
        "stateward.state": "a",
        "stateward.verifier": "scripted",
        "stateward.worker": desk.worker,
        "stateward.attempt": answer.attempt,
        "stateward.attempt.number": 1,
        "stateward.visit": 1,
        "stateward.requests": 2,
        "gen_ai.usage.input_tokens": 700,
        "gen_ai.usage.output_tokens": 30,
        "stateward.transition": "x",
        "stateward.outcome": "entered",
    } == attributes(span)
    assert [("x", "met"), ("y", "not_met"), ("z", "not_met"), ("$cancel", "not_met")] == [
        (found["stateward.transition"], found["stateward.verdict"]) for found in map(attributes, span.events)
    ]


def test_attempts_verdicts_tokens_and_durations_are_counted(collector: Collector) -> None:
    with observing() as observer:
        desk = observed_by(observer)
        desk.request("Done.", Judge(costly))
        desk.request("Done, too.", Judge(failing(FailureCause.TIMEOUT)))
    counted = collector.metrics()
    assert {"stateward.attempts", "stateward.verdicts", "stateward.verifier.tokens", "stateward.verification.duration"} == set(counted)
    assert {("entered", 1), ("failed", 1)} == {
        (attributes(point)["stateward.outcome"], point.as_int) for point in counted["stateward.attempts"].sum.data_points
    }
    assert {("met", 1), ("not_met", 3)} == {
        (attributes(point)["stateward.verdict"], point.as_int) for point in counted["stateward.verdicts"].sum.data_points
    }
    assert 730 == sum(point.as_int for point in counted["stateward.verifier.tokens"].sum.data_points)
    assert 2 == sum(point.count for point in counted["stateward.verification.duration"].histogram.data_points)


def test_no_text_of_author_worker_or_judge_leaves(collector: Collector) -> None:
    with observing() as observer:
        desk = observed_by(observer)
        instructions = desk.flow.instructions
        desk.request("The reason is a secret of the worker.", Judge(failing(FailureCause.UNAVAILABLE, "a message of the judge")))
    sent = b"".join(body for bodies in collector.bodies.values() for body in bodies)
    assert sent
    told = ("The reason is a secret", "a message of the judge", instructions[:12], "The condition of")
    assert [] == [text for text in told if text.encode() in sent]


def test_an_interrupted_verification_is_told_as_one(collector: Collector) -> None:
    def interrupted(_: VerificationRequest) -> VerifierOutcome:
        raise KeyboardInterrupt

    with observing() as observer:
        desk = observed_by(observer)
        with pytest.raises(KeyboardInterrupt):
            desk.request("Done.", Judge(interrupted))
    (span,) = collector.spans()
    assert "interrupted" == attributes(span)["stateward.outcome"]


def test_nothing_is_measured_where_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ENDPOINTS:
        monkeypatch.delenv(each, raising=False)
    with observing() as observer:
        assert isinstance(observer, NoObserver)


def test_nothing_is_measured_where_it_is_switched_off(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with observing() as observer:
        observed_by(observer).request("Done.", {"x": Verdict.MET})
    assert {} == collector.bodies


def test_a_collector_that_is_not_there_changes_nothing(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINTS[0], "http://127.0.0.1:9")
    with observing() as observer:
        answer = observed_by(observer).request("Done.", {"x": Verdict.MET}).answer
    assert "entered" == answer.outcome
