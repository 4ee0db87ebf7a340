"""What a run is made of: the model that learns, the one that answers, the learner, and where tasks come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.loading import limit_threads
from operant.agents.vlm.tiny import build_tiny_vlm
from operant.agents.vlm.wrapper import VLMWrapper
from operant.config.desktop import DesktopConfig
from operant.config.vlm import ModelSettings
from operant.config.vlm_training import EnvironmentSettings, VLMTrainingConfig
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_source import TaskSource
from operant.errors import ConfigError, MissingDependency, TaskError
from operant.learn.vlm import make_algorithm
from operant.learn.vlm.entropulse import Entropulse
from operant.learn.vlm.replay import SuccessReplay
from operant.learn.vlm.trainer import Trainer
from operant.tasks.template import Template

__all__ = ["DesktopFactory", "Parts", "desktop_config", "desktop_factory", "phrasings", "task_source"]

DesktopFactory: TypeAlias = Callable[[DesktopConfig], SandboxDesktop]
TINY = "tiny:"
BLANK = re.compile(r"\{[^}]*\}")


class Parts:
    """The learner's side of a run.

    ``weights`` is a checkpoint's model to go on from; ``phrases`` is what a tiny model's tokenizer should know.
    """

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        weights: Path | None = None,
        phrases: Sequence[str] = (),
    ) -> None:
        if config.training.threads is not None:
            limit_threads(config.training.threads)
        self.config = config
        self._settings = _base(config.model, directory, config.training.seed, phrases)
        self._weights = weights
        self.vlm = self._model()
        if config.model.name.startswith(TINY):  # it can be evaluated as it was before training
            self.vlm.save_about(Path(self._settings.name))
        settings = config.training
        try:
            algorithm = make_algorithm(settings.algorithm, **settings.options)
        except TypeError as error:
            raise ConfigError(f"training.options: {error}") from error
        self.trainer = Trainer(
            self.vlm,
            algorithm,
            settings.batch_size,
            settings.learning_rate,
            micro_batch=settings.micro_batch,
            critic_learning_rate=settings.critic_learning_rate,
            max_grad_norm=settings.max_grad_norm,
            target_kl=settings.target_kl,
            seed=settings.seed,
        )
        self.pulse: Entropulse | None = None
        self.successes: SuccessReplay | None = None
        if settings.entropulse is not None:
            options = settings.entropulse.model_dump(exclude={"per_task", "epochs"})
            self.pulse = Entropulse(**options)
            self.successes = SuccessReplay(settings.entropulse.per_task, by_instance=False)
        self.inference: Backend

    def _model(self) -> VLMWrapper:
        settings = self._settings
        if self._weights is not None:  # adapters name their model, a whole model is one
            settings = settings.model_copy(update={"name": str(self._weights)})
        return VLMWrapper(settings, prompt=self.config.prompt, sampling=self.config.sampling)

    @contextmanager
    def backend(self, version: int) -> Iterator[Backend]:
        """Who answers the actors, while the context lasts."""
        self.inference = self._server() if self.config.inference else self._copy(version)
        with self.inference:
            yield self.inference

    def _copy(self, version: int) -> Backend:
        from operant.agents.vlm.backends.local import LocalBackend

        backend = LocalBackend(self._model(), max_batch=self.config.actor.max_batch)
        backend.load(Weights(version, self.trainer.weights()))
        return backend

    def _server(self) -> Backend:
        from operant.agents.vlm.backends.server import ServerBackend

        assert self.config.inference is not None
        return ServerBackend(self.config.inference, self.config.sampling, need_tokens=True)

    @contextmanager
    def learning_rate(self, value: float | None) -> Iterator[None]:
        """Another learning rate for a while."""
        group = self.trainer.optimiser.param_groups[0]
        before = group["lr"]
        group["lr"] = before if value is None else value
        try:
            yield
        finally:
            group["lr"] = before

    def state(self) -> dict[str, Any]:
        if self.pulse is None or self.successes is None:
            return {}
        return {"pulse": self.pulse.state(), "successes": self.successes.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        if self.pulse is not None and self.successes is not None and state:
            self.pulse.restore(state["pulse"])
            self.successes.restore(state["successes"])


def _base(settings: ModelSettings, directory: Path, seed: int, phrases: Sequence[str]) -> ModelSettings:
    """The settings with a tiny model's name replaced by the model that was made in the run's directory."""
    if not settings.name.startswith(TINY):
        return settings
    place = directory / "base_model"
    if not (place / "config.json").is_file():
        family, _, size = settings.name.removeprefix(TINY).partition(":")
        build_tiny_vlm(place, family, seed=seed, phrases=phrases, **_tiny_size(size))
    return settings.model_copy(update={"name": str(place)})


def _tiny_size(text: str) -> dict[str, int]:
    """``192x4`` is 192 wide with 4 layers."""
    if not text:
        return {}
    found = re.fullmatch(r"(\d{1,4})x(\d{1,2})", text)
    if found is None or int(found[1]) < 32 or int(found[1]) % 16 or int(found[2]) < 1:
        raise ConfigError(
            f"{text!r} is no size of a tiny model", hint="WIDTHxLAYERS, the width a multiple of 16: 192x4"
        )
    return {"width": int(found[1]), "layers": int(found[2])}


def phrasings(source: TaskSource) -> list[str]:
    """How the tasks of a source are worded, between their blanks."""
    found: dict[str, None] = {}
    for one in source.tasks:
        worded = one.instructions if isinstance(one, Template) else (one.instruction,)
        for text in worded:
            found |= dict.fromkeys(part for part in BLANK.split(f"Task: {text}\n") if part)
    return list(found)


def task_source(settings: EnvironmentSettings, tasks: Sequence[Any] | None = None) -> TaskSource:
    """Where tasks are drawn from; ``tasks`` in place of the suite."""
    if tasks is None:
        source = TaskSource.of(settings.suite, settings.split, settings.difficulty)
    else:
        source = TaskSource(tasks, settings.split)
    if not settings.tasks:
        return source
    known = {one.id: one for one in source.tasks}
    missing = [name for name in settings.tasks if name not in known]
    if missing:
        raise TaskError(
            f"there is no task {missing[0]!r} to train on in suite {settings.suite!r}",
            hint=f"operant tasks list --suite {settings.suite}",
        )
    return TaskSource([known[name] for name in settings.tasks], settings.split)


def desktop_config(settings: EnvironmentSettings) -> DesktopConfig:
    return DesktopConfig(width=settings.width, height=settings.height)


def desktop_factory(settings: EnvironmentSettings) -> DesktopFactory:
    """Where desktops come from: this machine, or the servers that the settings name.

    Servers are asked at once, before a large model is loaded for nothing.
    """
    if not settings.ui_env_urls:
        return SandboxDesktop
    try:
        from operant.desktop.remote import RemoteFleet
    except ImportError as error:
        raise MissingDependency(
            f"remote desktops need {error.name}", hint='pip install "operant[remote]"'
        ) from error
    fleet = RemoteFleet(
        settings.ui_env_urls,
        token_variable=settings.ui_env_token_variable,
        timeout_s=settings.ui_env_timeout_s,
    )
    fleet.check(desktop_config(settings))
    return fleet.lease
