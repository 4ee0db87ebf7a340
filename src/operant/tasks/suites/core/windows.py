"""The desktop itself: close, minimize, maximize, move, resize and uncover a window among others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from operant.apps import openbox
from operant.apps.moves import Goal
from operant.apps.openbox import Place
from operant.apps.view import View
from operant.desktop import decorations
from operant.tasks.changes import Change
from operant.tasks.criteria import Criterion, WindowAbsent, WindowGeometry, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, MakeDirectory, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Difficulty, Window

__all__ = ["TEMPLATES"]

Kind = Literal["note", "folder", "terminal"]
SCREEN = (1280, 800)
NOTE = (460, 300)
CLASSES = {"note": "Mousepad", "folder": "Pcmanfm", "terminal": "XTerm"}


@dataclass(frozen=True)
class WindowShown:
    """A window that is open when the task begins, known by a drawn name in its title."""

    kind: Kind
    name: str
    place: Place
    text: str = ""

    def setup(self) -> list[SetupStep]:
        if self.kind == "note":
            write = WriteFile(path=self.name, text=self.text or f"About {self.name.partition('.')[0]}.\n")
            return [write, Launch(command=["mousepad", "-o", "window", self.name], place=self.place)]
        if self.kind == "folder":
            make = MakeDirectory(path=self.name)
            return [make, Launch(command=["pcmanfm", "-n", self.name], place=self.place)]
        return [Launch(command=["xterm", "-T", self.name], place=self.place)]

    def is_it(self, window: Window) -> bool:
        """Titles of folders and terminals are just the name; those of notes hold it."""
        if window.wm_class != CLASSES[self.kind]:
            return False
        return self.name in window.title if self.kind == "note" else self.name == window.title

    def find(self, view: View) -> Window | None:
        return openbox.topmost(view, self.is_it)

    # Questions about it.

    def open(self, *, focused: bool | None = None) -> Criterion:
        return WindowTitle(title=self.name, wm_class=CLASSES[self.kind], focused=focused)

    def closed(self) -> Criterion:
        return WindowAbsent(title=self.name, wm_class=CLASSES[self.kind])

    def stands(self, **how: Any) -> Criterion:
        return WindowGeometry(title=self.name, wm_class=CLASSES[self.kind], **how)

    def fills(self, place: Place) -> Criterion:
        x, y, width, height = place
        return self.stands(x=x, y=y, width=width, height=height, tolerance=openbox.ROUGHLY, maximized=False)


class Windows(Template):
    """What tasks on windows have in common: the windows ``p.shown`` are open, the last one on top."""

    apps: ClassVar[tuple[str, ...]] = ("openbox", "mousepad", "pcmanfm")
    family = "one window"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [step for shown in p.shown for step in shown.setup()]


def several(
    draw: Draw, kinds: Sequence[Kind], places: Sequence[Place], texts: Sequence[str] = ()
) -> list[WindowShown]:
    """Windows of these kinds, no two with the same name."""
    qualities, things = draw.words(len(kinds), "adjectives"), draw.words(len(kinds))
    topics = draw.words(kinds.count("terminal"), "topics")
    shown = []
    for index, (kind, quality, thing) in enumerate(zip(kinds, qualities, things, strict=True)):
        names = {"note": f"{quality}-{thing}.txt", "folder": thing, "terminal": topics[-1] if topics else ""}
        if kind == "terminal":
            topics.pop()
        shown.append(
            WindowShown(kind, names[kind], places[index], texts[index] if index < len(texts) else "")
        )
    return shown


def scattered(draw: Draw, count: int, size: tuple[int, int] = NOTE) -> list[Place]:
    """Places for windows that overlap, but not so that one hides another's place altogether."""
    while True:
        places = [draw.place(*size) for _ in range(count)]
        pairs = [(a, b) for index, a in enumerate(places) for b in places[:index]]
        if all(abs(a[0] - b[0]) > 50 or abs(a[1] - b[1]) > 50 for a, b in pairs):
            return places


def one_of(draw: Draw, kinds: Sequence[Kind] = ("note", "note", "folder")) -> dict[str, Any]:
    """A few windows somewhere, in any order, and one of them that the task is about."""
    shown = several(draw, draw.sample(kinds, len(kinds)), scattered(draw, len(kinds)))
    target = draw.choice(shown)
    return {"shown": shown, "target": target, "name": target.name}


def others(p: Params) -> list[WindowShown]:
    return [shown for shown in p.shown if shown != p.target]


def with_others(p: Params, goal: Goal, *holds: Criterion, **how: bool) -> list[Change]:
    """The target changes, and the other windows are still so."""
    rest = [shown.stands(**how) for shown in others(p)]
    return [Change(goal, holds=[*holds, *rest])]


class CloseOne(Windows):
    id = "core/windows-close-one-v1"
    skill = "click"
    gui_only = True
    difficulty = Difficulty.EASY
    instructions = (
        "Close the window of {name} and leave the others open.",
        "I am done with {name}: close just that window.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return one_of(draw)

    def changes(self, p: Params) -> Sequence[Change]:
        rest = [shown.open() for shown in others(p)]
        return [Change(openbox.closed(p.target.is_it), holds=[p.target.closed(), *rest])]


class MinimizeOne(Windows):
    id = "core/windows-minimize-one-v1"
    skill = "click"
    gui_only = True
    difficulty = Difficulty.EASY
    instructions = (
        "Minimize the window of {name}.",
        "Put {name} out of sight for now: minimize its window, but do not close it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return one_of(draw)

    def changes(self, p: Params) -> Sequence[Change]:
        away = openbox.minimized(p.target.is_it)
        return with_others(p, away, p.target.stands(minimized=True), minimized=False)


class MaximizeOne(Windows):
    id = "core/windows-maximize-one-v1"
    skill = "click"
    gui_only = True
    difficulty = Difficulty.EASY
    instructions = (
        "Maximize the window of {name}.",
        "Let the window that shows {name} fill the whole screen.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return one_of(draw)

    def changes(self, p: Params) -> Sequence[Change]:
        filling = openbox.maximized(p.target.is_it)
        return with_others(p, filling, p.target.stands(maximized=True), maximized=False)


class BringToFront(Windows):
    id = "core/windows-bring-to-front-v1"
    skill = "click"
    gui_only = True
    difficulty = Difficulty.EASY
    instructions = (
        "Bring the window of {name} to the front.",
        "{name} is partly hidden behind other windows. Put it on top of them.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        x, y, width, height = draw.place(*NOTE, (900, 600))
        between = (x + draw.choice((60, 90, 120)), y + draw.choice((50, 80)), width, height)
        upper = (x + 200, y + draw.choice((110, 140)), width, height)
        shown = several(draw, ("note", "folder", "note"), [(x, y, width, height), between, upper])
        target = draw.choice(shown[:2])
        return {"shown": shown, "target": target, "name": target.name}

    def changes(self, p: Params) -> Sequence[Change]:
        front = openbox.in_front(p.target.is_it)
        return with_others(p, front, p.target.open(focused=True), minimized=False)


class UncoverHidden(Windows):
    id = "core/windows-switch-hidden-v1"
    skill = "keys"
    gui_only = True
    difficulty = Difficulty.EASY
    instructions = (
        "The window of {name} is hidden behind a bigger one. Switch to it with alt+tab.",
        "Switch from the window in front to that of {name}, which it covers completely. Keep both open.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        x, y, width, height = draw.place(400, 260, (1100, 640))
        cover = (max(2, x - 60), max(22, y - 30), width + 140, height + 90)
        kind: Kind = draw.choice(("note", "folder"))
        shown = several(draw, (kind, "note"), [(x, y, width, height), cover])
        return {"shown": shown, "target": shown[0], "name": shown[0].name}

    def changes(self, p: Params) -> Sequence[Change]:
        front = openbox.in_front(p.target.is_it)
        return with_others(p, front, p.target.open(focused=True), minimized=False)


def corner(name: str, size: tuple[int, int]) -> tuple[int, int]:
    """Where the client area of a window in a corner of the screen begins."""
    x = decorations.BESIDE if "left" in name else SCREEN[0] - size[0] - decorations.BESIDE
    y = decorations.ABOVE if "top" in name else SCREEN[1] - size[1] - decorations.BELOW
    return x, y


CORNERS = ("top left", "top right", "bottom left", "bottom right")


class MoveToCorner(Windows):
    id = "core/windows-move-to-corner-v1"
    skill = "drag"
    gui_only = True
    difficulty = Difficulty.EASY
    instructions = (
        "Move the window of {name} into the {corner} corner of the screen, without changing its size.",
        "Drag {name} by its title bar into the {corner} corner.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        while True:
            values = one_of(draw, ("note", "folder"))
            wanted = draw.choice(CORNERS)
            x, y, width, height = values["target"].place
            to = corner(wanted, (width, height))
            if abs(x - to[0]) > 80 and abs(y - to[1]) > 80:
                return {**values, "corner": wanted, "to": (*to, width, height)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(openbox.moved(p.target.is_it, p.to), holds=[p.target.fills(p.to)])]


class ResizeWidth(Windows):
    id = "core/windows-resize-width-v1"
    skill = "drag"
    gui_only = True
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "Make the window of {name} about {width} pixels wide (the screen is 1280 wide) by dragging its right "
        "edge. Its left edge and its height stay as they are.",
        "Change the width of {name}'s window to roughly {width} of the screen's 1280 pixels; only its right edge may "
        "move.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        places = [draw.place(420, 280), draw.place(*NOTE, (700, 800))]
        other, target = several(draw, ("folder", "note"), places)
        x, y, width, height = target.place
        while True:
            wanted = draw.number(400, 1240 - x)
            if abs(wanted - width) > 90:
                break
        return {
            "shown": [other, target],
            "target": target,
            "name": target.name,
            "width": wanted,
            "to": (x, y, wanted, height),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        holds = [p.target.fills(p.to), p.target.stands(width=p.width, tolerance=16)]
        return [Change(openbox.widened(p.target.is_it, p.width), holds=holds)]


TEMPLATES: tuple[type[Template], ...] = (
    CloseOne,
    MinimizeOne,
    MaximizeOne,
    BringToFront,
    UncoverHidden,
    MoveToCorner,
    ResizeWidth,
)
