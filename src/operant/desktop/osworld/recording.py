"""A film of a desktop's screen, taken from outside while others use it."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
from loguru import logger
from PIL import Image

from operant.desktop.frame_comparison import same_frame
from operant.desktop.protocol import Desktop
from operant.errors import DesktopError, OperantError
from operant.pictures.film import END_MS, Film

__all__ = ["Recording"]

LOOK_S = 0.125
LONGEST_S = 2 * 3600.0
GOODBYE_S = 30.0


class Recording:
    """Looks at the screen a few times a second; a screen that stays the same costs next to nothing."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._directory = tempfile.TemporaryDirectory(prefix="operant-film-")
        self._film = Film(Path(self._directory.name, "recording.mp4"))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="operant-recording", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Each picture is added when the next one is there: only then is known how long it was shown."""
        shown, since = self._look(), time.monotonic()
        began, over = since, False
        while not over and time.monotonic() - began < LONGEST_S:
            over = self._stop.wait(LOOK_S)
            seen, now = self._look(), time.monotonic()
            if shown is None or seen is None or same_frame(shown, seen):
                shown = seen if shown is None else shown
                continue
            self._add(shown, now - since)
            shown, since = seen, now
        if shown is not None:
            self._add(shown, time.monotonic() - since)

    def _look(self) -> npt.NDArray[np.uint8] | None:
        try:
            return self._desktop.glance()
        except (DesktopError, OSError):  # it is starting over
            return None

    def _add(self, frame: npt.NDArray[np.uint8], seconds: float) -> None:
        self._film.add(Image.fromarray(frame), max(2 * END_MS, round(1000 * seconds)))

    def end(self) -> bytes:
        """The mp4; nothing of it stays on the disk."""
        try:
            self._stop.set()
            self._thread.join(GOODBYE_S)
            if self._thread.is_alive():
                raise OperantError("the film is not finished in time")
            self._film.close()
            return self._film.path.read_bytes() if self._film.path.exists() else b""
        finally:
            self._directory.cleanup()

    def discard(self) -> None:
        try:
            self.end()
        except (OperantError, OSError) as error:
            logger.warning("a film that is not wanted could not be ended: {}", error)
