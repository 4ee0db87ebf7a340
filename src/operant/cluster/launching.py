"""Start the actors of a run: what each asks of a machine, where it may be, and how often it is replaced.

Everything that can be restored is restarted by Ray without end; the learner, whose crashes may have a reason, a few
times. Store, versions and a learner without a GPU stay on the driver's machine as long as that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from operant.cluster.actor_handles import (
    EXPERIENCE,
    LEARNER,
    VERSIONS,
    ActorHandles,
    environment_names,
    inference_names,
    namespace_of,
    shares,
)
from operant.cluster.environment_actor import EnvironmentActor
from operant.cluster.experience_actor import ExperienceActor
from operant.cluster.inference import InferenceActor
from operant.cluster.learner import Learner
from operant.cluster.versions import Versions
from operant.config.cluster import KEEPER_CPUS
from operant.config.vlm_training import VLMTrainingConfig
from operant.errors import ConfigError

__all__ = ["launch_actors", "launch_learner"]

CONCURRENT_CALLS = 100_000  # calls that wait at once cost an asynchronous actor nothing
ENDLESS = -1
QUESTIONS = 3  # threads of the learner: one learns, the others answer


def launch_actors(
    config: VLMTrainingConfig,
    directory: Path,
    desktops: Any = None,
    tasks: Sequence[Any] | None = None,
    *,
    environment: type = EnvironmentActor,
    inference: type = InferenceActor,
) -> ActorHandles:
    """Start all actors but the learner. ``environment`` and ``inference`` may be other classes."""
    settings = config.cluster
    common: dict[str, Any] = {"namespace": namespace_of(directory), "max_restarts": ENDLESS}
    keeping: dict[str, Any] = {**common, "num_cpus": KEEPER_CPUS, "max_task_retries": ENDLESS, **_at_home()}
    answering: dict[str, Any] = {
        **common,
        "num_cpus": settings.inference_cpus,
        "num_gpus": settings.inference_gpus,
        "max_concurrency": CONCURRENT_CALLS,
        "scheduling_strategy": "SPREAD",
    }
    playing: dict[str, Any] = {
        **common,
        "num_cpus": settings.environment_cpus,
        "scheduling_strategy": "SPREAD",
    }
    try:
        experience = (
            ray.remote(ExperienceActor)
            .options(name=EXPERIENCE, max_concurrency=CONCURRENT_CALLS, **keeping)
            .remote(config, directory, tasks)
        )
    except ValueError as error:
        raise ConfigError(
            f"another run is at work in {directory} on this cluster", hint="choose another directory"
        ) from error
    names = inference_names(config)
    versions = ray.remote(Versions).options(name=VERSIONS, **keeping).remote(names, namespace_of(directory))
    answerers = tuple(
        ray.remote(inference).options(name=name, **answering).remote(config, directory) for name in names
    )
    environments = tuple(
        ray.remote(environment)
        .options(name=name, max_concurrency=2 + share, **playing)
        .remote(config, directory, name, share, desktops, tasks)
        for name, share in zip(environment_names(config), shares(config), strict=True)
    )
    return ActorHandles(experience, versions, answerers, environments, shares(config))


def launch_learner(config: VLMTrainingConfig, directory: Path, tasks: Sequence[Any] | None = None) -> Any:
    settings = config.cluster
    return (
        ray.remote(Learner)
        .options(
            name=LEARNER,
            namespace=namespace_of(directory),
            num_cpus=settings.learner_cpus,
            num_gpus=settings.learner_gpus,
            max_restarts=settings.learner_restarts,
            max_concurrency=QUESTIONS,
            **({} if settings.learner_gpus else _at_home()),
        )
        .remote(config, directory, tasks)
    )


def _at_home() -> dict[str, Any]:
    node = ray.get_runtime_context().get_node_id()
    return {"scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=True)}
