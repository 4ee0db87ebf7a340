"""``/api/v1/tasks`` and ``/api/v1/episodes``: what there is to do, and what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import FileResponse, Response

from operant.actions.describe import describe
from operant.actions.json_actions import to_json
from operant.service.episodes import EpisodeSummary
from operant.service.problems import PROBLEMS
from operant.service.routes.dependencies import Name, RuntimeDep
from operant.service.runtime import Runtime
from operant.service.schemas.base import UsageView
from operant.service.schemas.catalogue import EpisodeList, EpisodeRow, EpisodeStep, EpisodeView, TaskRow
from operant.tasks.template import Template
from operant.types import Outcome, Size

__all__ = ["episode_view", "router", "task_row"]

router = APIRouter(prefix="/api/v1", responses=PROBLEMS)

if TYPE_CHECKING:
    Outcomes = str
else:
    Outcomes = Literal[(*(outcome.value for outcome in Outcome), "unfinished")]
LONGEST_RESULT = 2000
FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}, "image/png": {}, "application/json": {}}}
}


@router.get("/tasks", response_model=list[TaskRow], tags=["tasks"])
async def list_tasks(
    runtime: RuntimeDep,
    difficulty: Annotated[Literal["EASY", "MEDIUM", "HARD"] | None, Query()] = None,
    suite: Annotated[
        str | None,
        Query(max_length=200, description="An installed suite, or one that the server was started with."),
    ] = None,
    search: Annotated[str, Query(max_length=100, description="Part of the id or the instruction.")] = "",
) -> list[TaskRow]:
    """The tasks of all suites, or of one."""

    def found() -> list[TaskRow]:
        catalogue = runtime.catalogue
        templates = catalogue.templates.values() if suite is None else catalogue.of_suite(suite)
        return [task_row(one) for one in templates]

    rows = await runtime.at_desk(found)
    wanted = search.lower()
    return [
        row
        for row in rows
        if difficulty in (None, row.difficulty) and (wanted in row.id or wanted in row.example.lower())
    ]


@router.get("/tasks/{suite}/{name}", response_model=TaskRow, tags=["tasks"])
async def get_task(suite: Name, name: Name, runtime: RuntimeDep) -> TaskRow:
    """One task."""
    task = await runtime.at_desk(runtime.catalogue.task, f"{suite}/{name}")
    return task_row(runtime.catalogue.templates[task.id])


def task_row(template: Template) -> TaskRow:
    return TaskRow(
        id=template.id,
        example=template.instance(0).instruction,
        difficulty=template.difficulty.value,
        apps=list(template.apps),
        skill=template.skill,
        family=template.family,
        unseen=template.unseen,
    )


@router.get("/episodes", response_model=EpisodeList, tags=["episodes"])
async def list_episodes(
    runtime: RuntimeDep,
    outcome: Annotated[Outcomes | None, Query()] = None,
    task: Annotated[str | None, Query(max_length=200, description="Part of the task's id.")] = None,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> EpisodeList:
    """Episodes of this service and of evaluations, the newest first."""
    total, found = await runtime.at_desk(
        lambda: runtime.episodes.list(outcome=outcome, task=task, offset=offset, limit=limit)
    )
    return EpisodeList(total=total, episodes=[_row(one) for one in found])


def _row(one: EpisodeSummary) -> EpisodeRow:
    return EpisodeRow(
        id=one.id,
        task=one.task,
        instruction=one.instruction,
        agent=one.agent,
        outcome=one.outcome,
        reward=one.reward,
        steps=one.steps,
        calls=one.calls,
        gui_actions=one.gui_actions,
        started=one.started,
        difficulty=one.difficulty,
        usage=UsageView.of(one.usage),
    )


@router.get("/episodes/{name}", response_model=EpisodeView, tags=["episodes"])
async def get_episode(name: Name, runtime: RuntimeDep) -> EpisodeView:
    """One episode, step by step."""
    return await runtime.at_desk(episode_view, runtime, name)


def episode_view(runtime: Runtime, name: str) -> EpisodeView:
    episode = runtime.episodes.read(name)
    width, height = episode.header.get("screen", (1280, 800))
    size = Size(int(width), int(height))
    files = f"/api/v1/episodes/{name}/files"
    pictures = [f"{files}/{picture}" if picture else None for picture in episode.picture_names()]
    return EpisodeView(
        id=name,
        task=episode.task,
        instruction=episode.instruction,
        agent=episode.agent,
        outcome=episode.outcome.value if episode.outcome else None,
        why=episode.why,
        reward=float(episode.header.get("reward", 0.0)),
        difficulty=episode.difficulty.value,
        seed=episode.seed,
        started=str(episode.header.get("started", "")),
        first_screenshot=pictures[0],
        calls=int(episode.header.get("calls", 0)),
        gui_actions=int(episode.header.get("gui_actions", 0)),
        usage=UsageView.of(episode.usage),
        steps=[
            EpisodeStep(
                number=step.number,
                action=to_json(step.action) if step.action else None,
                description=describe(step.action, size),
                actor=step.who,
                response=step.response,
                invalid=step.invalid,
                result=str(step.info.get("result", ""))[:LONGEST_RESULT],
                reward=step.reward,
                value=step.record.get("value")
                if isinstance(step.record.get("value"), (int, float))
                else None,
                agent_ms=step.agent_ms,
                desktop_ms=step.desktop_ms,
                screenshot=picture,
                usage=UsageView.of(step.usage),
            )
            for step, picture in zip(episode.steps, pictures[1:], strict=True)
        ],
    )


@router.get("/episodes/{name}/files/{file}", response_class=FileResponse, responses=FILE, tags=["episodes"])
async def get_file(
    name: Name, file: Annotated[str, Path(min_length=1, max_length=120)], runtime: RuntimeDep
) -> Response:
    """A screenshot, the trajectory, or the record of an episode."""
    picture = await runtime.at_desk(runtime.episodes.picture, name, file)
    if picture is not None:
        return Response(picture, media_type="image/png")
    return FileResponse(await runtime.at_desk(runtime.episodes.file, name, file))
