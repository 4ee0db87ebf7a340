"""Galculator: enter numbers, compute, clear, and read the display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.tasks.criteria import Accessible, Criterion
from operant.tasks.draw import Draw
from operant.tasks.oracle import Milestone, Milestones, Oracle, View
from operant.tasks.setup import Launch, SetupStep
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]

SIZE = (331, 343)


def display(view: View) -> Node | None:
    return view.widget("text", app="galculator")


def shown(view: View) -> str:
    """What the display says."""
    found = display(view)
    return (found.text or "").strip() if found else ""


def opened(p: Params) -> list[SetupStep]:
    return [Launch(command=["galculator"], place=p.place)]


def shows(text: str) -> Criterion:
    return Accessible(app="galculator", role="text", text=text)


class Calculator(Template):
    """What all calculator tasks have in common: the calculator is open somewhere on the screen."""

    apps = ("galculator",)

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return opened(p)


class TypeSum(Calculator):
    id = "core/calculator-type-sum-v1"
    skill = "type"
    family = "arithmetic"
    difficulty = Difficulty.EASY
    instructions = (
        "Compute {a} + {b} with the calculator.",
        "Use the calculator to add {a} and {b}.",
        "What is {a} plus {b}? Let the calculator show it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        # Galculator's keys press its buttons, and GTK ignores a button pressed twice within a quarter of a second.
        a, b = draw.numbers(2, 10, 999, doubles=False)
        return {"a": a, "b": b, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return shows(str(p.a + p.b))

    def oracle(self, p: Params) -> Oracle:
        return typed_sum(p.a, "+", p.b, str(p.a + p.b))


class ClickNumber(Calculator):
    id = "core/calculator-click-number-v1"
    skill = "click"
    family = "arithmetic"
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
        return Milestones([Milestone("number", lambda view: shown(view) == str(p.number), click_towards(str(p.number)))])


def typed_sum(a: int, operator: str, b: int, result: str) -> Oracle:
    """Type the first number, the operator's key, the second number, and Enter; start over when something is off."""

    def act(view: View) -> Action:
        now, last = shown(view), view.last
        if last == Action.key(operator) and now == str(a):
            return Action.type(str(b))
        if last == Action.type(str(b)) and now == str(b):
            return Action.key("enter")
        if last == Action.type(str(a)) and now == str(a):
            return Action.key(operator)
        if now in ("", "0"):
            return Action.type(str(a))
        return Action.key("esc")

    return Milestones([Milestone("result", lambda view: shown(view) == result and view.last == Action.key("enter"), act)])


def click_towards(number: str) -> Any:
    """Click the next digit while what is shown leads to the number; clear it otherwise."""

    def act(view: View) -> Action:
        now = shown(view)
        now = "" if now == "0" else now
        label = number[len(now)] if number.startswith(now) and len(now) < len(number) else "AC"
        return view.click(view.widget("toggle button", label, app="galculator"))

    return act


TEMPLATES: tuple[type[Template], ...] = (TypeSum, ClickNumber)
