"""A dry run: every component of a configuration, built with a tiny model of the same family in its place.

Answers one prompt, learns from it, hands the new version over, and writes a checkpoint: what a large
configuration would only show after minutes on a GPU. Starts no desktop and no server.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from operant.agents.base import TaskView
from operant.agents.vlm.agent import VLMAgent
from operant.agents.vlm.backends.base import Weights
from operant.agents.vlm.families import GENERIC, kind_of_name
from operant.agents.vlm.tiny import TINY_FAMILIES
from operant.agents.vlm.trajectory import Trajectory
from operant.config.vlm import ModelSettings
from operant.config.vlm_training import VLMTrainingConfig
from operant.errors import ConfigError
from operant.learn.vlm.checkpoint import load_state, write_checkpoint
from operant.train.vlm.parts import TINY, Parts
from operant.train.vlm.tasks import task_source
from operant.types import Observation, Outcome, Point

__all__ = ["dry_run", "small"]

PIXELS = 20_000
TOKENS = 8
ROLLOUTS = 2  # one that succeeds and one that fails are enough to compare


def dry_run(config: VLMTrainingConfig) -> dict[str, float]:
    """What one update with the configuration's components says."""
    source = task_source(config)
    config = small(config)
    with tempfile.TemporaryDirectory(prefix="operant-dry-run-") as name:
        directory = Path(name)
        parts = Parts(config, directory)
        task = source.draw(np.random.default_rng(config.training.seed))
        size = config.desktop.size
        screen = np.zeros((size.height, size.width, 3), np.uint8)
        seen = Observation(screen, task.instruction, 0, task.max_steps, Point(0.5, 0.5))
        rollouts = []
        with parts.backend(0) as backend:
            for number in range(ROLLOUTS):
                agent = VLMAgent(backend, config.prompt, temperature=1.0)
                agent.begin(TaskView(task.instruction, task.max_steps, size, seed=number))
                agent.act(seen)
                success = number % 2 == 0
                reward = config.actor.success_reward if success else 0.0
                outcome = Outcome.SUCCESS if success else Outcome.FAILURE
                turns = tuple(replace(turn, valid=True) for turn in agent.turns)  # gibberish, but it will do
                rollout = Trajectory(task.id, turns, outcome, "dry", task.seed or 0, str(number))
                rollouts.append(rollout.with_rewards([reward]))
            metrics = parts.trainer.train_step(rollouts)
            backend.load(Weights(parts.trainer.version, parts.trainer.weights()))
            agent.act(seen)
        written = write_checkpoint(directory, 1, {"trainer": parts.trainer.state()}, parts.vlm.save)
        parts.trainer.restore(load_state(written)["trainer"])
    return metrics


def _kind(model: ModelSettings) -> str:
    """The ``model_type`` whose tiny model stands for this one, without a download."""
    if model.family:
        return model.family
    try:
        written = json.loads((Path(model.name).expanduser() / "config.json").read_text(encoding="utf-8"))
        kind = str(written["model_type"])
    except (OSError, ValueError, KeyError, TypeError):
        kind = kind_of_name(model.name)
    if not kind:
        raise ConfigError(
            f"a dry run can't tell the family of {model.name}",
            hint=f"set model.family: {', '.join(TINY_FAMILIES)}",
        )
    return kind if kind in TINY_FAMILIES else GENERIC.model_types[0]


def small(config: VLMTrainingConfig) -> VLMTrainingConfig:
    """The same settings with a tiny model of the same family, on the CPU."""
    model = config.model
    if not model.name.startswith(TINY):
        model = model.model_copy(update={"name": TINY + _kind(model)})
    model = model.model_copy(
        update={
            "device": "cpu",
            "load_in_4bit": False,
            "dtype": "float32",
            "max_pixels": min(PIXELS, model.max_pixels),
        }
    )
    sampling = config.sampling.model_copy(update={"max_new_tokens": TOKENS})
    return config.model_copy(update={"model": model, "sampling": sampling, "inference": None})
