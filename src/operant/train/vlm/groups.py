"""Between actors and learner: hands out rollouts in groups, and gathers groups that teach something.

A group is several rollouts of one task instance. Those that the algorithm has no use for are counted, and others
played in their place. Everything that has ended and was not learned from yet is on disk, which is not this
module's business: it only says what is not needed again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from operant.agents.vlm.trajectory import Trajectory
from operant.envs.task_source import TaskSource
from operant.tasks.task import Task
from operant.train.vlm.admission import Admission
from operant.train.vlm.rollouts import RolloutJob

__all__ = ["Gathered", "Groups", "Kept"]

ACTOR_CHECK_S = 0.5  # between two checks whether the actors still run


@dataclass(frozen=True)
class Gathered:
    """What one update learns from."""

    trajectories: list[Trajectory]
    seen: list[Trajectory]
    """All that ended meanwhile, those that teach nothing included: success rates are of these."""
    filtered: int
    """Groups that taught nothing."""
    useless: list[str]
    """Ids of the rollouts of these."""


class Kept(NamedTuple):
    """What an earlier process left to learn from."""

    waiting: int
    """Episodes."""
    torn: int
    """Files that were cut short and are left out."""


class Groups:
    """Safe for threads: actors ``take`` and ``add``, the learner calls ``gather``."""

    def __init__(
        self,
        source: TaskSource,
        group_size: int,
        keeps: Callable[[Sequence[Trajectory]], bool],
        admission: Admission,
        seed: int = 0,
    ) -> None:
        self.source = source
        self.group_size = group_size
        self.keeps = keeps
        self.admission = admission
        self.seed = seed
        self._random = np.random.default_rng(seed)
        self._count = 0
        self._jobs: deque[RolloutJob] = deque()
        self._partial: dict[str, list[Trajectory]] = {}
        self._sizes: dict[str, int] = {}
        self._ready: deque[list[Trajectory]] = deque()
        self._seen: list[Trajectory] = []
        self._useless: list[list[str]] = []
        self._handed: tuple[int, Gathered] | None = None
        self._changed = threading.Condition()

    # For actors.

    def take(self) -> RolloutJob:
        with self._changed:
            if not self._jobs:
                self._open_group(self.source.draw(self._random))
            return self._jobs.popleft()

    def _open_group(self, task: Task) -> None:
        self._count += 1
        self._issue(task, f"{task.id}#{task.seed}@{self._count}", range(self.group_size))

    def _issue(self, task: Task, group: str, numbers: Sequence[int]) -> None:
        self._sizes[group] = self.group_size
        self._jobs.extend(
            RolloutJob(task, _seed(self.seed, group, number), group, number) for number in numbers
        )

    def add(self, trajectory: Trajectory) -> None:
        """A rollout has ended. The same rollout brought again is ignored."""
        with self._changed:
            if trajectory.id in self._waiting():
                return
            self._seen.append(trajectory)
            if trajectory.group in self._sizes:
                self._partial.setdefault(trajectory.group, []).append(trajectory)
            else:  # begun before an interruption, and its place was given to another: it founds a group again
                self._found(trajectory.group, [trajectory])
            self._close_if_complete(trajectory.group)

    def drop(self, job: RolloutJob) -> None:
        """A rollout that can't be played: its group goes on without it."""
        with self._changed:
            if job.group in self._sizes:
                self._sizes[job.group] -= 1
                self._close_if_complete(job.group)

    def give_back(self, job: RolloutJob) -> None:
        """It was not played to an end that counts: it is played next."""
        with self._changed:
            if job.group in self._sizes:
                self._jobs.appendleft(job)

    def _found(self, group: str, rollouts: list[Trajectory]) -> None:
        """A group that is there in part; the rest of it is played."""
        first = rollouts[0]
        task = self.source.find(first.task, first.seed, self._random)
        self._partial[group] = rollouts
        self._issue(task, group, range(len(rollouts), self.group_size))

    def _close_if_complete(self, group: str) -> None:
        rollouts = self._partial.get(group, [])
        if len(rollouts) < self._sizes.get(group, self.group_size):
            return
        self._partial.pop(group, None)
        self._sizes.pop(group, None)
        self._jobs = deque(job for job in self._jobs if job.group != group)
        if rollouts and self.keeps(rollouts):
            self._ready.append(rollouts)
        elif rollouts:
            self._useless.append([one.id for one in rollouts])
            self.admission.replace(len(rollouts))
        self._changed.notify_all()

    def _waiting(self) -> set[str]:
        groups = (*self._partial.values(), *self._ready)
        return {one.id for group in groups for one in group}

    # For the learner.

    def gather(self, update: int, groups: int, refill: float, check: Callable[[], None]) -> Gathered:
        """Wait for so many groups that teach something, or fewer if too many taught nothing.

        ``check`` is called now and then and may raise: when all actors are gone, say.
        """
        with self._changed:
            while (gathered := self.collect(update, groups, refill)) is None:
                self._changed.wait(ACTOR_CHECK_S)
                check()
        return gathered

    def collect(self, update: int, groups: int, refill: float) -> Gathered | None:
        """The same without waiting. Asking for the same update again gives the same again."""
        with self._changed:
            if self._handed is not None and self._handed[0] == update:
                return self._handed[1]
            if len(self._ready) < groups and len(self._useless) <= refill * groups:
                return None
            taken = [self._ready.popleft() for _ in range(min(groups, len(self._ready)))]
            gathered = Gathered(
                [one for group in taken for one in group],
                self._seen,
                len(self._useless),
                [id for group in self._useless for id in group],
            )
            self._seen, self._useless = [], []
            self._handed = update, gathered
            return gathered

    @property
    def queued(self) -> int:
        """Groups that wait to be learned from."""
        return len(self._ready)

    # Interruptions.

    def state(self) -> dict[str, Any]:
        with self._changed:
            return {"random": json.dumps(self._random.bit_generator.state), "count": self._count}

    def restore(self, state: Mapping[str, Any] | None, kept: Sequence[Trajectory]) -> int:
        """Go on with what was on disk: whole groups are ready, and the rest of broken ones is played.

        Without a state, what was handed out since is on disk again, and everything else goes on as it was. Returns
        how many rollouts wait.
        """
        with self._changed:
            if state is not None:
                self._random.bit_generator.state = json.loads(state["random"])
                self._count = int(state["count"])
            self._handed = None
            waiting = self._waiting()
            groups: dict[str, list[Trajectory]] = {}
            for trajectory in kept:
                if trajectory.id not in waiting:
                    groups.setdefault(trajectory.group, []).append(trajectory)
            for group, rollouts in groups.items():
                self._count = max(self._count, int(group.rpartition("@")[2] or 0))
                if group in self._sizes:
                    self._partial.setdefault(group, []).extend(rollouts)
                else:
                    self._found(group, rollouts)
                self._close_if_complete(group)
            return len(self._waiting())


def _seed(seed: int, group: str, number: int) -> int:
    digest = hashlib.blake2b(f"{seed}/{group}/{number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
