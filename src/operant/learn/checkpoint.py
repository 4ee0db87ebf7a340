"""Checkpoints: everything that a run needs to go on, in one file that is either whole or not there.

``checkpoint_10000.pt`` and so on whenever another 10 000 steps were crossed, ``final_model.pt`` at the end.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from operant.agents.checkpoint_files import read_tensors, write_tensors
from operant.errors import CheckpointError, NoCheckpoint

__all__ = [
    "FINAL", "FORMAT", "global_random_state", "load_checkpoint", "newest_checkpoint",
    "restore_global_random_state", "save_checkpoint", "steps_crossed",
]  # fmt: skip

FORMAT = 1
KIND = "operant-training"
FINAL = "final_model.pt"
_NAMED = re.compile(r"checkpoint_(\d+)\.pt")


def steps_crossed(before: int, now: int, every: int) -> int | None:
    """The last multiple of ``every`` in (before, now], if there is one."""
    last = now // every * every
    return last if last > before else None


def save_checkpoint(path: Path, content: Mapping[str, Any]) -> Path:
    """Write it as a whole or not at all; ``NoSpaceLeft`` if the disk is full."""
    return write_tensors(path, {"format": FORMAT, "kind": KIND, **content})


def load_checkpoint(path: Path) -> dict[str, Any]:
    """What was saved there, on the CPU."""
    content = read_tensors(path, hint="resume from an older checkpoint: remove this one first")
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise CheckpointError(
            f"{path} is not a checkpoint of a training run",
            hint="to start from the weights of a policy, say --init-from",
        )
    if content.get("format") != FORMAT:
        raise CheckpointError(
            f"{path} has format {content.get('format')}, and this version reads {FORMAT}",
            hint="train on with the version of Operant that wrote it",
        )
    return content


def newest_checkpoint(directory: Path) -> Path:
    """The one with the most steps."""
    named = [(int(match[1]), path) for path in _files(directory) if (match := _NAMED.fullmatch(path.name))]
    final = directory / FINAL
    if final.is_file():
        named.append((int(load_checkpoint(final)["progress"]["step"]), final))
    if not named:
        raise NoCheckpoint(
            f"{directory} has no checkpoint to go on from", hint="leave --resume out to start anew"
        )
    return max(named)[1]


def _files(directory: Path) -> list[Path]:
    return sorted(directory.iterdir()) if directory.is_dir() else []


# The shared random generators.


def global_random_state() -> dict[str, Any]:
    kind, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": [kind, [int(key) for key in keys], int(position), int(has_gauss), float(cached)],
        "python": _listed(random.getstate()),
    }


def restore_global_random_state(state: Mapping[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
    kind, keys, position, has_gauss, cached = state["numpy"]
    np.random.set_state((kind, np.array(keys, np.uint32), position, has_gauss, cached))
    version, internal, gauss = state["python"]
    random.setstate((version, tuple(internal), gauss))


def _listed(value: Any) -> Any:
    return [_listed(part) for part in value] if isinstance(value, tuple) else value
