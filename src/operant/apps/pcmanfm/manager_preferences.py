"""The preferences of PCManFM: boxes of the page General."""

from __future__ import annotations

from operant.apps.moves import Goal
from operant.apps.pcmanfm.folder_view import NAME
from operant.apps.preferences import labelled, stored, tap
from operant.apps.view import View
from operant.types import Action

__all__ = ["LIBFM", "TITLE", "option_set"]

TITLE = "Preferences"
LIBFM = ".config/libfm/libfm.conf"


def option_set(label: str, key: str, wanted: bool) -> Goal:
    """A box of the open preferences is as wanted, and they are closed."""

    def act(view: View) -> Action:
        box = labelled(view, label, NAME, "check box")
        if box is None:
            return Action.wait()
        if ("checked" in box.states) != wanted:
            return view.click(box)
        return tap(view, lambda now: labelled(now, "Close", NAME, "push button"))

    def done(view: View) -> bool:
        return stored(view, LIBFM, key) == str(int(wanted)) and view.window(TITLE) is None

    return Goal(done, act)
