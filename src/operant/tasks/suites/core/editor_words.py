"""Mousepad, words and looks: replace words, change their case, fill in letters, set up the editor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operant.apps.moves import SELECT_ALL
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, Setting
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.editor_desk import (
    ESCAPE,
    Edit,
    Editor,
    bystanders,
    choose,
    dialog,
    edit_and_save,
    errands,
    file_names,
    files_say,
    grounded,
    joined,
    menu_is_open,
    menu_on_selection,
    replaced_word,
    setting,
    surroundings,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]

REPLACE = "Find and Replace"
LETTER = (
    "Dear NAME,\n\nthank you for the COUNT ITEM that you sent us.\n"
    "We will come to CITY soon.\n\nBest wishes\n"
)
CASES = {"capital letters": ("To Uppercase", str.upper), "small letters": ("To Lowercase", str.lower)}
#: What people call it -> menu, entry, section and key of the setting.
SWITCHES = {
    "line numbers": ("View", "Line Numbers", "view", "show-line-numbers"),
    "word wrap": ("Document", "Word Wrap", "view", "word-wrap"),
    "automatic indentation": ("Document", "Auto Indent", "view", "auto-indent"),
    "the toolbar": ("View", "Toolbar", "window", "toolbar-visible"),
}
SCHEMES = ("Classic", "Cobalt", "Kate", "Oblivion", "Tango")


class ReplaceWord(Editor):
    id = "core/editor-replace-word-v1"
    skill = "click"
    family = "words"
    difficulty = Difficulty.EASY
    instructions = (
        "In {file}, change the word {old} to {new} and save the file.",
        "Somebody wrote {old} instead of {new} in {file}. Fix it and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        lines = errands(draw, 6)
        old = lines[draw.choice(range(6))].split()[2]
        new = draw.choice([product for product in draw.words(8, "products") if product not in joined(lines)])
        files = {file: joined(lines), **bystanders(draw, [other])}
        return {"file": file, "old": old, "new": new, "files": files, "open": [file], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: p.files[p.file].replace(p.old, p.new)})

    def oracle(self, p: Params) -> Oracle:
        return edit_and_save(p.file, [replaced_word(p.files[p.file], p.old, p.new)])


class ConvertCase(Editor):
    id = "core/editor-convert-case-v1"
    skill = "menu"
    family = "words"
    difficulty = Difficulty.EASY
    instructions = (
        "Put the whole text of {file} in {case} and save it.",
        "Convert everything in {file} to {case}, then save the file.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        files = {file: joined(errands(draw, draw.choice((4, 5, 6)))), **bystanders(draw, [other])}
        case = draw.choice(sorted(CASES))
        return {"file": file, "case": case, "files": files, "open": [file], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: CASES[p.case][1](p.files[p.file])})

    def oracle(self, p: Params) -> Oracle:
        text, (entry, convert) = p.files[p.file], CASES[p.case]
        convert_all = menu_on_selection(
            text, convert(text), lambda view: SELECT_ALL, text, "Edit", "Convert", entry
        )
        return edit_and_save(p.file, [convert_all])


class SwitchOn(Editor):
    id = "core/editor-switch-on-v1"
    skill = "menu"
    family = "looks"
    difficulty = Difficulty.EASY
    instructions = (
        "Turn on {what} in the text editor that shows {file}.",
        "{file} is open in the text editor. Switch on {what} there.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        files = {file: joined(errands(draw, 6)), **bystanders(draw, [other])}
        what = draw.choice(sorted(SWITCHES))
        return {"file": file, "what": what, "files": files, "open": [file], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return looks({name: name == p.what for name in SWITCHES})

    def oracle(self, p: Params) -> Oracle:
        return Looks([p.what])


class ReplaceAll(Editor):
    id = "core/editor-replace-all-v1"
    skill = "dialog"
    family = "words"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Replace every {old} in {file} by {new} and save it. Find and Replace can do that in one go.",
        "Use Find and Replace to change all occurrences of {old} to {new} in {file}, then save the file.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        old, new, *others = draw.words(6, "nouns")
        file, other = _names_without_nouns(draw)
        files = {file: _sentences(draw, [old], others, 8), **bystanders(draw, [other])}
        return {"old": old, "new": new, "file": file, "files": files, "open": [file], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: p.files[p.file].replace(p.old, p.new)})

    def oracle(self, p: Params) -> Oracle:
        return edit_and_save(p.file, [replaced_everywhere(p.files[p.file], p.old, p.new)])


class FillLetter(Editor):
    id = "core/editor-fill-letter-v1"
    skill = "form"
    family = "letters"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Fill in the blanks of {file} and save it: {name} for NAME, {count} for COUNT, {item} for ITEM "
        "and {city} for CITY.",
        "Complete the letter {file} and save it. NAME is {name}, CITY is {city}, COUNT is {count}, and "
        "ITEM is {item}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        return {
            "file": file,
            "name": draw.word("names"),
            "count": draw.number(10, 99),
            "item": draw.word("products"),
            "city": draw.word("cities"),
            "files": {file: LETTER, **bystanders(draw, [other])},
            "open": [file],
            **surroundings(draw),
        }

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: self._edits(p)[-1].after})

    def oracle(self, p: Params) -> Oracle:
        return edit_and_save(p.file, self._edits(p))

    def _edits(self, p: Params) -> list[Edit]:
        return filled_in(LETTER, {"NAME": p.name, "COUNT": str(p.count), "ITEM": p.item, "CITY": p.city})


class Appearance(Editor):
    id = "core/editor-appearance-v1"
    skill = "menu"
    family = "looks"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Make {file} easier to read: choose the color scheme {scheme}, and turn on {first} and {second}.",
        "Give the editor of {file} the {scheme} color scheme, {first} and {second}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        first, second = draw.sample(sorted(SWITCHES), 2)
        files = {file: joined(errands(draw, 6)), **bystanders(draw, [other])}
        more = {"scheme": draw.choice(SCHEMES), "first": first, "second": second}
        return {"file": file, "files": files, "open": [file], **more, **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        switches = looks({name: name in (p.first, p.second) for name in SWITCHES})
        return AllOf(of=(_preference("view", "color-scheme", p.scheme.lower()), switches))

    def oracle(self, p: Params) -> Oracle:
        return Looks([p.first, p.second], p.scheme)


class RenameThree(Editor):
    id = "core/editor-replace-three-v1"
    skill = "dialog"
    family = "words"
    difficulty = Difficulty.HARD
    instructions = (
        "In {file}, replace every {a} by {x}, every {b} by {y} and every {c} by {z}, and save it.",
        "Three things got new names: {a} is now {x}, {b} is now {y}, and {c} is now {z}. "
        "Change all occurrences in {file} and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c, x, y, z, *others = draw.words(10, "nouns")
        file, other = _names_without_nouns(draw)
        files = {file: _sentences(draw, [a, b, c], others, 9), **bystanders(draw, [other])}
        words = {"a": a, "b": b, "c": c, "x": x, "y": y, "z": z}
        return {**words, "file": file, "files": files, "open": [file], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: self._edits(p)[-1].after})

    def oracle(self, p: Params) -> Oracle:
        return edit_and_save(p.file, self._edits(p))

    def _edits(self, p: Params) -> list[Edit]:
        edits: list[Edit] = []
        text = p.files[p.file]
        for old, new in ((p.a, p.x), (p.b, p.y), (p.c, p.z)):
            edits.append(replaced_everywhere(text, old, new))
            text = edits[-1].after
        return edits


# Texts.


def _names_without_nouns(draw: Draw) -> list[str]:
    """Two file names that do not show the words that the task is about."""
    pairs = zip(draw.words(2, "adjectives"), draw.words(2, "topics"), strict=True)
    return [f"{adjective}-{topic}.txt" for adjective, topic in pairs]


def _sentences(draw: Draw, often: Sequence[str], others: Sequence[str], count: int) -> str:
    """Lines in which some words come several times, and others are spread between them."""
    names = draw.words(count, "names")
    lines = []
    for index in range(count):
        first, second = often[index % len(often)], draw.choice(others)
        forms = (
            f"{names[index]} took the {first} to the {second}",
            f"the {second} is next to the {first}, says {names[index]}",
            f"{names[index]} has no {second} but a {first}",
        )
        lines.append(draw.choice(forms))
    return joined(lines)


def filled_in(text: str, values: Mapping[str, str]) -> list[Edit]:
    """Type over the blanks of a letter, one after another."""
    edits: list[Edit] = []
    for blank, value in values.items():
        edits.append(replaced_word(text, blank, value))
        text = edits[-1].after
    return edits


# The dialog that replaces.


def replaced_everywhere(text: str, old: str, new: str) -> Edit:
    def act(view: View) -> Action:
        if dialog(view) != REPLACE:
            return Action.key("ctrl", "r")
        return fill_and_replace(view, old, new)

    return Edit(text, text.replace(old, new), act, dialog=REPLACE)


def fill_and_replace(view: View, old: str, new: str) -> Action:
    fields = view.widgets("text", state="single line")
    if len(fields) < 2:
        return Action.wait()
    for field, wanted in zip(fields, (old, new), strict=False):
        if field.text != wanted:
            return _fill(view, field, wanted)
    everywhere = view.widget("check box", "Replace all in:")
    if everywhere is not None and "checked" not in everywhere.states:
        return view.click(everywhere)
    # The button changes its name with the check box.
    button = view.widget("push button", "Replace All") or view.widget("push button", "Replace")
    return Action.wait() if button is None else view.click(button)


def _fill(view: View, field: Node, wanted: str) -> Action:
    if "focused" not in field.states:
        return view.click(field)
    if field.text and view.last != SELECT_ALL:
        return SELECT_ALL
    return Action.type(wanted)


# Looks.


def _preference(section: str, key: str, value: bool | str) -> Criterion:
    return Setting(schema=f"org.xfce.mousepad.preferences.{section}", key=key, equals=value)


def looks(switches: Mapping[str, bool]) -> Criterion:
    """Exactly these switches are on."""
    return AllOf(of=tuple(_preference(*SWITCHES[name][2:], value) for name, value in switches.items()))


@dataclass(frozen=True)
class Looks:
    """An oracle that chooses a color scheme and turns switches on, and those off that it does not want."""

    on: Sequence[str]
    scheme: str | None = None

    def act(self, view: View) -> Action:
        if self.scheme is not None and setting(view, "view", "color-scheme") != f"'{self.scheme.lower()}'":
            return grounded(view, menu=True) or choose(view, "View", "Color Scheme", self.scheme)
        for name, (menu, entry, section, key) in SWITCHES.items():
            if (setting(view, section, key) == "true") != (name in self.on):
                return grounded(view, menu=True) or choose(view, menu, entry)
        return ESCAPE if menu_is_open(view) else Action.done()


TEMPLATES: tuple[type[Template], ...] = (
    ReplaceWord,
    ConvertCase,
    SwitchOn,
    ReplaceAll,
    FillLetter,
    Appearance,
    RenameThree,
)
