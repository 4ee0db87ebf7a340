"""A client's request, which it may cancel while a thread works on it.

The thread can't be interrupted. So a cancelled request that waits for its turn is not begun, and one that is under way
ends what it waits for: the command inside the desktop.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TypeVar

from loguru import logger

from operant.errors import OperantError, RequestCancelled

__all__ = ["Request", "current_request"]

T = TypeVar("T")
AGAIN_S = 0.1  # between attempts to end what may not have begun yet
_CURRENT: ContextVar[Request | None] = ContextVar("request", default=None)


class Request:
    """``cancel`` may be called from any thread."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self._left = threading.Event()

    def do(self, work: Callable[[], T]) -> T:
        """Work on it in this thread."""
        token = _CURRENT.set(self)
        try:
            return work()
        finally:
            _CURRENT.reset(token)

    def check(self) -> None:
        if self._cancelled.is_set():
            raise RequestCancelled("the client has cancelled this request")

    @contextlib.contextmanager
    def ended_by(self, end: Callable[[], None]) -> Iterator[None]:
        """While this goes on, ``end`` ends it. It may be called several times, also before there is anything to end."""
        with self._lock:
            self.check()
            self._end = end
            self._left.clear()
        try:
            yield
        finally:
            with self._lock:
                self._end = None
                self._left.set()

    def cancel(self) -> None:
        """Returns when nothing of the request is under way that can be ended."""
        with self._lock:
            self._cancelled.set()
            end = self._end
        while end is not None and not self._left.is_set():
            try:
                end()
            except (OperantError, OSError) as error:  # the desktop is gone, and the command with it
                logger.debug("a cancelled request was not ended: {}", error)
                return
            self._left.wait(AGAIN_S)


def current_request() -> Request:
    """The request that this thread works on; elsewhere one that is never cancelled."""
    return _CURRENT.get() or Request()
