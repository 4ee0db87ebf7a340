"""Training runs: started, stopped, watched and compared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from operant.errors import OperantError
from operant.learn.time_left import in_words
from operant.service.dashboard.charts import Points, curve, options
from operant.service.dashboard.frame import PATIENCE_S, empty, framed, pill, runtime
from operant.service.dashboard.training_form import show_form
from operant.service.routes.training import start_run
from operant.service.schemas.training import StartTraining
from operant.service.training.live import read_live
from operant.service.training.progress import Progress, is_reward_hack, latest_of
from operant.service.training.runs import TrainingRun

__all__ = ["Watched", "register", "show_runs"]

REFRESH_S = 2.0
LOSSES = ("policy_loss", "value_loss", "loss", "imitation_loss")
STAGES = {"EASY": 0, "MEDIUM": 1, "HARD": 2}
ALONG = "environment steps"


def register() -> None:
    @ui.page("/training", response_timeout=PATIENCE_S)
    async def training(runs: str = "") -> None:
        async with framed(
            "/training", "Training", "Runs in processes of their own; they outlive this service"
        ):
            failures = Failures()
            show_form()
            service = runtime()
            known = await service.at_desk(service.runs.list)
            names = [run.id for run in known]
            wanted = [name for name in runs.split(",") if name in names] or names[:1]
            chosen = (
                ui.select(names, value=wanted, multiple=True, label="Runs to show and compare")
                .props("outlined dense use-chips")
                .classes("w-full")
            )

            async def look() -> list[Watched]:
                found = await service.at_desk(service.runs.list)
                if [run.id for run in found] != chosen.options:
                    fresh = [run.id for run in found if run.id not in chosen.options]
                    chosen.set_options([run.id for run in found], value=fresh[:1] or chosen.value)
                shown = [run for run in found if run.id in (chosen.value or [])]
                return await service.at_desk(lambda: [Watched.of(run) for run in shown])

            await show_runs(
                look, lambda run, index: f"/api/v1/training/runs/{run.id}/desktops/{index}", failures=failures
            )


@dataclass(frozen=True)
class Watched:
    """A run with what its files say of it, read in one go beside the event loop."""

    run: TrainingRun
    progress: Progress
    latest: Mapping[str, Any]
    """The last update, and where the run is at this moment."""
    alarm: bool
    resumable: bool
    last_words: str
    reason: str | None
    hint: str | None
    live: Mapping[str, Any]

    @classmethod
    def of(cls, run: TrainingRun) -> Watched:
        progress = run.progress()
        resumable = run.state not in ("running", "finished") and bool(run.checkpoints())
        live = read_live(run.directory) if run.running else {}
        latest = latest_of(run.directory, progress) or {}
        alarm = is_reward_hack(progress)
        return cls(run, progress, latest, alarm, resumable, run.last_words(), *run.failure(), live)


async def show_runs(
    look: Callable[[], Awaitable[list[Watched]]],
    picture: Callable[[TrainingRun, int], str],
    *,
    steerable: bool = True,
    failures: Failures | None = None,
) -> None:
    """Runs on a page, read anew every few seconds: their state, their desktops, their curves, their log.

    ``failures`` is where it says why runs failed, if not above the rest.
    """
    failed = failures or Failures()
    rows = _Rows(steerable)
    nothing = ui.column().classes("w-full")
    with nothing:
        empty("No training run to show.", "Start one above.")
    wall = _Wall(picture)
    charts = _Charts()
    log = ui.label("").classes("op-log op-card")

    async def refresh() -> None:
        shown = await look()
        failed.show(shown)
        rows.show(shown)
        wall.show(shown)
        charts.show(shown)
        nothing.set_visibility(not shown)
        log.text = shown[0].last_words if shown else ""
        log.set_visibility(bool(log.text))

    await refresh()
    ui.timer(REFRESH_S, refresh)


class Failures:
    """Why runs failed, above all else."""

    def __init__(self) -> None:
        self._column = ui.column().classes("w-full gap-2")
        self._shown: list[tuple[str, str, str | None]] = []

    def show(self, runs: Sequence[Watched]) -> None:
        wanted = [(one.run.id, one.reason, one.hint) for one in runs if one.reason]
        if wanted == self._shown:
            return
        self._shown = wanted
        self._column.clear()
        with self._column:
            for name, reason, hint in wanted:
                with ui.column().classes("op-card op-failed gap-1").props("role=alert"):
                    ui.label(f"{name} failed: {reason}").classes("font-semibold").style(
                        "overflow-wrap:anywhere"
                    )
                    if hint:
                        ui.label(f"Hint: {hint}").classes("op-sub")


class _Wall:
    """The desktops of the first run that has any to see, each with what the agent is about to do drawn on it."""

    def __init__(self, picture: Callable[[TrainingRun, int], str]) -> None:
        self._picture = picture
        self._turn = 0
        self._grid = ui.element("div").classes("op-grid op-wide")
        self._tiles: dict[tuple[str, int], tuple[ui.element, ui.image, ui.label, ui.label]] = {}

    def show(self, curves: Sequence[Watched]) -> None:
        one = next((one for one in curves if one.live.get("desktops")), None)
        desktops = {(one.run.id, int(tile["index"])): tile for tile in one.live["desktops"]} if one else {}
        self._grid.set_visibility(bool(desktops))
        self._turn += 1
        for gone in self._tiles.keys() - desktops.keys():
            self._tiles.pop(gone)[0].delete()
        for place, tile in desktops.items():
            if place not in self._tiles:
                with self._grid:
                    self._tiles[place] = _tile()
            _, image, instruction, task = self._tiles[place]
            assert one is not None
            image.set_source(f"{self._picture(one.run, place[1])}?{self._turn}")
            instruction.text = str(tile["instruction"])
            task.text = f"{tile['task']} · step {tile['step']} of at most {tile['max_steps']}"


def _tile() -> tuple[ui.element, ui.image, ui.label, ui.label]:
    with ui.column().classes("op-card gap-1") as card:
        image = ui.image().props("no-transition no-spinner ratio=1.6")
        instruction = ui.label("").classes("ellipsis").style("max-width:100%")
        task = ui.label("").classes("op-sub ellipsis").style("max-width:100%")
    return card, image, instruction, task


class _Charts:
    """The same charts, with other data every time."""

    def __init__(self) -> None:
        self.parts: list[tuple[Any, Any, str, bool, Callable[[str, Progress], dict[str, Points]]]] = []
        self.soon = ui.label("").classes("op-card op-sub")
        with ui.element("div").classes("op-halves") as self.grid:
            for title, share, pick in CHARTS:
                with ui.column().classes("op-card") as card:
                    made = curve(title, {}, share=share, along=ALONG)
                self.parts.append((card, made, title, share, pick))

    def show(self, curves: Sequence[Watched]) -> None:
        begun = any(one.progress for one in curves)
        self.grid.set_visibility(begun)
        running = next((one for one in curves if one.run.running), None)
        self.soon.set_visibility(not begun and running is not None)
        if running is not None and not begun:
            self.soon.text = _until_the_first_update(running.latest)
        for card, chart, title, share, pick in self.parts:
            series: dict[str, Points] = {}
            for one in curves:
                # One run needs no name before its lines.
                series |= pick(f"{one.run.id} " if len(curves) > 1 else "", one.progress)
            card.set_visibility(any(y is not None for points in series.values() for _, y in points))
            chart.options.clear()
            chart.options.update(options(title, series, share=share, along=ALONG))
            chart.update()


def _until_the_first_update(latest: Mapping[str, Any]) -> str:
    if latest.get("phase") == "collecting" and latest.get("rollout_steps"):
        left = f"{latest.get('rollout_step', 0):,} of {latest['rollout_steps']:,} steps are there"
        return f"Curves begin with the first update: {left}."
    return "Curves begin with the first update."


def _line(progress: Progress, name: str) -> Points:
    return [(float(one.get("step", index)), _number(one.get(name))) for index, one in enumerate(progress)]


def _terms(prefix: str, progress: Progress) -> dict[str, Points]:
    """The return, and each term of its shaping on its own line."""
    lines = {f"{prefix}return": _line(progress, "mean_reward")}
    names = {name for one in progress for name in (one.get("reward_terms") or {})}
    for name in sorted(names):
        lines[f"{prefix}{name}"] = [
            (float(one.get("step", index)), _number((one.get("reward_terms") or {}).get(name)))
            for index, one in enumerate(progress)
        ]
    return lines


def _losses(prefix: str, progress: Progress) -> dict[str, Points]:
    lines = {f"{prefix}{name}": _line(progress, name) for name in LOSSES}
    nested = {name for one in progress if isinstance(one.get("losses"), dict) for name in one["losses"]}
    for name in sorted(nested):
        lines[f"{prefix}{name}"] = [
            (float(one.get("step", index)), _number((one.get("losses") or {}).get(name)))
            for index, one in enumerate(progress)
        ]
    return lines


def _stage(prefix: str, progress: Progress) -> dict[str, Points]:
    return {
        f"{prefix}stage": [
            (float(one.get("step", index)), _number(STAGES.get(str(one.get("stage")), one.get("stage"))))
            for index, one in enumerate(progress)
        ]
    }


def _single(name: str, label: str) -> Callable[[str, Progress], dict[str, Points]]:
    return lambda prefix, progress: {f"{prefix}{label}": _line(progress, name)}


CHARTS: tuple[tuple[str, bool, Callable[[str, Progress], dict[str, Points]]], ...] = (
    ("Success rate", True, _single("success_rate", "success")),
    ("Return and its terms", False, _terms),
    ("Losses", False, _losses),
    ("Entropy", False, _single("entropy", "entropy")),
    ("Steps per second", False, _single("fps", "FPS")),
    ("Curriculum stage (0 easy, 1 medium, 2 hard)", False, _stage),
)


def _number(value: Any) -> float | None:
    if isinstance(value, dict):
        return None
    return float(value) if isinstance(value, (int, float)) else None


class _Rows:
    """How the runs are, with their buttons, which stay until there is another one to press: a button that is replaced
    while it is pressed does nothing."""

    def __init__(self, steerable: bool) -> None:
        self._steerable = steerable
        self._column = ui.column().classes("w-full gap-2")
        self._shown: list[tuple[str, str, bool, bool]] = []
        self._steps: list[ui.label] = []

    def show(self, curves: Sequence[Watched]) -> None:
        wanted = [(one.run.id, one.run.state, one.alarm, one.resumable) for one in curves]
        if wanted != self._shown:
            self._shown = wanted
            self._column.clear()
            with self._column:
                self._steps = [_row(one, self._steerable) for one in curves]
        for label, one in zip(self._steps, curves, strict=True):
            label.text = _how_far(one)


def _how_far(one: Watched) -> str:
    latest = one.latest
    if not latest:
        return "starting" if one.run.running else "no update"
    parts = [f"step {latest.get('step', 0):,}" + (f" of {latest['total']:,}" if latest.get("total") else "")]
    if latest.get("episodes") is not None:
        parts.append(f"{latest['episodes']:,} episode{'s' * (latest['episodes'] != 1)}")
    if latest.get("success_rate") is not None:
        of = f" of the last {latest['counted']}" if latest.get("counted") else ""
        parts.append(f"{latest['success_rate']:.0%} success{of}")
    if one.run.running and latest.get("left_s") is not None:
        parts += [f"{latest['fps']:.1f} steps/s", f"{in_words(latest['left_s'])} left"]
    if one.run.running and latest.get("phase"):
        parts.append(_doing(latest))
    return " · ".join(parts)


def _doing(latest: Mapping[str, Any]) -> str:
    if latest["phase"] == "collecting" and latest.get("rollout_steps"):
        return f"collecting {latest.get('rollout_step', 0):,} of {latest['rollout_steps']:,}"
    return {"starting": "starting desktops"}.get(str(latest["phase"]), str(latest["phase"]))


def _row(one: Watched, steerable: bool) -> ui.label:
    """One run; returns where its step is written."""
    run = one.run
    colours = {"running": "wait", "finished": "good", "failed": "bad", "lost": "bad"}
    with ui.column().classes("w-full gap-0"):
        with ui.row().classes("op-row no-wrap"):
            pill(run.state, colours.get(run.state, "soft"))
            ui.label(run.id).classes("font-semibold ellipsis").style("min-width:0")
            if one.alarm:
                pill("reward rises, success does not", "bad")
            ui.space()
            if steerable and run.running:
                stop = ui.button("Stop", icon="stop", on_click=lambda: _stop(run))
                stop.props("flat dense no-wrap color=negative")
            elif steerable and one.resumable:
                resume = ui.button("Resume", icon="play_arrow", on_click=lambda: _resume(run))
                resume.props("flat dense no-wrap")
        return ui.label("").classes("op-sub")


async def _stop(run: TrainingRun) -> None:
    service = runtime()
    try:
        await service.at_desk(service.runs.stop, run.id)
        ui.notify(f"{run.id} was asked to stop", type="info")
    except OperantError as error:
        ui.notify(error.message, type="negative", caption=error.hint or "")


async def _resume(run: TrainingRun) -> None:
    service = runtime()
    try:
        await service.at_desk(start_run, service, StartTraining.model_validate({"resume": run.id}))
        ui.notify(f"{run.id} goes on", type="positive")
    except OperantError as error:
        ui.notify(error.message, type="negative", caption=error.hint or "")
