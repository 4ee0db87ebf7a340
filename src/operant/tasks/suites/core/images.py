"""Viewnior: leaf through pictures, zoom, turn and save, delete, and read what a picture shows."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from PIL import Image, ImageDraw

from operant.apps import viewnior
from operant.apps.view import HOME
from operant.tasks.changes import Change, answered
from operant.tasks.criteria import WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.files_changes import PARENTS
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]

COLOURS = ("#8c1c13", "#1d3557", "#2d6a4f", "#6a4c93", "#7f5539", "#495057", "#005f73", "#9b2226")


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


class PictureViewer(Template):
    """What tasks of the image viewer have in common: a folder of pictures, one of them shown."""

    apps = ("viewnior",)
    size: ClassVar[tuple[int, int]] = (360, 240)

    def label(self, p: Params, name: str) -> str:
        """The word on a picture."""
        return name.removesuffix(".png")

    def turns(self, p: Params, name: str) -> int:
        """How many quarters clockwise a picture is turned before."""
        return 0

    def picture(self, p: Params, name: str, turns: int) -> bytes:
        return painted(self.label(p, name), p.colours[p.names.index(name)], self.size, turns)

    def drawn(self, draw: Draw, count: int, start: int) -> dict[str, Any]:
        """Names in the order in which the viewer shows them."""
        names = sorted(f"{noun}.png" for noun in draw.words(count, "nouns"))
        return {
            "folder": draw.choice((*PARENTS, "Pictures")),
            "names": names,
            "colours": [draw.choice(COLOURS) for _ in names],
            "start": start,
            "place": draw.place(*viewnior.SIZE),
        }

    def other_than_shown(self, draw: Draw, count: int) -> dict[str, Any]:
        """Pictures, and one of them that is not the one shown."""
        start, target = draw.sample(range(count), 2)
        drawn = self.drawn(draw, count, start)
        return {**drawn, "target": target, "name": drawn["names"][target]}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        pictures = [
            WriteFile.of_bytes(f"{p.folder}/{name}", self.picture(p, name, self.turns(p, name)))
            for name in p.names
        ]
        return [*pictures, Launch(command=["viewnior", f"{p.folder}/{p.names[p.start]}"], place=p.place)]

    def turned(self, p: Params, name: str, *, typed: bool = False) -> Change:
        """A picture that lay on its side stands upright."""
        path, upright = f"{p.folder}/{name}", self.picture(p, name, 0)
        goal = viewnior.turned(path, upright, typed=f"{HOME}/{path}" if typed else None)
        return Change(goal, effect=lambda disk: disk.write(path, upright))

    def deleted(self, p: Params, name: str) -> Change:
        path = f"{p.folder}/{name}"
        return Change(viewnior.deleted(path), effect=lambda disk: disk.remove(path))


class ShowNamed(PictureViewer):
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
        return self.other_than_shown(draw, 6)

    def changes(self, p: Params) -> Sequence[Change]:
        title = f"{p.name} - {p.target + 1}/{len(p.names)} - "
        return [Change(viewnior.on_picture(p.name), holds=[WindowTitle(title=title, wm_class="Viewnior")])]


class NormalSize(PictureViewer):
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
        return self.other_than_shown(draw, 4)

    def changes(self, p: Params) -> Sequence[Change]:
        title = f"{p.name} - {p.target + 1}/{len(p.names)} - 100%"
        shown = WindowTitle(title=title, wm_class="Viewnior", exact=True)
        return [Change(viewnior.on_picture(p.name)), Change(viewnior.normal_size(), holds=[shown])]


class TurnAndSave(PictureViewer):
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

    def turns(self, p: Params, name: str) -> int:
        return 4 - p.turn if name == p.name else 0

    def changes(self, p: Params) -> Sequence[Change]:
        return [self.turned(p, p.name)]


class ReadWord(PictureViewer):
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
        drawn = self.other_than_shown(draw, 5)
        words = draw.words(5, "products")
        return {**drawn, "words": words, "word": words[drawn["target"]]}

    def label(self, p: Params, name: str) -> str:
        return str(p.words[p.names.index(name)])

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(viewnior.on_picture(p.name)), answered(p.word)]


class DeleteTwoPictures(PictureViewer):
    id = "core/images-delete-two-v1"
    skill = "dialog"
    gui_only = True
    family = "sorting out"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Delete the pictures {first} and {second} with the image viewer.",
        "{first} and {second} are not wanted any more. Find them in the image viewer and delete them, and no others.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        drawn = self.drawn(draw, 8, 0)
        second = draw.choice((5, 6, 7))
        first = draw.choice(range(1, second - 1))
        return {**drawn, "first": drawn["names"][first], "second": drawn["names"][second]}

    def changes(self, p: Params) -> Sequence[Change]:
        return [self.deleted(p, p.first), self.deleted(p, p.second)]


class TurnByPath(PictureViewer):
    id = "core/images-turn-by-path-v1"
    skill = "keys"
    family = "turning"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Open {path_a}, turn it clockwise once and save it. Then do the same with {path_b}.",
        "The pictures {path_a} and {path_b} lie on their side. Open each of them, turn it clockwise once and save it.",
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

    def turns(self, p: Params, name: str) -> int:
        return 3 if name in p.lying else 0

    def changes(self, p: Params) -> Sequence[Change]:
        return [self.turned(p, name, typed=True) for name in p.lying]


class TurnBoth(PictureViewer):
    id = "core/images-turn-both-ways-v1"
    skill = "click"
    family = "turning"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Two pictures of this folder lie on their side: turn {first} clockwise and {second} anti-clockwise by 90 "
        "degrees, and save both.",
        "Turn the picture {first} clockwise once and save it, and turn {second} anti-clockwise once and save it, too.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        drawn = self.drawn(draw, 7, 0)
        far = draw.choice((4, 5, 6))
        pair = [draw.choice(range(1, far)), far]
        return {**drawn, "first": drawn["names"][pair[0]], "second": drawn["names"][pair[1]]}

    def turns(self, p: Params, name: str) -> int:
        return {p.first: 3, p.second: 1}.get(name, 0)

    def changes(self, p: Params) -> Sequence[Change]:
        return [self.turned(p, p.first), self.turned(p, p.second)]


class DeleteLabelled(PictureViewer):
    id = "core/images-delete-labelled-v1"
    skill = "read"
    family = "sorting out"
    difficulty = Difficulty.HARD
    instructions = (
        "Delete every picture of this folder on which the word {word} is written, and no other.",
        "Look at all pictures here. Delete those that say {word} and keep the rest.",
    )

    def api_oracle(self, p: Params) -> Oracle | None:
        """None: which pictures are meant is seen on the screen only, and calls show one after another no faster."""
        return None

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        word, other = draw.words(2, "products")
        # The last one is to be deleted, so that all the others are seen on the way.
        labels = [*draw.sample([word] * 5 + [other] * 6, 11), word]
        return {**self.drawn(draw, 12, 0), "word": word, "labels": labels}

    def label(self, p: Params, name: str) -> str:
        return str(p.labels[p.names.index(name)])

    def changes(self, p: Params) -> Sequence[Change]:
        return [self.deleted(p, name) for name in p.names if self.label(p, name) == p.word]


TEMPLATES: tuple[type[Template], ...] = (
    ShowNamed,
    NormalSize,
    TurnAndSave,
    ReadWord,
    DeleteTwoPictures,
    TurnByPath,
    TurnBoth,
    DeleteLabelled,
)
