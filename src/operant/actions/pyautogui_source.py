"""pyautogui source, as OSWorld's agents write it: Python calls, or the words WAIT, FAIL and DONE.

The source is read, never run. Calls that make one gesture together (keys held around a click, a move
and then a drag) become one action. Left out because a canonical action has no place for them: moves
relative to the pointer, images to look for, and the pace of typing and moving.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from operant.actions.base import check_carried, check_length, pyautogui_keys, refuse
from operant.actions.coordinates import Grid, Pixels, Units, pair, point_at
from operant.actions.dialect import Dialect
from operant.actions.gestures import Movement, fold, unfold
from operant.actions.keys import canonical_key, canonical_keys
from operant.actions.payload import MAX_ITEMS, Fields, check_text, choose, malformed, quoting
from operant.actions.python_calls import Call, Vocabulary, python_string, read_calls, unfenced
from operant.actions.scrolling import whole_scroll
from operant.actions.thinking import escape_thinking, without_thinking
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

__all__ = [
    "CARRIES",
    "DIALECT",
    "VOCABULARY",
    "parse",
    "read_movements",
    "read_source",
    "render",
    "write_source",
]

_NAME = "pyautogui"
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point button clicks modifiers",
    ActionKind.MOUSE_DOWN: "point button",
    ActionKind.MOUSE_UP: "point button",
    ActionKind.DRAG: "path button modifiers duration",
    ActionKind.SCROLL: "point dx dy unit modifiers",
    ActionKind.KEY: "keys",
    ActionKind.KEY_DOWN: "keys",
    ActionKind.KEY_UP: "keys",
    ActionKind.HOLD: "keys duration",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "duration",
    ActionKind.DONE: "",
    ActionKind.FAIL: "",
}

_BUTTONS: Mapping[str, Button] = {
    "left": Button.LEFT,
    "middle": Button.MIDDLE,
    "right": Button.RIGHT,
    "primary": Button.LEFT,
    "secondary": Button.RIGHT,
    "1": Button.LEFT,
    "2": Button.MIDDLE,
    "3": Button.RIGHT,
}
_WORDS: Mapping[str, ActionKind] = {
    "WAIT": ActionKind.WAIT,
    "FAIL": ActionKind.FAIL,
    "DONE": ActionKind.DONE,
}
_CURVES = ("Quad", "Cubic", "Quart", "Quint", "Sine", "Expo", "Circ", "Elastic", "Back", "Bounce")
_EASINGS = ["linear", *(f"ease{way}{curve}" for way in ("In", "Out", "InOut") for curve in _CURVES)]
VOCABULARY = Vocabulary(
    modules=("pyautogui", "time"),
    settings=("pyautogui.FAILSAFE", "pyautogui.PAUSE"),
    constants={
        **{f"pyautogui.{name}": name for name in _EASINGS},
        **{f"pyautogui.{name.upper()}": name for name in ("left", "middle", "right", "primary", "secondary")},
    },
    words=_WORDS,
)

# Parameters as pyautogui 0.9.54 orders them; those that change nothing in an action are in _IGNORED.
_MOVE = "x y duration tween logScreenshot _pause"
_PRESS_BUTTON = "x y button duration tween logScreenshot _pause"
_CLICK = "x y clicks interval button duration tween logScreenshot _pause"
_CLICK_FIXED_BUTTON = "x y interval duration tween logScreenshot _pause"
_CLICK_FIXED_COUNT = "x y interval button duration tween logScreenshot _pause"
_DRAG = "x y duration tween button logScreenshot _pause mouseDownUp"
_SCROLL = "clicks x y logScreenshot _pause"
_KEY = "key logScreenshot _pause"
_PRESS = "keys presses interval logScreenshot _pause"
_WRITE = "message interval logScreenshot _pause"
_IGNORED = ("interval", "duration", "tween", "logScreenshot", "_pause")


def parse(payload: object, screen: Size) -> list[Action]:
    """The actions of a source, which may be in a code fence."""
    return read_source(check_text(payload), Pixels(screen))


def _read(payload: object, grid: Grid) -> list[Action]:
    return read_source(without_thinking(payload), grid)


def read_source(text: str, grid: Grid) -> list[Action]:
    """The actions of a source whose coordinates are those of a grid."""
    source = unfenced(text)
    movements: list[Movement] = []
    for call in read_calls(source, VOCABULARY):
        with quoting(call.source):
            movements += read_movements(call, grid)
        if len(movements) > MAX_ITEMS:
            raise malformed(f"more than {MAX_ITEMS} actions at once", call.source)
    with quoting(source):
        return fold(movements)


def read_movements(call: Call, grid: Grid) -> list[Movement]:
    """The movements that one call asks for."""
    if call.function in _WORDS and not (call.args or call.kwargs):
        return [Movement(Action(_WORDS[call.function]))]
    if call.function in ("pyautogui.hotkey", "pyautogui.shortcut"):
        return [Movement(_hotkey(call))]
    parameters, read = choose("function", call.function, _CALLS)
    fields = call.bind(parameters.split())
    fields.ignore(*_IGNORED)
    movements = read(fields, grid)
    fields.end()
    return movements


def _hotkey(call: Call) -> Action:
    for name in call.kwargs:
        if name not in _IGNORED:
            raise malformed("hotkey takes no such argument", name)
    is_list = len(call.args) == 1 and isinstance(call.args[0], list)
    return Action.key(*canonical_keys(call.args[0] if is_list else list(call.args)))


def _point(fields: Fields, grid: Grid) -> Point | None:
    """Where a call points: x and y, or a pair as x."""
    x = fields.take("x")
    if isinstance(x, list) and "y" not in fields:
        fields.ignore("y")
        return pair(x, grid)
    return point_at(fields, grid)


def _button(fields: Fields) -> Button:
    value = fields.take("button")
    if isinstance(value, int):
        value = str(value)
    return choose("button", "left" if value is None else check_text(value), _BUTTONS)


def _pointer(kind: ActionKind, fields: Fields, grid: Grid, **more: object) -> list[Movement]:
    point = _point(fields, grid)
    return [Movement(Action(kind, point=point, screen=grid.size if point else None, **more))]  # type: ignore[arg-type]


def _move(fields: Fields, grid: Grid) -> list[Movement]:
    (movement,) = _pointer(ActionKind.MOVE, fields, grid)
    return [Movement(movement.action, fields.number("duration", 0.0))]


def _click(fields: Fields, grid: Grid) -> list[Movement]:
    return _pointer(
        ActionKind.CLICK, fields, grid, button=_button(fields), clicks=fields.integer("clicks", 1)
    )


def _clicker(button: Button | None, clicks: int) -> Callable[[Fields, Grid], list[Movement]]:
    """The reader of a call whose very name says the count of clicks and maybe the button."""

    def read(fields: Fields, grid: Grid) -> list[Movement]:
        return _pointer(ActionKind.CLICK, fields, grid, button=button or _button(fields), clicks=clicks)

    return read


def _presser(kind: ActionKind) -> Callable[[Fields, Grid], list[Movement]]:
    def read(fields: Fields, grid: Grid) -> list[Movement]:
        return _pointer(kind, fields, grid, button=_button(fields))

    return read


def _drag(fields: Fields, grid: Grid) -> list[Movement]:
    point = _point(fields, grid)
    if point is None:
        raise malformed("dragTo needs x and y", fields.what)
    if not fields.flag("mouseDownUp", True):
        raise malformed("a drag that presses no button", fields.what)
    duration = fields.number("duration", 0.0)
    return [Movement(Action.drag(point, button=_button(fields), duration=duration, screen=grid.size))]


def _scroller(dx: int, dy: int) -> Callable[[Fields, Grid], list[Movement]]:
    """The reader of a scroll whose positive clicks go in direction (dx, dy)."""

    def read(fields: Fields, grid: Grid) -> list[Movement]:
        # pyautogui drops what is behind the decimal point.
        clicks = int(fields.number("clicks"))
        return _pointer(ActionKind.SCROLL, fields, grid, dx=float(dx * clicks), dy=float(dy * clicks))

    return read


def _key(kind: ActionKind) -> Callable[[Fields, Grid], list[Movement]]:
    def read(fields: Fields, grid: Grid) -> list[Movement]:
        return [Movement(Action(kind, keys=(canonical_key(fields.text("key")),)))]

    return read


def _press(fields: Fields, grid: Grid) -> list[Movement]:
    keys = fields.need("keys")
    names = canonical_keys([keys] if isinstance(keys, str) else keys)
    presses = fields.integer("presses", 1)
    if not 0 < presses * len(names) <= MAX_ITEMS:
        raise malformed(f"press presses 1 to {MAX_ITEMS} times", presses)
    return [Movement(Action.key(name)) for name in names] * presses


def _write(fields: Fields, grid: Grid) -> list[Movement]:
    message = fields.need("message")
    if isinstance(message, list):
        return [Movement(Action.key(name)) for name in canonical_keys(message)]
    return [Movement(Action.type(check_text(message)))]


def _sleep(fields: Fields, grid: Grid) -> list[Movement]:
    return [Movement(Action.wait(fields.number("seconds")))]


_CALLS: Mapping[str, tuple[str, Callable[[Fields, Grid], list[Movement]]]] = {
    "pyautogui.moveTo": (_MOVE, _move),
    "pyautogui.click": (_CLICK, _click),
    "pyautogui.leftClick": (_CLICK_FIXED_BUTTON, _clicker(Button.LEFT, 1)),
    "pyautogui.rightClick": (_CLICK_FIXED_BUTTON, _clicker(Button.RIGHT, 1)),
    "pyautogui.middleClick": (_CLICK_FIXED_BUTTON, _clicker(Button.MIDDLE, 1)),
    "pyautogui.doubleClick": (_CLICK_FIXED_COUNT, _clicker(None, 2)),
    "pyautogui.tripleClick": (_CLICK_FIXED_COUNT, _clicker(None, 3)),
    "pyautogui.mouseDown": (_PRESS_BUTTON, _presser(ActionKind.MOUSE_DOWN)),
    "pyautogui.mouseUp": (_PRESS_BUTTON, _presser(ActionKind.MOUSE_UP)),
    "pyautogui.dragTo": (_DRAG, _drag),
    "pyautogui.scroll": (_SCROLL, _scroller(0, -1)),
    "pyautogui.vscroll": (_SCROLL, _scroller(0, -1)),
    "pyautogui.hscroll": (_SCROLL, _scroller(1, 0)),
    "pyautogui.keyDown": (_KEY, _key(ActionKind.KEY_DOWN)),
    "pyautogui.keyUp": (_KEY, _key(ActionKind.KEY_UP)),
    "pyautogui.press": (_PRESS, _press),
    "pyautogui.write": (_WRITE, _write),
    "pyautogui.typewrite": (_WRITE, _write),
    "pyautogui.sleep": ("seconds", _sleep),
    "time.sleep": ("seconds", _sleep),
}


def render(action: Action, screen: Size) -> str:
    """Source without its imports, which OSWorld's controller writes itself."""
    return write_source(action, Pixels(screen))


def write_source(action: Action, grid: Grid) -> str:
    """Source whose coordinates are those of a grid."""
    check_carried(_NAME, action, CARRIES)
    calls = [_call(movement, grid) for movement in unfold(action)]
    if len(calls) > MAX_ITEMS:
        refuse(_NAME, action, f"it would take more than {MAX_ITEMS} calls")
    return check_length(_NAME, action, escape_thinking("; ".join(calls)))


def _call(movement: Movement, grid: Grid) -> str:
    action = movement.action
    at = list(grid.locate(action.point)) if action.point else []
    match action.kind:
        case ActionKind.MOVE:
            return _written("moveTo", *at, **({"duration": movement.seconds} if movement.seconds else {}))
        case ActionKind.CLICK:
            clicks = {"clicks": action.clicks} if action.clicks != 1 else {}
            return _written("click", *at, **clicks, **_button_argument(action))
        case ActionKind.MOUSE_DOWN:
            return _written("mouseDown", *at, **_button_argument(action))
        case ActionKind.MOUSE_UP:
            return _written("mouseUp", *at, **_button_argument(action))
        case ActionKind.DRAG:
            seconds = {"duration": action.duration} if action.duration else {}
            return _written("dragTo", *grid.locate(action.path[0]), **seconds, **_button_argument(action))
        case ActionKind.SCROLL:
            dx, dy = whole_scroll(_NAME, action, ScrollUnit.NOTCH)
            return _written("hscroll", dx, *at) if dx else _written("scroll", -dy, *at)
        case ActionKind.KEY:
            names = pyautogui_keys(_NAME, action)
            return _written("press" if len(names) == 1 else "hotkey", *names)
        case ActionKind.KEY_DOWN:
            return _written("keyDown", *pyautogui_keys(_NAME, action))
        case ActionKind.KEY_UP:
            return _written("keyUp", *pyautogui_keys(_NAME, action))
        case ActionKind.TYPE:
            return _written("write", action.text)
        case ActionKind.WAIT if action.duration:
            return f"time.sleep({action.duration!r})"
    return action.kind.name


def _written(function: str, *args: object, **kwargs: object) -> str:
    values = [python_string(value) if isinstance(value, str) else repr(value) for value in args]
    values += [f"{name}={value!r}" for name, value in kwargs.items()]
    return f"pyautogui.{function}({', '.join(values)})"


def _button_argument(action: Action) -> dict[str, object]:
    if action.button in (Button.BACK, Button.FORWARD):
        refuse(_NAME, action, f"it has no {action.button.value} button")
    return {} if action.button is Button.LEFT else {"button": action.button.value}


DIALECT = Dialect(
    title="any model that writes pyautogui",
    way="text",
    carries=CARRIES,
    reader=_read,
    writer=write_source,
    units=(Units.PIXELS, Units.THOUSANDTHS, Units.UP_TO_999),
    wording=(
        "Answer with lines of Python that call pyautogui, such as pyautogui.click(x, y),"
        " pyautogui.write('...'), pyautogui.hotkey('ctrl', 's'), pyautogui.scroll(-5),"
        " pyautogui.dragTo(x, y); or with one of the words WAIT, DONE and FAIL."
    ),
    ends={ActionKind.DONE: "DONE", ActionKind.FAIL: "FAIL"},
    lacks=("question", "answer"),
)
