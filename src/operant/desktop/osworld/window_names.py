"""Windows by name, as the program ``wmctrl`` finds them: that is how OSWorld's clients name them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from operant.types import Window

__all__ = ["find_window", "window_of_file"]


def find_window(
    windows: Iterable[Window], name: str, *, strict: bool = False, by_class: bool = False
) -> Window | None:
    """The first window of that title, or of that ``instance.Class``; part of it is enough unless ``strict``."""
    for window in windows:
        shown = f"{window.instance}.{window.wm_class}" if by_class else window.title
        if name == shown if strict else name.casefold() in shown.casefold():
            return window
    return None


def window_of_file(windows: Iterable[Window], path: str) -> Window | None:
    """The window that shows a file: its title has the file's name, or else the name without its suffix."""
    shown, file = list(windows), PurePosixPath(path)
    names = dict.fromkeys((file.name, file.stem))
    found = (next((one for one in reversed(shown) if name in one.title), None) for name in names)
    return next((window for window in found if window is not None), None)
