"""What is counted and timed: for Prometheus as it is, for people as a short summary that can be reset.

Prometheus' counters never go back, as its rules demand; the summary counts from its last reset.
"""

from __future__ import annotations

import collections
import statistics
import threading
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from starlette.types import Scope

from operant.agents.base import Usage

__all__ = ["Metrics"]

LATENCIES_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BATCHES = (1, 2, 4, 8, 16, 32, 64)
KEPT = 2000


@dataclass
class _Since:
    """What the summary knows, from its last reset on."""

    began: float = field(default_factory=time.time)
    requests: int = 0
    errors: int = 0
    latencies_s: collections.deque[float] = field(default_factory=lambda: collections.deque(maxlen=KEPT))
    inference_s: collections.deque[float] = field(default_factory=lambda: collections.deque(maxlen=KEPT))
    answers: int = 0
    batches: int = 0
    steps: int = 0
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    actions: collections.Counter[str] = field(default_factory=collections.Counter)
    usage: Usage | None = None


class Metrics:
    """One set for each application, so that two of them in one process do not mix."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each counter, that is never read
        self.registry = CollectorRegistry()
        self.started = time.time()
        self._lock = threading.Lock()
        self._since = _Since()

        def made(kind: Any, name: str, text: str, labels: tuple[str, ...] = (), **more: Any) -> Any:
            return kind(f"operant_{name}", text, labels, registry=self.registry, **more)

        self.requests = made(
            Counter, "http_requests_total", "Requests answered.", ("method", "route", "status")
        )
        self.latency = made(
            Histogram,
            "http_request_duration_seconds",
            "Time to answer a request.",
            ("method", "route"),
            buckets=LATENCIES_S,
        )
        self.inference = made(
            Histogram, "inference_duration_seconds", "Time of the model for a batch.", buckets=LATENCIES_S
        )
        self.batch = made(Histogram, "inference_batch_size", "Questions answered together.", buckets=BATCHES)
        self.queue = made(Gauge, "inference_queue_length", "Questions that wait.")
        self.model = made(Gauge, "model_loaded", "1 for the model that answers.", ("model",))
        self.steps = made(Counter, "steps_total", "Actions done to desktops.", ("by", "kind"))
        self.episodes = made(
            Counter, "episodes_total", "Attempts at tasks that ended.", ("task", "difficulty", "outcome")
        )
        self.tokens = made(Counter, "agent_tokens_total", "Tokens that agents used.", ("model", "kind"))
        self.cost = made(Counter, "agent_cost_dollars_total", "What they cost, as far as known.", ("model",))
        self.attempts = made(Gauge, "attempts", "Attempts at tasks that are not over.", ("status",))
        self.desktops = made(Gauge, "desktops", "Desktops by state.", ("state",))
        self.replaced = made(Counter, "desktops_replaced_total", "Desktops that failed and were replaced.")
        self.resets = made(Counter, "desktop_resets_total", "Desktops handed back and reset.")
        self.infra_errors = made(Counter, "infra_errors_total", "Episodes that the machine failed.")
        self.sessions = made(Gauge, "sessions", "Sessions by kind.", ("kind",))
        self.expired = made(
            Counter, "sessions_expired_total", "Sessions that ended because they were unused."
        )
        self.viewers = made(Gauge, "stream_viewers", "People and programs who watch a desktop.")
        self.frames = made(Counter, "stream_frames_total", "Pictures sent to those who watch.")
        self.bytes = made(Counter, "stream_bytes_total", "Bytes of those pictures.")
        self.training_running = made(Gauge, "training_running", "1 while a training run is under way.")
        self.training = made(
            Gauge, "training_progress", "Latest numbers of the training run.", ("run", "measure")
        )
        self.reward_hack = made(
            Gauge,
            "training_reward_hack_alarm",
            "1 while shaped reward rises and success does not.",
            ("run",),
        )
        self.up_since = made(Gauge, "start_time_seconds", "When the service started, in Unix time.")
        self.up_since.set(self.started)

    # Hearing of things.

    def request(self, scope: Scope, status: int, seconds: float) -> None:
        """A request was answered. Its route and not its path is the label: paths are without number."""
        method = scope.get("method", "WS")
        route = _route(scope)
        self.requests.labels(method, route, str(status)).inc()
        if method == "WS":
            return  # a stream lasts as long as it is watched
        self.latency.labels(method, route).observe(seconds)
        with self._lock:
            self._since.requests += 1
            self._since.errors += status >= 500
            self._since.latencies_s.append(seconds)

    def answered(self, size: int, seconds: float) -> None:
        """A model answered a batch."""
        self.inference.observe(seconds)
        self.batch.observe(size)
        with self._lock:
            self._since.answers += size
            self._since.batches += 1
            self._since.inference_s.append(seconds)

    def acted(self, by: str, kind: str) -> None:
        self.steps.labels(by, kind).inc()
        with self._lock:
            self._since.steps += 1
            self._since.actions[kind] += 1

    def used(self, model: str, usage: Usage | None) -> None:
        """An agent that counts has answered, or has ended an attempt."""
        if usage is None:
            return
        fresh = usage.input_tokens - usage.cached_tokens
        for kind, count in (
            ("input", fresh),
            ("cached", usage.cached_tokens),
            ("output", usage.output_tokens),
        ):
            self.tokens.labels(model, kind).inc(count)
        self.cost.labels(model).inc(usage.cost or 0.0)
        with self._lock:
            self._since.usage = Usage.total([self._since.usage, usage])

    def ended(self, task: str, difficulty: str, outcome: str) -> None:
        self.episodes.labels(task, difficulty, outcome).inc()
        if outcome == "infra_error":
            self.infra_errors.inc()
        with self._lock:
            self._since.outcomes[outcome] += 1

    # Telling.

    def exposition(self) -> bytes:
        return generate_latest(self.registry)

    def reset(self) -> None:
        with self._lock:
            self._since = _Since()

    def summary(self) -> dict[str, Any]:
        with self._lock:
            since = self._since
            verified = sum(since.outcomes[name] for name in ("success", "failure", "truncated"))
            return {
                "uptime_s": round(time.time() - self.started, 3),
                "since": since.began,
                "requests": since.requests,
                "server_errors": since.errors,
                "latency_ms": _spread(since.latencies_s),
                "predictions": since.answers,
                "inference_ms": _spread(since.inference_s),
                "mean_batch_size": round(since.answers / since.batches, 3) if since.batches else None,
                "steps": since.steps,
                "actions": dict(since.actions),
                "episodes": dict(since.outcomes),
                "usage": None if since.usage is None else asdict(since.usage),
                "verified": verified,
                "success_rate": since.outcomes["success"] / verified if verified else None,
            }


def _spread(seconds: collections.deque[float]) -> dict[str, float | None]:
    if not seconds:
        return {"mean": None, "p50": None, "p95": None}
    ordered = sorted(seconds)
    return {
        "mean": round(1000 * statistics.fmean(ordered), 3),
        "p50": round(1000 * ordered[len(ordered) // 2], 3),
        "p95": round(1000 * ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 3),
    }


def _route(scope: Scope) -> str:
    route = scope.get("route")
    path = getattr(route, "path", None)
    if isinstance(path, str) and path:
        return path
    return "/_nicegui" if scope["path"].startswith("/_nicegui") else "other"
