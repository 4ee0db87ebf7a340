"""One click on something large: what a model that sees a fortieth of the screen's pixels can still learn to do.

A calculator and a terminal stand beside each other, anywhere in their halves of the screen; the one that is asked
for has to get the focus. Numbers come from a small pool, so that they do not tell one instance from another: where
to click is only in the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.criteria import Criterion, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.oracle import Milestone, Milestones, Oracle, View
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.calculator import CONFIG
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

SIZES = {"Galculator": (331, 343), "XTerm": (420, 300)}
HALF = (640, 800)
LOWEST, HIGHEST = 12, 60


class FocusOne(Template):
    """Click the window of class ``wanted``; the other one has the focus."""

    apps: ClassVar[tuple[str, ...]] = ("galculator", "xterm")
    skill = "click"
    family = "focus"
    difficulty = Difficulty.EASY
    wanted: ClassVar[str]

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        number = draw.number(LOWEST, HIGHEST)
        left = draw.choice(tuple(SIZES))
        places = {}
        for name, size in SIZES.items():
            x, y, width, height = draw.place(*size, HALF)
            places[name] = (x if name == left else x + HALF[0], y, width, height)
        return {"number": number, "places": places}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        remembered = f'[general]\nremembers_display=true\nremembered_valuex="{p.number}"\n'
        opened = {
            "Galculator": Launch(command=["galculator"], place=p.places["Galculator"]),
            "XTerm": Launch(command=["xterm", "-T", f"terminal {p.number}"], place=p.places["XTerm"]),
        }
        last = next(name for name in opened if name != self.wanted)  # it gets the focus
        return [WriteFile(path=CONFIG, text=remembered), opened[self.wanted], opened[last]]

    def success(self, p: Params) -> Criterion:
        title = "galculator" if self.wanted == "Galculator" else f"terminal {p.number}"
        return WindowTitle(title=title, wm_class=self.wanted, focused=True)

    def oracle(self, p: Params) -> Oracle:
        def has_it(view: View) -> bool:
            return any(window.focused for window in view.windows if window.wm_class == self.wanted)

        def act(view: View) -> Action:
            window = next((one for one in view.windows if one.wm_class == self.wanted), None)
            if window is None:
                return Action.wait()
            return Action.click(view.point(window.x + window.width / 2, window.y + window.height / 2))

        return Milestones([Milestone("focus", has_it, act)])


class FocusCalculator(FocusOne):
    id = "clicks/focus-calculator-v1"
    instructions = ("Click the calculator that shows {number}.",)
    wanted = "Galculator"


class FocusTerminal(FocusOne):
    id = "clicks/focus-terminal-v1"
    instructions = ("Click the terminal {number}.",)
    wanted = "XTerm"


TEMPLATES: list[Template] = [FocusCalculator(), FocusTerminal()]
