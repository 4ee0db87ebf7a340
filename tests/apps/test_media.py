"""VLC and GIMP: their widgets are told of, and moves lead to their dialogs."""

from __future__ import annotations

import pytest

from operant.apps import gimp, vlc
from operant.apps.moves import Goal
from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action

pytestmark = pytest.mark.x11


def reached(desktop: SandboxDesktop, goal: Goal, most: int = 8) -> bool:
    last: Action | None = None
    for _ in range(most):
        view = View(desktop, last)
        if goal.done(view):
            return True
        last = goal.act(view)
        desktop.perform(last)
        desktop.settle(100)
    return goal.done(View(desktop, last))


def test_vlc_shows_its_widgets_and_its_menus_lead_on() -> None:
    with SandboxDesktop() as desktop:
        desktop.launch("vlc", timeout_s=30)
        names = {node.name for node in vlc.APP.tree(View(desktop)).walk()}
        assert {"Media", "Playback", "Tools"} <= names
        assert [window.title for window in desktop.windows()] == [vlc.TITLE], "no dialog at the first start"

        def open_(view: View) -> bool:
            return any("Preferences" in window.title for window in view.desktop.windows())

        assert reached(desktop, vlc.menu("Tools", "Preferences", done=open_))


def test_gimp_opens_a_dialog_by_its_keys() -> None:
    with SandboxDesktop() as desktop:
        desktop.launch(gimp.APP.argv(), timeout_s=60)
        assert gimp.APP.state(desktop) == gimp.GimpState(None, ())
        assert reached(desktop, gimp.dialog("Create a New Image", "ctrl", "n"))
