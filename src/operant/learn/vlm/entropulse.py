"""Entropulse: when reward is flat and the policy has lost its entropy, learn successes of all versions, then go on.

Successes of earlier policies differ more among themselves than what today's policy does, so that supervised
learning of them brings entropy back without losing what was learned (ComputerRL).
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Mapping
from typing import Any

from operant.learn.vlm.base import check_ranges

__all__ = ["Entropulse"]


class Entropulse:
    """Watches a run and says when it is time for a supervised phase.

    It is time if entropy is below ``entropy_fraction`` of what it was at the start (or after the last phase),
    and the mean reward of the last ``window`` updates is not ``min_gain`` above that of the window before.
    """

    def __init__(
        self, *, window: int = 10, entropy_fraction: float = 0.5, min_gain: float = 0.02, cooldown: int = 20
    ) -> None:
        check_ranges(window=(window, 1, 1e6), entropy_fraction=(entropy_fraction, 0, 1))
        self.window = window
        self.entropy_fraction = entropy_fraction
        self.min_gain = min_gain
        self.cooldown = cooldown
        self.phases = 0
        self._rewards: deque[float] = deque(maxlen=2 * window)
        self._entropies: deque[float] = deque(maxlen=window)
        self._start: float | None = None
        self._since = 0

    def observe(self, reward: float, entropy: float) -> None:
        """What an update saw: mean reward of its episodes, mean entropy of its tokens."""
        self._rewards.append(reward)
        self._entropies.append(entropy)
        self._since += 1
        if self._start is None and len(self._entropies) == self.window:
            self._start = statistics.fmean(self._entropies)

    @property
    def due(self) -> bool:
        if self._start is None or len(self._rewards) < 2 * self.window:
            return False
        if self.phases and self._since < self.cooldown:
            return False
        rewards = list(self._rewards)
        before, lately = rewards[: self.window], rewards[self.window :]
        flat = statistics.fmean(lately) - statistics.fmean(before) < self.min_gain
        return flat and statistics.fmean(self._entropies) < self.entropy_fraction * self._start

    def done(self) -> None:
        """A phase has ended: look for the new level of entropy."""
        self.phases += 1
        self._since = 0
        self._start = None
        self._rewards.clear()
        self._entropies.clear()

    def state(self) -> dict[str, Any]:
        return {
            "phases": self.phases,
            "rewards": list(self._rewards),
            "entropies": list(self._entropies),
            "start": self._start,
            "since": self._since,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.phases, self._since, self._start = state["phases"], state["since"], state["start"]
        self._rewards.extend(state["rewards"])
        self._entropies.extend(state["entropies"])
