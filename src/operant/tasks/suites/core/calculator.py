"""Galculator: enter numbers, compute, copy, change the mode, and report what is shown."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps import galculator
from operant.apps.galculator import Press, chain, click, digits, keys, text, written
from operant.apps.moves import Goal
from operant.tasks.changes import Change, answered
from operant.tasks.criteria import Accessible, ClipboardEquals, Criterion
from operant.tasks.draw import Draw, is_heldout_number
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES", "CalculatorTask", "operands", "shown", "shows", "to_scientific"]

#: What the display says below the number in scientific mode, and only there.
MODULES = "DEC  HEX  OCT  BIN     DEG  RAD  GRAD     ALG  RPN  FORM"
BESIDE = (840, 800)  # leaves room for the window of the scientific mode


class CalculatorTask(Template):
    """What all calculator tasks have in common: the calculator is open somewhere on the screen."""

    apps: ClassVar[tuple[str, ...]] = ("galculator",)
    family = "arithmetic"
    room: ClassVar[tuple[int, int]] = (1280, 800)
    """The part of the screen in which its window is placed."""

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        """What is computed."""
        return {}

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**self.numbers(draw), "place": draw.place(*galculator.SIZE, self.room)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [Launch(command=["galculator"], place=p.place)]


def operands(
    draw: Draw, names: Sequence[str], low: int = 10, high: int = 99, *, alone: bool = False, avoid: str = ""
) -> dict[str, int]:
    """Named numbers that begin with different digits, none of them to ``avoid``, so that no two look alike halfway.

    They can be typed: galculator's keys press its buttons, and GTK ignores a button that is pressed again
    within a quarter of a second. So no digit stands twice in a number or in two that are typed one after the
    other; and unless each is typed ``alone``, in all of them together.
    """
    while True:
        numbers = [str(number) for number in draw.numbers(len(names), low, high, doubles=False)]
        heads = [number[0] for number in numbers]
        if len({*heads, *avoid}) < len(names) + len(avoid):
            continue
        near = [a + b for a, b in itertools.pairwise(numbers)] if alone else ["".join(numbers)]
        if all(len(set(typed)) == len(typed) for typed in [*numbers, *near]):
            return dict(zip(names, map(int, numbers), strict=True))


def shows(number: object) -> Criterion:
    return Accessible(app="galculator", role="text", text=str(number))


def shown(*presses: Press, also: Sequence[Criterion] = ()) -> Change:
    """The calculator shows what is there after the last of these presses."""
    return Change(galculator.pressed(*presses), holds=[shows(presses[-1].after), *also])


to_scientific = galculator.through_menu("View", "Scientific Mode")


class TypeSum(CalculatorTask):
    id = "core/calculator-type-sum-v1"
    skill = "type"
    difficulty = Difficulty.EASY
    instructions = (
        "Compute {a} + {b} with the calculator.",
        "Use the calculator to add {a} and {b}.",
        "What is {a} plus {b}? Let the calculator show it.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return operands(draw, "ab", 10, 999)

    def changes(self, p: Params) -> Sequence[Change]:
        a, b = str(p.a), str(p.b)
        return [shown(text(a), keys("+", a), text(b), keys("enter", str(p.a + p.b)))]


class ClickNumber(CalculatorTask):
    id = "core/calculator-click-number-v1"
    skill = "click"
    gui_only = True
    difficulty = Difficulty.EASY
    instructions = (
        "Enter the number {number} by clicking the calculator's buttons.",
        "Click {number} into the calculator.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return {"number": draw.number(10, 9999)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(galculator.number_clicked(str(p.number)), holds=[shows(p.number)])]


class TypeExpression(CalculatorTask):
    id = "core/calculator-expression-v1"
    skill = "type"
    family = "chains"
    difficulty = Difficulty.EASY
    instructions = (
        "Work out {expression} on the calculator.",
        "Let the calculator evaluate {expression} and leave the result on its display.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c = operands(draw, "abc").values()
        low = draw.choice("+-")
        value = a * b + c if low == "+" else a * b - c
        return {"expression": f"{a}*{b}{low}{c}", "value": str(value)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [shown(text(p.expression), keys("enter", p.value))]


class SquareRoot(CalculatorTask):
    id = "core/calculator-square-root-v1"
    skill = "click"
    family = "functions"
    difficulty = Difficulty.EASY
    instructions = (
        "Find the square root of {number} with the calculator.",
        "Enter {number} into the calculator and take its square root.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        # Galculator rounds other roots in its own way.
        squares = [root * root for root in range(4, 100)]
        mine = [number for number in squares if is_heldout_number(number) == (draw.split == "heldout")]
        square = draw.choice([number for number in mine if len({*str(number)}) == len(str(number))])
        return {"number": draw.number(square, square)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [shown(text(str(p.number)), click("sqrt", written(p.number**0.5)))]


class PercentOf(CalculatorTask):
    id = "core/calculator-percent-v1"
    skill = "read"
    family = "functions"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "How much is {percent} % of {base}? Enter {percent} % {base} = on the calculator and report the number.",
        "Use the calculator's % button to find {percent} percent of {base}, leave it on the display and answer with it.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return operands(draw, ("percent", "base"), 11, 98)

    def changes(self, p: Params) -> Sequence[Change]:
        percent, base, value = str(p.percent), str(p.base), written(p.percent * p.base / 100)
        entered = shown(text(percent), click("%", percent), text(base), keys("enter", value))
        return [entered, answered(value, numeric=True)]


class CopyProduct(CalculatorTask):
    id = "core/calculator-copy-product-v1"
    skill = "copy"
    family = "clipboard"
    difficulty = Difficulty.EASY
    instructions = (
        "Multiply {a} by {b} with the calculator and copy the result to the clipboard.",
        "Copy the product of {a} and {b}, computed with the calculator.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return operands(draw, "ab")

    def changes(self, p: Params) -> Sequence[Change]:
        a, b, product = str(p.a), str(p.b), str(p.a * p.b)
        presses = [text(a), keys("*", a), text(b), keys("enter", product), keys("ctrl+c", product)]
        return [shown(*presses, also=[ClipboardEquals(text=product)])]


class ScientificMode(CalculatorTask):
    id = "core/calculator-scientific-mode-v1"
    skill = "menu"
    family = "modes"
    difficulty = Difficulty.EASY
    room = BESIDE
    instructions = (
        "Switch the calculator to scientific mode and enter {number}.",
        "I need the scientific calculator: change the mode in the View menu, then type {number} into it.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return operands(draw, ("number",), 10, 9999)

    def changes(self, p: Params) -> Sequence[Change]:
        number = str(p.number)
        entered = Goal(
            lambda view: galculator.number_shown(view) == number, galculator.pressed(text(number)).act
        )
        return [
            Change(Goal(galculator.is_scientific, to_scientific)),
            Change(entered, holds=[shows(f"{number}\n {MODULES}")]),
        ]


class ClearAndNegate(CalculatorTask):
    id = "core/calculator-negative-number-v1"
    skill = "click"
    family = "entering"
    difficulty = Difficulty.EASY
    instructions = (
        "The calculator still shows an old number. Clear it and enter minus {number}.",
        "Replace what the calculator shows by the negative number -{number}.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return operands(draw, ("number", "old"), 10, 999)

    def setup(self, p: Params) -> Sequence[SetupStep]:
        remembered = f'[general]\nremembers_display=true\nremembered_valuex="{p.old}"\n'
        return [WriteFile(path=galculator.CONFIG, text=remembered), *super().setup(p)]

    def changes(self, p: Params) -> Sequence[Change]:
        return [shown(text(str(p.number)), click("+/-", f"-{p.number}"))]


class ClickDifference(CalculatorTask):
    id = "core/calculator-click-difference-v1"
    skill = "click"
    gui_only = True
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Subtract {b} from {a} by clicking the calculator's buttons with the mouse.",
        "With mouse clicks only, let the calculator compute {a} - {b}.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        b, a = sorted(operands(draw, "ab", 100, 999).values())
        return {"a": a, "b": b}

    def changes(self, p: Params) -> Sequence[Change]:
        return [shown(*chain([p.a, p.b], "-", clicked=True))]


class Parentheses(CalculatorTask):
    id = "core/calculator-parentheses-v1"
    skill = "click"
    gui_only = True
    family = "chains"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Compute ({a} + {b}) * {c} with the calculator, using its bracket buttons.",
        "Click the expression ({a} + {b}) * {c} into the calculator, brackets included, and get its value.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return operands(draw, "abc")

    def changes(self, p: Params) -> Sequence[Change]:
        total = str(p.a + p.b)
        first = [
            click("(", "0"),
            *digits(str(p.a)),
            click("+", str(p.a)),
            *digits(str(p.b)),
            click(")", total),
        ]
        return [shown(*first, click("*", total), *digits(str(p.c)), click("=", str((p.a + p.b) * p.c)))]


class AddPrices(CalculatorTask):
    id = "core/calculator-add-prices-v1"
    skill = "type"
    family = "chains"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Add up the prices {prices} with the calculator.",
        "What do I pay in total for things at {prices}? Let the calculator show it.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        prices: list[str] = []
        for number in operands(draw, "abcd", 10, 98, alone=True).values():
            near = f"{number}{''.join(prices[-1:])}"
            prices.append(f"{number}.{draw.choice([digit for digit in '123456789' if digit not in near])}")
        return {"prices": f"{', '.join(prices[:3])} and {prices[3]}", "each": prices}

    def changes(self, p: Params) -> Sequence[Change]:
        return [shown(*chain(p.each))]


class AverageOfFour(CalculatorTask):
    id = "core/calculator-average-v1"
    skill = "read"
    family = "chains"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Find the average of {a}, {b}, {c} and {d} with the calculator and report it.",
        "Four measurements: {a}, {b}, {c}, {d}. Compute their mean with the calculator, leave it on the display "
        "and answer with it.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return operands(draw, "abcd", 10, 99, alone=True, avoid="4")

    def changes(self, p: Params) -> Sequence[Change]:
        numbers = [p.a, p.b, p.c, p.d]
        mean = written(sum(numbers) / 4)
        divided = [click("/", str(sum(numbers))), click("4", "4"), click("=", mean)]
        return [shown(*chain(numbers), *divided), answered(mean, numeric=True)]


class ClickBill(CalculatorTask):
    id = "core/calculator-click-bill-v1"
    skill = "click"
    gui_only = True
    family = "chains"
    difficulty = Difficulty.HARD
    instructions = (
        "Click {a} * {b} + {c} * {d} - {e} into the calculator with the mouse and get the result.",
        "A bill: {a} times {b}, plus {c} times {d}, less {e}. Work it out with clicks on the calculator.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        high = operands(draw, "ac", 100, 999)
        heads = "".join(str(number)[0] for number in high.values())
        return {**high, **operands(draw, "bde", 10, 99, avoid=heads)}

    def changes(self, p: Params) -> Sequence[Change]:
        product, total = p.a * p.b, p.a * p.b + p.c * p.d
        entered = (
            (p.a, "*", p.a),
            (p.b, "+", product),
            (p.c, "*", p.c),
            (p.d, "-", total),
            (p.e, "=", total - p.e),
        )
        presses = [(*digits(str(number)), click(key, str(value))) for number, key, value in entered]
        return [shown(*itertools.chain(*presses))]


TEMPLATES: tuple[type[Template], ...] = (
    TypeSum,
    ClickNumber,
    TypeExpression,
    SquareRoot,
    PercentOf,
    CopyProduct,
    ScientificMode,
    ClearAndNegate,
    ClickDifference,
    Parentheses,
    AddPrices,
    AverageOfFour,
    ClickBill,
)
