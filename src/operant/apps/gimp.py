"""GIMP: pictures with layers. One window; its dialogs are windows of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.moves import Goal, once
from operant.types import Action

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "Gimp", "GimpPicture", "GimpState", "dialog", "read_title"]

ENDING = " – GIMP"  # of the title of a window with a picture
EMPTY = "GNU Image Manipulation Program"  # the title of one without
#: The title as GIMP makes it: ``*[photo] (imported)-1.0 (RGB color 8-bit gamma integer, ..., 2 layers) 300x200``
PICTURE = re.compile(
    r"(?P<changed>\*?)(?P<name>.*)-\d+\.\d+ \((?P<kind>[^,()]+).*?(?P<layers>\d+) layers?\) (?P<width>\d+)x(?P<height>\d+)"
)


FOREIGN = re.compile(r"\[(.*)\](?: \(\w+\))?")  # the name of a file of another format


@dataclass(frozen=True)
class GimpPicture:
    """A picture as the title of its window tells of it."""

    name: str
    """The name of its file; without the extension if it is of another format than GIMP's own."""
    kind: str
    """Such as ``RGB color 8-bit gamma integer``."""
    width: int
    height: int
    layers: int
    changed: bool
    """Since it was opened or saved."""
    own_format: bool
    """Whether the file is of GIMP's own format (XCF)."""


@dataclass(frozen=True)
class GimpState:
    """What its windows say."""

    picture: GimpPicture | None
    """The picture that is open; None if none is."""
    dialogs: tuple[str, ...]
    """Titles of its other windows."""


class Gimp(App):
    name = "gimp"
    title = "picture editor"
    packages = ("gimp",)
    toolkit = "gtk2"
    command = ("gimp", "--no-splash", "--new-instance")
    wm_class = "Gimp"
    accessible_name = "gimp"

    def state(self, desktop: Desktop) -> GimpState:
        titles = [window.title for window in desktop.windows() if window.wm_class.startswith("Gimp")]
        pictures = [title.removesuffix(ENDING) for title in titles if title.endswith(ENDING)]
        others = [title for title in titles if not title.endswith(ENDING) and title != EMPTY]
        return GimpState(read_title(pictures[0]) if pictures else None, tuple(others))


def read_title(title: str) -> GimpPicture | None:
    """What a title without its ending says of the picture; None if it is not one of a picture."""
    found = PICTURE.fullmatch(title)
    if found is None:
        return None
    foreign = FOREIGN.fullmatch(found["name"])
    return GimpPicture(
        name=foreign[1] if foreign else found["name"],
        kind=found["kind"],
        width=int(found["width"]),
        height=int(found["height"]),
        layers=int(found["layers"]),
        changed=bool(found["changed"]),
        own_format=foreign is None,
    )


APP = Gimp()

# Moves.


def dialog(title: str, *keys: str) -> Goal:
    """A dialog is open, by its keys. Accessibility of GTK 2 does not tell of the entries of menus."""
    press = Action.key(*keys)
    return Goal(lambda view: title in APP.state(view.desktop).dialogs, lambda view: once(view, press))
