"""Settings: the look of the desktop (lxappearance), and the preferences of editor and file manager."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps import lxappearance
from operant.apps.lxappearance import FONT, GTK2, GTK3
from operant.apps.mousepad import editor_preferences
from operant.apps.moves import Goal
from operant.apps.pcmanfm import manager_preferences
from operant.tasks.changes import Change
from operant.tasks.criteria import Setting, WindowAbsent
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, MakeDirectory, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]

ROOM = (900, 560)  # lxappearance grows with the size of the font
DEFAULT_MARGIN = 80  # the editor's margin of long lines, which it does not store
TINTS = ("#d8e4ee", "#eee4d8", "#dceedd", "#eeddea", "#e8e8d0")


# The look of the desktop.


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


class LookOfTheDesktop(Template):
    """What tasks with lxappearance have in common: it is open, and there are a few themes to choose from."""

    apps: ClassVar[tuple[str, ...]] = ("lxappearance",)
    family = "look"
    skill = "dialog"
    sized: ClassVar[bool] = False
    """Whether the size of the font is drawn, too."""

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(9)
        themes = {"widgets": names[:3], "icons": names[3:6], "cursors": names[6:]}
        chosen = {"theme": names[0], "icon": names[3], "cursor": names[6]}
        place = draw.place(584, 441, ROOM)
        return {**themes, **chosen, "place": place, **({"size": draw.number(11, 16)} if self.sized else {})}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*theme_files(p), Launch(command=["lxappearance"], place=p.place)]


def applied(goal: Goal, key: str, value: str) -> Change:
    """A setting is stored for the programs of both versions of GTK."""
    return Change(goal, holds=[Setting(file=file, key=key, equals=value) for file in (GTK2, GTK3)])


def chosen(tab: str, name: str, key: str, value: str | None = None) -> Change:
    goal = lxappearance.chosen(tab, name, key, name if value is None else value)
    return applied(goal, key, name if value is None else value)


def widget_theme(name: str) -> Change:
    return chosen("Widget", name, "gtk-theme-name")


def icon_theme(name: str) -> Change:
    return chosen("Icon Theme", name, "gtk-icon-theme-name")


def cursor_theme(name: str) -> Change:
    return chosen("Mouse Cursor", name, "gtk-cursor-theme-name")


def no_button_images() -> Change:
    return chosen("Other", "Show images on buttons", "gtk-button-images", "0")


def font_size(size: int) -> Change:
    return applied(lxappearance.font_size(size), "gtk-font-name", f"{FONT} {size}")


class WidgetTheme(LookOfTheDesktop):
    id = "core/settings-widget-theme-v1"
    difficulty = Difficulty.EASY
    instructions = (
        "Change the widget theme to {theme} and apply it.",
        "Let windows be drawn with the theme {theme}: choose it in the open settings and apply.",
    )

    def changes(self, p: Params) -> Sequence[Change]:
        return [widget_theme(p.theme)]


class IconsAndCursor(LookOfTheDesktop):
    id = "core/settings-icons-and-cursor-v1"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Use the icon theme {icon} and the mouse cursor theme {cursor}, and show no images on buttons (under "
        "Other). Apply all of it.",
        "Apply these settings: icon theme {icon}, mouse cursor {cursor}, and under Other no images on buttons.",
    )

    def changes(self, p: Params) -> Sequence[Change]:
        return [icon_theme(p.icon), cursor_theme(p.cursor), no_button_images()]


class FontAndTheme(LookOfTheDesktop):
    id = "core/settings-font-size-v1"
    difficulty = Difficulty.MEDIUM
    unseen = True
    skill = "form"
    sized = True
    instructions = (
        "The letters are too small: set the default font to size {size}, keeping DejaVu Sans, and the widget "
        "theme to {theme}. Apply both.",
        "Choose size {size} for the default font DejaVu Sans and the widget theme {theme}, and apply.",
    )

    def changes(self, p: Params) -> Sequence[Change]:
        return [font_size(p.size), widget_theme(p.theme)]


class WholeLook(LookOfTheDesktop):
    id = "core/settings-whole-look-v1"
    difficulty = Difficulty.HARD
    skill = "form"
    sized = True
    instructions = (
        "Set up the look: widget theme {theme}, default font DejaVu Sans at size {size}, icon theme {icon}, mouse "
        "cursor {cursor}, and no images on buttons (under Other). Apply everything.",
        "Apply a new look with the theme {theme} for widgets, {icon} for icons and {cursor} for the mouse cursor, "
        "DejaVu Sans of size {size} as default font, and no images on buttons.",
    )

    def changes(self, p: Params) -> Sequence[Change]:
        themes = [icon_theme(p.icon), cursor_theme(p.cursor), no_button_images()]
        return [widget_theme(p.theme), font_size(p.size), *themes]


# The preferences of the editor.

EDITOR_OPTIONS = {
    "Show line numbers": "show-line-numbers",
    "Display whitespace": "show-whitespace",
    "Highlight current line": "highlight-current-line",
    "Highlight matching brackets": "match-braces",
    "Wrap long lines": "word-wrap",
}


def view_setting(key: str, value: bool | int) -> Setting:
    return Setting(schema=editor_preferences.SCHEMA, key=key, equals=value)


def ticked(label: str, key: str, tab: str = "View") -> Change:
    return Change(editor_preferences.ticked(label, key, tab), holds=[view_setting(key, True)])


def number_set(number: int, key: str, tab: str) -> Change:
    return Change(editor_preferences.number_set(number, key, tab), holds=[view_setting(key, number)])


def preferences_closed() -> Change:
    gone = WindowAbsent(title=editor_preferences.TITLE)
    return Change(editor_preferences.preferences_closed(), holds=[gone])


class EditorPreferences(Template):
    """What tasks with the editor's preferences have in common: it shows some note."""

    apps: ClassVar[tuple[str, ...]] = ("mousepad",)
    family = "preferences"
    skill = "menu"

    def note(self, draw: Draw) -> dict[str, Any]:
        lines = [f"{draw.word('verbs')} the {draw.word()}" for _ in range(4)]
        return {"file": draw.file_name(), "text": "\n".join(lines) + "\n", "place": draw.place(560, 400)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [WriteFile(path=p.file, text=p.text), Launch(command=["mousepad", p.file], place=p.place)]


class EditorOption(EditorPreferences):
    id = "core/settings-editor-option-v1"
    gui_only = True
    difficulty = Difficulty.EASY
    instructions = (
        'For reading {file}, turn on "{option}" in the editor\'s preferences (Edit menu), and close them.',
        'Open the preferences of the editor that shows {file}, tick "{option}", and close the dialog.',
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        option = draw.choice(tuple(EDITOR_OPTIONS))
        return {**self.note(draw), "option": option, "key": EDITOR_OPTIONS[option]}

    def changes(self, p: Params) -> Sequence[Change]:
        off = [view_setting(key, False) for key in EDITOR_OPTIONS.values() if key != p.key]
        return [ticked(p.option, p.key), preferences_closed(), Change(holds=off)]


class LineMargin(EditorPreferences):
    id = "core/settings-line-margin-v1"
    difficulty = Difficulty.MEDIUM
    skill = "form"
    instructions = (
        "In the editor's preferences, show the long line margin, at column {column}, and close them.",
        "Let the editor mark column {column} as the margin of long lines: set it in its preferences, turn the margin "
        "on, and close the dialog.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        note, column = self.note(draw), DEFAULT_MARGIN
        while column == DEFAULT_MARGIN:  # nothing would tell that it was set
            column = draw.number(30, 120)
        return {**note, "column": column}

    def changes(self, p: Params) -> Sequence[Change]:
        return [
            ticked("Long line margin at column:", "show-right-margin"),
            number_set(p.column, "right-margin-position", "View"),
            preferences_closed(),
        ]


class Indentation(EditorPreferences):
    id = "core/settings-indentation-v1"
    difficulty = Difficulty.MEDIUM
    skill = "form"
    instructions = (
        "Set the editor's tab width to {width}, let it insert spaces for tabs, and turn on automatic indentation "
        "(preferences, page Editor). Close the preferences.",
        "Indentation in the editor: tab width {width}, spaces instead of tabs, and automatic. Change its "
        "preferences so, and close them.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**self.note(draw), "width": draw.number(10, 30)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [
            number_set(p.width, "tab-width", "Editor"),
            Change(editor_preferences.spaces_for_tabs(), holds=[view_setting("insert-spaces", True)]),
            ticked("Enable automatic indentation", "auto-indent", "Editor"),
            preferences_closed(),
        ]


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

    def changes(self, p: Params) -> Sequence[Change]:
        file = manager_preferences.LIBFM
        settings = [
            Setting(file=file, key=key, equals=on != (key == p.key)) for key, on in FILE_OPTIONS.values()
        ]
        closed = WindowAbsent(title=manager_preferences.TITLE, wm_class="Pcmanfm")
        goal = manager_preferences.option_set(p.option, p.key, p.state == "on")
        return [Change(goal, holds=[*settings, closed])]


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
