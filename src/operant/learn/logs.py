"""What a run tells: lines under a progress bar for people, and TensorBoard for curves.

Each is a listener of ``PPOTrainer``: called with the report of every update, closed at the end. Those with ``status`` are
also told how far the run is while it plays.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from loguru import logger
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from operant.atomic_files import is_full_disk, write_atomically, write_problem
from operant.errors import MissingDependency
from operant.learn.progress import WINDOW, RunStatus, UpdateReport
from operant.learn.time_left import in_words

__all__ = [
    "PROGRESS", "STATUS", "ConsoleLog", "ProgressLog", "StatusLog", "TensorBoardLog", "line_of_status", "lines_of",
    "unless_disk_full",
]  # fmt: skip

#: The files for programs that follow a run: a line for each update, and where it is at this moment.
PROGRESS, STATUS = "progress.jsonl", "status.json"
LINE_S = 10.0  # between two lines of status where there is no bar

Frame = Callable[[], npt.NDArray[np.uint8] | None]
R = TypeVar("R")


def lines_of(report: UpdateReport) -> list[str]:
    """An update in words."""
    learned = report.learned
    trouble = [
        f"{count} {what}"
        for count, what in (
            (report.discarded, "episodes lost to the machine"),
            (report.skipped, "steps skipped"),
        )
        if count
    ]
    return [
        f"Update {report.update}/{report.updates} | Step {report.step}/{report.total} | "
        f"FPS: {report.fps:.2f} | Time: {report.seconds:.2f}s"
        + (f" | {report.stage}" if report.stage else ""),
        f"  Mean Reward: {report.mean_reward:.2f} | Success Rate: {report.success_rate:.2%} | "
        f"Policy Loss: {learned.policy_loss:.4f} | Value Loss: {learned.value_loss:.4f} | KL: {learned.kl:.4f}"
        + "".join(f" | {text}" for text in trouble),
    ]


def line_of_status(status: RunStatus) -> str:
    """Where a run is at this moment, in words."""
    parts = [f"Step {status.step}/{status.total}", f"{status.episodes} episode{'s' * (status.episodes != 1)}"]
    if status.success_rate is not None:
        parts.append(f"{status.success_rate:.0%} success of the last {status.counted}")
    if status.left_s is not None:
        parts += [f"{status.fps:.1f} steps/s", f"{in_words(status.left_s)} left"]
    if status.phase == "starting":
        parts.append("starting desktops")
    elif status.phase == "learning":
        parts.append("learning")
    else:
        parts.append(f"collecting {status.rollout_step}/{status.rollout_steps}")
    return " | ".join(parts)


def _beside_the_bar(status: RunStatus) -> str:
    """The same in fewer letters."""
    parts = {"starting": ["starting desktops"], "learning": ["learning"]}.get(status.phase, [])
    parts.append(f"{status.episodes} episode{'s' * (status.episodes != 1)}")
    if status.success_rate is not None:
        parts.append(f"{status.success_rate:.0%} success")
    if status.left_s is not None:
        parts += [f"{status.fps:.1f}/s", f"{in_words(status.left_s)} left"]
    return ", ".join(parts)


class ConsoleLog:
    """Lines on stderr, and below them a bar with the time left; where no bar can be, a line now and then."""

    def __init__(self, total: int, console: Console | None = None) -> None:
        self.console = console if console is not None else Console(stderr=True)
        # Short: a terminal may have 80 columns.
        self._bar = Progress(
            BarColumn(bar_width=10),
            TextColumn("{task.completed:.0f}/{task.total:.0f} steps"),
            TextColumn("{task.fields[how]}"),
            console=self.console,
        )
        self._line = self._bar.add_task("training", total=total, how="starting desktops")
        self._said = -LINE_S
        self._bar.start()

    def status(self, status: RunStatus) -> None:
        """Told about once a second while a rollout is collected."""
        self._bar.update(
            self._line,
            completed=min(status.step, status.total),
            how=_beside_the_bar(status),
        )
        if not self.console.is_terminal and time.monotonic() - self._said >= LINE_S:
            self._said = time.monotonic()
            self._print(line_of_status(status))

    def __call__(self, report: UpdateReport) -> None:
        for line in lines_of(report):
            self._print(line)
        self._bar.update(self._line, completed=min(report.step, report.total))

    def _print(self, line: str) -> None:
        self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        self._bar.stop()


def unless_disk_full(log: Callable[[R], None], place: Path) -> Callable[[R], None]:
    """The same log, which a full disk silences with one warning: a run is worth more than its curves."""
    silent = False

    def tell(report: R) -> None:
        nonlocal silent
        if silent:
            return
        try:
            log(report)
        except (OSError, RuntimeError) as error:
            if not is_full_disk(error):
                raise
            silent = True
            logger.warning("{}: nothing more is logged there", write_problem(place, error))

    return tell


class StatusLog:
    """One small file that says where the run is at this moment; gone when the run has ended, unless it was killed."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / STATUS
        self._writing = threading.Lock()

    def status(self, status: RunStatus) -> None:
        with self._writing:
            write_atomically(self._path, json.dumps({**dataclasses.asdict(status), "time": time.time()}))

    def close(self) -> None:
        self._path.unlink(missing_ok=True)


class ProgressLog:
    """A line of JSON for each update, for programs that follow the run; a resumed run adds to it."""

    def __init__(self, directory: Path) -> None:
        self._file = (directory / PROGRESS).open("a", encoding="utf-8")

    def __call__(self, report: UpdateReport) -> None:
        learned = report.learned
        terms: dict[str, list[float]] = {}
        for episode in report.ended:
            for name, value in episode.terms.items():
                terms.setdefault(name, []).append(value)
        line = {
            "step": report.step,
            "update": report.update,
            "fps": report.fps,
            "mean_reward": report.mean_reward,
            "success_rate": report.success_rate,
            "counted": min(report.episodes, WINDOW),
            "episodes": report.episodes,
            "policy_loss": learned.policy_loss,
            "value_loss": learned.value_loss,
            "kl": learned.kl,
            "entropy": sum(learned.entropy.values()),
            "entropies": dict(learned.entropy),
            "stage": report.stage,
            "reward_terms": {name: sum(values) / len(values) for name, values in terms.items()},
        }
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        with contextlib.suppress(OSError):  # a full disk; what could be written was
            self._file.close()


class TensorBoardLog:
    """Scalars, histograms of the kinds of action, and now and then a frame: ``tensorboard --logdir``."""

    def __init__(self, log_dir: Path, *, frame: Frame | None = None, frame_every: int = 10) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise MissingDependency(
                "TensorBoard is not installed", hint="pip install 'operant[learn]'"
            ) from error
        self._writer: Any = SummaryWriter(str(log_dir))
        self._frame = frame
        self._frame_every = frame_every
        self._kinds: list[str] = []

    def __call__(self, report: UpdateReport) -> None:
        for name, value in scalars_of(report).items():
            if math.isfinite(value):
                self._writer.add_scalar(name, value, report.step)
        self._add_kinds(report)
        if self._frame is not None and report.update % self._frame_every == 1 % self._frame_every:
            frame = self._frame()
            if frame is not None:
                self._writer.add_image("desktop", frame[::2, ::2], report.step, dataformats="HWC")
        self._writer.flush()

    def _add_kinds(self, report: UpdateReport) -> None:
        self._kinds += sorted(set(report.kinds) - set(self._kinds))
        total = sum(report.kinds.values())
        for kind, count in report.kinds.items():
            self._writer.add_scalar(f"actions/{kind}", count / total, report.step)
        if total:
            # One bin for each kind, in the order in which they were first seen.
            numbers = np.repeat(
                np.arange(len(self._kinds)), [report.kinds.get(kind, 0) for kind in self._kinds]
            )
            self._writer.add_histogram(
                "action_types", numbers, report.step, bins=np.arange(len(self._kinds) + 1) - 0.5
            )
            self._writer.add_text("action_types", ", ".join(self._kinds), report.step)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # a full disk; what could be written was
            self._writer.close()


def scalars_of(report: UpdateReport) -> dict[str, float]:
    """Success first; what shaping pays stands apart from it."""
    learned = report.learned
    terms: dict[str, list[float]] = {}
    for ended in report.ended:
        for name, value in ended.terms.items():
            terms.setdefault(name, []).append(value)
    return {
        "episodes/success_rate": report.success_rate,
        "episodes/reward": report.mean_reward,
        "episodes/length": report.mean_length,
        "episodes/count": report.episodes,
        "episodes/discarded": report.discarded,
        "loss/total": learned.loss,
        "loss/policy": learned.policy_loss,
        "loss/value": learned.value_loss,
        "update/kl": learned.kl,
        "update/clipped": learned.clipped,
        "update/grad_norm": learned.grad_norm,
        "update/explained_variance": learned.explained_variance,
        "update/gradient_steps": learned.gradient_steps,
        "update/skipped": learned.skipped,
        "update/learning_rate": report.learning_rate,
        "speed/fps": report.fps,
        "speed/collect_s": report.collect_s,
        "speed/learn_s": report.learn_s,
        **{f"entropy/{head}": value for head, value in learned.entropy.items()},
        **{f"reward_terms/{name}": float(np.mean(values)) for name, values in terms.items()},
        **{f"tasks/{task}": rate for task, rate in report.tasks.items() if task},
    }
