"""Criteria on windows: which are open, how they are called, where they stand.

A title is what a program says about itself, and terminals and scripts say whatever they are told. So a window
counts only if an installed application shows it; a terminal's counts as a terminal and nothing else.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from operant.errors import TaskError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.executables import INTERPRETERS, TERMINALS, program_of
from operant.tasks.criteria.question import Question
from operant.types import Monitor, Window

__all__ = ["WindowAbsent", "WindowGeometry", "WindowTitle"]

#: What people call an application -> the programs that are one.
APPLICATIONS: dict[str, frozenset[str]] = {
    "calculator": frozenset(
        {"galculator", "gnome-calculator", "kcalc", "mate-calc", "qalculate-gtk", "xcalc"}
    ),
    "text editor": frozenset(
        {"mousepad", "gedit", "gnome-text-editor", "kate", "kwrite", "pluma", "leafpad", "featherpad"}
    ),
    "file manager": frozenset({"pcmanfm", "pcmanfm-qt", "thunar", "nautilus", "dolphin", "caja", "nemo"}),
    "terminal": TERMINALS,
    "browser": frozenset({"chromium", "chrome", "firefox", "firefox-esr", "epiphany", "falkon"}),
    "chrome": frozenset({"chromium", "chrome"}),
    "firefox": frozenset({"firefox", "firefox-esr"}),
}
for _other, _name in {"notepad": "text editor", "editor": "text editor", "files": "file manager", "web browser": "browser",
                      "file explorer": "file manager", "google chrome": "chrome", "chromium": "chrome"}.items():  # fmt: skip
    APPLICATIONS[_other] = APPLICATIONS[_name]

FILLS = 0.75  # of its monitor's width and height that a maximized window covers at least


class WindowTitle(Question):
    """A window with that title is open. The plain name of an application ("Calculator") stands for its windows."""

    title: str = Field(min_length=1)
    """Text that the title contains."""
    wm_class: str | None = None
    """Class of the window, such as Galculator."""
    exact: bool = False
    """Whether the title must be just that."""
    focused: bool | None = None
    """Whether it must have the focus, or must not."""

    def judge(self, world: World) -> Verdict:
        windows = world.desktop.windows()
        programs = program_of(world.desktop, windows) if windows else {}
        for window in reversed(windows):
            if not _matches(window, programs.get(window.id), self.title, self.wm_class, self.exact):
                continue
            if not _genuine(window, programs.get(window.id), self.title, self.wm_class):
                continue
            if self.focused is None or window.focused == self.focused:
                return Verdict(True, f"a window {window.title!r} is open")
        return Verdict(False, f"no window {self.title!r} is open; open are {_titles(windows)}")


class WindowAbsent(Question):
    """No window with that title or class is open, not even a minimized one."""

    title: str | None = None
    """Text that a title may not contain."""
    wm_class: str | None = None
    """Class that no window may have; with a title as well, no window may have both."""

    @model_validator(mode="after")
    def _names_something(self) -> WindowAbsent:
        return _needs_title_or_class(self, self.title, self.wm_class)

    def judge(self, world: World) -> Verdict:
        windows = world.desktop.windows()
        programs = program_of(world.desktop, windows) if windows else {}
        for window in windows:
            if _matches(window, programs.get(window.id), self.title, self.wm_class, exact=False):
                return Verdict(False, f"the window {window.title!r} is open")
        return Verdict(True, f"no window {self.title or self.wm_class!r} is open")


class WindowGeometry(Question):
    """A window stands there, with that size; or is maximized, or minimized."""

    title: str | None = None
    """Text that its title contains."""
    wm_class: str | None = None
    """Its class."""
    x: int | None = None
    """Left edge of the client area in pixels of the screen."""
    y: int | None = None
    """Top edge of the client area."""
    width: int | None = Field(None, ge=1)
    """Width of the client area."""
    height: int | None = Field(None, ge=1)
    """Height of the client area."""
    tolerance: int = Field(8, ge=0)
    """Pixels that each of them may be off."""
    maximized: bool | None = None
    """Whether it must be maximized, or must not."""
    minimized: bool | None = None
    """Whether it must be minimized, or must not."""

    @model_validator(mode="after")
    def _asks_something(self) -> WindowGeometry:
        if all(wanted is None for wanted in (*self._edges(), self.maximized, self.minimized)):
            raise TaskError(
                "a window_geometry without x, y, width, height, maximized or minimized asks nothing"
            )
        return _needs_title_or_class(self, self.title, self.wm_class)

    def _edges(self) -> tuple[int | None, ...]:
        return self.x, self.y, self.width, self.height

    def judge(self, world: World) -> Verdict:
        windows = world.desktop.windows()
        programs = program_of(world.desktop, windows) if windows else {}
        why = f"no window {self.title or self.wm_class!r} is open; open are {_titles(windows)}"
        for window in reversed(windows):
            program = programs.get(window.id)
            if _matches(window, program, self.title, self.wm_class, exact=False) and _genuine(
                window, program, self.title, self.wm_class
            ):
                why = _describe(window)
                if self._fits(window, world.desktop.monitors):
                    return Verdict(True, why)
        return Verdict(False, why)

    def _fits(self, window: Window, monitors: tuple[Monitor, ...]) -> bool:
        found = (window.x, window.y, window.width, window.height)
        placed = [
            (wanted, is_) for wanted, is_ in zip(self._edges(), found, strict=True) if wanted is not None
        ]
        if any(abs(wanted - is_) > self.tolerance for wanted, is_ in placed):
            return False
        if (placed or self.maximized) and self.minimized is None and window.minimized:
            return False  # it has a place, but nobody sees it there
        if self.minimized is not None and window.minimized != self.minimized:
            return False
        return self.maximized is None or self.maximized == (window.maximized and _fills(window, monitors))


def _matches(
    window: Window, program: str | None, title: str | None, wm_class: str | None, exact: bool
) -> bool:
    if wm_class is not None and window.wm_class.lower() != wm_class.lower():
        return False
    if title is None:
        return True
    if exact:
        return window.title == title
    named = APPLICATIONS.get(title.strip().lower())
    if named is not None and wm_class is None:
        return program in named
    return title in window.title


def _genuine(window: Window, program: str | None, title: str | None, wm_class: str | None) -> bool:
    """Whether the window is of a program that does not just show what it is told."""
    if program is None or program.startswith(INTERPRETERS):
        return False
    if program in TERMINALS:
        asked = (wm_class or title or "").lower()
        return asked in ("terminal", "xterm", "uxterm") or asked in TERMINALS
    return True


def _needs_title_or_class(criterion: Question, title: str | None, wm_class: str | None) -> Question:
    if not title and not wm_class:
        raise TaskError("a criterion on a window needs a title or a wm_class")
    return criterion


def _fills(window: Window, monitors: tuple[Monitor, ...]) -> bool:
    return any(
        window.width >= FILLS * monitor.width
        and window.height >= FILLS * monitor.height
        and monitor.x <= window.x + window.width // 2 < monitor.x + monitor.width
        and monitor.y <= window.y + window.height // 2 < monitor.y + monitor.height
        for monitor in monitors
    )


def _describe(window: Window) -> str:
    states = [name for name in ("focused", "minimized", "maximized") if getattr(window, name)]
    place = f"{window.width}x{window.height} at {window.x}, {window.y}"
    return f"{window.title!r} is {', '.join([place, *states])}"


def _titles(windows: list[Window]) -> str:
    return ", ".join(repr(window.title[:60]) for window in windows[-8:]) or "none"
