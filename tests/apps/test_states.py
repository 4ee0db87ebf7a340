"""Applications are launched by what their modules say, and tell what they show."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import pytest
from PIL import Image

from operant.apps import BUILT_IN, load_app
from operant.apps.atril import OpenDocument
from operant.apps.galculator import Calculation
from operant.apps.lxappearance import Look
from operant.apps.openbox import Stack
from operant.apps.ristretto import OpenPicture
from operant.apps.view import View
from operant.apps.viewnior import ShownPicture
from operant.apps.xarchiver import OpenArchive
from operant.desktop.sandbox import SandboxDesktop
from operant.tasks.pdf import pdf
from operant.types import Action


@pytest.fixture(scope="module")
def desktop() -> Iterator[SandboxDesktop]:
    with SandboxDesktop() as desktop:
        yield desktop


def opened(desktop: SandboxDesktop, name: str, *documents: str) -> object:
    """Start an application, and return what it says of itself when it is ready."""
    app = load_app(name)
    desktop.launch(app.argv(*documents))
    for _ in range(50):
        if app.is_ready(View(desktop)) and app.state(desktop) is not None:
            break
        desktop.perform(Action.wait())
    desktop.settle()
    return app.state(desktop)


def picture() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (200, 100), "navy").save(made, "PNG")
    return made.getvalue()


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_an_application_says_what_it_is(name: str) -> None:
    app = load_app(name)
    assert (app.name, bool(app.title), bool(app.packages)) == (name, True, True)
    assert app.argv("document")[0] == app.command[0]


@pytest.mark.x11
def test_the_calculator_shows_a_number(desktop: SandboxDesktop) -> None:
    desktop.reset()
    assert opened(desktop, "galculator") == Calculation("0", scientific=False)
    desktop.perform(Action.type("42"))
    assert load_app("galculator").state(desktop) == Calculation("42", scientific=False)


@pytest.mark.x11
def test_viewers_tell_what_they_show(desktop: SandboxDesktop) -> None:
    desktop.reset()
    desktop.files.write("shots/red.png", picture())
    desktop.files.write("report.pdf", pdf([["One"], ["Two"]]))
    assert opened(desktop, "viewnior", "shots/red.png") == ShownPicture("red.png", 0, 100, changed=False)
    shown = opened(desktop, "ristretto", "shots/red.png")
    assert isinstance(shown, OpenPicture)
    assert "red.png" in shown.title
    assert opened(desktop, "atril", "report.pdf") == OpenDocument("report.pdf", "(1 of 2)")


@pytest.mark.x11
def test_the_archive_manager_lists_what_is_in_an_archive(desktop: SandboxDesktop) -> None:
    desktop.reset()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in ("notes/one.txt", "two.txt"):
            member = zipfile.ZipInfo(name)
            member.external_attr = 0o100644 << 16  # it lists only members with the mode of a file
            archive.writestr(member, name)
    desktop.files.write("box.zip", made.getvalue())
    shown = opened(desktop, "xarchiver", "box.zip")
    assert isinstance(shown, OpenArchive)
    assert (shown.folder, set(shown.names)) == ("", {"notes", "two.txt"})


@pytest.mark.x11
def test_the_look_is_read_from_what_is_stored(desktop: SandboxDesktop) -> None:
    desktop.reset()
    desktop.files.write(".gtkrc-2.0", 'gtk-theme-name="Plain"\ngtk-font-name="DejaVu Sans 12"\n')
    assert opened(desktop, "lxappearance") == Look("Plain", None, None, "DejaVu Sans 12", None)


@pytest.mark.x11
def test_the_window_manager_tells_which_windows_there_are(desktop: SandboxDesktop) -> None:
    desktop.reset()
    desktop.launch(["galculator"])
    stack = load_app("openbox").state(desktop)
    assert isinstance(stack, Stack)
    assert [window.wm_class for window in stack.windows] == ["Galculator"]
