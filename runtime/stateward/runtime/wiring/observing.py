"""Traces and metrics of verifications, in the form of OpenTelemetry: the only place that knows its library.

Invariants: nothing is measured and nothing leaves the machine but where the environment names who collects it, by the variables that
OpenTelemetry gives for that (`OTEL_EXPORTER_OTLP_ENDPOINT` and its kin); no text of authors, workers or judges is told, only ids, names,
counts and times; a collector that cannot be reached costs a bounded wait at the end and nothing else.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from stateward.runtime.ports import (
    NoObserver,
    Observed,
    Observer,
    VerificationRequest,
    VerifierAnswered,
    VerifierCancelled,
    VerifierFailed,
    VerifierOutcome,
)
from stateward.runtime.session.answers import Answer

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Span, Tracer

NAME: Final = "stateward"
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
"""Variables of which one has to be set; the others of OpenTelemetry (headers, time limits, resource) count too."""
DISABLED: Final = "OTEL_SDK_DISABLED"
LAST_SECONDS: Final = 2.0
"""How long what was measured is waited for at the end."""
_PERIOD_SECONDS: Final = 15.0


class TelemetryObserver:
    """The port `Observer` over a tracer and a meter."""

    def __init__(self, tracer: "Tracer", meter: "Meter") -> None:
        self._tracer = tracer
        self._attempts = meter.create_counter("stateward.attempts", "{attempt}", "Requests to leave a state, by what came of them")
        self._verdicts = meter.create_counter("stateward.verdicts", "{verdict}", "Verdicts on transitions, as they were given")
        self._tokens = meter.create_counter("stateward.verifier.tokens", "{token}", "Tokens that verifying cost")
        self._seconds = meter.create_histogram("stateward.verification.duration", "s", "How long verifying took")

    @contextmanager
    def attempt(self, request: VerificationRequest, kind: str) -> Iterator[Observed]:
        """Give a context in which one attempt is verified by a judge of that kind, and reported."""
        about: dict[str, str] = {"stateward.flow": request.flow, "stateward.state": request.state, "stateward.verifier": kind}
        ids: dict[str, str | int] = {
            "stateward.worker": request.worker,
            "stateward.attempt": request.attempt,
            "stateward.attempt.number": request.attempt_number,
            "stateward.visit": request.visit,
        }
        with self._tracer.start_as_current_span("verification", attributes={**about, **ids}, record_exception=False) as span:
            observed = _Observed(self, span, about)
            begun = monotonic()
            try:
                yield observed
            finally:
                self._seconds.record(monotonic() - begun, {**about, "stateward.outcome": observed.outcome})
                self._attempts.add(1, {**about, "stateward.outcome": observed.outcome})
                span.set_attribute("stateward.outcome", observed.outcome)

    def verified(self, span: "Span", about: dict[str, str], outcome: VerifierOutcome) -> None:
        """Count what a verifier came to."""
        match outcome:
            case VerifierAnswered(judgements=judgements):
                for each in judgements:
                    verdict = str(each.verdict)
                    self._verdicts.add(1, {**about, "stateward.verdict": verdict})
                    span.add_event("verdict", {"stateward.transition": each.transition, "stateward.verdict": verdict})
            case VerifierFailed(cause=cause):
                span.set_attribute("stateward.cause", str(cause))
            case VerifierCancelled():
                pass
        usage = None if outcome.account is None else outcome.account.usage
        if usage is not None:
            span.set_attributes(
                {
                    "stateward.requests": usage.requests,
                    "gen_ai.usage.input_tokens": usage.input_tokens,
                    "gen_ai.usage.output_tokens": usage.output_tokens,
                }
            )
            self._tokens.add(usage.input_tokens, {**about, "gen_ai.token.type": "input"})
            self._tokens.add(usage.output_tokens, {**about, "gen_ai.token.type": "output"})


class _Observed:
    """One verification."""

    def __init__(self, observer: TelemetryObserver, span: "Span", about: dict[str, str]) -> None:
        self._observer, self._span, self._about = observer, span, about
        self.outcome = "interrupted"

    def verified(self, outcome: VerifierOutcome) -> None:
        """Take what the verifier came to."""
        self._observer.verified(self._span, self._about, outcome)

    def answered(self, answer: Answer) -> None:
        """Take what the runtime made of it."""
        self.outcome = str(answer.outcome)
        if answer.code:
            self._span.set_attribute("stateward.code", answer.code)
        if answer.transition is not None:
            self._span.set_attribute("stateward.transition", answer.transition)


@contextmanager
def observing() -> Iterator[Observer]:
    """Give who measures what this process verifies: whoever the environment names, or nobody."""
    if not any(os.environ.get(each) for each in ENDPOINTS) or os.environ.get(DISABLED, "").lower() == "true":
        yield NoObserver()
        return
    try:
        providers = _providers()
    except ImportError:
        print("warning: what would measure verifications is not installed", file=sys.stderr)
        print("  = help: install `stateward[otel]`, or unset OTEL_EXPORTER_OTLP_ENDPOINT", file=sys.stderr)
        yield NoObserver()
        return
    tracers, meters = providers
    try:
        yield TelemetryObserver(tracers.get_tracer(NAME, version(NAME)), meters.get_meter(NAME, version(NAME)))
    finally:
        _ended(tracers.shutdown, meters.shutdown)


def _ended(*shutdowns: Callable[[], None]) -> None:
    """Let everything be sent that was measured, side by side, and wait a bounded time for it."""
    threads = [Thread(target=each, name="stateward telemetry", daemon=True) for each in shutdowns]
    for each in threads:
        each.start()
    deadline = monotonic() + LAST_SECONDS
    for each in threads:
        each.join(max(0.0, deadline - monotonic()))


def _providers() -> tuple[Any, Any]:
    """Make what collects traces and metrics, and sends them where the environment says. Raises ImportError."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415 -- nobody else needs them
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    logging.getLogger("opentelemetry").addHandler(logging.StreamHandler(sys.stderr))
    resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME") or NAME, "service.version": version(NAME)})
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    seconds = None if os.environ.get("OTEL_EXPORTER_OTLP_TIMEOUT") else LAST_SECONDS
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=seconds)))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(timeout=seconds), export_interval_millis=_PERIOD_SECONDS * 1000)
    return tracers, MeterProvider([reader], resource=resource, shutdown_on_exit=False)
