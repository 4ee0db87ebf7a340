"""The directory of a run: who may use it, and what it says of the run. Imports no model library."""

from __future__ import annotations

import fcntl
import json
import re
from pathlib import Path
from typing import Any

import yaml

from operant.atomic_files import is_full_disk, write_atomically, write_problem
from operant.config.vlm_training import VLMTrainingConfig
from operant.config.writable import check_writable
from operant.errors import ConfigError, NoCheckpoint, NoSpaceLeft

__all__ = ["CHECKPOINTS", "DEMONSTRATIONS", "check_directory", "claim", "hold", "saved_so_far"]

CHECKPOINTS = "checkpoints"
DEMONSTRATIONS = "demonstrations"
CONFIG = "config.yaml"
_NAMED = re.compile(r"version_\d+")


def check_directory(directory: Path, *, resume: bool) -> None:
    """That it can be written, and holds a run to go on with or none; nothing is made."""
    check_writable(directory, "output")
    begun = bool(_checkpoints(directory)) or _demonstrations(directory) > 0
    if begun and not resume:
        raise ConfigError(f"{directory} holds a run already", hint="say --resume, or choose another")
    if resume and not begun and not (directory / CONFIG).exists():
        raise NoCheckpoint(f"{directory} has nothing to go on from", hint="leave --resume out")


def claim(directory: Path, config: VLMTrainingConfig, *, resume: bool) -> None:
    """Write down what the run is; an error if another was made there and is not to be gone on with."""
    check_directory(directory, resume=resume)
    written = config.model_dump(mode="json")
    if config.desktop.chosen_profile is None:
        del written["desktop"]["profile"]  # tasks name it, and would not if the file did
    path = directory / CONFIG
    try:
        write_atomically(path, yaml.safe_dump(written, sort_keys=False))
    except OSError as error:
        if is_full_disk(error):
            raise NoSpaceLeft(
                write_problem(path, error), hint="make room there, or choose another --output"
            ) from error
        raise ConfigError(write_problem(path, error), hint="choose another --output") from error


def saved_so_far(directory: Path) -> str:
    """What ``--resume`` would go on from, in words; empty if nothing is there."""
    parts = []
    if count := _demonstrations(directory):
        parts.append(f"{count} demonstration{'s' * (count != 1)}")
    if found := _checkpoints(directory):
        parts.append(_progress(found[-1]))
    return " and ".join(parts)


def _progress(checkpoint: Path) -> str:
    try:
        done = json.loads((checkpoint / "progress.json").read_text(encoding="utf-8"))
        supervised, updates = int(done.get("sft", 0)), int(done.get("rl", 0))
    except (OSError, ValueError, TypeError, AttributeError):
        supervised, updates = 0, int(checkpoint.name.rpartition("_")[2])
    said = f"the weights after {updates} update{'s' * (updates != 1)}"
    if supervised and not updates:
        said = f"the weights after {supervised} SFT update{'s' * (supervised != 1)}"
    return said


def _checkpoints(directory: Path) -> list[Path]:
    found = (directory / CHECKPOINTS).glob("version_*")
    return sorted(path for path in found if _NAMED.fullmatch(path.name))


def _demonstrations(directory: Path) -> int:
    return sum(1 for _ in (directory / DEMONSTRATIONS).glob("*.npz"))


def hold(directory: Path) -> Any:
    """Hold the directory until the file is closed: two learners in one would spoil both."""
    check_writable(directory, "output")
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
