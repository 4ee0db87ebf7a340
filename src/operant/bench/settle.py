"""Whether a settled frame stays as it is: acts in applications, then watches the screen for a second.

``fast`` is what small agents get while they train: the frame that ``perform`` returns. ``sure`` is what hosted and
vision-language models and people get: ``settle(SURE_MS)`` after it. Carets and the look of a pressed button do not
count as content. Knows how to act in an application, not how settling works.
"""

from __future__ import annotations

import itertools
import random
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.actions.describe import describe
from operant.apps import chromium
from operant.bench.record import check_measured, median
from operant.config.desktop import SURE_MS
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import AccessibilityError, InvalidAction
from operant.types import Action, Node, Point

__all__ = ["APPLICATIONS", "GOALS", "MODES", "changed_content", "measure_settling"]

Progress = Callable[[str], None]
Frame = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]  # left, top, right, bottom

MODES = ("sure", "fast")
#: The worst application may be as bad as this: any with ``sure``, those of suites with ``fast``.
GOALS = {
    "sure_stale_content": 0.005,
    "sure_step_p50_ms": 150.0,
    "fast_stale_content": 0.02,
    "fast_step_p50_ms": 12.0,
}
WATCHED_S = 1.0
LOOK_S = 0.01  # between two looks at a screen that should not change
READY_S = 30.0
CARET_PX = (3, 48)  # at most so wide and so high
BUTTON_MARGIN_PX = 3  # focus rings and shadows are drawn around a button
BUTTONS = frozenset({"push button", "toggle button", "button", "radio button", "check box", "menu item"})
CLICKED = BUTTONS | {"text", "entry", "list item", "table cell", "icon", "page tab", "tree item", "link"}
#: Widgets that end the application or open something beyond it.
AVOIDED = ("close", "quit", "exit", "help", "about", "online", "print", "minimi", "maximi", "shut")


@dataclass(frozen=True)
class ActedApplication:
    """An application, what is typed into it, and which of its keys open a menu and a dialog."""

    command: str
    suite: bool = False
    text: str = "abc"
    menu: str = "f10"
    dialog: str = "ctrl+o"


def _office(kind: str, text: str) -> ActedApplication:
    return ActedApplication(f"soffice --{kind} --norestore --nologo", suite=True, text=text)


APPLICATIONS: dict[str, ActedApplication] = {
    # Applications of the suites.
    "galculator": ActedApplication("galculator", suite=True, text="12+34", dialog="ctrl+p"),
    "mousepad": ActedApplication("mousepad", suite=True),
    "pcmanfm": ActedApplication("pcmanfm", suite=True, dialog="ctrl+shift+n"),
    "xterm": ActedApplication("xterm", suite=True, text="ls", menu="ctrl+l", dialog="ctrl+u"),
    "chromium": ActedApplication("chromium", suite=True, dialog="ctrl+f"),
    "libreoffice-calc": _office("calc", "=12+34"),
    "libreoffice-writer": _office("writer", "Some words. "),
    "mate-calc": ActedApplication("mate-calc", suite=True, text="12+34", dialog="ctrl+i"),
    # Applications that no suite uses, of several toolkits.
    "qalculate-gtk": ActedApplication("qalculate-gtk", text="12+34", dialog="ctrl+s"),
    "l3afpad": ActedApplication("l3afpad"),
    "geany": ActedApplication("geany"),
    "featherpad": ActedApplication("featherpad"),
    "kcalc": ActedApplication("kcalc", text="12+34", menu="alt+f", dialog="ctrl+c"),
    "gimp": ActedApplication("gimp -n -s"),
    "gnome-calculator": ActedApplication("gnome-calculator", text="12+34", dialog="ctrl+?"),
    "firefox": ActedApplication("firefox-esr", dialog="ctrl+f"),
}


def measure_settling(
    progress: Progress, count: int, applications: Sequence[str] = (), seed: int = 0
) -> dict[str, Any]:
    """Perform so many actions in each application and mode; say how often content changed afterwards."""
    check_measured(applications, APPLICATIONS)
    found: dict[str, Any] = {}
    with SandboxDesktop() as desktop:
        for name in applications or APPLICATIONS:
            application = APPLICATIONS[name]
            program = shlex.split(application.command)[0]
            if shutil.which(program) is None:
                found[name] = {"missing": f"{program} is not installed"}
                continue
            found[name] = {}
            for mode in MODES:
                progress(f"{name} {mode}")
                desktop.reset()
                found[name][mode] = act_in(desktop, application, mode, count, seed)
    return {"applications": found, **_worst(found)}


def _worst(found: dict[str, Any]) -> dict[str, float]:
    """The highest figure of each mode: ``sure`` over all applications, ``fast`` over those of suites."""
    rows = {name: one for name, one in found.items() if "missing" not in one}
    ours = {name: one for name, one in rows.items() if APPLICATIONS[name].suite}
    worst: dict[str, float] = {}
    for mode, chosen in (("sure", rows), ("fast", ours)):
        for key in ("stale_content", "step_p50_ms"):
            worst[f"{mode}_{key}"] = max((one[mode][key] for one in chosen.values()), default=0.0)
    return worst


def act_in(
    desktop: Desktop, application: ActedApplication, mode: str, count: int, seed: int
) -> dict[str, Any]:
    """Open an application, act, and watch the screen after every action."""
    _open(desktop, application)
    milliseconds: list[float] = []
    late: list[dict[str, Any]] = []
    for action in itertools.islice(_actions(desktop, application, seed), count):
        began = time.monotonic()
        try:
            frame = desktop.perform(action)
        except InvalidAction:
            continue
        if mode == "sure":
            desktop.settle(SURE_MS)
            frame = desktop.frame()
        milliseconds.append((time.monotonic() - began) * 1000)
        if (change := _watch(desktop, frame)) is not None:
            after_ms, box = change
            late.append({"action": describe(action), "after_ms": round(after_ms), "box": box})
    steps = len(milliseconds)
    return {
        "steps": steps,
        "stale_content": round(len(late) / steps, 4) if steps else 1.0,
        "step_p50_ms": round(median(milliseconds), 1) if steps else 0.0,
        "late": late,
    }


def _open(desktop: Desktop, application: ActedApplication) -> None:
    argv = shlex.split(application.command)
    if argv == ["chromium"]:
        desktop.files.write("page.html", PAGE)
        argv = list(chromium.APP.argv("file:///home/user/page.html"))
    desktop.launch(argv, timeout_s=READY_S)
    desktop.settle(1500.0)


PAGE = """<!doctype html><meta charset=utf-8><title>Page</title><h1>A page</h1>
<input autofocus value=""> <button onclick="this.nextSibling.textContent+=' pressed'">Press</button><p></p>
""" + "".join(f"<p>Line {number}</p>" for number in range(80))


def _actions(desktop: Desktop, application: ActedApplication, seed: int) -> Iterator[Action]:
    """Typed text, keys, clicks on widgets, scrolling, a menu and a dialog, in turn and without end."""
    rng = random.Random(seed)
    escape = Action.key("escape")
    while True:
        yield Action.type(application.text)
        yield Action.key("enter")
        yield _click(desktop, rng)
        yield escape
        yield Action.scroll(_middle(desktop), dy=3)
        yield Action.key(*application.menu.split("+"))
        yield escape
        yield Action.key("backspace")
        yield Action.key(*application.dialog.split("+"))
        yield escape


def _middle(desktop: Desktop) -> Point:
    windows = desktop.windows()
    if not windows:
        return Point(0.5, 0.5)
    window = windows[-1]
    x, y = window.x + window.width // 2, window.y + window.height // 2
    width, height = desktop.size
    return Point.from_pixel(min(max(x, 0), width - 1), min(max(y, 0), height - 1), desktop.size)


def _click(desktop: Desktop, rng: random.Random) -> Action:
    """On a widget by lot, or in the middle of the window where none is known."""
    width, height = desktop.size
    chosen = [
        widget.box
        for widget in _widgets(desktop)
        if widget.role in CLICKED
        and widget.box is not None
        and 0 <= widget.box[0] + widget.box[2] / 2 < width
        and 0 <= widget.box[1] + widget.box[3] / 2 < height
        and widget.name
        and not any(word in widget.name.lower() for word in AVOIDED)
        and {"showing", "enabled"} <= set(widget.states)
    ]
    if not chosen:
        return Action.click(_middle(desktop))
    x, y, width, height = rng.choice(chosen)
    return Action.click(Point.from_pixel(x + width / 2, y + height / 2, desktop.size))


def _widgets(desktop: Desktop) -> list[Node]:
    try:
        return list(desktop.accessibility(timeout_s=5.0).walk())
    except AccessibilityError:
        return []


def _watch(desktop: Desktop, frame: Frame) -> tuple[float, Box] | None:
    """When content first changed after a frame, and where; None if it stayed for a second."""
    began = time.monotonic()
    first: tuple[float, Box] | None = None
    while time.monotonic() < began + WATCHED_S:
        time.sleep(LOOK_S)
        now = desktop.frame()
        if np.array_equal(now, frame):
            continue
        box = changed_content(frame, now, ())
        if box is not None:
            after_ms = (time.monotonic() - began) * 1000
            first = (after_ms, box)
            break
    if first is None:
        return None
    return first if changed_content(frame, now, _button_boxes(desktop)) is not None else None


def _button_boxes(desktop: Desktop) -> list[Box]:
    margin = BUTTON_MARGIN_PX
    boxes = [widget.box for widget in _widgets(desktop) if widget.role in BUTTONS and widget.box]
    return [(x - margin, y - margin, x + w + margin, y + h + margin) for x, y, w, h in boxes]


def changed_content(before: Frame, after: Frame, buttons: Sequence[Box]) -> Box | None:
    """The box around what differs, unless that is a caret or lies within a button."""
    changed = (before != after).any(axis=2)
    for left, top, right, bottom in buttons:
        changed[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)] = False
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    if not len(rows):
        return None
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    if box[2] - box[0] <= CARET_PX[0] and box[3] - box[1] <= CARET_PX[1]:
        return None
    return box
