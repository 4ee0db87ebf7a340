"""A training run: demonstrations first if wanted, then actors and learner side by side until it is done.

The run is the learner's side, and the same for threads of this process and for a cluster. Its directory
holds all that ``--resume`` needs.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from operant.agents.checkpoint_files import save_problem
from operant.agents.vlm.answers import can_call
from operant.agents.vlm.backends.base import Weights
from operant.agents.vlm.trajectory import Trajectory
from operant.atomic_files import is_full_disk
from operant.config.vlm_training import VLMTrainingConfig
from operant.errors import ConfigError, NoSpaceLeft
from operant.learn.vlm.checkpoint import MODEL, arrays, load_state, newest, prune, write_checkpoint
from operant.learn.vlm.journal import Journal
from operant.learn.vlm.sft import SFT
from operant.learn.vlm.trainer import Trainer, about
from operant.train.vlm.cold_start import demonstrations
from operant.train.vlm.collection import Collection, LocalCollection
from operant.train.vlm.desktops import DesktopFactory, desktop_factory
from operant.train.vlm.groups import Gathered
from operant.train.vlm.parts import Parts
from operant.train.vlm.run_directory import CHECKPOINTS, DEMONSTRATIONS, check_directory, claim, hold
from operant.train.vlm.tasks import phrasings, task_source
from operant.train.vlm.trajectory_store import TrajectoryStore

__all__ = ["VLMRun"]


class VLMRun:
    """One run in one directory. ``desktops`` and ``tasks`` may be replaced, by fakes for instance.

    ``collection`` and ``make_trainer`` are how a cluster takes the place of this process's threads.
    """

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        *,
        resume: bool = False,
        desktops: DesktopFactory | None = None,
        tasks: Sequence[Any] | None = None,
        on_progress: Callable[[str], None] = lambda line: None,
        collection: Callable[[Parts], Collection] | None = None,
        make_trainer: Callable[..., Trainer] = Trainer,
    ) -> None:
        words, actions = config.prompt.action_format, config.desktop.actions
        if actions != "gui" and not can_call(words):
            raise ConfigError(
                f"desktop.actions: {actions} allows calls, and the format {words} has no words for them",
                hint="prompt.action_format: json with a larger sampling.max_new_tokens, as in "
                "config/vlm_tiny_calls_cpu.yaml; or --actions gui",
            )
        self.config = config
        self.directory = directory
        self.on_progress = on_progress
        self.source = task_source(config, tasks)
        check_directory(directory, resume=resume)
        self._lock = hold(directory)
        claim(directory, config, resume=resume)
        found = newest(directory / CHECKPOINTS)
        if collection is None and desktops is None:
            desktops = desktop_factory(config)  # before a large model is loaded for nothing
        weights = found / MODEL if found else None
        self.parts = Parts(
            config, directory, weights, phrasings(self.source, config.desktop.actions), make_trainer
        )
        self.trainer = self.parts.trainer
        self.collection: Collection
        if collection is None:
            self.collection = LocalCollection(config, directory, self.source, self.parts, desktops)
        else:
            self.collection = collection(self.parts)
        self.iteration = 0
        self.supervised = 0
        """SFT updates on demonstrations."""
        self.demonstrated = False
        self._collected: dict[str, Any] | None = None
        if found is not None:
            self._restore(load_state(found))

    def _restore(self, state: dict[str, Any]) -> None:
        self.iteration, self.demonstrated = int(state["iteration"]), bool(state["demonstrated"])
        self.supervised = int(state.get("supervised", 0))
        trainer = state["trainer"]
        self.trainer.restore({**trainer, "algorithm": arrays(trainer["algorithm"])})
        self.parts.restore(arrays(state["entropulse"]))
        self._collected = state["groups"]

    # Running.

    def train(self) -> Path:
        """Train to the end; the directory of the model that came out."""
        with Journal(self.directory, self.on_progress) as journal, self.collection:
            kept = self.collection.open(self.iteration, self.trainer.used, self._collected)
            if self.iteration or kept.waiting:
                torn = f"; {kept.torn} more were cut short and are left out" if kept.torn else ""
                self.on_progress(
                    f"going on from update {self.iteration}, with {kept.waiting} episodes that wait{torn}"
                )
            elif self.supervised:
                self.on_progress(f"going on from SFT update {self.supervised}")
            try:
                if (
                    self.trainer.version or not self.collection.wants_directory
                ):  # a server has the model itself
                    self._publish()
                self._demonstrate(journal)
                self._reinforce(journal)
            except NoSpaceLeft:
                raise  # there is none for another checkpoint either
            except BaseException:
                if self.demonstrated or self.iteration:
                    self.save()
                raise
            return self.save() / MODEL

    def _demonstrate(self, journal: Journal) -> None:
        settings = self.config.training
        if self.demonstrated or not settings.demonstrations:
            return
        place = self.directory / DEMONSTRATIONS
        store = TrajectoryStore(place, needs_space=settings.when_disk_full == "stop")
        shown = demonstrations(self.collection.demonstrate, self.source, self.config, store, self.on_progress)
        with self.parts.learning_rate(settings.demonstration_learning_rate):
            saved = False
            while not self.demonstrated:
                began = time.perf_counter()
                metrics = self.trainer.train_step(shown, SFT(), reuse=True)
                self.supervised += 1
                self.demonstrated = self.supervised >= settings.demonstration_epochs
                metrics["seconds"] = time.perf_counter() - began
                journal.write(self.supervised, "sft", _of_demonstrations(metrics))
                saved = self._save_on_the_way()
        if saved:
            shutil.rmtree(place, ignore_errors=True)  # the checkpoint holds what was learned from them
        self._publish()

    def _reinforce(self, journal: Journal) -> None:
        settings = self.config.training
        if self.iteration >= settings.num_iterations:
            return
        self.collection.start()
        while self.iteration < settings.num_iterations:
            began = time.perf_counter()
            gathered = self.collection.gather(self.iteration + 1)
            collected = time.perf_counter()
            metrics = self._update(gathered)
            stats = self.collection.stats
            metrics |= {
                "seconds": time.perf_counter() - began,
                "waited_s": collected - began,
                "env_utilisation": stats.utilisation,
                "infra_errors": float(stats.infra_errors),
            }
            journal.write(self.iteration, "rl", metrics)
            if self.iteration % settings.checkpoint_every == 0:
                self._save_on_the_way()

    def _update(self, gathered: Gathered) -> dict[str, float]:
        metrics = self.trainer.train_step(gathered.trajectories)
        self.iteration += 1
        if gathered.seen:
            seen = about(gathered.seen, self.trainer.version)
            metrics |= {name: seen[name] for name in ("success_rate", "reward", "turns", "invalid")}
        metrics["filtered_groups"] = float(gathered.filtered)
        if not metrics["examples"]:
            logger.warning(
                "update {} learned nothing: in each of {} groups all episodes had the same reward",
                self.iteration,
                gathered.filtered,
            )
        metrics |= self._entropulse(gathered.seen, metrics)
        metrics["broadcast_bytes"] = float(self._publish())
        self.collection.advance(self.iteration)
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
        """Give the newest version to the inference backends; how many bytes that takes."""
        directory = None
        if self.collection.wants_directory:
            place = self.directory / "adapters" / f"version_{self.trainer.version:06d}"
            try:
                directory = self.parts.vlm.save(place)
            except Exception as error:  # safetensors has errors of its own, of no type in common
                if is_full_disk(error):
                    raise save_problem(place, error) from error
                raise
        return self.collection.publish(Weights(self.trainer.version, self.trainer.weights(), directory))

    def _save_on_the_way(self) -> bool:
        """A checkpoint that a later one may stand for, if the run is to go on when the disk is full."""
        try:
            self.save()
        except NoSpaceLeft as error:
            if self.config.training.when_disk_full == "stop":
                raise
            logger.warning("{}; the run goes on, and the next checkpoint is tried", error.message)
            return False
        return True

    def save(self) -> Path:
        self._collected = self.collection.state()
        state = {
            "iteration": self.iteration,
            "supervised": self.supervised,
            "demonstrated": self.demonstrated,
            "trainer": self.trainer.state(),
            "groups": self._collected,
            "entropulse": self.parts.state(),
        }
        checkpoints = self.directory / CHECKPOINTS
        done = {"sft": self.supervised, "rl": self.iteration}
        written = write_checkpoint(checkpoints, self.iteration, state, self.parts.vlm.save, done)
        prune(checkpoints, self.config.training.keep_checkpoints)
        self.collection.learned(self.trainer.used)
        return written

    def close(self) -> None:
        self._lock.close()


def _of_demonstrations(metrics: dict[str, float]) -> dict[str, float]:
    """Success and reward of an SFT update are the oracle's, not the model's."""
    oracles = {"success_rate": "demonstration_success", "reward": "demonstration_reward"}
    return {oracles.get(name, name): value for name, value in metrics.items()}
