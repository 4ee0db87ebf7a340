"""``/api/v1/agent/complete-task`` and ``/attempts``: whole tasks, waited for, polled, streamed or cancelled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from operant.service.attempts.attempt import Attempt, Status
from operant.service.attempts.criteria import criterion_of_client
from operant.service.attempts.free import free_task, task_for
from operant.service.inference.predictor import Predictor
from operant.service.masking import mask_text
from operant.service.problems import PROBLEMS
from operant.service.routes.dependencies import Name, RuntimeDep
from operant.service.runtime import Runtime
from operant.service.schemas.agent import AttemptView, CompleteTaskRequest, StepView
from operant.service.schemas.base import UsageView
from operant.service.sessions.session import Session
from operant.tasks.task import Task

__all__ = ["router", "view_of"]

router = APIRouter(prefix="/api/v1/agent", tags=["tasks of the agent"], responses=PROBLEMS)

FREE_STEPS = 20
HEARTBEAT_S = 10.0
STATUS_WAIT_S = 0.5  # longest wait for news of an attempt


@router.post("/complete-task", response_model=AttemptView, responses={202: {"model": AttemptView}})
async def complete_task(asked: CompleteTaskRequest, runtime: RuntimeDep, response: Response) -> AttemptView:
    """Let the agent do a whole task. ``wait=false`` answers 202 at once, with the attempt to ask about."""
    task, predictor, session = await runtime.at_desk(_prepare, runtime, asked)
    if asked.dry_run:
        planned = Attempt("", task, predictor.info.name, asked.deterministic, session.id if session else None)
        return view_of(planned, status="dry_run", secrets=asked.secrets)
    attempt = runtime.attempts.start(
        task,
        predictor,
        deterministic=asked.deterministic,
        session=session,
        secrets=asked.secrets,
        pace_s=asked.pace_s,
        close=asked.model is not None,
    )
    if not asked.wait:
        response.status_code = 202
        return view_of(attempt)
    while not attempt.over:
        await runtime.at_desk(attempt.wait, HEARTBEAT_S)
    if attempt.error is not None:
        raise attempt.error
    return view_of(attempt)


def _prepare(runtime: Runtime, asked: CompleteTaskRequest) -> tuple[Task, Predictor, Session | None]:
    if asked.task_id is not None:
        task = runtime.catalogue.task(asked.task_id, asked.seed, asked.split, asked.max_steps)
    else:
        success = criterion_of_client(asked.success_criteria) if asked.success_criteria is not None else None
        profile = asked.profile or runtime.config.desktop.profile
        task = free_task(asked.instruction or "", asked.max_steps or FREE_STEPS, success, profile)
    predictor = runtime.models.load(asked.model) if asked.model else runtime.models.current
    session = runtime.sessions.find(asked.session) if asked.session else None
    return task if session is None else task_for(session, task), predictor, session


@router.get("/attempts", response_model=list[AttemptView])
async def list_attempts(runtime: RuntimeDep) -> list[AttemptView]:
    """The last attempts, the newest first."""
    return [view_of(attempt) for attempt in runtime.attempts.list()]


@router.get("/attempts/{name}", response_model=AttemptView)
async def get_attempt(name: Name, runtime: RuntimeDep) -> AttemptView:
    """How far an attempt is."""
    return view_of(runtime.attempts.find(name))


@router.delete("/attempts/{name}", response_model=AttemptView)
async def cancel_attempt(name: Name, runtime: RuntimeDep) -> AttemptView:
    """Stop before the next action. One that is over stays as it is."""
    attempt = runtime.attempts.find(name)
    runtime.attempts.cancel(attempt)
    await runtime.at_desk(attempt.wait, STATUS_WAIT_S)
    return view_of(attempt)


@router.get(
    "/attempts/{name}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream_attempt(name: Name, runtime: RuntimeDep) -> StreamingResponse:
    """Its steps as they happen, as server-sent events: ``step`` for each, ``end`` with the whole attempt."""
    attempt = runtime.attempts.find(name)
    return StreamingResponse(_events(runtime, attempt), media_type="text/event-stream")


async def _events(runtime: Runtime, attempt: Attempt) -> AsyncIterator[str]:
    seen, silent = 0, 0.0
    while True:
        over = attempt.over  # looked at before the steps, so that none is missed
        steps = list(attempt.steps)
        for step in steps[seen:]:
            yield f"event: step\ndata: {json.dumps(step)}\n\n"
            silent = 0.0
        seen = len(steps)
        if over:
            yield f"event: end\ndata: {view_of(attempt).model_dump_json()}\n\n"
            return
        await runtime.at_desk(attempt.wait_beyond, seen, STATUS_WAIT_S)
        silent += STATUS_WAIT_S
        if silent >= HEARTBEAT_S:
            silent = 0.0
            yield ": still at it\n\n"
        await asyncio.sleep(0)


def view_of(attempt: Attempt, *, status: str | None = None, secrets: list[str] | None = None) -> AttemptView:
    result = attempt.result
    hidden = attempt.secrets if secrets is None else secrets
    steps = [StepView.model_validate(dict(step)) for step in list(attempt.steps)]
    why = result.why if result else attempt.error.message if attempt.error else ""
    if attempt.status == Status.CANCELLED:
        why = "it was cancelled"
    return AttemptView(
        id=attempt.id,
        status=status or attempt.status,
        task_id=attempt.task.id,
        instruction=mask_text(attempt.task.instruction, hidden),
        model=attempt.model,
        session=attempt.session,
        success=result.success if result else None,
        claimed=result.claimed if result else False,
        verified=result.verified if result else False,
        judge="criteria" if attempt.task.checked else "agent",
        outcome=result.outcome if result else None,
        why=mask_text(why, hidden),
        reward=result.reward if result else 0.0,
        steps_taken=len(steps),
        max_steps=attempt.task.max_steps,
        actions=steps,
        episode=result.episode if result else None,
        created=attempt.created,
        usage=UsageView.of(attempt.usage),
    )
