"""How oracles work galculator: one press after another, told apart by the last action and by what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from operant.tasks.draw import Draw
from operant.tasks.oracle import View
from operant.types import Action, ActionKind, Node

__all__ = ["Keypad", "Press", "button", "chain", "click", "digits", "keys", "operands", "shown", "text", "written"]

APP = "galculator"
MENU_SHIFT = 12  # pixels that the menu of a memory button lies above it
MENU_WIDTH = 130
WOBBLE = 6  # pixels that the buttons move when one of them gets the focus


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

    ``choose`` is a memory button: it opens a menu whose only entry is then clicked.
    """

    how: Literal["type", "key", "click", "choose"]
    what: str
    after: str

    def act(self, view: View) -> Action:
        if self.how == "type":
            return Action.type(self.what)
        if self.how == "key":
            return Action.key(*self.what.split("+")) if len(self.what) > 1 else Action.key(self.what)
        entry = view.widget("menu item", app=APP) if self.how == "choose" else None
        return view.click(entry or button(view, self.what))

    def done(self, view: View) -> bool:
        """Whether this was the last thing that happened."""
        if view.last is None or shown(view) != self.after:
            return False
        if self.how in ("type", "key"):
            return view.last == self.act(view)
        if view.last.kind is not ActionKind.CLICK or view.last.point is None or memory_menu(view):
            return False
        found = button(view, self.what)
        return found is not None and _inside(view, found, with_menu=self.how == "choose")

    def begun(self, view: View) -> bool:
        """Whether a memory button's menu is open."""
        found = button(view, self.what) if self.how == "choose" and memory_menu(view) else None
        return found is not None and _inside(view, found, with_menu=True)


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


def chain(numbers: Sequence[str], operator: str, totals: Sequence[str], *, clicked: bool = False) -> list[Press]:
    """Enter numbers with an operator between them, and =; ``totals`` are what is shown from the second on.

    Operators are clicked: a key that is pressed again within a quarter of a second is lost.
    """
    steps: list[Press] = []
    for index, number in enumerate(numbers):
        steps += digits(number) if clicked else [text(number)]
        last = index == len(numbers) - 1
        steps.append(click("=" if last else operator, totals[index - 1] if index else number))
    return steps


def memory_menu(view: View) -> bool:
    """Whether the menu of a memory button is open; those of the menu bar have several entries."""
    return len(view.widgets("menu item", app=APP)) == 1


def _inside(view: View, found: Node, *, with_menu: bool) -> bool:
    """Whether the last click went to a button, or to the menu that it opens."""
    assert view.last is not None and view.last.point is not None and found.box is not None
    x, y = view.last.point.to_pixel(view.size)
    left, top, width, height = found.box
    if with_menu:
        top, height, width = top - MENU_SHIFT, height + MENU_SHIFT, max(width, MENU_WIDTH)
    return left - WOBBLE <= x <= left + width + WOBBLE and top <= y <= top + height


@dataclass(frozen=True)
class Keypad:
    """Takes one step after another; clears the calculator and starts over when it is off the path.

    Every step must differ from all others in what is done or shown, so that a look and the last action tell
    where it is.
    """

    steps: Sequence[Press]
    finish: Action = field(default_factory=Action.done)

    def act(self, view: View) -> Action:
        for index in range(len(self.steps) - 1, -1, -1):
            step = self.steps[index]
            if step.begun(view) and (index == 0 or self.steps[index - 1].after == shown(view)):
                return step.act(view)
            if step.done(view):
                return self.steps[index + 1].act(view) if index + 1 < len(self.steps) else self.finish
        if shown(view) in ("", "0") and not view.widgets("menu item", app=APP):
            return self.steps[0].act(view)
        return Action.key("esc")


def operands(
    draw: Draw, count: int, low: int = 10, high: int = 99, *, alone: bool = False, avoid: str = ""
) -> list[int]:
    """Numbers that begin with different digits, none of them to ``avoid``, so that no two look alike halfway.

    They can be typed: galculator's keys press its buttons, and GTK ignores a button that is pressed again within a
    quarter of a second, so no digit stands twice in a number or in the one before, or, unless they are typed
    ``alone``, in any two of them.
    """
    while True:
        numbers = [str(number) for number in draw.numbers(count, low, high, doubles=False)]
        heads = [number[0] for number in numbers]
        if len({*heads, *avoid}) < count + len(avoid):
            continue
        near = [a + b for a, b in zip(numbers, numbers[1:], strict=False)] if alone else ["".join(numbers)]
        if all(len(set(typed)) == len(typed) for typed in [*numbers, *near]):
            return [int(number) for number in numbers]
