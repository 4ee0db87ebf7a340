"""Viewnior: leaf through pictures, zoom, turn and save, delete, and read what a picture shows."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from operant.apps.moves import SELECT_ALL
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Answer, Criterion, DirectoryContains, ImageSimilar, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.files_view import (
    HOME,
    PARENTS,
    Goal,
    Goals,
    answer,
    exists,
    once,
    steps,
    unread,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]

APP = "viewnior"
SIZE = (620, 440)
COLOURS = ("#8c1c13", "#1d3557", "#2d6a4f", "#6a4c93", "#7f5539", "#495057", "#005f73", "#9b2226")
TITLE = re.compile(r"(?P<changed>\*?)(?P<name>.+) - (?P<index>\d+)/(?P<count>\d+) - (?P<zoom>\d+)%")
CLOCKWISE, ANTICLOCKWISE = "Rotate Clockwise", "Rotate Anti-clockwise"


# Pictures.


def painted(label: str, colour: str, size: tuple[int, int] = (360, 240), turned: int = 0) -> bytes:
    """A picture with a word on it, turned clockwise by quarters."""
    picture = Image.new("RGB", size, colour)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((8, 8, size[0] - 9, size[1] - 9), outline="white", width=3)
    pen.text((size[0] // 2, size[1] // 2), label, fill="white", font_size=size[1] // 6, anchor="mm")
    pen.ellipse((20, 20, 44, 44), fill="white")
    if turned:
        picture = picture.rotate(-90 * turned, expand=True)
    made = io.BytesIO()
    picture.save(made, "PNG")
    return made.getvalue()


def looks(path: str, picture: bytes) -> Criterion:
    return ImageSimilar(path=path, reference_base64=base64.b64encode(picture).decode(), threshold=0.98)


def turns_to(picture: bytes, reference: bytes) -> int | None:
    """Quarter turns clockwise that make one picture the other; None if none does."""
    try:
        now, wanted = (
            np.asarray(Image.open(io.BytesIO(data)).convert("RGB")) for data in (picture, reference)
        )
    except OSError:
        return None
    return next((turns for turns in range(4) if np.array_equal(np.rot90(now, -turns), wanted)), None)


# Looking.


@dataclass(frozen=True)
class Shown:
    """What the title bar says."""

    name: str
    index: int
    zoom: int
    changed: bool


def shown(view: View) -> Shown | None:
    for window in reversed(view.windows):
        match = TITLE.fullmatch(window.title) if window.wm_class == "Viewnior" else None
        if match:
            return Shown(match["name"], int(match["index"]) - 1, int(match["zoom"]), bool(match["changed"]))
    return None


def dialog(view: View) -> Node | None:
    return next((node for node in view.tree(APP).children if node.role in ("dialog", "alert")), None)


# Acting.


def button(view: View, label: str) -> Action:
    """Press a button of the window or of the dialog over it."""
    found = view.widget("push button", label, app=APP)
    return Action.wait() if found is None else view.click(found)


def clear_way(view: View) -> Action | None:
    """Close a dialog that is in the way."""
    if unread(view, APP):
        return Action.wait()
    return None if dialog(view) is None else Action.key("esc")


class Viewer(Template):
    """What tasks of the image viewer have in common: a folder of pictures, one of them shown."""

    apps = ("viewnior",)
    size: tuple[int, int] = (360, 240)

    def picture(self, p: Params, index: int) -> bytes:
        return painted(p.names[index].removesuffix(".png"), p.colours[index], self.size)

    def drawn(self, draw: Draw, count: int, start: int) -> dict[str, Any]:
        """Names in the order in which the viewer shows them."""
        names = sorted(f"{noun}.png" for noun in draw.words(count, "nouns"))
        return {
            "folder": draw.choice((*PARENTS, "Pictures")),
            "names": names,
            "colours": [draw.choice(COLOURS) for _ in names],
            "start": start,
            "place": draw.place(*SIZE),
        }

    def setup(self, p: Params) -> Sequence[SetupStep]:
        pictures = [
            WriteFile.of_bytes(f"{p.folder}/{name}", self.picture(p, index))
            for index, name in enumerate(p.names)
        ]
        return [*pictures, Launch(command=["viewnior", f"{p.folder}/{p.names[p.start]}"], place=p.place)]

    def untouched(self, p: Params, *changed: str) -> list[Criterion]:
        """The folder has the same pictures, and all but these look as before."""
        listing = DirectoryContains(path=p.folder, names=tuple(p.names), exactly=True)
        same = [
            looks(f"{p.folder}/{name}", self.picture(p, index))
            for index, name in enumerate(p.names)
            if name not in changed
        ]
        return [listing, *same]


def leafed(name: str) -> Callable[[View], Action | None]:
    """Go to a picture of the folder, one by one; others may have been deleted meanwhile."""

    def attempt(view: View) -> Action | None:
        now = shown(view)
        if now is None:
            return Action.wait()
        if now.name == name:
            return None
        if now.changed:
            return button(view, "Cancel")
        return button(view, "Next Image" if now.name < name else "Previous Image")

    return attempt


def turned(
    p: Params, name: str, reference: bytes, reach: Callable[[View], Action | None] | None = None
) -> Goal:
    """A picture is stored as it should be, turned by the viewer."""
    path = f"{p.folder}/{name}"

    def needed(view: View) -> int | None:
        return turns_to(view.desktop.files.read(path), reference) if exists(view, path) else None

    def turn(view: View) -> Action | None:
        now = shown(view)
        if now is None:
            return Action.wait()
        rotate = button(view, ANTICLOCKWISE if needed(view) == 3 else CLOCKWISE)
        if now.changed:
            known = view.last in (rotate, Action.wait(), button(view, "Save"))
            return once(view, button(view, "Save" if known else "Cancel"))
        return once(view, rotate)

    return Goal(lambda view: needed(view) == 0, steps(reach or leafed(name), clear_way, turn))


def deleted(p: Params, name: str) -> Goal:
    def sure(view: View) -> Action | None:
        asked = dialog(view)
        now = shown(view)
        found = asked.find("push button", "Delete") if asked is not None else None
        if found is None or now is None or now.name != name:
            return None
        return once(view, view.click(found))

    return Goal(
        lambda view: not exists(view, f"{p.folder}/{name}"),
        steps(sure, clear_way, leafed(name), lambda view: once(view, Action.key("delete"))),
    )


def path_opened(path: str) -> Callable[[View], Action | None]:
    """Open a picture with the dialog; a slash opens its location field."""
    entry = Action.type(path + "\n")
    name = path.rpartition("/")[2]

    def attempt(view: View) -> Action | None:
        now = shown(view)
        asked = dialog(view)
        if unread(view, APP):
            return Action.wait()
        if asked is not None:
            field = asked.find("text")
            if view.last == entry:
                return Action.wait()
            if field is not None and field.text == path:
                return once(view, Action.key("enter"))
            if field is not None and field.text and view.last != SELECT_ALL:
                return SELECT_ALL
            return entry
        if now is not None and now.name == name:
            return None
        if now is not None and now.changed:
            return button(view, "Cancel")
        return once(view, Action.key("ctrl", "o"))

    return attempt


class ShowNamed(Viewer):
    id = "core/images-show-named-v1"
    skill = "click"
    family = "leafing"
    difficulty = Difficulty.EASY
    instructions = (
        "Leaf through the pictures until {name} is shown.",
        "Let the image viewer show the picture {name}, which is in the same folder.",
        "Go to the picture {name}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        start, target = draw.sample(range(6), 2)
        drawn = self.drawn(draw, 6, start)
        return {**drawn, "target": target, "name": drawn["names"][target]}

    def success(self, p: Params) -> Criterion:
        return WindowTitle(title=f"{p.name} - {p.target + 1}/{len(p.names)} - ", wm_class="Viewnior")

    def oracle(self, p: Params) -> Oracle:
        return Goals([on_picture(p)])


def on_picture(p: Params) -> Goal:
    def done(view: View) -> bool:
        now = shown(view)
        return now is not None and now.name == p.name

    return Goal(done, steps(clear_way, leafed(p.name)))


class NormalSize(Viewer):
    id = "core/images-normal-size-v1"
    skill = "click"
    family = "viewing"
    difficulty = Difficulty.EASY
    size = (1500, 1000)
    instructions = (
        "Show the picture {name} at its normal size (100 %).",
        "Go to {name} and zoom it to exactly 100 %.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        start, target = draw.sample(range(4), 2)
        drawn = self.drawn(draw, 4, start)
        return {**drawn, "target": target, "name": drawn["names"][target]}

    def success(self, p: Params) -> Criterion:
        title = f"{p.name} - {p.target + 1}/{len(p.names)} - 100%"
        return WindowTitle(title=title, wm_class="Viewnior", exact=True)

    def oracle(self, p: Params) -> Oracle:
        def normal(view: View) -> bool:
            now = shown(view)
            return now is not None and now.zoom == 100

        return Goals(
            [
                on_picture(p),
                Goal(normal, steps(clear_way, lambda view: once(view, button(view, "Normal Size")))),
            ]
        )


class TurnAndSave(Viewer):
    id = "core/images-turn-and-save-v1"
    skill = "click"
    family = "turning"
    difficulty = Difficulty.EASY
    instructions = (
        "The picture {name} lies on its side. Turn it {direction} by 90 degrees and save it.",
        "Turn {name} {direction} once, and save the picture.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        start = draw.choice(range(4))
        drawn = self.drawn(draw, 4, start)
        near = [index for index in range(4) if abs(index - start) <= 2]
        name = drawn["names"][draw.choice(near)]
        turn, direction = draw.choice(((1, "clockwise"), (3, "anti-clockwise")))
        return {**drawn, "name": name, "turn": turn, "direction": direction}

    def picture(self, p: Params, index: int) -> bytes:
        name = p.names[index]
        lying = 4 - p.turn if name == p.name else 0
        return painted(name.removesuffix(".png"), p.colours[index], self.size, lying)

    def upright(self, p: Params) -> bytes:
        return painted(p.name.removesuffix(".png"), p.colours[p.names.index(p.name)], self.size)

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(looks(f"{p.folder}/{p.name}", self.upright(p)), *self.untouched(p, p.name)))

    def oracle(self, p: Params) -> Oracle:
        return Goals([turned(p, p.name, self.upright(p))])


class ReadWord(Viewer):
    id = "core/images-read-word-v1"
    skill = "read"
    family = "viewing"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "Which word is written on the picture {name}? Answer with that word.",
        "Go to the picture {name} and report the word that stands on it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        start, target = draw.sample(range(5), 2)
        drawn = self.drawn(draw, 5, start)
        words = draw.words(5, "products")
        return {**drawn, "words": words, "name": drawn["names"][target], "word": words[target]}

    def picture(self, p: Params, index: int) -> bytes:
        return painted(p.words[index], p.colours[index], self.size)

    def success(self, p: Params) -> Criterion:
        return Answer(text=p.word)

    def oracle(self, p: Params) -> Oracle:
        return Goals([on_picture(p)], answer(p.word))


class DeleteTwo(Viewer):
    id = "core/images-delete-two-v1"
    skill = "dialog"
    family = "sorting out"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Delete the pictures {first} and {second} with the image viewer.",
        "{first} and {second} are not wanted any more. Find them in the image viewer and delete "
        "them, and no others.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        drawn = self.drawn(draw, 8, 0)
        second = draw.choice((5, 6, 7))
        first = draw.choice(range(1, second - 1))
        return {**drawn, "first": drawn["names"][first], "second": drawn["names"][second]}

    def success(self, p: Params) -> Criterion:
        left = [(index, name) for index, name in enumerate(p.names) if name not in (p.first, p.second)]
        listing = DirectoryContains(path=p.folder, names=tuple(name for _, name in left), exactly=True)
        same = [looks(f"{p.folder}/{name}", self.picture(p, index)) for index, name in left]
        return AllOf(of=(listing, *same))

    def oracle(self, p: Params) -> Oracle:
        return Goals([deleted(p, p.first), deleted(p, p.second)])


class TurnByPath(Viewer):
    id = "core/images-turn-by-path-v1"
    skill = "keys"
    family = "turning"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Open {path_a}, turn it clockwise once and save it. Then do the same with {path_b}.",
        "The pictures {path_a} and {path_b} lie on their side. Open each of them, turn it clockwise "
        "once and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        drawn = self.drawn(draw, 6, 0)
        first, second = draw.sample(drawn["names"][1:], 2)
        where = f"{HOME}/{drawn['folder']}"
        return {
            **drawn,
            "lying": (first, second),
            "path_a": f"{where}/{first}",
            "path_b": f"{where}/{second}",
        }

    def picture(self, p: Params, index: int) -> bytes:
        name = p.names[index]
        return painted(name.removesuffix(".png"), p.colours[index], self.size, 3 if name in p.lying else 0)

    def upright(self, p: Params, name: str) -> bytes:
        return painted(name.removesuffix(".png"), p.colours[p.names.index(name)], self.size)

    def success(self, p: Params) -> Criterion:
        right = [looks(f"{p.folder}/{name}", self.upright(p, name)) for name in p.lying]
        return AllOf(of=(*right, *self.untouched(p, *p.lying)))

    def oracle(self, p: Params) -> Oracle:
        return Goals(
            [
                turned(p, name, self.upright(p, name), path_opened(f"{HOME}/{p.folder}/{name}"))
                for name in p.lying
            ]
        )


class TurnBoth(Viewer):
    id = "core/images-turn-both-ways-v1"
    skill = "click"
    family = "turning"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Two pictures of this folder lie on their side: turn {first} clockwise and {second} "
        "anti-clockwise by 90 degrees, "
        "and save both.",
        "Turn the picture {first} clockwise once and save it, and turn {second} anti-clockwise once "
        "and save it, too.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        drawn = self.drawn(draw, 7, 0)
        far = draw.choice((4, 5, 6))
        pair = [draw.choice(range(1, far)), far]
        return {**drawn, "first": drawn["names"][pair[0]], "second": drawn["names"][pair[1]]}

    def picture(self, p: Params, index: int) -> bytes:
        name = p.names[index]
        lying = {p.first: 3, p.second: 1}.get(name, 0)
        return painted(name.removesuffix(".png"), p.colours[index], self.size, lying)

    def upright(self, p: Params, name: str) -> bytes:
        return painted(name.removesuffix(".png"), p.colours[p.names.index(name)], self.size)

    def success(self, p: Params) -> Criterion:
        pair = (p.first, p.second)
        right = [looks(f"{p.folder}/{name}", self.upright(p, name)) for name in pair]
        return AllOf(of=(*right, *self.untouched(p, *pair)))

    def oracle(self, p: Params) -> Oracle:
        return Goals([turned(p, name, self.upright(p, name)) for name in (p.first, p.second)])


class DeleteLabelled(Viewer):
    id = "core/images-delete-labelled-v1"
    skill = "read"
    family = "sorting out"
    difficulty = Difficulty.HARD
    instructions = (
        "Delete every picture of this folder on which the word {word} is written, and no other.",
        "Look at all pictures here. Delete those that say {word} and keep the rest.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        word, other = draw.words(2, "products")
        # The last one is to be deleted, so that all the others are seen on the way.
        labels = [*draw.sample([word] * 5 + [other] * 6, 11), word]
        return {**self.drawn(draw, 12, 0), "word": word, "labels": labels}

    def picture(self, p: Params, index: int) -> bytes:
        return painted(p.labels[index], p.colours[index], self.size)

    def doomed(self, p: Params) -> list[str]:
        return [name for name, label in zip(p.names, p.labels, strict=True) if label == p.word]

    def success(self, p: Params) -> Criterion:
        left = [(index, name) for index, name in enumerate(p.names) if p.labels[index] != p.word]
        listing = DirectoryContains(path=p.folder, names=tuple(name for _, name in left), exactly=True)
        same = [looks(f"{p.folder}/{name}", self.picture(p, index)) for index, name in left]
        return AllOf(of=(listing, *same))

    def oracle(self, p: Params) -> Oracle:
        return Goals([deleted(p, name) for name in self.doomed(p)])


TEMPLATES: tuple[type[Template], ...] = (
    ShowNamed,
    NormalSize,
    TurnAndSave,
    ReadWord,
    DeleteTwo,
    TurnByPath,
    TurnBoth,
    DeleteLabelled,
)
