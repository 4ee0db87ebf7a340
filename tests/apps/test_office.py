"""LibreOffice, VLC and GIMP start in a desktop without asking anything, and tell what they show."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PIL import Image

from operant.apps import load_app
from operant.apps.gimp import GimpState
from operant.apps.libreoffice import OfficeState
from operant.apps.view import View
from operant.apps.vlc import VlcState
from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action

pytestmark = [pytest.mark.x11, pytest.mark.slow]
START_S = 90.0  # on a machine that is busy with other tests


@pytest.fixture(scope="module")
def desktop() -> Iterator[SandboxDesktop]:
    with SandboxDesktop() as desktop:
        yield desktop


def opened(desktop: SandboxDesktop, name: str, *documents: str, when: Callable[[Any], bool]) -> Any:
    """What an application says of itself, as soon as that is right."""
    app = load_app(name)
    desktop.launch(app.argv(*documents), timeout_s=START_S)
    for _ in range(120):
        if app.is_ready(View(desktop)) and when(app.state(desktop)):
            break
        desktop.perform(Action.wait())
    desktop.settle(300)
    return app.state(desktop)


@pytest.fixture
def picture() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (200, 100), "navy").save(made, "PNG")
    return made.getvalue()


def test_a_spreadsheet_is_typed_into_and_its_tree_stays_small(desktop: SandboxDesktop) -> None:
    desktop.reset()
    state = opened(desktop, "libreoffice-calc", when=lambda state: bool(state.documents))
    assert state == OfficeState(("Untitled 1",), None)
    for text in ("12", "30", "=A1+A2"):
        desktop.perform(Action.type(text))
        desktop.perform(Action.key("enter"))
    tree = load_app("libreoffice-calc").tree(View(desktop))
    cells = {node.name: node.text for node in tree.walk() if node.role == "table cell"}
    assert cells["A3"] == "42"
    assert len(cells) < 2000  # of a billion


def test_a_presentation_begins_without_a_dialog(desktop: SandboxDesktop) -> None:
    desktop.reset()
    state = opened(desktop, "libreoffice-impress", when=lambda state: bool(state.documents))
    assert state == OfficeState(("Untitled 1",), None)


def test_a_document_is_changed_and_saved_in_its_own_format(desktop: SandboxDesktop) -> None:
    desktop.reset()
    desktop.files.write("note.txt", "first\n")
    state = opened(
        desktop, "libreoffice-writer", "note.txt", when=lambda state: "note.txt" in state.documents
    )
    assert state == OfficeState(("note.txt",), None)
    desktop.perform(Action.type("Now "))
    desktop.perform(Action.key("ctrl", "s"))
    for _ in range(60):
        if b"Now first" in desktop.files.read("note.txt"):
            break
        desktop.perform(Action.wait())
    assert b"Now first" in desktop.files.read("note.txt")
    assert load_app("libreoffice-writer").state(desktop).dialog is None


def test_a_film_player_says_what_it_plays(desktop: SandboxDesktop, picture: bytes) -> None:
    desktop.reset()
    assert opened(desktop, "vlc", when=lambda state: True) == VlcState(None)
    desktop.reset()
    desktop.files.write("red.png", picture)
    state = opened(desktop, "vlc", "red.png", when=lambda state: state.playing == "red.png")
    assert isinstance(state, VlcState)
    assert (state.status, state.file) == ("playing", "/home/user/red.png")


def test_a_picture_editor_says_what_it_shows(desktop: SandboxDesktop, picture: bytes) -> None:
    desktop.reset()
    desktop.files.write("red.png", picture)
    state = opened(desktop, "gimp", "red.png", when=lambda state: state.picture is not None)
    assert isinstance(state, GimpState)
    assert state.picture is not None
    assert (state.picture.name, state.picture.changed, state.picture.layers) == ("red", False, 1)
    assert state.dialogs == ()
    tree = load_app("gimp").tree(View(desktop))
    assert tree.find(name="Layers") is not None or tree.find("menu", "Layer") is not None
