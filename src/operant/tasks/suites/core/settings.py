"""Settings: the look of the desktop (lxappearance), and the preferences of editor and file manager."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from operant.apps import openbox
from operant.apps.moves import SELECT_ALL, Milestone, Milestones
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, Setting, WindowAbsent
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, MakeDirectory, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]

GTK2, GTK3 = ".gtkrc-2.0", ".config/gtk-3.0/settings.ini"
LIBFM = ".config/libfm/libfm.conf"
KEYFILE = ".config/glib-2.0/settings/keyfile"
EDITOR_VIEW = "org.xfce.mousepad.preferences.view"
ROOM = (900, 560)  # lxappearance grows with the size of the font
TINTS = ("#d8e4ee", "#eee4d8", "#dceedd", "#eeddea", "#e8e8d0")


def labelled(view: View, name: str, app: str, *roles: str) -> Node | None:
    """The widget of that name; menus pad the names of their entries."""
    for node in view.tree(app).walk():
        if node.name.strip() == name and node.box is not None and (not roles or node.role in roles):
            return node
    return None


def tap(view: View, find: Callable[[View], Node | None]) -> Action:
    """Click what is found; wait for what is not there yet."""
    found = find(view)
    if found is None:
        view.desktop.settle()
        found = find(View(view.desktop, view.last))
    return Action.wait() if found is None else view.click(found)


def stored(view: View, path: str, key: str, section: str | None = None) -> str | None:
    """The value of a setting in a file, without quotes."""
    found, current = None, None
    for line in (view.read(path) or "").splitlines():
        if line.startswith("["):
            current = line.strip("[] ")
        name, is_set, value = line.partition("=")
        if is_set and name.strip() == key and section in (None, current):
            found = value.strip().strip("'\"").removeprefix("uint32 ")
    return found


# The look of the desktop.


@dataclass(frozen=True)
class Choice:
    """One thing to choose in lxappearance: where it is, and how it is stored."""

    tab: str
    name: str
    key: str
    value: str

    def find(self, view: View) -> Node | None:
        return labelled(view, self.name, "lxappearance", "table cell", "check box")

    def made(self, view: View) -> bool:
        node = self.find(view)
        if node is None:
            return False
        return "selected" in node.states if node.role == "table cell" else "checked" not in node.states

    def kept(self, view: View) -> bool:
        return stored(view, GTK2, self.key) == self.value

    def criterion(self) -> Criterion:
        files = (GTK2, GTK3)
        return AllOf(of=tuple(Setting(file=file, key=self.key, equals=self.value) for file in files))

    def act(self, view: View) -> Action:
        if self.find(view) is None:
            return tap(view, lambda now: labelled(now, self.tab, "lxappearance", "page tab"))
        return applied(view) if self.made(view) else tap(view, self.find)


@dataclass(frozen=True)
class FontSize:
    """The size of the default font, which a dialog asks for."""

    size: int

    def kept(self, view: View) -> bool:
        return stored(view, GTK2, "gtk-font-name") == f"DejaVu Sans {self.size}"

    def criterion(self) -> Criterion:
        wanted = f"DejaVu Sans {self.size}"
        return AllOf(
            of=tuple(Setting(file=file, key="gtk-font-name", equals=wanted) for file in (GTK2, GTK3))
        )

    def act(self, view: View) -> Action:
        if view.window("Pick a Font") is not None:
            return self._in_dialog(view)
        opener = self._button(view)
        if opener is None:
            return tap(view, lambda now: labelled(now, "Widget", "lxappearance", "page tab"))
        sizes = [node.name for node in opener.walk() if node.role == "label"]
        return applied(view) if str(self.size) in sizes else view.click(opener)

    def _button(self, view: View) -> Node | None:
        for node in view.tree("lxappearance").walk():
            if node.role == "push button" and any("DejaVu" in child.name for child in node.children):
                return node
        return None

    def _in_dialog(self, view: View) -> Action:
        fields = view.widgets("text", app="lxappearance")
        field = next((node for node in fields if (node.text or "").isdecimal()), None)
        if field is None:
            return Action.wait()
        if field.text == str(self.size):
            return tap(view, lambda now: labelled(now, "OK", "lxappearance", "push button"))
        if "focused" not in field.states:
            return view.click(field)
        return Action.type(str(self.size)) if view.last == SELECT_ALL else SELECT_ALL


def applied(view: View) -> Action:
    return tap(view, lambda now: labelled(now, "Apply", "lxappearance", "push button"))


@dataclass(frozen=True)
class Choosing:
    """An oracle that makes one choice after another and applies each."""

    choices: Sequence[Choice | FontSize]

    def act(self, view: View) -> Action:
        about_fonts = any(isinstance(choice, FontSize) for choice in self.choices)
        if view.window("Pick a Font") is not None and not about_fonts:
            return Action.key("esc")
        for choice in self.choices:
            if not choice.kept(view):
                return choice.act(view)
        return Action.done()


def theme_files(p: Params) -> list[SetupStep]:
    """Themes that a user has installed: of widgets, icons and cursors."""
    steps: list[SetupStep] = []
    for name, tint in zip(p.widgets, TINTS, strict=False):
        style = f'style "default" {{ bg[NORMAL] = "{tint}" }}\nclass "GtkWidget" style "default"\n'
        steps.append(WriteFile(path=f".themes/{name}/gtk-2.0/gtkrc", text=style))
    for name in p.icons:
        index = f"[Icon Theme]\nName={name}\nInherits=Adwaita\nDirectories=apps\n\n[apps]\nSize=16\n"
        steps.append(WriteFile(path=f".icons/{name}/index.theme", text=index))
    for name in p.cursors:
        steps.append(WriteFile(path=f".icons/{name}/index.theme", text=f"[Icon Theme]\nName={name}\n"))
        steps.append(WriteFile(path=f".icons/{name}/cursors/left_ptr", text=" "))
    return steps


class Look(Template):
    """What tasks with lxappearance have in common: it is open, and there are a few themes to choose from."""

    apps: ClassVar[tuple[str, ...]] = ("lxappearance",)
    family = "look"
    skill = "dialog"

    def themes(self, draw: Draw) -> dict[str, Any]:
        names = draw.words(9)
        found = {"widgets": names[:3], "icons": names[3:6], "cursors": names[6:]}
        chosen = {"theme": names[0], "icon": names[3], "cursor": names[6]}
        return {**found, **chosen, "place": draw.place(584, 441, ROOM)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*theme_files(p), Launch(command=["lxappearance"], place=p.place)]

    def choices(self, p: Params) -> list[Choice | FontSize]:
        raise NotImplementedError

    def success(self, p: Params) -> Criterion:
        return AllOf(of=tuple(choice.criterion() for choice in self.choices(p)))

    def oracle(self, p: Params) -> Oracle:
        return Choosing(self.choices(p))


def widget_theme(name: str) -> Choice:
    return Choice("Widget", name, "gtk-theme-name", name)


def icon_theme(name: str) -> Choice:
    return Choice("Icon Theme", name, "gtk-icon-theme-name", name)


def cursor_theme(name: str) -> Choice:
    return Choice("Mouse Cursor", name, "gtk-cursor-theme-name", name)


def no_button_images() -> Choice:
    return Choice("Other", "Show images on buttons", "gtk-button-images", "0")


class WidgetTheme(Look):
    id = "core/settings-widget-theme-v1"
    difficulty = Difficulty.EASY
    instructions = (
        "Change the widget theme to {theme} and apply it.",
        "Let windows be drawn with the theme {theme}: choose it in the open settings and apply.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return self.themes(draw)

    def choices(self, p: Params) -> list[Choice | FontSize]:
        return [widget_theme(p.theme)]


class IconsAndCursor(Look):
    id = "core/settings-icons-and-cursor-v1"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Use the icon theme {icon} and the mouse cursor theme {cursor}, and show no images on buttons (under "
        "Other). Apply all of it.",
        "Apply these settings: icon theme {icon}, mouse cursor {cursor}, and under Other no images on "
        "buttons.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return self.themes(draw)

    def choices(self, p: Params) -> list[Choice | FontSize]:
        return [icon_theme(p.icon), cursor_theme(p.cursor), no_button_images()]


class FontAndTheme(Look):
    id = "core/settings-font-size-v1"
    difficulty = Difficulty.MEDIUM
    unseen = True
    skill = "form"
    instructions = (
        "The letters are too small: set the default font to size {size}, keeping DejaVu Sans, and the widget "
        "theme to {theme}. Apply both.",
        "Choose size {size} for the default font DejaVu Sans and the widget theme {theme}, and apply.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**self.themes(draw), "size": draw.number(11, 16)}

    def choices(self, p: Params) -> list[Choice | FontSize]:
        return [FontSize(p.size), widget_theme(p.theme)]


class WholeLook(Look):
    id = "core/settings-whole-look-v1"
    difficulty = Difficulty.HARD
    skill = "form"
    instructions = (
        "Set up the look: widget theme {theme}, default font DejaVu Sans at size {size}, icon theme "
        "{icon}, mouse "
        "cursor {cursor}, and no images on buttons (under Other). Apply everything.",
        "Apply a new look with the theme {theme} for widgets, {icon} for icons and {cursor} for the mouse "
        "cursor, "
        "DejaVu Sans of size {size} as default font, and no images on buttons.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**self.themes(draw), "size": draw.number(11, 16)}

    def choices(self, p: Params) -> list[Choice | FontSize]:
        themes = [icon_theme(p.icon), cursor_theme(p.cursor), no_button_images()]
        return [widget_theme(p.theme), FontSize(p.size), *themes]


# The preferences of the editor.

EDITOR_OPTIONS = {
    "Show line numbers": "show-line-numbers",
    "Display whitespace": "show-whitespace",
    "Highlight current line": "highlight-current-line",
    "Highlight matching brackets": "match-braces",
    "Wrap long lines": "word-wrap",
}


State = Callable[[View], bool]


def editor_setting(view: View, key: str) -> str | None:
    return stored(view, KEYFILE, key, EDITOR_VIEW.replace(".", "/"))


def ticked(name: str, key: str) -> State:
    """Whether a box of the preferences is ticked; when they are closed, the file tells."""

    def holds(view: View) -> bool:
        box = labelled(view, name, "mousepad", "check box")
        return editor_setting(view, key) == "true" if box is None else "checked" in box.states

    return holds


def set_to(number: int, key: str, tab: str) -> State:
    """Whether the number field of a page has taken that number."""

    def holds(view: View) -> bool:
        field = view.widget("spin button", app="mousepad")
        if field is None or not on_page(view, tab):
            return editor_setting(view, key) == str(number)
        return field.value == number

    return holds


def on_page(view: View, tab: str) -> bool:
    page = labelled(view, tab, "mousepad", "page tab")
    return page is not None and "selected" in page.states


def in_preferences(act: Callable[[View], Action]) -> Callable[[View], Action]:
    """Do that in the editor's preferences, or open them."""

    def open_or_act(view: View) -> Action:
        if view.window("Mousepad Preferences") is not None:
            return act(view)
        menu = labelled(view, "Edit", "mousepad", "menu")
        if menu is not None and "selected" in menu.states:
            return tap(view, lambda now: labelled(now, "Preferences...", "mousepad", "menu item"))
        return tap(view, lambda now: labelled(now, "Edit", "mousepad", "menu"))

    return open_or_act


def check(name: str, tab: str = "View") -> Callable[[View], Action]:
    """Click a box of a page of the preferences."""

    def act(view: View) -> Action:
        if not on_page(view, tab):
            return tap(view, lambda now: labelled(now, tab, "mousepad", "page tab"))
        return tap(view, lambda now: labelled(now, name, "mousepad", "check box"))

    return in_preferences(act)


def enter_number(number: int, tab: str) -> Callable[[View], Action]:
    """Type a number into the only number field of a page, and leave it with Enter."""

    def act(view: View) -> Action:
        field = view.widget("spin button", app="mousepad")
        if field is None or not on_page(view, tab):
            return tap(view, lambda now: labelled(now, tab, "mousepad", "page tab"))
        if field.text == str(number):
            return Action.key("enter")
        if "focused" not in field.states:
            return view.click(field)
        return Action.type(str(number)) if view.last == SELECT_ALL else SELECT_ALL

    return in_preferences(act)


def closed_preferences() -> Criterion:
    return WindowAbsent(title="Mousepad Preferences")


def close_preferences(after: Callable[[View], bool]) -> Milestone:
    def act(view: View) -> Action:
        window = view.window("Mousepad Preferences")
        return Action.wait() if window is None else openbox.press(view, window, "close")

    return Milestone("closed", lambda view: after(view) and view.window("Mousepad Preferences") is None, act)


class Editor(Template):
    """What tasks with the editor's preferences have in common: it shows some note."""

    apps: ClassVar[tuple[str, ...]] = ("mousepad",)
    family = "preferences"
    skill = "menu"

    def note(self, draw: Draw) -> dict[str, Any]:
        lines = [f"{draw.word('verbs')} the {draw.word()}" for _ in range(4)]
        return {"file": draw.file_name(), "text": "\n".join(lines) + "\n", "place": draw.place(560, 400)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [WriteFile(path=p.file, text=p.text), Launch(command=["mousepad", p.file], place=p.place)]


class EditorOption(Editor):
    id = "core/settings-editor-option-v1"
    difficulty = Difficulty.EASY
    instructions = (
        'For reading {file}, turn on "{option}" in the editor\'s preferences (Edit menu), and close them.',
        'Open the preferences of the editor that shows {file}, tick "{option}", and close the dialog.',
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        option = draw.choice(tuple(EDITOR_OPTIONS))
        return {**self.note(draw), "option": option, "key": EDITOR_OPTIONS[option]}

    def success(self, p: Params) -> Criterion:
        settings = [
            Setting(schema=EDITOR_VIEW, key=key, equals=key == p.key) for key in EDITOR_OPTIONS.values()
        ]
        return AllOf(of=(*settings, closed_preferences()))

    def oracle(self, p: Params) -> Oracle:
        on = ticked(p.option, p.key)
        return Milestones([Milestone("on", on, check(p.option)), close_preferences(on)])


class LineMargin(Editor):
    id = "core/settings-line-margin-v1"
    difficulty = Difficulty.MEDIUM
    skill = "form"
    instructions = (
        "In the editor's preferences, show the long line margin, at column {column}, and close them.",
        "Let the editor mark column {column} as the margin of long lines: set it in its preferences, turn "
        "the "
        "margin on, and close the dialog.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**self.note(draw), "column": draw.number(30, 120)}

    def success(self, p: Params) -> Criterion:
        on = Setting(schema=EDITOR_VIEW, key="show-right-margin", equals=True)
        column = Setting(schema=EDITOR_VIEW, key="right-margin-position", equals=p.column)
        return AllOf(of=(on, column, closed_preferences()))

    def oracle(self, p: Params) -> Oracle:
        on = ticked("Long line margin at column:", "show-right-margin")
        at = set_to(p.column, "right-margin-position", "View")

        def both(view: View) -> bool:
            return on(view) and at(view)

        return Milestones(
            [
                Milestone("on", on, check("Long line margin at column:")),
                Milestone("column", both, enter_number(p.column, "View")),
                close_preferences(both),
            ]
        )


class Indentation(Editor):
    id = "core/settings-indentation-v1"
    difficulty = Difficulty.MEDIUM
    skill = "form"
    instructions = (
        "Set the editor's tab width to {width}, let it insert spaces for tabs, and turn on automatic "
        "indentation "
        "(preferences, page Editor). Close the preferences.",
        "Indentation in the editor: tab width {width}, spaces instead of tabs, and automatic. Change its "
        "preferences so, and close them.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**self.note(draw), "width": draw.number(10, 30)}

    def success(self, p: Params) -> Criterion:
        wanted: dict[str, bool | int] = {"tab-width": p.width, "insert-spaces": True, "auto-indent": True}
        settings = [Setting(schema=EDITOR_VIEW, key=key, equals=value) for key, value in wanted.items()]
        return AllOf(of=(*settings, closed_preferences()))

    def oracle(self, p: Params) -> Oracle:
        wide = set_to(p.width, "tab-width", "Editor")
        automatic = ticked("Enable automatic indentation", "auto-indent")

        def spaces(view: View) -> bool:
            if on_page(view, "Editor"):
                return labelled(view, "Insert Spaces", "mousepad", "combo box") is not None
            return editor_setting(view, "insert-spaces") == "true"

        def choose_spaces(view: View) -> Action:
            if not on_page(view, "Editor"):
                return tap(view, lambda now: labelled(now, "Editor", "mousepad", "page tab"))
            entry = labelled(view, "Insert Spaces", "mousepad", "menu item")
            return tap(view, lambda now: entry or labelled(now, "Insert Tabs", "mousepad", "combo box"))

        def all_three(view: View) -> bool:
            return wide(view) and spaces(view) and automatic(view)

        return Milestones(
            [
                Milestone("width", wide, enter_number(p.width, "Editor")),
                Milestone("spaces", lambda view: wide(view) and spaces(view), in_preferences(choose_spaces)),
                Milestone("automatic", all_three, check("Enable automatic indentation", "Editor")),
                close_preferences(all_three),
            ]
        )


# The preferences of the file manager.

FILE_OPTIONS = {
    "Open files with single click": ("single_click", False),
    "Confirm before deleting files": ("confirm_del", True),
    'Move deleted files to "trash can" instead of erasing from disk': ("use_trash", True),
    'Confirm before moving files into "trash can"': ("confirm_trash", True),
}


class FileManagerOption(Template):
    id = "core/settings-file-manager-option-v1"
    apps = ("pcmanfm",)
    family = "preferences"
    skill = "dialog"
    difficulty = Difficulty.EASY
    instructions = (
        'Before I work in {folder}: switch "{option}" {state} in the file manager\'s preferences, and '
        "close them.",
        'The preferences of the file manager that shows {folder} are open. Turn "{option}" {state} and '
        "close them.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        option = draw.choice(tuple(FILE_OPTIONS))
        key, on = FILE_OPTIONS[option]
        folder, *others = draw.words(4)
        return {
            "folder": folder,
            "others": others,
            "option": option,
            "key": key,
            "state": "off" if on else "on",
            "place": draw.place(620, 420),
        }

    def setup(self, p: Params) -> Sequence[SetupStep]:
        inside = [MakeDirectory(path=f"{p.folder}/{name}") for name in p.others]
        window = Launch(command=["pcmanfm", p.folder], place=p.place)
        return [*inside, window, Launch(command=["pcmanfm", "--show-pref=1"])]

    def success(self, p: Params) -> Criterion:
        settings = [
            Setting(file=LIBFM, key=key, equals=on != (key == p.key)) for key, on in FILE_OPTIONS.values()
        ]
        return AllOf(of=(*settings, WindowAbsent(title="Preferences", wm_class="Pcmanfm")))

    def oracle(self, p: Params) -> Oracle:
        wanted = p.state == "on"

        def act(view: View) -> Action:
            box = labelled(view, p.option, "pcmanfm", "check box")
            if box is None:
                return Action.wait()
            if ("checked" in box.states) != wanted:
                return view.click(box)
            return tap(view, lambda now: labelled(now, "Close", "pcmanfm", "push button"))

        def done(view: View) -> bool:
            return stored(view, LIBFM, p.key) == str(int(wanted)) and view.window("Preferences") is None

        return Milestones([Milestone("closed", done, act)])


TEMPLATES: tuple[type[Template], ...] = (
    WidgetTheme,
    EditorOption,
    FileManagerOption,
    IconsAndCursor,
    FontAndTheme,
    LineMargin,
    Indentation,
    WholeLook,
)
