"""A training run: demonstrations first if wanted, then actors and learner side by side until it is done.

One process: actors are threads, the model that answers them is a copy of the one that learns, and gets each new
version between two batches. The run's directory holds all that ``--resume`` needs.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from operant.agents.vlm.backends.base import Weights
from operant.agents.vlm.trajectory import Trajectory
from operant.config.vlm_training import VLMTrainingConfig
from operant.desktop.pool import DesktopPool
from operant.errors import CheckpointError, ConfigError
from operant.learn.vlm.checkpoint import MODEL, arrays, load_state, newest, prune, write_checkpoint
from operant.learn.vlm.journal import Journal
from operant.learn.vlm.sft import SFT
from operant.rollout.actors import MultiActorRunner, Rewards, TaskRunner
from operant.rollout.admission import Admission
from operant.rollout.experience import ExperienceStore
from operant.train.vlm.demonstrations import demonstrations
from operant.train.vlm.groups import Gathered, Groups
from operant.train.vlm.parts import (
    DesktopFactory,
    Parts,
    desktop_config,
    desktop_factory,
    phrasings,
    task_source,
)

__all__ = ["VLMRun"]

CONFIG = "config.yaml"
LEASE_S = 3600.0


class VLMRun:
    """One run in one directory. ``desktops`` and ``tasks`` may be replaced, by fakes for instance."""

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        *,
        resume: bool = False,
        desktops: DesktopFactory | None = None,
        tasks: Sequence[Any] | None = None,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.config = config
        self.directory = directory
        self.tell = tell
        self._lock = _lock(directory)
        found = newest(directory / "checkpoints")
        if found is not None and not resume:
            raise ConfigError(f"{directory} holds a run already", hint="say --resume, or choose another")
        if resume and found is None and not (directory / CONFIG).exists():
            raise CheckpointError(f"{directory} has nothing to go on from", hint="leave --resume out")
        (directory / CONFIG).write_text(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
        self.source = task_source(config.environment, tasks)
        self._desktops = desktops or desktop_factory(config.environment)
        settings = config.training
        self.parts = Parts(config, directory, found / MODEL if found else None, phrasings(self.source))
        self.trainer = self.parts.trainer
        self.admission = Admission(settings.group_size * settings.groups_per_update, settings.max_staleness)
        self.store = ExperienceStore(directory / "experience")
        self.groups = Groups(
            self.source,
            settings.group_size,
            self.trainer.algorithm.keeps,
            self.admission,
            self.store,
            settings.seed,
        )
        self.iteration = 0
        self.demonstrated = False
        if found is not None:
            self._restore(load_state(found))

    def _restore(self, state: dict[str, Any]) -> None:
        self.iteration, self.demonstrated = int(state["iteration"]), bool(state["demonstrated"])
        trainer = state["trainer"]
        self.trainer.restore({**trainer, "algorithm": arrays(trainer["algorithm"])})
        self.parts.restore(arrays(state["entropulse"]))
        kept = self.store.load(trainer["used"])
        self.admission.restore({"version": self.iteration, "accepted": self._accepted_by_now(len(kept))})
        self.groups.restore(state["groups"], kept)
        torn = f"; {len(self.store.torn)} more were cut short and are left out" if self.store.torn else ""
        self.tell(f"going on from update {self.iteration}, with {len(kept)} episodes that wait{torn}")

    def _accepted_by_now(self, waiting: int) -> int:
        return self.iteration * self.admission.batch + waiting

    # Running.

    def train(self) -> Path:
        """Train to the end; the directory of the model that came out."""
        actors = self.config.actor
        count = self.config.environment.desktops or actors.num_actors
        pool_settings = desktop_config(self.config.environment)
        with (
            Journal(self.directory, self.tell) as journal,
            DesktopPool(count, pool_settings, ttl_s=LEASE_S, factory=self._desktops) as pool,
            self.parts.backend(self.trainer.version),
        ):
            runner = TaskRunner(
                pool,
                self.parts.inference,
                prompt=self.config.prompt,
                rewards=Rewards(actors.success_reward, actors.invalid_reward),
                max_steps=actors.max_steps_per_episode,
                end_on_success=actors.end_on_success,
                episodes=self.directory / "episodes" if actors.keep_episodes else None,
            )
            try:
                self._demonstrate(runner, journal)
                self._reinforce(runner, journal)
            except BaseException:
                if self.demonstrated or self.iteration:
                    self.save()
                raise
            return self.save() / MODEL

    def _demonstrate(self, runner: TaskRunner, journal: Journal) -> None:
        settings = self.config.training
        if self.demonstrated or not settings.demonstrations:
            return
        shown = demonstrations(
            runner,
            self.source,
            self.parts.vlm,
            settings.demonstrations,
            settings.seed,
            self.tell,
            at_once=self.config.environment.desktops or self.config.actor.num_actors,
        )
        with self.parts.learning_rate(settings.demonstration_learning_rate):
            for epoch in range(settings.demonstration_epochs):
                began = time.perf_counter()
                metrics = self.trainer.train_step(shown, SFT(), reuse=True)
                metrics["seconds"] = time.perf_counter() - began
                journal.write(epoch + 1, "sft", metrics)
        self.demonstrated = True
        self._publish()
        self.save()

    def _reinforce(self, runner: TaskRunner, journal: Journal) -> None:
        settings = self.config.training
        if self.iteration >= settings.num_iterations:
            return
        with MultiActorRunner(
            self.config.actor.num_actors,
            runner,
            self.groups,
            self.admission,
            self.groups.add,
            self.groups.drop,
        ) as actors:
            while self.iteration < settings.num_iterations:
                began = time.perf_counter()
                gathered = self.groups.gather(
                    settings.groups_per_update, settings.refill_limit, lambda: _check(actors)
                )
                collected = time.perf_counter()
                metrics = self._update(gathered)
                metrics |= {
                    "seconds": time.perf_counter() - began,
                    "waited_s": collected - began,
                    "env_utilisation": actors.stats.utilisation,
                    "infra_errors": float(actors.stats.infra_errors),
                }
                journal.write(self.iteration, "rl", metrics)
                if self.iteration % settings.checkpoint_every == 0:
                    self.save()

    def _update(self, gathered: Gathered) -> dict[str, float]:
        metrics = self.trainer.train_step(gathered.trajectories)
        self.iteration += 1
        if gathered.seen:
            wins = [one.success for one in gathered.seen]
            metrics["success_rate"] = sum(wins) / len(wins)
            metrics["reward"] = sum(one.total_reward() for one in gathered.seen) / len(wins)
        metrics["filtered_groups"] = float(gathered.filtered)
        metrics |= self._entropulse(gathered.seen, metrics)
        metrics["broadcast_bytes"] = float(self._publish())
        self.admission.advance(self.iteration)
        return metrics

    def _entropulse(self, seen: Sequence[Trajectory], metrics: dict[str, float]) -> dict[str, float]:
        pulse, replay, settings = self.parts.pulse, self.parts.successes, self.config.training.entropulse
        if pulse is None or replay is None or settings is None:
            return {}
        replay.add(seen)
        pulse.observe(metrics.get("reward", 0.0), metrics.get("entropy", 0.0))
        successes = replay.sample(settings.per_task) if pulse.due else []
        if not successes:
            return {}
        learned = self.trainer.train_step(successes, SFT(epochs=settings.epochs), reuse=True)
        pulse.done()
        return {"entropulse_examples": learned["examples"], "entropulse_phases": float(pulse.phases)}

    def _publish(self) -> int:
        """Give the newest version to whoever answers; how many bytes that takes."""
        tensors = self.trainer.weights()
        directory = None
        if self.parts.inference.wants_directory:
            directory = self.parts.vlm.save(
                self.directory / "adapters" / f"version_{self.trainer.version:06d}"
            )
        self.parts.inference.load(Weights(self.trainer.version, tensors, directory))
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())

    def save(self) -> Path:
        state = {
            "iteration": self.iteration,
            "demonstrated": self.demonstrated,
            "trainer": self.trainer.state(),
            "groups": self.groups.state(),
            "entropulse": self.parts.state(),
        }
        checkpoints = self.directory / "checkpoints"
        written = write_checkpoint(checkpoints, self.iteration, state, self.parts.vlm.save)
        prune(checkpoints, self.config.training.keep_checkpoints)
        self.store.discard(self.trainer.used)
        return written

    def close(self) -> None:
        self._lock.close()


def _check(actors: MultiActorRunner) -> None:
    if actors.failure is not None:
        raise actors.failure


def _lock(directory: Path) -> Any:
    """Hold the directory: two learners in one would spoil both."""
    directory.mkdir(parents=True, exist_ok=True)
    file = open(directory / "lock", "w")  # noqa: SIM115 - held until the run is closed
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise ConfigError(
            f"another run is at work in {directory}", hint="choose another directory"
        ) from error
    return file
