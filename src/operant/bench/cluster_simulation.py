"""How a cluster behaves with many desktops, without them: everything between desktops and learner is real.

Desktops are recorded latencies, the model answers after a fixed time whatever the batch, the learner takes a fixed
time for an update. What is left is what this machine does per rollout: Ray's calls, the store, its disk, the versions.
"""

from __future__ import annotations

import math
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import ray
import torch

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.backends.local import LocalBackend
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation
from operant.bench.recorded_latencies import Latencies
from operant.bench.simulated_environment import SimulatedEnvironment
from operant.cluster.actor_handles import ActorHandles
from operant.cluster.experience_actor import ExperienceStatus
from operant.cluster.inference import InferenceActor
from operant.cluster.launching import launch_actors
from operant.cluster.ray_connection import connected
from operant.cluster.versions import packed
from operant.config.vlm import SamplingSettings
from operant.config.vlm_training import VLMTrainingConfig
from operant.train.vlm.trajectory_store import decode
from operant.types import Size

__all__ = ["Scenario", "simulate"]

TOKENS = 24
BATCH = 1024
PICTURE = Size(96, 60)
GROUP = 8
DESKTOPS_PER_PROCESS = 250
LORA_BYTES = 4 << 20
SAMPLING_INTERVAL_S = 0.5  # between two looks at the store


@dataclass(frozen=True)
class Scenario:
    """One size of cluster."""

    desktops: int
    answer_s: float = 1.0
    """For the answers to a batch, however large: as many GPUs as it takes."""
    update_share: float = 0.3
    """What an update takes, as a share of a mean episode."""
    max_staleness: int = 2
    warm_up_s: float = 12.0
    seconds: float = 20.0
    seed: int = 0

    def episode_s(self, latencies: Latencies) -> float:
        """A mean episode, if the only wait is for the batch that is being answered: half of one on average."""
        return latencies.mean_s + latencies.mean_steps * self.answer_s * (1.0 if self.desktops == 1 else 1.5)


class SleepingModel:
    """As much of a model as a backend needs; it answers every request alike."""

    def __init__(self, answer_s: float) -> None:
        self.answer_s = answer_s
        self.sampling = SamplingSettings()
        self.family = SimpleNamespace(units=Units.THOUSANDTHS)
        self.turn = threading.RLock()
        self._weights = {"adapter": torch.zeros(LORA_BYTES // 4)}

    def trainable(self) -> dict[str, torch.Tensor]:
        return self._weights

    def shown(self, screen: Size) -> Size:
        return PICTURE

    def generate(
        self, prompts: Sequence[Prompt], sampling: SamplingSettings, *, seeds: Sequence[int], version: int
    ) -> list[Generation]:
        time.sleep(self.answer_s)
        return [Generation("wait()", (1,) * TOKENS, (-1.0,) * TOKENS, (version,) * TOKENS) for _ in prompts]


class SleepingInference(InferenceActor):
    """``model.name`` is the number of seconds."""

    def make_backend(self) -> Backend:
        model: Any = SleepingModel(float(self._config.model.name))
        return LocalBackend(model, max_batch=BATCH)


@dataclass
class _Watched:
    """What was seen of the store, twice a second."""

    statuses: list[ExperienceStatus] = field(default_factory=list)
    delays_ms: list[float] = field(default_factory=list)

    def watch(self, handles: ActorHandles, stop: threading.Event) -> None:
        while not stop.wait(SAMPLING_INTERVAL_S):
            began = time.perf_counter()
            self.statuses.append(ray.get(handles.experience.status.remote()))
            self.delays_ms.append((time.perf_counter() - began) * 1000)


def simulate(scenario: Scenario, latencies: Latencies, address: str = "local") -> dict[str, float]:
    """Run a cluster of that size for a while on this machine; what came of it."""
    processes = math.ceil(scenario.desktops / DESKTOPS_PER_PROCESS)
    config = VLMTrainingConfig.build(
        model={"name": str(scenario.answer_s)},
        actor={"num_actors": scenario.desktops},
        training={
            "algorithm": "reinforce",
            "group_size": GROUP,
            "groups_per_update": max(1, scenario.desktops // GROUP),
            "max_staleness": scenario.max_staleness,
            "seed": scenario.seed,
        },
        cluster={
            "environment_actors": processes,
            "environment_cpus": 0,
            "inference_cpus": 0,
            "learner_cpus": 0,
        },
    )
    with (
        tempfile.TemporaryDirectory(prefix="operant-scaling-") as name,
        connected(address, config.cluster),
    ):
        handles = launch_actors(
            config, Path(name), latencies, environment=SimulatedEnvironment, inference=SleepingInference
        )
        playing = [actor.play.remote() for actor in handles.environments]
        try:
            measured = _learn(
                scenario, handles, playing, scenario.update_share * scenario.episode_s(latencies)
            )
        finally:
            ray.get(handles.experience.end.remote())
            ray.wait(playing, num_returns=len(playing), timeout=5.0)
            for actor in handles.all():
                ray.kill(actor)
    ideal = scenario.desktops / scenario.episode_s(latencies)
    return {
        "desktops": float(scenario.desktops),
        "environment_processes": float(processes),
        "ideal_episodes_per_s": ideal,
        "efficiency": measured["episodes_per_s"] / ideal,
        "steps_per_s": measured["episodes_per_s"] * latencies.mean_steps,
        **measured,
    }


def _learn(
    scenario: Scenario, handles: ActorHandles, playing: list[Any], update_s: float
) -> dict[str, float]:
    """The learner's part, without learning. An environment that fails meanwhile is raised here."""
    weights = {"adapter": torch.zeros(LORA_BYTES // 4)}
    ray.get([actor.start.remote() for actor in handles.inference])
    ray.get(handles.experience.open.remote(0, [], None))
    ray.get(handles.versions.publish.remote(0, packed(Weights(0, weights)), None))
    ray.get(handles.experience.start.remote())
    watched, stop = _Watched(), threading.Event()
    watcher = threading.Thread(target=watched.watch, args=(handles, stop), daemon=True)
    ages: list[int] = []
    update = 0
    began = time.perf_counter()
    first: tuple[float, int, int, float] | None = None
    while time.perf_counter() < began + scenario.warm_up_s + scenario.seconds:
        if first is None and time.perf_counter() > began + scenario.warm_up_s:
            status: ExperienceStatus = ray.get(handles.experience.status.remote())
            first = time.perf_counter(), status.episodes, update, _busy_s()
            watcher.start()
        batch = ray.get(handles.experience.gather.remote(update + 1, SAMPLING_INTERVAL_S))
        if batch is None:
            ended, _ = ray.wait(playing, timeout=0)
            ray.get(ended)
            continue
        found = [decode(data, pictures=False) for data in batch.encoded]
        if first is not None:
            ages += [update - one.oldest_version for one in found]
        time.sleep(update_s)
        update += 1
        ray.get(handles.versions.publish.remote(update, packed(Weights(update, weights)), None))
        ray.get(handles.experience.advance.remote(update))
        ray.get(handles.experience.learned.remote([one.id for one in found]))
    assert first is not None
    last: ExperienceStatus = ray.get(handles.experience.status.remote())
    elapsed = time.perf_counter() - first[0]
    stop.set()
    watcher.join(5.0)
    return {
        "episodes_per_s": (last.episodes - first[1]) / elapsed,
        "updates": float(update - first[2]),
        "mean_staleness": _mean(ages),
        "max_staleness": float(max(ages, default=0)),
        "env_utilisation": last.utilisation,
        "waiting_actors": _mean([one.waiting_actors for one in watched.statuses]),
        "queued_groups": _mean([one.queued_groups for one in watched.statuses]),
        "store_delay_p50_ms": float(np.median(watched.delays_ms)) if watched.delays_ms else 0.0,
        "store_delay_max_ms": max(watched.delays_ms, default=0.0),
        "machine_busy_cores": (_busy_s() - first[3]) / elapsed,
    }


def _busy_s() -> float:
    """Seconds that all processors together have worked, for any process."""
    user, nice, system, *_ = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system) / 100


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
