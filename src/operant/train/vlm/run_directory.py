"""The directory of a run: who may use it, and what it says of the run. Imports no model library."""

from __future__ import annotations

import fcntl
import re
from pathlib import Path
from typing import Any

import yaml

from operant.config.vlm_training import VLMTrainingConfig
from operant.errors import CheckpointError, ConfigError

__all__ = ["CHECKPOINTS", "claim", "hold"]

CHECKPOINTS = "checkpoints"
CONFIG = "config.yaml"
_NAMED = re.compile(r"version_\d+")


def claim(directory: Path, config: VLMTrainingConfig, *, resume: bool) -> None:
    """Write down what the run is; an error if another was made there and is not to be gone on with."""
    checkpoints = directory / CHECKPOINTS
    begun = any(_NAMED.fullmatch(path.name) for path in checkpoints.glob("version_*"))
    if begun and not resume:
        raise ConfigError(f"{directory} holds a run already", hint="say --resume, or choose another")
    if resume and not begun and not (directory / CONFIG).exists():
        raise CheckpointError(f"{directory} has nothing to go on from", hint="leave --resume out")
    written = config.model_dump(mode="json")
    if config.desktop.chosen_profile is None:
        del written["desktop"]["profile"]  # tasks name it, and would not if the file did
    (directory / CONFIG).write_text(yaml.safe_dump(written, sort_keys=False))


def hold(directory: Path) -> Any:
    """Hold the directory until the file is closed: two learners in one would spoil both."""
    directory.mkdir(parents=True, exist_ok=True)
    file = open(directory / "lock", "w")  # noqa: SIM115 - that is its purpose
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise ConfigError(
            f"another run is at work in {directory}", hint="choose another directory"
        ) from error
    return file
