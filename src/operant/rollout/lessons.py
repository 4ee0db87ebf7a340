"""Lessons: a view of demonstrations, made when they are loaded, and cached.

A lesson is one state as a learner perceives it, with what the oracle would do there in the learner's own form. Which
learner that is, is the labeler's business. The cache can be deleted at any time. It goes by a digest of the labeler,
so a change of the perception makes new files and never reads old ones.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from loguru import logger
from safetensors import SafetensorError
from safetensors.numpy import load, save

from operant.errors import ActionNotExpressible
from operant.rollout import layout
from operant.rollout.demonstrations import ActionLabeler, Arrays, is_demonstration, label_of
from operant.rollout.episode import Episode
from operant.rollout.store import read_episode

__all__ = ["EpisodeLessons", "LessonView", "cache_directory"]

VERSION = 1  # of this module's own part in what a lesson holds
LEVEL = 3
ABOUT = "about"
SOURCES = (layout.EPISODE, layout.TRAJECTORY, layout.OBSERVATIONS)


@dataclass(frozen=True)
class EpisodeLessons:
    """The lessons of one episode, one below the other."""

    task: str
    seed: int | None
    split: str | None
    success: bool
    arrays: Arrays
    """``seen.*``, ``label.*``, ``patch`` and ``by_learner``; empty if there are no lessons."""
    inexpressible: tuple[str, ...] = ()
    """Why the other labels are no lessons: what the learner has no way to say."""

    def __len__(self) -> int:
        return len(self.arrays["by_learner"]) if self.arrays else 0


def cache_directory() -> Path:
    """Where views are cached: ``OPERANT_CACHE``, or ``operant`` in the user's cache directory."""
    chosen = os.environ.get("OPERANT_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "operant"


class LessonView:
    """Episodes as one learner's lessons. ``cache`` is a directory; None caches nothing."""

    def __init__(self, labeler: ActionLabeler, cache: Path | None) -> None:
        self.labeler = labeler
        digest = hashlib.sha256(f"{VERSION} {labeler.fingerprint}".encode()).hexdigest()[:20]
        self.cache = None if cache is None else cache / "lessons" / digest
        self._warned = False

    def read(self, directory: Path) -> EpisodeLessons:
        """The lessons of an episode; none if it is no demonstration. ``ResultsError`` if it is damaged."""
        path = self._path(directory)
        cached = None if path is None else _read(path)
        if cached is not None:
            return cached
        lessons = self.make(read_episode(directory))
        if path is not None:
            self._keep(path, lessons)
        return lessons

    def make(self, episode: Episode) -> EpisodeLessons:
        """Perceive and label the states of an episode."""
        rows: list[Arrays] = []
        problems: list[str] = []
        if is_demonstration(episode):
            for step, observation in zip(episode.steps, episode.observations(), strict=False):
                labelled = label_of(step)
                if labelled is None:
                    continue
                action, by_learner = labelled
                seen = self.labeler.perceive(observation)
                try:
                    label = self.labeler.label(action, seen)
                except ActionNotExpressible as error:
                    problems.append(error.message)
                    continue
                row = {f"seen.{name}": part for name, part in seen.items()}
                row |= {f"label.{name}": np.asarray(part) for name, part in label.items()}
                row["patch"] = self.labeler.patch(observation, action)
                row["by_learner"] = np.asarray(by_learner)
                rows.append(row)
        arrays = {name: np.stack([row[name] for row in rows]) for name in rows[0]} if rows else {}
        success = bool(episode.outcome and episode.outcome.value == "success")
        return EpisodeLessons(episode.task, episode.seed, episode.split, success, arrays, tuple(problems))

    def _path(self, directory: Path) -> Path | None:
        """Where an episode's lessons are cached; None for one that has not ended and may still grow."""
        if self.cache is None:
            return None
        try:
            header = (directory / layout.EPISODE).read_bytes()
            sizes = [(directory / name).stat().st_size for name in SOURCES]
        except OSError:
            return None
        digest = hashlib.sha256(json.dumps(sizes).encode() + header)
        return self.cache / f"{digest.hexdigest()[:32]}.safetensors.zst"

    def _keep(self, path: Path, lessons: EpisodeLessons) -> None:
        try:
            _write(path, lessons)
        except OSError as error:
            if not self._warned:
                logger.warning("lessons are not cached: {}", error)
            self._warned = True


# A cached file is a safetensors file, compressed as a whole. It can hold no code.


def _write(path: Path, lessons: EpisodeLessons) -> None:
    about = {
        "task": lessons.task,
        "seed": lessons.seed,
        "split": lessons.split,
        "success": lessons.success,
        "inexpressible": list(lessons.inexpressible),
    }
    data = save({ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8), **lessons.arrays})
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(zstandard.ZstdCompressor(level=LEVEL).compress(data))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _read(path: Path) -> EpisodeLessons | None:
    """None if it is not there, or damaged: then it is made again."""
    try:
        arrays = load(zstandard.ZstdDecompressor().decompress(path.read_bytes()))
        about: dict[str, Any] = json.loads(arrays.pop(ABOUT).tobytes())
        return EpisodeLessons(
            about["task"],
            about["seed"],
            about["split"],
            about["success"],
            arrays,
            tuple(about["inexpressible"]),
        )
    except (OSError, ValueError, KeyError, TypeError, SafetensorError, zstandard.ZstdError):
        return None
