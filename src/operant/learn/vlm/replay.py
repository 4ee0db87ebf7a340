"""Successes that are kept, with their tokens and the log-probabilities these were drawn with.

For groups that have none of their own (replay), and as what Entropulse learns from. Holds a few of each task,
of all versions of the policy: which of them goes when there is no room is left to chance.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from operant.agents.vlm.trajectory import Trajectory
from operant.errors import ConfigError

__all__ = ["SuccessReplay"]


class SuccessReplay:
    """At most ``per_task`` successes of each task, or with ``by_instance`` of each of its instances."""

    def __init__(self, per_task: int = 8, *, by_instance: bool = True, seed: int = 0) -> None:
        if per_task < 1:
            raise ConfigError(f"a replay of {per_task} successes holds none")
        self.per_task = per_task
        self.by_instance = by_instance
        self._random = random.Random(seed)
        self._kept: dict[str, list[Trajectory]] = {}
        self._seen: dict[str, int] = {}

    def __len__(self) -> int:
        return sum(len(kept) for kept in self._kept.values())

    def add(self, trajectories: Sequence[Trajectory]) -> None:
        """Keep the successes among them; each that was ever seen is as likely to be kept (a reservoir)."""
        for trajectory in trajectories:
            if not trajectory.success or not trajectory.turns:
                continue
            key = self._key(trajectory)
            kept = self._kept.setdefault(key, [])
            if trajectory.id and any(other.id == trajectory.id for other in kept):
                continue
            self._seen[key] = self._seen.get(key, 0) + 1
            if len(kept) < self.per_task:
                kept.append(trajectory)
            elif (place := self._random.randrange(self._seen[key])) < self.per_task:
                kept[place] = trajectory

    def recall(self, like: Trajectory) -> Trajectory | None:
        """A stored success of the same task as this rollout's."""
        kept = self._kept.get(self._key(like))
        return self._random.choice(kept) if kept else None

    def sample(self, per_task: int) -> list[Trajectory]:
        """Up to so many of each task, so that easy tasks don't drown the others."""
        drawn: list[Trajectory] = []
        for key in sorted(self._kept):
            kept = self._kept[key]
            drawn += self._random.sample(kept, min(per_task, len(kept)))
        return drawn

    def _key(self, trajectory: Trajectory) -> str:
        return trajectory.instance if self.by_instance else trajectory.task

    def state(self) -> dict[str, Any]:
        version, internal, gauss = self._random.getstate()
        kept = {key: [one.plain() for one in kept] for key, kept in self._kept.items()}
        return {"kept": kept, "seen": dict(self._seen), "random": [version, list(internal), gauss]}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._kept = {
            key: [Trajectory.from_plain(one) for one in kept] for key, kept in state["kept"].items()
        }
        self._seen = dict(state["seen"])
        version, internal, gauss = state["random"]
        self._random.setstate((version, tuple(internal), gauss))
