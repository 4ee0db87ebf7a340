"""One click on something large: what a model that sees a fortieth of the screen's pixels can still learn to do.

A coloured terminal and a calculator stand beside each other, each anywhere in its half of the screen; the terminal
has to get the focus. Numbers come from a small pool, so that they do not tell one instance from another: where to
click is only in the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps import xterm
from operant.apps.galculator import CONFIG
from operant.apps.moves import Goal
from operant.apps.view import View
from operant.tasks.changes import Change
from operant.tasks.criteria import WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Window

__all__ = ["TEMPLATES"]

SIZES = {"Galculator": (331, 343), "XTerm": (460, 420)}
HALF = (640, 800)
LOWEST, HIGHEST = 12, 60


class FocusTerminal(Template):
    """Click the terminal; the calculator beside it has the focus."""

    apps: ClassVar[tuple[str, ...]] = ("galculator", "xterm")
    skill = "click"
    family = "focus"
    difficulty = Difficulty.EASY
    colour: ClassVar[str]

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        number = draw.number(LOWEST, HIGHEST)
        left = draw.choice(tuple(SIZES))
        places = {}
        for name, size in SIZES.items():
            x, y, width, height = draw.place(*size, HALF)
            places[name] = (x if name == left else x + HALF[0], y, width, height)
        return {"number": number, "places": places}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        terminal = ["xterm", "-bg", self.colour, "-T", f"terminal {p.number}"]
        return [
            WriteFile(path=CONFIG, text="[general]\n"),
            Launch(command=terminal, place=p.places["XTerm"]),
            Launch(command=["galculator"], place=p.places["Galculator"]),  # the last one gets the focus
        ]

    def changes(self, p: Params) -> Sequence[Change]:
        def window(view: View) -> Window | None:
            return view.window(wm_class=xterm.APP.wm_class)

        def has_it(view: View) -> bool:
            return (found := window(view)) is not None and found.focused

        def act(view: View) -> Action:
            found = window(view)
            if found is None:
                return Action.wait()
            return Action.click(view.point(found.x + found.width / 2, found.y + found.height / 2))

        title = WindowTitle(title=f"terminal {p.number}", wm_class=xterm.APP.wm_class, focused=True)
        return [Change(Goal(has_it, act), holds=[title])]


class FocusRed(FocusTerminal):
    id = "clicks/focus-red-v1"
    instructions = ("Click the red terminal {number}.",)
    colour = "red"


class FocusBlue(FocusTerminal):
    id = "clicks/focus-blue-v1"
    instructions = ("Click the blue terminal {number}.",)
    colour = "blue"


TEMPLATES: list[Template] = [FocusRed(), FocusBlue()]
