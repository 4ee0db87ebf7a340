"""A directory with everything that an interrupted run needs: it appears whole, or not at all.

``model/`` (adapters or weights, as every loader reads them) beside ``state.pt``, which is read as numbers only:
a file that was tampered with can't run code. ``progress.json`` says how far the run was, and needs no model library.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from operant.agents.checkpoint_files import read_tensors, save_problem, write_tensors
from operant.atomic_files import is_full_disk, replacing
from operant.errors import CheckpointError, OperantError

__all__ = ["load_state", "newest", "prune", "write_checkpoint"]

STATE = "state.pt"
MODEL = "model"
PROGRESS = "progress.json"
FORMAT = 1
_NAMED = re.compile(r"version_(\d+)")


def write_checkpoint(
    directory: Path,
    version: int,
    state: Mapping[str, Any],
    save_model: Callable[[Path], object],
    progress: Mapping[str, int] | None = None,
) -> Path:
    """Write ``directory/version_N``; another of the same version is replaced. ``progress`` is what was done so far."""
    place = directory / f"version_{version:06d}"
    try:
        with replacing(place) as temporary:
            temporary.mkdir(parents=True, exist_ok=True)
            save_model(temporary / MODEL)
            write_tensors(temporary / STATE, {"format": FORMAT, **_tensors(state)})
            (temporary / PROGRESS).write_text(json.dumps(dict(progress or {})), encoding="utf-8")
    except Exception as error:  # safetensors has errors of its own, of no type in common
        if isinstance(error, OperantError) and not is_full_disk(error):
            raise
        raise save_problem(place, error) from error
    return place


def load_state(checkpoint: Path) -> dict[str, Any]:
    """What was given to ``write_checkpoint``, with arrays as numpy's."""
    path = checkpoint / STATE
    if not path.is_file():
        raise CheckpointError(f"{checkpoint} is no checkpoint", hint=f"it has no {STATE}")
    found = read_tensors(path, hint="remove this checkpoint to go on from the one before")
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not of format {FORMAT}")
    return found


def newest(directory: Path) -> Path | None:
    """The checkpoint with the highest version; None if there is none."""
    found = [path for path in directory.glob("version_*") if _NAMED.fullmatch(path.name)]
    return max(found, key=_version, default=None)


def prune(directory: Path, keep: int) -> None:
    """Remove all but the last few."""
    found = sorted(
        (path for path in directory.glob("version_*") if _NAMED.fullmatch(path.name)), key=_version
    )
    for path in found[:-keep] if keep else []:
        shutil.rmtree(path, ignore_errors=True)


def _version(path: Path) -> int:
    match = _NAMED.fullmatch(path.name)
    return int(match[1]) if match else -1


def _tensors(value: Any) -> Any:
    """The same with numpy's arrays as tensors, which may be loaded without running anything."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value))
    if isinstance(value, Mapping):
        return {key: _tensors(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tensors(part) for part in value]
    return value


def arrays(value: Any) -> Any:
    """The opposite of what saving did to arrays, for what wants them back."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return {key: arrays(part) for key, part in value.items()}
    if isinstance(value, list):
        return [arrays(part) for part in value]
    return value
