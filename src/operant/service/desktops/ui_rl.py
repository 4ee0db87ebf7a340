"""UI-RL's environment protocol, both generations, over our desktops and tasks.

The first has sessions by number under ``/session/{id}``; the second one session at ``/``, or behind a proxy under
``/proxy/{id}``. Pictures are PNG, everything else is JSON. The service's guard stands before it: without a token only
this machine is answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio.to_thread
import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Depends, FastAPI, Header, Query, Response
from starlette.concurrency import run_in_threadpool

from operant import __version__
from operant.config.service import ServiceConfig
from operant.errors import RequestForbidden
from operant.pictures.png import png_bytes
from operant.service.desktops.ui_rl_sessions import UIRLSessions
from operant.service.guard import Guard
from operant.service.problems import install_handlers
from operant.types import MAX_DURATION_S

__all__ = ["create_ui_rl_app"]

SPARE_THREADS = 8
ABOUT = "Operant desktops, UI-RL protocol\n"
Text = Annotated[str | None, Query(max_length=100_000)]


def create_ui_rl_app(sessions: UIRLSessions, config: ServiceConfig) -> FastAPI:
    """Closes the desktops when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # An action keeps its thread until the screen has settled: every desktop needs one.
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = max(limiter.total_tokens, 2 * sessions.pool.size + SPARE_THREADS)
        try:
            yield
        finally:
            await run_in_threadpool(sessions.close)

    app = FastAPI(
        title="Operant desktops, UI-RL protocol",
        version=__version__,
        lifespan=lifespan,
        redoc_url=None,
        dependencies=[Depends(_no_page)],
    )
    install_handlers(app)

    @app.get("/")
    @app.get("/health")
    def root() -> Response:
        return _text(ABOUT)

    @app.get("/types")
    def types() -> dict[str, str]:
        """Session types, and the task of ours that each is."""
        return {name: template.id for name, template in sessions.types.items()}

    @app.get("/status")
    def status() -> dict[int, dict[str, Any]]:
        return sessions.status()

    @app.post("/session")
    def create(
        type: Annotated[str | None, Query(max_length=200)] = None,
        n: int = 1,
        seed: Annotated[int | None, Query(ge=0, lt=2**31)] = None,
    ) -> dict[str, list[int]]:
        return {"session_ids": sessions.create(type, n, seed)}

    @app.delete("/session/{id}")
    def end(id: int) -> dict[str, int]:
        sessions.end(id)
        return {"deleted": id}

    @app.post("/reset")
    def reset() -> dict[str, int]:
        """Begin the session of the second generation anew. UI-RL restarts its container instead."""
        return {"session_id": sessions.single(anew=True)}

    @app.get("/session/{id}")
    def about(id: int) -> dict[str, Any]:
        return sessions.about(id)

    @app.get("/session/{id}/screenshot")
    def screenshot(id: int) -> Response:
        return _picture(sessions.screenshot(id))

    @app.get("/proxy/{id}/")
    def proxied(id: int) -> Response:
        sessions.about(id)
        return _text(ABOUT)

    app.include_router(_acting(sessions, _numbered), prefix="/session/{id}")
    app.include_router(_acting(sessions, _numbered), prefix="/proxy/{id}")
    app.include_router(_acting(sessions, _single(sessions)))
    app.add_middleware(Guard, config=config)
    return app


def _no_page(sec_fetch_site: Annotated[str, Header()] = "none") -> None:
    """This protocol acts on GET, which web pages may send anywhere: those of other sites are refused."""
    if sec_fetch_site not in ("none", "same-origin"):
        raise RequestForbidden("web pages of other sites may not act here")


def _numbered(id: int) -> int:
    return id


def _single(sessions: UIRLSessions) -> Callable[[], int]:
    return lambda: sessions.single()


def _acting(sessions: UIRLSessions, session: Callable[..., int]) -> APIRouter:
    """``act`` and ``progress``, which both generations have."""
    router = APIRouter()
    chosen = Depends(session)

    @router.get("/act")
    def act(
        action_type: Annotated[str, Query(max_length=100)],
        x: int | None = None,
        y: int | None = None,
        text: Text = None,
        keys: Text = None,
        direction: Text = None,
        delay: Annotated[float, Query(ge=0, le=MAX_DURATION_S)] = 0.0,
        session: int = chosen,
    ) -> Response:
        """Performs an action and answers with a picture once the screen has settled, after ``delay`` seconds at least."""
        given = {
            "action_type": action_type,
            "x": x,
            "y": y,
            "text": text,
            "keys": keys,
            "direction": direction,
        }
        return _picture(sessions.act(session, given, delay))

    @router.get("/progress")
    def progress(session: int = chosen) -> dict[str, Any]:
        return sessions.progress(session)

    return router


def _picture(frame: npt.NDArray[np.uint8]) -> Response:
    return Response(png_bytes(frame), media_type="image/png")


def _text(text: str) -> Response:
    return Response(text, media_type="text/plain")
