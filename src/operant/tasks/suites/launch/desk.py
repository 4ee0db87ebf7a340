"""What the tasks of a full desktop share: its programs, what lies around on it, and the ways to open something.

An oracle here is a list of steps, each of which says what to do next or that nothing is left to do. It decides by the
windows and widgets that it sees, so it can also go on from states that a learner got itself into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from operant.apps.view import View
from operant.config.desktop import Profile
from operant.tasks.criteria import AllOf, Criterion, FileEquals, WindowAbsent, WindowGeometry
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action, Node, Window

__all__ = [
    "CALCULATOR",
    "EDITOR",
    "FILES",
    "HELDOUT_OPENINGS",
    "LAUNCHERS",
    "MENU_ONLY",
    "OPENINGS",
    "PROGRAMS",
    "TERMINAL",
    "Desk",
    "Program",
    "Step",
    "Steps",
    "clutter",
    "file_name",
    "is_open",
    "only",
    "opened",
    "opened_by_menu",
    "opened_by_run",
    "opened_from_terminal",
    "window_of",
]

Step = Callable[[View], Action | None]
ESCAPE = Action.key("esc")
SELECT_ALL = Action.key("ctrl", "a")
CLEAR_LINE = Action.key("ctrl", "u")


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

_VERBS = ("Open", "Start", "Launch", "Run", "Bring up", "Show")
#: Ways to ask for a program. Training sees the first ones, held-out instances the others.
OPENINGS = (
    *(f"{verb} the {{program}}" for verb in _VERBS),
    *(f"{verb} the {{program}}." for verb in _VERBS),
    *(f"{verb} the {{program}} {kind}" for verb in _VERBS[:4] for kind in ("application", "program", "app")),
    *(f"{verb} {{program}}" for verb in _VERBS[:3]),
    *(f"Please {verb.lower()} the {{program}}." for verb in _VERBS[:5]),
    *(f"Can you {verb.lower()} the {{program}}?" for verb in _VERBS[:4]),
    "I want to use the {program}.",
    "I need the {program}. Please open it.",
    "Open the {program} for me, please.",
    "Make the {program} appear.",
    "Use the menu or the panel to start the {program}.",
)
HELDOUT_OPENINGS = (
    "Fire up the {program}.",
    "Could you get the {program} going?",
    "Let me see the {program}, please.",
    "The {program} should be open on the screen.",
    "Switch on the {program} app",
    "I would like to work with the {program} now.",
)


class Desk(Template):
    """A full desktop with ``p.files`` in HOME and the programs ``p.running`` open."""

    profile: ClassVar[Profile] = "full"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        values = vars(p)
        files: Mapping[str, str] = values.get("files", {})
        running: Sequence[Sequence[str]] = values.get("running", ())
        return [
            *(WriteFile(path=path, text=text) for path, text in files.items()),
            *(Launch(command=list(command)) for command in running),
        ]


# What lies around.


def file_name(draw: Draw, extension: str = "txt") -> str:
    return draw.file_name(extension)


def clutter(draw: Draw, most: int = 5) -> dict[str, str]:
    """Files that nobody speaks of, with names of their own."""
    count = draw.choice(range(most + 1))
    return {file_name(draw): f"{draw.phrase(4)}\n" for _ in range(count)}


# Criteria.


def is_open(program: Program) -> Criterion:
    return WindowGeometry(wm_class=program.wm_class, minimized=False)


def only(program: Program, *others: Criterion) -> Criterion:
    """The program is open, and none of those that have an icon beside it."""
    absent = [WindowAbsent(wm_class=one.wm_class) for one in LAUNCHERS if one is not program]
    return AllOf(of=(is_open(program), *others, *absent))


def untouched(files: Mapping[str, str]) -> list[Criterion]:
    return [FileEquals(path=path, text=text) for path, text in files.items()]


# Oracles.


@dataclass(frozen=True)
class Steps:
    """An oracle that takes the first of its steps with something left to do."""

    steps: Sequence[Step]
    finish: Action = field(default_factory=Action.done)

    def act(self, view: View) -> Action:
        for step in self.steps:
            action = step(view)
            if action is not None:
                return action
        return self.finish


def window_of(view: View, program: Program) -> Window | None:
    return view.window(wm_class=program.wm_class)


def shell_menu(view: View) -> bool:
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


def _once(view: View, click: Action) -> Action:
    """Click, and wait while what was clicked comes up."""
    return Action.wait() if view.last is not None and view.last in (click, Action.wait()) else click


def _starting(view: View, program: Program) -> bool:
    """Whether the program runs and has not shown its window yet; the one that also draws the icons always runs."""
    if program is FILES:
        return False
    return any(process.name == program.command[:15] for process in view.desktop.processes())


def opened(program: Program) -> Step:
    """Open it by its icon in the panel, or by the menu if it has none there."""
    return opened_by_icon(program) if program in LAUNCHERS else opened_by_menu(program)


def opened_by_icon(program: Program) -> Step:
    def step(view: View) -> Action | None:
        if window_of(view, program) is not None:
            return None
        if _starting(view, program):
            return Action.wait()
        if shell_menu(view):
            return ESCAPE
        launcher = view.widget("push button", program.item)
        return Action.wait() if launcher is None else _once(view, view.click(launcher))

    return step


def opened_by_menu(program: Program) -> Step:
    def step(view: View) -> Action | None:
        if window_of(view, program) is not None:
            return None
        if _starting(view, program):
            return Action.wait()
        return choose(view, program.category, program.item)

    return step


def choose(view: View, *path: str) -> Action:
    """The next click on the way through the application menu to an entry."""
    entries = [*view.widgets("menu item"), *view.widgets("menu")] if shell_menu(view) else []
    for name in reversed(path):
        for entry in entries:
            if entry.name == name and (entry.box or (0, 0))[0] < view.size.width // 2:
                return view.click(entry)
    button = view.widget("label", "Menu")
    return Action.wait() if button is None else view.click(button)


def opened_by_run(program: Program) -> Step:
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
        return SELECT_ALL if entry.text and view.last != SELECT_ALL else Action.type(program.command + "\n")

    return step


def opened_from_terminal(program: Program) -> Step:
    """Open a terminal, and start the program there."""
    open_terminal = opened(TERMINAL)

    def step(view: View) -> Action | None:
        if window_of(view, program) is not None:
            return None
        if _starting(view, program):
            return Action.wait()
        return open_terminal(view) or in_front(view, TERMINAL) or typed_in_terminal(view, program.command)

    return step


def typed_in_terminal(view: View, command: str) -> Action:
    """Type a command at the prompt, after removing what stands there."""
    shown = view.widget("terminal")
    lines = (shown.text or "").rstrip().split("\n") if shown is not None else [""]
    if lines[-1] == f"$ {command}":
        return Action.key("enter")
    if lines[-1] != "$":
        return Action.wait() if view.last != Action.wait() else CLEAR_LINE
    return Action.type(command + "\n")


def open_programs(*programs: Program) -> list[Sequence[str]]:
    return [[program.command] for program in programs]


def parameters(draw: Draw, program: Program, **more: Any) -> dict[str, Any]:
    """What a task needs that opens a program."""
    return {"program": draw.choice(program.names), "target": program, "files": clutter(draw), **more}
