"""What a run tells: a line of JSON for each update, curves for TensorBoard, and a sentence for people."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from operant.learn.logs import unless_disk_full

__all__ = ["Journal", "sentence"]


class Journal:
    """Appends to ``metrics.jsonl`` and to ``tensorboard/`` of a run's directory."""

    def __init__(self, directory: Path, on_progress: Callable[[str], None] = lambda line: None) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._file = open(directory / "metrics.jsonl", "a", encoding="utf-8")  # noqa: SIM115 - closed below
        self._curves = SummaryWriter(str(directory / "tensorboard"))
        self._on_progress = on_progress
        self._keep = unless_disk_full(self._append, directory)

    def write(self, iteration: int, phase: str, metrics: Mapping[str, float]) -> None:
        self._on_progress(sentence(iteration, phase, metrics))
        self._keep((iteration, phase, metrics))

    def _append(self, update: tuple[int, str, Mapping[str, float]]) -> None:
        iteration, phase, metrics = update
        line = {"iteration": iteration, "phase": phase, "time": round(time.time(), 3), **metrics}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        for name, value in metrics.items():
            self._curves.add_scalar(f"{phase}/{name}", value, iteration)

    def close(self) -> None:
        for file in (self._file, self._curves):
            with contextlib.suppress(OSError):  # a full disk; what could be written was
                file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


#: What people want to see of an update, and how: metric -> (label, format)
_SHOWN: dict[str, tuple[str, str]] = {
    "demonstration_success": ("the demonstrations' success", ".0%"),
    "success_rate": ("the model's success", ".0%"),
    "reward": ("reward", ".2f"),
    "turns": ("turns", ".1f"),
    "invalid": ("invalid", ".0%"),
    "loss": ("loss", ".3f"),
    "entropy": ("entropy", ".2f"),
    "kl": ("kl", ".4f"),
    "staleness": ("stale", ".1f"),
    "examples": ("examples", ".0f"),
    "filtered_groups": ("groups without a difference", ".0f"),
    "seconds": ("s", ".1f"),
}


def sentence(iteration: int, phase: str, metrics: Mapping[str, Any]) -> str:
    parts = [f"{label} {metrics[name]:{form}}" for name, (label, form) in _SHOWN.items() if name in metrics]
    return f"{phase} {iteration}: " + ", ".join(parts)
