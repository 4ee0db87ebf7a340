"""What the programs of a desktop are doing, as far as it decides when a step is over. Knows no screen."""

from __future__ import annotations

from typing import Protocol

from operant.desktop.channel import Channel

__all__ = ["ProgramActivity", "SupervisedActivity"]


class ProgramActivity(Protocol):
    """What the programs of a desktop are doing."""

    def busy(self, *, due: bool = False, surely: bool = False, within_ms: int = 0) -> bool:
        """Whether any program has something to do.

        With ``due``, one that sleeps until its next frame counts; with ``within_ms``, one that has a timer of at most
        so long, unless it had one at rest. One look can miss work that is just being handed on; with ``surely`` it
        can't.
        """
        ...

    def rest(self) -> None:
        """Take the timers of now for those that programs have at rest."""
        ...


class SupervisedActivity:
    """As the supervisor of a sandbox sees it."""

    def __init__(self, supervisor: Channel) -> None:
        self._supervisor = supervisor

    def busy(self, *, due: bool = False, surely: bool = False, within_ms: int = 0) -> bool:
        return bool(self._supervisor.call("busy", due=due, surely=surely, within_ms=within_ms)["busy"])

    def rest(self) -> None:
        self._supervisor.call("rest")
