"""Galculator: enter numbers, compute, copy, change the mode, and report what is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps.moves import Milestone, Milestones
from operant.apps.view import View
from operant.tasks.criteria import Accessible, AllOf, Answer, ClipboardEquals, Criterion
from operant.tasks.draw import Draw, is_heldout_number
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.keypad import (
    Keypad,
    button,
    chain,
    click,
    digits,
    keys,
    operands,
    shown,
    text,
    written,
)
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Difficulty, Node

__all__ = ["TEMPLATES"]

SIZE = (331, 343)
CONFIG = ".config/galculator/galculator.conf"
#: What the display says below the number in scientific mode, and only there.
MODULES = "DEC  HEX  OCT  BIN     DEG  RAD  GRAD     ALG  RPN  FORM"


def opened(p: Params) -> list[SetupStep]:
    return [Launch(command=["galculator"], place=p.place)]


def shows(number: str) -> Criterion:
    return Accessible(app="galculator", role="text", text=number)


def menu_entry(view: View, name: str) -> Node | None:
    return next(
        (
            widget
            for widget in view.widgets(name=name, app="galculator")
            if widget.role in ("menu", "menu item", "radio menu item")
        ),
        None,
    )


def through_menu(*names: str) -> Any:
    """Click the entry that leads on: the last of these that is there."""

    def act(view: View) -> Action:
        return view.click(next(entry for name in reversed(names) if (entry := menu_entry(view, name))))

    return act


def scientific(view: View) -> bool:
    found = view.widget("text", app="galculator")
    return found is not None and "HEX" in (found.text or "")


class Calculator(Template):
    """What all calculator tasks have in common: the calculator is open somewhere on the screen."""

    apps: ClassVar[tuple[str, ...]] = ("galculator",)
    family = "arithmetic"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return opened(p)


class TypeSum(Calculator):
    id = "core/calculator-type-sum-v1"
    skill = "type"
    difficulty = Difficulty.EASY
    instructions = (
        "Compute {a} + {b} with the calculator.",
        "Use the calculator to add {a} and {b}.",
        "What is {a} plus {b}? Let the calculator show it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b = operands(draw, 2, 10, 999)
        return {"a": a, "b": b, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(str(p.a + p.b))

    def oracle(self, p: Params) -> Oracle:
        a, b = str(p.a), str(p.b)
        return Keypad([text(a), keys("+", a), text(b), keys("enter", str(p.a + p.b))])


class ClickNumber(Calculator):
    id = "core/calculator-click-number-v1"
    skill = "click"
    difficulty = Difficulty.EASY
    instructions = (
        "Enter the number {number} by clicking the calculator's buttons.",
        "Click {number} into the calculator.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"number": draw.number(10, 9999), "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(str(p.number))

    def oracle(self, p: Params) -> Oracle:
        number = str(p.number)

        def act(view: View) -> Action:
            now = shown(view).removeprefix("0")
            fits = number.startswith(now) and len(now) < len(number)
            return view.click(button(view, number[len(now)] if fits else "AC"))

        return Milestones([Milestone("number", lambda view: shown(view) == number, act)])


class TypeExpression(Calculator):
    id = "core/calculator-expression-v1"
    skill = "type"
    family = "chains"
    difficulty = Difficulty.EASY
    instructions = (
        "Work out {expression} on the calculator.",
        "Let the calculator evaluate {expression} and leave the result on its display.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c = operands(draw, 3)
        low = draw.choice("+-")
        value = a * b + c if low == "+" else a * b - c
        return {"expression": f"{a}*{b}{low}{c}", "value": str(value), "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(p.value)

    def oracle(self, p: Params) -> Oracle:
        return Keypad([text(p.expression), keys("enter", p.value)])


class SquareRoot(Calculator):
    id = "core/calculator-square-root-v1"
    skill = "click"
    family = "functions"
    difficulty = Difficulty.EASY
    instructions = (
        "Find the square root of {number} with the calculator.",
        "Enter {number} into the calculator and take its square root.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        # Galculator rounds other roots in its own way.
        squares = [root * root for root in range(4, 100)]
        mine = [number for number in squares if is_heldout_number(number) == (draw.split == "heldout")]
        square = draw.choice([number for number in mine if len({*str(number)}) == len(str(number))])
        return {"number": draw.number(square, square), "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(written(p.number**0.5))

    def oracle(self, p: Params) -> Oracle:
        return Keypad([text(str(p.number)), click("sqrt", written(p.number**0.5))])


class PercentOf(Calculator):
    id = "core/calculator-percent-v1"
    skill = "read"
    family = "functions"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "How much is {percent} % of {base}? Enter {percent} % {base} = on the calculator and report the "
        "number.",
        "Use the calculator's % button to find {percent} percent of {base}, leave it on the display and "
        "answer "
        "with it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        percent, base = operands(draw, 2, 11, 98)
        return {"percent": percent, "base": base, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        value = written(p.percent * p.base / 100)
        return AllOf(of=(Answer(text=value, numeric=True), shows(value)))

    def oracle(self, p: Params) -> Oracle:
        percent, base, value = str(p.percent), str(p.base), written(p.percent * p.base / 100)
        steps = [text(percent), click("%", percent), text(base), keys("enter", value)]
        return Keypad(steps, Action(ActionKind.ANSWER, text=value))


class CopyProduct(Calculator):
    id = "core/calculator-copy-product-v1"
    skill = "copy"
    family = "clipboard"
    difficulty = Difficulty.EASY
    instructions = (
        "Multiply {a} by {b} with the calculator and copy the result to the clipboard.",
        "Copy the product of {a} and {b}, computed with the calculator.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b = operands(draw, 2)
        return {"a": a, "b": b, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(ClipboardEquals(text=str(p.a * p.b)), shows(str(p.a * p.b))))

    def oracle(self, p: Params) -> Oracle:
        a, b, product = str(p.a), str(p.b), str(p.a * p.b)
        return Keypad([text(a), keys("*", a), text(b), keys("enter", product), keys("ctrl+c", product)])


class ScientificMode(Calculator):
    id = "core/calculator-scientific-mode-v1"
    skill = "menu"
    family = "modes"
    difficulty = Difficulty.EASY
    instructions = (
        "Switch the calculator to scientific mode and enter {number}.",
        "I need the scientific calculator: change the mode in the View menu, then type {number} into it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"number": operands(draw, 1, 10, 9999)[0], "place": draw.place(*SIZE, (840, 800))}

    def success(self, p: Params) -> Criterion:
        return shows(f"{p.number}\n {MODULES}")

    def oracle(self, p: Params) -> Oracle:
        number = str(p.number)
        enter = Keypad([text(number)])
        return Milestones(
            [
                Milestone("mode", scientific, through_menu("View", "Scientific Mode")),
                Milestone("number", lambda view: scientific(view) and shown(view) == number, enter.act),
            ]
        )


class ClearAndNegate(Calculator):
    id = "core/calculator-negative-number-v1"
    skill = "click"
    family = "entering"
    difficulty = Difficulty.EASY
    instructions = (
        "The calculator still shows an old number. Clear it and enter minus {number}.",
        "Replace what the calculator shows by the negative number -{number}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        number, old = operands(draw, 2, 10, 999)
        return {"number": number, "old": old, "place": draw.place(*SIZE)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        remembered = f'[general]\nremembers_display=true\nremembered_valuex="{p.old}"\n'
        return [WriteFile(path=CONFIG, text=remembered), *opened(p)]

    def success(self, p: Params) -> Criterion:
        return shows(f"-{p.number}")

    def oracle(self, p: Params) -> Oracle:
        number = str(p.number)
        return Keypad([text(number), click("+/-", f"-{number}")])


class ClickDifference(Calculator):
    id = "core/calculator-click-difference-v1"
    skill = "click"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Subtract {b} from {a} by clicking the calculator's buttons with the mouse.",
        "With mouse clicks only, let the calculator compute {a} - {b}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b = operands(draw, 2, 100, 999)
        return {"a": max(a, b), "b": min(a, b), "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(str(p.a - p.b))

    def oracle(self, p: Params) -> Oracle:
        return Keypad(chain([str(p.a), str(p.b)], "-", [str(p.a - p.b)], clicked=True))


class Parentheses(Calculator):
    id = "core/calculator-parentheses-v1"
    skill = "click"
    family = "chains"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Compute ({a} + {b}) * {c} with the calculator, using its bracket buttons.",
        "Click the expression ({a} + {b}) * {c} into the calculator, brackets included, and get its value.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c = operands(draw, 3)
        return {"a": a, "b": b, "c": c, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(str((p.a + p.b) * p.c))

    def oracle(self, p: Params) -> Oracle:
        total = str(p.a + p.b)
        return Keypad(
            [
                click("(", "0"),
                *digits(str(p.a)),
                click("+", str(p.a)),
                *digits(str(p.b)),
                click(")", total),
                click("*", total),
                *digits(str(p.c)),
                click("=", str((p.a + p.b) * p.c)),
            ]
        )


class AddPrices(Calculator):
    id = "core/calculator-add-prices-v1"
    skill = "type"
    family = "chains"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Add up the prices {prices} with the calculator.",
        "What do I pay in total for things at {prices}? Let the calculator show it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        prices: list[str] = []
        for number in operands(draw, 4, 10, 98, alone=True):
            near = f"{number}{''.join(prices[-1:])}"
            prices.append(f"{number}.{draw.choice([digit for digit in '123456789' if digit not in near])}")
        listed = f"{', '.join(prices[:3])} and {prices[3]}"
        return {"prices": listed, "each": prices, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(written(sum(map(float, p.each))))

    def oracle(self, p: Params) -> Oracle:
        totals = [written(sum(map(float, p.each[: count + 1]))) for count in range(1, len(p.each))]
        return Keypad(chain(p.each, "+", totals))


class AverageOfFour(Calculator):
    id = "core/calculator-average-v1"
    skill = "read"
    family = "chains"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Find the average of {a}, {b}, {c} and {d} with the calculator and report it.",
        "Four measurements: {a}, {b}, {c}, {d}. Compute their mean with the calculator, leave it on the "
        "display "
        "and answer with it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c, d = operands(draw, 4, 10, 99, alone=True, avoid="4")
        return {"a": a, "b": b, "c": c, "d": d, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        mean = written((p.a + p.b + p.c + p.d) / 4)
        return AllOf(of=(Answer(text=mean, numeric=True), shows(mean)))

    def oracle(self, p: Params) -> Oracle:
        numbers = [p.a, p.b, p.c, p.d]
        totals = [str(sum(numbers[: count + 1])) for count in range(1, 4)]
        mean = written(sum(numbers) / 4)
        steps = [
            *chain([str(number) for number in numbers], "+", totals),
            click("/", totals[-1]),
            click("4", "4"),
            click("=", mean),
        ]
        return Keypad(steps, Action(ActionKind.ANSWER, text=mean))


class ClickBill(Calculator):
    id = "core/calculator-click-bill-v1"
    skill = "click"
    family = "chains"
    difficulty = Difficulty.HARD
    instructions = (
        "Click {a} * {b} + {c} * {d} - {e} into the calculator with the mouse and get the result.",
        "A bill: {a} times {b}, plus {c} times {d}, less {e}. Work it out with clicks on the calculator.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, c = operands(draw, 2, 100, 999)
        heads = f"{str(a)[0]}{str(c)[0]}"
        b, d, e = operands(draw, 3, 10, 99, avoid=heads)
        return {"a": a, "b": b, "c": c, "d": d, "e": e, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(str(p.a * p.b + p.c * p.d - p.e))

    def oracle(self, p: Params) -> Oracle:
        total = p.a * p.b + p.c * p.d
        return Keypad(
            [
                *digits(str(p.a)),
                click("*", str(p.a)),
                *digits(str(p.b)),
                click("+", str(p.a * p.b)),
                *digits(str(p.c)),
                click("*", str(p.c)),
                *digits(str(p.d)),
                click("-", str(total)),
                *digits(str(p.e)),
                click("=", str(total - p.e)),
            ]
        )


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
