"""Finished trajectories on disk until they are learned from, so that a crash loses none.

One file each, whole or not there. Files that were cut short are named and left aside, never fatal. A ledger has a
line for each episode that ever ended here, for people and for proofs that none was lost.
"""

from __future__ import annotations

import json
import threading
import time
import zipfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
from loguru import logger
from PIL import Image

from operant.agents.vlm.trajectory import Trajectory
from operant.atomic_files import is_full_disk, write_atomically, write_problem
from operant.errors import NoSpaceLeft, OperantError, ResultsError
from operant.pictures.png import png_bytes

__all__ = ["TrajectoryStore", "decode", "encode", "read_trajectory", "write_trajectory"]

LEDGER = "ledger.jsonl"
NO_PICTURE = np.empty((0, 0, 3), np.uint8)


class TrajectoryStore:
    """A directory of trajectories that wait to be learned from. Safe for threads.

    With ``needs_space`` off, ``add`` leaves out what a full disk has no space for: the caller has it in memory.
    """

    def __init__(self, directory: Path, *, needs_space: bool = True) -> None:
        self.directory = directory
        self.needs_space = needs_space
        self.torn: list[Path] = []
        """Files that were found cut short."""
        self._writing = threading.Lock()
        self._full = False

    def add(self, trajectory: Trajectory) -> None:
        try:
            self.keep(trajectory, encode(trajectory))
        except NoSpaceLeft as error:
            if self.needs_space:
                raise
            if not self._full:
                logger.warning(
                    "{}: the run goes on, but an interruption loses its last episodes", error.message
                )
            self._full = True

    def keep(self, trajectory: Trajectory, data: bytes) -> None:
        """Add one that was encoded elsewhere."""
        if not trajectory.id:
            raise ResultsError("a trajectory without an id can't be kept")
        _write(self._path(trajectory.id), data)
        line = {
            "id": trajectory.id,
            "task": trajectory.task,
            "seed": trajectory.seed,
            "outcome": trajectory.outcome.value,
            "reward": trajectory.total_reward(),
            "turns": len(trajectory),
            "oldest_version": trajectory.oldest_version,
            "time": round(time.time(), 3),
        }
        ledger = self.directory / LEDGER
        try:
            with self._writing, open(ledger, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise _not_written(ledger, error) from error

    def read(self, id: str) -> bytes:
        """One that is there, as it was encoded."""
        try:
            return self._path(id).read_bytes()
        except OSError as error:
            raise ResultsError(f"the episode {id} can't be read: {error}") from error

    def load(self, known: Iterable[str] = (), *, pictures: bool = True) -> list[Trajectory]:
        """Everything that is there, except what was learned from already."""
        known = set(known)
        self.torn = []
        found = []
        for path in sorted(self.directory.glob("*.npz")):
            if unquote(path.stem) in known:
                continue
            try:
                found.append(read_trajectory(path, pictures=pictures))
            except ResultsError as error:
                logger.warning("{}", error.message)
                self.torn.append(path)
        return found

    def discard(self, ids: Iterable[str]) -> None:
        """These were learned from, and a checkpoint says so."""
        there = {path.name for path in self.directory.glob("*.npz")}
        for id in ids:
            path = self._path(id)
            if path.name in there:
                path.unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        return self.directory / f"{quote(id, safe='')}.npz"


def write_trajectory(path: Path, trajectory: Trajectory) -> None:
    _write(path, encode(trajectory))


def encode(trajectory: Trajectory) -> bytes:
    """Everything, with its pictures as PNGs: about a hundredth of their size in memory."""
    form = trajectory.plain()
    pictures = {
        f"image_{number}": np.frombuffer(png_bytes(image), np.uint8)
        for number, image in enumerate(form.pop("images"))
    }
    about = np.frombuffer(json.dumps(form).encode(), np.uint8)
    buffer = BytesIO()
    np.savez(buffer, about=about, **pictures)  # type: ignore[arg-type]
    return buffer.getvalue()


def _write(path: Path, data: bytes) -> None:
    try:
        write_atomically(path, data)
    except OSError as error:
        raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError) -> OperantError:
    if is_full_disk(error):
        return NoSpaceLeft(write_problem(path, error), hint="make room there, then go on with --resume")
    return ResultsError(write_problem(path, error))


def read_trajectory(path: Path, *, pictures: bool = True) -> Trajectory:
    try:
        return decode(path.read_bytes(), pictures=pictures)
    except (OSError, ResultsError) as error:
        why = error.message if isinstance(error, ResultsError) else str(error)
        raise ResultsError(f"{path} is no whole trajectory: {why}") from error


def decode(data: bytes, *, pictures: bool = True) -> Trajectory:
    """The opposite of ``encode``; without its pictures it is a hundred times faster."""
    try:
        with np.load(BytesIO(data), allow_pickle=False) as file:
            form = json.loads(file["about"].tobytes())
            names = sorted((name for name in file.files if name != "about"), key=_number)
            form["images"] = [_picture(file[name].tobytes()) if pictures else NO_PICTURE for name in names]
        return Trajectory.from_plain(form)
    except (OSError, EOFError, ValueError, KeyError, IndexError, TypeError, zipfile.BadZipFile) as error:
        raise ResultsError(f"{type(error).__name__}: {error}") from error


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


def _picture(data: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    with Image.open(BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))
