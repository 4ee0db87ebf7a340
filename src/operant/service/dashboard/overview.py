"""The first page: health, load, what is going on."""

from __future__ import annotations

import time
from typing import Any

from nicegui import ui

from operant.service.attempts.attempt import Attempt
from operant.service.dashboard.frame import (
    PATIENCE_S,
    empty,
    failure,
    framed,
    live,
    number,
    outcome_pill,
    pill,
    runtime,
)
from operant.service.dashboard.usage import cost_text, used_text
from operant.service.routes.monitoring import metrics_view
from operant.service.schemas.monitoring import MetricsView
from operant.service.sessions.approvals import Pending
from operant.service.training.runs import TrainingRun

__all__ = ["register"]

RECENT = 100  # episodes that a run's success rate is about: operant.learn.progress.WINDOW


def register() -> None:
    @ui.page("/", response_timeout=PATIENCE_S)
    async def overview() -> None:
        async with framed("/", "Overview", "What this service is doing right now"):
            await live(2.0, _pending, _approvals, key=lambda found: [one.id for one in found])
            await live(2.0, _measure, _health)
            with ui.element("div").classes("op-halves"):
                with ui.column().classes("op-card"):
                    ui.label("At work").classes("text-base font-semibold")
                    await live(2.0, _last_attempts, _attempts)
                with ui.column().classes("op-card"):
                    ui.label("Training").classes("text-base font-semibold")
                    await live(3.0, _last_runs, _runs)


async def _pending() -> list[Pending]:
    return runtime().approvals.pending()


def _approvals(pending: list[Pending]) -> None:
    """Actions on the live screen that wait for a yes."""
    for one in pending:
        with ui.row().classes("op-card items-center"):
            ui.icon("front_hand", size="28px").classes("op-wait")
            ui.label(f"On your own screen: {one.description}").classes("grow")
            ui.button("Allow", on_click=lambda one=one: _answer(one, True)).props("unelevated color=positive")
            ui.button("Decline", on_click=lambda one=one: _answer(one, False)).props("flat color=negative")


def _answer(one: Pending, yes: bool) -> None:
    runtime().approvals.answer(one.id, yes)


async def _measure() -> MetricsView:
    service = runtime()
    return await service.at_desk(metrics_view, service)


def _health(view: MetricsView) -> None:
    service = runtime()
    if service.failure is not None:
        failure(service.failure)
    desktops, status = view.desktops, "ready" if service.ready else "starting"
    with ui.element("div").classes("op-grid"):
        number("Service", status, "op-good" if service.ready else "op-wait")
        number("Model", service.models.current.info.name if service.models.loaded else "…")
        number("Desktops free", f"{desktops.ready} of {service.config.desktops}" if desktops else "…")
        number("Requests", f"{view.requests:,}")
        number("Latency, p95", _ms(view.latency_ms.p95))
        number("Model, p50", _ms(view.inference_ms.p50))
        rate = view.success_rate
        number("Success", "–" if rate is None else f"{rate:.0%} of {view.verified:,}")
        if view.usage is not None:
            number("Tokens", f"{view.usage.input_tokens + view.usage.output_tokens:,}")
            number("Cost", "unknown" if view.usage.cost is None else cost_text(view.usage))
        number("Memory", f"{view.memory_mb:.0f} MB")


def _ms(value: float | None) -> str:
    if value is None:
        return "–"
    return (
        f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"
    )


async def _last_attempts() -> list[Attempt]:
    return runtime().attempts.list()[:8]


def _attempts(attempts: list[Attempt]) -> None:
    if not attempts:
        empty("No task was tried yet.", "Start one on the page Tasks, or through the API.")
    for attempt in attempts:
        with ui.row().classes("op-row no-wrap"):
            if attempt.result is not None:
                outcome_pill(attempt.result.outcome)
            else:
                pill(attempt.status, "wait" if not attempt.over else "soft")
            counted = " · ".join(filter(None, (f"{len(attempt.steps)} steps", used_text(attempt.usage))))
            with ui.column().classes("grow gap-0").style("min-width:0"):
                ui.label(attempt.instruction).classes("ellipsis").style("max-width:100%")
                ui.label(counted).classes("op-sub")
            if attempt.result is not None:
                ui.link("replay", f"/episodes/{attempt.result.episode}")
            elif attempt.session and not attempt.over:
                ui.link("watch", f"/control?session={attempt.session}")


async def _last_runs() -> list[tuple[TrainingRun, dict[str, Any]]]:
    """The newest, each with its last update."""
    service = runtime()
    return await service.at_desk(
        lambda: [(run, (run.progress() or [{}])[-1]) for run in service.runs.list()[:6]]
    )


def _runs(runs: list[tuple[TrainingRun, dict[str, Any]]]) -> None:
    if not runs:
        empty("No training run yet.", "Start one on the page Training.")
    for run, latest in runs:
        with ui.row().classes("op-row no-wrap"):
            pill(run.state, {"running": "wait", "finished": "good", "failed": "bad"}.get(run.state, "soft"))
            ui.link(run.id, f"/training?runs={run.id}").classes("grow")
            if isinstance(latest.get("success_rate"), (int, float)):
                episodes = latest.get("episodes")
                of = f" of {min(episodes, RECENT)}" if isinstance(episodes, int) else ""
                ui.label(f"{latest['success_rate']:.0%} success{of}").classes("op-sub text-no-wrap")
            minutes = ((run.ended or time.time()) - run.started) / 60
            ui.label(f"{minutes:.0f} min").classes("op-sub text-no-wrap")
