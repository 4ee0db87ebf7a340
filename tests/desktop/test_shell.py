"""The full desktop: menu, panel, icons and run dialog open programs, and leave no trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from operant.config.desktop import DesktopConfig
from operant.desktop import SandboxDesktop
from operant.desktop.shell import PANEL, name_widgets
from operant.errors import DesktopDied
from operant.types import Action, Button, Node, Point

pytestmark = pytest.mark.x11


@pytest.fixture(scope="module")
def _kept() -> Iterator[SandboxDesktop]:
    with SandboxDesktop(DesktopConfig(profile="full")) as desktop:
        yield desktop


@pytest.fixture
def desktop(_kept: SandboxDesktop) -> SandboxDesktop:
    _kept.reset()
    return _kept


def eventually(predicate: Callable[[], Any], seconds: float = 15.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := predicate()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s; last: {found!r}"
        time.sleep(0.02)
    return found


def widget(desktop: SandboxDesktop, name: str, role: str | None = None) -> Node:
    """Returns the widget once two looks find it at the same place: a menu that opens moves its items."""
    before: tuple[int, int, int, int] | None = None

    def find() -> Node | None:
        nonlocal before
        last, before = before, None
        for node in desktop.accessibility().walk():
            if node.name == name and role in (None, node.role) and node.box:
                before = node.box
                return node if node.box == last else None
        return None

    found: Node = eventually(find)
    return found


def click(desktop: SandboxDesktop, name: str, role: str | None = None, **more: Any) -> None:
    x, y, width, height = widget(desktop, name, role).box or (0, 0, 0, 0)
    desktop.perform(Action.click(Point.from_pixel(x + width // 2, y + height // 2, desktop.size), **more))


def wait_for(desktop: SandboxDesktop, wm_class: str) -> None:
    eventually(lambda: any(one.wm_class == wm_class and one.focused for one in desktop.windows()))
    desktop.settle()


def test_a_full_desktop_shows_panel_and_icons_but_lists_no_window(desktop):
    desktop.files.write("notes.txt", "milk")
    names = [node.name for node in desktop.accessibility().walk()]
    for name in ("Menu", "File Manager", "Text Editor", "Calculator", "Terminal", "Web Browser"):
        assert name in names
    assert widget(desktop, "notes.txt", "icon")
    assert desktop.windows() == []
    desktop.check()


def test_open_a_program_by_the_menu(desktop):
    click(desktop, "Menu")
    click(desktop, "Accessories", "menu")
    click(
        desktop, "Galculator", "menu item"
    )  # machines with more programs have several that are called Calculator
    wait_for(desktop, "Galculator")
    desktop.perform(Action.type("15+27\n"))
    eventually(lambda: desktop.accessibility(app="galculator").find("text").text == "42")


def test_open_a_program_by_a_launcher(desktop):
    click(desktop, "Text Editor", "push button")
    wait_for(desktop, "Mousepad")


@pytest.mark.parametrize("how", ["keys", "menu"])
def test_open_a_program_by_the_run_dialog(desktop, how):
    if how == "keys":
        desktop.perform(Action.key("alt", "f2"))
    else:
        click(desktop, "Menu")
        click(desktop, "Run", "menu item")
    wait_for(desktop, "Lxpanel")
    desktop.perform(Action.type("xterm\n"))
    wait_for(desktop, "XTerm")


def test_open_a_file_and_a_folder_by_their_icons(desktop):
    desktop.files.write("notes.txt", "milk")
    desktop.files.write("Trips/paris.txt", "")
    click(desktop, "notes.txt", "icon", clicks=2)
    wait_for(desktop, "Mousepad")
    click(desktop, "Trips", "icon", clicks=2)
    wait_for(desktop, "Pcmanfm")
    assert "paris.txt" in [node.text for node in desktop.accessibility().walk()]


def test_an_icon_that_came_after_the_tree_was_read_is_in_the_next_one(desktop):
    """The application's cache does not tell of it."""
    desktop.files.write("notes.txt", "milk")
    assert widget(desktop, "notes.txt", "icon")
    desktop.files.write("Trips/paris.txt", "")
    assert widget(desktop, "Trips", "icon")
    assert widget(desktop, "notes.txt", "icon")


def test_the_menu_of_an_icon_is_in_the_tree(desktop):
    desktop.files.write("notes.txt", "milk")
    click(desktop, "notes.txt", "icon", button=Button.RIGHT)
    assert widget(desktop, "Rename...", "menu item")


def test_the_browser_opens_without_questions(desktop):
    click(desktop, "Web Browser", "push button")
    wait_for(desktop, "Chromium")


def test_switch_minimise_and_restore_by_the_task_bar(desktop):
    desktop.launch("mate-calc")
    desktop.launch("mousepad")
    click(desktop, "Calculator", "toggle button")
    wait_for(desktop, "Mate-calc")
    click(desktop, "Calculator", "toggle button")
    eventually(lambda: next(w for w in desktop.windows() if w.wm_class == "Mate-calc").minimized)
    click(desktop, "[Calculator]", "toggle button")
    wait_for(desktop, "Mate-calc")


def test_windows_keep_off_the_panel(desktop):
    desktop.launch("mousepad")
    desktop.perform(Action.key("super", "up"))
    (window,) = desktop.windows()
    top = widget(desktop, "Menu").box[1]
    assert window.maximized
    assert window.y + window.height <= top


def test_nothing_changes_by_itself(desktop):
    before = desktop.frame().copy()
    time.sleep(1.5)  # longer than any clock's tick
    assert (desktop.frame() == before).all()


def test_a_reset_leaves_no_trace_and_keeps_the_display(desktop):
    fresh = desktop.frame().copy()
    replaced = desktop.resets_of_display
    for _ in range(3):
        desktop.files.write("notes.txt", "milk")
        click(desktop, "Menu")
        click(desktop, "Accessories", "menu")
        desktop.launch("mousepad")
        desktop.reset()
        assert (desktop.frame() == fresh).all()
        assert not desktop.files.exists("notes.txt")
    assert desktop.resets_of_display == replaced


def test_one_desktop_can_be_bare_and_full(desktop):
    full = desktop.frame().copy()
    desktop.use_profile("bare")
    assert desktop.profile == "bare"
    assert [process.name for process in desktop.processes()] == ["dbus-daemon"]
    assert len({tuple(pixel) for pixel in desktop.frame()[:700:50, ::50].reshape(-1, 3)}) == 1
    desktop.use_profile("full")
    assert (desktop.frame() == full).all()


def test_a_panel_that_crashes_comes_back(desktop):
    desktop.run(["pkill", "-KILL", "lxpanel"])
    eventually(lambda: "lxpanel" in {process.name for process in desktop.processes()})
    click(desktop, "Menu")
    assert widget(desktop, "Accessories", "menu")
    desktop.check()


def test_a_panel_that_always_crashes_is_the_desktops_fault(desktop):
    desktop.frame()
    for _ in range(10):
        desktop.run(["pkill", "-KILL", "lxpanel"])
        time.sleep(0.05)  # between two crashes
    with pytest.raises(DesktopDied, match=PANEL[0]):
        desktop.check()
    desktop.reset()
    desktop.check()


def test_a_users_own_settings_win(tmp_path):
    place = tmp_path / ".local/share/applications"
    place.mkdir(parents=True)
    (place / "mate-calc.desktop").write_text(
        "[Desktop Entry]\nType=Application\nName=Sums\nExec=mate-calc\nIcon=accessories-calculator\n"
    )
    with SandboxDesktop(DesktopConfig(profile="full", home=tmp_path)) as desktop:
        assert widget(desktop, "Sums", "push button")


def test_launchers_have_the_name_that_people_read():
    launcher = Node("panel", "", frozenset(), (0, 0, 24, 24), description="Terminal")
    assert (name_widgets(launcher).role, name_widgets(launcher).name) == ("push button", "Terminal")
