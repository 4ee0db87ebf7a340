"""Who brings the learner its experience: actors of this process, or, through the same few calls, those of a cluster.

The learner opens a collection with what it knows, gathers one update's experience after the other, and says when a
checkpoint holds what it learned.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from operant.agents.vlm.backends.base import Weights
from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.trajectory import Trajectory
from operant.config.vlm_training import VLMTrainingConfig
from operant.envs.task_source import TaskSource
from operant.rollout.actors import Job, MultiActorRunner, TaskRunner
from operant.rollout.admission import Admission
from operant.rollout.experience import ExperienceStore
from operant.train.vlm.groups import Gathered, Groups, Kept
from operant.train.vlm.parts import Parts
from operant.train.vlm.playing import DesktopFactory, desktop_pool, task_runner

__all__ = ["Collection", "CollectionStats", "LocalCollection"]


@dataclass(frozen=True)
class CollectionStats:
    """What actors did with their time so far."""

    utilisation: float
    infra_errors: int


class Collection(Protocol):
    """What a run needs of whoever collects. A context manager: desktops are there while it lasts."""

    @property
    def wants_directory(self) -> bool:
        """Newer weights have to come as an adapter's directory."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *error: object) -> None: ...

    def open(self, iteration: int, used: Sequence[str], state: Mapping[str, Any] | None) -> Kept:
        """Go on after that many updates. ``used`` was learned from. Returns what an earlier process left."""

    def demonstrate(self, jobs: Iterable[Job]) -> Iterator[Trajectory]:
        """Let oracles play in the model's words, as many at once as there are desktops."""

    def start(self) -> None:
        """Let the actors begin."""

    def gather(self, update: int) -> Gathered:
        """Wait for what that update learns from."""

    def publish(self, weights: Weights) -> int:
        """Give a version to whoever answers; how many bytes each of them gets."""

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
        self.store = ExperienceStore(directory / "experience")
        keeps = parts.trainer.algorithm.keeps
        self.groups = Groups(source, settings.group_size, keeps, self.admission, settings.seed)
        self._desktops = desktops
        self._stack = ExitStack()
        self._actors: MultiActorRunner
        self._runner: TaskRunner

    @property
    def wants_directory(self) -> bool:
        return self.parts.inference.wants_directory

    def __enter__(self) -> LocalCollection:
        config = self.config
        count = config.environment.desktops or config.actor.num_actors
        with ExitStack() as stack:
            pool = stack.enter_context(desktop_pool(config, count, self._desktops))
            backend = stack.enter_context(self.parts.backend(self.parts.trainer.version))
            self._runner = task_runner(config, pool, backend, self.directory)
            self._actors = MultiActorRunner(
                config.actor.num_actors,
                self._runner,
                self.groups,
                self.admission,
                self._add,
                self.groups.drop,
            )
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

    def demonstrate(self, jobs: Iterable[Job]) -> Iterator[Trajectory]:
        vlm = self.parts.vlm
        words = threading.Lock()  # tokenizers are not safe for threads

        def tokens(text: str) -> list[int]:
            with words:
                return vlm.tokens(text)

        def play(job: Job) -> Trajectory:
            agent = Demonstrator(self.config.prompt, vlm.family.units, vlm.shown, tokens)
            return self._runner.run_episode(job, agent=agent)

        at_once = self.config.environment.desktops or self.config.actor.num_actors
        with ThreadPoolExecutor(at_once, thread_name_prefix="operant-show") as players:
            yield from players.map(play, jobs)

    def start(self) -> None:
        self._stack.enter_context(self._actors)

    def _add(self, trajectory: Trajectory) -> None:
        self.store.add(trajectory)
        self.groups.add(trajectory)

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
