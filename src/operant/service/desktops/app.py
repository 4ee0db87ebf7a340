"""The routes: lease a desktop, make a call, glance at it, give it back. MessagePack in and out.

The service's guard stands before them: without a token only this machine is answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from operant import __version__
from operant.config.service import ServiceConfig
from operant.desktop.remote.wire import pack, unpack
from operant.errors import ConfigError, RemoteDesktopError
from operant.service.desktops.host import DesktopHost
from operant.service.guard import Guard
from operant.service.problems import install_handlers

__all__ = ["create_desktop_app", "guard_settings"]

TYPE = "application/msgpack"
CALLS_PER_S = 50_000.0  # an agent's calls come as fast as desktops answer
LARGEST_BODY = 80 << 20  # a file that is written is at most 64 MB
SPARE_THREADS = 8


def guard_settings(host: str, port: int, token: str | None) -> ServiceConfig:
    """Where to listen and whom to let in; listening to others without a token is an error."""
    return ServiceConfig.build(  # type: ignore[no-any-return]
        host=host,
        port=port,
        token=token or None,
        max_body_bytes=LARGEST_BODY,
        requests_per_s=CALLS_PER_S,
        request_burst=int(CALLS_PER_S),
    )


def create_desktop_app(host: DesktopHost, config: ServiceConfig) -> FastAPI:
    """Closes the desktops when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # A call keeps its thread until the desktop has settled: every desktop needs one.
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = max(limiter.total_tokens, 2 * host.pool.size + SPARE_THREADS)
        try:
            yield
        finally:
            await run_in_threadpool(host.close)

    app = FastAPI(
        title="Operant desktops", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None
    )
    install_handlers(app)

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/v1/about")
    def about() -> Response:
        return _answer(pack(host.about()))

    @app.post("/v1/desktops")
    async def lease(request: Request) -> Response:
        wanted = _message(await request.body())
        return _answer(pack(await run_in_threadpool(host.lease, wanted)))

    @app.post("/v1/desktops/{id}/calls")
    async def call(id: str, request: Request) -> Response:
        message = _message(await request.body())
        return _answer(await run_in_threadpool(host.call, id, message))

    @app.get("/v1/desktops/{id}/glance")
    def glance(id: str) -> Response:
        return _answer(host.glance(id))

    @app.delete("/v1/desktops/{id}", status_code=204)
    def release(id: str) -> Response:
        host.release(id)
        return Response(status_code=204)

    app.add_middleware(Guard, config=config)
    return app


def _answer(content: bytes) -> Response:
    return Response(content, media_type=TYPE)


def _message(body: bytes) -> dict[str, object]:
    try:
        return unpack(body)
    except RemoteDesktopError as error:
        raise ConfigError(error.message) from error
