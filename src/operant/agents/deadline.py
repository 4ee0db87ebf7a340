"""A thread that does one call after another and is waited for only so long.

A call that does not end in time can't be stopped in Python, so its thread is left behind (it ends when the
call does) and takes no further calls. Knows nothing of agents.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from operant.errors import AgentTimeout

__all__ = ["Deadline"]

_Call = tuple[Callable[..., Any], tuple[Any, ...]]


class Deadline:
    """Use it as a context manager; leaving does not wait for a call that hangs."""

    def __init__(self, name: str = "operant-agent") -> None:
        self.lost = False
        """Whether a call did not end in time: what it called is not to be used any more."""
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(self._calls, self._results), name=name, daemon=True).start()

    def call(self, timeout_s: float, function: Callable[..., Any], *args: Any) -> Any:
        """What the function returns; what it raises is raised here."""
        if self.lost:
            raise AgentTimeout("an earlier call has not ended yet")
        self._calls.put((function, args))
        try:
            value, error = self._results.get(timeout=timeout_s)
        except queue.Empty:
            self.lost = True
            raise AgentTimeout(f"no answer within {timeout_s:g} s") from None
        if error is not None:
            raise error
        return value

    def __enter__(self) -> Deadline:
        return self

    def __exit__(self, *_: object) -> None:
        self._calls.put(None)


def _serve(
    calls: queue.SimpleQueue[_Call | None], results: queue.SimpleQueue[tuple[Any, BaseException | None]]
) -> None:
    while (call := calls.get()) is not None:
        function, args = call
        try:
            results.put((function(*args), None))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            results.put((None, error))
        del call, function, args  # an observation is megabytes, and the next call may be long in coming
