"""``/api/v1/training``: start a run, ask how it is, stop it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Response
from fastapi import Path as ApiPath

from operant.agents.registry import checked_device
from operant.errors import ConfigError, NoTraining, RequestForbidden, UnknownModel
from operant.service.problems import PROBLEMS
from operant.service.routes.dependencies import Name, RuntimeDep
from operant.service.runtime import Runtime
from operant.service.schemas.training import RunView, StartTraining, StopTraining, TrainingStatus
from operant.service.training.live import read_picture
from operant.service.training.progress import is_reward_hack, latest_of
from operant.service.training.runs import TrainingRun
from operant.train.config import TrainConfig
from operant.train.preflight import DEFAULT_AGENT
from operant.train.tasks import choose_tasks

__all__ = ["router", "start_run", "view_of"]

router = APIRouter(prefix="/api/v1/training", tags=["training"], responses=PROBLEMS)

CONFIG_DIR = Path("config")


@router.post("/start", response_model=RunView, status_code=201, responses={200: {"model": RunView}})
async def start(asked: StartTraining, runtime: RuntimeDep, response: Response) -> RunView:
    """Begin a training run in a process of its own; it goes on when the service is restarted."""
    if asked.dry_run:
        response.status_code = 200
    return await runtime.at_desk(start_run, runtime, asked)


def start_run(runtime: Runtime, asked: StartTraining) -> RunView:
    if asked.resume is not None and (run := _run_named(runtime, asked.resume)) is not None:
        return _resume_run(runtime, run, asked)
    options = _options(runtime, asked)
    _check_settings(options)
    if asked.dry_run:
        return _would_run(runtime, asked.name or "", runtime.config.runs_dir / (asked.name or "RUN"), options)
    return view_of(runtime.runs.start(options, asked.name))


def _run_named(runtime: Runtime, name: str) -> TrainingRun | None:
    try:
        return runtime.runs.find(name)
    except NoTraining:
        return None


def _resume_run(runtime: Runtime, run: TrainingRun, asked: StartTraining) -> RunView:
    """Only what was asked for in so many words is changed; the rest stays as the run began."""
    said = _options(runtime, asked.model_copy(update={"resume": None}))
    options = {name: value for name, value in said.items() if name in asked.model_fields_set}
    if run.state == "finished" and "total_timesteps" not in options:
        raise ConfigError(f"the run {run.id} has done all its steps", hint="ask for more: total_timesteps")
    _check_settings({**run.options, **options})
    if asked.dry_run:
        return _would_run(runtime, run.id, run.directory, {**run.options, **options, "resume": True})
    return view_of(runtime.runs.resume(run, options))


def _would_run(runtime: Runtime, name: str, directory: Path, options: dict[str, Any]) -> RunView:
    if not runtime.runs.enabled:
        raise RequestForbidden("training is switched off here")
    command = list(runtime.runs.command(directory, options))
    return RunView(
        id=name, state="dry_run", started=0.0, ended=None, code=None, command=command, options=options,
        request_id="", latest=None, reason=None, hint=None, checkpoints=[], reward_hack_alarm=False,
    )  # fmt: skip


def _options(runtime: Runtime, asked: StartTraining) -> dict[str, Any]:
    options = asked.model_dump(exclude={"name", "dry_run", "resume", "config"}, exclude_none=True)
    if asked.device is not None:
        checked_device(asked.device)
    if asked.suite is not None:
        options["suite"] = runtime.catalogue.offered(asked.suite)
    if asked.resume is not None and asked.init_from is not None:
        raise ConfigError("a run is resumed or started from other weights, not both", hint="leave one out")
    first = asked.resume or asked.init_from
    if first is not None:  # a new run, with those weights
        options["init_from"] = _weights(runtime, first, or_run=asked.resume is not None)
    if asked.config is not None:
        path = CONFIG_DIR / asked.config
        if not path.is_file():
            raise UnknownModel(f"there is no configuration {asked.config!r}")
        options["config"] = str(path)
    return options


def _weights(runtime: Runtime, name: str, *, or_run: bool) -> str:
    """What ``--init-from`` takes: names of clients are only ever looked up."""
    if name == DEFAULT_AGENT:
        return name
    paths = {one.name: one.path for one in runtime.models.list() if one.path is not None}
    if name in paths:
        return str(paths[name])
    near = difflib.get_close_matches(name, [DEFAULT_AGENT, *paths], 1)
    lists = (
        "GET /api/v1/training/runs and GET /api/v1/agent/models list them"
        if or_run
        else ("GET /api/v1/agent/models lists them; default is the agent that comes with Operant")
    )
    raise UnknownModel(
        f"there is no {'run and no ' if or_run else ''}checkpoint {name!r}",
        hint=f"did you mean {near[0]!r}? {lists}" if near else lists,
    )


def _check_settings(options: Mapping[str, Any]) -> None:
    """What the training would refuse at its start is refused here, before there is a run."""
    flags = {
        "training.total_timesteps": options.get("total_timesteps"),
        "training.buffer_size": options.get("rollout_steps"),
        "training.num_envs": options.get("num_envs"),
        "environment.difficulty": options.get("difficulty"),
        "environment.suite": options.get("suite"),
        "environment.tasks": options.get("tasks"),
        "curriculum.strategy": "stages" if options.get("curriculum") else None,
    }
    file = options.get("config")
    choose_tasks(TrainConfig.load(None if file is None else Path(file), flags=flags))


@router.get("/status", response_model=TrainingStatus)
async def status(runtime: RuntimeDep) -> TrainingStatus:
    """The run under way, or the last one, with its curve."""
    return await runtime.at_desk(_status, runtime)


def _status(runtime: Runtime) -> TrainingStatus:
    runs = runtime.runs.list()
    run = next((one for one in runs if one.running), runs[0] if runs else None)
    return TrainingStatus(
        enabled=runtime.runs.enabled,
        running=run is not None and run.running,
        run=view_of(run) if run else None,
        progress=run.progress() if run else [],
        log_tail=run.last_words() if run else "",
    )


@router.post("/stop", response_model=RunView)
async def stop(runtime: RuntimeDep, asked: StopTraining | None = None) -> RunView:
    """Ask the run to write its last checkpoint and end."""
    return await runtime.at_desk(lambda: view_of(runtime.runs.stop(asked.run if asked else None)))


@router.get("/runs", response_model=list[RunView])
async def list_runs(runtime: RuntimeDep) -> list[RunView]:
    """All runs, the newest first."""
    return await runtime.at_desk(lambda: [view_of(run) for run in runtime.runs.list()])


@router.get("/runs/{name}", response_model=TrainingStatus)
async def get_run(name: Name, runtime: RuntimeDep) -> TrainingStatus:
    """One run with its curve."""

    def read() -> TrainingStatus:
        run = runtime.runs.find(name)
        return TrainingStatus(
            enabled=runtime.runs.enabled,
            running=run.running,
            run=view_of(run),
            progress=run.progress(),
            log_tail=run.last_words(),
        )

    return await runtime.at_desk(read)


@router.get("/runs/{name}/desktops/{index}", response_class=Response)
async def get_desktop(
    name: Name, index: Annotated[int, ApiPath(ge=0, le=9999)], runtime: RuntimeDep
) -> Response:
    """What one desktop of a run that is under way shows, with the next action drawn on it, as JPEG."""

    def read() -> bytes:
        run = runtime.runs.find(name)
        picture = read_picture(run.directory, index)
        if picture is None:
            raise NoTraining(
                f"the run {run.id} shows no desktop {index}", hint="it shows them while it is watched"
            )
        return picture

    return Response(await runtime.at_desk(read), media_type="image/jpeg")


def view_of(run: TrainingRun) -> RunView:
    progress = run.progress()
    reason, hint = run.failure()
    return RunView(
        id=run.id,
        state=run.state,
        started=run.started,
        ended=run.ended,
        code=run.code,
        command=list(run.command),
        options=dict(run.options),
        request_id=run.request_id,
        latest=latest_of(run.directory, progress),
        reason=reason,
        hint=hint,
        checkpoints=run.checkpoints(),
        reward_hack_alarm=is_reward_hack(progress),
    )
