"""Episodes in a list, and one frame by frame with what was done, thought and earned."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from operant.service.dashboard.charts import curve
from operant.service.dashboard.frame import (
    PATIENCE_S,
    empty,
    framed,
    keep_on_phones,
    outcome_pill,
    runtime,
)
from operant.service.dashboard.usage import used_text
from operant.service.routes.catalogue import episode_view
from operant.service.schemas.catalogue import EpisodeStep, EpisodeView
from operant.types import Outcome

__all__ = ["register"]

COLUMNS: list[dict[str, Any]] = [
    {"name": "started", "label": "Started", "field": "started", "align": "left", "sortable": True},
    {"name": "outcome", "label": "Outcome", "field": "outcome", "align": "left", "sortable": True},
    {"name": "instruction", "label": "Instruction", "field": "instruction", "align": "left"},
    {"name": "agent", "label": "Agent", "field": "agent", "align": "left", "sortable": True},
    {"name": "steps", "label": "Steps", "field": "steps", "sortable": True},
]
CALLED: list[dict[str, Any]] = [
    {"name": "calls", "label": "Calls", "field": "calls", "sortable": True},
    {"name": "gui_actions", "label": "GUI actions", "field": "gui_actions", "sortable": True},
]
USED = {"name": "used", "label": "Tokens, cost", "field": "used", "align": "left"}
OUTCOMES = ("all", *(outcome.value for outcome in Outcome), "unfinished")
MOST = 500


def register() -> None:
    @ui.page("/episodes", response_timeout=PATIENCE_S)
    async def episodes(outcome: str = "all") -> None:
        async with framed("/episodes", "Episodes", "What was done; choose one to step through it"):
            outcome = outcome if outcome in OUTCOMES else "all"
            ui.select(
                {name: name.replace("_", " ") for name in OUTCOMES},
                value=outcome,
                label="Outcome",
                on_change=lambda event: ui.navigate.to(f"/episodes?outcome={event.value}"),
            ).props("outlined dense").classes("w-48")
            service = runtime()
            total, found = await service.at_desk(
                lambda: service.episodes.list(outcome=None if outcome == "all" else outcome, limit=MOST)
            )
            if not found:
                empty("No episodes of this kind.", "Let an agent try a task, or evaluate one.")
                return
            rows = [
                {
                    "id": one.id,
                    "started": one.started[:19].replace("T", " "),
                    "outcome": (one.outcome or "unfinished").replace("_", " "),
                    "instruction": one.instruction,
                    "agent": one.agent,
                    "steps": one.steps,
                    "calls": one.calls,
                    "gui_actions": one.gui_actions,
                    "used": used_text(one.usage),
                }
                for one in found
            ]
            columns = COLUMNS + (CALLED if any(one.calls for one in found) else [])
            columns += [USED] if any(one.usage is not None for one in found) else []
            table = ui.table(rows=rows, columns=columns, row_key="id", pagination=15).props("flat wrap-cells")
            keep_on_phones(table, columns, "outcome", "instruction")
            table.on("row-click", lambda event: ui.navigate.to(f"/episodes/{event.args[1]['id']}"))
            if total > MOST:
                ui.label(f"the newest {MOST} of {total}").classes("op-sub")

    @ui.page("/episodes/{name}", response_timeout=PATIENCE_S)
    async def one_episode(name: str) -> None:
        async with framed("/episodes", "Episode", name):
            service = runtime()
            _replay(await service.at_desk(episode_view, service, name))


def _replay(episode: EpisodeView) -> None:
    with ui.row().classes("op-row"):
        outcome_pill(episode.outcome)
        ui.label(episode.instruction).classes("text-base grow")
    called = f"{episode.calls} calls, {episode.gui_actions} GUI actions" if episode.calls else ""
    told = (episode.task, episode.agent, called, used_text(episode.usage), episode.why or "cut short")
    ui.label(" · ".join(filter(None, told))).classes("op-sub")
    pictures = [episode.first_screenshot, *(step.screenshot for step in episode.steps)]
    if not any(pictures):
        empty("This episode has no pictures.")
        return
    with ui.element("div").classes("op-halves"):
        with ui.column().classes("op-card gap-2"):
            image = ui.interactive_image(pictures[0] or "", content="").classes("w-full").props("alt=screen")
            said = ui.label("").classes("op-sub")
            with ui.row().classes("op-row no-wrap"):
                back = ui.button(icon="chevron_left").props("flat round aria-label='One step back'")
                slider = (
                    ui.slider(min=0, max=len(episode.steps), value=0, step=1)
                    .props("label snap")
                    .classes("grow")
                )
                forth = ui.button(icon="chevron_right").props("flat round aria-label='One step on'")
        with ui.column().classes("op-card gap-2"):
            rows = [_row(step) for step in episode.steps]
            table = ui.table(rows=rows, columns=_step_columns(), row_key="number").props(
                "flat dense wrap-cells"
            )
            table.classes("max-h-96")
            table.on("row-click", lambda event: slider.set_value(event.args[1]["number"] - 1))
            curve(
                "Value and reward",
                {
                    "value": [(step.number, step.value) for step in episode.steps],
                    "reward": [(step.number, step.reward) for step in episode.steps],
                },
                height=200,
            )

    def show() -> None:
        at = int(slider.value)
        if picture := pictures[at]:
            image.set_source(picture)
        # The picture shows the screen before the next action, so that is the one drawn on it.
        following = episode.steps[at] if at < len(episode.steps) else None
        image.content = _overlay(following)
        said.text = f"{at} of {len(episode.steps)} · " + (
            f"next: {following.description}" if following else "the end"
        )

    slider.on_value_change(show)
    back.on_click(lambda: slider.set_value(max(0, slider.value - 1)))
    forth.on_click(lambda: slider.set_value(min(len(episode.steps), slider.value + 1)))
    show()


def _step_columns() -> list[dict[str, Any]]:
    return [
        {"name": name, "label": label, "field": name, "align": "left"}
        for name, label in (
            ("number", "#"),
            ("action", "Action"),
            ("reward", "Reward"),
            ("value", "Value"),
            ("ms", "ms"),
        )
    ]


def _row(step: EpisodeStep) -> dict[str, Any]:
    return {
        "number": step.number,
        "action": (f"{step.actor}: " if step.actor else "")
        + step.description
        + (f" (invalid: {step.invalid})" if step.invalid else "")
        + (f" (answered: {step.result})" if step.result else ""),
        "reward": f"{step.reward:g}",
        "value": "–" if step.value is None else f"{step.value:.2f}",
        "ms": f"{step.agent_ms:.0f} + {step.desktop_ms:.0f}",
    }


def _overlay(step: EpisodeStep | None, width: int = 1280, height: int = 800) -> str:
    """The action as shapes; only numbers of ours go in."""
    action = step.action if step else None
    if not action:
        return ""
    points = action.get("path") or ([action["point"]] if action.get("point") else [])
    places = [(float(x) * width, float(y) * height) for x, y in points]
    if not places:
        return ""
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in places)
    x, y = places[-1]
    return (
        f'<polyline points="{line}" fill="none" stroke="#e63946" stroke-width="4"/>'
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="18" fill="none" stroke="#fff" stroke-width="8"/>'
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="18" fill="none" stroke="#e63946" stroke-width="4"/>'
    )
