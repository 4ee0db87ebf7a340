"""Between actors and learner: hands out rollouts in groups, and gathers groups that teach something.

A group is several rollouts of one task instance. Those that the algorithm has no use for are counted, and others
played in their place. Everything that has ended and was not learned from yet is on disk.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from operant.agents.vlm.trajectory import Trajectory
from operant.envs.task_source import TaskSource
from operant.rollout.actors import Job
from operant.rollout.admission import Admission
from operant.rollout.experience import ExperienceStore
from operant.tasks.task import Task

__all__ = ["Gathered", "Groups"]

LOOK_S = 0.5


@dataclass(frozen=True)
class Gathered:
    """What one update learns from."""

    trajectories: list[Trajectory]
    seen: list[Trajectory]
    """All that ended meanwhile, those that teach nothing included: success rates are of these."""
    filtered: int
    """Groups that taught nothing."""


class Groups:
    """Safe for threads: actors ``take`` and ``add``, the learner calls ``gather``."""

    def __init__(
        self,
        source: TaskSource,
        group_size: int,
        keeps: Callable[[Sequence[Trajectory]], bool],
        admission: Admission,
        store: ExperienceStore,
        seed: int = 0,
    ) -> None:
        self.source = source
        self.group_size = group_size
        self.keeps = keeps
        self.admission = admission
        self.store = store
        self.seed = seed
        self._random = np.random.default_rng(seed)
        self._count = 0
        self._jobs: deque[Job] = deque()
        self._partial: dict[str, list[Trajectory]] = {}
        self._sizes: dict[str, int] = {}
        self._ready: deque[list[Trajectory]] = deque()
        self._seen: list[Trajectory] = []
        self._filtered = 0
        self._changed = threading.Condition()

    # For actors.

    def take(self) -> Job:
        with self._changed:
            if not self._jobs:
                self._open_group(self.source.draw(self._random))
            return self._jobs.popleft()

    def _open_group(self, task: Task) -> None:
        self._count += 1
        self._issue(task, f"{task.id}#{task.seed}@{self._count}", range(self.group_size))

    def _issue(self, task: Task, group: str, numbers: Sequence[int]) -> None:
        self._sizes[group] = self.group_size
        self._jobs.extend(Job(task, group, number, _seed(self.seed, group, number)) for number in numbers)

    def add(self, trajectory: Trajectory) -> None:
        self.store.add(trajectory)
        with self._changed:
            self._seen.append(trajectory)
            self._partial.setdefault(trajectory.group, []).append(trajectory)
            self._close_if_complete(trajectory.group)

    def drop(self, job: Job) -> None:
        """A rollout that can't be played: its group goes on without it."""
        with self._changed:
            self._sizes[job.group] = self._sizes.get(job.group, self.group_size) - 1
            self._close_if_complete(job.group)

    def _close_if_complete(self, group: str) -> None:
        rollouts = self._partial.get(group, [])
        if len(rollouts) < self._sizes.get(group, self.group_size):
            return
        self._partial.pop(group, None)
        self._sizes.pop(group, None)
        if rollouts and self.keeps(rollouts):
            self._ready.append(rollouts)
        elif rollouts:
            self._filtered += 1
            self.admission.replace(len(rollouts))
            self.store.discard(one.id for one in rollouts)
        self._changed.notify_all()

    # For the learner.

    def gather(self, groups: int, refill: float, check: Callable[[], None]) -> Gathered:
        """Wait for so many groups that teach something, or fewer if too many taught nothing.

        ``check`` is called now and then and may raise: when all actors are gone, say.
        """
        with self._changed:
            while len(self._ready) < groups and self._filtered <= refill * groups:
                self._changed.wait(LOOK_S)
                check()
            taken = [self._ready.popleft() for _ in range(min(groups, len(self._ready)))]
            seen, filtered = self._seen, self._filtered
            self._seen, self._filtered = [], 0
        return Gathered([one for group in taken for one in group], seen, filtered)

    # Interruptions.

    def state(self) -> dict[str, Any]:
        with self._changed:
            return {"random": json.dumps(self._random.bit_generator.state), "count": self._count}

    def restore(self, state: Mapping[str, Any], kept: Sequence[Trajectory]) -> None:
        """Go on with what was on disk: whole groups are ready, and the rest of broken ones is played."""
        self._random.bit_generator.state = json.loads(state["random"])
        self._count = int(state["count"])
        groups: dict[str, list[Trajectory]] = {}
        for trajectory in kept:
            groups.setdefault(trajectory.group, []).append(trajectory)
        with self._changed:
            for group, rollouts in groups.items():
                self._count = max(self._count, int(group.rpartition("@")[2] or 0))
                self._partial[group] = rollouts
                self._sizes[group] = self.group_size
                missing = self.group_size - len(rollouts)
                if missing > 0:
                    first = rollouts[0]
                    task = self.source.find(first.task, first.seed, self._random)
                    self._issue(task, group, range(len(rollouts), self.group_size))
                self._close_if_complete(group)


def _seed(seed: int, group: str, number: int) -> int:
    digest = hashlib.blake2b(f"{seed}/{group}/{number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
