"""Waiting until sockets and pipes can be read or written, for any number of open files.

``select.select`` refuses descriptors from 1024 on, which a process with 128 desktops has.
"""

from __future__ import annotations

import select
from collections.abc import Iterable
from typing import Protocol

__all__ = ["readable", "wait_readable", "wait_writable"]


class HasFileno(Protocol):
    def fileno(self) -> int: ...


# A file that was closed at the other end is readable: reading tells.
_READ = select.POLLIN | select.POLLPRI | select.POLLHUP | select.POLLERR


def readable(sources: Iterable[HasFileno], seconds: float) -> list[HasFileno]:
    """Those that can be read without waiting, as soon as there is one; none if there is none in time."""
    by_number = {source.fileno(): source for source in sources}
    poll = select.poll()
    for number in by_number:
        poll.register(number, select.POLLIN | select.POLLPRI)
    return [by_number[number] for number, events in poll.poll(_ms(seconds)) if events & _READ]


def wait_readable(number: int, seconds: float) -> bool:
    """Whether the descriptor can be read within that time."""
    return _wait(number, select.POLLIN | select.POLLPRI, seconds)


def wait_writable(number: int, seconds: float) -> bool:
    """Whether the descriptor can be written within that time."""
    return _wait(number, select.POLLOUT, seconds)


def _wait(number: int, events: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(number, events)
    return bool(poll.poll(_ms(seconds)))


def _ms(seconds: float) -> int:
    """To the nearest millisecond: the kernel's unit. Rounding up would lengthen each of a step's short waits."""
    return round(max(0.0, seconds) * 1000)
