"""`GET /metrics`: what Prometheus reads."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest
from starlette.responses import Response

from coderunner.model import Outcome
from coderunner.server.slots import Slots

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._runs = Counter(
            "coderunner_runs",
            "Runs that have ended",
            ["language", "ended_by"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "coderunner_run_seconds",
            "Wall time of programs",
            ["language"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._requests = Histogram(
            "coderunner_request_seconds",
            "From the head of a request to the end of its answer",
            ["route", "status"],
            buckets=_SECONDS,
            registry=self.registry,
        )

    def watch(self, slots: Slots) -> None:
        self.count("runs", "Runs", lambda: slots.running)
        self.count("queue", "Runs that wait for a turn", lambda: slots.waiting)

    def count(self, name: str, what: str, now: Callable[[], float]) -> None:
        gauge = Gauge(f"coderunner_{name}_now", f"{what} right now", registry=self.registry)
        gauge.set_function(now)

    def note(self, language: str, outcome: Outcome) -> None:
        self._runs.labels(language, outcome.ended_by.value).inc()
        self._seconds.labels(language).observe(outcome.usage.wall_ms / 1000)

    def note_request(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, status).observe(seconds)


router = APIRouter(tags=["service"])


@router.get(
    "/metrics",
    summary="Read the figures",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request) -> Response:
    """In the text format of Prometheus."""
    text = generate_latest(request.app.state.service.metrics.registry)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
