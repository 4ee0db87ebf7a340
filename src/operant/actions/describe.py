"""An action in a few words for people: reports, replays and captions."""

from __future__ import annotations

from operant.types import Action, ActionKind, Button, Point, Size

__all__ = ["describe"]

LONGEST_TEXT = 60
_CLICKS = {1: "click", 2: "double-click", 3: "triple-click"}


def describe(action: Action | None, screen: Size | None = None, *, longest: int = LONGEST_TEXT) -> str:
    """A short sentence; places are pixels if the screen is known and percent if not.

    >>> describe(Action.click(Point(0.5, 0.5), clicks=2), Size(1280, 800))
    'double-click at (640, 400)'
    """
    if action is None:
        return "no action"
    return _words(action, screen, longest)


def _words(action: Action, screen: Size | None, longest: int) -> str:
    held = "".join(f"{key}+" for key in action.modifiers)
    at = f" at {_place(action.point, screen)}" if action.point else ""
    button = "" if action.button is Button.LEFT else f"{action.button.value} "
    kind = action.kind
    if kind is ActionKind.CLICK:
        return f"{held}{button}{_CLICKS[action.clicks]}{at}"
    if kind is ActionKind.MOVE:
        return f"move to {_place(action.point, screen)}" if action.point else "move"
    if kind in (ActionKind.MOUSE_DOWN, ActionKind.MOUSE_UP):
        return (
            f"{'press' if kind is ActionKind.MOUSE_DOWN else 'release'} the {action.button.value} button{at}"
        )
    if kind is ActionKind.DRAG:
        places = [_place(point, screen) for point in action.path]
        start = f" from {places[0]}" if len(places) > 1 else ""
        return f"{held}{button}drag{start} to {places[-1]}"
    if kind is ActionKind.SCROLL:
        amounts = [(action.dy, "down", "up"), (action.dx, "right", "left")]
        said = [
            f"{forth if amount > 0 else back} {abs(amount):g}" for amount, forth, back in amounts if amount
        ]
        unit = "" if action.unit.value == "notch" else " pixels"
        return f"{held}scroll {' and '.join(said) or 'by nothing'}{unit}{at}"
    if kind in (ActionKind.KEY, ActionKind.KEY_DOWN, ActionKind.KEY_UP, ActionKind.HOLD):
        verb = {"key": "press", "key_down": "hold down", "key_up": "let go of", "hold": "hold"}[kind.value]
        return f"{verb} {'+'.join(action.keys)}" + (f" for {action.duration:g} s" if action.duration else "")
    if kind is ActionKind.TYPE:
        return f"type {_quote(action.text, longest)}"
    if kind is ActionKind.WAIT:
        return f"wait {action.duration:g} s" if action.duration else "wait"
    if kind is ActionKind.CALL:
        arguments = [repr(a) for a in action.args] + [f"{name}={value!r}" for name, value in action.kwargs]
        return "call " + _cut(f"{action.function}({', '.join(arguments)})", longest)
    return str(kind.value) + (f" {_quote(action.text, longest)}" if action.text else "")


def _place(point: Point | None, screen: Size | None) -> str:
    if point is None:
        return "the pointer"
    if screen is None:
        return f"({point.x:.1%}, {point.y:.1%})"
    x, y = point.to_pixel(screen)
    return f"({x}, {y})"


def _quote(text: str, longest: int) -> str:
    return '"' + _cut(text.replace("\n", "⏎").replace("\t", "⇥"), longest) + '"'


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
