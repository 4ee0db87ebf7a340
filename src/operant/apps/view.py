"""What an oracle sees of a desktop in one moment: windows, widgets, files, clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from operant.errors import AccessibilityError, WidgetMissing
from operant.types import Action, Caret, Node, Point, Size, Window

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["HOME", "View"]

HOME = "/home/user"  # what programs of a desktop see


class View:
    """What an oracle sees in one moment; everything is read at most once."""

    def __init__(self, desktop: Desktop, last: Action | None = None, answer: str = "") -> None:
        self.desktop = desktop
        self.last = last
        """The action before, which leaves things that no look can tell: a selection, a key held down."""
        self.answer = answer
        """What that action answered, such as the result of a call."""
        self.size: Size = desktop.size
        self._windows: list[Window] | None = None
        self._trees: dict[str, Node] = {}
        self._caret: tuple[Caret | None] | None = None

    # Windows.

    @property
    def windows(self) -> list[Window]:
        """Top-level windows from the bottom of the stack to the top."""
        if self._windows is None:
            self._windows = self.desktop.windows()
        return self._windows

    @property
    def focused(self) -> Window | None:
        return next((window for window in self.windows if window.focused), None)

    def window(self, title: str | None = None, *, wm_class: str | None = None) -> Window | None:
        """The topmost window whose title contains that text and whose class is that one."""
        for window in reversed(self.windows):
            if (title is None or title in window.title) and (wm_class is None or window.wm_class == wm_class):
                return window
        return None

    # Widgets.

    def tree(self, app: str | None = None) -> Node:
        """The widgets of the focused window, or of a named application; an empty tree if there are none."""
        key = app or ""
        if key not in self._trees:
            try:
                self._trees[key] = self.desktop.accessibility(app=app)
            except AccessibilityError:
                self._trees[key] = Node("desktop frame", "", frozenset(), None)
        return self._trees[key]

    def widgets(
        self,
        role: str | None = None,
        name: str | None = None,
        *,
        text: str | None = None,
        state: str | None = None,
        app: str | None = None,
    ) -> list[Node]:
        """All shown widgets with that role, name, text and state that have a place on the screen."""
        return [
            node
            for node in self.tree(app).walk()
            if role in (None, node.role)
            and name in (None, node.name)
            and text in (None, node.text)
            and (state is None or state in node.states)
            and node.box is not None
        ]

    def widget(self, role: str | None = None, name: str | None = None, **more: str | None) -> Node | None:
        """The first of them."""
        found = self.widgets(role, name, **more)
        return found[0] if found else None

    def caret(self) -> Caret | None:
        """Caret and selection of the text that has the focus; None if no text has it."""
        if self._caret is None:
            self._caret = (self.desktop.caret(),)
        return self._caret[0]

    # Other state.

    def read(self, path: str) -> str | None:
        """A file's text, or None if there is no such file."""
        try:
            return self.desktop.files.read_text(path)
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        return self.desktop.files.exists(path)

    def clipboard(self) -> str | None:
        return self.desktop.clipboard.get()

    # Actions on what was found.

    def point(self, x: float, y: float) -> Point:
        """A pixel as a point, brought onto the screen if it lies outside."""
        column = min(max(int(x), 0), self.size.width - 1)
        row = min(max(int(y), 0), self.size.height - 1)
        return Point.from_pixel(column, row, self.size)

    def centre(self, node: Node) -> Point:
        if node.box is None:
            raise WidgetMissing(f"the {node.role} {node.name!r} has no place on the screen")
        x, y, width, height = node.box
        return self.point(x + width / 2, y + height / 2)

    def click(self, node: Node | None, **more: object) -> Action:
        """Click in the middle of a widget."""
        if node is None:
            raise WidgetMissing("the oracle did not find the widget that it wants to click")
        return Action.click(self.centre(node), **more)
