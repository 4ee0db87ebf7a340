"""One click on a large button: what a model that sees a thousandth of the screen's pixels can still learn to do.

The calculator stands anywhere and shows a number; the instruction says which of its keys is wanted. Numbers come
from a small pool, so that they do not tell one instance from another: where to click is only in the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.criteria import Accessible, Criterion
from operant.tasks.draw import Draw, is_heldout_number
from operant.tasks.oracle import Milestone, Milestones, Oracle, View
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.calculator import CONFIG, SIZE
from operant.tasks.suites.core.keypad import button, shown, written
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

LOWEST, HIGHEST = 12, 60


class Shown(Template):
    """A calculator that shows ``p.number``; ``key`` has to be pressed, and it then shows ``result``."""

    apps: ClassVar[tuple[str, ...]] = ("galculator",)
    skill = "click"
    family = "one click"
    difficulty = Difficulty.EASY
    key: ClassVar[str]

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"number": draw.number(LOWEST, HIGHEST, doubles=False), "place": draw.place(*SIZE)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        remembered = f'[general]\nremembers_display=true\nremembered_valuex="{p.number}"\n'
        return [WriteFile(path=CONFIG, text=remembered), Launch(command=["galculator"], place=p.place)]

    def result(self, p: Params) -> str:
        raise NotImplementedError

    def success(self, p: Params) -> Criterion:
        return Accessible(app="galculator", role="text", text=self.result(p))

    def oracle(self, p: Params) -> Oracle:
        def act(view: View) -> Action:
            return view.click(button(view, self.key))

        return Milestones([Milestone(self.key, lambda view: shown(view) == self.result(p), act)])


class Clear(Shown):
    id = "clicks/calculator-clear-v1"
    instructions = ("Clear the {number} from the calculator.",)
    key = "AC"

    def result(self, p: Params) -> str:
        return "0"


class ChangeSign(Shown):
    id = "clicks/calculator-sign-v1"
    instructions = ("Make the calculator's {number} negative.",)
    key = "+/-"

    def result(self, p: Params) -> str:
        return f"-{p.number}"


class TakeRoot(Shown):
    id = "clicks/calculator-root-v1"
    instructions = ("Take the square root of the calculator's {number}.",)
    key = "sqrt"

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        squares = [root * root for root in range(4, 40)]
        mine = [number for number in squares if is_heldout_number(number) == (draw.split == "heldout")]
        square = draw.choice(mine)
        return {"number": draw.number(square, square), "place": draw.place(*SIZE)}

    def result(self, p: Params) -> str:
        return written(p.number**0.5)


TEMPLATES: list[Template] = [Clear(), ChangeSign(), TakeRoot()]
