"""A training run on a cluster, from the driver's side: start all actors, watch, replace those that are gone, end all.

Ray restarts actors; the driver only learns of it (a call to them failed), has their unfinished rollouts played by
others, and calls them again. The work itself never passes through here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import ActorUnavailableError, RayActorError, RayError, RayTaskError

from operant.cluster.actor_handles import ActorHandles
from operant.cluster.environment_actor import EnvironmentActor
from operant.cluster.launching import launch_actors, launch_learner
from operant.cluster.ray_connection import check_resources, connected
from operant.config.vlm_training import VLMTrainingConfig
from operant.errors import ClusterError, OperantError
from operant.train.vlm.desktops import desktop_factory
from operant.train.vlm.parts import base_model
from operant.train.vlm.run_directory import check_directory, claim, hold
from operant.train.vlm.tasks import phrasings, task_source

__all__ = ["ClusterRun"]

WATCH_INTERVAL_S = 1.0  # between two looks at the actors
SAVE_S = 120.0
GOODBYE_S = 15.0


class ClusterRun:
    """One run in one directory on one cluster, which is ``local``, ``auto`` or ``ray://HOST:PORT``.

    The directory has to be the same for all machines of the cluster. ``desktops``, ``tasks`` and the whole
    ``environment`` may be replaced.
    """

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        *,
        address: str = "local",
        resume: bool = False,
        desktops: Any = None,
        tasks: Sequence[Any] | None = None,
        on_progress: Callable[[str], None] = lambda line: None,
        environment: type = EnvironmentActor,
    ) -> None:
        self.config = config
        self.directory = directory.resolve()
        self.address = address
        self.on_progress = on_progress
        self._desktops = desktops
        self._tasks = tasks
        self._environment = environment
        # A mistake in these is told before anything starts.
        self._phrases = phrasings(task_source(config, tasks), config.desktop.actions)
        if desktops is None:
            desktop_factory(config)
        check_directory(self.directory, resume=resume)
        with hold(self.directory):
            claim(self.directory, config, resume=resume)
        self._reported = 0
        self._deaths = 0
        self._failed: set[int] = set()

    def train(self) -> Path | None:
        """Train to the end; the model's directory, or nothing if it was stopped."""
        # Before many look for it.
        base_model(self.config.model, self.directory, self.config.training.seed, self._phrases)
        with connected(self.address, self.config.cluster):
            check_resources(self.config.cluster)
            handles = launch_actors(
                self.config, self.directory, self._desktops, self._tasks, environment=self._environment
            )
            learner: Any = None
            try:
                learner = launch_learner(self.config, self.directory, self._tasks)
                return self._watch(handles, learner)
            finally:
                _end_actors(handles, learner)

    def _watch(self, handles: ActorHandles, learner: Any) -> Path | None:
        # A model that can't be loaded is reported as soon as one actor has tried.
        starting = [actor.start.remote() for actor in handles.inference]
        learning = learner.train.remote()
        playing = {actor.play.remote(): index for index, actor in enumerate(handles.environments)}
        while True:
            for call in self._look(learner, [learning, *starting, *playing]):
                if call in playing:
                    index = playing.pop(call)
                    if self._plays_on(handles, index, call):
                        playing[handles.environments[index].play.remote()] = index
                elif call in starting:
                    starting.remove(call)
                    with suppress(RayActorError):  # its callers wait until it is back
                        _result(call)
                else:
                    try:
                        model = _result(call)
                    except RayActorError as error:
                        learning = self._learns_on(learner, error)
                        continue
                    self._report_news(learner)
                    return Path(model) if model else None

    def _learns_on(self, learner: Any, error: RayActorError) -> Any:
        """The learner is gone, or still being started again; Ray does that only so often."""
        if not isinstance(error, ActorUnavailableError):
            self._deaths += 1
        if self._deaths > self.config.cluster.learner_restarts:
            raise ClusterError(
                f"the learner died {self._deaths} times", hint="--resume goes on from its checkpoint"
            ) from error
        if self._reported:
            self.on_progress("the learner is gone: another goes on from its checkpoint")
        self._reported = 0
        time.sleep(WATCH_INTERVAL_S)
        return learner.train.remote()

    def _look(self, learner: Any, calls: list[Any]) -> list[Any]:
        """What has ended; passes on what the learner says meanwhile."""
        try:
            done, _ = ray.wait(calls, num_returns=1, timeout=WATCH_INTERVAL_S)
            self._report_news(learner)
        except KeyboardInterrupt:
            self.on_progress("stopping after this update")
            learner.stop.remote()
            ray.wait(calls[:1], timeout=SAVE_S)
            raise
        return list(done)

    def _report_news(self, learner: Any) -> None:
        try:
            lines = ray.get(learner.news.remote(self._reported), timeout=WATCH_INTERVAL_S)
        except RayError:
            return  # it is busy, or gone; it tells later
        self._reported += len(lines)
        for line in lines:
            self.on_progress(line)

    def _plays_on(self, handles: ActorHandles, index: int, call: Any) -> bool:
        """An environment actor has ended: others play what it had begun. Whether it is to play again."""
        name = f"environment-{index}"
        try:
            _result(call)
            return False
        except RayActorError as error:
            lost = ray.get(handles.experience.release.remote(name))
            being_started = isinstance(error, ActorUnavailableError) and not lost
            if not being_started:
                self.on_progress(f"{name} is gone with {lost} episodes: they are played again")
            return True
        except OperantError as error:
            ray.get(handles.experience.release.remote(name))
            self._failed.add(index)
            if len(self._failed) == len(handles.environments):
                raise
            self.on_progress(f"{name} can't play: {error.message}")
            return False


def _result(calls: Any) -> Any:
    """What calls return; an error of ours without Ray's wrapping."""
    try:
        return ray.get(calls)
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, OperantError):
            raise cause from None
        raise ClusterError(f"{type(cause).__name__}: {cause}") from error


def _end_actors(handles: ActorHandles, learner: Any) -> None:
    """Close desktops first; then end all actors."""
    try:
        ray.get(handles.experience.end.remote(), timeout=GOODBYE_S)
        ray.wait(
            [actor.close.remote() for actor in handles.environments],
            num_returns=len(handles.environments),
            timeout=GOODBYE_S,
        )
    except RayError:
        pass  # they are killed anyway
    for actor in [*([learner] if learner is not None else []), *handles.all()]:
        ray.kill(actor)
