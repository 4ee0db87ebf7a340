"""A call in a thread of its own that never keeps the process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["in_background"]

T = TypeVar("T")


def in_background(name: str, do: Callable[[], T]) -> Future[T]:
    """What it returns or raises is the future's."""
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(do())
        except BaseException as error:  # noqa: BLE001 - raised again where the future is asked
            future.set_exception(error)

    threading.Thread(target=work, name=name, daemon=True).start()
    return future
