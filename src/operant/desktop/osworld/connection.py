"""HTTP to one of OSWorld's machines. Every call ends in time, and nothing that is answered is believed unseen.

Nothing that acts is sent twice: a line that breaks in the middle of a call is an error.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, NoReturn

import httpx
import numpy as np
import numpy.typing as npt

from operant.desktop.png_frames import is_png, read_png_frame
from operant.desktop.remote.connection import CONNECT_S, IDLE_S, check_url
from operant.errors import DesktopClosed, DesktopTimeout, RemoteDesktopError, Unauthorized

__all__ = ["GuestAnswer", "GuestConnection"]

MOST_BYTES = 512 << 20
LEASE = "x-operant-lease"
LEASE_ENDED = 410
HINT = "is it a machine with OSWorld's guest server, and is this its address and port?"


class GuestAnswer:
    """An answer that has arrived."""

    def __init__(self, url: str, status: int, content: bytes) -> None:
        self.url = url
        self.status = status
        self.content = content

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            self.stranger("that is no JSON")

    def fields(self) -> dict[str, Any]:
        found = self.json()
        if not isinstance(found, dict):
            self.stranger("that is no JSON object")
        return found

    def message(self) -> str:
        """The sentence of an answer that says what went wrong."""
        try:
            found = json.loads(self.content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            return " ".join(self.text.split())[:300] or f"status {self.status}"
        said = found.get("message") or found.get("error") or found.get("output") or f"status {self.status}"
        return str(said)[:2000]

    def frame(self) -> npt.NDArray[np.uint8]:
        if self.status != 200 or not is_png(self.content):
            self.stranger("that is no PNG picture")
        try:
            return read_png_frame(self.content)
        except ValueError as error:
            raise RemoteDesktopError(f"{self.url} sent a picture that can't be read: {error}") from error

    def stranger(self, what: str) -> NoReturn:
        raise RemoteDesktopError(f"{self.url} gave an answer {what} (status {self.status})", hint=HINT)


class GuestConnection:
    """Safe for threads."""

    def __init__(self, url: str, token: str | None = None, lease: str | None = None) -> None:
        self.url = check_url(url)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(
            base_url=self.url,
            headers=headers | ({LEASE: lease} if lease else {}),
            limits=httpx.Limits(keepalive_expiry=IDLE_S, max_connections=None),
            verify=self.url.startswith("https://"),
            trust_env=False,
        )

    def get(self, path: str, timeout_s: float) -> GuestAnswer:
        return self._ask("GET", path, timeout_s)

    def post(self, path: str, timeout_s: float, **body: Any) -> GuestAnswer:
        """``json``, ``data`` and ``files`` are those of httpx."""
        return self._ask("POST", path, timeout_s, **body)

    def delete(self, path: str, timeout_s: float) -> GuestAnswer:
        return self._ask("DELETE", path, timeout_s)

    def _ask(self, method: str, path: str, timeout_s: float, **body: Any) -> GuestAnswer:
        try:
            answer = self._send(method, path, timeout_s, body)
        except httpx.TimeoutException as error:
            raise DesktopTimeout(f"{self.url} did not answer {path} within {timeout_s:g} s") from error
        except (httpx.HTTPError, RuntimeError) as error:  # RuntimeError: it was closed meanwhile
            raise RemoteDesktopError(
                f"{self.url} can't be reached: {error or type(error).__name__}", hint=HINT
            ) from error
        if answer.status == LEASE_ENDED:
            raise DesktopClosed(f"{self.url}: {answer.message()}", hint="lease another machine")
        if answer.status in (401, 403):
            raise Unauthorized(
                f"{self.url}: {answer.message()}", hint="set the token that it was started with"
            )
        return answer

    def _send(self, method: str, path: str, timeout_s: float, body: Mapping[str, Any]) -> GuestAnswer:
        deadline = time.monotonic() + timeout_s
        limits = httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
        with self._client.stream(method, path, timeout=limits, **body) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise RemoteDesktopError(f"{self.url} sent more than {MOST_BYTES} bytes")
                if time.monotonic() > deadline:  # each part came in time, the whole did not
                    raise httpx.ReadTimeout("too slow")
            return GuestAnswer(self.url, response.status_code, bytes(content))

    def close(self) -> None:
        self._client.close()
