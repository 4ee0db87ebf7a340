"""VLC and GIMP: their widgets are told of, and moves lead to their dialogs."""

from __future__ import annotations

import pytest

from operant.apps import gimp, vlc
from operant.apps.moves import Goal
from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action

pytestmark = pytest.mark.x11
KIND = "RGB color 8-bit gamma integer"


@pytest.mark.parametrize(
    ("title", "picture"),
    [
        (f"*[p] (imported)-1.0 ({KIND}, GIMP built-in sRGB, 1 layer) 300x200", ("p", True, False, 1, 300, 200)),
        (f"a-1.0 (b).xcf-2.0 ({KIND}, GIMP built-in sRGB, 12 layers) 5x7", ("a-1.0 (b).xcf", False, True, 12, 5, 7)),
        (f"[x] (overwritten)-3.1 ({KIND}, sRGB, 2 layers) 10x10", ("x", False, False, 2, 10, 10)),
        ("Scale Image", None),
        ("", None),
    ],
)  # fmt: skip
def test_titles_of_gimp_are_read(title: str, picture: tuple[object, ...] | None) -> None:
    found = gimp.read_title(title)
    if found is not None:
        assert found.kind == KIND
        values = (found.name, found.changed, found.own_format, found.layers, found.width, found.height)
        assert values == picture
    assert (found is None) is (picture is None)


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
