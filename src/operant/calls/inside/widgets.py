"""Widgets of an application over AT-SPI: find them, read and change their text, press them."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple

from bus import SessionBus
from display import wait_until
from refusal import Refused

ROOT = "/org/a11y/atspi/accessible/root"
ACCESSIBLE = "org.a11y.atspi.Accessible"
PROPERTIES = "org.freedesktop.DBus.Properties"
MOST_WIDGETS = 20_000
REGISTERED_S = 2.0  # how long an application may take to be accessible
#: Numbers of AT-SPI's roles and states.
TEXT, ENTRY, FRAME, PUSH_BUTTON, TOGGLE_BUTTON, FILE_CHOOSER = 61, 79, 23, 43, 62, 19
DIALOGS = (2, 9, 16, 19, 22)  # alert, color chooser, dialog, file chooser, font chooser
ACTIVE, CHECKED, FOCUSED, MULTI_LINE, SHOWING = 1, 4, 12, 17, 25


class AppWidget(NamedTuple):
    path: str
    parent: str
    name: str
    role: int
    states: int

    def has(self, state: int) -> bool:
        return bool(self.states >> state & 1)


class AccessibleApplication:
    """One running application."""

    def __init__(self, bus: SessionBus, name: str) -> None:
        self.name = name
        self._bus = bus
        self._all: List[AppWidget] = []
        self.address = wait_until(self._find, REGISTERED_S, 0.05)
        if not self.address:
            raise Refused("%s is not running" % name)

    def _find(self) -> str:
        children = self._bus.call("org.a11y.atspi.Registry", ROOT, ACCESSIBLE, "GetChildren")[0]
        for address, _path in children[::-1]:
            try:
                said = self._bus.call(address, ROOT, PROPERTIES, "Get", "ss", (ACCESSIBLE, "Name"))[0]
            except Refused:
                continue  # gone, or hung: not the one
            if said.lower() == self.name.lower():
                # Only to those who asked for this an application shows all of its widgets.
                self._bus.call(address, ROOT, "org.a11y.atspi.Application", "GetApplicationBusAddress")
                return str(address)
        return ""

    def look(self) -> List[AppWidget]:
        """All widgets as they are now."""
        items = self._bus.call(self.address, "/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems")[0]
        self._all = [
            AppWidget(
                item[0][1],
                item[2][1],
                item[6],
                item[7],
                sum(word << 32 * i for i, word in enumerate(item[9])),
            )
            for item in items[:MOST_WIDGETS]
        ]
        return self._all

    def dialog(self) -> Optional[AppWidget]:
        """A dialog that is open: its window, and not the file chooser that is a part of it."""
        found = [one for one in self.look() if one.role in DIALOGS and one.has(SHOWING)]
        return min(found, key=lambda one: one.parent != ROOT, default=None)

    def check_no_dialog(self) -> None:
        found = self.dialog()
        if found is not None:
            raise Refused(
                "the dialog %r of %s is open: close it first" % (found.name or "untitled", self.name)
            )

    def below(self, top: AppWidget) -> List[AppWidget]:
        """The widgets inside another one, by the last look."""
        inside, last = {top.path}, 0
        while len(inside) != last:
            last = len(inside)
            inside |= {one.path for one in self._all if one.parent in inside}
        return [one for one in self._all if one.path in inside]

    def text(self, widget: AppWidget) -> str:
        return str(
            self._bus.call(self.address, widget.path, "org.a11y.atspi.Text", "GetText", "ii", (0, -1))[0]
        )

    def edit(self, widget: AppWidget, changes: List[Tuple[int, int, str]]) -> None:
        """Replace pieces (begin, end, text) of a text, the last one first."""
        interface = "org.a11y.atspi.EditableText"
        for begin, end, text in sorted(changes, reverse=True):
            if end > begin:
                self._bus.call(self.address, widget.path, interface, "DeleteText", "ii", (begin, end))
            if text:
                size = len(text.encode())
                self._bus.call(self.address, widget.path, interface, "InsertText", "isi", (begin, text, size))

    def set_text(self, widget: AppWidget, text: str) -> None:
        self._bus.call(
            self.address, widget.path, "org.a11y.atspi.EditableText", "SetTextContents", "s", (text,)
        )

    def put_caret(self, widget: AppWidget, offset: int) -> None:
        self._bus.call(self.address, widget.path, "org.a11y.atspi.Text", "SetCaretOffset", "i", (offset,))

    def press(self, widget: AppWidget) -> None:
        """Do what a click on it does."""
        self._bus.call(self.address, widget.path, "org.a11y.atspi.Action", "DoAction", "i", (0,))
