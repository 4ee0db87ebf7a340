"""What the tasks of the text editor share: its set-up, what an oracle sees of it, edits from text to text.

The editor's accessibility says what a text is, but not where the caret stands. So an edit begins with a move
that puts the caret or a selection somewhere by itself (a click, a key such as ctrl+end), and goes on when
that was the last action or when the X selection says so. A text that no step knows is undone.
"""

from __future__ import annotations

import configparser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from operant.apps.moves import SELECT_ALL
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Node, Point, Window

PROGRAM = "mousepad"
KEYFILE = ".config/glib-2.0/settings/keyfile"
UNTITLED = "Untitled 1"
WINDOW = (620, 430)
WIDE = (1020, 430)  # shows the names of four tabs
CHARACTER, LINE, MARGIN = 9, 18, 2  # pixels of the editor's font

SAVE = Action.key("ctrl", "s")
SAVE_AS = Action.key("ctrl", "shift", "s")
COPY = Action.key("ctrl", "c")
CUT = Action.key("ctrl", "x")
PASTE = Action.key("ctrl", "v")
UNDO = Action.key("ctrl", "z")
NEW = Action.key("ctrl", "n")
ESCAPE = Action.key("esc")
TOP = Action.key("ctrl", "home")
BOTTOM = Action.key("ctrl", "end")
PATIENT = Action.wait(0.5)

Act = Callable[[View], Action]


class Editor(Template):
    """The editor is open on ``p.open``; ``p.files`` lie in HOME, those that nobody speaks of among them."""

    apps: ClassVar[tuple[str, ...]] = (PROGRAM,)

    def setup(self, p: Params) -> Sequence[SetupStep]:
        written = [WriteFile(path=path, text=text) for path, text in p.files.items()]
        bar = f"[org/xfce/mousepad/preferences/window]\nstatusbar-visible={str(p.status).lower()}\n"
        return [
            *written,
            WriteFile(path=KEYFILE, text=bar),
            Launch(command=[PROGRAM, *p.open], place=p.place),
        ]


def surroundings(draw: Draw, size: tuple[int, int] = WINDOW) -> dict[str, Any]:
    """What differs between instances of every task of the editor."""
    return {"place": draw.place(*size), "status": draw.choice((True, False))}


# Texts.


def file_names(draw: Draw, count: int, extension: str = "txt") -> list[str]:
    """Names that have no word in common, so that nothing completes one to another."""
    pairs = zip(draw.words(count, "adjectives"), draw.words(count, "nouns"), strict=True)
    return [f"{adjective}-{noun}.{extension}" for adjective, noun in pairs]


def errands(draw: Draw, count: int) -> list[str]:
    """Lines of a to-do list, each with a product and a name of its own."""
    rows = zip(
        draw.words(count, "verbs"),
        draw.numbers(count, 10, 99),
        _distinct(draw, count, "products"),
        draw.words(count, "names"),
        strict=True,
    )
    return [f"{verb} {number} {product} for {name}" for verb, number, product, name in rows]


def _distinct(draw: Draw, count: int, pool: str) -> list[str]:
    """Words none of which is a part of another one."""
    words = draw.words(count + 2, pool)
    return [one for one in words if not any(one in other for other in words if other != one)][:count]


def bystanders(draw: Draw, names: Sequence[str]) -> dict[str, str]:
    """Files that lie around."""
    return {name: joined(errands(draw, 3)) for name in names}


def joined(lines: Sequence[str]) -> str:
    return "".join(line + "\n" for line in lines)


def unchanged(files: Mapping[str, str], *except_for: str) -> list[Criterion]:
    """These files still say what they said."""
    return [FileEquals(path=path, text=text) for path, text in files.items() if path not in except_for]


def files_say(files: Mapping[str, str], wanted: Mapping[str, str]) -> Criterion:
    """Some files say this now, and the others what they said before."""
    says: list[Criterion] = [FileEquals(path=path, text=text) for path, text in wanted.items()]
    return AllOf(of=(*says, *unchanged(files, *wanted)))


# What an oracle sees.


def main_window(view: View) -> Window | None:
    return view.window(" - Mousepad")


def document(view: View) -> str | None:
    """The path of the document that is shown, or its name if it has no file yet."""
    window = main_window(view)
    if window is None:
        return None
    return window.title.removesuffix(" - Mousepad").removeprefix("*").removeprefix("~/")


def page(view: View) -> Node | None:
    """The text of the document that is shown."""
    return view.widget("text", state="multi line", app=PROGRAM)


def text_of(view: View) -> str | None:
    shown = page(view)
    return None if shown is None else shown.text


def selection(view: View) -> str | None:
    """What is marked, by keyboard or pointer."""
    return view.desktop.clipboard.get("primary")


def dialog(view: View) -> str | None:
    """The title of the editor's dialog that has the focus."""
    focused = view.focused
    if focused is None or focused.wm_class != "Mousepad" or focused.title.endswith(" - Mousepad"):
        return None
    return focused.title


def menu_is_open(view: View) -> bool:
    return any("selected" in menu.states for menu in view.widgets("menu", app=PROGRAM))


def tab(view: View, name: str) -> Node | None:
    return view.widget("page tab", name, app=PROGRAM)


def setting(view: View, section: str, key: str) -> str | None:
    """What the editor stored of its preferences."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(view.read(KEYFILE) or "")
    return parser.get(f"org/xfce/mousepad/preferences/{section}", key, fallback=None)


def spot(view: View, text: str, offset: int) -> Point:
    """The left edge of a character of the text that is shown."""
    shown = page(view)
    if shown is None or shown.box is None:
        return view.point(0, 0)
    bar = view.widget("scroll bar", app=PROGRAM)
    scrolled = bar.value or 0.0 if bar else 0.0
    line = text.count("\n", 0, offset)
    column = offset - (text.rfind("\n", 0, offset) + 1)
    x, y = shown.box[0] + MARGIN + CHARACTER * column, shown.box[1] + LINE * line + LINE // 2 - scrolled
    return view.point(x, y)


def end_of_line(view: View, text: str, line: int) -> Action:
    """Click behind the last character of a line."""
    offset = len(text.split("\n")[line]) + sum(len(part) + 1 for part in text.split("\n")[:line])
    return Action.click(spot(view, text, offset))


# Moves.


def grounded(view: View, *, menu: bool = False, keep: str | None = None) -> Action | None:
    """Out of menus and dialogs that the next step has no use for, and into the text; None when there."""
    shown, now = page(view), dialog(view)
    if now is not None:
        return None if now == keep else ESCAPE
    if shown is None:
        return Action.wait()
    focused = view.focused
    if focused is not None and focused.wm_class != "Mousepad":
        return view.click(shown)
    if menu_is_open(view):
        return None if menu else ESCAPE
    if focused is None or "focused" not in shown.states:
        return _back_to_text(view, shown)
    return None


def _back_to_text(view: View, shown: Node) -> Action:
    """The focus comes back a moment after a dialog has gone; if it does not, something like a search bar has it."""
    if view.last == ESCAPE:
        return view.click(shown)
    return ESCAPE if view.last is not None and view.last.kind is ActionKind.WAIT else Action.wait()


def choose(view: View, *path: str) -> Action:
    """The next click on the way through the menus to an entry."""
    entries = [*view.widgets("menu", app=PROGRAM), *view.widgets("menu item", app=PROGRAM)]
    for name in reversed(path):
        for entry in entries:
            if entry.name.strip() == name:
                return view.click(entry)
    return Action.wait()


def save_as(view: View, name: str, ask: Action = SAVE_AS) -> Action:
    """The next action on the way to the file of that name through the dialog that ``ask`` opens."""
    if dialog(view) != "Save As":
        return grounded(view) or (Action.wait() if view.last == ask else ask)
    return enter_name(view, name, ask)


def enter_name(view: View, name: str, ask: Action) -> Action:
    """Type a name into the dialog that has come up and confirm it; it takes half a second to go away."""
    stem, _, extension = name.rpartition(".")
    entry = view.widget("text", state="single line")
    if entry is None:
        return Action.wait()
    if entry.text == name:
        if view.last in (Action.type(name + "\n"), Action.type(stem + "\n")):
            return Action.wait()
        return PATIENT if view.last == Action.wait() else view.click(view.widget("push button", "Save"))
    if "focused" not in entry.states:
        return view.click(entry)
    if entry.text and entry.text.endswith("." + extension) and view.last in (ask, Action.wait()):
        return Action.type(stem + "\n")  # the dialog offers the old name with all but its extension marked
    if entry.text and view.last != SELECT_ALL:
        return SELECT_ALL
    return Action.type(name + "\n")


def show_tab(view: View, name: str) -> Action:
    """Bring the tab of a document to the front."""
    return grounded(view) or view.click(tab(view, name))


# Edits: steps from one text to the next.


@dataclass(frozen=True)
class Edit:
    """A step from one text to another, and the way to take it."""

    before: str
    after: str
    act: Act
    menu: bool = False
    dialog: str | None = None
    """The dialog that the way leads through."""


def typed(before: str, after: str, place: Action, text: str) -> Edit:
    """Go somewhere by keyboard and type."""
    return Edit(before, after, lambda view: Action.type(text) if view.last == place else place)


def marked(before: str, after: str, select: Act, wanted: str, then: Action) -> Edit:
    """Mark something and do something with it."""
    return Edit(before, after, lambda view: then if selection(view) == wanted else select(view))


def replaced_word(before: str, old: str, new: str) -> Edit:
    """Double-click a word and type over it."""
    return marked(before, before.replace(old, new, 1), word(before, old), old, Action.type(new))


def on_line(before: str, after: str, line: int, then: Action) -> Edit:
    """Click into a line and press something."""

    def act(view: View) -> Action:
        click = end_of_line(view, before, line)
        return then if view.last == click else click

    return Edit(before, after, act)


def menu_on_line(before: str, after: str, line: int, *path: str) -> Edit:
    """Click into a line and choose something from the menus."""

    def act(view: View) -> Action:
        click = end_of_line(view, before, line)
        return choose(view, *path) if view.last == click or menu_is_open(view) else click

    return Edit(before, after, act, menu=True)


def menu_on_selection(before: str, after: str, select: Act, wanted: str, *path: str) -> Edit:
    """Mark something and choose something from the menus."""

    def act(view: View) -> Action:
        if menu_is_open(view) or selection(view) == wanted:
            return choose(view, *path)
        return select(view)

    return Edit(before, after, act, menu=True)


def word(text: str, wanted: str) -> Act:
    """Double-click the first occurrence of a word."""
    middle = text.index(wanted) + len(wanted) // 2
    return lambda view: Action.click(spot(view, text, middle), clicks=2)


def whole_line(text: str, line: str) -> Act:
    """Click a line three times."""
    start = text.index(line)
    return lambda view: Action.click(spot(view, text, start + 2), clicks=3)


def moved_up(text: str, line: int) -> str:
    lines = text.split("\n")
    lines[line - 1], lines[line] = lines[line], lines[line - 1]
    return "\n".join(lines)


def without_line(text: str, line: int) -> str:
    lines = text.split("\n")
    return "\n".join(lines[:line] + lines[line + 1 :])


@dataclass(frozen=True)
class Chapter:
    """Edits, and how their result is kept: ``keep`` says the next action, or None when that is done."""

    edits: Sequence[Edit]
    keep: Callable[[View], Action | None]


@dataclass(frozen=True)
class Editing:
    """An oracle that edits one document, keeps it, edits it further, and so on."""

    chapters: Sequence[Chapter]
    finish: Action = field(default_factory=Action.done)

    def act(self, view: View) -> Action:
        text = text_of(view)
        if text is None:
            return Action.wait()
        for index in range(len(self.chapters) - 1, -1, -1):
            edits = self.chapters[index].edits
            if text == edits[-1].after:
                return self._keep(view, index)
            # What a later chapter begins with must first be kept by the one before.
            for edit in reversed(edits[1:] if index else edits):
                if text == edit.before:
                    return _take(view, edit)
        return grounded(view) or UNDO

    def _keep(self, view: View, index: int) -> Action:
        keeping = self.chapters[index].keep(view)
        if keeping is not None:
            return keeping
        if index + 1 == len(self.chapters):
            return self.finish
        return _take(view, self.chapters[index + 1].edits[0])


def _take(view: View, edit: Edit) -> Action:
    return grounded(view, menu=edit.menu, keep=edit.dialog) or edit.act(view)


def kept_in(path: str, text: str) -> Callable[[View], Action | None]:
    """Save the document to the file that it came from."""

    def keep(view: View) -> Action | None:
        if view.read(path) == text:
            return None
        return grounded(view) or (Action.wait() if view.last == SAVE else SAVE)

    return keep


def kept_as(name: str, text: str, ask: Action = SAVE_AS) -> Callable[[View], Action | None]:
    """Save the document under another name."""

    def keep(view: View) -> Action | None:
        if dialog(view) is None and view.read(name) == text:
            return None
        return save_as(view, name, ask)

    return keep


def edit_and_save(path: str, edits: Sequence[Edit]) -> Editing:
    """Edit a file and save it."""
    return Editing([Chapter(edits, kept_in(path, edits[-1].after))])
