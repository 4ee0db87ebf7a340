"""Open a program and do something in it: compute, write, browse, run a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from operant.apps import chromium, openbox, xterm
from operant.apps.chromium import go_to
from operant.apps.desktop_icons import (
    empty_spot,
    entry_clicked,
    folder_made,
    icon_menu,
    icon_opened,
    name_entered,
)
from operant.apps.file_chooser import PATIENT
from operant.apps.lxpanel import (
    BROWSER,
    CALCULATOR,
    EDITOR,
    ESCAPE,
    FILES,
    TERMINAL,
    Program,
    in_front,
    opened,
    window_of,
)
from operant.apps.mousepad.edits import appended, edited, saved_as
from operant.apps.mousepad.text_view import COPY, SAVE, dialog, grounded, selected, text_of
from operant.apps.moves import SELECT_ALL, Move, once
from operant.apps.view import View
from operant.tasks.criteria import (
    Accessible,
    AllOf,
    ClipboardEquals,
    Criterion,
    FileEquals,
    FileExists,
    Url,
    WindowAbsent,
    WindowGeometry,
)
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Serve, SetupStep, WriteFile
from operant.tasks.suites.core.editor_changes import errands
from operant.tasks.suites.launch.desk import Desk, Steps, clutter, file_name, untouched
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

SIGNS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "+": ("+", lambda a, b: a + b),
    "-": ("-", lambda a, b: a - b),
    "*": ("*", lambda a, b: a * b),
}
SHOWN = str.maketrans({"−": "-", "×": "*", "÷": "/", " ": None})


# The calculator.


def computed(a: int, sign: str, b: int, written: str | None) -> Move:
    """Enter a sum: as the instruction writes it, or number by number with the key of the sign between them."""
    key, compute = SIGNS[sign]
    result = str(compute(a, b))
    whole = f"{a}{sign}{b}"

    def step(view: View) -> Action | None:
        display = view.widget("editbar", app=CALCULATOR.command)
        if display is None:
            return Action.wait()
        text = (display.text or "").translate(SHOWN)
        if text == result:
            return None
        if text == whole:
            # The result may take a moment, and no look tells whether it was asked for.
            asked = view.last is not None and (
                view.last.text.endswith("\n") or view.last == Action.key("enter")
            )
            return Action.wait() if asked else Action.key("enter")
        if text == "":
            return Action.type(f"{written}\n" if written is not None else str(a))
        if written is None and text == str(a):
            return Action.key(key)
        if written is None and text == f"{a}{sign}":
            return Action.type(f"{b}\n")
        return ESCAPE

    return step


class ComputeFromTheDesktop(Desk):
    apps: ClassVar[tuple[str, ...]] = ("mate-calc", "panel")
    skill = "compute"
    family = "calculator"
    difficulty = Difficulty.EASY
    sign: ClassVar[str] = "+"
    range: ClassVar[tuple[int, int]] = (10, 999)
    #: How the instruction writes the sum; None if its numbers stand apart.
    written: ClassVar[str | None] = "{a} {sign} {b}"

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b = sorted(draw.numbers(2, *self.range), reverse=True)
        if self.sign != "-" and draw.choice((True, False)):
            a, b = b, a
        sum_ = (self.written or "").format(a=a, b=b, sign=self.sign)
        return {"a": a, "b": b, "sum": sum_, "files": clutter(draw)}

    def success(self, p: Params) -> Criterion:
        result = SIGNS[self.sign][1](p.a, p.b)
        return AllOf(
            of=(
                Accessible(app=CALCULATOR.command, role="editbar", text=str(result)),
                *(WindowAbsent(wm_class=one.wm_class) for one in (EDITOR, TERMINAL, FILES)),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        enter = computed(p.a, self.sign, p.b, p.sum or None)
        return Steps([opened(CALCULATOR), lambda view: in_front(view, CALCULATOR), enter])


SUMS = (
    "Open calculator and compute {sum}",
    "Open the calculator and compute {sum}",
    "Open the calculator and compute {sum}.",
    "Start the calculator and work out {sum}",
    "Compute {sum} with the calculator",
    "Use the calculator to compute {sum}",
    "Compute {sum} with the calculator, and leave the result on its display",
    "Please open the calculator and calculate {sum}.",
    "Open the calculator app, enter {sum} and press Enter.",
    "What is {sum}? Use the calculator.",
    "Let the calculator show the result of {sum}.",
    "Launch the calculator program, then compute {sum} in it.",
    "Start the calculator. Calculate {sum}.",
    "Work out {sum} on the calculator.",
    "Bring up the calculator and find out how much {sum} is.",
)


class ComputeSum(ComputeFromTheDesktop):
    id = "launch/compute-sum-v1"
    instructions = SUMS


class ComputeTight(ComputeFromTheDesktop):
    id = "launch/compute-tight-sum-v1"
    written = "{a}{sign}{b}"
    instructions = SUMS


class ComputeProduct(ComputeFromTheDesktop):
    id = "launch/compute-product-v1"
    sign = "*"
    range = (10, 200)
    instructions = SUMS


class ComputeInWords(ComputeFromTheDesktop):
    id = "launch/compute-in-words-v1"
    written = None
    instructions = (
        "Open the calculator and add {a} and {b}.",
        "Add {a} and {b} with the calculator.",
        "Use the calculator to find out what {a} plus {b} is.",
        "What is {a} plus {b}? Open the calculator and compute it.",
        "Start the calculator and compute the sum of {a} and {b}.",
    )


class ComputeDifference(ComputeFromTheDesktop):
    id = "launch/compute-difference-v1"
    sign = "-"
    unseen = True
    instructions = SUMS


# The editor.


class WriteNote(Desk):
    id = "launch/write-note-v1"
    apps = ("mousepad", "panel")
    skill = "type"
    family = "editor"
    difficulty = Difficulty.EASY
    instructions = (
        "Open the text editor, write '{note}' and save it as {file}.",
        'Start the text editor, type "{note}" and save that under the name {file}.',
        "Write '{note}' with the text editor and save it as {file}.",
        'Save a note that says "{note}" as {file}, using the text editor.',
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        note, file = errands(draw, 1)[0], file_name(draw)
        return {"note": note, "file": file, "files": clutter(draw, 3, taken=(file,))}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(FileEquals(path=p.file, text=p.note), *untouched(p.files)))

    def oracle(self, p: Params) -> Oracle:
        noted = saved_as(p.file, [appended("", p.note)], SAVE)
        return Steps([opened(EDITOR), lambda view: None if noted.done(view) else noted.act(view)])


class NewFile(Desk):
    id = "launch/new-file-v1"
    apps = ("pcmanfm",)
    skill = "context menu"
    family = "editor"
    difficulty = Difficulty.EASY
    instructions = (
        "Create a file called {file} in your home folder",
        "Create a file called {file} in your home folder.",
        "Make an empty file {file} on the desktop.",
        "Create the file {file}",
        "I need a new file called {file}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = (file_name(draw), f"{draw.word()}.txt", f"{draw.word('topics')}.txt")
        file = draw.choice(names)
        return {"file": file, "files": clutter(draw, taken=(file,))}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(FileExists(path=p.file), *untouched(p.files)))

    def oracle(self, p: Params) -> Oracle:
        def step(view: View) -> Action | None:
            if view.desktop.files.exists(p.file):
                return None
            entering = name_entered(view, "Creating", p.file)
            if entering is not None:
                return entering
            if icon_menu(view):
                return entry_clicked(view, "Create New...", "Empty File")
            return empty_spot(view)

        return Steps([step])


class NoteInNewFolder(Desk):
    id = "launch/note-in-new-folder-v1"
    apps = ("pcmanfm", "mousepad")
    skill = "type"
    family = "editor"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Write '{note}' into a file called {file} in a new folder called {folder}, then close the text editor",
        "Make a folder called {folder}, write '{note}' into a file {file} in it, and close the text editor.",
        "Create the folder {folder}. With the text editor, save a file {file} there that says '{note}'. Then close "
        "the editor.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        note = draw.choice(
            (draw.phrase(3), f"{draw.word('verbs')} {draw.word('names')}", errands(draw, 1)[0])
        )
        names = (f"{draw.word()}.txt", file_name(draw))
        return {
            "note": note,
            "file": draw.choice(names),
            "folder": draw.word("topics").capitalize(),
            "files": clutter(draw, 3),
        }

    def success(self, p: Params) -> Criterion:
        saved = FileEquals(path=f"{p.folder}/{p.file}", text=p.note)
        return AllOf(of=(saved, WindowAbsent(wm_class=EDITOR.wm_class), *untouched(p.files)))

    def oracle(self, p: Params) -> Oracle:
        path = f"{p.folder}/{p.file}"
        open_it = opened(EDITOR)

        def save(view: View) -> Action:
            if dialog(view) == "Save As":
                return path_entered(view, p.folder, p.file)
            return Action.wait() if view.window("Save As") is not None else grounded(view) or SAVE

        noted = edited(path, [appended("", p.note)], save)

        def step(view: View) -> Action | None:
            if view.read(path) == p.note:
                if window_of(view, EDITOR) is None:
                    return None
                return once(view, Action.key("ctrl", "q"))
            return open_it(view) or noted.act(view)

        return Steps([folder_made(p.folder), step])


def path_entered(view: View, folder: str, file: str) -> Action:
    """Name a file in a folder in the dialog that saves: both names stand in the instruction, the slash is a key."""
    entry = view.widget("text", state="single line")
    if entry is None:
        return Action.wait()
    text = entry.text or ""
    if text == f"{folder}/{file}":
        # The dialog takes half a second to go away, and longer on a busy machine: another Enter would reach the text.
        confirm = Action.key("enter")
        longer = {
            Action.type(file + "\n"): Action.wait(),
            confirm: Action.wait(),
            Action.wait(): PATIENT,
            PATIENT: Action.wait(1.0),
        }
        return longer.get(view.last, confirm) if view.last is not None else confirm
    if text == f"{folder}/":
        return Action.type(file + "\n")
    if text == folder:
        return Action.key("/")
    caret = view.caret()
    return SELECT_ALL if caret is None or caret.selected != text else Action.type(folder)


class CopyWord(Desk):
    id = "launch/copy-word-v1"
    apps = ("pcmanfm", "mousepad", "openbox")
    skill = "copy"
    family = "editor"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Open the file manager on a new folder called {folder}, maximize its window, and copy the word '{word}' to "
        "the clipboard with the text editor",
        "Make a folder called {folder}, open it in the file manager, maximize that window, and copy the word '{word}' "
        "to the clipboard with the text editor.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        folder, word = draw.word("topics").capitalize(), draw.word()
        return {"folder": folder, "word": word, "files": clutter(draw, 3)}

    def success(self, p: Params) -> Criterion:
        shown = WindowGeometry(title=p.folder, wm_class=FILES.wm_class, maximized=True)
        return AllOf(of=(FileExists(path=p.folder, kind="directory"), shown, ClipboardEquals(text=p.word)))

    def oracle(self, p: Params) -> Oracle:
        open_editor = opened(EDITOR)

        def maximised(view: View) -> Action | None:
            window = view.window(p.folder, wm_class=FILES.wm_class)
            if window is None or window.maximized:
                return None
            return openbox.press(view, window, "maximize")

        def copied(view: View) -> Action | None:
            if view.clipboard() == p.word:
                return None
            opening = open_editor(view) or in_front(view, EDITOR)
            if opening is not None:
                return opening
            if text_of(view) == p.word:
                return COPY if selected(view) == p.word else SELECT_ALL
            return grounded(view) or (Action.type(p.word) if not text_of(view) else SELECT_ALL)

        return Steps([folder_made(p.folder), icon_opened(p.folder, FILES, p.folder), maximised, copied])


# The browser, the terminal, a window.


class Browse(Desk):
    id = "launch/browse-v1"
    apps = ("chromium", "panel")
    skill = "open"
    family = "browser"
    difficulty = Difficulty.EASY
    instructions = (
        "Open the web browser and go to {address}",
        "Open the web browser and go to the page {address}.",
        "Start the web browser and open {address}.",
        "Show the page {address} in the web browser.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        topic, *others = draw.words(3, "topics")
        pages = {
            one: f"<title>{one}</title><h1>{one}</h1><p>{draw.phrase(4)}</p>" for one in (topic, *others)
        }
        return {"address": f"127.0.0.1:8000/{topic}.html", "pages": pages, "files": clutter(draw, 3)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        site = [WriteFile(path=f".site/{name}.html", text=text) for name, text in p.pages.items()]
        return [*super().setup(p), *site, Serve(directory=".site")]

    def success(self, p: Params) -> Criterion:
        return Url(url=f"http://{p.address}")

    def oracle(self, p: Params) -> Oracle:
        url = f"http://{p.address}"
        there = go_to(p.address, lambda view: chromium.location(view) == url)

        def step(view: View) -> Action | None:
            return None if there.done(view) else there.act(view)

        return Steps([opened(BROWSER), lambda view: in_front(view, BROWSER), step])


class RunCommand(Desk):
    id = "launch/run-command-v1"
    apps = ("xterm", "panel")
    skill = "terminal"
    family = "terminal"
    difficulty = Difficulty.EASY
    instructions = (
        "Open a terminal and run `{command}`.",
        "Start the terminal and enter the command `{command}`",
        "Run `{command}` in a terminal.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name = draw.word()
        made = draw.choice((f"mkdir {name}", f"touch {name}"))
        return {"command": made, "name": name, "files": clutter(draw, 3)}

    def success(self, p: Params) -> Criterion:
        kind = "directory" if p.command.startswith("mkdir") else "file"
        return AllOf(of=(FileExists(path=p.name, kind=kind), *untouched(p.files)))

    def oracle(self, p: Params) -> Oracle:
        def step(view: View) -> Action | None:
            return None if view.desktop.files.exists(p.name) else xterm.enter(view, p.command)

        return Steps([opened(TERMINAL), lambda view: in_front(view, TERMINAL), step])


class OpenMaximised(Desk):
    id = "launch/open-maximised-v1"
    apps = ("panel", "openbox")
    skill = "open"
    family = "programs"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "Open the {program} and maximize its window.",
        "Start the {program} in a maximized window.",
    )
    heldout_instructions = ("Let the window of the {program} fill the screen, after you have opened it.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        program = draw.choice((EDITOR, FILES, TERMINAL))
        return {"program": str(program), "target": program, "files": clutter(draw, 3)}

    def success(self, p: Params) -> Criterion:
        return WindowGeometry(wm_class=p.target.wm_class, maximized=True)

    def oracle(self, p: Params) -> Oracle:
        return Steps([opened(p.target), _maximised(p.target)])


def _maximised(program: Program) -> Move:
    def step(view: View) -> Action | None:
        window = window_of(view, program)
        if window is None or window.maximized:
            return None
        return openbox.press(view, window, "maximize")

    return step


TEMPLATES: tuple[type[Template], ...] = (
    ComputeSum,
    ComputeTight,
    ComputeProduct,
    ComputeInWords,
    ComputeDifference,
    WriteNote,
    NewFile,
    NoteInNewFolder,
    CopyWord,
    Browse,
    RunCommand,
    OpenMaximised,
)
