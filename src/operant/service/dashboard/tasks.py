"""Tasks to browse, and to watch being solved: by the oracle, or by the model that answers."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from operant.errors import OperantError
from operant.service.attempts.attempt import Attempt
from operant.service.dashboard.frame import (
    PATIENCE_S,
    empty,
    framed,
    keep_on_phones,
    live,
    outcome_pill,
    pill,
    runtime,
)
from operant.service.dashboard.usage import used_text
from operant.service.routes.catalogue import task_row

__all__ = ["register"]

COLUMNS: list[dict[str, Any]] = [
    {"name": "id", "label": "Task", "field": "id", "align": "left", "sortable": True},
    {"name": "example", "label": "For example", "field": "example", "align": "left"},
    {"name": "difficulty", "label": "Difficulty", "field": "difficulty", "align": "left", "sortable": True},
    {"name": "apps", "label": "Applications", "field": "apps", "align": "left", "sortable": True},
]
PACE_S = 0.8  # between actions, so that people can follow
TTL_S = 120.0
ORACLE = "oracle"


def register() -> None:
    @ui.page("/tasks", response_timeout=PATIENCE_S)
    async def tasks() -> None:
        async with framed("/tasks", "Tasks", "What agents are asked to do; choose one to watch it"):
            service = runtime()
            rows = await service.at_desk(lambda: [_row(one) for one in service.catalogue.templates.values()])
            with ui.row().classes("op-row"):
                search = ui.input("Search").props("outlined dense clearable").classes("grow")
                level = ui.toggle(["ALL", "EASY", "MEDIUM", "HARD"], value="ALL").props("no-caps unelevated")
            table = ui.table(rows=rows, columns=COLUMNS, row_key="id", pagination=15).props("flat wrap-cells")
            keep_on_phones(table, COLUMNS, "id", "example")
            table.on("row-click", lambda event: ui.navigate.to(f"/tasks/{event.args[1]['id']}"))
            search.bind_value_to(table, "filter", forward=lambda text: text or "")

            def choose() -> None:
                table.rows = [row for row in rows if level.value in ("ALL", row["difficulty"])]

            level.on_value_change(choose)

    @ui.page("/tasks/{suite}/{name}", response_timeout=PATIENCE_S)
    async def one_task(suite: str, name: str) -> None:
        identity = f"{suite}/{name}"
        async with framed("/tasks", name, identity):
            service = runtime()
            task = await service.at_desk(service.catalogue.task, identity)
            template = service.catalogue.templates[identity]
            with ui.row().classes("op-row"):
                pill(template.difficulty.value)
                for app in template.apps:
                    pill(app)
            seed = ui.number("Seed", value=0, min=0, max=2**31 - 1, precision=0).props("outlined dense")
            wish = ui.label(task.instruction).classes("text-base")
            with ui.row().classes("op-row"):
                oracle = ui.button("Watch the oracle", icon="play_arrow").props("unelevated")
                model = ui.button("Let the model try", icon="smart_toy").props("outline")
            stage = ui.column().classes("w-full")
            with stage:
                empty("Nothing is running yet.", "It takes a desktop of its own and hands it back by itself.")

            def reword() -> None:
                wish.text = service.catalogue.task(identity, int(seed.value or 0)).instruction

            seed.on_value_change(reword)

            async def watch(who: str | None) -> None:
                oracle.disable()
                model.disable()
                try:
                    await _watch(stage, identity, int(seed.value or 0), who)
                except OperantError as error:
                    ui.notify(error.message, type="negative", caption=error.hint or "")
                finally:
                    oracle.enable()
                    model.enable()

            oracle.on_click(lambda: watch(ORACLE))
            model.on_click(lambda: watch(None))


def _row(template: Any) -> dict[str, Any]:
    row = task_row(template)
    return {"id": row.id, "example": row.example, "difficulty": row.difficulty, "apps": ", ".join(row.apps)}


async def _watch(stage: ui.column, identity: str, seed: int, who: str | None) -> None:
    service = runtime()
    task = await service.at_desk(service.catalogue.task, identity, seed)
    predictor = await service.at_desk(service.models.load, who) if who else service.models.current
    session = await service.at_desk(lambda: service.sessions.create(ttl_s=TTL_S))
    stage.clear()
    with stage, ui.column().classes("op-card gap-3"):
        ui.element("operant-desktop").props(f'session="{session.id}" fps=20 quality=80')
        attempt = service.attempts.start(
            task, predictor, deterministic=True, session=session, pace_s=PACE_S, close=who is not None
        )
        await live(0.5, lambda: _same(attempt), _state)
    while not attempt.over:
        await asyncio.sleep(0.2)
    await asyncio.sleep(2.0)  # the last picture is worth a look
    await service.at_desk(service.sessions.end, session)


async def _same(attempt: Attempt) -> Attempt:
    return attempt


def _state(attempt: Attempt) -> None:
    with ui.row().classes("op-row no-wrap"):
        if attempt.result is not None:
            outcome_pill(attempt.result.outcome)
        else:
            pill(attempt.status, "wait" if not attempt.over else "bad")
        last = attempt.steps[-1]["description"] if attempt.steps else "setting up"
        why = attempt.result.why if attempt.result else attempt.error.message if attempt.error else last
        told = filter(None, (f"{len(attempt.steps)} steps", used_text(attempt.usage), why))
        ui.label(" · ".join(told)).classes("op-sub grow")
        if attempt.result is not None:
            ui.link("replay", f"/episodes/{attempt.result.episode}")
