"""Applications of the fake desktop: a calculator, a notepad, a file list and a panel of what a test needs.

Each reacts to clicks, keys and text as its real namesake would where tests care. To add one, subclass
``FakeApp`` and hand it to ``FakeDesktop(apps={"name": YourApp})``.
"""

from __future__ import annotations

import operator
import posixpath
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from operant.testing.canvas import Canvas
from operant.testing.widgets import ButtonWidget, CheckBox, Entry, Item, Label, TextArea, Widget

if TYPE_CHECKING:
    from operant.testing.fake_desktop import FakeDesktop

__all__ = ["FAKE_APPS", "Calculator", "FakeApp", "FileList", "Notepad", "Panel"]


class FakeApp:
    """One window and what is in it. ``layout`` makes the widgets from the state whenever that changed."""

    wm_class = "App"
    size = (480, 320)

    def __init__(self, desktop: FakeDesktop, argv: list[str]) -> None:
        self.desktop = desktop
        self.argv = argv
        self.widgets: list[Widget] = []
        self.width, self.height = self.size
        self.layout()

    @property
    def title(self) -> str:
        return self.argv[0]

    def layout(self) -> None:
        """Fill ``self.widgets``; later ones lie above earlier ones."""

    def resize(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.layout()

    # Events; positions are relative to the client area.

    @property
    def focus(self) -> Widget | None:
        return next((widget for widget in self.widgets if widget.focused), None)

    def give_focus(self, widget: Widget | None) -> None:
        for other in self.widgets:
            other.focused = other is widget

    def click(self, x: int, y: int, clicks: int) -> None:
        for widget in reversed(self.widgets):
            if widget.holds(x, y):
                if widget.focusable:
                    self.give_focus(widget)
                widget.press(clicks)
                return
        self.click_beside()

    def click_beside(self) -> None:
        """A click that hit no widget."""

    def type(self, character: str) -> None:
        if self.focus is not None:
            self.focus.insert(character)

    def key(self, chord: tuple[str, ...]) -> None:
        if self.shortcut(chord):
            return
        focus = self.focus
        if focus is not None and focus.key(chord, self.desktop.clipboard):
            return
        if chord in (("tab",), ("shift", "tab")):
            self._next_focus(-1 if "shift" in chord else 1)

    def shortcut(self, chord: tuple[str, ...]) -> bool:
        """A key that means something to the whole window."""
        return False

    def scroll(self, notches: int) -> None:
        """The wheel was turned; down is positive."""

    def _next_focus(self, step: int) -> None:
        able = [widget for widget in self.widgets if widget.focusable and widget.shown]
        if able:
            at = next((index for index, widget in enumerate(able) if widget.focused), -1 if step > 0 else 0)
            self.give_focus(able[(at + step) % len(able)])

    def paint(self, canvas: Canvas) -> None:
        for widget in self.widgets:
            if widget.shown:
                widget.paint(canvas)


class Calculator(FakeApp):
    """Reckons from left to right, without precedence, like a cheap pocket calculator."""

    wm_class = "Galculator"
    size = (260, 300)
    ROWS = ("C AC / *", "7 8 9 -", "4 5 6 +", "1 2 3 =", "0 . +/- <-")
    OPERATORS: ClassVar[Mapping[str, Callable[[float, float], float]]] = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
    }

    def __init__(self, desktop: FakeDesktop, argv: list[str]) -> None:
        self.shown = "0"
        self._left: float | None = None
        self._operator = ""
        self._fresh = True
        super().__init__(desktop, argv)

    def layout(self) -> None:
        display = Entry("", (8, 8, self.width - 16, 40), self.shown)
        wide, high = (self.width - 16) // 4, (self.height - 64) // len(self.ROWS)
        self.widgets = [display]
        for row, names in enumerate(self.ROWS):
            for column, name in enumerate(names.split()):
                box = (8 + column * wide, 56 + row * high, wide - 4, high - 4)
                press = partial(self.press, name)
                self.widgets.append(ButtonWidget(name, box, press, role="toggle button"))

    def press(self, name: str) -> None:
        """One button, by its label."""
        if name in self.OPERATORS or name == "=":
            self._reckon()
            self._operator = name if name != "=" else ""
        elif name == "C":
            self.shown, self._fresh = "0", True
        elif name == "AC":
            self.shown, self._fresh, self._left, self._operator = "0", True, None, ""
        elif name == "<-":
            self.shown = self.shown[:-1] if len(self.shown) > 1 else "0"
        elif name == "+/-":
            self.shown = self.shown[1:] if self.shown.startswith("-") else "-" + self.shown
        else:
            self.shown = name if self._fresh and name != "." else self.shown + name
            self._fresh = False
        display = self.widgets[0]
        assert isinstance(display, Entry)
        display.replace(self.shown)

    def _reckon(self) -> None:
        try:
            right = float(self.shown)
        except ValueError:
            right = 0.0
        if self._operator and self._left is not None:
            try:
                right = float(self.OPERATORS[self._operator](self._left, right))
            except (ZeroDivisionError, OverflowError):
                right = 0.0
        self._left, self._fresh = right, True
        self.shown = f"{right:.10g}"

    def type(self, character: str) -> None:
        if any(character in row.split() for row in self.ROWS):
            self.press(character)

    def shortcut(self, chord: tuple[str, ...]) -> bool:
        if len(chord) == 1 and len(chord[0]) == 1:
            self.type(chord[0])
            return True
        meaning = {"enter": "=", "esc": "AC", "backspace": "<-"}.get(chord[0]) if len(chord) == 1 else None
        if meaning:
            self.press(meaning)
        return meaning is not None


class Notepad(FakeApp):
    """Edits one file; Ctrl+S saves, and asks for a name where there is none."""

    wm_class = "Mousepad"
    size = (420, 300)

    def __init__(self, desktop: FakeDesktop, argv: list[str]) -> None:
        self.path: str | None = argv[1] if len(argv) > 1 else None
        self.menu_open = self.asking = self.modified = False
        text = desktop.files.read_text(self.path) if self.path and desktop.files.exists(self.path) else ""
        self.area = TextArea("", (0, 0, 1, 1), text, changed=self._change)
        self.question = Entry("Name", (0, 0, 1, 1), entered=self._save_as)
        super().__init__(desktop, argv)
        self.give_focus(self.area)

    @property
    def title(self) -> str:
        name = posixpath.basename(self.path) if self.path else "Untitled 1"
        return f"{'*' if self.modified else ''}{name} - Mousepad"

    @property
    def text(self) -> str:
        return self.area.text

    def layout(self) -> None:
        focus = self.focus
        self.area.box = (0, 24, self.width, self.height - 24)
        self.widgets = [self.area, ButtonWidget("File", (0, 0, 60, 22), self._toggle_menu, role="menu")]
        if self.menu_open:
            entries = (
                ("Save", self.save),
                ("Save As...", self._ask),
                ("Close", lambda: self.desktop.quit(self)),
            )
            for row, (name, action) in enumerate(entries):
                self.widgets.append(
                    ButtonWidget(name, (0, 22 + 24 * row, 130, 24), self._from_menu(action), role="menu item")
                )
        if self.asking:
            self.question.box = (60, self.height - 34, self.width - 150, 26)
            self.widgets += [
                Label("Name:", (8, self.height - 30, 50, 20)),
                self.question,
                ButtonWidget("Save", (self.width - 84, self.height - 34, 76, 26), self._save_as),
            ]
        if focus is not None and focus in self.widgets:
            self.give_focus(focus)

    def _change(self) -> None:
        self.modified = True

    def _toggle_menu(self) -> None:
        self.menu_open = not self.menu_open
        self.layout()

    def _from_menu(self, action: Callable[[], None]) -> Callable[[], None]:
        def chosen() -> None:
            self.menu_open = False
            self.layout()
            action()

        return chosen

    def click_beside(self) -> None:
        self.menu_open = False
        self.layout()

    def save(self) -> None:
        if self.path is None:
            self._ask()
            return
        self.desktop.files.write(self.path, self.area.text)
        self.modified = False

    def _ask(self) -> None:
        self.asking = True
        self.question.replace("")
        self.layout()
        self.give_focus(self.question)

    def _save_as(self) -> None:
        if not self.question.text.strip():
            return
        self.path, self.asking = self.question.text.strip(), False
        self.layout()
        self.give_focus(self.area)
        self.save()

    def shortcut(self, chord: tuple[str, ...]) -> bool:
        if chord == ("ctrl", "s"):
            self.save()
        elif chord == ("ctrl", "shift", "s"):
            self._ask()
        elif chord == ("ctrl", "q"):
            self.desktop.quit(self)
        elif chord == ("esc",):
            self.menu_open = self.asking = False
            self.layout()
            self.give_focus(self.area)
        else:
            return False
        return True


class FileList(FakeApp):
    """The files of a directory: open by double click, F2 renames, Delete removes, Backspace goes up."""

    wm_class = "Pcmanfm"
    size = (360, 300)
    ROW = 22

    def __init__(self, desktop: FakeDesktop, argv: list[str]) -> None:
        self.directory = argv[1] if len(argv) > 1 else "."
        self.selected: str | None = None
        self.renaming: Entry | None = None
        self.first = 0
        super().__init__(desktop, argv)

    @property
    def title(self) -> str:
        return posixpath.basename(posixpath.normpath(posixpath.join("/home/user", self.directory))) or "/"

    def layout(self) -> None:
        names = [
            entry.name for entry in self.desktop.files.list(self.directory) if not entry.name.startswith(".")
        ]
        room = max(1, self.height // self.ROW)
        self.first = min(max(self.first, 0), max(0, len(names) - room))
        self.widgets = []
        for row, name in enumerate(names[self.first : self.first + room]):
            box = (0, row * self.ROW, self.width, self.ROW)
            item = Item(name, box, self._selecting(name), self._opening(name))
            item.selected = name == self.selected
            self.widgets.append(item)
            if item.selected and self.renaming is not None:
                self.renaming.box = box
                self.widgets.append(self.renaming)

    def _selecting(self, name: str) -> Callable[[], None]:
        def select() -> None:
            self.selected, self.renaming = name, None
            self.layout()

        return select

    def _opening(self, name: str) -> Callable[[], None]:
        def open_it() -> None:
            path = posixpath.join(self.directory, name)
            if self.desktop.files.is_dir(path):
                self._enter(path)
            else:
                self.desktop.launch(["mousepad", path])

        return open_it

    def _enter(self, directory: str) -> None:
        self.directory, self.selected, self.renaming, self.first = directory, None, None, 0
        self.layout()

    def scroll(self, notches: int) -> None:
        self.first += 3 * notches
        self.layout()

    def shortcut(self, chord: tuple[str, ...]) -> bool:
        if self.renaming is not None:
            if chord == ("esc",):
                self.renaming = None
                self.layout()
            return chord == ("esc",)
        path = posixpath.join(self.directory, self.selected) if self.selected else None
        if chord in (("backspace",), ("alt", "up")):
            self._enter(posixpath.join(self.directory, ".."))
        elif chord == ("f2",) and self.selected:
            self.renaming = Entry("", (0, 0, 1, 1), self.selected, entered=self._rename)
            self.renaming.all_selected = True
            self.layout()
            self.give_focus(self.renaming)
        elif chord == ("delete",) and path and self.desktop.files.exists(path):
            self.desktop.files.remove(path)
            self.selected = None
            self.layout()
        elif chord == ("enter",) and self.selected:
            self._opening(self.selected)()
        else:
            return False
        return True

    def _rename(self) -> None:
        if (
            self.renaming is not None
            and self.selected
            and self.renaming.text
            and "/" not in self.renaming.text
        ):
            target = posixpath.join(self.directory, self.renaming.text)
            if not self.desktop.files.exists(target):
                self.desktop.files.move(posixpath.join(self.directory, self.selected), target)
            self.selected, self.renaming = self.renaming.text, None
            self.layout()


class Panel(FakeApp):
    """Whatever is named on its command line: ``panel button:OK entry:Name check:Dark menu:View``, in a grid.

    Each press and each text that was entered is a line of ``panel.log`` in HOME, so that any criterion on
    files can judge it. A ``menu`` does nothing but open and close.
    """

    wm_class = "Panel"
    size = (420, 260)
    COLUMNS = 2

    def layout(self) -> None:
        specs = [word.partition(":")[::2] for word in self.argv[1:]]
        rows = max(1, -(-len(specs) // self.COLUMNS))
        wide, high = self.width // self.COLUMNS, self.height // rows
        self.widgets = []
        for index, (kind, name) in enumerate(specs):
            column, row = index % self.COLUMNS, index // self.COLUMNS
            box = (column * wide + 6, row * high + 6, wide - 12, min(high - 12, 60))
            self.widgets += self._make(kind, name, box)

    def _make(self, kind: str, name: str, box: tuple[int, int, int, int]) -> list[Widget]:
        if kind == "button":
            return [ButtonWidget(name, box, lambda: self._log(f"pressed {name}"))]
        if kind == "check":
            tick = CheckBox(
                name, box, lambda: self._log(f"{'checked' if tick.checked else 'unchecked'} {name}")
            )
            return [tick]
        if kind == "entry":
            x, y, width, height = box
            field = Entry(name, (x, y + 18, width, max(22, min(26, height - 18))))
            field.entered = lambda: self._log(f"entered {field.text}")
            return [Label(name, (x, y, width, 16)), field]
        if kind == "menu":
            shown = Label(f"{name} is open", (box[0], box[1] + box[3] // 2, box[2], 16))
            shown.shown = False

            def toggle() -> None:
                shown.shown = not shown.shown

            return [ButtonWidget(name, (*box[:3], max(16, box[3] // 2 - 2)), toggle, role="menu"), shown]
        return [Label(name, box)]

    def _log(self, line: str) -> None:
        files = self.desktop.files
        before = files.read_text("panel.log") if files.exists("panel.log") else ""
        files.write("panel.log", before + line + "\n")


#: The command that starts it -> the application. The first three go by the names of real ones.
FAKE_APPS: dict[str, type[FakeApp]] = {
    "galculator": Calculator,
    "mousepad": Notepad,
    "pcmanfm": FileList,
    "panel": Panel,
}
