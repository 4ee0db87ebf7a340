"""How the service is."""

from __future__ import annotations

from typing import Literal

from operant.service.schemas.base import Given, UsageView

__all__ = ["DesktopCounts", "Health", "MetricsView", "Readiness", "Spread"]


class Health(Given):
    status: Literal["ok"] = "ok"
    version: str


class Readiness(Given):
    ready: bool
    model: str | None
    desktops: bool
    why: str | None
    """What is missing."""


class Spread(Given):
    mean: float | None
    p50: float | None
    p95: float | None


class DesktopCounts(Given):
    ready: int
    leased: int
    in_upkeep: int
    replaced: int
    expired: int


class MetricsView(Given):
    """Counted since the service started, or since the last reset."""

    uptime_s: float
    since: float
    requests: int
    server_errors: int
    latency_ms: Spread
    predictions: int
    inference_ms: Spread
    mean_batch_size: float | None
    steps: int
    actions: dict[str, int]
    episodes: dict[str, int]
    usage: UsageView | None
    """Of predictions and attempts; null if no agent counted."""
    verified: int
    """Attempts that criteria decided about."""
    success_rate: float | None
    """Of the verified attempts."""
    desktops: DesktopCounts | None
    sessions: int
    attempts: int
    """Not over yet."""
    cpu_percent: float
    memory_mb: float
