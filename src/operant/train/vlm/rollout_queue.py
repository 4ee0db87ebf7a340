"""The job queue of a run in one process: rollouts begin within the bound on staleness and end on disk."""

from __future__ import annotations

from collections.abc import Callable

from operant.agents.vlm.trajectory import Trajectory
from operant.rollout.loop import StopSignal
from operant.rollout.player import PlayedEpisode
from operant.train.vlm.admission import Admission
from operant.train.vlm.groups import Groups
from operant.train.vlm.rollouts import RolloutJob
from operant.train.vlm.trajectory_store import TrajectoryStore

__all__ = ["RolloutQueue"]


class RolloutQueue:
    """Safe for threads. ``to_trajectory`` says what is kept of an episode."""

    def __init__(
        self,
        groups: Groups,
        admission: Admission,
        store: TrajectoryStore,
        to_trajectory: Callable[[PlayedEpisode[RolloutJob]], Trajectory],
    ) -> None:
        self._groups = groups
        self._admission = admission
        self._store = store
        self._to_trajectory = to_trajectory

    def take(self, stop: StopSignal) -> RolloutJob | None:
        return self._groups.take() if self._admission.enter(stop) else None

    def finish(self, played: PlayedEpisode[RolloutJob]) -> None:
        trajectory = self._to_trajectory(played)
        self._store.add(trajectory)
        self._groups.add(trajectory)
        self._admission.leave(accepted=True)

    def drop(self, played: PlayedEpisode[RolloutJob]) -> None:
        self._groups.drop(played.job)
        self._admission.leave(accepted=False)

    def give_back(self, job: RolloutJob) -> None:
        self._groups.give_back(job)
        self._admission.leave(accepted=False)

    def wake(self) -> None:
        self._admission.wake()
