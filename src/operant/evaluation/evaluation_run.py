"""The directory of one agent's evaluation: what was asked, under which settings, and what is there already.

``run.json`` beside the episodes holds both. Episodes under different settings are never mixed in one
directory, and two evaluations never write into one at the same time.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from operant.atomic_files import write_atomically
from operant.errors import ConfigError, NoResults, ResultsError
from operant.evaluation.plan import Asked
from operant.rollout import layout
from operant.rollout.episode import Episode
from operant.rollout.store import read_episode

if TYPE_CHECKING:
    from operant.tasks.task import Task

__all__ = ["EvaluationRun", "EvaluationSettings", "find_runs"]

RUN, LOCK = "run.json", ".lock"


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """What must be the same for two episodes to belong to one result."""

    agent: str
    fingerprint: str = ""
    observation_type: str = "screenshot"
    privileged: bool = False
    max_steps: int | None = None
    """Steps that every episode may take; None for each task's own cap."""
    act_s: float = 60.0
    screen: tuple[int, int] = (1280, 800)
    desktop: dict[str, Any] = field(default_factory=dict)
    """What else of the desktops' settings is not as usual, such as their monitors; no secrets."""


@dataclass(frozen=True)
class EvaluationRun:
    """One agent's directory."""

    directory: Path
    settings: EvaluationSettings
    asked: tuple[Asked, ...] = ()

    @classmethod
    @contextlib.contextmanager
    def open(cls, root: Path, settings: EvaluationSettings, tasks: Iterable[Task]) -> Iterator[EvaluationRun]:
        """The directory below ``root`` for these settings, with these tasks added to what is asked.

        No other process evaluates into it meanwhile; the kernel ends the lock of a process that dies.
        """
        directory = layout.agent_directory(root, settings.observation_type, settings.agent)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            fd = os.open(directory / LOCK, os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise ConfigError(
                f"{directory} can't be written: {error.strerror or error}", hint="choose another --result-dir"
            ) from error
        try:
            _lock(fd, directory)
            run = cls._with(directory, settings, tasks)
            run._write()
            yield run
        finally:
            os.close(fd)

    @classmethod
    def _with(cls, directory: Path, settings: EvaluationSettings, tasks: Iterable[Task]) -> EvaluationRun:
        there = cls.read(directory) if (directory / RUN).exists() else cls(directory, settings)
        if there.settings != settings:
            old, new = asdict(there.settings), asdict(settings)
            differ = [name for name in new if old[name] != new[name]]
            changed = ", ".join(f"{name} was {old[name]!r} and is {new[name]!r}" for name in differ)
            raise ConfigError(
                f"{directory} holds results under other settings: {changed}",
                hint="choose another --result-dir",
            )
        asked = {one.directory: one for one in there.asked} | {
            one.directory: one for one in map(Asked.of, tasks)
        }
        return cls(directory, settings, tuple(asked.values()))

    @classmethod
    def read(cls, directory: Path) -> EvaluationRun:
        path = directory / RUN
        try:
            form = json.loads(path.read_text(encoding="utf-8"))
            settings = dict(form["settings"])
            settings["screen"] = tuple(settings["screen"])
            return cls(
                directory,
                EvaluationSettings(**settings),
                tuple(Asked.from_json(one) for one in form["asked"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResultsError(f"{path} can't be read: {type(error).__name__}: {error}") from error

    def _write(self) -> None:
        form = {"settings": asdict(self.settings), "asked": [one.to_json() for one in self.asked]}
        try:
            write_atomically(self.directory / RUN, json.dumps(form, indent=1) + "\n", sync=True)
        except OSError as error:
            raise ResultsError(
                f"{self.directory} can't be written: {error}", hint="choose another --result-dir"
            ) from error

    def episode_directory(self, asked: Asked) -> Path:
        return self.directory / asked.directory

    def episode(self, asked: Asked) -> Episode | None:
        """What there is of it: ended, cut short, or nothing."""
        directory = self.episode_directory(asked)
        if not any((directory / name).exists() for name in (layout.EPISODE, layout.PARTIAL)):
            return None
        return read_episode(directory)

    def unfinished(self, tasks: Sequence[Task]) -> list[Task]:
        """Those to be run (again): not ended, ended by an infra error, unreadable, or of another text."""
        return [task for task in tasks if not self._is_finished(task)]

    def _is_finished(self, task: Task) -> bool:
        try:
            episode = self.episode(Asked.of(task))
        except ResultsError:
            return False
        # A template that was edited gives another instruction for the same seed.
        return episode is not None and episode.finished and episode.instruction == task.instruction


def _lock(fd: int, directory: Path) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise ResultsError(
            f"another evaluation is writing into {directory}",
            hint="wait for it, or choose another --result-dir",
        ) from error


def find_runs(root: Path) -> list[EvaluationRun]:
    """Every agent's directory at or below ``root``."""
    if not root.is_dir():
        raise NoResults(f"{root} is not a directory", hint="name what operant eval --result-dir wrote")
    runs = [EvaluationRun.read(path.parent) for path in sorted(root.rglob(RUN))]
    if not runs:
        raise NoResults(
            f"{root} holds no results", hint="make some: operant eval --agent random --suite core"
        )
    return runs
