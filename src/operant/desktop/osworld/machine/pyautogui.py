"""pyautogui for scripts that run inside a desktop, over XTEST and without its pauses.

The real package needs a screenshot program, Tk and python-xlib, which desktops lack. What is here acts as the real
functions do; what needs to look at the screen raises ``NotImplementedError``. Uses nothing but the standard library.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import time
from collections.abc import Iterable
from typing import Any

FAILSAFE = True
PAUSE = 0.0
MINIMUM_DURATION = 0.1
LEFT, MIDDLE, RIGHT, PRIMARY, SECONDARY = "left", "middle", "right", "primary", "secondary"
Point = collections.namedtuple("Point", "x y")
Size = collections.namedtuple("Size", "width height")

BUTTONS = {"left": 1, "primary": 1, "middle": 2, "right": 3, "secondary": 3, 1: 1, 2: 2, 3: 3}
UP, DOWN, WHEEL_LEFT, WHEEL_RIGHT = 4, 5, 6, 7
STEP_S = 0.01  # between two places of a pointer that moves slowly
DRAG_STEPS = 20  # programs take a press and a jump for a click
KEYSYMS = {
    "\t": "Tab", "\n": "Return", "\r": "Return", "enter": "Return", "return": "Return", "tab": "Tab",
    "space": "space", "backspace": "BackSpace", "\b": "BackSpace", "delete": "Delete", "del": "Delete",
    "esc": "Escape", "escape": "Escape", "up": "Up", "down": "Down", "left": "Left", "right": "Right",
    "home": "Home", "end": "End", "pageup": "Prior", "pgup": "Prior", "pagedown": "Next", "pgdn": "Next",
    "insert": "Insert", "shift": "Shift_L", "shiftleft": "Shift_L", "shiftright": "Shift_R", "ctrl": "Control_L",
    "ctrlleft": "Control_L", "ctrlright": "Control_R", "control": "Control_L", "alt": "Alt_L", "altleft": "Alt_L",
    "altright": "Alt_R", "option": "Alt_L", "win": "Super_L", "winleft": "Super_L", "winright": "Super_R",
    "super": "Super_L", "command": "Super_L", "capslock": "Caps_Lock", "numlock": "Num_Lock",
    "scrolllock": "Scroll_Lock", "printscreen": "Print", "prtsc": "Print", "prtscr": "Print", "prntscrn": "Print",
    "print": "Print", "pause": "Pause", "apps": "Menu", "menu": "Menu", "add": "KP_Add", "subtract": "KP_Subtract",
    "multiply": "KP_Multiply", "divide": "KP_Divide", "decimal": "KP_Decimal",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
    **{f"num{number}": f"KP_{number}" for number in range(10)},
}  # fmt: skip
KEYBOARD_KEYS = [*map(chr, range(32, 127)), *KEYSYMS]
KEY_NAMES = KEYBOARD_KEYS


class PyAutoGUIException(Exception):
    """What the real package raises."""


class FailSafeException(PyAutoGUIException):
    """Never raised here: no user watches this screen, so its corners stop nothing."""


class ImageNotFoundException(PyAutoGUIException):
    """Never raised here: there is no looking for images."""


@functools.lru_cache(maxsize=1)
def _x() -> tuple[Any, Any, Any]:
    """The two libraries and the connection to the display."""
    x11, xtst = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
    x11.XOpenDisplay.restype = x11.XDefaultRootWindow.restype = x11.XStringToKeysym.restype = ctypes.c_ulong
    x11.XkbKeycodeToKeysym.restype = ctypes.c_ulong
    x11.XKeysymToKeycode.restype = ctypes.c_ubyte
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    if not display:
        raise PyAutoGUIException("the display can't be opened")
    return x11, xtst, display


def _button(number: int, down: bool) -> None:
    x11, xtst, display = _x()
    xtst.XTestFakeButtonEvent(display, number, int(down), ctypes.c_ulong(0))
    x11.XSync(display, 0)


def _keycode(name: str) -> tuple[int, bool]:
    """The key that gives a name or a character, and whether Shift goes with it; 0 if no key does."""
    x11, _xtst, display = _x()
    named = KEYSYMS.get(name if len(name) == 1 else name.lower())
    if named is None and len(name) != 1:
        return 0, False
    point = ord(name) if named is None else 0
    keysym = (
        x11.XStringToKeysym(named.encode())
        if named is not None
        else point
        if point < 256
        else point | 0x1000000
    )
    code = x11.XKeysymToKeycode(display, ctypes.c_ulong(keysym))
    if not code:
        return 0, False
    plain = x11.XkbKeycodeToKeysym(display, ctypes.c_ubyte(code), 0, 0)
    shifted = x11.XkbKeycodeToKeysym(display, ctypes.c_ubyte(code), 0, 1)
    return code, plain != keysym and shifted == keysym


def _key(code: int, down: bool) -> None:
    x11, xtst, display = _x()
    xtst.XTestFakeKeyEvent(display, code, int(down), ctypes.c_ulong(0))
    x11.XSync(display, 0)


def _place(x: Any, y: Any) -> tuple[int | None, int | None]:
    if isinstance(x, (tuple, list)):
        x, y = x[0], x[1]
    return (None if x is None else int(x)), (None if y is None else int(y))


# The screen and the pointer.


def size() -> Size:
    x11, _xtst, display = _x()
    return Size(x11.XDisplayWidth(display, 0), x11.XDisplayHeight(display, 0))


resolution = size


def position(x: int | None = None, y: int | None = None) -> Point:
    x11, _xtst, display = _x()
    window, child, mask = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
    found = [ctypes.c_int() for _ in range(4)]
    root = ctypes.c_ulong(x11.XDefaultRootWindow(display))
    x11.XQueryPointer(display, root, *map(ctypes.byref, (window, child, *found, mask)))
    return Point(found[0].value if x is None else int(x), found[1].value if y is None else int(y))


def onScreen(x: Any, y: Any = None) -> bool:  # noqa: N802 - the names are pyautogui's
    place = position(*_place(x, y))
    return bool(0 <= place.x < size().width and 0 <= place.y < size().height)


def moveTo(x: Any = None, y: Any = None, duration: float = 0.0, *_: object, **__: object) -> None:  # noqa: N802
    x11, xtst, display = _x()
    begin, end = position(), position(*_place(x, y))
    steps = max(1, int(duration / STEP_S)) if duration > MINIMUM_DURATION else 1
    for step in range(1, steps + 1):
        part = step / steps
        at = (round(begin.x + part * (end.x - begin.x)), round(begin.y + part * (end.y - begin.y)))
        xtst.XTestFakeMotionEvent(display, -1, *at, ctypes.c_ulong(0))
        x11.XSync(display, 0)
        if steps > 1:
            time.sleep(STEP_S)


def moveRel(xOffset: Any = 0, yOffset: Any = 0, duration: float = 0.0, *_: object, **__: object) -> None:  # noqa: N802, N803
    right, down = _place(xOffset, yOffset)
    here = position()
    moveTo(here.x + (right or 0), here.y + (down or 0), duration)


move = moveRel


def mouseDown(  # noqa: N802
    x: Any = None, y: Any = None, button: Any = PRIMARY, duration: float = 0.0, *_: object, **__: object
) -> None:
    moveTo(x, y, duration)
    _button(BUTTONS[button], True)


def mouseUp(  # noqa: N802
    x: Any = None, y: Any = None, button: Any = PRIMARY, duration: float = 0.0, *_: object, **__: object
) -> None:
    moveTo(x, y, duration)
    _button(BUTTONS[button], False)


def click(
    x: Any = None,
    y: Any = None,
    clicks: int = 1,
    interval: float = 0.0,
    button: Any = PRIMARY,
    duration: float = 0.0,
    *_: object,
    **__: object,
) -> None:
    if isinstance(x, str):
        raise NotImplementedError("images are not looked for here: click at a place")
    moveTo(x, y, duration)
    for _number in range(clicks):
        _button(BUTTONS[button], True)
        _button(BUTTONS[button], False)
        time.sleep(interval)


def leftClick(x: Any = None, y: Any = None, interval: float = 0.0, *_: object, **__: object) -> None:  # noqa: N802
    click(x, y, 1, interval, LEFT)


def rightClick(x: Any = None, y: Any = None, interval: float = 0.0, *_: object, **__: object) -> None:  # noqa: N802
    click(x, y, 1, interval, RIGHT)


def middleClick(x: Any = None, y: Any = None, interval: float = 0.0, *_: object, **__: object) -> None:  # noqa: N802
    click(x, y, 1, interval, MIDDLE)


def doubleClick(  # noqa: N802
    x: Any = None, y: Any = None, interval: float = 0.0, button: Any = LEFT, *_: object, **__: object
) -> None:
    click(x, y, 2, interval, button)


def tripleClick(  # noqa: N802
    x: Any = None, y: Any = None, interval: float = 0.0, button: Any = LEFT, *_: object, **__: object
) -> None:
    click(x, y, 3, interval, button)


def dragTo(  # noqa: N802
    x: Any = None,
    y: Any = None,
    duration: float = 0.0,
    tween: object = None,
    button: Any = PRIMARY,
    logScreenshot: object = None,  # noqa: N803
    _pause: object = True,
    mouseDownUp: bool = True,  # noqa: N803
) -> None:
    if mouseDownUp:
        mouseDown(button=button)
    moveTo(x, y, max(duration, DRAG_STEPS * STEP_S))
    if mouseDownUp:
        mouseUp(button=button)


def dragRel(xOffset: Any = 0, yOffset: Any = 0, *args: Any, **kwargs: Any) -> None:  # noqa: N802, N803
    right, down = _place(xOffset, yOffset)
    here = position()
    dragTo(here.x + (right or 0), here.y + (down or 0), *args, **kwargs)


drag = dragRel


def _wheel(clicks: float, x: Any, y: Any, forward: int, backward: int) -> None:
    moveTo(x, y)
    for _number in range(abs(int(clicks))):
        _button(forward if clicks > 0 else backward, True)
        _button(forward if clicks > 0 else backward, False)


def scroll(clicks: float, x: Any = None, y: Any = None, *_: object, **__: object) -> None:
    _wheel(clicks, x, y, UP, DOWN)


vscroll = scroll


def hscroll(clicks: float, x: Any = None, y: Any = None, *_: object, **__: object) -> None:
    _wheel(clicks, x, y, WHEEL_RIGHT, WHEEL_LEFT)


# The keyboard.


def isValidKey(key: str) -> bool:  # noqa: N802
    return _keycode(key)[0] != 0


def keyDown(key: str, *_: object, **__: object) -> None:  # noqa: N802
    code, shift = _keycode(key)
    if code and shift:
        _key(_keycode("shift")[0], True)
    if code:
        _key(code, True)
    if code and shift:
        _key(_keycode("shift")[0], False)


def keyUp(key: str, *_: object, **__: object) -> None:  # noqa: N802
    code, _shift = _keycode(key)
    if code:
        _key(code, False)


def press(
    keys: str | Iterable[str], presses: int = 1, interval: float = 0.0, *_: object, **__: object
) -> None:
    for _number in range(presses):
        for key in [keys] if isinstance(keys, str) else keys:
            keyDown(key)
            keyUp(key)
        time.sleep(interval)


def write(message: str | Iterable[str], interval: float = 0.0, *_: object, **__: object) -> None:
    for key in message:
        press(key, 1, interval)


typewrite = write


def hotkey(*keys: Any, interval: float = 0.0, **_: object) -> None:
    wanted = list(keys[0]) if len(keys) == 1 and isinstance(keys[0], (list, tuple)) else list(keys)
    for key in wanted:
        keyDown(key)
        time.sleep(interval)
    for key in reversed(wanted):
        keyUp(key)
        time.sleep(interval)


shortcut = hotkey


class hold:  # noqa: N801
    """``with pyautogui.hold('shift'): ...``"""

    def __init__(self, keys: str | Iterable[str], *_: object, **__: object) -> None:
        self.keys = [keys] if isinstance(keys, str) else list(keys)

    def __enter__(self) -> None:
        for key in self.keys:
            keyDown(key)

    def __exit__(self, *_: object) -> None:
        for key in reversed(self.keys):
            keyUp(key)


sleep = time.sleep


def __getattr__(name: str) -> Any:
    """Curves of movement change nothing here; what looks at the screen is missing."""
    if name == "linear" or name.startswith("ease"):
        return lambda part: part
    if name in ("screenshot", "pixel", "pixelMatchesColor", "center") or name.startswith("locate"):
        raise NotImplementedError(f"pyautogui.{name} is not there inside an Operant desktop")
    raise AttributeError(name)
