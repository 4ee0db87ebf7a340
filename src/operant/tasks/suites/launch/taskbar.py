"""The task bar: switch to a window, minimise and restore it, close what is not needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operant.apps import openbox
from operant.apps.lxpanel import ESCAPE, menu_is_open, task_button
from operant.apps.moves import Move
from operant.apps.openbox import Place
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep
from operant.tasks.suites.core.windows import Kind, WindowShown, several
from operant.tasks.suites.launch.desk import Desk, Steps
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

ABOVE_PANEL = (1280, 760)
SIZE = (440, 280)


@dataclass(frozen=True)
class Hidden(WindowShown):
    """A terminal that is minimised when the task begins."""

    def setup(self) -> list[SetupStep]:
        return [Launch(command=["xterm", "-iconic", "-T", self.name])]


class TaskBar(Desk):
    """The windows ``p.shown`` are open, the last one in front."""

    skill = "task bar"
    family = "windows"
    difficulty = Difficulty.EASY
    apps = ("panel", "mousepad", "pcmanfm", "xterm")

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [step for shown in p.shown for step in shown.setup()]


def places(draw: Draw, count: int) -> list[Place]:
    """Places for windows that leave the panel free and hide none of the others altogether."""
    while True:
        found = [draw.place(*SIZE, screen=ABOVE_PANEL) for _ in range(count)]
        pairs = [(a, b) for index, a in enumerate(found) for b in found[:index]]
        if all(abs(a[0] - b[0]) > 60 or abs(a[1] - b[1]) > 60 for a, b in pairs):
            return found


def windows(draw: Draw, count: int = 3, **more: Any) -> dict[str, Any]:
    """Some windows; the task is about ``target``, which is not in front."""
    kinds: list[Kind] = [draw.choice(("note", "folder", "terminal")) for _ in range(count)]
    shown = several(draw, kinds, places(draw, count))
    target = draw.choice(shown[:-1])
    return {"shown": shown, "target": target, "name": target.name, **more}


def others(p: Params) -> list[WindowShown]:
    return [shown for shown in p.shown if shown is not p.target]


def button_pressed(view: View, shown: WindowShown) -> Action:
    """Click the window's button of the task bar."""
    if menu_is_open(view):
        return ESCAPE
    window = shown.find(view)
    button = task_button(view, window.title) if window is not None else None
    return Action.wait() if button is None else view.click(button)


class Switch(TaskBar):
    id = "launch/switch-window-v1"
    instructions = (
        "Switch to the window of {name} by the task bar.",
        "Bring the window of {name} to the front.",
        "Click {name} in the task bar to switch to it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return windows(draw, draw.choice((2, 3, 4)))

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(p.target.open(focused=True), *(shown.open() for shown in others(p))))

    def oracle(self, p: Params) -> Oracle:
        def step(view: View) -> Action | None:
            window = p.target.find(view)
            return None if window is not None and window.focused else button_pressed(view, p.target)

        return Steps([step])


class Minimise(TaskBar):
    id = "launch/minimise-window-v1"
    instructions = (
        "Minimise the window of {name} by its button in the task bar.",
        "Minimise {name}, using the task bar.",
        "Hide the window of {name} by clicking it in the task bar.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        found = windows(draw, draw.choice((2, 3)))
        target = draw.choice(found["shown"])
        return {**found, "target": target, "name": target.name}

    def success(self, p: Params) -> Criterion:
        rest = (shown.stands(minimized=False) for shown in others(p))
        return AllOf(of=(p.target.stands(minimized=True), *rest))

    def oracle(self, p: Params) -> Oracle:
        return Steps([self._visible(other) for other in others(p)] + [self._away(p.target)])

    @staticmethod
    def _visible(shown: WindowShown) -> Move:
        return _restored(shown)

    @staticmethod
    def _away(shown: WindowShown) -> Move:
        """A click on the button of the window in front minimises it; on that of another one, shows that one."""

        def step(view: View) -> Action | None:
            window = shown.find(view)
            return None if window is not None and window.minimized else button_pressed(view, shown)

        return step


class RestoreWindow(TaskBar):
    id = "launch/restore-window-v1"
    instructions = (
        "The window {name} is minimised. Restore it by the task bar.",
        "Restore the minimised window {name}.",
        "Get the window {name} back on the screen.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        count = draw.choice((1, 2))
        names = draw.words(count + 1, "topics")
        shown = several(draw, ["note"], places(draw, 1))
        hidden = [Hidden("terminal", name, (0, 0, 1, 1)) for name in names[1:]]
        target = hidden[0]
        return {"shown": [*hidden, *shown], "target": target, "name": target.name}

    def success(self, p: Params) -> Criterion:
        stays = [shown.stands(minimized=isinstance(shown, Hidden)) for shown in others(p)]
        return AllOf(of=(p.target.stands(minimized=False), *stays))

    def oracle(self, p: Params) -> Oracle:
        return Steps([_restored(p.target)])


def _restored(shown: WindowShown) -> Move:
    def step(view: View) -> Action | None:
        window = shown.find(view)
        return None if window is not None and not window.minimized else button_pressed(view, shown)

    return step


class Close(TaskBar):
    id = "launch/close-window-v1"
    skill = "close"
    instructions = (
        "Close the window of {name}. Leave the others open.",
        "{name} is not needed any more. Close its window.",
        "Close {name} and nothing else.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return windows(draw, draw.choice((2, 3)))

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(p.target.closed(), *(shown.open() for shown in others(p))))

    def oracle(self, p: Params) -> Oracle:
        return Steps([_closed(p.target)])


def _closed(shown: WindowShown) -> Move:
    def step(view: View) -> Action | None:
        window = shown.find(view)
        if window is None:
            return None
        if window.minimized or not window.focused:
            return button_pressed(view, shown)
        return openbox.press(view, window, "close")

    return step


class CloseOthers(TaskBar):
    id = "launch/close-others-v1"
    skill = "close"
    instructions = (
        "Close all windows but that of {name}.",
        "Only {name} is needed. Close every other window.",
        "Close everything except {name}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return windows(draw, draw.choice((3, 4)))

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(p.target.open(), *(shown.closed() for shown in others(p))))

    def oracle(self, p: Params) -> Oracle:
        def step(view: View) -> Action | None:
            # The one in front first: nothing covers its button.
            for window in reversed(view.windows):
                for shown in others(p):
                    if shown.is_it(window):
                        if window.focused:
                            return openbox.press(view, window, "close")
                        return button_pressed(view, shown)
            return None

        return Steps([step])


class RestoreAndClose(TaskBar):
    id = "launch/restore-one-close-other-v1"
    skill = "close"
    unseen = True
    instructions = ("Restore the minimised window {name}, and close the window of {other}.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        hidden = Hidden("terminal", draw.word("topics"), (0, 0, 1, 1))
        (shown,) = several(draw, ["note"], places(draw, 1))
        return {"shown": [hidden, shown], "target": hidden, "name": hidden.name, "other": shown.name}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(p.target.stands(minimized=False), p.shown[1].closed()))

    def oracle(self, p: Params) -> Oracle:
        return Steps([_closed(p.shown[1]), _restored(p.target)])


TEMPLATES: tuple[type[Template], ...] = (
    Switch,
    Minimise,
    RestoreWindow,
    Close,
    CloseOthers,
    RestoreAndClose,
)
