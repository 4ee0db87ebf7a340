"""PCManFM, the file manager: how it starts and what it shows. ``file_goals`` has what can be brought about with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.pcmanfm.folder_view import NAME, WM_CLASS, dialog, folder_pane, here, items, selected
from operant.apps.view import View

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "HANDLERS", "SETTINGS", "Pcmanfm", "PcmanfmState", "settings"]

SETTINGS = ".config/pcmanfm/default/pcmanfm.conf"
HANDLERS = """[Default Applications]
text/plain=org.xfce.mousepad.desktop
image/png=viewnior.desktop
application/zip=xarchiver.desktop
"""


def settings(view_mode: str = "list") -> str:
    """What its settings say at the start."""
    return f"[ui]\nview_mode={view_mode}\nshow_hidden=0\nsort=name;ascending;\n"


@dataclass(frozen=True)
class PcmanfmState:
    """What the file manager shows."""

    folder: str
    names: tuple[str, ...]
    selected: tuple[str, ...]
    dialog: str | None


class Pcmanfm(App):
    name = "pcmanfm"
    title = "file manager"
    packages = ("pcmanfm",)
    toolkit = "gtk2"
    command = ("pcmanfm",)
    wm_class = WM_CLASS
    accessible_name = NAME

    def home(self) -> Mapping[str, str | bytes]:
        return {SETTINGS: settings(), ".config/mimeapps.list": HANDLERS}

    def is_ready(self, view: View) -> bool:
        return folder_pane(view) is not None

    def state(self, desktop: Desktop) -> PcmanfmState:
        view = View(desktop)
        shown = dialog(view)
        return PcmanfmState(
            here(view), tuple(items(view)), tuple(selected(view)), None if shown is None else shown.name
        )


APP = Pcmanfm()
