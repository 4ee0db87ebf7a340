"""How oracles work galculator: press after press, told apart by the last action and what is shown."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from operant.apps.view import View
from operant.tasks.draw import Draw
from operant.types import Action, Node

__all__ = [
    "Keypad",
    "Press",
    "button",
    "chain",
    "click",
    "digits",
    "keys",
    "operands",
    "shown",
    "text",
    "written",
]

APP = "galculator"
MENU_INSET = 10  # pixels from the left edge of a memory button's menu
STORED = re.compile(r"-?\d+\.\d{6}")
WOBBLE = (6, 24)  # pixels that buttons move when a long number or a frame around one makes the window grow


def display(view: View) -> Node | None:
    return view.widget("text", app=APP)


def shown(view: View) -> str:
    """The number on the display."""
    found = display(view)
    return (found.text or "").strip().partition("\n")[0].strip() if found else ""


def button(view: View, label: str) -> Node | None:
    return view.widget("toggle button", label, app=APP)


def written(number: float) -> str:
    """A number as the display shows it."""
    return f"{number:.12g}"


@dataclass(frozen=True)
class Press:
    """One step on the keypad, and what the display shows after it.

    ``choose`` is a memory button: it opens a menu whose first entry is then clicked.
    """

    how: Literal["type", "key", "click", "choose"]
    what: str
    after: str

    def act(self, view: View) -> Action:
        if self.how == "type":
            return Action.type(self.what)
        if self.how == "key":
            return Action.key(*self.what.split("+")) if len(self.what) > 1 else Action.key(self.what)
        entry = memory_entry(view) if self.how == "choose" else None
        if entry is None or entry.box is None:
            return view.click(button(view, self.what))
        # At its left edge: above the button that it belongs to, and not where that button is clicked.
        x, y, _width, height = entry.box
        return Action.click(view.point(x + MENU_INSET, y + height / 2))

    def done(self, view: View) -> bool:
        """Whether this was the last thing that happened."""
        if view.last is None or shown(view) != self.after:
            return False
        if self.how in ("type", "key"):
            return view.last == self.act(view)
        return self._hit(view) and memory_entry(view) is None

    def begun(self, view: View) -> bool:
        """Whether it is a memory button whose menu is open."""
        entry, found = memory_entry(view), button(view, self.what)
        if self.how != "choose" or entry is None or entry.box is None or found is None or found.box is None:
            return False
        return abs(entry.box[0] - found.box[0]) < found.box[2] / 2

    def _hit(self, view: View) -> bool:
        """Whether the last click went to this button, or to the entry of its menu."""
        found = button(view, self.what)
        if view.last is None or view.last.point is None or found is None or found.box is None:
            return False
        x, y = view.last.point.to_pixel(view.size)
        left, top, width, height = found.box
        if self.how == "choose":
            width = width // 3
        across, down = WOBBLE
        return left - across <= x < left + width + across and top - down <= y < top + height + down


def text(what: str) -> Press:
    """Type a number or an expression; the display shows the number that comes last."""
    last = what
    for operator in "+-*/":
        last = last.rpartition(operator)[2] or last
    return Press("type", what, last)


def click(label: str, after: str) -> Press:
    return Press("click", label, after)


def keys(name: str, after: str) -> Press:
    return Press("key", name, after)


def digits(number: str) -> list[Press]:
    """Click a number, digit by digit."""
    return [click(digit, number[: index + 1]) for index, digit in enumerate(number)]


def chain(
    numbers: Sequence[str], operator: str, totals: Sequence[str], *, clicked: bool = False
) -> list[Press]:
    """Enter numbers with an operator between them, and =; ``totals`` are what is shown from the second on.

    Operators are clicked: a key that is pressed again within a quarter of a second is lost.
    """
    steps: list[Press] = []
    for index, number in enumerate(numbers):
        steps += digits(number) if clicked else [text(number)]
        last = index == len(numbers) - 1
        steps.append(click("=" if last else operator, totals[index - 1] if index else number))
    return steps


def memory_entry(view: View) -> Node | None:
    """The first entry of a memory button's menu, if one is open: what is stored, or a place for it."""
    for entry in view.widgets("menu item", app=APP):
        if entry.name == "save here" or STORED.fullmatch(entry.name):
            return entry
    return None


@dataclass(frozen=True)
class Keypad:
    """Takes one step after another; clears the calculator and starts over when it is off the path.

    Every step must differ from all others in what is done or shown, so that a look and the last action tell
    where it is.
    """

    steps: Sequence[Press]
    finish: Action = field(default_factory=Action.done)

    def act(self, view: View) -> Action:
        action = self._following(view)
        if action is None:  # off the path, unless the calculator was just slow to show where it is
            view.desktop.settle()
            action = self._following(View(view.desktop, view.last))
        return action or Action.key("esc")

    def _following(self, view: View) -> Action | None:
        for index in range(len(self.steps) - 1, -1, -1):
            step = self.steps[index]
            if step.begun(view) and (index == 0 or self.steps[index - 1].after == shown(view)):
                return step.act(view)
            if step.done(view):
                return self.steps[index + 1].act(view) if index + 1 < len(self.steps) else self.finish
        at_start = shown(view) in ("", "0") and not view.widgets("menu item", app=APP)
        return self.steps[0].act(view) if at_start else None


def operands(
    draw: Draw, count: int, low: int = 10, high: int = 99, *, alone: bool = False, avoid: str = ""
) -> list[int]:
    """Numbers that begin with different digits, none of them to ``avoid``, so that no two look alike halfway.

    They can be typed: galculator's keys press its buttons, and GTK ignores a button that is pressed again
    within a quarter of a second. So no digit stands twice in a number or in two that are typed one after the
    other; and unless each is typed ``alone``, in all of them together.
    """
    while True:
        numbers = [str(number) for number in draw.numbers(count, low, high, doubles=False)]
        heads = [number[0] for number in numbers]
        if len({*heads, *avoid}) < count + len(avoid):
            continue
        near = [a + b for a, b in itertools.pairwise(numbers)] if alone else ["".join(numbers)]
        if all(len(set(typed)) == len(typed) for typed in [*numbers, *near]):
            return [int(number) for number in numbers]
