"""The line to one server: kept-alive HTTP, time-outs, tries again where that does no harm, and clear failures."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
from loguru import logger

from operant.desktop.remote.wire import pack, unpack
from operant.errors import ConfigError, DesktopClosed, DesktopTimeout, RemoteDesktopError, Unauthorized

__all__ = ["Connection", "check_url"]

CONNECT_S = 5.0
IDLE_S = 60.0  # how long an unused connection is kept
FIRST_PAUSE_S = 0.1
TYPE = "application/msgpack"
#: The line broke: whether the request arrived is not known, and sending it again is safe (see ``client``).
BROKEN = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.WriteError,
          httpx.RemoteProtocolError, httpx.CloseError, httpx.PoolTimeout)  # fmt: skip


class Connection:
    """Shared by all desktops of one server; safe for threads.

    A line that breaks is opened again, for at most ``patience_s``. An answer that takes longer than the call's
    own time-out is a ``DesktopTimeout`` at once.
    """

    def __init__(self, url: str, token: str | None = None, *, patience_s: float = 10.0) -> None:
        self.url = check_url(url)
        self.patience_s = patience_s
        headers = {"content-type": TYPE, "accept": TYPE}
        if token:
            headers["authorization"] = f"Bearer {token}"
        self._client = httpx.Client(
            base_url=self.url,
            headers=headers,
            limits=httpx.Limits(keepalive_expiry=IDLE_S, max_connections=None),
            verify=self.url.startswith("https://"),
            trust_env=False,
        )
        self.reconnects = 0
        self._pid = os.getpid()

    def post(self, path: str, message: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        return self._ask("POST", path, pack(message), timeout_s)

    def get(self, path: str, timeout_s: float) -> dict[str, Any]:
        return self._ask("GET", path, None, timeout_s)

    def delete(self, path: str, timeout_s: float) -> None:
        self._ask("DELETE", path, None, timeout_s)

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, body: bytes | None, timeout_s: float) -> dict[str, Any]:
        began, pause = time.monotonic(), FIRST_PAUSE_S
        limits = httpx.Timeout(timeout_s, connect=CONNECT_S)
        while True:
            try:
                answer = self._client.request(method, path, content=body, timeout=limits)
            except BROKEN as error:
                if time.monotonic() - began + pause > self.patience_s:
                    raise self._unreachable(error) from error
                self.reconnects += 1
                logger.debug("{}: {}; trying again", self.url, type(error).__name__)
                time.sleep(pause)
                pause *= 2
            except httpx.TimeoutException as error:
                raise DesktopTimeout(f"{self.url} did not answer within {timeout_s:g} s") from error
            except (httpx.HTTPError, RuntimeError) as error:  # RuntimeError: the client was closed meanwhile
                raise RemoteDesktopError(f"{self.url}: {error}") from error
            else:
                return self._read(answer)

    def _unreachable(self, error: Exception) -> RemoteDesktopError:
        return RemoteDesktopError(
            f"{self.url} can't be reached: {error or type(error).__name__}",
            hint="is it up? start it there with: operant desktop serve",
        )

    def _read(self, answer: httpx.Response) -> dict[str, Any]:
        if answer.status_code == 204:
            return {}
        if answer.status_code == 200:
            return unpack(answer.content)
        problem = _problem(answer)
        message = f"{self.url}: {problem.get('message') or f'status {answer.status_code}'}"
        hint = problem.get("hint")
        if answer.status_code in (401, 403):
            raise Unauthorized(message, hint="set the token that it was started with (OPERANT_TOKEN)")
        if problem.get("code") == "unknown_session":
            raise DesktopClosed(f"{self.url} has ended this desktop's lease", hint="lease another")
        raise RemoteDesktopError(message, hint=None if hint is None else str(hint))


def check_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(
            f"{url!r} is no address of desktops", hint="it looks like http://host:8765, without a query"
        )
    if parts.username or parts.password:
        raise ConfigError("an address holds no password", hint="the token comes from OPERANT_TOKEN")
    return url.rstrip("/")


def _problem(answer: httpx.Response) -> dict[str, Any]:
    """The server's sentence; what is no Operant server may say anything."""
    try:
        found = answer.json()
    except ValueError:
        return {"message": f"status {answer.status_code}, which is no answer of a desktop server"}
    return found if isinstance(found, dict) else {}
