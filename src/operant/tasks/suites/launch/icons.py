"""The icons of HOME on the desktop: open files and folders by them, with another program too, and make new ones."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from operant.apps.desktop_icons import chosen, folder_made, folder_made_in, icon_opened
from operant.apps.lxpanel import EDITOR, FILES, Program, opened
from operant.apps.moves import SELECT_ALL, all_selected
from operant.apps.view import View
from operant.tasks.criteria import (
    AllOf,
    Criterion,
    DirectoryContains,
    FileExists,
    FileNotExists,
    WindowTitle,
)
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import MakeDirectory, SetupStep, WriteFile
from operant.tasks.suites.launch.desk import Desk, Steps, clutter, file_name, untouched
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

COLOURS = ("steelblue", "seagreen", "indianred", "goldenrod", "slateblue")


def picture(colour: str, width: int = 320, height: int = 240) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(data, "PNG")
    return data.getvalue()


class OpenFile(Desk):
    id = "launch/open-file-icon-v1"
    apps = ("pcmanfm", "mousepad")
    skill = "icon"
    family = "icons"
    difficulty = Difficulty.EASY
    instructions = (
        "Open the file {file} on the desktop.",
        "Open {file}",
        "Double-click the icon of {file} on the desktop.",
        "There is a note {file} on the desktop. Open it, please.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file = file_name(draw)
        return {"file": file, "files": {file: f"{draw.phrase(4)}\n", **clutter(draw)}}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(WindowTitle(title=p.file, wm_class=EDITOR.wm_class), *untouched(p.files)))

    def oracle(self, p: Params) -> Oracle:
        return Steps([icon_opened(p.file, EDITOR, p.file)])


class OpenFolderIcon(Desk):
    id = "launch/open-folder-icon-v1"
    apps = ("pcmanfm",)
    skill = "icon"
    family = "icons"
    difficulty = Difficulty.EASY
    instructions = (
        "Open the folder {folder} on the desktop.",
        "Show me what is in the folder {folder}.",
        "Open {folder} by its icon.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        folder, *others = draw.words(3, "topics")
        files = {f"{folder}/{file_name(draw)}": "", **{f"{one}/{file_name(draw)}": "" for one in others}}
        return {"folder": folder, "files": {**files, **clutter(draw, 3)}}

    def success(self, p: Params) -> Criterion:
        return WindowTitle(title=p.folder, wm_class=FILES.wm_class, exact=True)

    def oracle(self, p: Params) -> Oracle:
        return Steps([icon_opened(p.folder, FILES, p.folder)])


class OpenPictureIcon(Desk):
    id = "launch/open-picture-v1"
    apps = ("pcmanfm", "viewnior")
    skill = "icon"
    family = "icons"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = ("Open the picture {file}.", "Show the picture {file} that lies on the desktop.")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"file": file_name(draw, "png"), "colour": draw.choice(COLOURS), "files": clutter(draw)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*super().setup(p), WriteFile.of_bytes(p.file, picture(p.colour))]

    def success(self, p: Params) -> Criterion:
        return WindowTitle(title=p.file, wm_class="Viewnior")

    def oracle(self, p: Params) -> Oracle:
        viewer = Program(("image viewer",), "Image Viewer", "Graphics", "viewnior", "Viewnior")
        return Steps([icon_opened(p.file, viewer, p.file)])


class OpenWith(Desk):
    id = "launch/open-with-v1"
    apps = ("pcmanfm", "ristretto")
    skill = "context menu"
    family = "icons"
    difficulty = Difficulty.EASY
    instructions = (
        "Open the picture {file} with the {program}.",
        "Open {file} on the desktop, not with the usual viewer but with the {program}.",
        "Use the {program} to open {file}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {
            "file": file_name(draw, "png"),
            "program": "Ristretto Image Viewer",
            "colour": draw.choice(COLOURS),
            "files": clutter(draw),
        }

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*super().setup(p), WriteFile.of_bytes(p.file, picture(p.colour))]

    def success(self, p: Params) -> Criterion:
        return WindowTitle(title=p.file, wm_class="Ristretto")

    def oracle(self, p: Params) -> Oracle:
        def step(view: View) -> Action | None:
            if view.window(p.file, wm_class="Ristretto") is not None:
                return None
            if any(process.name == "ristretto" for process in view.desktop.processes()):
                return Action.wait()
            return chosen(view, p.file, p.program)

        return Steps([step])


class NewFolderOnTheDesktop(Desk):
    id = "launch/new-folder-v1"
    apps = ("pcmanfm",)
    skill = "context menu"
    family = "icons"
    difficulty = Difficulty.EASY
    instructions = (
        "Make a new folder called {folder} on the desktop.",
        "Create a folder {folder} in your home folder.",
        "I need a folder called {folder} on the desktop.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"folder": draw.word("topics"), "files": clutter(draw)}

    def success(self, p: Params) -> Criterion:
        made = FileExists(path=p.folder, kind="directory")
        return AllOf(of=(made, *untouched(p.files)))

    def oracle(self, p: Params) -> Oracle:
        return Steps([folder_made(p.folder)])


class NewFolderInManager(Desk):
    id = "launch/new-folder-in-file-manager-v1"
    apps = ("pcmanfm",)
    skill = "open"
    family = "icons"
    difficulty = Difficulty.EASY
    instructions = (
        "Open the file manager and create a folder called {folder} there.",
        "Start the file manager and make a new folder {folder} in it.",
        "With the file manager, create the folder {folder}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"folder": draw.word("topics"), "files": clutter(draw)}

    def success(self, p: Params) -> Criterion:
        window = WindowTitle(title="user", wm_class=FILES.wm_class)
        return AllOf(of=(DirectoryContains(path=".", names=(f"{p.folder}/",)), window, *untouched(p.files)))

    def oracle(self, p: Params) -> Oracle:
        return Steps([folder_made_in(".", p.folder, opened(FILES))])


class RenameIcon(Desk):
    id = "launch/rename-icon-v1"
    apps = ("pcmanfm",)
    skill = "context menu"
    family = "icons"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "Rename the file {old} on the desktop to {new}.",
        "Give {old} on the desktop the new name {new}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        old = new = file_name(draw)
        while new == old:
            new = file_name(draw)
        text = f"{draw.phrase(4)}\n"
        return {"old": old, "new": new, "text": text, "others": clutter(draw, 4, taken=(old, new))}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [WriteFile(path=path, text=text) for path, text in {p.old: p.text, **p.others}.items()]

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(FileNotExists(path=p.old), *untouched({p.new: p.text, **p.others})))

    def oracle(self, p: Params) -> Oracle:
        def step(view: View) -> Action | None:
            if view.desktop.files.exists(p.new):
                return None
            dialog = view.window("Rename", wm_class="Pcmanfm")
            if dialog is None:
                return chosen(view, p.old, "Rename...")
            entry = view.widget("text", state="editable")
            if entry is None:
                return Action.wait()
            if entry.text == p.new:
                return Action.key("enter")
            return SELECT_ALL if entry.text and not all_selected(view, entry) else Action.type(p.new + "\n")

        return Steps([step])


class FolderInFolder(Desk):
    id = "launch/folder-in-folder-v1"
    apps = ("pcmanfm",)
    skill = "icon"
    family = "icons"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "Open the folder {outer} on the desktop, and make a folder {inner} in it.",
        "Make a folder {inner} within the folder {outer}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        outer, inner = draw.words(2, "topics")
        return {"outer": outer, "inner": inner, "files": clutter(draw, 3)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*super().setup(p), MakeDirectory(path=p.outer)]

    def success(self, p: Params) -> Criterion:
        made = FileExists(path=f"{p.outer}/{p.inner}", kind="directory")
        return AllOf(of=(made, *untouched(p.files)))

    def oracle(self, p: Params) -> Oracle:
        return Steps([folder_made_in(p.outer, p.inner, icon_opened(p.outer, FILES, p.outer))])


TEMPLATES: tuple[type[Template], ...] = (
    OpenFile,
    OpenFolderIcon,
    OpenPictureIcon,
    OpenWith,
    NewFolderOnTheDesktop,
    NewFolderInManager,
    RenameIcon,
    FolderInFolder,
)
