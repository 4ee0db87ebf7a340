"""Finished trajectories on disk until they are learned from, so that a crash loses none.

One file each, whole or not there. Files that were cut short are named and left aside, never fatal.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import numpy as np
from loguru import logger
from PIL import Image

from operant.agents.vlm.trajectory import Trajectory
from operant.errors import ResultsError
from operant.rollout.png import png_bytes

__all__ = ["ExperienceStore", "read_trajectory", "write_trajectory"]


class ExperienceStore:
    """A directory of trajectories that wait to be learned from."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.torn: list[Path] = []
        """Files that were found cut short."""

    def add(self, trajectory: Trajectory) -> None:
        if not trajectory.id:
            raise ResultsError("a trajectory without an id can't be kept")
        write_trajectory(self._path(trajectory.id), trajectory)

    def load(self, known: Iterable[str] = ()) -> list[Trajectory]:
        """Everything that is there, except what was learned from already."""
        known = set(known)
        self.torn = []
        found = []
        for path in sorted(self.directory.glob("*.npz")):
            try:
                trajectory = read_trajectory(path)
            except ResultsError as error:
                logger.warning("{}", error.message)
                self.torn.append(path)
                continue
            if trajectory.id not in known:
                found.append(trajectory)
        return found

    def discard(self, ids: Iterable[str]) -> None:
        """These were learned from, and a checkpoint says so."""
        for id in ids:
            self._path(id).unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        return self.directory / f"{quote(id, safe='')}.npz"


def write_trajectory(path: Path, trajectory: Trajectory) -> None:
    form = trajectory.plain()
    pictures = {
        f"image_{number}": np.frombuffer(png_bytes(image), np.uint8)
        for number, image in enumerate(form.pop("images"))
    }
    about = np.frombuffer(json.dumps(form).encode(), np.uint8)
    temporary = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            np.savez(file, about=about, **pictures)  # type: ignore[arg-type]
        os.replace(temporary, path)
    except OSError as error:
        raise ResultsError(f"{path} can't be written: {error}") from error


def read_trajectory(path: Path) -> Trajectory:
    try:
        with np.load(path, allow_pickle=False) as file:
            form = json.loads(file["about"].tobytes())
            names = sorted((name for name in file.files if name != "about"), key=_number)
            form["images"] = [_picture(file[name].tobytes()) for name in names]
        return Trajectory.from_plain(form)
    except (OSError, ValueError, KeyError, IndexError, TypeError, zipfile.BadZipFile) as error:
        raise ResultsError(f"{path} is no whole trajectory: {error}") from error


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


def _picture(data: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    with Image.open(BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))
