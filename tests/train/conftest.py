"""Runs on fake desktops with a very small agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from operant.train.config import TrainConfig

torch.set_num_threads(1)

TINY = {
    "encoder": {
        "screen": (32, 20), "widgets": 8, "history": 2, "instruction_tokens": 8, "reading_tokens": 4, "width": 16,
        "heads": 2, "text_layers": 1, "joint_layers": 1, "vocabulary": 64,
    },
    "worker": {"crop": 16, "reach": 4},
}  # fmt: skip

Settings = Callable[..., TrainConfig]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Makes the settings of a small run in a directory of its own; sections can be given in part."""

    def make(directory: str = "run", **sections: Any) -> TrainConfig:
        parts: dict[str, Any] = {
            "training": {"total_timesteps": 32, "buffer_size": 16, "num_envs": 2, "minibatch_size": 8, "update_epochs": 1},
            "environment": {"spares": 2},
            "desktop": {"width": 160, "height": 100},
            "run": {"save_dir": tmp_path / directory / "c", "log_dir": tmp_path / directory / "l", "threads": 1},
            "agent": TINY,
        }  # fmt: skip
        for name, section in sections.items():
            parts[name] = {**(parts.get(name) or {}), **section} if section is not None else None
        made: TrainConfig = TrainConfig.build(**parts)
        return made

    return make
