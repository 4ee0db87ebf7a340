"""The file manager as oracles see and use it: where it is, what it shows, and goals read off the disk.

The folder view is found by accessibility: icons in the icon view, cells of the column "Name" in the list.
The icon view tells of icons that go but not of those that come, so chores that look at new files use lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from operant.apps.moves import SELECT_ALL
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, DirectoryContains, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, MakeDirectory, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Button, Node, Point

__all__ = [
    "HOME",
    "PARENTS",
    "SETTINGS",
    "SIZE",
    "TRASH",
    "FileManager",
    "Goal",
    "Goals",
    "answer",
    "choose",
    "clear_way",
    "copied",
    "copy_waits",
    "cut_waits",
    "dialog",
    "dragged",
    "exists",
    "file_made",
    "files_in",
    "fill",
    "folder_made",
    "folder_shown",
    "here",
    "holds",
    "in_location_bar",
    "items",
    "joined",
    "leave_location_bar",
    "menu",
    "moved",
    "once",
    "opened_with",
    "press",
    "renamed",
    "say_yes",
    "says_name",
    "setting_file",
    "stems",
    "steps",
    "taken_in",
    "toggled",
    "trashed",
    "unread",
    "visit",
]

APP = "pcmanfm"
HOME = "/home/user"
SIZE = (700, 450)
TRASH = ".local/share/Trash/files"
COPIED = "x-special/gnome-copied-files"
SETTINGS = ".config/pcmanfm/default/pcmanfm.conf"
HANDLERS = """[Default Applications]
text/plain=org.xfce.mousepad.desktop
image/png=viewnior.desktop
application/zip=xarchiver.desktop
"""
PARENTS = ("Documents", "work", "stuff", "shared", "desk", "home-office")


# What a seed puts on the disk, and what must be there in the end.


def says_name(name: str) -> str:
    """What a file of that name says, so that no two files are alike."""
    return f"This is {name}.\n"


def setting_file(view_mode: str) -> WriteFile:
    return WriteFile(
        path=SETTINGS, text=f"[ui]\nview_mode={view_mode}\nshow_hidden=0\nsort=name;ascending;\n"
    )


def files_in(folder: str, names: Sequence[str]) -> list[SetupStep]:
    """A folder with files that say their names; names that end with a slash are folders."""
    made: list[SetupStep] = [MakeDirectory(path=folder)]
    for name in names:
        path = f"{folder}/{name}"
        made.append(
            MakeDirectory(path=path) if name.endswith("/") else WriteFile(path=path, text=says_name(name))
        )
    return made


def holds(folder: str, names: Sequence[str], origins: Mapping[str, str] | None = None) -> Criterion:
    """Exactly these are in a folder, and each file says what it said; ``origins`` are names it had before."""
    before = origins or {}
    contents = [
        FileEquals(path=f"{folder}/{name}", text=says_name(before.get(name, name)))
        for name in names
        if not name.endswith("/")
    ]
    return AllOf(of=(DirectoryContains(path=folder, names=tuple(names), exactly=True), *contents))


def stems(draw: Draw, count: int) -> list[str]:
    """Different names of files, such as ``quiet-harbor``."""
    nouns = draw.words(count, "nouns")
    return [f"{draw.word('adjectives')}-{noun}" for noun in nouns]


def joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


class FileManager(Template):
    """What tasks of the file manager have in common: a folder is open in it, somewhere on the screen."""

    apps: ClassVar[tuple[str, ...]] = ("pcmanfm",)
    view_mode = "list"

    def content(self, p: Params) -> Sequence[SetupStep]:
        """What lies on the disk."""
        return ()

    def start_folder(self, p: Params) -> str:
        return str(p.folder)

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            setting_file(self.view_mode),
            WriteFile(path=".config/mimeapps.list", text=HANDLERS),
            *self.content(p),
            Launch(command=["pcmanfm", self.start_folder(p)], place=p.place),
        ]


# Looking.


def _frames(view: View) -> Iterator[Node]:
    return (node for node in view.tree(APP).children if node.role == "frame")


def _pane(view: View) -> Node | None:
    """The view of the folder: a table of files, or a plane with icons."""
    for frame in _frames(view):
        for node in frame.walk():
            if node.role == "layered pane" or (node.role == "table" and _name_column(node) is not None):
                return node
    return None


def _name_column(table: Node) -> Node | None:
    return next(
        (one for one in table.children if one.role == "table column header" and one.name == "Name"), None
    )


def items(view: View) -> dict[str, Node]:
    """The files and folders that are shown, by name."""
    pane = _pane(view)
    if pane is None:
        return {}
    if pane.role == "layered pane":
        return {one.text: one for one in pane.children if one.role == "icon" and one.text and one.box}
    column = _name_column(pane)
    if column is None or column.box is None:
        return {}
    left, right = column.box[0], column.box[0] + column.box[2]
    return {
        one.name: one
        for one in pane.walk()
        if one.role == "table cell" and one.name and one.box is not None and left <= one.box[0] < right
    }


def _location(view: View) -> Node | None:
    bars = (bar for frame in _frames(view) for bar in frame.walk() if bar.role == "tool bar")
    return next((field for bar in bars if (field := bar.find("text")) is not None), None)


def here(view: View) -> str:
    """The folder that the location bar names."""
    field = _location(view)
    return (field.text or "").rstrip("/") if field else ""


def in_location_bar(view: View) -> bool:
    """Whether keys go to the location bar, and not to the files."""
    field = _location(view)
    return field is not None and "focused" in field.states


def dialog(view: View, *titles: str) -> Node | None:
    """An open dialog; any of them if no title is given."""
    for node in view.tree(APP).children:
        if node.role in ("dialog", "alert") and (not titles or node.name in titles):
            return node
    return None


def menu(view: View) -> Node | None:
    """A context menu that is open."""
    for node in view.tree(APP).children:
        if node.role == "window" and node.find("menu item") is not None:
            return node
    return None


def exists(view: View, path: str) -> bool:
    return view.desktop.files.exists(path)


# Acting.


def once(view: View, action: Action) -> Action:
    """Not the same thing twice in a row: what was just done may need a moment to show."""
    return Action.wait() if view.last == action else action


def steps(*tries: Callable[[View], Action | None]) -> Callable[[View], Action]:
    """The first action that one of these wants to take; wait if none does."""

    def act(view: View) -> Action:
        for attempt in tries:
            action = attempt(view)
            if action is not None:
                return action
        return Action.wait()

    return act


def unread(view: View, app: str) -> bool:
    """Whether an application did not tell of its widgets in time; then nothing can be said to be missing."""
    return not view.tree(app).children


def clear_way(view: View) -> Action | None:
    """Close dialogs and menus that are in the way, and bring the file manager to the front."""
    if unread(view, APP):
        return Action.wait()
    open_dialog = dialog(view)
    if open_dialog is not None:
        return _dismissed(open_dialog)
    if menu(view) is not None:
        return Action.key("esc")
    focused = view.focused
    window = view.window(wm_class="Pcmanfm")
    if window is not None and (focused is None or focused.wm_class != "Pcmanfm"):
        return Action.click(view.point(window.x + window.width / 2, window.y - 9))
    return None


def _dismissed(shown: Node) -> Action:
    """Close a dialog, but let work in progress come to its end."""
    working = shown.find("progress bar") is not None and shown.name != "Finished"
    return Action.wait() if working else Action.key("esc")


def visit(folder: str) -> Callable[[View], Action | None]:
    """Go to a folder below HOME: into what is shown, or up."""
    target = f"{HOME}/{folder}"

    def attempt(view: View) -> Action | None:
        now = here(view)
        if now == target:
            return None
        if target.startswith(now + "/"):
            item = items(view).get(target[len(now) + 1 :].split("/")[0])
            return Action.wait() if item is None else once(view, view.click(item, clicks=2))
        for frame in _frames(view):
            button = frame.find("push button", "Parent Folder")
            if button is not None:
                return view.click(button)
        return Action.wait()

    return attempt


def taken_in(view: View, names: Sequence[str]) -> bool:
    """Whether the status bar tells of this selection.

    PCManFM takes a selection in with a delay; until then keys act on the selection before, even on the folder
    in which one just was.
    """
    said = f'"{names[0]}"' if len(names) == 1 else f"{len(names)} items selected"
    bars = (bar for frame in _frames(view) for bar in frame.walk() if bar.role == "status bar")
    return any(one.name.startswith(said) for bar in bars for one in bar.walk())


def choose(*names: str) -> Callable[[View], Action | None]:
    """Select exactly these."""

    def attempt(view: View) -> Action | None:
        shown = items(view)
        chosen = [name for name, item in shown.items() if "selected" in item.states]
        typing = in_location_bar(view)
        if sorted(chosen) == sorted(names) and not typing:
            return None if taken_in(view, names) else Action.wait()
        if not set(names) <= shown.keys():
            return Action.wait()
        if typing:
            return view.click(shown[names[0]])
        wrong = [name for name in chosen if name not in names]
        if wrong and len(chosen) > 1:
            return Action.click(_blank(view))
        missing = next(name for name in names if wrong or name not in chosen)
        more = {"modifiers": ("ctrl",)} if chosen and not wrong else {}
        return view.click(shown[missing], **more)

    return attempt


def leave_location_bar(view: View) -> Action | None:
    return Action.click(_blank(view)) if in_location_bar(view) else None


def _blank(view: View) -> Point:
    """A place of the folder view where nothing is."""
    pane = _pane(view)
    x, y, width, height = pane.box if pane is not None and pane.box else (0, 0, 1, 1)
    return view.point(x + width - 40, y + height - 24)


def fill(
    title: str, text: str, button: str | None = None, *, about: str | None = None
) -> Callable[[View], Action | None]:
    """While this dialog is open, make its field say the text, and press Enter or a button.

    A dialog that is not ``about`` the right file is closed: a key pressed too soon after a click still means
    what was selected before (see ``taken_in``).
    """

    def attempt(view: View) -> Action | None:
        shown = dialog(view, title)
        field = shown.find("text") if shown is not None else None
        if shown is None or field is None:
            return None
        editing = view.last == SELECT_ALL or (view.last is not None and view.last.kind is ActionKind.TYPE)
        if about is not None and field.text not in (about, text) and not editing:
            return Action.key("esc")
        if field.text == text:
            press = shown.find("push button", button) if button else None
            finish = view.click(press) if press else Action.key("enter")
            return Action.wait() if view.last == Action.type(text + "\n") else once(view, finish)
        if field.text and view.last != SELECT_ALL:
            return SELECT_ALL
        return Action.type(text + ("" if button else "\n"))

    return attempt


def say_yes(names: Sequence[str]) -> Callable[[View], Action | None]:
    """Confirm a question about these files; one about another file is closed."""

    def attempt(view: View) -> Action | None:
        shown = dialog(view, "Question")
        button = shown.find("push button", "Yes") if shown is not None else None
        if shown is None or button is None:
            return None
        asked = " ".join(one.name for one in shown.walk() if one.role == "label")
        other = "'" in asked and not any(f"'{name}'" in asked for name in names)
        return Action.key("esc") if other else once(view, view.click(button))

    return attempt


def press(*keys: str) -> Callable[[View], Action | None]:
    return lambda view: once(view, Action.key(*keys))


# Goals.


@dataclass(frozen=True)
class Goal:
    """Something to be brought about that stays, once it is."""

    done: Callable[[View], bool]
    act: Callable[[View], Action]


@dataclass(frozen=True)
class Goals:
    """An oracle that works on the first goal that is not reached, in whatever order the others came about."""

    goals: Sequence[Goal]
    finish: Action = Action.done()  # noqa: RUF009 - immutable

    def act(self, view: View) -> Action:
        for goal in self.goals:
            if not goal.done(view):
                return goal.act(view)
        open_dialog = dialog(view)
        return self.finish if open_dialog is None else _dismissed(open_dialog)


def answer(text: str) -> Action:
    return Action(ActionKind.ANSWER, text=text)


def renamed(folder: str, old: str, new: str) -> Goal:
    return Goal(
        lambda view: exists(view, f"{folder}/{new}") and not exists(view, f"{folder}/{old}"),
        steps(fill("Rename File", new, about=old), clear_way, visit(folder), choose(old), press("f2")),
    )


def trashed(folder: str, *names: str) -> Goal:
    def left(view: View) -> list[str]:
        return [name for name in names if exists(view, f"{folder}/{name}")]

    return Goal(
        lambda view: not left(view),
        steps(
            say_yes(names), clear_way, visit(folder), lambda view: choose(*left(view))(view), press("delete")
        ),
    )


def folder_made(folder: str, name: str) -> Goal:
    return Goal(
        lambda view: exists(view, f"{folder}/{name}"),
        steps(fill("Creating New Folder", name), clear_way, visit(folder), press("ctrl", "shift", "n")),
    )


def file_made(folder: str, name: str) -> Goal:
    """An empty file, over the context menu. What its submenu shows can't be seen, so keys go through it."""

    def through_menu(view: View) -> Action | None:
        shown = menu(view)
        entry = shown.find("menu", "Create New...") if shown is not None else None
        if entry is None:
            return None
        opening = view.click(entry)
        following = {opening: "right", Action.key("right"): "down", Action.key("down"): "enter"}
        key = following.get(view.last) if view.last is not None else None
        return Action.key(key) if key else opening

    def open_menu(view: View) -> Action:
        return once(view, Action.click(_blank(view), button=Button.RIGHT))

    return Goal(
        lambda view: exists(view, f"{folder}/{name}"),
        steps(
            fill("Creating ...", name),
            through_menu,
            clear_way,
            visit(folder),
            open_menu,
        ),
    )


def _clipboard(view: View, target: str) -> list[str]:
    found = view.desktop.run(["xclip", "-selection", "clipboard", "-o", "-t", target])
    return found.output.strip("\0\n").split("\n") if found.returncode == 0 else [""]


def copy_waits(view: View, source: str, names: Sequence[str]) -> bool:
    """Whether copies of these files would be pasted."""
    verb, *uris = _clipboard(view, COPIED)
    return verb == "copy" and sorted(uris) == sorted(f"file://{HOME}/{source}/{name}" for name in names)


def cut_waits(view: View, source: str, names: Sequence[str]) -> bool:
    """Whether these files would be moved by pasting.

    Whoever reads cut files off the clipboard takes them, so only look whether there are any, and in the
    source folder, whether the right ones are selected.
    """
    chosen = [name for name, item in items(view).items() if "selected" in item.states]
    right = here(view) != f"{HOME}/{source}" or sorted(chosen) == sorted(names)
    return right and COPIED in _clipboard(view, "TARGETS")


def _pasted(
    cut: bool, names: Sequence[str], source: str, target: str, replace: bool = False
) -> Callable[[View], Action]:
    key, waits = (Action.key("ctrl", "x"), cut_waits) if cut else (Action.key("ctrl", "c"), copy_waits)
    paste = Action.key("ctrl", "v")

    def overwrite(view: View) -> Action | None:
        shown = dialog(view, "Confirm File Replacing")
        button = shown.find("push button", "Overwrite") if shown is not None and replace else None
        return None if button is None else view.click(button)

    def attempt(view: View) -> Action | None:
        if view.last == paste:
            return Action.wait()
        if waits(view, source, names):
            return visit(target)(view) or leave_location_bar(view) or paste
        return visit(source)(view) or choose(*names)(view) or once(view, key)

    return steps(overwrite, clear_way, attempt)


def moved(names: Sequence[str], source: str, target: str) -> Goal:
    def left(view: View) -> list[str]:
        return [
            name for name in names if exists(view, f"{source}/{name}") or not exists(view, f"{target}/{name}")
        ]

    return Goal(lambda view: not left(view), lambda view: _pasted(True, left(view), source, target)(view))


def copied(names: Sequence[str], source: str, target: str, *, replace: bool = False) -> Goal:
    """Copies are in the target, in place of older ones if there are any."""

    def done(view: View) -> bool:
        return all(view.read(f"{target}/{name}") == view.read(f"{source}/{name}") for name in names)

    return Goal(done, _pasted(False, names, source, target, replace))


def dragged(folder: str, names: Sequence[str], into: str) -> Goal:
    """Move files into a folder that is shown next to them, with the mouse."""

    def left(view: View) -> list[str]:
        return [name for name in names if not exists(view, f"{folder}/{into}/{name}")]

    def drag(view: View) -> Action | None:
        shown = items(view)
        if into not in shown or (view.last is not None and view.last.kind is ActionKind.DRAG):
            return Action.wait()
        rest = left(view)
        return (choose(*rest)(view) if len(rest) > 1 else None) or (
            Action.drag(view.centre(shown[rest[0]]), view.centre(shown[into])) if rest[0] in shown else None
        )

    return Goal(lambda view: not left(view), steps(clear_way, visit(folder), drag))


def folder_shown(folder: str) -> Goal:
    return Goal(lambda view: here(view) == f"{HOME}/{folder}", steps(clear_way, visit(folder)))


def opened_with(folder: str, name: str, title: str, program: str) -> Goal:
    """A double click opens a file in its application, which may take its time to come up."""

    def double_click(view: View) -> Action:
        starting = any(process.name == program for process in view.desktop.processes())
        if starting and view.window(wm_class=program.capitalize()) is None:
            return Action.wait()
        item = items(view).get(name)
        return Action.wait() if item is None else once(view, view.click(item, clicks=2))

    return Goal(lambda view: view.window(title) is not None, steps(clear_way, visit(folder), double_click))


def toggled(folder: str, done: Callable[[View], bool], *keys: str) -> Goal:
    """Press keys while a folder is shown."""
    return Goal(done, steps(clear_way, visit(folder), press(*keys)))
