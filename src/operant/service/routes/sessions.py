"""``/api/v1/sessions`` and ``/api/v1/approvals``: lease a desktop, look at it, open programs, hand it back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from operant.errors import DesktopError, LiveScreenRefused, PoolExhausted, TaskError, VerifierError
from operant.service.attempts.criteria import criterion_of_client
from operant.service.pictures import Encoding, encode_picture
from operant.service.problems import PROBLEMS
from operant.service.routes.dependencies import Name, RuntimeDep
from operant.service.runtime import Runtime
from operant.service.schemas.sessions import (
    ApprovalAnswer,
    ApprovalView,
    CheckRequest,
    CheckView,
    ControlRequest,
    LaunchRequest,
    SessionRequest,
    SessionView,
    WindowView,
)
from operant.service.sessions.session import Session
from operant.tasks.criteria.base import World

__all__ = ["router", "view_of"]

router = APIRouter(prefix="/api/v1", tags=["sessions"], responses=PROBLEMS)

PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"content": {f"image/{kind}": {"schema": {"type": "string"}} for kind in ("png", "jpeg", "webp")}}
}
EncodingQuery = Annotated[Encoding, Query(description="How the picture is encoded.")]
WidthQuery = Annotated[int | None, Query(ge=16, le=8192, description="Scale down to this width.")]


@router.post(
    "/sessions", response_model=SessionView, status_code=201, responses={200: {"model": SessionView}}
)
async def create_session(asked: SessionRequest, runtime: RuntimeDep, response: Response) -> SessionView:
    """Lease a sandboxed desktop. It is handed back by DELETE, or when it was unused for a while."""
    if asked.dry_run:
        response.status_code = 200
    return await runtime.at_desk(_create, runtime, asked)


def _create(runtime: Runtime, asked: SessionRequest) -> SessionView:
    success = None if asked.success_criteria is None else criterion_of_client(asked.success_criteria)
    if asked.name is not None:
        runtime.sessions.check_name(asked.name)
    if asked.dry_run:
        status = runtime.pool_status
        if status is None or status.ready == 0:
            raise PoolExhausted(
                "no desktop is free at this moment", hint="try again, or make the pool larger"
            )
        desktop = runtime.config.desktop
        size, profile = [desktop.width, desktop.height], asked.profile or desktop.profile
        return SessionView(
            id=asked.name or "", kind="sandbox", profile=profile, size=size, created=0.0, expires_in_s=0.0, steps=0, attempt=None,
            instruction="", model="", taken_over=False, stream="", frame="",
        )  # fmt: skip
    session = runtime.sessions.create(asked.name, ttl_s=asked.ttl_s, profile=asked.profile)
    session.success = success
    if asked.launch:
        try:
            _launch(runtime, session, asked.launch)
        except BaseException:
            runtime.sessions.end(session)
            raise
    return view_of(session)


@router.get("/sessions", response_model=list[SessionView])
async def list_sessions(runtime: RuntimeDep) -> list[SessionView]:
    """All sessions, and the desktops of attempts that are at work."""
    return [view_of(session) for session in runtime.sessions.list()]


@router.get("/sessions/{name}", response_model=SessionView)
async def get_session(name: Name, runtime: RuntimeDep) -> SessionView:
    """One session. ``default`` is leased when it is first asked for."""
    return view_of(await runtime.at_desk(runtime.sessions.find, name))


@router.delete("/sessions/{name}", status_code=204)
async def end_session(name: Name, runtime: RuntimeDep) -> None:
    """Hand the desktop back; an attempt that is at work there is cancelled."""
    await runtime.at_desk(_end, runtime, name)


def _end(runtime: Runtime, name: str) -> None:
    session = runtime.sessions.find(name)
    if session.attempt is not None:
        attempt = runtime.attempts.find(session.attempt)
        runtime.attempts.cancel(attempt)
        attempt.wait(5.0)
    runtime.sessions.end(session)


@router.get("/sessions/{name}/frame", response_class=Response, responses=PICTURE)
async def look(
    name: Name, runtime: RuntimeDep, encoding: EncodingQuery = "png", width: WidthQuery = None
) -> Response:
    """The screen now."""
    return await runtime.at_desk(_picture, runtime, name, None, encoding, width)


@router.get("/sessions/{name}/frames/{number}", response_class=Response, responses=PICTURE)
async def look_back(
    name: Name,
    number: Annotated[int, Path(ge=1, le=2**31)],
    runtime: RuntimeDep,
    encoding: EncodingQuery = "png",
    width: WidthQuery = None,
) -> Response:
    """The settled screen after one of the last actions."""
    return await runtime.at_desk(_picture, runtime, name, number, encoding, width)


def _picture(
    runtime: Runtime, name: str, number: int | None, encoding: Encoding, width: int | None
) -> Response:
    session = runtime.sessions.find(name)
    try:
        frame = session.look() if number is None else session.kept_frame(number)
    except DesktopError as error:
        runtime.sessions.broken(session, error)
        raise
    session.touch()
    data = encode_picture(frame, encoding, width=width)
    return Response(data, media_type=f"image/{encoding}", headers={"cache-control": "no-store"})


@router.get("/sessions/{name}/windows", response_model=list[WindowView])
async def list_windows(name: Name, runtime: RuntimeDep) -> list[WindowView]:
    """The windows, from the bottom of the stack to the top."""
    return await runtime.at_desk(_windows, runtime, name)


def _windows(runtime: Runtime, name: str) -> list[WindowView]:
    return [WindowView.of(window) for window in runtime.sessions.find(name).desktop.windows()]


@router.post("/sessions/{name}/launch", response_model=WindowView)
async def launch(name: Name, asked: LaunchRequest, runtime: RuntimeDep) -> WindowView:
    """Open a program in a sandboxed desktop, and answer when its window is there."""
    return await runtime.at_desk(lambda: _launch(runtime, runtime.sessions.find(name), asked.command))


def _launch(runtime: Runtime, session: Session, command: list[str]) -> WindowView:
    if session.live:
        raise LiveScreenRefused("programs are started in sandboxed desktops only")
    with session.exclusive_access():
        return WindowView.of(session.desktop.launch(command))


@router.post("/sessions/{name}/check", response_model=CheckView)
async def check(name: Name, asked: CheckRequest, runtime: RuntimeDep) -> CheckView:
    """Whether criteria hold in a sandboxed desktop now. Looking changes nothing."""
    return await runtime.at_desk(_check, runtime, name, asked)


def _check(runtime: Runtime, name: str, asked: CheckRequest) -> CheckView:
    given = asked.success_criteria
    wanted = None if given is None else criterion_of_client(given)
    session = runtime.sessions.find(name)
    wanted = wanted or session.success
    if wanted is None:
        raise TaskError(
            f"the session {session.id} has no criteria", hint="send success_criteria, as in config/tasks.json"
        )
    if session.live:
        raise LiveScreenRefused("criteria look into sandboxed desktops only")
    try:
        with session.exclusive_access():
            verdict = wanted.check(World(session.desktop, asked.answer))
    except DesktopError as error:
        runtime.sessions.broken(session, error)
        raise
    except OSError as error:
        raise VerifierError(f"the criteria could not be evaluated: {error}") from error
    return CheckView(success=verdict.holds, why=verdict.why)


@router.post("/sessions/{name}/control", response_model=SessionView)
async def control(name: Name, asked: ControlRequest, runtime: RuntimeDep) -> SessionView:
    """Take over from the agent (it waits), or hand back to it."""
    session = await runtime.at_desk(runtime.sessions.find, name)
    session.take_over(asked.taken_over)
    return view_of(session)


@router.get("/approvals", response_model=list[ApprovalView])
async def list_approvals(runtime: RuntimeDep) -> list[ApprovalView]:
    """Actions on the live screen that wait for a yes."""
    return [
        ApprovalView(id=one.id, description=one.description, asked_at=one.asked_at)
        for one in runtime.approvals.pending()
    ]


@router.post("/approvals/{name}", response_model=ApprovalView)
async def answer_approval(name: Name, asked: ApprovalAnswer, runtime: RuntimeDep) -> ApprovalView:
    """Yes or no."""
    one = runtime.approvals.answer(name, asked.approve)
    return ApprovalView(id=one.id, description=one.description, asked_at=one.asked_at)


def view_of(session: Session) -> SessionView:
    return SessionView(
        id=session.id,
        kind="live" if session.live else "sandbox",
        profile=session.profile,
        size=[session.size.width, session.size.height],
        created=session.created,
        expires_in_s=round(session.expires_in_s, 1),
        steps=session.steps,
        attempt=session.attempt,
        instruction=session.instruction,
        model=session.model,
        taken_over=session.taken_over,
        stream=f"/api/v1/sessions/{session.id}/stream",
        frame=f"/api/v1/sessions/{session.id}/frame",
    )
