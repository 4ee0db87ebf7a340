"""Galculator, the pocket calculator: press its buttons, enter a calculation, read its display."""

from __future__ import annotations

from bus import SessionBus, session_bus
from display import XDisplay, wait_until
from refusal import Refused
from widgets import CHECKED, SHOWING, TEXT, TOGGLE_BUTTON, AccessibleApplication, AppWidget

WM_CLASS = "Galculator"
TIME_LIMITS = {"calculate": 60}
LONGEST = 200
TAKEN_S = 0.4
RELEASED_S = 1.0  # how long a button may stay pressed
SAME = 5  # looks that must agree
SIGNS = "0123456789.+-*/()"


def calculate(expression: str) -> str:
    """Clear the calculator, enter an expression of digits and . + - * / ( ) button by button, press = and read the display.

    It calculates as the calculator does.
    """
    signs = expression.replace(" ", "")
    wrong = sorted({sign for sign in signs if sign not in SIGNS})
    if wrong or not signs:
        raise Refused("an expression is made of %s%s" % (SIGNS, ", not of " + wrong[0] if wrong else ""))
    if len(signs) > LONGEST:
        raise Refused("an expression has at most %d signs" % LONGEST)
    with session_bus() as bus:
        app = _calculator(bus)
        before = _display(app)
        for sign in ("AC", *signs, "="):
            _press(app, sign)
        return _settled(app, before)


def press(button: str) -> str:
    """Press a button by its label, such as sqrt, % or AC, and read the display."""
    with session_bus() as bus:
        app = _calculator(bus)
        before = _display(app)
        _press(app, button)
        return _settled(app, before)


def read_display() -> str:
    """Read the number on the display."""
    with session_bus() as bus:
        return _display(_calculator(bus))


def _calculator(bus: SessionBus) -> AccessibleApplication:
    with XDisplay() as display:
        if not any(one.wm_class == WM_CLASS for one in display.windows()):
            raise Refused("galculator is not running: windows.open_application starts it")
    app = AccessibleApplication(bus, "galculator")
    app.check_no_dialog()
    return app


def _press(app: AccessibleApplication, label: str) -> None:
    def released() -> bool:
        return not _button(app, label).has(CHECKED)

    # A press is lost while the button is still down from the last one. A few, such as those of modes, stay down.
    wait_until(released, RELEASED_S, 0.01)
    app.press(_button(app, label))


def _button(app: AccessibleApplication, label: str) -> AppWidget:
    buttons = {one.name: one for one in app.look() if one.role == TOGGLE_BUTTON and one.has(SHOWING)}
    if label not in buttons:
        raise Refused("there is no button %r; buttons: %s" % (label[:40], " ".join(sorted(buttons))))
    return buttons[label]


def _display(app: AccessibleApplication) -> str:
    shown = [one for one in app.look() if one.role == TEXT and one.has(SHOWING)]
    return app.text(shown[0]).strip().partition("\n")[0].strip() if shown else ""


def _settled(app: AccessibleApplication, before: str) -> str:
    """The display once it differs from before and stays the same; presses take effect when the calculator is idle."""
    wait_until(lambda: _display(app) != before, TAKEN_S)
    looks: list[str] = []

    def still() -> bool:
        looks.append(_display(app))
        return len(looks) >= SAME and len(set(looks[-SAME:])) == 1

    wait_until(still, TAKEN_S, 0.015)
    return looks[-1]
