"""Small chores with files that one call does: for models that learn from scratch when to call and when to click.

Names come from a small set, so that a model of a few million parameters can learn them. The number tells training and
held-out instances apart, and has no other use. ``clicks`` is the suite of its counterparts for the pointer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.tasks.changes import Change
from operant.tasks.draw import Draw
from operant.tasks.suites.core.files_changes import SIZE, FileManager, folder_made, trashed
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]

FOLDER = "Documents"
LOWEST, HIGHEST = 12, 60


class MakeFolder(FileManager):
    id = "calls/make-folder-v1"
    skill = "type"
    family = "making"
    difficulty = Difficulty.EASY
    view_mode = "icon"
    scope = "names"
    instructions = ("Order {number}: make the folder {name}.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {
            "number": draw.number(LOWEST, HIGHEST),
            "folder": FOLDER,
            "content": {FOLDER: ["letter.txt"]},
            "name": draw.choice(("books", "songs", "plans", "taxes")),
            "place": draw.place(*SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        return [folder_made(p.folder, p.name)]


class TrashOne(FileManager):
    id = "calls/trash-file-v1"
    skill = "dialog"
    family = "cleaning"
    difficulty = Difficulty.EASY
    view_mode = "icon"
    instructions = ("Order {number}: throw {name} away.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = ["bill.txt", "list.txt", "poem.txt", "draft.txt"]
        return {
            "number": draw.number(LOWEST, HIGHEST),
            "folder": FOLDER,
            "content": {FOLDER: names},
            "name": draw.choice(names),
            "place": draw.place(*SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        return [trashed(p.folder, p.name)]


TEMPLATES: list[Template] = [MakeFolder(), TrashOne()]
