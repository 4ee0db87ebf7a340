"""Many windows at once: tile them over the screen, clean up, and carry text from one to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps import openbox
from operant.apps.mousepad import note_windows
from operant.apps.openbox import Place
from operant.desktop import decorations
from operant.desktop.protocol import Capability, Desktop
from operant.errors import SetupFailed
from operant.tasks.changes import Change
from operant.tasks.criteria import Criterion, FileEquals, WindowAbsent
from operant.tasks.draw import Draw
from operant.tasks.setup import SetupStep
from operant.tasks.suites.core.notes import pasted, saved
from operant.tasks.suites.core.windows import (
    CORNERS,
    SCREEN,
    Kind,
    Windows,
    WindowShown,
    corner,
    others,
    scattered,
    several,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Window

__all__ = ["TEMPLATES"]

SMALL = (380, 260)
#: What each quarter and half of the screen leaves for the client area of a window.
QUARTER = (SCREEN[0] // 2 - 2 * decorations.BESIDE, SCREEN[1] // 2 - decorations.ABOVE - decorations.BELOW)
HALF = (QUARTER[0], SCREEN[1] - decorations.ABOVE - decorations.BELOW)


class Edit(SetupStep):
    """Type something into an editor and leave it unsaved."""

    title: str
    """Text that the window's title contains."""
    text: str
    """What is typed at the end."""

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.WINDOWS, Capability.WINDOW_CONTROL})

    def apply(self, desktop: Desktop) -> None:
        window = next((window for window in desktop.windows() if self.title in window.title), None)
        if window is None:
            raise SetupFailed(f"there is no window {self.title!r} to type into")
        desktop.activate_window(window)
        for action in (Action.key("ctrl", "end"), Action.type(self.text)):
            desktop.perform(action)


def any_of(some: Sequence[WindowShown]) -> openbox.Wanted:
    def wanted(window: Window) -> bool:
        return any(shown.is_it(window) for shown in some)

    return wanted


def put_away(
    closing: Sequence[WindowShown],
    hiding: Sequence[WindowShown] = (),
    *,
    keep: Sequence[str] = (),
    holds: Sequence[Criterion],
) -> Change:
    """Windows are closed or minimized; of notes that were changed, these are saved."""
    question = note_windows.answer_question(keep)
    return Change(openbox.put_away(any_of(closing), any_of(hiding), question), holds=holds)


def tiled(tiles: Sequence[tuple[WindowShown, Place]]) -> Change:
    goal = openbox.tiled([(shown.is_it, place) for shown, place in tiles])
    return Change(goal, holds=[shown.fills(place) for shown, place in tiles])


class SideBySide(Windows):
    id = "core/windows-side-by-side-v1"
    skill = "drag"
    gui_only = True
    family = "arranging"
    difficulty = Difficulty.EASY
    instructions = (
        "Put the windows side by side: {left} fills the left half of the screen, {right} the right half.",
        "Let {left} take the left half of the screen and {right} the right half, by moving and resizing both.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        while True:
            shown = several(draw, ("note", draw.choice(("note", "folder"))), scattered(draw, 2))
            left, right = draw.sample(shown, 2)
            tiles = halves(left, right)
            if all(far(one.place, place) for one, place in tiles):
                return {"shown": shown, "left": left.name, "right": right.name, "tiles": tiles}

    def changes(self, p: Params) -> Sequence[Change]:
        return [tiled(p.tiles)]


def far(place: Place, other: Place) -> bool:
    """Whether a window has to be moved a good way to get from one place to the other."""
    return max(abs(place[0] - other[0]), abs(place[1] - other[1])) > 80


def halves(left: WindowShown, right: WindowShown) -> list[tuple[WindowShown, Place]]:
    return [(left, (*corner("top left", HALF), *HALF)), (right, (*corner("top right", HALF), *HALF))]


def quarters(four: Sequence[WindowShown]) -> list[tuple[WindowShown, Place]]:
    return [(shown, (*corner(where, QUARTER), *QUARTER)) for shown, where in zip(four, CORNERS, strict=True)]


class Quarters(Windows):
    id = "core/windows-quarters-v1"
    skill = "drag"
    gui_only = True
    family = "arranging"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Give each window a quarter of the screen: {a} top left, {b} top right, {c} bottom left, {d} bottom right.",
        "Tile the four windows: {a} and {b} share the upper half of the screen, left and right, {c} and {d} the lower "
        "half.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        while True:
            four = several(draw, ("note", "note", "folder", "note"), scattered(draw, 4))
            ordered = draw.sample(four, 4)
            if all(far(one.place, place) for one, place in quarters(ordered)):
                break
        names = dict(zip("abcd", (shown.name for shown in ordered), strict=True))
        return {**names, "shown": four, "tiles": quarters(ordered)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [tiled(p.tiles)]


class CloseAllButOne(Windows):
    id = "core/windows-close-all-but-one-v1"
    apps = ("openbox", "mousepad", "pcmanfm", "xterm")
    skill = "click"
    gui_only = True
    family = "cleaning up"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Close all windows except that of {name}.",
        "Clean up the screen: only {name} stays open, close everything else.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        kinds: list[Kind] = ["terminal", "terminal", "terminal", "folder", "folder", "note", "note", "note"]
        shown = several(draw, draw.sample(kinds, 8), scattered(draw, 8, SMALL))
        target = draw.choice([one for one in shown if one.kind == "note"])
        return {"shown": shown, "target": target, "name": target.name}

    def changes(self, p: Params) -> Sequence[Change]:
        gone = [shown.closed() for shown in others(p)]
        return [put_away(others(p), holds=[p.target.stands(minimized=False), *gone])]


class SortOut(Windows):
    id = "core/windows-sort-out-v1"
    apps = ("openbox", "mousepad", "pcmanfm", "xterm")
    skill = "click"
    gui_only = True
    family = "cleaning up"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Close all terminals, minimize all folder windows, and maximize the window of {name}.",
        "I want to work on {name} only: maximize it, after closing the terminals and minimizing the folder windows.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        kinds: list[Kind] = ["terminal", "terminal", "terminal", "folder", "folder", "folder", "note"]
        shown = several(draw, draw.sample(kinds, 7), scattered(draw, 7, SMALL))
        kept = {f"{kind}s": [one for one in shown if one.kind == kind] for kind in ("terminal", "folder")}
        target = next(one for one in shown if one.kind == "note")
        return {**kept, "shown": shown, "target": target, "name": target.name}

    def changes(self, p: Params) -> Sequence[Change]:
        gone = [shown.closed() for shown in p.terminals]
        away = [shown.stands(minimized=True) for shown in p.folders]
        return [
            put_away(p.terminals, p.folders, holds=[*gone, *away]),
            Change(openbox.maximized(p.target.is_it), holds=[p.target.stands(maximized=True)]),
        ]


class Unsaved(Windows):
    """Some of the notes that are open have changes that are not saved."""

    family = "cleaning up"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*super().setup(p), *(Edit(title=shown.name, text=more) for shown, more in p.changed)]


def unsaved(draw: Draw, count: int) -> tuple[list[str], list[str]]:
    """Texts of notes, and what was added to each and not saved."""
    texts = [f"First {draw.word('topics')}\n" for _ in range(count)]
    return texts, [f"then {draw.word('topics')}" for _ in range(count)]


class SaveOrDiscard(Unsaved):
    id = "core/windows-save-or-discard-v1"
    apps = ("openbox", "mousepad")
    skill = "dialog"
    gui_only = True
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Close the four notes, all of which were changed. Save the changes in {a} and {b}, discard those in {c} and {d}.",
        "All four editors have unsaved changes. Close them, keeping the changes of {a} and {b} but not those of {c} and "
        "{d}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        texts, added = unsaved(draw, 4)
        shown = several(draw, ["note"] * 4, scattered(draw, 4), texts)
        changed = draw.sample(list(zip(shown, added, strict=True)), 4)
        names = dict(zip("abcd", (one.name for one, _more in changed), strict=True))
        return {**names, "shown": shown, "changed": changed}

    def changes(self, p: Params) -> Sequence[Change]:
        files = [
            FileEquals(path=shown.name, text=shown.text + (more if index < 2 else ""))
            for index, (shown, more) in enumerate(p.changed)
        ]
        return [put_away(p.shown, keep=[p.a, p.b], holds=[*files, WindowAbsent(wm_class="Mousepad")])]


class TidyUp(Unsaved):
    id = "core/windows-tidy-up-v1"
    apps = ("openbox", "mousepad", "pcmanfm", "xterm")
    skill = "drag"
    gui_only = True
    difficulty = Difficulty.HARD
    instructions = (
        "Tidy up: close the three changed notes {a}, {b} and {c}, saving them, and both terminals. Then give the others "
        "a quarter of the screen each: {d} top left, {e} top right, {f} bottom left, {g} bottom right.",
        "Save and close {a}, {b} and {c}, close the terminals, and tile what is left, a quarter of the screen each: {d} "
        "top left, {e} top right, {f} bottom left and {g} bottom right.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        texts, added = unsaved(draw, 3)
        going: list[Kind] = ["note", "note", "note", "terminal", "terminal"]
        staying: list[Kind] = ["folder", "folder", "note", "note"]
        shown = several(draw, [*going, *staying], scattered(draw, 9), texts)
        kept = draw.sample(shown[5:], 4)
        names = [one.name for one in (*shown[:3], *kept)]
        return {
            **dict(zip("abcdefg", names, strict=True)),
            "shown": draw.sample(shown, 9),
            "changed": list(zip(shown[:3], added, strict=True)),
            "going": shown[:5],
            "tiles": quarters(kept),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        files = [FileEquals(path=shown.name, text=shown.text + more) for shown, more in p.changed]
        gone = [shown.closed() for shown in p.going]
        return [put_away(p.going, keep=[p.a, p.b, p.c], holds=[*files, *gone]), tiled(p.tiles)]


class GatherNotes(Windows):
    id = "core/windows-gather-notes-v1"
    apps = ("openbox", "mousepad")
    skill = "copy"
    family = "switching"
    scope = "files"
    difficulty = Difficulty.HARD
    instructions = (
        "Copy the text of {a}, {b} and {c}, in this order, to the end of {target}, and save {target}.",
        "Collect the texts of the windows {a}, {b} and {c} at the end of {target}, in this order, and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        cells = draw.sample([(20, 40), (660, 40), (20, 440), (660, 440)], 4)
        places = [(x + draw.choice((0, 20, 40)), y + draw.choice((0, 15, 30)), 500, 280) for x, y in cells]
        texts = [f"{thing}: {draw.number(10, 99)}\n" for thing in draw.words(4, "products")]
        shown = several(draw, ["note"] * 4, places, texts)
        names = dict(zip(("a", "b", "c", "target"), (one.name for one in shown), strict=True))
        return {**names, "shown": shown}

    def changes(self, p: Params) -> Sequence[Change]:
        *sources, target = p.shown
        made, text = [], target.text
        for one in sources:
            made.append(pasted(target.name, text, one.text, note_windows.copy_all(one.name)))
            text += one.text
        return [*made, saved(target.name, text)]


TEMPLATES: tuple[type[Template], ...] = (
    SideBySide,
    Quarters,
    CloseAllButOne,
    SortOut,
    SaveOrDiscard,
    TidyUp,
    GatherNotes,
)
