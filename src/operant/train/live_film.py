"""The wall of desktops as a film that grows while the run goes on: mp4, ten pictures a second."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

__all__ = ["WallFilm", "next_film"]

RATE = 10


def next_film(directory: Path) -> Path:
    """``training.mp4``, or with a number if a run that is resumed was filmed before."""
    path, number = directory / "training.mp4", 2
    while path.exists():
        path, number = directory / f"training-{number}.mp4", number + 1
    return path


class WallFilm:
    """Pictures of one size, one after the other. The file appears when it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pictures = 0
        self._unfinished = path.with_name(path.name + ".new")
        self._container: Any = None
        self._stream: Any = None

    def add(self, picture: Image.Image) -> None:
        import av

        width, height = picture.width // 2 * 2, picture.height // 2 * 2  # the format wants even sides
        if self._container is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._container = av.open(str(self._unfinished), "w", format="mp4")
            self._stream = self._container.add_stream(
                "libx264", rate=RATE, options={"preset": "ultrafast", "crf": "26", "threads": "1"}
            )
            self._stream.width, self._stream.height = width, height
            self._stream.pix_fmt = "yuv420p"
        pixels = np.ascontiguousarray(np.asarray(picture.convert("RGB"))[:height, :width])
        for packet in self._stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
            self._container.mux(packet)
        self.pictures += 1

    def close(self) -> None:
        if self._container is None:
            return
        for packet in self._stream.encode():
            self._container.mux(packet)
        self._container.close()
        self._container = None
        os.replace(self._unfinished, self.path)
