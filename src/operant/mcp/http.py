"""Many clients over streamable HTTP, each with a desktop of its own, behind the service's guard.

A session ends when its client says so (DELETE), when no request of it was under way for ``idle_s``, or with the server.
Revision 2026-07-28 of the protocol has no sessions over HTTP, so its clients are told to use an earlier one, which
they do by themselves.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from loguru import logger
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from operant.config.service import ServiceConfig, is_loopback
from operant.errors import TooManyRequests
from operant.mcp.offer import Offer
from operant.mcp.server import make_server
from operant.mcp.session import DesktopSession
from operant.service.guard import Guard
from operant.service.listening import http_server, listen
from operant.service.logs import set_up_logging

__all__ = ["HttpSessions", "create_http_app", "serve_http"]

PATH = "/mcp"
LATER_S = 1.0  # how much longer than the protocol's session a desktop lives: no call may find it gone
SPARE_THREADS = 8


class HttpSessions:
    """The desktops of all clients, by the id of their session. Safe for threads."""

    def __init__(self, offer: Offer, most: int, idle_s: float) -> None:
        self.offer = offer
        self.most = most
        self.idle_s = idle_s
        self._sessions: dict[str, DesktopSession] = {}
        self._under_way: dict[str, int] = {}
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    def find(self, context: ServerRequestContext[Any, Any]) -> DesktopSession:
        """The session of a request; a new one where there is room."""
        id = context.request.headers.get(MCP_SESSION_ID_HEADER, "") if context.request is not None else ""
        if not id:
            raise TooManyRequests("a request without a session", hint="call initialize first")
        with self._lock:
            if id not in self._sessions:
                if len(self._sessions) >= self.most:
                    raise TooManyRequests(
                        f"all {self.most} desktops are in use",
                        hint="end another session, or start the server with a larger --max-desktops",
                    )
                self._sessions[id] = DesktopSession(self.offer, id[:8])
            return self._sessions[id]

    def begin(self, id: str) -> None:
        with self._lock:
            self._under_way[id] = self._under_way.get(id, 0) + 1

    def done(self, id: str) -> None:
        with self._lock:
            self._under_way[id] -= 1
            if id in self._sessions:
                self._used[id] = time.monotonic()
            if not self._under_way[id]:
                del self._under_way[id]

    def end(self, id: str) -> None:
        """Ending twice does no harm."""
        with self._lock:
            session = self._sessions.pop(id, None)
            self._used.pop(id, None)
        if session is not None:
            session.close()
            logger.info("session {} has ended", id[:8])

    def end_idle(self) -> None:
        with self._lock:
            before = time.monotonic() - self.idle_s - LATER_S
            idle = [id for id, used in self._used.items() if used < before and id not in self._under_way]
        for id in idle:
            self.end(id)

    def close(self) -> None:
        for id in list(self._sessions):
            self.end(id)


class _Watch:
    """ASGI middleware: tells the sessions which of them are used, and which have ended."""

    def __init__(self, app: ASGIApp, sessions: HttpSessions) -> None:
        self._app = app
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        id = Headers(scope=scope).get(MCP_SESSION_ID_HEADER, "") if scope["type"] == "http" else ""
        if not id:
            await self._app(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            ended = message["type"] == "http.response.start" and 200 <= message["status"] < 300
            if (
                ended and scope["method"] == "DELETE"
            ):  # first, so that the desktop is free once the client knows
                await anyio.to_thread.run_sync(self._sessions.end, id)
            await send(message)

        self._sessions.begin(id)
        try:
            await self._app(scope, receive, send_on)
        finally:
            self._sessions.done(id)


async def _only_with_session(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Revisions without sessions are refused by name, so that clients choose another."""
    known = list(HANDSHAKE_PROTOCOL_VERSIONS)
    if ctx.protocol_version not in known and ctx.method != "server/discover":
        raise MCPError(
            types.UNSUPPORTED_PROTOCOL_VERSION,
            "over HTTP this server speaks the revisions that have sessions",
            {"supported": known, "requested": ctx.protocol_version},
        )
    return await call_next(ctx)


def create_http_app(sessions: HttpSessions, config: ServiceConfig) -> Starlette:
    """Closes every desktop when it stops."""
    server = make_server(sessions.offer, sessions.find)
    server.middleware.append(_only_with_session)

    async def discover(context: Any, params: Any) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(HANDSHAKE_PROTOCOL_VERSIONS),
            capabilities=server.get_capabilities(),
            instructions=server.instructions,
        )

    server.add_request_handler("server/discover", types.RequestParams, discover)
    # The guard checks names, origins and token; on this machine's own addresses the package checks names, too.
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        host="127.0.0.1" if config.token is None and is_loopback(config.host) else config.host,
        session_idle_timeout=sessions.idle_s,
        max_request_body_size=config.max_body_bytes,
        max_sessions=4 * sessions.most,
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = max(limiter.total_tokens, 2 * sessions.most + SPARE_THREADS)

        async def sweep() -> None:
            while True:
                await anyio.sleep(min(5.0, sessions.idle_s / 4))
                await anyio.to_thread.run_sync(sessions.end_idle)

        async with server.session_manager.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(sweep)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                sessions.close()

    app = Starlette(routes=inner.routes, lifespan=lifespan)
    app.add_middleware(_Watch, sessions=sessions)
    app.add_middleware(Guard, config=config)
    return app


def serve_http(offer: Offer, config: ServiceConfig, *, most: int, idle_s: float, level: str) -> None:
    """Returns when it was told to stop and every desktop is closed."""
    set_up_logging(config.log_format, level)
    sessions = HttpSessions(offer, most, idle_s)
    listening = listen(config.host, config.port)
    name, port = listening.getsockname()[:2]
    server = http_server(create_http_app(sessions, config))
    logger.info(
        "MCP at http://{}:{}{}{}",
        f"[{name}]" if ":" in name else name,
        port,
        PATH,
        "" if config.token else " (this machine only: no token)",
    )
    try:
        server.run(sockets=[listening])
    finally:
        sessions.close()
