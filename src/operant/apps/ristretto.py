"""Ristretto, the image viewer of Xfce: which picture it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.view import View

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "OpenPicture", "Ristretto"]


@dataclass(frozen=True)
class OpenPicture:
    """What the title bar says: the name of a file, or of the program while none is open."""

    title: str


class Ristretto(App):
    name = "ristretto"
    title = "image viewer"
    packages = ("ristretto",)
    toolkit = "gtk3"
    command = ("ristretto",)
    wm_class = "Ristretto"
    accessible_name = "ristretto"

    def state(self, desktop: Desktop) -> OpenPicture | None:
        window = self.window(View(desktop))
        return None if window is None else OpenPicture(window.title)


APP = Ristretto()
