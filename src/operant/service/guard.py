"""The door: who may come in, how often and with how much. Stands before every route, page and WebSocket.

Without a token only this machine may talk to the service, under a name of this machine, so that no web page
that a user happens to open can reach it. With a token, every client has to show it: programs as a bearer token,
browsers as a cookie that the login page sets. Knows nothing of what lies behind.
"""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from loguru import logger
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from operant.config.service import ServiceConfig, is_loopback
from operant.errors import BodyTooLarge, OperantError, RequestForbidden, TooManyRequests, Unauthorized
from operant.service.allowance import Allowances
from operant.service.logs import new_request_id, request_id
from operant.service.problems import Problem, answer, problem_of

__all__ = ["COOKIE", "Guard", "is_token"]

COOKIE = "operant_token"
# Paths are compared whole: what only begins like one of these is somewhere else.
HEALTH = "/health"
LOGIN = "/login"
OPEN = frozenset({HEALTH, LOGIN, "/manifest.webmanifest", "/service-worker.js"})
STATIC_FILE = re.compile(r"/static/[\w-]+(\.[\w-]+)*", re.ASCII)
PAGE_FILES = (
    "/_nicegui/",
    "/_nicegui_ws/",
)  # dozens for each page; they need the token, and then cost nothing
WRONG_TOKEN_COST = 10.0  # requests
MOST_GUESSES = 40  # of tokens at once, however many requests a client may make
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
REFUSED = 1008  # WebSocket: policy violation
REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)

Observer = Callable[[Scope, int, float], None]


def is_token(config: ServiceConfig, given: str) -> bool:
    """Compare in constant time."""
    wanted = config.token.get_secret_value() if config.token else ""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode("utf-8"))


class Guard:
    """ASGI middleware. ``observe`` hears of each answer: the scope, the status and the seconds it took."""

    def __init__(self, app: ASGIApp, config: ServiceConfig, observe: Observer | None = None) -> None:
        self.app = app
        self.config = config
        self.observe = observe
        self.allowances = Allowances(config.requests_per_s, config.request_burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        identity = given if REQUEST_ID.fullmatch(given) else new_request_id()
        mark = request_id.set(identity)
        try:
            await self._answer(scope, receive, send, identity)
        finally:
            request_id.reset(mark)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, identity: str) -> None:
        began, status = time.perf_counter(), 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update(_safety_headers(identity))
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        try:
            self._check(scope)
            body = _Counted(receive, self.config.max_body_bytes) if scope["type"] == "http" else None
            try:
                await self.app(scope, body or receive, send_on)
                if status == 401:  # a wrong token at the login page
                    self._slow_down(scope)
            except BodyTooLarge as error:
                if status:
                    raise
                await _refuse(error, scope, receive, send_on)
        except OperantError as error:
            await _refuse(error, scope, receive, send_on)
        except ClientDisconnect:  # the client is gone
            logger.debug("a client went away")
        except Exception:  # the last resort: whatever it was, the client gets a sentence and the log the rest
            logger.exception("an unexpected failure of {} {}", scope.get("method", "ws"), scope["path"])
            if status or scope["type"] != "http":
                raise
            await _fail(scope, receive, send_on, identity)
        finally:
            took = time.perf_counter() - began
            if self.observe is not None:
                self.observe(scope, status, took)
            if not _is_free(scope):
                logger.bind(status=status, ms=round(1000 * took, 1)).debug(
                    "{} {} -> {}", scope.get("method", "WS"), scope["path"], status
                )

    # What has to be right before anything is done.

    def _check(self, scope: Scope) -> None:
        """A client that failed too often is refused before the token is looked at: a right guess tells nothing."""
        headers = Headers(scope=scope)
        free = _is_free(scope)
        if not (free and _is_open(scope)) and not self.allowances.spend(_client(scope), 0.0 if free else 1.0):
            raise TooManyRequests(
                "too many requests at once",
                hint=f"at most {self.config.requests_per_s:g} a second on average",
            )
        try:
            self._check_origin(scope, headers)
            if self.config.token is None:
                self._check_local(scope, headers)
            elif not _is_open(scope) and not self._has_token(scope, headers):
                given = "authorization" in headers or COOKIE in HTTPConnection(scope).cookies
                raise Unauthorized(
                    "the token is wrong" if given else "this service wants a token",
                    hint="Authorization: Bearer <token>, or sign in at /login",
                )
            length = headers.get("content-length", "0")
            if not length.isdigit() or int(length) > self.config.max_body_bytes:
                raise BodyTooLarge(f"the body is larger than {self.config.max_body_bytes} bytes")
        except Unauthorized:
            self._slow_down(scope)
            raise
        except OperantError:
            self.allowances.charge(_client(scope), 1.0 if free else 0.0)
            raise

    def _slow_down(self, scope: Scope) -> None:
        """A wrong token costs more than a request, so that guessing gets slow."""
        cost = max(WRONG_TOKEN_COST, self.allowances.burst / MOST_GUESSES)
        self.allowances.charge(_client(scope), cost - (0.0 if _is_free(scope) else 1.0))

    def _check_local(self, scope: Scope, headers: Headers) -> None:
        server = scope.get("server")
        if (
            server is not None
            and server[1] is not None
            and not is_loopback(server[0])
            and server[0] != "testserver"
        ):
            raise RequestForbidden(
                "without a token this service answers on this machine only",
                hint="set OPERANT_TOKEN to let others in",
            )
        name = _host_name(headers.get("host", "localhost"))
        if not (is_loopback(name) or name in ("testserver", *self.config.trusted_hosts)):
            raise RequestForbidden(
                f"{name[:60]!r} is not a name of this machine",
                hint="use http://localhost, or list the name in OPERANT_TRUSTED_HOSTS",
            )

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """A page of another site may not act in the name of the person who looks at it."""
        origin = headers.get("origin")
        if origin is None or (scope["type"] == "http" and scope["method"] in SAFE):
            return
        if urlsplit(origin).netloc != headers.get("host") and origin not in self.config.cors_origins:
            raise RequestForbidden(
                f"requests from {origin[:80]} are not allowed", hint="see OPERANT_CORS_ORIGINS"
            )

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return is_token(self.config, given.strip())
        return is_token(self.config, HTTPConnection(scope).cookies.get(COOKIE, ""))


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _is_open(scope: Scope) -> bool:
    """Whether it needs no token: a few paths, and only for what they are there for."""
    if scope["type"] != "http":
        return False
    path, method = scope["path"], scope["method"]
    if method == "POST":
        return bool(path == LOGIN)
    return method in ("GET", "HEAD") and (path in OPEN or STATIC_FILE.fullmatch(path) is not None)


def _is_free(scope: Scope) -> bool:
    """Whether it may be asked for as often as one likes."""
    if _is_open(scope):
        return bool(scope["path"] == HEALTH or STATIC_FILE.fullmatch(scope["path"]))
    return bool(scope["path"].startswith(PAGE_FILES))


class _Counted:
    """Hands the body on, and stops when there is too much of it."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise BodyTooLarge("the body is larger than allowed")
        return message


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _safety_headers(identity: str) -> dict[str, str]:
    return {
        "x-request-id": identity,
        "x-content-type-options": "nosniff",
        "x-frame-options": "SAMEORIGIN",
        "referrer-policy": "same-origin",
    }


async def _refuse(error: OperantError, scope: Scope, receive: Receive, send: Send) -> None:
    status, problem = problem_of(error)
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": REFUSED, "reason": problem.code})
        return
    wants_page = "text/html" in Headers(scope=scope).get("accept", "")
    if status == 401 and wants_page and scope["method"] == "GET":
        headers = [(b"location", b"/login"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await answer(status, problem)(scope, receive, send)


async def _fail(scope: Scope, receive: Receive, send: Send, identity: str) -> None:
    problem = Problem(
        code="internal",
        message="something unexpected went wrong here; it is in the log",
        hint="look for the request id",
        request_id=identity,
    )
    await answer(500, problem)(scope, receive, send)
