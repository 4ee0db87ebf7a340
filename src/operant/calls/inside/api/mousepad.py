"""Mousepad, the text editor: the text of the open document, its lines, find and replace, saving, options.

All functions are about the document in the topmost window of the editor.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any, Literal

import programs
from bus import SessionBus, session_bus
from display import TopWindow, XDisplay, wait_until
from refusal import Refused
from widgets import (
    DIALOGS,
    FOCUSED,
    FRAME,
    MULTI_LINE,
    PUSH_BUTTON,
    SHOWING,
    TEXT,
    AccessibleApplication,
    AppWidget,
)

WM_CLASS = "Mousepad"
TIME_LIMITS = {"save_as": 20}
DONE_S = 4.0
DIALOG_S = 5.0
PRESS_AGAIN_S = 0.5
MOST_REPLACED = 5000
UNTITLED = re.compile(r"\*?Untitled( \d+)?( - Mousepad)?")


def get_text() -> str:
    """Read the whole text of the document."""
    with session_bus() as bus:
        editor = _Editor(bus)
        return editor.text()


def get_lines(first: int, last: int) -> str:
    """Read the lines from first to last, counted from 1."""
    with session_bus() as bus:
        rows = _Editor(bus).text().splitlines(keepends=True)
        _check_lines(rows, first, last)
        return "".join(rows[first - 1 : last])


def set_text(text: str) -> str:
    """Replace the whole text of the document. It is not saved."""
    with session_bus() as bus:
        editor = _Editor(bus)
        editor.change([(0, len(editor.text()), text)])
        return "the document has %d characters" % len(text)


def insert_text(text: str, line: int | None = None) -> str:
    """Insert text before that line, counted from 1, or at the end of the document."""
    with session_bus() as bus:
        editor = _Editor(bus)
        rows = editor.text().splitlines(keepends=True)
        if line is None:
            place = sum(map(len, rows))
        else:
            _check_lines(rows, line, line)
            place = sum(map(len, rows[: line - 1]))
        editor.change([(place, place, text)])
        return "inserted %d characters" % len(text)


def replace_line(line: int, text: str) -> str:
    """Replace one line, counted from 1, and keep its line break."""
    with session_bus() as bus:
        editor = _Editor(bus)
        rows = editor.text().splitlines(keepends=True)
        _check_lines(rows, line, line)
        begin = sum(map(len, rows[: line - 1]))
        editor.change([(begin, begin + len(rows[line - 1].rstrip("\r\n")), text)])
        return "replaced line %d" % line


def delete_lines(first: int, last: int) -> str:
    """Delete the lines from first to last, counted from 1."""
    with session_bus() as bus:
        editor = _Editor(bus)
        rows = editor.text().splitlines(keepends=True)
        _check_lines(rows, first, last)
        begin = sum(map(len, rows[: first - 1]))
        editor.change([(begin, begin + sum(map(len, rows[first - 1 : last])), "")])
        return "deleted %d lines" % (last - first + 1)


def find_and_replace(find: str, replacement: str, match_case: bool = True) -> str:
    """Replace every occurrence of a text in the document. It is not saved."""
    if not find:
        raise Refused("an empty text can't be found")
    with session_bus() as bus:
        editor = _Editor(bus)
        text = editor.text()
        flags = 0 if match_case else re.IGNORECASE
        found = [one.span() for one in re.finditer(re.escape(find), text, flags)]
        if not found:
            raise Refused("the document does not contain %r" % find[:80])
        if len(found) > MOST_REPLACED:
            pieces, last = [], 0
            for begin, end in found:
                pieces += [text[last:begin], replacement]
                last = end
            editor.change([(0, len(text), "".join(pieces) + text[last:])])
        else:
            editor.change([(begin, end, replacement) for begin, end in found])
        return "replaced %d times" % len(found)


def go_to_line(line: int) -> str:
    """Put the cursor at the beginning of a line, counted from 1."""
    with session_bus() as bus:
        editor = _Editor(bus)
        rows = editor.text().splitlines(keepends=True)
        _check_lines(rows, line, line)
        editor.app.put_caret(editor.view, sum(map(len, rows[: line - 1])))
        return "the cursor is in line %d" % line


def new_document() -> str:
    """Open an empty document in a new tab."""
    with session_bus() as bus, XDisplay() as display:
        before = _window(display).title
        _activate(bus, display, "file.new")
        if not wait_until(lambda: _window(display).title != before, DONE_S):
            raise Refused("the editor opened no document")
        return "opened an empty document"


def save() -> str:
    """Save the document to its file."""
    with session_bus() as bus, XDisplay() as display:
        window = _window(display)
        AccessibleApplication(bus, "mousepad").check_no_dialog()
        if UNTITLED.fullmatch(window.title):
            raise Refused("the document has no file yet: save_as gives it one")
        _activate(bus, display, "file.save")
        if not wait_until(lambda: not _window(display).title.startswith("*"), DONE_S):
            raise Refused("the document could not be saved")
        return "saved"


def save_as(path: str, overwrite: bool = False) -> str:
    """Save the document to another file, which becomes the document's file."""
    place = programs.path_of(path)
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):
        raise Refused("there is no folder %s" % programs.shown(folder))
    if os.path.isdir(place) or (os.path.lexists(place) and not overwrite):
        raise Refused("%s is there already; overwrite=True replaces a file" % programs.shown(place))
    with session_bus() as bus, XDisplay() as display:
        app = AccessibleApplication(bus, "mousepad")
        app.check_no_dialog()
        _activate(bus, display, "file.save-as")
        asked = wait_until(lambda: _name_and_button(app), DIALOG_S, 0.05)
        if asked is None:
            raise Refused("the editor did not ask for a name")
        before = _stamp(place)
        entry, button = asked
        app.set_text(entry, place)
        pressed = -PRESS_AGAIN_S

        def saved() -> bool:
            nonlocal pressed
            if _stamp(place) != before and app.dialog() is None:
                return True
            replace = _first(app.look(), PUSH_BUTTON, "Replace")
            if replace is not None:
                app.press(replace)  # the question whether to overwrite
            elif time.monotonic() >= pressed + PRESS_AGAIN_S and app.dialog() is not None:
                # The dialog ignores the button while it still looks the name up.
                pressed = time.monotonic()
                app.press(button)
            return False

        if not wait_until(saved, DIALOG_S, 0.05):
            cancel = _first(app.look(), PUSH_BUTTON, "Cancel")
            if cancel is not None:
                app.press(cancel)
            raise Refused("the document could not be saved to %s" % programs.shown(place))
        return "saved to %s" % programs.shown(place)


def get_info() -> dict[str, object]:
    """Tell the title of the window, whether there are changes that are not saved, and how long the text is."""
    with session_bus() as bus, XDisplay() as display:
        title = _window(display).title
        text = _Editor(bus).text()
        return {
            "title": title.lstrip("*"),
            "modified": title.startswith("*"),
            "lines": len(text.splitlines()),
            "characters": len(text),
        }


def set_option(
    option: Literal[
        "word-wrap",
        "show-line-numbers",
        "highlight-current-line",
        "auto-indent",
        "insert-spaces",
        "show-whitespace",
        "show-line-endings",
        "show-right-margin",
        "match-braces",
    ],
    on: bool,
) -> str:
    """Switch an option of the editor's view on or off."""
    with session_bus() as bus, XDisplay() as display:
        _window(display)
        place = ("org.xfce.mousepad", "/org/xfce/mousepad", "org.gtk.Actions")
        bus.call(*place, "SetState", "sva{sv}", ("preferences.view." + option, ("b", on), {}))
        return "%s is %s" % (option, "on" if on else "off")


class _Editor:
    """The text view of the topmost window."""

    def __init__(self, bus: SessionBus) -> None:
        with XDisplay() as display:
            title = _window(display).title
        self.app = AccessibleApplication(bus, "mousepad")
        self.app.check_no_dialog()
        frames = [one for one in self.app.look() if one.role == FRAME]
        frame = next((one for one in frames if one.name == title), frames[-1] if frames else None)
        inside = self.app.below(frame) if frame is not None else []
        views = [one for one in inside if one.role == TEXT and one.has(MULTI_LINE) and one.has(SHOWING)]
        if not views:
            raise Refused("the editor shows no document")
        self.view = next((one for one in views if one.has(FOCUSED)), views[0])

    def text(self) -> str:
        return self.app.text(self.view)

    def change(self, changes: Any) -> None:
        before = self.text()
        wanted, last, pieces = before, 0, []
        for begin, end, new in sorted(changes):
            pieces += [before[last:begin], new]
            last = end
        wanted = "".join(pieces) + before[last:]
        self.app.edit(self.view, changes)
        if self.text() != wanted:
            raise Refused("the document does not take the change: it may be read-only")


def _window(display: XDisplay) -> TopWindow:
    """The topmost window of the editor that is no dialog."""
    found = [one for one in display.windows() if one.wm_class == WM_CLASS and not one.modal]
    if not found:
        raise Refused("mousepad is not running: windows.open_application starts it")
    return found[-1]


def _activate(bus: SessionBus, display: XDisplay, action: str) -> None:
    path = display.text(_window(display).id, "_GTK_WINDOW_OBJECT_PATH")
    if not path:
        raise Refused("the editor's window takes no commands")
    bus.tell("org.xfce.mousepad", path, "org.gtk.Actions", "Activate", "sava{sv}", (action, [], {}))


def _first(widgets: list[AppWidget], role: int, name: str | None = None) -> AppWidget | None:
    for one in widgets:
        if one.role == role and one.has(SHOWING) and name in (None, one.name):
            return one
    return None


def _name_and_button(app: AccessibleApplication) -> tuple[AppWidget, AppWidget] | None:
    """Where the dialog takes a name, and what saves, once both are there."""
    for top in app.look():
        if top.role in DIALOGS and top.has(SHOWING):
            inside = app.below(top)
            entry, button = _first(inside, TEXT), _first(inside, PUSH_BUTTON, "Save")
            if entry is not None and button is not None:
                return entry, button
    return None


def _stamp(path: str) -> tuple[int, int] | None:
    """What differs between two states of a file."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_ino


def _check_lines(rows: list[str], first: int, last: int) -> None:
    if not 1 <= first <= last <= max(1, len(rows)):
        raise Refused("the document has %d lines, and lines are counted from 1" % len(rows))
