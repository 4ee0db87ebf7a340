"""What an application offers, asked on a real desktop and without any model."""

from __future__ import annotations

import pytest

from operant.apps import load_app
from operant.building.discovery import ActionGroup, Discovery, discover

pytestmark = pytest.mark.x11


def test_the_editor_tells_its_objects_actions_and_options() -> None:
    found = discover(load_app("mousepad"))
    assert found.bus_names == ["org.xfce.mousepad"]
    (root,) = (one for one in found.objects if one.path == "/org/xfce/mousepad")
    assert "Open(as uris, a{sv} platform-data) -> ()" in root.interfaces["org.freedesktop.Application"]
    actions = {
        action["name"]: action for group in found.actions for action in group.actions
    }  # of the application and of its window
    assert actions["file.save"]["argument"] == ""
    assert actions["preferences.view.word-wrap"]["state"] == ["False"]
    assert "--line" in found.help
    assert not found.uno_services
    assert not found.notes
    text = found.text()
    assert "org.xfce.mousepad /org/xfce/mousepad/window/1" in text
    assert "preferences.view.word-wrap = False" in text


def test_an_application_without_any_offer_says_so() -> None:
    text = discover(load_app("galculator")).text()
    assert "nothing of its own" in text
    assert "Usage: galculator" in text


def test_services_are_shown_by_group() -> None:
    found = Discovery(
        "office", ["soffice"], uno_services=["com.sun.star.sheet.AddIn", "com.sun.star.sheet.Sheet"]
    )
    assert "com.sun.star.sheet: AddIn, Sheet" in found.text()
    disabled = {"name": "undo", "argument": "i", "state": ["3"], "enabled": False}
    shown = Discovery("x", ["x"], actions=[ActionGroup("a.b", "/", [disabled])], notes=["it hung"]).text()
    assert "undo(i) = 3  (disabled)" in shown
    assert "note: it hung" in shown
