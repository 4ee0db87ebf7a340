"""Puts the dashboard into the application: files, signing in, the parts of an installable page, the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Form, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from nicegui import core, ui
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.staticfiles import StaticFiles

from operant.config.service import ServiceConfig
from operant.service.dashboard import control, episodes, frame, overview, results, tasks, training, wall
from operant.service.guard import COOKIE, is_token
from operant.service.runtime import Runtime

__all__ = ["STATIC", "add_entrance", "mount_dashboard"]

STATIC = Path(__file__).with_name("static")
MONTH_S = 30 * 86_400

MANIFEST = {
    "name": "Operant",
    "short_name": "Operant",
    "description": "Watch and drive desktops, agents and training runs.",
    "start_url": "/",
    "scope": "/",
    "display": "standalone",
    "background_color": "#10171d",
    "theme_color": "#1f6f8b",
    "icons": [
        {"src": f"/static/icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png", "purpose": "any"}
        for size in (192, 512)
    ],
}

LOGIN = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in · Operant</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/style.css"></head><body style="display:grid;place-items:center;min-height:90vh">
<form method="post" action="/login" class="op-card" style="max-width:340px;display:grid;gap:16px;box-sizing:border-box">
<div class="op-title">Operant</div><label class="op-sub" for="token">The token that the service was started with</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus
 style="padding:10px;border:1px solid var(--line);border-radius:8px;font-size:16px">{message}
<button style="padding:10px;border:0;border-radius:8px;background:#1f6f8b;color:#fff;font-size:16px">Sign in</button>
</form></body></html>"""
WRONG = '<div class="op-bad" role="alert">That is not the token.</div>'


def mount_dashboard(app: FastAPI, runtime: Runtime) -> None:
    """After every route of the API, because the pages take whatever path is left."""
    frame.set_runtime(runtime)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    add_entrance(app, runtime.config)

    @app.api_route(
        "/api/{rest:path}", include_in_schema=False, methods=["GET", "POST", "PUT", "DELETE", "PATCH"]
    )
    async def nothing(rest: str, request: Request) -> None:
        if any(route.matches(request.scope)[0] is Match.PARTIAL for route in app.routes):
            raise HTTPException(405, "this address does not answer to that method")
        raise HTTPException(404, "there is nothing at this address")

    for page in (overview, wall, control, training, tasks, episodes, results):
        page.register()
    # NiceGUI has one application for each process. It takes its middleware anew for a second service.
    core.app.user_middleware.clear()
    core.app.middleware_stack = None
    ui.run_with(
        app,
        title="Operant",
        favicon=STATIC / "icon.svg",
        dark=None,
        show_welcome_message=False,
        reconnect_timeout=10.0,
    )


def add_entrance(app: FastAPI, config: ServiceConfig) -> None:
    """The login page, and what browsers fetch before sign-in."""

    @app.get("/manifest.webmanifest", include_in_schema=False)
    async def manifest() -> Response:
        return JSONResponse(MANIFEST, media_type="application/manifest+json")

    @app.get("/service-worker.js", include_in_schema=False)
    async def service_worker() -> FileResponse:
        return FileResponse(STATIC / "service-worker.js", media_type="text/javascript")

    @app.get("/login", include_in_schema=False)
    async def login() -> HTMLResponse:
        return HTMLResponse(LOGIN.replace("{message}", ""))

    @app.post("/login", include_in_schema=False)
    async def sign_in(request: Request, token: Annotated[str, Form(max_length=500)]) -> Response:
        if not is_token(config, token):
            return HTMLResponse(LOGIN.replace("{message}", WRONG), status_code=401)
        response = RedirectResponse("/", status_code=303)
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, token, max_age=MONTH_S, httponly=True, samesite="strict", secure=secure)
        return response

    @app.post("/logout", include_in_schema=False)
    async def sign_out(request: Request) -> Response:
        response = Response(status_code=204)
        secure = request.url.scheme == "https"
        response.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=secure)
        return response
