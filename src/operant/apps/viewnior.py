"""Viewnior, the image viewer: which picture it shows, and how pictures are turned, saved and deleted."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from operant.apps.base import App
from operant.apps.moves import SELECT_ALL, Goal, Move, all_selected, once, steps, unread
from operant.apps.view import View
from operant.types import Action, Node

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "SIZE", "ShownPicture", "Viewnior", "deleted", "normal_size", "on_picture", "turned"]

NAME = "viewnior"
SIZE = (620, 440)
TITLE = re.compile(r"(?P<changed>\*?)(?P<name>.+) - (?P<index>\d+)/(?P<count>\d+) - (?P<zoom>\d+)%")
CLOCKWISE, ANTICLOCKWISE = "Rotate Clockwise", "Rotate Anti-clockwise"


@dataclass(frozen=True)
class ShownPicture:
    """What the title bar says."""

    name: str
    index: int
    zoom: int
    changed: bool


class Viewnior(App):
    name = NAME
    title = "image viewer"
    packages = ("viewnior",)
    toolkit = "gtk2"
    command = (NAME,)
    wm_class = "Viewnior"
    accessible_name = NAME

    def state(self, desktop: Desktop) -> ShownPicture | None:
        return _shown(View(desktop))


# Looking.


def _shown(view: View) -> ShownPicture | None:
    for window in reversed(view.windows):
        match = TITLE.fullmatch(window.title) if window.wm_class == APP.wm_class else None
        if match:
            changed = bool(match["changed"])
            return ShownPicture(match["name"], int(match["index"]) - 1, int(match["zoom"]), changed)
    return None


def _dialog(view: View) -> Node | None:
    return next((node for node in view.tree(NAME).children if node.role in ("dialog", "alert")), None)


def _turns_to(view: View, path: str, reference: bytes) -> int | None:
    """Quarter turns clockwise that make a picture of the desktop the reference; None if none does."""
    if not view.desktop.files.exists(path):
        return None
    pictures = (view.desktop.files.read(path), reference)
    try:
        now, wanted = (np.asarray(Image.open(io.BytesIO(data)).convert("RGB")) for data in pictures)
    except OSError:
        return None
    return next((turns for turns in range(4) if np.array_equal(np.rot90(now, -turns), wanted)), None)


# Acting.


def _button(view: View, label: str) -> Action:
    """Press a button of the window or of the dialog over it."""
    found = view.widget("push button", label, app=NAME)
    return Action.wait() if found is None else view.click(found)


def _clear_way(view: View) -> Action | None:
    """Close a dialog that is in the way."""
    if unread(view, NAME):
        return Action.wait()
    return None if _dialog(view) is None else Action.key("esc")


def _leafed(name: str) -> Move:
    """Go to a picture of the folder, one by one; others may have been deleted meanwhile."""

    def attempt(view: View) -> Action | None:
        now = _shown(view)
        if now is None:
            return Action.wait()
        if now.name == name:
            return None
        if now.changed:
            return _button(view, "Cancel")
        return _button(view, "Next Image" if now.name < name else "Previous Image")

    return attempt


def _path_opened(path: str) -> Move:
    """Open a picture with the dialog; a slash opens its location field."""
    entry, name = Action.type(path + "\n"), path.rpartition("/")[2]

    def attempt(view: View) -> Action | None:
        if unread(view, NAME):
            return Action.wait()
        now, asked = _shown(view), _dialog(view)
        if asked is not None:
            if view.last == entry:
                return Action.wait()  # the dialog takes a moment to go, and says the same until then
            field = asked.find("text")
            if field is not None and field.text == path:
                return once(view, Action.key("enter"))
            if field is not None and field.text and not all_selected(view, field):
                return SELECT_ALL
            return entry
        if now is not None and now.name == name:
            return None
        if now is not None and now.changed:
            return _button(view, "Cancel")
        return once(view, Action.key("ctrl", "o"))

    return attempt


# Goals.


def on_picture(name: str) -> Goal:
    """A picture of the folder is shown."""

    def done(view: View) -> bool:
        now = _shown(view)
        return now is not None and now.name == name

    return Goal(done, steps(_clear_way, _leafed(name)))


def normal_size() -> Goal:
    """The picture is shown pixel by pixel."""

    def done(view: View) -> bool:
        now = _shown(view)
        return now is not None and now.zoom == 100

    return Goal(done, steps(_clear_way, lambda view: once(view, _button(view, "Normal Size"))))


def turned(path: str, reference: bytes, *, typed: str | None = None) -> Goal:
    """A picture is stored turned as the reference is. It is leafed to, or its path is ``typed``."""

    def turn(view: View) -> Action | None:
        now = _shown(view)
        if now is None:
            return Action.wait()
        anticlockwise = _turns_to(view, path, reference) == 3
        rotate = _button(view, ANTICLOCKWISE if anticlockwise else CLOCKWISE)
        if not now.changed:
            return once(view, rotate)
        # The title says that the picture was turned, but not which way: only the last action tells.
        known = view.last in (rotate, Action.wait(), _button(view, "Save"))
        return once(view, _button(view, "Save" if known else "Cancel"))

    reach = _leafed(path.rpartition("/")[2]) if typed is None else _path_opened(typed)
    return Goal(lambda view: _turns_to(view, path, reference) == 0, steps(reach, _clear_way, turn))


def deleted(path: str) -> Goal:
    """A picture of the folder was deleted."""
    name = path.rpartition("/")[2]

    def sure(view: View) -> Action | None:
        asked, now = _dialog(view), _shown(view)
        found = asked.find("push button", "Delete") if asked is not None else None
        if found is None or now is None or now.name != name:
            return None
        return once(view, view.click(found))

    return Goal(
        lambda view: not view.desktop.files.exists(path),
        steps(sure, _clear_way, _leafed(name), lambda view: once(view, Action.key("delete"))),
    )


APP = Viewnior()
