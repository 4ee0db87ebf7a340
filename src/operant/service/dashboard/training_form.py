"""The form that starts a training run: what to play, how long, and what to begin with."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from pydantic import ValidationError

from operant.errors import OperantError
from operant.service.dashboard.frame import runtime
from operant.service.routes.training import start_run
from operant.service.runtime import Runtime
from operant.service.schemas.training import StartTraining
from operant.train.config import TrainingConfig
from operant.train.preflight import DEFAULT_AGENT

__all__ = ["show_form"]

TRAINING = TrainingConfig()  # what the form begins with


def show_form() -> None:
    """On the page that is being built."""
    service = runtime()
    with ui.column().classes("op-card gap-3"):
        if not service.runs.enabled:
            ui.label("Training is switched off on this service.").classes("op-sub")
            return
        with ui.row().classes("op-row"):
            suite = _choice("Suite", {name: name for name in service.catalogue.suites()}, "core", "w-40")
            levels = {"": "all", "EASY": "EASY", "MEDIUM": "MEDIUM", "HARD": "HARD"}
            level = _choice("Difficulty", levels, "EASY", "w-32")
            tasks = (
                ui.select([], multiple=True, label="Tasks (all if none is chosen)", with_input=True)
                .props("outlined dense use-chips")
                .classes("grow")
                .style("min-width:240px")
            )
        with ui.row().classes("op-row"):
            begin = _choice("Begin with", {}, "", "w-64")
            steps = _count("Steps", TRAINING.total_timesteps)
            rollout = _count("Rollout steps", TRAINING.buffer_size)
            desktops = _count("Desktops", TRAINING.num_envs)
            seed = _count("Seed", 0, least=0)
            stages = ui.checkbox("curriculum")

        async def offer() -> None:
            """What there is to choose from; asked again when it may have changed."""
            wanted = None if stages.value else level.value or None
            try:
                found = await service.at_desk(_tasks_of, service, suite.value, wanted)
            except OperantError as error:
                ui.notify(error.message, type="negative", caption=error.hint or "")
                found = []
            tasks.set_options(found, value=[one for one in tasks.value or [] if one in found])
            begin.set_options(await service.at_desk(_beginnings, service), value=begin.value)

        for part in (suite, level, stages):
            part.on_value_change(offer)
        ui.timer(0.1, offer, once=True)

        async def start() -> None:
            try:
                asked = StartTraining(
                    total_timesteps=int(steps.value or 0),
                    suite=suite.value,
                    difficulty=level.value or None,
                    tasks=tasks.value or None,
                    rollout_steps=int(rollout.value or 0),
                    num_envs=int(desktops.value or 0),
                    init_from=begin.value or None,
                    curriculum=bool(stages.value),
                    seed=int(seed.value or 0),
                )
                view = await service.at_desk(start_run, service, asked)
                ui.notify(f"{view.id} has begun", type="positive")
            except ValidationError as error:
                wrong = error.errors()[0]
                ui.notify(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}", type="negative")
            except OperantError as error:
                ui.notify(error.message, type="negative", caption=error.hint or "")

        ui.button("Start training", icon="play_arrow", on_click=start).props("unelevated")


def _choice(label: str, offered: dict[str, str], first: str, width: str) -> Any:
    chosen = ui.select(offered or {first: ""}, value=first, label=label)
    return chosen.props("outlined dense").classes(width)


def _count(label: str, value: int, least: int = 1) -> Any:
    made = ui.number(label, value=value, min=least, precision=0)
    return made.props("outlined dense").classes("w-32")


def _tasks_of(service: Runtime, suite: str, level: str | None) -> list[str]:
    """Those that may be trained on."""
    found = service.catalogue.of_suite(suite)
    return [one.id for one in found if not one.unseen and level in (None, one.difficulty.value)]


def _beginnings(service: Runtime) -> dict[str, str]:
    checkpoints = [one.name for one in service.models.list() if one.path is not None]
    named = {"": "new weights", DEFAULT_AGENT: "the shipped agent (default)"}
    return named | {name: name for name in checkpoints}
