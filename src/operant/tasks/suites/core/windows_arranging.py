"""Many windows at once: tile them over the screen, clean up, and carry text from one to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operant.apps import openbox
from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import SetupFailed
from operant.tasks.criteria import AllOf, Criterion, FileEquals, WindowAbsent
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import SetupStep
from operant.tasks.suites.core.windows import (
    CORNERS,
    SCREEN,
    Kind,
    Place,
    Shown,
    Windows,
    close_to,
    corner,
    others,
    scattered,
    several,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node, Window

__all__ = ["TEMPLATES"]

SMALL = (380, 260)
#: What each quarter and half of the screen leaves for the client area of a window.
QUARTER = (SCREEN[0] // 2 - 2 * openbox.BORDER, SCREEN[1] // 2 - openbox.HEAD - openbox.FOOT)
HALF = (QUARTER[0], SCREEN[1] - openbox.HEAD - openbox.FOOT)
COPY, TO_END = Action.key("ctrl", "c"), Action.key("ctrl", "end")


class Edit(SetupStep):
    """Type something into an editor and leave it unsaved."""

    title: str
    """Text that the window's title contains."""
    text: str
    """What is typed at the end."""

    def apply(self, desktop: SandboxDesktop) -> None:
        window = next((window for window in desktop.windows() if self.title in window.title), None)
        if window is None:
            raise SetupFailed(f"there is no window {self.title!r} to type into")
        desktop.activate_window(window)
        for action in (Action.key("ctrl", "end"), Action.type(self.text)):
            desktop.perform(action)


def tile(targets: Sequence[tuple[Shown, Place]], view: View) -> Action | None:
    """Move, then resize the windows that are not where they belong; None if all are.

    The lowest goes first, or what was moved aside to get at it would be put back first; and all are moved
    while they are small, so that none covers another for good.
    """
    found = [(window, place) for shown, place in targets if (window := shown.find(view)) is not None]
    found.sort(key=lambda one: view.windows.index(one[0]))
    for window, place in found:
        if not close_to(window, place, slice(0, 2)):
            return openbox.pull(view, window, *place[:2])
    for window, place in found:
        if not close_to(window, place, slice(2, 4)):
            return openbox.grow(view, window, *place[2:])
    return None


@dataclass(frozen=True)
class Arranging:
    """An oracle that answers questions, closes what has to go, and then puts the rest into place."""

    tiles: Sequence[tuple[Shown, Place]] = ()
    closing: Sequence[Shown] = ()
    hiding: Sequence[Shown] = ()
    filling: Sequence[Shown] = ()
    keep: Sequence[str] = ()
    """Notes whose changes are saved when they are closed; those of others are not."""

    def act(self, view: View) -> Action:
        question = view.window("Save Changes")
        if question is not None:
            below = view.windows[view.windows.index(question) - 1].title
            kept = any(name in below for name in self.keep)
            found = view.widget("push button", "Save" if kept else "Don't Save")
            if found is not None:
                return view.click(found)
            view = View(view.desktop, view.last)  # answered, and gone by now
            if view.window("Save Changes") is not None:
                return Action.wait()
        return self._buttons(view) or tile(self.tiles, view) or Action.done()

    def _buttons(self, view: View) -> Action | None:
        """The next click on a title bar, from the top of the stack down."""
        left = [
            window
            for window in reversed(view.windows)
            if among(self.closing, window) or (among(self.hiding, window) and not window.minimized)
        ]
        for window in left:
            if window.minimized:
                return openbox.ALT_TAB
            action = openbox.press(view, window, "close" if among(self.closing, window) else "iconify")
            if action != view.last:  # else it was clicked already and takes a moment
                return action
        if left:
            return Action.wait()
        for window in reversed(view.windows):
            if among(self.filling, window) and not window.maximized:
                return openbox.press(view, window, "maximize")
        return None


def among(some: Sequence[Shown], window: Window) -> bool:
    return any(shown.is_it(window) for shown in some)


class SideBySide(Windows):
    id = "core/windows-side-by-side-v1"
    skill = "drag"
    family = "arranging"
    difficulty = Difficulty.EASY
    instructions = (
        "Put the windows side by side: {left} fills the left half of the screen, {right} the right half.",
        "Let {left} take the left half of the screen and {right} the right half, by moving and resizing "
        "both.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        while True:
            shown = several(draw, ("note", draw.choice(("note", "folder"))), scattered(draw, 2))
            left, right = draw.sample(shown, 2)
            tiles = halves(left, right)
            if all(far(one.place, place) for one, place in tiles):
                return {"shown": shown, "left": left.name, "right": right.name, "tiles": tiles}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=tuple(shown.fills(place) for shown, place in p.tiles))

    def oracle(self, p: Params) -> Oracle:
        return Arranging(tiles=p.tiles)


def far(place: Place, other: Place) -> bool:
    """Whether a window has to be moved a good way to get from one place to the other."""
    return max(abs(place[0] - other[0]), abs(place[1] - other[1])) > 80


def halves(left: Shown, right: Shown) -> list[tuple[Shown, Place]]:
    return [(left, (*corner("top left", HALF), *HALF)), (right, (*corner("top right", HALF), *HALF))]


def quarters(four: Sequence[Shown]) -> list[tuple[Shown, Place]]:
    return [(shown, (*corner(where, QUARTER), *QUARTER)) for shown, where in zip(four, CORNERS, strict=True)]


class Quarters(Windows):
    id = "core/windows-quarters-v1"
    skill = "drag"
    family = "arranging"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Give each window a quarter of the screen: {a} top left, {b} top right, {c} bottom left, {d} bottom "
        "right.",
        "Tile the four windows: {a} and {b} share the upper half of the screen, left and right, {c} and "
        "{d} the "
        "lower half.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        while True:
            four = several(draw, ("note", "note", "folder", "note"), scattered(draw, 4))
            ordered = draw.sample(four, 4)
            if all(far(one.place, place) for one, place in quarters(ordered)):
                break
        names = dict(zip("abcd", (shown.name for shown in ordered), strict=True))
        return {**names, "shown": four, "tiles": quarters(ordered)}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=tuple(shown.fills(place) for shown, place in p.tiles))

    def oracle(self, p: Params) -> Oracle:
        return Arranging(tiles=p.tiles)


class CloseAllButOne(Windows):
    id = "core/windows-close-all-but-one-v1"
    apps = ("openbox", "mousepad", "pcmanfm", "xterm")
    skill = "click"
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

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(p.target.stands(minimized=False), *(shown.closed() for shown in others(p))))

    def oracle(self, p: Params) -> Oracle:
        return Arranging(closing=others(p))


class SortOut(Windows):
    id = "core/windows-sort-out-v1"
    apps = ("openbox", "mousepad", "pcmanfm", "xterm")
    skill = "click"
    family = "cleaning up"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Close all terminals, minimize all folder windows, and maximize the window of {name}.",
        "I want to work on {name} only: maximize it, after closing the terminals and minimizing the folder "
        "windows.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        kinds: list[Kind] = ["terminal", "terminal", "terminal", "folder", "folder", "folder", "note"]
        shown = several(draw, draw.sample(kinds, 7), scattered(draw, 7, SMALL))
        kept = {f"{kind}s": [one for one in shown if one.kind == kind] for kind in ("terminal", "folder")}
        target = next(one for one in shown if one.kind == "note")
        return {**kept, "shown": shown, "target": target, "name": target.name}

    def success(self, p: Params) -> Criterion:
        gone = [shown.closed() for shown in p.terminals]
        away = [shown.stands(minimized=True) for shown in p.folders]
        return AllOf(of=(*gone, *away, p.target.stands(maximized=True)))

    def oracle(self, p: Params) -> Oracle:
        return Arranging(closing=p.terminals, hiding=p.folders, filling=[p.target])


def unsaved(draw: Draw, count: int) -> tuple[list[str], list[str]]:
    """Texts of notes, and what was added to each and not saved."""
    texts = [f"First {draw.word('topics')}\n" for _ in range(count)]
    return texts, [f"then {draw.word('topics')}" for _ in range(count)]


class SaveOrDiscard(Windows):
    id = "core/windows-save-or-discard-v1"
    apps = ("openbox", "mousepad")
    skill = "dialog"
    family = "cleaning up"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Close the four notes, all of which were changed. Save the changes in {a} and {b}, discard those in "
        "{c} and {d}.",
        "All four editors have unsaved changes. Close them, keeping the changes of {a} and {b} but not "
        "those of "
        "{c} and {d}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        texts, added = unsaved(draw, 4)
        shown = several(draw, ["note"] * 4, scattered(draw, 4), texts)
        changed = draw.sample(list(zip(shown, added, strict=True)), 4)
        names = dict(zip("abcd", (one.name for one, _more in changed), strict=True))
        return {**names, "shown": shown, "changed": changed}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*super().setup(p), *(Edit(title=shown.name, text=more) for shown, more in p.changed)]

    def success(self, p: Params) -> Criterion:
        files = [
            FileEquals(path=shown.name, text=shown.text + (more if index < 2 else ""))
            for index, (shown, more) in enumerate(p.changed)
        ]
        return AllOf(of=(*files, WindowAbsent(wm_class="Mousepad")))

    def oracle(self, p: Params) -> Oracle:
        return Arranging(closing=p.shown, keep=[p.a, p.b])


class TidyUp(Windows):
    id = "core/windows-tidy-up-v1"
    apps = ("openbox", "mousepad", "pcmanfm", "xterm")
    skill = "drag"
    family = "cleaning up"
    difficulty = Difficulty.HARD
    instructions = (
        "Tidy up: close the three changed notes {a}, {b} and {c}, saving them, and both terminals. Then give "
        "the others a quarter of the screen each: {d} top left, {e} top right, {f} bottom left, {g} "
        "bottom right.",
        "Save and close {a}, {b} and {c}, close the terminals, and tile what is left, a quarter of the "
        "screen "
        "each: {d} top left, {e} top right, {f} bottom left and {g} bottom right.",
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

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*super().setup(p), *(Edit(title=shown.name, text=more) for shown, more in p.changed)]

    def success(self, p: Params) -> Criterion:
        files = [FileEquals(path=shown.name, text=shown.text + more) for shown, more in p.changed]
        gone = [shown.closed() for shown in p.going]
        return AllOf(of=(*files, *gone, *(shown.fills(place) for shown, place in p.tiles)))

    def oracle(self, p: Params) -> Oracle:
        return Arranging(tiles=p.tiles, closing=p.going, keep=[p.a, p.b, p.c])


class GatherNotes(Windows):
    id = "core/windows-gather-notes-v1"
    apps = ("openbox", "mousepad")
    skill = "copy"
    family = "switching"
    difficulty = Difficulty.HARD
    instructions = (
        "Copy the text of {a}, {b} and {c}, in this order, to the end of {target}, and save {target}.",
        "Collect the texts of the windows {a}, {b} and {c} at the end of {target}, in this order, and "
        "save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        cells = draw.sample([(20, 40), (660, 40), (20, 440), (660, 440)], 4)
        places = [(x + draw.choice((0, 20, 40)), y + draw.choice((0, 15, 30)), 500, 280) for x, y in cells]
        texts = [f"{thing}: {draw.number(10, 99)}\n" for thing in draw.words(4, "products")]
        shown = several(draw, ["note"] * 4, places, texts)
        names = dict(zip(("a", "b", "c", "target"), (one.name for one in shown), strict=True))
        return {**names, "shown": shown}

    def success(self, p: Params) -> Criterion:
        *sources, target = p.shown
        kept = (FileEquals(path=one.name, text=one.text) for one in sources)
        gathered = target.text + "".join(one.text for one in sources)
        return AllOf(of=(FileEquals(path=target.name, text=gathered), *kept))

    def oracle(self, p: Params) -> Oracle:
        return Gathering(p.shown[:3], p.shown[3])


@dataclass(frozen=True)
class Gathering:
    """Copies one note after the other to the end of the target, by how much of it is there already."""

    sources: Sequence[Shown]
    target: Shown

    def act(self, view: View) -> Action:
        text = says(editor(view, self.target))
        wanted = [self.target.text + "".join(one.text for one in self.sources[:count]) for count in range(4)]
        if text not in wanted:
            return self._in(view, self.target, Action.key("ctrl", "z"))
        count = wanted.index(text)
        if count == len(self.sources):
            saved = view.read(self.target.name) == text
            return Action.done() if saved else self._in(view, self.target, Action.key("ctrl", "s"))
        source = self.sources[count]
        # Reading the clipboard takes a while, and nothing else changes it.
        copied = view.last in (None, COPY, TO_END) or (view.last is not None and view.last.point is not None)
        if copied and view.clipboard() == source.text:
            return self._in(view, self.target, TO_END, Action.key("ctrl", "v"))
        return self._in(view, source, Action.key("ctrl", "a"), COPY)

    def _in(self, view: View, shown: Shown, *actions: Action) -> Action:
        """Do these one after the other in a note's window."""
        window, field = shown.find(view), editor(view, shown)
        if window is None or field is None:
            return Action.wait()
        if not window.focused:
            return view.click(field)
        done = actions.index(view.last) + 1 if view.last in actions else 0
        return actions[done % len(actions)]


def editor(view: View, shown: Shown) -> Node | None:
    """The text of a note's window."""
    for frame in view.tree("mousepad").children:
        if shown.name in frame.name:
            return next((node for node in frame.walk() if node.role == "text" and node.box), None)
    return None


def says(widget: Node | None) -> str:
    return "" if widget is None else widget.text or ""


TEMPLATES: tuple[type[Template], ...] = (
    SideBySide,
    Quarters,
    CloseAllButOne,
    SortOut,
    SaveOrDiscard,
    TidyUp,
    GatherNotes,
)
