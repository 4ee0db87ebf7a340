"""What a run is made of: the model that learns, the one that answers, and the learner."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.loading import limit_threads
from operant.agents.vlm.tiny import build_tiny_vlm
from operant.agents.vlm.wrapper import VLMWrapper
from operant.atomic_files import is_full_disk, write_problem
from operant.config.vlm import ModelSettings
from operant.config.vlm_training import TrainingSettings, VLMTrainingConfig
from operant.errors import ConfigError, NoSpaceLeft
from operant.learn.vlm import make_algorithm
from operant.learn.vlm.base import Algorithm
from operant.learn.vlm.entropulse import Entropulse
from operant.learn.vlm.replay import SuccessReplay
from operant.learn.vlm.trainer import Trainer

__all__ = ["Parts", "algorithm_of", "base_model"]

TINY = "tiny:"


class Parts:
    """The learner's side of a run.

    ``weights`` is a checkpoint's model to go on from, ``phrases`` is what a tiny model's tokenizer should know, and
    ``make_trainer`` may make one that learns together with others.
    """

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        weights: Path | None = None,
        phrases: Sequence[str] = (),
        make_trainer: Callable[..., Trainer] = Trainer,
    ) -> None:
        if config.training.threads is not None:
            limit_threads(config.training.threads)
        self.config = config
        self._settings = base_model(config.model, directory, config.training.seed, phrases)
        self._weights = weights
        self.vlm = self._model()
        if config.model.name.startswith(TINY):  # it can be evaluated as it was before training
            self.vlm.save_about(Path(self._settings.name))
        settings = config.training
        algorithm = algorithm_of(settings)
        self.trainer = make_trainer(
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


def algorithm_of(settings: TrainingSettings) -> Algorithm:
    try:
        return make_algorithm(settings.algorithm, **settings.options)
    except TypeError as error:
        raise ConfigError(f"training.options: {error}") from error


def base_model(
    settings: ModelSettings, directory: Path, seed: int, phrases: Sequence[str] = ()
) -> ModelSettings:
    """The settings with a tiny model's name replaced by the model that was made in the run's directory.

    Several processes may do this at once: the first that is done has made it.
    """
    if not settings.name.startswith(TINY):
        return settings
    place = directory / "base_model"
    if not (place / "config.json").is_file():
        family, _, size = settings.name.removeprefix(TINY).partition(":")
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".base_model.", dir=directory) as made:
            size_of = _tiny_size(size)
            try:
                build_tiny_vlm(Path(made) / "model", family, seed=seed, phrases=phrases, **size_of)
            except Exception as error:  # safetensors and PyTorch have types of their own for it
                if not is_full_disk(error):
                    raise
                raise NoSpaceLeft(
                    write_problem(place, error), hint="make room there, or choose another --output"
                ) from error
            with suppress(OSError):
                os.rename(Path(made) / "model", place)
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
