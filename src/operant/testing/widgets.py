"""Widgets of the fake desktop: what they look like, how they react, and what accessibility says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from operant.testing.canvas import Box, Canvas, Colour
from operant.types import Caret, Node

__all__ = ["ButtonWidget", "CheckBox", "Entry", "Item", "Label", "Pasteboard", "TextArea", "Widget"]

PAPER: Colour = (255, 255, 255)
FACE: Colour = (225, 225, 228)
EDGE: Colour = (120, 120, 125)
ACCENT: Colour = (70, 130, 200)
LINE_HEIGHT = 17


class Pasteboard(Protocol):
    """Where copied text goes."""

    def get(self, selection: str = "clipboard") -> str | None: ...

    def set(self, text: str, selection: str = "clipboard") -> None: ...


class Widget:
    """Something in a window. ``box`` is relative to the window's client area."""

    role = "panel"
    focusable = False

    def __init__(self, name: str, box: Box) -> None:
        self.name = name
        self.box = box
        self.shown = True
        self.focused = False

    def holds(self, x: int, y: int) -> bool:
        left, top, width, height = self.box
        return self.shown and left <= x < left + width and top <= y < top + height

    def press(self, clicks: int) -> None:
        """The left button went down and up on it."""

    def insert(self, text: str) -> None:
        """Text was typed while it had the focus."""

    def key(self, chord: tuple[str, ...], pasteboard: Pasteboard) -> bool:
        """A key was pressed while it had the focus; says whether that meant anything to it."""
        return False

    def paint(self, canvas: Canvas) -> None: ...

    def states(self) -> set[str]:
        return {"enabled", "sensitive", "showing", "visible"}

    def content(self) -> str | None:
        return None

    def caret_now(self) -> Caret | None:
        """Caret and selection, of a widget that is made for text."""
        return None

    def node(self, x: int, y: int) -> Node:
        left, top, width, height = self.box
        states = (
            self.states()
            | ({"focusable"} if self.focusable else set())
            | ({"focused"} if self.focused else set())
        )
        return Node(
            self.role, self.name, frozenset(states), (left + x, top + y, width, height), self.content()
        )


class Label(Widget):
    role = "label"

    def paint(self, canvas: Canvas) -> None:
        canvas.write(self.box[0], self.box[1], self.name)


class ButtonWidget(Widget):
    """Does something when it is pressed."""

    role = "push button"
    focusable = True

    def __init__(
        self,
        name: str,
        box: Box,
        action: Callable[[], None],
        *,
        role: str = "push button",
        colour: Colour = FACE,
    ) -> None:
        super().__init__(name, box)
        self.action = action
        self.role = role
        self.colour = colour

    def press(self, clicks: int) -> None:
        for _ in range(clicks):
            self.action()

    def key(self, chord: tuple[str, ...], pasteboard: Pasteboard) -> bool:
        if chord in (("space",), (" ",), ("enter",)):
            self.action()
            return True
        return False

    def paint(self, canvas: Canvas) -> None:
        canvas.fill(self.box, self.colour)
        canvas.outline(self.box, ACCENT if self.focused else EDGE)
        canvas.write_centred(self.box, self.name)


class CheckBox(Widget):
    role = "check box"
    focusable = True

    def __init__(self, name: str, box: Box, action: Callable[[], None]) -> None:
        super().__init__(name, box)
        self.checked = False
        self.action = action

    def press(self, clicks: int) -> None:
        for _ in range(clicks):
            self.checked = not self.checked
            self.action()

    def key(self, chord: tuple[str, ...], pasteboard: Pasteboard) -> bool:
        if chord in (("space",), (" ",)):
            self.press(1)
            return True
        return False

    def states(self) -> set[str]:
        return super().states() | ({"checked"} if self.checked else set())

    def paint(self, canvas: Canvas) -> None:
        x, y, _width, height = self.box
        tick = (x + 2, y + (height - 14) // 2, 14, 14)
        canvas.fill(tick, ACCENT if self.checked else PAPER)
        canvas.outline(tick, EDGE)
        canvas.write(x + 22, y + (height - 16) // 2, self.name)


class Item(Widget):
    """A line of a list: one click selects, two open."""

    role = "icon"
    focusable = True

    def __init__(self, name: str, box: Box, select: Callable[[], None], activate: Callable[[], None]) -> None:
        super().__init__(name, box)
        self.selected = False
        self.select = select
        self.activate = activate

    def press(self, clicks: int) -> None:
        self.select()
        if clicks > 1:
            self.activate()

    def states(self) -> set[str]:
        return super().states() | ({"selected"} if self.selected else set())

    def content(self) -> str | None:
        return self.name

    def paint(self, canvas: Canvas) -> None:
        canvas.fill(self.box, ACCENT if self.selected else PAPER)
        canvas.write(self.box[0] + 4, self.box[1] + 2, self.name)


class Entry(Widget):
    """One line of text that can be edited."""

    role = "text"
    focusable = True
    multiline = False

    def __init__(
        self,
        name: str,
        box: Box,
        text: str = "",
        *,
        changed: Callable[[], None] | None = None,
        entered: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(name, box)
        self.text = text
        self.caret = len(text)
        self.all_selected = False
        self.changed = changed
        self.entered = entered

    def press(self, clicks: int) -> None:
        self.caret = len(self.text)
        self.all_selected = clicks > 1

    def insert(self, text: str) -> None:
        self._replace_selection()
        self.text = self.text[: self.caret] + text + self.text[self.caret :]
        self.caret += len(text)
        self._tell()

    def replace(self, text: str) -> None:
        """Change the text from outside."""
        self.text, self.caret, self.all_selected = text, len(text), False

    def key(self, chord: tuple[str, ...], pasteboard: Pasteboard) -> bool:
        if chord == ("ctrl", "a"):
            self.all_selected = True
        elif chord == ("ctrl", "c"):
            self._copy(pasteboard)
        elif chord == ("ctrl", "x"):
            self._copy(pasteboard)
            self._replace_selection()
            self._tell()
        elif chord == ("ctrl", "v"):
            self.insert(pasteboard.get() or "")
        elif chord == ("backspace",):
            self._delete(forward=False)
        elif chord == ("delete",):
            self._delete(forward=True)
        elif chord in (("left",), ("right",), ("home",), ("end",)):
            self.all_selected = False
            places = {"left": self.caret - 1, "right": self.caret + 1, "home": 0, "end": len(self.text)}
            self.caret = min(max(places[chord[0]], 0), len(self.text))
        elif chord == ("enter",):
            return self._enter()
        else:
            return False
        return True

    def _enter(self) -> bool:
        if self.entered is not None:
            self.entered()
        return self.entered is not None

    def _delete(self, *, forward: bool) -> None:
        if self.all_selected:
            self._replace_selection()
        elif forward:
            self.text = self.text[: self.caret] + self.text[self.caret + 1 :]
        elif self.caret:
            self.text = self.text[: self.caret - 1] + self.text[self.caret :]
            self.caret -= 1
        self._tell()

    def _copy(self, pasteboard: Pasteboard) -> None:
        if self.all_selected:
            pasteboard.set(self.text)

    def _replace_selection(self) -> None:
        if self.all_selected:
            self.replace("")

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed()

    def states(self) -> set[str]:
        return super().states() | {"editable"} | ({"multi line"} if self.multiline else set())

    def content(self) -> str | None:
        return self.text

    def caret_now(self) -> Caret | None:
        marked = (0, len(self.text)) if self.all_selected and self.text else None
        return Caret(self.text, self.caret, marked)

    def paint(self, canvas: Canvas) -> None:
        x, y, width, height = self.box
        canvas.fill(self.box, (205, 222, 245) if self.all_selected and self.text else PAPER)
        canvas.outline(self.box, ACCENT if self.focused else EDGE)
        lines = self.text.split("\n")
        room = max(1, (height - 4) // LINE_HEIGHT)
        for row, line in enumerate(lines[-room:]):
            canvas.write(x + 4, y + 4 + row * LINE_HEIGHT, line[: max(1, width // 6)])


class TextArea(Entry):
    """Many lines of text."""

    multiline = True

    def _enter(self) -> bool:
        self.insert("\n")
        return True
