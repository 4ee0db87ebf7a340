"""How vision-language training keeps its desktops and its learner busy: asynchronous against synchronous, same work.

A tiny model learns for real on Ray, on this machine. Desktops are recorded latencies (``operant bench latencies``), as if
they were on other machines: on two cores, real ones would take the learner's processors and hide what is asked here.
Both ways make the same updates of the same size one after the other, and are timed once both sides are under way.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from operant.agents.vlm.prompt import Prompt
from operant.bench.recorded_latencies import Latencies
from operant.bench.simulated_environment import SimulatedEnvironment
from operant.cluster.inference import make_backend
from operant.cluster.run import ClusterRun
from operant.config.vlm_training import VLMTrainingConfig
from operant.types import Size

__all__ = ["GOALS", "measure_vlm"]

Progress = Callable[[str], None]

#: (bound, whether smaller is better).
GOALS: dict[str, tuple[float, bool]] = {"async_speedup": (1.5, False), "env_utilisation": (0.8, False)}

WARM_UP = 2  # updates that are not timed
PROMPTS = 64
SETTINGS: dict[str, Any] = {
    "model": {"name": "tiny:qwen2_vl", "use_lora": True, "lora": {"r": 8}, "max_pixels": 26_000},
    "prompt": {"action_format": "ui_tars", "history": 0, "system": ""},
    "sampling": {"max_new_tokens": 12},
    "environment": {"suite": "core", "difficulty": "EASY"},
    "actor": {"num_actors": 16, "max_batch": 16},
    "training": {
        "algorithm": "reinforce",
        "group_size": 4,
        "groups_per_update": 4,
        "batch_size": 32,
        "micro_batch": 16,
        "learning_rate": 1e-5,
        "checkpoint_every": 1000,
        "threads": 1,
    },
    "cluster": {"environment_actors": 1},
}


def measure_vlm(
    progress: Progress,
    latencies: Latencies,
    *,
    updates: int = 8,
    epochs: int = 2,
    rounds: int = 2,
    seed: int = 0,
    address: str = "local",
) -> dict[str, Any]:
    """Everything, in turns: synchronous, asynchronous, and again."""
    seconds: dict[str, list[float]] = {"sync": [], "async": []}
    lines: dict[str, list[dict[str, float]]] = {"sync": [], "async": []}
    for number in range(rounds):
        for mode, staleness in (("sync", 0), ("async", 2)):
            progress(f"round {number + 1} of {rounds}: {mode}")
            found = _train(_config(updates, staleness, epochs, seed + number), latencies, address)
            lines[mode] += found[WARM_UP:]
            seconds[mode].append(found[-1]["time"] - found[WARM_UP - 1]["time"])
    progress("inference, batched and one by one")
    measured = {
        "seed": seed,
        "desktops": SETTINGS["actor"]["num_actors"],
        "desktop_latency_mean_s": latencies.mean_s,
        "updates_timed": (updates - WARM_UP) * rounds,
        "rollouts_per_update": 16,
        "rounds": rounds,
        "sync_s": sum(seconds["sync"]),
        "async_s": sum(seconds["async"]),
        "async_speedup": sum(seconds["sync"]) / sum(seconds["async"]),
        "async_speedup_by_round": [a / b for a, b in zip(seconds["sync"], seconds["async"], strict=True)],
        "sync_collecting_s": _mean(lines["sync"], "waited_s"),
        "sync_learning_s": _mean(lines["sync"], "seconds") - _mean(lines["sync"], "waited_s"),
        "env_utilisation": _mean(lines["async"], "env_utilisation"),
        "sync_env_utilisation": _mean(lines["sync"], "env_utilisation"),
        "mean_staleness": _mean(lines["async"], "staleness"),
        "max_staleness": max(line["max_staleness"] for line in lines["async"]),
        "bytes_per_broadcast": _mean(lines["async"], "broadcast_bytes"),
    }
    return {**measured, **_inference()}


def _config(updates: int, staleness: int, epochs: int, seed: int) -> VLMTrainingConfig:
    training = {
        **SETTINGS["training"],
        "num_iterations": updates,
        "max_staleness": staleness,
        "options": {"epochs": epochs},
        "seed": seed,
    }
    return VLMTrainingConfig.build(**{**SETTINGS, "training": training})  # type: ignore[no-any-return]


def _train(config: VLMTrainingConfig, latencies: Latencies, address: str) -> list[dict[str, float]]:
    with tempfile.TemporaryDirectory(prefix="operant-bench-vlm-") as name:
        directory = Path(name) / "run"
        ClusterRun(
            config, directory, address=address, desktops=latencies, environment=SimulatedEnvironment
        ).train()
        return [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]


def _inference() -> dict[str, float]:
    """Tokens a second of the same model on the same prompts, sixteen at once and one after the other."""
    found = {}
    whole = {**SETTINGS, "sampling": {"max_new_tokens": 24}}
    with tempfile.TemporaryDirectory(prefix="operant-bench-vlm-") as name:
        for label, batch in (("tokens_per_s", 16), ("tokens_per_s_one_by_one", 1)):
            config = VLMTrainingConfig.build(**{**whole, "actor": {**SETTINGS["actor"], "max_batch": batch}})
            with make_backend(config, Path(name)) as backend:
                shown = backend.shown(Size(1280, 800))
                picture = np.zeros((shown.height, shown.width, 3), np.uint8)
                prompts = [Prompt.of(picture, f"Task: press {number}") for number in range(PROMPTS)]
                backend.submit(prompts[0]).result()
                before, began = backend.stats.tokens, time.perf_counter()
                for answer in [backend.submit(prompt, seed=seed) for seed, prompt in enumerate(prompts)]:
                    answer.result()
                found[label] = (backend.stats.tokens - before) / (time.perf_counter() - began)
    return {**found, "batching_gain": found["tokens_per_s"] / found["tokens_per_s_one_by_one"]}


def _mean(lines: list[dict[str, float]], name: str) -> float:
    return float(np.mean([line[name] for line in lines]))
