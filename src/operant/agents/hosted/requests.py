"""Requests that may fail: what failed, whether it may pass, and how long it is waited for.

One back-off for all vendors, so their SDKs' own retries are off. Knows no vendor's messages.
"""

from __future__ import annotations

import email.utils
import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterable
from datetime import timezone
from typing import Any, TypeVar

from operant.errors import ModelServerError

__all__ = [
    "Failure",
    "ask",
    "json_object",
    "look_up_model",
    "read_body",
    "read_reply",
    "retry_after",
    "sdk_failure",
]

MOST_BYTES = 32 * 2**20
PASSING = frozenset({408, 409, 425, 429})
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
UNREACHABLE, TOO_SLOW, UNREADABLE = 0, -1, -2
_HINTS = {
    401: "the key is wrong or was revoked",
    403: "the key may not use this model",
    404: "is the model's name right? Does base_url name the API, with /v1 where the server has it?",
    UNREACHABLE: "is the server up, and is base_url right?",
    UNREADABLE: "base_url has to name the API, not a web page",
}

T = TypeVar("T")


class Failure(Exception):
    """A request without an answer that can be used. ``status`` is HTTP's, or one of those above."""

    def __init__(
        self, status: int, message: str, retry_after_s: float | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after_s = retry_after_s
        self.hint = hint or _HINTS.get(status)

    @property
    def passes(self) -> bool:
        """Whether the same request may be answered later."""
        return self.status in PASSING or self.status >= 500 or self.status in (UNREACHABLE, UNREADABLE)

    def typed(self, where: str, scrub: Callable[[str], str]) -> ModelServerError:
        what = f"HTTP {self.status}: " if self.status > 0 else ""
        message = scrub(f"{where}: {what}{' '.join(self.message.split())[:400]}")
        return ModelServerError(message, hint=self.hint)


def ask(
    send: Callable[[float], T],
    *,
    timeout_s: float,
    retries: int,
    mend: Callable[[Failure], bool] = lambda failure: False,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[T, int]:
    """The answer and the number of requests that it took; ``Failure`` after the last try or the last second."""
    deadline = time.monotonic() + timeout_s
    tried = requests = 0
    while True:
        requests += 1
        try:
            return send(max(0.1, deadline - time.monotonic())), requests
        except Failure as failure:
            if mend(failure):
                continue
            tried += 1
            pause = failure.retry_after_s
            if pause is None:
                pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (tried - 1)) * random.uniform(0.75, 1.25)
            if not failure.passes or tried > retries:
                raise
            if time.monotonic() + pause >= deadline:
                raise _too_long(failure, timeout_s) from failure
            sleep(pause)


def _too_long(failure: Failure, timeout_s: float) -> Failure:
    """The failure of a server that asks for a longer pause than a turn has time for."""
    if failure.retry_after_s is None:
        return failure
    asked = f"{failure.message.rstrip('. ')}; the server asks to wait {failure.retry_after_s:.0f} s"
    hint = (
        f"a turn has {timeout_s:g} s: raise timeout_s and --action-timeout to wait for it, or try again later"
    )
    return Failure(failure.status, asked, failure.retry_after_s, hint)


def sdk_failure(error: Any) -> Failure:
    """The failure behind an exception of the SDKs of Anthropic and OpenAI, which have one shape."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and response is not None:
        return Failure(status, _said(error), retry_after(response.headers))
    if "Timeout" in type(error).__name__:
        return Failure(TOO_SLOW, "no answer in time")
    cause = error.__cause__
    return Failure(UNREACHABLE, f"no connection ({type(cause or error).__name__})")


def look_up_model(models: Any, name: str, timeout_s: float, errors: type[Exception]) -> None:
    """Ask for a model by name, with the part ``models`` of an SDK's client, whose exceptions are ``errors``."""
    try:
        with models.with_streaming_response.retrieve(name, timeout=timeout_s) as response:
            read_reply(response.iter_bytes(), timeout_s)
    except errors as error:
        raise sdk_failure(error) from error


def _said(error: Any) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        found = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(found, str):
            return found
    # The text of a reply that was to be streamed is not read.
    kind = str(error.response.headers.get("content-type", "")).lower()
    text = str(error)
    page = kind.startswith(("text/html", "application/xhtml")) or "<html" in text[:400].lower()
    return "the server answered with a web page" if page else text


def retry_after(headers: Any) -> float | None:
    """The seconds that a server asks for, as a number or as the date after which it may be asked again."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        said = headers.get(name, "")
        try:
            pause = float(said) / unit
        except ValueError:
            pause = _seconds_until(said)
        if 0 <= pause < math.inf:
            return pause
    return None


def _seconds_until(date: str) -> float:
    """From now to a date of HTTP; not a number if it is none."""
    try:
        when = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    # HTTP's dates are GMT, and one in the past means now.
    return max(0.0, when.replace(tzinfo=when.tzinfo or timezone.utc).timestamp() - time.time())


def read_reply(chunks: Iterable[bytes], timeout_s: float) -> dict[str, Any]:
    """The JSON object of a reply."""
    return json_object(read_body(chunks, timeout_s))


def read_body(chunks: Iterable[bytes], timeout_s: float) -> bytes:
    """The bytes of a reply. An endless one ends here, by size or by time; one that breaks off may pass later."""
    deadline = time.monotonic() + timeout_s
    body = bytearray()
    try:
        for chunk in chunks:
            body += chunk
            if len(body) > MOST_BYTES:
                raise Failure(UNREADABLE, f"the reply is longer than {MOST_BYTES} bytes")
            if time.monotonic() > deadline:
                raise Failure(TOO_SLOW, "the reply did not end in time")
    except _http_errors("TimeoutException") as error:
        raise Failure(TOO_SLOW, "the reply did not end in time") from error
    except _http_errors("HTTPError") as error:
        raise Failure(UNREACHABLE, f"the reply broke off ({type(error).__name__})") from error
    return bytes(body)


def _http_errors(name: str) -> tuple[type[Exception], ...]:
    """An error's class in each HTTP library that the SDKs brought: they do not wrap what goes wrong inside a body."""
    return tuple(getattr(sys.modules[one], name) for one in ("httpx", "httpx2") if one in sys.modules)


def json_object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body.decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        page = b"<html" in body[:1000].lower() or b"<!doctype" in body[:1000].lower()
        what = "a web page" if page else "something that is not JSON"
        raise Failure(UNREADABLE, f"the server answered with {what}") from None
    if not isinstance(found, dict):
        raise Failure(UNREADABLE, "the server answered with JSON that is no object")
    return found
