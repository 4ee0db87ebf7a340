"""Lxpanel, the panel of full desktops: its menu, its launchers, its task bar and its run dialog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps import xterm
from operant.apps.base import App
from operant.apps.moves import SELECT_ALL, Move, all_selected, once
from operant.apps.view import View
from operant.types import Action, Node, Window

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = [
    "APP",
    "ARCHIVES",
    "BROWSER",
    "CALCULATOR",
    "DOCUMENTS",
    "EDITOR",
    "ESCAPE",
    "FILES",
    "LAUNCHERS",
    "MENU_ONLY",
    "PICTURES",
    "PROGRAMS",
    "TERMINAL",
    "Lxpanel",
    "LxpanelState",
    "Program",
    "choose",
    "in_front",
    "menu_is_open",
    "opened",
    "opened_by_icon",
    "opened_by_menu",
    "opened_by_run",
    "opened_from_terminal",
    "task_button",
    "window_of",
]

ESCAPE = Action.key("esc")


@dataclass(frozen=True)
class LxpanelState:
    """The panel."""

    menu: bool
    """Whether its menu is open."""
    windows: tuple[str, ...]
    """What the buttons of its task bar say; in brackets, the window is minimised."""


class Lxpanel(App):
    name = "lxpanel"
    title = "panel"
    packages = ("lxpanel",)
    toolkit = "gtk2"
    command = ("lxpanel",)
    wm_class = "Lxpanel"
    part_of_desktop = True
    accessible_name = "lxpanel"

    def is_ready(self, view: View) -> bool:
        return view.widget("label", "Menu", app=self.accessible_name) is not None

    def state(self, desktop: Desktop) -> LxpanelState:
        view = View(desktop)
        buttons = view.widgets("toggle button", app=self.accessible_name)
        menu = view.widget("menu item", "Run", app=self.accessible_name) is not None
        return LxpanelState(menu, tuple(node.name for node in buttons))


APP = Lxpanel()


# Programs that the panel starts.


@dataclass(frozen=True)
class Program:
    """A program of the desktop: what people call it, where the menu has it, and the window that it shows."""

    names: tuple[str, ...]
    item: str
    category: str
    command: str
    wm_class: str

    def __str__(self) -> str:
        return self.names[0]


CALCULATOR = Program(("calculator", "Calculator"), "Calculator", "Accessories", "mate-calc", "Mate-calc")
EDITOR = Program(
    ("text editor", "editor", "Text Editor"), "Text Editor", "Accessories", "mousepad", "Mousepad"
)
FILES = Program(("file manager", "File Manager"), "File Manager", "System Tools", "pcmanfm", "Pcmanfm")
TERMINAL = Program(("terminal", "Terminal"), "Terminal", "System Tools", "xterm", "XTerm")
BROWSER = Program(
    ("web browser", "browser", "Web Browser"), "Web Browser", "Internet", "chromium", "Chromium"
)
DOCUMENTS = Program(("document viewer",), "Document Viewer", "Office", "atril", "Atril")
PICTURES = Program(("image viewer", "Image Viewer"), "Image Viewer", "Graphics", "viewnior", "Viewnior")
ARCHIVES = Program(("archive manager",), "Archive Manager", "Accessories", "xarchiver", "Xarchiver")
OLD_CALCULATOR = Program(("Galculator",), "Galculator", "Accessories", "galculator", "Galculator")
APPEARANCE = Program(("appearance settings",), "Appearance", "Preferences", "lxappearance", "Lxappearance")
#: Those that the panel has an icon for, and those that only the menu has.
LAUNCHERS = (CALCULATOR, EDITOR, FILES, TERMINAL, BROWSER)
MENU_ONLY = (DOCUMENTS, PICTURES, ARCHIVES, OLD_CALCULATOR, APPEARANCE)
PROGRAMS = (*LAUNCHERS, *MENU_ONLY)


# Moves.


def window_of(view: View, program: Program) -> Window | None:
    return view.window(wm_class=program.wm_class)


def menu_is_open(view: View) -> bool:
    """Whether the application menu is open."""
    return view.widget("menu item", "Run") is not None


def in_front(view: View, program: Program) -> Action | None:
    """Bring an open program to the front, by its button of the task bar."""
    window = window_of(view, program)
    if window is None or window.focused:
        return None
    button = task_button(view, window.title)
    return view.click(button) if button is not None else Action.wait()


def task_button(view: View, title: str) -> Node | None:
    """The button of a window in the task bar, which shows long titles only in part."""
    for node in view.widgets("toggle button"):
        if node.name.strip("[]") == title:
            return node
    return None


def _starting(view: View, program: Program) -> bool:
    """Whether the program runs and has not shown its window yet; the one that also draws the icons always runs."""
    if program is FILES:
        return False
    return any(process.name == program.command[:15] for process in view.desktop.processes())


def opened(program: Program) -> Move:
    """Open it by its icon in the panel, or by the menu if it has none there."""
    return opened_by_icon(program) if program in LAUNCHERS else opened_by_menu(program)


def opened_by_icon(program: Program) -> Move:
    def step(view: View) -> Action | None:
        if window_of(view, program) is not None:
            return None
        if _starting(view, program):
            return Action.wait()
        if menu_is_open(view):
            return ESCAPE
        launcher = view.widget("push button", program.item)
        return Action.wait() if launcher is None else once(view, view.click(launcher))

    return step


def opened_by_menu(program: Program) -> Move:
    def step(view: View) -> Action | None:
        if window_of(view, program) is not None:
            return None
        if _starting(view, program):
            return Action.wait()
        return choose(view, program.category, program.item)

    return step


def choose(view: View, *path: str) -> Action:
    """The next click on the way through the application menu to an entry."""
    entries = [*view.widgets("menu item"), *view.widgets("menu")] if menu_is_open(view) else []
    for name in reversed(path):
        for entry in entries:
            if entry.name == name and (entry.box or (0, 0))[0] < view.size.width // 2:
                return view.click(entry)
    button = view.widget("label", "Menu")
    return Action.wait() if button is None else view.click(button)


def opened_by_run(program: Program) -> Move:
    """Open it by the run dialog of the menu."""

    def step(view: View) -> Action | None:
        if window_of(view, program) is not None:
            return None
        dialog = view.window("Run", wm_class="Lxpanel")
        if dialog is None or not dialog.focused:
            return Action.wait() if _starting(view, program) else choose(view, "Run")
        entry = view.widget("text", state="editable")
        if entry is None:
            return Action.wait()
        if entry.text == program.command:
            return Action.key("enter")
        wrong = entry.text and not all_selected(view, entry)
        return SELECT_ALL if wrong else Action.type(program.command + "\n")

    return step


def opened_from_terminal(program: Program) -> Move:
    """Open a terminal, and start the program there."""
    open_terminal = opened(TERMINAL)

    def step(view: View) -> Action | None:
        if window_of(view, program) is not None:
            return None
        if _starting(view, program):
            return Action.wait()
        return open_terminal(view) or in_front(view, TERMINAL) or xterm.enter(view, program.command)

    return step
