"""Pictures of a live screen through mss, which keeps an instance for each thread that asks."""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.errors import DesktopDied
from operant.types import Monitor

__all__ = ["ScreenGrabber"]

NOMINAL_RESOLUTION = 1 << 4  # kCGWindowImageNominalResolution: macOS shrinks pictures to logical size


class ScreenGrabber:
    """Grabs regions of the screen, in the platform's own coordinates. ``options`` are those of ``mss.MSS``."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._local = threading.local()
        # Weak, so that what a thread kept goes with the thread.
        self._all: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()

    def monitors(self) -> list[Monitor]:
        """All monitors together, then each; asked anew, for mss itself remembers."""
        self._forget()
        return [Monitor(m["left"], m["top"], m["width"], m["height"]) for m in self._mss().monitors]

    def grab(self, region: Monitor) -> npt.NDArray[np.uint8]:
        """That region now, RGB of shape (height, width, 3); on HiDPI screens larger than the region."""
        from mss.exception import ScreenShotError

        box = {"left": region.x, "top": region.y, "width": region.width, "height": region.height}
        try:
            try:
                shot = self._mss().grab(box)
            except ScreenShotError:
                # Its buffers are as large as the screen was; it may have grown since.
                self._forget()
                shot = self._mss().grab(box)
        except ScreenShotError as error:
            raise DesktopDied(f"the screen can't be captured: {error}") from error
        pixels = np.frombuffer(shot.raw, np.uint8).reshape(shot.height, shot.width, 4)
        return pixels[:, :, 2::-1]

    def close(self) -> None:
        with self._lock:
            kept, self._all = list(self._all), weakref.WeakSet()
            self._local = threading.local()
        for instance in kept:
            instance.close()

    def _mss(self) -> Any:
        instance = getattr(self._local, "instance", None)
        if instance is None:
            instance = self._local.instance = _new_mss(self._options)
            with self._lock:
                self._all.add(instance)
        return instance

    def _forget(self) -> None:
        instance = getattr(self._local, "instance", None)
        if instance is not None:
            del self._local.instance
            with contextlib.suppress(Exception):
                instance.close()


def _new_mss(options: dict[str, Any]) -> Any:
    import mss

    if sys.platform == "darwin":
        use_physical_pixels()
    # Called ``mss.mss`` before 10.2, which later ones deprecate.
    return getattr(mss, "MSS", None)(**options) if hasattr(mss, "MSS") else mss.mss(**options)


def use_physical_pixels() -> None:
    """Have macOS hand out every pixel of a Retina screen."""
    import mss.darwin

    mss.darwin.IMAGE_OPTIONS &= ~NOMINAL_RESOLUTION
