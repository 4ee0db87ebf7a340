"""The named actors of a run on a cluster. Each finds the others by their names, whenever it was started."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray

from operant.config.vlm_training import VLMTrainingConfig

__all__ = [
    "EXPERIENCE", "LEARNER", "VERSIONS", "ActorHandles", "environment_names", "inference_names", "namespace_of", "shares",
]  # fmt: skip

EXPERIENCE = "experience"
VERSIONS = "versions"
LEARNER = "learner"


@dataclass(frozen=True)
class ActorHandles:
    """Handles of all actors that serve a learner."""

    experience: Any
    versions: Any
    inference: tuple[Any, ...]
    environments: tuple[Any, ...]
    episodes: tuple[int, ...]
    """That each environment actor plays at once."""

    @classmethod
    def find(cls, config: VLMTrainingConfig, directory: Path) -> ActorHandles:
        """Those of the run in that directory."""
        namespace = namespace_of(directory)
        return cls(
            ray.get_actor(EXPERIENCE, namespace),
            ray.get_actor(VERSIONS, namespace),
            tuple(ray.get_actor(name, namespace) for name in inference_names(config)),
            tuple(ray.get_actor(name, namespace) for name in environment_names(config)),
            shares(config),
        )

    def desktops(self) -> Iterator[Any]:
        """Each environment actor as often as it has desktops."""
        for actor, episodes in zip(self.environments, self.episodes, strict=True):
            yield from [actor] * episodes

    def all(self) -> list[Any]:
        return [*self.environments, *self.inference, self.versions, self.experience]


def namespace_of(directory: Path) -> str:
    """One for each run's directory: the names in it are taken while the run lasts."""
    return f"operant-{hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:16]}"


def inference_names(config: VLMTrainingConfig) -> list[str]:
    """One process is enough to ask a server, and adapters are loaded there once."""
    count = 1 if config.inference is not None else config.cluster.inference_actors
    return [f"inference-{index}" for index in range(count)]


def environment_names(config: VLMTrainingConfig) -> list[str]:
    return [f"environment-{index}" for index in range(config.cluster.environment_actors)]


def shares(config: VLMTrainingConfig) -> tuple[int, ...]:
    """Episodes that each environment actor plays at once, as evenly as can be."""
    count, among = config.environment.desktops or config.actor.num_actors, config.cluster.environment_actors
    return tuple(max(1, (count + index) // among) for index in reversed(range(among)))
