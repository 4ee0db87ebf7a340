"""Checkpoints: everything that a run needs to go on, in one file that is either whole or not there.

``checkpoint_10000.pt`` and so on whenever another 10 000 steps were crossed, ``final_model.pt`` at the end. They are read
with ``weights_only=True``: a file that was tampered with can hold wrong numbers, but can't run code.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from operant.errors import CheckpointError

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
    """Write it beside its place, then move it there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            torch.save({"format": FORMAT, "kind": KIND, **content}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except (OSError, RuntimeError) as error:
        temporary.unlink(missing_ok=True)
        raise CheckpointError(f"{path} can't be written: {error}") from error
    return path


def load_checkpoint(path: Path) -> dict[str, Any]:
    """What was saved there, on the CPU."""
    if not path.is_file():
        raise CheckpointError(f"there is no checkpoint {path}", hint="name a .pt file that training wrote")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file may fail in any way
        if "weights_only" in str(error) and "GLOBAL" in str(error):
            raise CheckpointError(
                f"{path} holds more than numbers and was not loaded: it could run code",
                hint="load only files that training wrote",
            ) from error
        raise _corrupt(path, error) from error
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


def _corrupt(path: Path, error: BaseException) -> CheckpointError:
    first = (str(error) or type(error).__name__).splitlines()[0][:120]
    return CheckpointError(
        f"{path} is damaged: {first}", hint="resume from an older checkpoint: remove this one first"
    )


def newest_checkpoint(directory: Path) -> Path:
    """The one with the most steps."""
    named = [(int(match[1]), path) for path in _files(directory) if (match := _NAMED.fullmatch(path.name))]
    final = directory / FINAL
    if final.is_file():
        named.append((int(load_checkpoint(final)["progress"]["step"]), final))
    if not named:
        raise CheckpointError(
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
