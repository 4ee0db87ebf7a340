"""The application: routes, guard, dashboard. ``uvicorn operant.service.app:app`` works, and so does ``operant serve``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from operant import __version__
from operant.config.service import ServiceConfig
from operant.service.guard import Guard
from operant.service.logs import set_up_logging
from operant.service.problems import install_handlers
from operant.service.routes import agent, attempts, catalogue, monitoring, sessions, stream, training
from operant.service.runtime import Runtime

__all__ = ["create_app"]

DESCRIPTION = """
Agents that operate a computer, on sandboxed desktops.

Every action happens in a sandboxed desktop unless the service was started with `--allow-live`. Failures answer with a
`code` for programs, a `message` and a `hint` for people. Desktops are watched and driven live over WebSockets at
`/api/v1/sessions/{name}/stream`.
"""


def create_app(config: ServiceConfig | None = None, runtime: Runtime | None = None) -> FastAPI:
    """A service, from the environment unless settings are given; ``runtime`` lets a test bring its own desktops and models."""
    if config is None and runtime is None:
        config = ServiceConfig.load()
        set_up_logging(config.log_format, config.log_level)
    config = config or (runtime.config if runtime else ServiceConfig())
    runtime = runtime or Runtime(config)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await runtime.start()
        try:
            yield
        finally:
            await runtime.stop()

    app = FastAPI(
        title="Operant", version=__version__, description=DESCRIPTION, lifespan=lifespan, redoc_url=None
    )
    app.state.runtime = runtime
    install_handlers(app)
    for part in (agent, attempts, sessions, stream, catalogue, training, monitoring):
        app.include_router(part.router)
    if config.dashboard:
        from operant.service.dashboard.mount import mount_dashboard

        mount_dashboard(app, runtime)
    if config.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(config.cors_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["authorization", "content-type"],
        )
    app.add_middleware(Guard, config=config, observe=runtime.metrics.request)
    return app


def __getattr__(name: str) -> Any:
    """``app`` is made when a server asks for it, from the environment; importing this module starts nothing."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return create_app()
