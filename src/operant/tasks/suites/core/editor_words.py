"""Mousepad, words and looks: replace words, change their case, fill in letters, set up the editor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.mousepad import document_goals
from operant.apps.mousepad.document_goals import SWITCHES
from operant.apps.mousepad.edits import (
    TextEdit,
    filled_in,
    menu_on_selection,
    replaced_everywhere,
    replaced_word,
)
from operant.apps.moves import SELECT_ALL
from operant.tasks.changes import Change
from operant.tasks.draw import Draw
from operant.tasks.suites.core.editor_changes import (
    Editor,
    bystanders,
    edited,
    errands,
    file_names,
    joined,
    preference,
    surroundings,
    switched,
)
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]

LETTER = (
    "Dear NAME,\n\nthank you for the COUNT ITEM that you sent us.\n"
    "We will come to CITY soon.\n\nBest wishes\n"
)
CASES = {"capital letters": ("To Uppercase", str.upper), "small letters": ("To Lowercase", str.lower)}
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

    def changes(self, p: Params) -> Sequence[Change]:
        return [edited(p.file, [replaced_word(p.files[p.file], p.old, p.new)])]


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

    def changes(self, p: Params) -> Sequence[Change]:
        text, (entry, convert) = p.files[p.file], CASES[p.case]
        path = ("Edit", "Convert", entry)
        step = menu_on_selection(text, convert(text), lambda view: SELECT_ALL, text, *path)
        return [edited(p.file, [step])]


class SwitchOn(Editor):
    id = "core/editor-switch-on-v1"
    skill = "menu"
    family = "looks"
    difficulty = Difficulty.EASY
    scope = "folders"
    instructions = (
        "Turn on {what} in the text editor that shows {file}.",
        "{file} is open in the text editor. Switch on {what} there.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        files = {file: joined(errands(draw, 6)), **bystanders(draw, [other])}
        what = draw.choice(sorted(SWITCHES))
        return {"file": file, "what": what, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        return switched(p.what)


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
        file, other = file_names(draw, 2, pool="topics")
        files = {file: _sentences(draw, [old], others, 8), **bystanders(draw, [other])}
        return {"old": old, "new": new, "file": file, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [edited(p.file, [replaced_everywhere(p.files[p.file], p.old, p.new)])]


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

    def changes(self, p: Params) -> Sequence[Change]:
        values = [("NAME", p.name), ("COUNT", str(p.count)), ("ITEM", p.item), ("CITY", p.city)]
        return [edited(p.file, filled_in(LETTER, values))]


class Appearance(Editor):
    id = "core/editor-appearance-v1"
    skill = "menu"
    family = "looks"
    difficulty = Difficulty.MEDIUM
    unseen = True
    scope = "folders"
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

    def changes(self, p: Params) -> Sequence[Change]:
        color = preference("view", "color-scheme", p.scheme.lower())
        chosen = Change(document_goals.scheme_chosen(p.scheme), holds=[color])
        return [chosen, *switched(p.first, p.second)]


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
        file, other = file_names(draw, 2, pool="topics")
        files = {file: _sentences(draw, [a, b, c], others, 9), **bystanders(draw, [other])}
        words = {"a": a, "b": b, "c": c, "x": x, "y": y, "z": z}
        return {**words, "file": file, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        steps: list[TextEdit] = []
        text = p.files[p.file]
        for old, new in ((p.a, p.x), (p.b, p.y), (p.c, p.z)):
            steps.append(replaced_everywhere(text, old, new))
            text = steps[-1].after
        return [edited(p.file, steps)]


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


TEMPLATES: tuple[type[Template], ...] = (
    ReplaceWord,
    ConvertCase,
    SwitchOn,
    ReplaceAll,
    FillLetter,
    Appearance,
    RenameThree,
)
