"""Galculator, the pocket calculator: its display, its menus, and its keypad press after press."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from operant.apps import moves
from operant.apps.base import App
from operant.apps.moves import Goal, steps
from operant.apps.view import View
from operant.types import Action, Node

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = [
    "APP",
    "CONFIG",
    "SIZE",
    "Calculation",
    "Galculator",
    "Keypad",
    "Press",
    "add_up",
    "button",
    "chain",
    "choose",
    "click",
    "digits",
    "is_scientific",
    "keys",
    "number_clicked",
    "number_shown",
    "pressed",
    "text",
    "through_menu",
    "written",
]

NAME = "galculator"
SIZE = (331, 343)  # of its window in basic mode
CONFIG = ".config/galculator/galculator.conf"
MENU_INSET = 10  # pixels from the left edge of a memory button's menu
STORED = re.compile(r"-?\d+\.\d{6}")
WOBBLE = (6, 24)  # pixels that buttons move when a long number or a frame around one makes the window grow
CALCULATED = "0123456789.+-*/()"  # signs that galculator.calculate takes


@dataclass(frozen=True)
class Calculation:
    """What the calculator shows."""

    number: str
    scientific: bool


class Galculator(App):
    name = NAME
    title = "calculator"
    packages = ("galculator",)
    toolkit = "gtk3"
    command = (NAME,)
    wm_class = "Galculator"
    accessible_name = NAME

    def state(self, desktop: Desktop) -> Calculation:
        view = View(desktop)
        return Calculation(number_shown(view), is_scientific(view))


# Looking.


def number_shown(view: View) -> str:
    """The number on the display."""
    return _display(view).strip().partition("\n")[0].strip()


def is_scientific(view: View) -> bool:
    """Whether it is in scientific mode, in which the display also tells the number base."""
    return "HEX" in _display(view)


def button(view: View, label: str) -> Node | None:
    return view.widget("toggle button", label, app=NAME)


def written(number: float) -> str:
    """A number as the display shows it."""
    return f"{number:.12g}"


def _display(view: View) -> str:
    found = view.widget("text", app=NAME)
    return (found.text or "") if found else ""


def _memory_entry(view: View) -> Node | None:
    """The first entry of a memory button's menu, if one is open: what is stored, or a place for it."""
    for entry in view.widgets("menu item", app=NAME):
        if entry.name == "save here" or STORED.fullmatch(entry.name):
            return entry
    return None


# Presses.


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
        entry = _memory_entry(view) if self.how == "choose" else None
        if entry is None or entry.box is None:
            return view.click(button(view, self.what))
        # At its left edge: above the button that it belongs to, and not where that button is clicked.
        x, y, _width, height = entry.box
        return Action.click(view.point(x + MENU_INSET, y + height / 2))

    def done(self, view: View) -> bool:
        """Whether this was the last thing that happened.

        The calculator does not show a pending operator, nor whether a number is being entered or was computed, so
        the last action has to tell.
        """
        if view.last is None or number_shown(view) != self.after:
            return False
        if self.how in ("type", "key"):
            return view.last == self.act(view)
        return self._hit(view) and _memory_entry(view) is None

    def begun(self, view: View) -> bool:
        """Whether it is a memory button whose menu is open."""
        entry, found = _memory_entry(view), button(view, self.what)
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


def choose(label: Literal["MS", "M+", "MR"], after: str) -> Press:
    """Store in, add to or recall from the first place of the memory."""
    return Press("choose", label, after)


def digits(number: str) -> list[Press]:
    """Click a number, digit by digit."""
    return [click(digit, number[: index + 1]) for index, digit in enumerate(number)]


def chain(
    numbers: Sequence[object], operator: Literal["+", "-"] = "+", *, clicked: bool = False
) -> list[Press]:
    """Enter numbers with an operator between them, and =.

    Operators are clicked: a key that is pressed again within a quarter of a second is lost.
    """
    made: list[Press] = []
    total = 0.0
    for index, number in enumerate(map(str, numbers)):
        total += float(number) if operator == "+" or not index else -float(number)
        made += digits(number) if clicked else [text(number)]
        made.append(click("=" if index == len(numbers) - 1 else operator, written(total)))
    return made


@dataclass(frozen=True)
class Keypad:
    """Takes one step after another; clears the calculator and starts over when it is off the path.

    Every step must differ from all others in what is done or shown, so that a look and the last action tell
    where it is.
    """

    steps: Sequence[Press]
    finish: Action = field(default_factory=Action.done)

    def __post_init__(self) -> None:
        twice = [step for index, step in enumerate(self.steps) if step in self.steps[:index]]
        if twice:
            raise ValueError(f"two steps can't be told apart: {twice[0]}")

    def act(self, view: View) -> Action:
        view, taken = self._look(view)
        if taken is None:
            return Action.key("esc")
        return self.steps[taken].act(view) if taken < len(self.steps) else self.finish

    def done(self, view: View) -> bool:
        return self._look(view)[1] == len(self.steps)

    def _look(self, view: View) -> tuple[View, int | None]:
        """How many steps are taken. It looks twice, because the calculator may be slow to show the last one."""
        taken = self._taken(view)
        if taken is None:
            view.desktop.settle()
            view = View(view.desktop, view.last)
            taken = self._taken(view)
        return view, taken

    def _taken(self, view: View) -> int | None:
        for index in range(len(self.steps) - 1, -1, -1):
            step = self.steps[index]
            if step.begun(view) and (index == 0 or self.steps[index - 1].after == number_shown(view)):
                return index
            if step.done(view):
                return index + 1
        at_start = number_shown(view) in ("", "0") and not view.widgets("menu item", app=NAME)
        return 0 if at_start else None


# Goals.


def pressed(*presses: Press) -> Goal:
    """All of these were pressed, one after another."""
    keypad = Keypad(presses)
    return Goal(keypad.done, keypad.act, _calculated(presses))


def _calculated(presses: Sequence[Press]) -> Goal | None:
    """The same by calls: an expression, or a number and then a button such as sqrt."""
    signs = ["=" if press.what == "enter" else press.what for press in presses]
    after = presses[-1].after
    if signs[-1] == "=" and all(sign in CALCULATED for sign in "".join(signs[:-1])):
        expression = Action.call("galculator.calculate", {"expression": "".join(signs[:-1])})
        first: Action | None = None
    elif len(signs) > 1 and "".join(signs[:-1]).isdecimal() and presses[-1].how == "click":
        first = Action.call("galculator.calculate", {"expression": "".join(signs[:-1])})
        expression = Action.call("galculator.press", {"button": signs[-1]})
    else:
        return None

    def act(view: View) -> Action:
        return expression if first is None or view.last == first else first

    return Goal(lambda view: view.last == expression and number_shown(view) == after, act)


def number_clicked(number: str) -> Goal:
    """A number is entered by clicks; digits that fit are kept."""

    def act(view: View) -> Action:
        now = number_shown(view).removeprefix("0")
        fits = number.startswith(now) and len(now) < len(number)
        return view.click(button(view, number[len(now)] if fits else "AC"))

    return Goal(lambda view: number_shown(view) == number, act)


def add_up(numbers: Sequence[object], finish: Action | None = None) -> Callable[[View], Action]:
    """Add numbers up by clicks, and then do something with the sum, such as copying it.

    Coming from another window it begins anew, because what is pending in the calculator cannot be seen.
    """
    keypad = Keypad(chain(numbers, clicked=True), finish or Action.done())

    def clear(view: View) -> Action | None:
        away = view.focused is None or view.focused.wm_class != APP.wm_class
        return view.click(button(view, "AC")) if away and number_shown(view) not in ("", "0") else None

    return steps(clear, keypad.act)


def through_menu(*names: str) -> Callable[[View], Action]:
    """Click the entry that leads on: the last of these that is there."""
    return moves.through_menu(NAME, *names)


APP = Galculator()
