"""Pictures of a live screen through mss, with an instance kept for each thread that asks."""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.errors import DesktopDied
from operant.types import Monitor

__all__ = ["ScreenGrabber"]

NOMINAL_RESOLUTION = 1 << 4  # kCGWindowImageNominalResolution: macOS shrinks pictures to logical size


class ScreenGrabber:
    """Grabs regions of the screen, in the platform's own coordinates; ``options`` are those of mss."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._local = threading.local()
        self._closers: list[weakref.finalize[..., Any]] = []
        self._lock = threading.Lock()

    def monitors(self) -> list[Monitor]:
        """All monitors together, then each; asked anew, for mss itself remembers."""
        with _translated():
            found = self._instance(anew=True).monitors
        return [Monitor(m["left"], m["top"], m["width"], m["height"]) for m in found]

    def grab(self, region: Monitor) -> npt.NDArray[np.uint8]:
        """That region now, RGB of shape (height, width, 3); on HiDPI screens larger than the region."""
        # mss makes its buffers as large as the screen was, so a screen of another size takes a new one.
        anew = region != getattr(self._local, "region", None)
        self._local.region = region
        box = {"left": region.x, "top": region.y, "width": region.width, "height": region.height}
        with _translated():
            shot = self._instance(anew=anew).grab(box)
        pixels = np.frombuffer(shot.raw, np.uint8).reshape(shot.height, shot.width, 4)
        return pixels[:, :, 2::-1]

    def close(self) -> None:
        with self._lock:
            closers, self._closers = self._closers, []
            self._local = threading.local()
        for close in closers:
            close()

    def _instance(self, *, anew: bool) -> Any:
        if anew and hasattr(self._local, "close"):
            self._local.close()
            del self._local.instance, self._local.close
        if not hasattr(self._local, "instance"):
            self._local.instance = _new_mss(self._options)
            # What a thread kept is closed when the thread is gone, or when we are closed.
            self._local.close = weakref.finalize(threading.current_thread(), self._local.instance.close)
            with self._lock:
                self._closers = [one for one in self._closers if one.alive] + [self._local.close]
        return self._local.instance


def _new_mss(options: dict[str, Any]) -> Any:
    import mss

    if sys.platform == "darwin":
        use_physical_pixels()
    if hasattr(mss, "MSS"):
        return mss.MSS(**options)
    return mss.mss(**options)  # its name before 10.2


def use_physical_pixels() -> None:
    """Have macOS hand out every pixel of a Retina screen."""
    import mss.darwin

    mss.darwin.IMAGE_OPTIONS &= ~NOMINAL_RESOLUTION


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    from mss.exception import ScreenShotError

    try:
        yield
    except ScreenShotError as error:
        raise DesktopDied(f"the screen can't be captured: {error}") from error
