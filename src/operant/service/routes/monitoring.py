"""``/health``, ``/ready``, ``/metrics`` and ``/api/v1/monitoring``: how the service is."""

from __future__ import annotations

import os
import time
from dataclasses import asdict

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from operant import __version__
from operant.service.problems import PROBLEMS
from operant.service.routes.dependencies import RuntimeDep
from operant.service.runtime import Runtime
from operant.service.schemas.monitoring import DesktopCounts, Health, MetricsView, Readiness

__all__ = ["metrics_view", "router"]

router = APIRouter(tags=["monitoring"], responses=PROBLEMS)


@router.get("/health", response_model=Health)
async def health() -> Health:
    """The service answers. Needs no token."""
    return Health(version=__version__)


@router.get(
    "/ready", response_model=Readiness, responses={425: {"model": Readiness}, 503: {"model": Readiness}}
)
async def ready(runtime: RuntimeDep, response: Response) -> Readiness:
    """A model is loaded and a desktop has come up. 425 while the service starts; 503 if it could not."""
    if not runtime.ready:
        response.status_code = 503 if runtime.failure else 425
    return Readiness(
        ready=runtime.ready,
        model=runtime.models.current.info.name if runtime.models.loaded else None,
        desktops=runtime.pool_status is not None,
        why=runtime.failure.message if runtime.failure else None if runtime.ready else "starting",
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def prometheus(runtime: RuntimeDep) -> Response:
    """Everything for Prometheus."""
    await runtime.at_desk(runtime.refresh_metrics)
    return Response(runtime.metrics.exposition(), media_type=CONTENT_TYPE_LATEST)


@router.get("/api/v1/monitoring/metrics", response_model=MetricsView)
async def metrics(runtime: RuntimeDep) -> MetricsView:
    """A summary for people, counted since the last reset."""
    return await runtime.at_desk(metrics_view, runtime)


@router.post("/api/v1/monitoring/reset-metrics", response_model=MetricsView)
async def reset_metrics(runtime: RuntimeDep) -> MetricsView:
    """Count the summary from now on. Prometheus' counters go on, as they must."""
    runtime.metrics.reset()
    return await runtime.at_desk(metrics_view, runtime)


def metrics_view(runtime: Runtime) -> MetricsView:
    status = runtime.pool_status
    summary = runtime.metrics.summary()
    return MetricsView(
        **summary,
        desktops=DesktopCounts(**asdict(status)) if status else None,
        sessions=len(runtime.sessions.list()),
        attempts=sum(not one.over for one in runtime.attempts.list()),
        cpu_percent=_cpu_percent(summary["uptime_s"]),
        memory_mb=_memory_mb(),
    )


def _cpu_percent(uptime_s: float) -> float:
    """Of one core, on the average since the service started."""
    return round(100 * time.process_time() / uptime_s, 2) if uptime_s > 0 else 0.0


def _memory_mb() -> float:
    try:
        with open("/proc/self/statm") as file:
            return round(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20), 1)
    except (OSError, ValueError):
        return 0.0
