"""Xterm: command lines, and programs that ask for one line after another.

It is not on the accessibility bus; what it shows is read off its pixels. How far things got is told by files, processes
and the shell's directory, and by the rows that it shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps import openbox
from operant.apps.base import App
from operant.apps.moves import Goal, once
from operant.apps.view import HOME, View
from operant.types import Action, Process, Window

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = [
    "APP",
    "END",
    "INTERRUPT",
    "TITLE",
    "Xterm",
    "XtermState",
    "at",
    "dialogue",
    "enter",
    "entered",
    "everywhere",
    "focus",
    "opened",
    "rows",
    "running",
    "taken",
    "window",
]

TITLE = "Terminal"
ENTER, INTERRUPT, END = Action.key("enter"), Action.key("ctrl", "c"), Action.key("ctrl", "d")
CLEAR_LINE = Action.key("ctrl", "u")
#: What the pointer looks like where it is over a terminal: a character that stands apart at the end of a row.
POINTER = re.compile(r"(^|\s)\s+\S$")
GRID = 12  # points a side at which a window is looked for between those that cover it

Holds = Callable[[View], bool]


@dataclass(frozen=True)
class XtermState:
    """One terminal."""

    title: str
    directory: str | None
    """Where its shell is; None if it runs a program without a shell."""
    program: str
    """What runs in it: the shell, or the program that the shell waits for."""
    text: str | None
    """What it shows; None while a window covers a part of it."""


class Xterm(App):
    name = "xterm"
    title = "terminal"
    packages = ("xterm",)
    command = ("xterm",)
    wm_class = "XTerm"

    def state(self, desktop: Desktop) -> tuple[XtermState, ...]:
        """Its terminals, from the lowest to the uppermost."""
        processes = desktop.processes()
        shown = {node.name: node.text for node in desktop.accessibility("desktop").children}
        found = []
        for one in desktop.windows():
            if one.wm_class == self.wm_class:
                chain = _chain(one, processes)
                directory = _directory(desktop, chain[0]) if chain else None
                program = (chain[1:2] or chain)[0].name if chain else ""
                found.append(XtermState(one.title, directory, program, shown.get(one.title)))
        return tuple(found)


# Looking.


def window(view: View, title: str = TITLE) -> Window | None:
    return next((one for one in view.windows if one.title == title and one.wm_class == Xterm.wm_class), None)


def rows(view: View) -> list[str]:
    """What the terminal with the focus shows; nothing if a window covers a part of it."""
    node = view.tree()
    found = [POINTER.sub("", row) for row in (node.text or "").split("\n")] if node.role == "terminal" else []
    while found and not found[-1]:
        found.pop()
    return found


def at(directory: str, title: str = TITLE) -> Holds:
    """Whether the shell in that terminal is in that directory below HOME."""

    def holds(view: View) -> bool:
        terminal = window(view, title)
        chain = _chain(terminal, view.desktop.processes()) if terminal else []
        return bool(chain) and _directory(view.desktop, chain[0]) == f"{HOME}/{directory}".rstrip("/")

    return holds


def running(program: str, output: str | None = None) -> Holds:
    """Whether a program runs and, if that is given, writes to this file below HOME."""

    def holds(view: View) -> bool:
        for process in view.desktop.processes():
            if program in process.command[:2]:
                written = view.desktop.run(["readlink", f"/proc/{process.pid}/fd/1"]).output.strip()
                if output is None or written == f"{HOME}/{output}":
                    return True
        return False

    return holds


def taken(path: str, texts: Sequence[str]) -> Callable[[View], int | None]:
    """How many lines a program took that writes each into a file: the text after no line, after one, and so on."""

    def count(view: View) -> int | None:
        text = view.read(path)
        return next((n for n in reversed(range(len(texts))) if texts[n] == text), None)

    return count


# Moves.


def focus(view: View, title: str = TITLE) -> Action | None:
    """What brings the focus into that terminal; None if it is there."""
    terminal = window(view, title)
    if terminal is None:
        return Action.wait()
    return None if terminal.focused else Action.click(view.point(*_uncovered(view, terminal)))


def enter(view: View, line: str) -> Action:
    """Type a line at the prompt of the terminal with the focus; first drop other text and end other programs."""
    shown = _squeeze("".join(rows(view)))
    if not shown or shown.endswith("$"):
        return Action.type(line + "\n")
    return ENTER if shown.endswith("$" + _squeeze(line)) else INTERRUPT


def entered(lines: Sequence[tuple[str, Holds]], title: str = TITLE) -> Goal:
    """Command lines and what each of them leaves; it goes on after the last one whose effect is there."""

    def act(view: View) -> Action:
        reached = (place + 1 for place in reversed(range(len(lines) - 1)) if lines[place][1](view))
        return focus(view, title) or enter(view, lines[next(reached, 0)][0])

    return Goal(lines[-1][1], act)


def opened(title: str, line: str) -> Goal:
    """One more terminal, by a command line that gives it this title."""
    return Goal(lambda view: window(view, title) is not None, lambda view: focus(view) or enter(view, line))


def everywhere(goals: dict[str, Goal]) -> Goal:
    """Goals in several terminals, by title: first in the one that has the focus while there is something to do."""

    def act(view: View) -> Action:
        focused = view.focused.title if view.focused else ""
        for title in sorted(goals, key=lambda title: title != focused):
            if not goals[title].done(view):
                return goals[title].act(view)
        return Action.wait()

    return Goal(lambda view: all(goal.done(view) for goal in goals.values()), act)


def dialogue(
    start: str,
    lines: Sequence[str],
    *,
    runs: Holds,
    taken: Callable[[View], int | None],
    end: Action | None = None,
) -> Goal:
    """Start a program, give it lines one by one, and end it if it does not end by itself.

    ``taken`` says how many lines it took, or None if a wrong one is among them: then it is started anew.
    """

    def act(view: View) -> Action:
        focusing = focus(view)
        if focusing is not None:
            return focusing
        if not runs(view):
            return enter(view, start)
        count = taken(view)
        if count is None:
            return INTERRUPT
        if count == len(lines):
            # Not twice: the second one would end the shell if the program needs a moment to end.
            return Action.wait() if end is None else once(view, end)
        row, line = (rows(view) or [""])[-1], lines[count]
        if row == line or row.endswith(f" {line}"):
            return ENTER
        clean = not row or row.endswith(("?", [start, *lines][count]))
        return Action.type(f"{line}\n") if clean else CLEAR_LINE

    return Goal(lambda view: not runs(view) and taken(view) == len(lines), act)


def _chain(terminal: Window, processes: Sequence[Process]) -> list[Process]:
    """What the terminal started, what that started, and so on."""
    chain: list[Process] = []
    parent: int | None = terminal.pid
    while child := next((one for one in processes if one.parent == parent), None):
        chain.append(child)
        parent = child.pid
    return chain


def _directory(desktop: Desktop, process: Process) -> str | None:
    return desktop.run(["readlink", f"/proc/{process.pid}/cwd"]).output.strip() or None


def _squeeze(text: str) -> str:
    """Without blanks: a long line goes on in the next row, and blanks at the end of a row are not seen."""
    return "".join(text.split())


def _uncovered(view: View, terminal: Window) -> tuple[float, float]:
    """A point of the window that no window above covers, near its middle; the middle if there is none."""
    middle = (terminal.x + terminal.width / 2, terminal.y + terminal.height / 2)
    parts = [(2 * index + 1) / (2 * GRID) for index in range(GRID)]
    points = [
        (terminal.x + terminal.width * i, terminal.y + terminal.height * j) for i in parts for j in parts
    ]
    free = [point for point in [middle, *points] if openbox.at(view, *point) == terminal]
    return min(free, key=lambda point: abs(point[0] - middle[0]) + abs(point[1] - middle[1]), default=middle)


APP = Xterm()
