"""What the terminal tasks share: a terminal in a work directory, and oracles that enter lines.

Oracles know how far they got by files, processes and directories, not by what the terminal shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, DirectoryContains, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, MakeDirectory, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Window

__all__ = [
    "HOME",
    "SIZE",
    "WORK",
    "Commands",
    "Entry",
    "Step",
    "TerminalTask",
    "all_hold",
    "all_of",
    "at",
    "clutter",
    "directory",
    "enter",
    "gone",
    "in_terminal",
    "names",
    "says",
    "spoken",
    "terminal",
    "terminal_window",
    "untouched",
]

HOME = "/home/user"
WORK = "work"
SIZE = (700, 420)
TITLE = "Terminal"
CLEAR = Action.key("ctrl", "c")
DONE = Action.done()
GRID = 12  # points a side at which a window is looked for between those that cover it

Holds = Callable[[View], bool]


# Set-up.


def terminal(
    place: tuple[int, int, int, int], *, title: str = TITLE, directory: str = WORK, run: str | None = None
) -> Launch:
    """A terminal with a readable font, in a directory below HOME; with ``run``, it shows that program."""
    command = ["env", "-C", f"{HOME}/{directory}", "SHELL=/bin/bash"]
    command += ["xterm", "-fa", "Monospace", "-fs", "11", "-T", title]
    return Launch(command=[*command, *(["-e", run] if run else [])], place=place)


def names(draw: Draw, count: int) -> list[str]:
    """Different plain names such as ``quiet-harbor``."""
    pairs = zip(draw.words(count, "adjectives"), draw.words(count), strict=True)
    return ["-".join(pair) for pair in pairs]


def clutter(draw: Draw, names: Sequence[str]) -> dict[str, str]:
    """Text files that lie around."""
    return {f"{name}.txt": f"{draw.phrase(3)}\n{draw.phrase(2)}\n" for name in names}


def untouched(
    files: Mapping[str, str], *, beside: Sequence[str] = (), directory: str = WORK
) -> list[Criterion]:
    """These files as they were and those beside them are all that is in the directory."""
    return [
        DirectoryContains(path=directory, names=(*files, *beside), exactly=True),
        *(FileEquals(path=f"{directory}/{name}", text=text) for name, text in files.items()),
    ]


class TerminalTask(Template):
    """A terminal is open in the directory ``work``, where ``p.files`` lie."""

    apps = ("xterm",)

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*self.prepare(p), terminal(p.place)]

    def prepare(self, p: Params) -> list[SetupStep]:
        """Everything but the terminal."""
        return [
            WriteFile(path=".bashrc", text="PS1='\\w $ '\n"),
            MakeDirectory(path=WORK),
            *(WriteFile(path=f"{WORK}/{name}", text=text) for name, text in p.files.items()),
        ]


def all_of(*criteria: Criterion) -> Criterion:
    return AllOf(of=criteria)


# What a command left.


def says(path: str, text: str) -> Holds:
    return lambda view: view.read(f"{WORK}/{path}") == text


def directory(path: str) -> Holds:
    def holds(view: View) -> bool:
        info = view.desktop.files.info(f"{WORK}/{path}")
        return info is not None and info.is_dir

    return holds


def gone(path: str) -> Holds:
    return lambda view: view.desktop.files.info(f"{WORK}/{path}") is None


def at(path: str, title: str = TITLE) -> Holds:
    """Whether the shell in that terminal is in that directory."""

    def holds(view: View) -> bool:
        window = terminal_window(view, title)
        shell = next((one for one in view.desktop.processes() if window and one.parent == window.pid), None)
        if shell is None:
            return False
        found = view.desktop.run(["readlink", f"/proc/{shell.pid}/cwd"]).output.strip()
        return found == f"{HOME}/{path}".rstrip("/")

    return holds


def all_hold(*conditions: Holds) -> Holds:
    return lambda view: all(holds(view) for holds in conditions)


# Oracles.


@dataclass(frozen=True)
class Step:
    """A command line to be entered, and what it leaves."""

    line: str
    left: Holds


@dataclass(frozen=True)
class Commands:
    """Enters command lines in order; goes on after the last one whose effect is there."""

    steps: Sequence[Step]
    title: str = TITLE
    finish: Action = DONE

    def act(self, view: View) -> Action:
        action = self.next(view)
        return self.finish if action is None else action

    def next(self, view: View) -> Action | None:
        """The next action in this terminal; None when everything is there."""
        reached = max((index for index, step in enumerate(self.steps) if step.left(view)), default=-1)
        if reached == len(self.steps) - 1:
            return None
        return in_terminal(view, self.title) or enter(view, self.steps[reached + 1].line)


@dataclass(frozen=True)
class Entry:
    """Starts a program, gives it lines one by one, and ends it. What it took, it writes into a file."""

    start: str
    program: str
    """A word in the command line of the program, by which it is seen to run."""
    lines: Sequence[str]
    file: str
    taken: Sequence[str]
    """What the file says after no line, after one, and so on."""
    end: Action | None = None
    """How the program is told that this was all, if it does not know."""

    def next(self, view: View) -> Action | None:
        text = view.read(f"{WORK}/{self.file}")
        count = next((n for n in range(len(self.taken) - 1, -1, -1) if self.taken[n] == text), None)
        if not self.runs(view):
            return None if count == len(self.lines) else in_terminal(view) or enter(view, self.start)
        if count is None:
            just_typed = view.last is not None and view.last.kind is ActionKind.TYPE
            return in_terminal(view) or (Action.wait() if just_typed else CLEAR)
        if count < len(self.lines):
            return in_terminal(view) or enter(view, self.lines[count])
        return in_terminal(view) or (Action.wait() if self.end in (None, view.last) else self.end)

    def act(self, view: View) -> Action:
        return self.next(view) or Action.done()

    def runs(self, view: View) -> bool:
        """Whether the program runs and, if it does not end by itself, writes to this file."""
        for process in view.desktop.processes():
            if self.program in process.command[:2]:
                output = view.desktop.run(["readlink", f"/proc/{process.pid}/fd/1"]).output.strip()
                if self.end is None or output == f"{HOME}/{WORK}/{self.file}":
                    return True
        return False


def enter(view: View, line: str) -> Action:
    """Type a line and Enter; first drop what was typed without one, and give a command time to act."""
    action, last = Action.type(line + "\n"), view.last
    if last == action:
        return Action.wait()
    if last is not None and last.kind is ActionKind.TYPE and not last.text.endswith("\n"):
        return CLEAR
    return action


def in_terminal(view: View, title: str = TITLE) -> Action | None:
    """What brings the focus into that terminal; None if it is there."""
    window = terminal_window(view, title)
    if window is None:
        return Action.wait()
    return None if window.focused else Action.click(view.point(*uncovered(view, window)))


def terminal_window(view: View, title: str) -> Window | None:
    return next((one for one in view.windows if one.title == title and one.wm_class == "XTerm"), None)


def uncovered(view: View, window: Window) -> tuple[float, float]:
    """A point of the window that no window above covers, near its middle; the middle if there is none."""
    above = view.windows[view.windows.index(window) + 1 :]
    middle = (window.x + window.width / 2, window.y + window.height / 2)
    steps = [(2 * index + 1) / (2 * GRID) for index in range(GRID)]
    points = [(window.x + window.width * i, window.y + window.height * j) for i in steps for j in steps]
    free = [point for point in [middle, *points] if not any(_covers(other, point) for other in above)]
    return min(free, key=lambda point: abs(point[0] - middle[0]) + abs(point[1] - middle[1]), default=middle)


def _covers(window: Window, point: tuple[float, float]) -> bool:
    """Whether the window or its frame, title bar included, is there."""
    x, y = point
    wide, high = x - window.x, y - window.y
    inside = -6 <= wide <= window.width + 6 and -28 <= high <= window.height + 6
    return inside and not window.minimized


def spoken(lines: Sequence[Any], last: str = "and") -> str:
    """``a, b and c``."""
    parts = [str(line) for line in lines]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"
