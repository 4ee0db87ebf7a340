"""PCManFM as an oracle sees and uses it: where it is, what it shows, and the next action in it.

The folder view is found by accessibility: icons in the icon view, cells of the column "Name" in the list. The icon
view tells of icons that go but not of those that come, so tasks that look at new files use the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from operant.apps.moves import SELECT_ALL, Move, unread
from operant.apps.view import HOME, View
from operant.types import Action, Button, Node, Point

__all__ = [
    "NAME",
    "WM_CLASS",
    "choose",
    "clear_way",
    "click",
    "copy_waits",
    "cut_waits",
    "dialog",
    "emptied",
    "enter_path",
    "fill",
    "folder_pane",
    "here",
    "items",
    "leave_location_bar",
    "menu",
    "open_menu",
    "press",
    "say_yes",
    "selected",
    "tidy",
    "visit",
]

NAME, WM_CLASS = "pcmanfm", "Pcmanfm"
COPIED = "x-special/gnome-copied-files"
NOTCHES = 3.0  # of the wheel, which bring the next rows into sight


# Looking.


def _frames(view: View) -> Iterator[Node]:
    return (node for node in view.tree(NAME).children if node.role == "frame")


def folder_pane(view: View) -> Node | None:
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
    pane = folder_pane(view)
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


def selected(view: View) -> list[str]:
    return [name for name, item in items(view).items() if "selected" in item.states]


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
    for node in view.tree(NAME).children:
        if node.role in ("dialog", "alert") and (not titles or node.name in titles):
            return node
    return None


def menu(view: View) -> Node | None:
    """A context menu that is open."""
    for node in view.tree(NAME).children:
        if node.role == "window" and node.find("menu item") is not None:
            return node
    return None


def taken_in(view: View, names: Sequence[str]) -> bool:
    """Whether the status bar tells of this selection.

    PCManFM takes a selection in with a delay; until then keys act on the selection before, even on the folder
    in which one just was.
    """
    said = f'"{names[0]}"' if len(names) == 1 else f"{len(names)} items selected"
    bars = (bar for frame in _frames(view) for bar in frame.walk() if bar.role == "status bar")
    return any(one.name.startswith(said) for bar in bars for one in bar.walk())


def _clipboard(view: View, target: str) -> list[str]:
    found = view.desktop.run(["xclip", "-selection", "clipboard", "-o", "-t", target])
    return found.output.strip("\0\n").split("\n") if found.returncode == 0 else [""]


def copy_waits(view: View, source: str, names: Sequence[str]) -> bool:
    """Whether copies of these files would be pasted."""
    verb, *uris = _clipboard(view, COPIED)
    return verb == "copy" and sorted(uris) == sorted(f"file://{HOME}/{source}/{name}" for name in names)


def cut_waits(view: View, source: str, names: Sequence[str]) -> bool:
    """Whether these files would be moved by pasting.

    Reading cut files off the clipboard takes them away, so only look whether there are any, and in the source
    folder, whether the right ones are selected.
    """
    right = here(view) != f"{HOME}/{source}" or sorted(selected(view)) == sorted(names)
    return right and COPIED in _clipboard(view, "TARGETS")


# Acting.


def clear_way(view: View) -> Action | None:
    """Close dialogs and menus that are in the way, and bring the file manager to the front."""
    if unread(view, NAME):
        return Action.wait()
    closing = tidy(view)
    if closing is not None:
        return closing
    if menu(view) is not None:
        return Action.key("esc")
    focused, window = view.focused, view.window(wm_class=WM_CLASS)
    if window is not None and (focused is None or focused.wm_class != WM_CLASS):
        return Action.click(view.point(window.x + window.width / 2, window.y - 9))
    return None


def tidy(view: View) -> Action | None:
    """Close a dialog, but let work in progress come to its end."""
    shown = dialog(view)
    if shown is None:
        return None
    working = shown.find("progress bar") is not None and shown.name != "Finished"
    return Action.wait() if working else Action.key("esc")


def click(view: View, name: str, **more: object) -> Action:
    """Click a file or folder that is shown; bring it into sight first; wait while it is not listed."""
    pane, item = folder_pane(view), items(view).get(name)
    if pane is None or pane.box is None or item is None or item.box is None:
        return Action.wait()
    column = _name_column(pane)
    head = column.box[3] if column is not None and column.box is not None else 0
    x, y, width, height = pane.box
    middle = item.box[1] + item.box[3] / 2
    if y + head <= middle < y + height:
        return view.click(item, **more)
    down = NOTCHES if middle >= y + height else -NOTCHES
    return Action.scroll(view.point(x + width / 2, y + height / 2), dy=down)


def visit(folder: str) -> Move:
    """Go to a folder below HOME: into what is shown, or up."""
    target = f"{HOME}/{folder}"

    def move(view: View) -> Action | None:
        now = here(view)
        if now == target:
            return None
        if target.startswith(now + "/"):
            return click(view, target[len(now) + 1 :].split("/")[0], clicks=2)
        for frame in _frames(view):
            button = frame.find("push button", "Parent Folder")
            if button is not None:
                return view.click(button)
        return Action.wait()

    return move


def enter_path(folder: str) -> Move:
    """Go to a folder below HOME: type its path into the location bar."""
    path = f"{HOME}/{folder}"

    def move(view: View) -> Action | None:
        window, caret = view.window(wm_class=WM_CLASS), view.caret()
        if window is not None and window.title == path.rpartition("/")[2] and here(view) == path:
            return None
        if not in_location_bar(view) or caret is None:
            return Action.key("ctrl", "l")
        if caret.text == path:
            return Action.key("enter")
        return Action.type(path + "\n") if caret.selected == caret.text else SELECT_ALL

    return move


def choose(*names: str) -> Move:
    """Select exactly these."""

    def move(view: View) -> Action | None:
        chosen, typing = selected(view), in_location_bar(view)
        if sorted(chosen) == sorted(names) and not typing:
            return None if taken_in(view, names) else Action.wait()
        if not set(names) <= items(view).keys():
            return Action.wait()
        if typing:
            return click(view, names[0])
        wrong = [name for name in chosen if name not in names]
        if wrong and len(chosen) > 1:
            return Action.click(blank(view))
        missing = next(name for name in names if wrong or name not in chosen)
        more = {"modifiers": ("ctrl",)} if chosen and not wrong else {}
        return click(view, missing, **more)

    return move


def leave_location_bar(view: View) -> Action | None:
    return Action.click(blank(view)) if in_location_bar(view) else None


def blank(view: View) -> Point:
    """A place of the folder view where nothing is."""
    pane = folder_pane(view)
    x, y, width, height = pane.box if pane is not None and pane.box else (0, 0, 1, 1)
    return view.point(x + width - 40, y + height - 24)


def fill(title: str, text: str, button: str | None = None, *, about: str | None = None) -> Move:
    """While this dialog is open, make its field say the text, and press Enter or a button.

    A dialog that is ``about`` another file is closed: a key pressed too soon after a click still means what was
    selected before (see ``taken_in``).
    """

    def move(view: View) -> Action | None:
        shown = dialog(view, title)
        field = shown.find("text") if shown is not None else None
        if shown is None or field is None:
            return None
        if field.text == text:
            press = shown.find("push button", button) if button else None
            return view.click(press) if press else Action.key("enter")
        if about is not None and field.text != about and field.text in items(view):
            return Action.key("esc")
        caret = view.caret()
        if caret is None or caret.text != field.text:
            return view.click(field)
        return SELECT_ALL if caret.selected != caret.text else Action.type(text + ("" if button else "\n"))

    return move


def emptied(title: str, text: str) -> Move:
    """While the field of this dialog says something else than the text, empty it."""

    def move(view: View) -> Action | None:
        caret = view.caret() if dialog(view, title) is not None else None
        if caret is None or caret.text in ("", text) or caret.selected != caret.text:
            return None
        return Action.key("delete")

    return move


def say_yes(names: Sequence[str]) -> Move:
    """Confirm a question about these files; one about another file is closed."""

    def move(view: View) -> Action | None:
        shown = dialog(view, "Question")
        button = shown.find("push button", "Yes") if shown is not None else None
        if shown is None or button is None:
            return None
        asked = " ".join(one.name for one in shown.walk() if one.role == "label")
        other = "'" in asked and not any(f"'{name}'" in asked for name in names)
        return Action.key("esc") if other else view.click(button)

    return move


def press(*keys: str) -> Move:
    return lambda view: Action.key(*keys)


def open_menu(view: View) -> Action:
    return Action.click(blank(view), button=Button.RIGHT)
