"""Where the learner gets its experience: actors of this process, or, through the same few calls, those of a cluster.

The learner opens a collection with what it knows, gathers one update's experience after the other, and says when a
checkpoint holds what it learned.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from operant.agents.vlm.backends.base import Weights
from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.trajectory import Trajectory
from operant.config.vlm_training import VLMTrainingConfig
from operant.desktop.pool import DesktopPool
from operant.envs.task_source import TaskSource
from operant.rollout.job_runner import JobList, JobRunner
from operant.rollout.player import PlayedEpisode
from operant.train.vlm.admission import Admission
from operant.train.vlm.desktops import DesktopFactory, desktop_pool, rollout_player
from operant.train.vlm.groups import Gathered, Groups, Kept
from operant.train.vlm.parts import Parts
from operant.train.vlm.rollout_queue import RolloutQueue
from operant.train.vlm.rollouts import RolloutJob, RolloutPlayer
from operant.train.vlm.trajectory_store import TrajectoryStore

__all__ = ["Collection", "CollectionStats", "LocalCollection"]


@dataclass(frozen=True)
class CollectionStats:
    """What actors did with their time so far."""

    utilisation: float
    infra_errors: int


class Collection(Protocol):
    """What a run needs of its collection of experience. A context manager: desktops are there while it lasts."""

    @property
    def wants_directory(self) -> bool:
        """Newer weights have to come as an adapter's directory."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *error: object) -> None: ...

    def open(self, iteration: int, used: Sequence[str], state: Mapping[str, Any] | None) -> Kept:
        """Go on after that many updates. ``used`` was learned from. Returns what an earlier process left."""

    def demonstrate(self, jobs: Iterable[RolloutJob], on_end: Callable[[Trajectory], None]) -> None:
        """Let oracles play in the model's words, as many at once as there are desktops. ``on_end`` gets each episode
        when it ends, one at a time."""

    def start(self) -> None:
        """Let the actors begin."""

    def gather(self, update: int) -> Gathered:
        """Wait for what that update learns from."""

    def publish(self, weights: Weights) -> int:
        """Give a version to the inference backends; how many bytes each of them gets."""

    def advance(self, iteration: int) -> None:
        """So many updates were made: rollouts that had to wait for that may begin."""

    def learned(self, used: Sequence[str]) -> None:
        """A checkpoint holds what was learned from these."""

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""

    @property
    def stats(self) -> CollectionStats: ...


class LocalCollection:
    """Actors are threads of this process; the model that answers them is a copy of the one that learns."""

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        source: TaskSource,
        parts: Parts,
        desktops: DesktopFactory | None = None,
    ) -> None:
        settings = config.training
        self.config = config
        self.directory = directory
        self.parts = parts
        self.admission = Admission(settings.group_size * settings.groups_per_update, settings.max_staleness)
        self.store = TrajectoryStore(directory / "experience", needs_space=settings.when_disk_full == "stop")
        keeps = parts.trainer.algorithm.keeps
        self.groups = Groups(source, settings.group_size, keeps, self.admission, settings.seed)
        self._desktops = desktops
        self._stack = ExitStack()
        self._actors: JobRunner[RolloutJob]
        self._player: RolloutPlayer
        self._pool: DesktopPool

    @property
    def wants_directory(self) -> bool:
        return self.parts.inference.wants_directory

    def __enter__(self) -> LocalCollection:
        config = self.config
        count = config.environment.desktops or config.actor.num_actors
        with ExitStack() as stack:
            pool = stack.enter_context(desktop_pool(config, count, self._desktops))
            self._pool = pool
            backend = stack.enter_context(self.parts.backend(self.parts.trainer.version))
            self._player = rollout_player(config, pool, backend, self.directory)
            queue = RolloutQueue(self.groups, self.admission, self.store, self._player.trajectory)
            self._actors = JobRunner(queue, self._player, workers=config.actor.num_actors, name="actor")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open(self, iteration: int, used: Sequence[str], state: Mapping[str, Any] | None) -> Kept:
        kept = self.store.load(used)
        self.admission.restore(
            {"version": iteration, "accepted": iteration * self.admission.batch + len(kept)}
        )
        return Kept(self.groups.restore(state, kept), len(self.store.torn))

    def demonstrate(self, jobs: Iterable[RolloutJob], on_end: Callable[[Trajectory], None]) -> None:
        vlm = self.parts.vlm
        words = threading.Lock()  # tokenizers are not safe for threads

        def tokens(text: str) -> list[int]:
            with words:
                return vlm.tokens(text)

        def agent(job: RolloutJob) -> Demonstrator:
            return Demonstrator(self.config.prompt, vlm.family.units, vlm.shown, tokens)

        player = rollout_player(self.config, self._pool, self._player.model, self.directory, agent)

        def ended(played: PlayedEpisode[RolloutJob]) -> None:
            on_end(player.trajectory(played))

        JobRunner(JobList(jobs, ended), player, workers=self._pool.size, name="show").run()

    def start(self) -> None:
        self._stack.enter_context(self._actors)

    def gather(self, update: int) -> Gathered:
        settings = self.config.training
        gathered = self.groups.gather(update, settings.groups_per_update, settings.refill_limit, self._check)
        self.store.discard(gathered.useless)
        return gathered

    def _check(self) -> None:
        if self._actors.failure is not None:
            raise self._actors.failure

    def publish(self, weights: Weights) -> int:
        self.parts.inference.load(weights)
        return sum(tensor.numel() * tensor.element_size() for tensor in weights.tensors.values())

    def advance(self, iteration: int) -> None:
        self.admission.advance(iteration)

    def learned(self, used: Sequence[str]) -> None:
        self.store.discard(used)

    def state(self) -> dict[str, Any]:
        return self.groups.state()

    @property
    def stats(self) -> CollectionStats:
        return CollectionStats(self._actors.stats.utilisation, self._actors.stats.infra_errors)
