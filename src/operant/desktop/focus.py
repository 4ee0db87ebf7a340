"""Click to focus, done here and not by the window manager.

A window manager that raises what is clicked has to hold every press back, look at it and hand it on. The release
then reaches the application later than the press, GTK paints the two apart, and it paints only every 17 ms. So
openbox leaves clicks into windows alone, so a click first asks it to raise the window that is not in front.
"""

from __future__ import annotations

import contextlib

import xcffib.xproto as xproto

from operant.desktop.display import Display
from operant.desktop.windows import activate_window, active_window

__all__ = ["ClickToFocus"]


class ClickToFocus:
    def __init__(self, display: Display) -> None:
        self.display = display
        self._front = 0  # the frame of the window that has the focus, as far as nothing has changed since

    def before_press(self, place: tuple[int, int] | None) -> None:
        """Raise and focus the window at that place, or under the pointer, if it is a managed one without the focus.

        The pointer stays where it is: a move of its own would be painted before the click.
        """
        display = self.display
        with display.limited():
            if place is None:
                frame = display.core.QueryPointer(display.root).reply().child
            else:
                frame = display.core.TranslateCoordinates(display.root, display.root, *place).reply().child
        display.read_events()
        if display.properties_changed:
            display.properties_changed = False
            self._front = self._frame_of(active_window(display))
        if frame in (0, self._front):
            return
        for window in self._managed():
            if self._frame_of(window) == frame:
                if not self._is_dock(window):
                    activate_window(display, window)
                return

    def _is_dock(self, window: int) -> bool:
        """Whether it is a panel, which takes clicks and leaves the focus where it is."""
        display = self.display
        with display.limited(), contextlib.suppress(xproto.WindowError):
            types = display.words(display.ask_property(window, "_NET_WM_WINDOW_TYPE").reply())
            return display.atom("_NET_WM_WINDOW_TYPE_DOCK") in types
        return False

    def _managed(self) -> tuple[int, ...]:
        with self.display.limited():
            return self.display.words(
                self.display.ask_property(self.display.root, "_NET_CLIENT_LIST").reply()
            )

    def _frame_of(self, window: int) -> int:
        """The child of the root that holds a window; 0 if there is none any more."""
        if not window:
            return 0
        try:
            with self.display.limited():
                parent: int = self.display.core.QueryTree(window).reply().parent
        except xproto.WindowError:
            return 0
        return window if parent == self.display.root else parent
