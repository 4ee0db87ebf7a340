"""Who may begin a rollout: the bound on how old the experience may get before it is learned from.

AReaL's rule: with staleness at most ``eta`` versions and ``batch`` rollouts an update, a rollout may begin only
while (eta + version + 1) * batch - (accepted + running) > 0. With eta 0 actors wait for each update: that is
synchronous training. A rollout that many others overtake may be older than eta; the mean is not.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from operant.errors import ConfigError
from operant.rollout.loop import StopSignal

__all__ = ["Admission"]


class Admission:
    """Counts rollouts. Safe for threads."""

    def __init__(self, batch: int, max_staleness: int) -> None:
        if batch < 1 or max_staleness < 0:
            raise ConfigError(f"{batch} rollouts an update, at most {max_staleness} versions old, can't be")
        self.batch = batch
        self.max_staleness = max_staleness
        self.version = 0
        self.accepted = 0
        """Rollouts that ended well, less those that taught nothing and were replaced."""
        self.running = 0
        self._changed = threading.Condition()

    @property
    def room(self) -> int:
        """Rollouts that may begin now."""
        return (self.max_staleness + self.version + 1) * self.batch - (self.accepted + self.running)

    def enter(self, stop: StopSignal, timeout_s: float | None = None) -> bool:
        """Wait until a rollout may begin, and count it as running; False if everything stops meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: stop.is_set() or self.room > 0, timeout_s)
            if stop.is_set() or self.room <= 0:
                return False
            self.running += 1
            return True

    def try_enter(self) -> bool:
        """Count a rollout as running if it may begin now."""
        with self._changed:
            if self.room <= 0:
                return False
            self.running += 1
            return True

    def adopt(self) -> None:
        """Count a rollout as running that began before an interruption."""
        with self._changed:
            self.running += 1

    def leave(self, *, accepted: bool) -> None:
        """A rollout has ended; one that was lost to the machine is not accepted and makes room for another."""
        with self._changed:
            self.running -= 1
            self.accepted += accepted
            self._changed.notify_all()

    def replace(self, count: int) -> None:
        """Accepted rollouts turned out to teach nothing: others may take their place."""
        with self._changed:
            self.accepted -= count
            self._changed.notify_all()

    def advance(self, version: int) -> None:
        with self._changed:
            self.version = version
            self._changed.notify_all()

    def wake(self) -> None:
        """Let those who wait look whether everything stops."""
        with self._changed:
            self._changed.notify_all()

    def state(self) -> dict[str, int]:
        return {"version": self.version, "accepted": self.accepted}

    def restore(self, state: Mapping[str, int]) -> None:
        """Go on from there; rollouts that run on through an interruption are ``running``."""
        with self._changed:
            self.version, self.accepted = state["version"], state["accepted"]
            self.running = state.get("running", 0)
            self._changed.notify_all()
