"""``/api/v1/agent``: the next action, doing one, and the models behind it."""

from __future__ import annotations

import itertools
import json
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.datastructures import UploadFile

from operant import actions
from operant.actions.describe import describe
from operant.actions.json_actions import to_json
from operant.errors import ActionNotExpressible, DesktopError, InvalidAction
from operant.service.inference.batcher import Timed
from operant.service.inference.predictor import PredictionRequest
from operant.service.masking import mask_action
from operant.service.pictures import decode_base64, decode_picture
from operant.service.problems import PROBLEMS, BadBody
from operant.service.routes.dependencies import RuntimeDep
from operant.service.runtime import Runtime
from operant.service.schemas.actions import (
    ExecuteRequest,
    ExecuteResponse,
    PredictRequest,
    PredictResponse,
    Region,
)
from operant.service.schemas.agent import ModelInfoView, ModelList, ModelView, SwitchRequest
from operant.service.schemas.base import UsageView
from operant.service.sessions.registry import LIVE
from operant.service.sessions.session import Performed, Session
from operant.service.sessions.sight import see
from operant.types import Action, Observation, Point, Size

router = APIRouter(prefix="/api/v1/agent", tags=["agent"], responses=PROBLEMS)


def _predict_body() -> dict[str, Any]:
    """Both ways to ask: JSON with base64, and a form with a file."""
    schema = PredictRequest.model_json_schema()
    form = json.loads(json.dumps(schema))
    form["properties"]["screenshot"] = {
        "type": "string",
        "format": "binary",
        "description": "A picture file.",
    }
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": schema}, "multipart/form-data": {"schema": form}},
        }
    }


@router.post("/predict", response_model=PredictResponse, openapi_extra=_predict_body())
async def predict(request: Request, runtime: RuntimeDep) -> PredictResponse:
    """The next action for an instruction and a screen: a screenshot, a session's, or the live one."""
    asked, picture = await _read_question(request)
    if picture is not None or asked.screenshot is not None:
        seen = await runtime.read(_see_picture, runtime, asked, picture)
    else:
        seen = await runtime.at_desk(_see_session, runtime, asked)
    height, width = seen.screen.shape[:2]
    timed = await runtime.batcher.ask(PredictionRequest(seen, asked.deterministic, asked.seed))
    runtime.metrics.used(timed.model, timed.answer.usage)
    return _prediction(timed, asked, Size(width, height))


async def _read_question(request: Request) -> tuple[PredictRequest, bytes | None]:
    """The request, however it was sent. A file of a form comes as bytes."""
    picture: bytes | None = None
    try:
        if request.headers.get("content-type", "").startswith("multipart/form-data"):
            form = await request.form(max_files=1, max_fields=20)
            values: dict[str, Any] = {key: value for key, value in form.items() if isinstance(value, str)}
            values |= {"formats": [str(value) for value in form.getlist("formats")]}
            upload = form.get("screenshot")
            if isinstance(upload, UploadFile):
                picture = await upload.read()
            return PredictRequest.model_validate(values), picture
        return PredictRequest.model_validate_json(await request.body()), None
    except ValidationError as error:
        raise BadBody(PredictRequest, error) from error


def _see_picture(runtime: Runtime, asked: PredictRequest, picture: bytes | None) -> Observation:
    picture = decode_base64(asked.screenshot or "") if picture is None else picture
    screen = decode_picture(picture, runtime.config.max_pixels)
    return Observation(
        screen, asked.instruction, min(asked.step, asked.max_steps), asked.max_steps, Point(0.5, 0.5)
    )


def _see_session(runtime: Runtime, asked: PredictRequest) -> Observation:
    session = runtime.sessions.find(LIVE if asked.use_live_screen else asked.session)
    try:
        return see(
            session,
            asked.instruction,
            step=min(asked.step, asked.max_steps),
            max_steps=asked.max_steps,
            with_tree=runtime.models.current.info.sees_widgets,
        )
    except DesktopError as error:
        runtime.sessions.broken(session, error)
        raise


def _prediction(timed: Timed, asked: PredictRequest, size: Size) -> PredictResponse:
    answer = timed.answer
    action = answer.action
    return PredictResponse(
        action_type=action.kind.value if action else None,
        coordinates=_place(action, size),
        text=action.text or None if action else None,
        keys=list(action.keys) if action else [],
        confidence=answer.confidence,
        value=answer.value,
        inference_time_ms=round(timed.inference_ms, 3),
        batch_size=timed.batch,
        screen=[size.width, size.height],
        action=to_json(action) if action else None,
        actions=[to_json(one) for one in answer.actions],
        formats={name: _render(name, action, size) for name in asked.formats},
        model=timed.model,
        error=answer.error or None,
        usage=UsageView.of(answer.usage),
    )


def _place(action: Action | None, size: Size) -> list[int] | None:
    if action is None:
        return None
    point = action.point or (action.path[-1] if action.path else None)
    return list(point.to_pixel(size)) if point else None


def _render(name: str, action: Action | None, size: Size) -> Any:
    if action is None:
        return None
    try:
        return actions.render(name, action, size)
    except ActionNotExpressible:
        return None


@router.post("/execute", response_model=ExecuteResponse)
async def execute(asked: ExecuteRequest, runtime: RuntimeDep) -> ExecuteResponse:
    """Do what /predict answered, or an action in any format, and say what changed."""
    return await runtime.at_desk(_execute, runtime, asked)


def _execute(runtime: Runtime, asked: ExecuteRequest) -> ExecuteResponse:
    # Before a desktop is leased: a mistake should hold none.
    expected = Size(*asked.screen) if asked.screen else runtime.config.desktop.size
    wanted = actions.parse(asked.format, asked.action, expected)
    if not wanted:
        raise InvalidAction("there is no action in it")
    session = runtime.sessions.find(asked.session)
    if not asked.screen and session.size != expected:
        wanted = actions.parse(asked.format, asked.action, session.size)
    ends = next((action.kind for action in wanted if action.kind.terminal), None)
    told = [mask_action(action, wholly=asked.secret) for action in wanted]
    performed = None
    doing = list(itertools.takewhile(lambda action: not action.kind.terminal, wanted))
    if doing and not asked.dry_run:
        performed = _perform_all(runtime, session, doing, asked.secret)
    box = performed.region if performed else None
    return ExecuteResponse(
        session=session.id,
        performed=performed is not None,
        ends=ends.value if ends else None,
        actions=[to_json(action) for action in told],
        description="; ".join(describe(action, session.size) for action in told),
        changed=performed.changed if performed else False,
        changed_share=performed.share if performed else 0.0,
        changed_region=Region(x=box[0], y=box[1], width=box[2], height=box[3]) if box else None,
        settled=performed.settled if performed else True,
        waited_ms=round(performed.waited_ms, 3) if performed else 0.0,
        opened_windows=performed.opened if performed else [],
        closed_windows=performed.closed if performed else [],
        pointer=list(performed.pointer) if performed else None,
        result=performed.text if performed else "",
        frame=f"/api/v1/sessions/{session.id}/frames/{performed.frame}" if performed else None,
    )


def _perform_all(runtime: Runtime, session: Session, wanted: list[Action], secret: bool) -> Performed:
    try:
        for action in wanted:
            performed = session.perform(action, secret=secret)
            runtime.metrics.acted("person", action.kind.value)
    except DesktopError as error:
        runtime.sessions.broken(session, error)
        raise
    return performed


@router.get("/model-info", response_model=ModelInfoView)
async def model_info(runtime: RuntimeDep) -> ModelInfoView:
    """The model that answers now."""
    predictor = await runtime.at_desk(runtime.models.predictor)
    info = predictor.info
    return ModelInfoView(
        name=info.name,
        agent=info.agent,
        fingerprint=info.fingerprint,
        batched=info.batched,
        privileged=info.privileged,
        sees_widgets=info.sees_widgets,
        parameters=info.parameters,
        action_formats=list(actions.FORMATS),
        details=dict(info.details),
        batch_size=runtime.config.batch_size,
    )


@router.get("/models", response_model=ModelList)
async def list_models(runtime: RuntimeDep) -> ModelList:
    """Every model that could answer: agents, and checkpoints, the newest first."""
    return await runtime.at_desk(_list_models, runtime)


@router.post("/models", response_model=ModelList)
async def switch_model(asked: SwitchRequest, runtime: RuntimeDep) -> ModelList:
    """Let another model answer. It is loaded first, beside the old one; no request waits or fails."""
    if asked.dry_run:
        (await runtime.at_desk(runtime.models.load, asked.name)).close()
    else:
        _, old = await runtime.at_desk(runtime.models.switch, asked.name)
        if old is not None:
            runtime.batcher.run_after(old.close)
    return await runtime.at_desk(_list_models, runtime)


def _list_models(runtime: Runtime) -> ModelList:
    current = runtime.models.current.info.name
    return ModelList(
        current=current,
        models=[
            ModelView(
                name=one.name,
                kind="checkpoint" if one.path else "agent",
                current=one.name == current,
                bytes=one.bytes,
                modified=one.modified,
            )
            for one in runtime.models.list()
        ],
    )
