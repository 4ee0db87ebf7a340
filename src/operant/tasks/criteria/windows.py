"""Criteria on windows: which are open, how they are called, where they stand.

A title is what a program says about itself, and terminals and scripts say whatever they are told. So a window
counts only if an installed application shows it, under a class that is its own; a terminal's window counts
only where a terminal, or its class, is asked for.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from operant.errors import TaskError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.executables import TERMINALS, akin, programs_of, shows_anything
from operant.tasks.criteria.question import Question
from operant.types import Monitor, Window

__all__ = ["WindowAbsent", "WindowGeometry", "WindowTitle"]

CHROME = frozenset({"chromium", "chrome", "google-chrome"})
EDITORS = frozenset(
    {"mousepad", "gedit", "gnome-text-editor", "kate", "kwrite", "pluma", "leafpad", "featherpad"}
)
FILE_MANAGERS = frozenset({"pcmanfm", "pcmanfm-qt", "thunar", "nautilus", "dolphin", "caja", "nemo"})
CALCULATORS = frozenset({"galculator", "gnome-calculator", "kcalc", "mate-calc", "qalculate-gtk", "xcalc"})
#: What people call an application -> the programs that are one.
APPLICATIONS: dict[str, frozenset[str]] = {
    "calculator": CALCULATORS,
    "text editor": EDITORS,
    "editor": EDITORS,
    "notepad": EDITORS,
    "file manager": FILE_MANAGERS,
    "file explorer": FILE_MANAGERS,
    "files": FILE_MANAGERS,
    "terminal": TERMINALS,
    "browser": CHROME | {"firefox", "firefox-esr", "epiphany", "falkon"},
    "web browser": CHROME | {"firefox", "firefox-esr", "epiphany", "falkon"},
    "chrome": CHROME,
    "google chrome": CHROME,
    "firefox": frozenset({"firefox", "firefox-esr"}),
    **{name: frozenset({name}) for name in (*CALCULATORS, *EDITORS, *FILE_MANAGERS, *TERMINALS, "chromium")},
}

FILLS = 0.75  # of its monitor's width and height that a maximized window covers at least


class WindowTitle(Question):
    """A window with that title is open. The plain name of an application ("Calculator") means its windows."""

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
        for window in _genuine(world, windows, self.title, self.wm_class, self.exact):
            if self.focused in (None, window.focused):
                return Verdict(True, f"{_describe(window)} is open")
        return Verdict(
            False, f"no window {self.title!r} is {'' if self.focused is None else 'so '}open{_open(windows)}"
        )


class WindowAbsent(Question):
    """No window with that title or class is open, not even a minimized one."""

    title: str | None = None
    """Text that a title may not contain."""
    wm_class: str | None = None
    """Class that no window may have; with a title as well, no window may have both."""

    @model_validator(mode="after")
    def _names_something(self) -> WindowAbsent:
        _require_name(self.title, self.wm_class)
        return self

    def judge(self, world: World) -> Verdict:
        windows = world.desktop.windows()
        programs = programs_of(world.desktop, windows)
        for window in windows:
            if _matches(window, programs.get(window.id), self.title, self.wm_class):
                return Verdict(False, f"{_describe(window)} is open")
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
        _require_name(self.title, self.wm_class)
        return self

    def _edges(self) -> tuple[int | None, ...]:
        return self.x, self.y, self.width, self.height

    def judge(self, world: World) -> Verdict:
        windows = world.desktop.windows()
        found = _genuine(world, windows, self.title, self.wm_class)
        fitting = next((window for window in found if self._fits(window, world.desktop.monitors)), None)
        if fitting is not None:
            return Verdict(True, f"there is {_describe(fitting)}")
        if found:
            return Verdict.compared(False, f"there is {_describe(found[0])}", self._wanted())
        return Verdict(False, f"no window {self.title or self.wm_class!r} is open{_open(windows)}")

    def _wanted(self) -> str:
        asked = self.model_dump(
            include={"x", "y", "width", "height", "maximized", "minimized"}, exclude_none=True
        )
        return ", ".join(f"{name} {value}" for name, value in asked.items())

    def _fits(self, window: Window, monitors: tuple[Monitor, ...]) -> bool:
        found = (window.x, window.y, window.width, window.height)
        placed = [
            (wanted, is_) for wanted, is_ in zip(self._edges(), found, strict=True) if wanted is not None
        ]
        if any(abs(wanted - is_) > self.tolerance for wanted, is_ in placed):
            return False
        if (placed or self.maximized) and self.minimized is None and window.minimized:
            return False  # it has a place, but is covered there
        if self.minimized is not None and window.minimized != self.minimized:
            return False
        return self.maximized is None or self.maximized == (window.maximized and _fills(window, monitors))


def _matches(
    window: Window, program: str | None, title: str | None, wm_class: str | None, exact: bool = False
) -> bool:
    if wm_class is not None and window.wm_class.lower() != wm_class.lower():
        return False
    if title is None:
        return True
    if exact:
        return window.title == title
    named = APPLICATIONS.get(title.lower())
    if named is not None and wm_class is None:
        return program in named
    return title in window.title


def _genuine(
    world: World, windows: list[Window], title: str | None, wm_class: str | None, exact: bool = False
) -> list[Window]:
    """The windows of that title and class that are what they claim to be, from the top of the stack down."""
    if not windows:
        return []
    programs = programs_of(world.desktop, windows)
    found = []
    for window in reversed(windows):
        program = programs.get(window.id)
        if program is None or not _matches(window, program, title, wm_class, exact):
            continue
        if wm_class is not None:
            believed = akin(program, wm_class)
        else:
            named = APPLICATIONS.get((title or "").lower(), frozenset())
            believed = not shows_anything(program) or program in named
        if believed:
            found.append(window)
    return found


def _require_name(title: str | None, wm_class: str | None) -> None:
    if not title and not wm_class:
        raise TaskError("a criterion on a window needs a title or a wm_class")


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
    return f"{window.title[:60]!r} ({', '.join([place, *states])})"


def _open(windows: list[Window]) -> str:
    titles = ", ".join(repr(window.title[:60]) for window in windows[-8:])
    return f"; open are {titles}" if titles else ""
