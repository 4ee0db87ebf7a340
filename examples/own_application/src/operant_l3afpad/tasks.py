"""Three tasks with L3afpad: each says what is there before and what changes; criterion and oracle follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.changes import Change, Scope
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Difficulty
from operant_l3afpad.app import APP, replaced, saved, typed_at_end

SIZE = (560, 380)


class Editing(Template):
    """A file is open in L3afpad. ``after`` says what it should say."""

    apps: ClassVar[tuple[str, ...]] = (APP.name,)
    skill: ClassVar[str] = "type"
    family: ClassVar[str] = "notes"
    difficulty: ClassVar[Difficulty] = Difficulty.EASY
    scope: ClassVar[Scope] = "files"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            WriteFile(path=p.file, text=p.before),
            Launch(command=APP.argv(p.file), place=p.place),
        ]


def saved_as(file: str, text: str) -> Change:
    return Change(saved(file, text), lambda disk: disk.write(file, text))


class WriteNote(Editing):
    id = "l3afpad/write-note-v1"
    instructions = (
        "Write '{note}' into the empty file {file} and save it.",
        "Note '{note}' in {file}. Save the file.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {
            "file": draw.file_name("txt"),
            "before": "",
            "note": draw.phrase(3),
            "place": draw.place(*SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(typed_at_end(p.note, p.note)), saved_as(p.file, p.note)]


class AddLine(Editing):
    id = "l3afpad/add-line-v1"
    instructions = (
        "Add the line '{line}' at the end of {file} and save it.",
        "Append '{line}' to {file} and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        lines = [draw.phrase(2) for _ in range(draw.choice((2, 3, 4)))]
        return {
            "file": draw.file_name("txt"),
            "before": "".join(f"{line}\n" for line in lines),
            "line": draw.phrase(3),
            "place": draw.place(*SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        after = p.before + p.line
        return [Change(typed_at_end(p.line, after)), saved_as(p.file, after)]


class ReplaceWord(Editing):
    id = "l3afpad/replace-word-v1"
    skill = "dialog"
    family = "words"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Replace every {old} in {file} by {new} and save the file.",
        "In {file}, {old} should be {new} everywhere. Change it and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        old, new, *others = draw.words(6, "nouns")
        lines = [f"{other} and {old}" for other in others]
        return {
            "file": draw.file_name("txt"),
            "before": "".join(f"{line}\n" for line in lines),
            "old": old,
            "new": new,
            "place": draw.place(*SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        after = p.before.replace(p.old, p.new)
        return [Change(replaced(p.old, p.new, after)), saved_as(p.file, after)]


TEMPLATES: tuple[type[Template], ...] = (WriteNote, AddLine, ReplaceWord)
