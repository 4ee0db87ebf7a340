"""``/api/v1/sessions/{name}/stream``: a desktop live, over a WebSocket.

The service sends JSON texts (``hello``, ``action``, ``attempt``, ``control``, ``done``, ``error``, ``closed``) and
pictures as bytes: twelve bytes that say which picture it is and where it belongs (``>IHHHH``: number, x, y, width,
height), then the file. Clients send ``{"type": "action", "action": {...}}`` and the like; see the documentation.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, WebSocket

from operant.errors import OperantError
from operant.service.pictures import Encoding
from operant.service.problems import problem_of
from operant.service.routes.dependencies import RuntimeDep
from operant.service.stream.viewer import StreamViewer, Wish

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["sessions"])

REFUSED_AT = 4000  # a refusal's HTTP status is added to it


@router.websocket("/sessions/{name}/stream")
async def stream(
    socket: WebSocket,
    name: str,
    runtime: RuntimeDep,
    encoding: Annotated[Encoding, Query()] = "jpeg",
    fps: Annotated[float, Query(ge=0.2, le=60)] = 20.0,
    quality: Annotated[int, Query(ge=5, le=95)] = 75,
    width: Annotated[int | None, Query(ge=64, le=8192)] = None,
) -> None:
    await socket.accept()
    try:
        session = await runtime.at_desk(runtime.sessions.find, name)
    except OperantError as error:
        status, problem = problem_of(error)
        await socket.send_json({"type": "error", **problem.model_dump()})
        await socket.close(REFUSED_AT + status, problem.code)
        return
    session.touch()
    await StreamViewer(socket, runtime, session, Wish(encoding, fps, quality, width)).run()
