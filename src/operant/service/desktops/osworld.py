"""OSWorld's guest protocol over our desktops: statuses, bodies and texts as its own server gives them.

Clients compare some of the texts, so they are not in our words. The service's guard stands before it: without a token
only this machine is answered, which is how the original protocol is spoken.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request, Response
from loguru import logger
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from operant import __version__
from operant.config.service import ServiceConfig
from operant.errors import ConfigError, InvalidAction, OperantError
from operant.pictures.png import png_bytes
from operant.service.desktops.osworld_extension import add_extension
from operant.service.desktops.osworld_files import FILE_ROUTES
from operant.service.desktops.osworld_machines import OSWorldMachine, OSWorldMachines
from operant.service.desktops.osworld_setup import JSON_ROUTES
from operant.service.desktops.osworld_words import error, text
from operant.service.guard import Guard
from operant.service.problems import install_handlers

__all__ = ["create_osworld_app"]

THREADS_EACH = 8  # calls on one machine at once: one may wait for a window for minutes
PNG_LEVEL = 1
LEASE = "x-operant-lease"  # of clients that know leases: their calls end with the lease


def create_osworld_app(
    machines: OSWorldMachines, config: ServiceConfig, *, begin: Callable[[], Any] | None = None
) -> FastAPI:
    """Closes the desktops when it stops. ``begin`` makes an async context for as long as it runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = max(limiter.total_tokens, THREADS_EACH * len(machines.machines))
        try:
            if begin is None:
                yield
            else:
                async with begin():
                    yield
        finally:
            await run_in_threadpool(machines.close)

    app = FastAPI(
        title="Operant desktops, OSWorld protocol",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    install_handlers(app)

    def here(request: Request) -> OSWorldMachine:
        server = request.scope.get("server") or ("", 0)
        return machines.at(int(server[1] or 0))

    async def answer(request: Request, work: Callable[[Any], Response]) -> Response:
        """Do it on the machine of the port that was asked. What fails is a 500 with a sentence."""
        machine, name = here(request), request.headers.get(LEASE)
        if name is not None and machine.holder != name:
            return error(410, "this lease of the machine has ended")

        def on_machine() -> Response:
            with machine.use() as guest:
                return work(guest)

        try:
            return await run_in_threadpool(on_machine)
        except InvalidAction as failure:
            return error(400, failure.message)
        except (OperantError, OSError) as failure:
            logger.warning("{}: {}", request.url.path, failure)
            status = 503 if request.url.path == "/screenshot" else 500
            return error(status, failure.message if isinstance(failure, OperantError) else str(failure))

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.api_route("/screenshot", methods=["GET", "HEAD"])
    async def screenshot(request: Request) -> Response:
        return await answer(
            request, lambda guest: Response(png_bytes(guest.frame(), PNG_LEVEL), media_type="image/png")
        )

    @app.get("/accessibility")
    async def accessibility(request: Request) -> Response:
        return await answer(request, lambda guest: _json({"AT": guest.accessibility_xml()}))

    @app.get("/terminal")
    async def terminal(request: Request) -> Response:
        return await answer(
            request, lambda guest: _json({"output": guest.terminal_text(), "status": "success"})
        )

    @app.get("/platform")
    def platform() -> Response:
        return text("Linux")

    @app.get("/cursor_position")
    async def cursor_position(request: Request) -> Response:
        return await answer(request, lambda guest: _json(list(guest.desktop.pointer())))

    def add_json_route(path: str, work: Callable[..., Response]) -> None:
        async def route(request: Request) -> Response:
            try:
                data = _object(await request.body())
            except ConfigError as failure:
                return error(400, failure.message)
            return await answer(request, lambda guest: work(guest, data))

        app.post(path, name=path)(route)

    def add_form_route(path: str, work: Callable[..., Response]) -> None:
        async def route(request: Request) -> Response:
            async with request.form() as form:
                fields: dict[str, Any] = {}
                for name, value in form.items():
                    fields[name] = await value.read() if isinstance(value, UploadFile) else value
            return await answer(request, lambda guest: work(guest, fields))

        app.post(path, name=path)(route)

    for path, work in JSON_ROUTES.items():
        add_json_route(path, work)
    for path, work in FILE_ROUTES.items():
        add_form_route(path, work)
    add_extension(app, machines, here)
    app.add_middleware(Guard, config=config)
    return app


def _json(value: Any) -> Response:
    return Response(json.dumps(value), media_type="application/json")


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body) if body else {}
    except (ValueError, RecursionError) as failure:
        raise ConfigError("the body is no JSON") from failure
    if not isinstance(found, dict):
        raise ConfigError("the body is no JSON object")
    return found
