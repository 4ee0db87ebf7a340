"""The live screen of macOS and Windows, tried on stand-ins: PyAutoGUI can't be installed beside X11."""

from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.config.desktop import SettleConfig
from operant.config.local import LocalConfig
from operant.desktop import live_frames, panic
from operant.desktop.live_pyautogui import HiDpi, PyAutoGuiScreen
from operant.desktop.local import LocalDesktop, open_live_screen
from operant.errors import AccessibilityError, InvalidAction, LiveScreenRefused, PanicStop
from operant.types import Action, ActionKind, Button, Monitor, Point, ScrollUnit, Size

# All together, the main screen, and one to its left that stands a little higher.
RETINA = [Monitor(-40, -10, 140, 70), Monitor(0, 0, 100, 60), Monitor(-40, -10, 40, 30)]


class StubFrames:
    """Grabs a screen whose pictures have ``scale`` times ``scale`` pixels for each unit."""

    def __init__(self, monitors: list[Monitor], scale: float) -> None:
        self.found = monitors
        self.scale = scale
        self.colour = 0
        self.closed = False

    def monitors(self) -> list[Monitor]:
        return self.found

    def grab(self, region: Monitor) -> Any:
        shape = (int(region.height * self.scale), int(region.width * self.scale), 3)
        return np.full(shape, self.colour, np.uint8)

    def close(self) -> None:
        self.closed = True


class StubGui:
    """The functions of PyAutoGUI that are used, with its signatures; remembers its calls."""

    FAILSAFE = True
    PAUSE = 0.1

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.at = (5, 7)

    def position(self) -> Any:
        return SimpleNamespace(x=self.at[0], y=self.at[1]).__dict__.values()

    def isValidKey(self, key: str) -> bool:  # noqa: N802
        names = {"ctrl", "shift", "alt", "enter", "command", "win", "f1", "\n", "\t"}
        return key in names or (len(key) == 1 and key.isascii() and key.isprintable())

    def moveTo(self, x: int, y: int, _pause: bool = True) -> None:  # noqa: N802
        self.at = (x, y)
        self.calls.append(("moveTo", x, y))

    def dragTo(  # noqa: N802
        self,
        x: int,
        y: int,
        button: str = "primary",
        _pause: bool = True,
        mouseDownUp: bool = True,  # noqa: N803
    ) -> None:
        assert not mouseDownUp
        self.at = (x, y)
        self.calls.append(("dragTo", x, y, button))

    def click(self, clicks: int = 1, button: str = "primary", _pause: bool = True) -> None:
        self.calls.append(("click", clicks, button))

    def mouseDown(self, button: str = "primary", _pause: bool = True) -> None:  # noqa: N802
        self.calls.append(("mouseDown", button))

    def mouseUp(self, button: str = "primary", _pause: bool = True) -> None:  # noqa: N802
        self.calls.append(("mouseUp", button))

    def scroll(self, clicks: int, _pause: bool = True) -> None:
        self.calls.append(("scroll", clicks))

    def hscroll(self, clicks: int, _pause: bool = True) -> None:
        self.calls.append(("hscroll", clicks))

    def keyDown(self, key: str, _pause: bool = True) -> None:  # noqa: N802
        self.calls.append(("keyDown", key))

    def keyUp(self, key: str, _pause: bool = True) -> None:  # noqa: N802
        self.calls.append(("keyUp", key))

    def write(self, message: str, _pause: bool = True) -> None:
        self.calls.append(("write", message))


class Mac:
    """A desktop on a Mac of stand-ins: a Retina screen (2.0) and another one to its left."""

    def __init__(
        self, platform: str = "darwin", monitors: list[Monitor] = RETINA, scale: float = 2.0
    ) -> None:
        self.gui = StubGui()
        self.frames = StubFrames(monitors, scale)
        screen = PyAutoGuiScreen(self.gui, self.frames, platform)  # type: ignore[arg-type]
        config = LocalConfig(settle=SettleConfig(first_change_ms=1.0, quiet_ms=1.0, cap_ms=30.0))
        self.desktop = LocalDesktop(config, allow_live=True, screen=screen)

    def does(self, action: Action) -> list[tuple[Any, ...]]:
        self.gui.calls.clear()
        self.desktop.perform(action)
        return self.gui.calls


@pytest.fixture
def mac() -> Mac:
    return Mac()


def test_hidpi_frames_are_physical_and_begin_at_zero(mac: Mac) -> None:
    assert mac.desktop.size == Size(280, 140)
    assert mac.desktop.frame().shape == (140, 280, 3)
    assert mac.desktop.monitors == (Monitor(80, 20, 200, 120), Monitor(0, 0, 80, 60))


@pytest.mark.parametrize(
    ("pixel", "unit"),
    [((80, 20), (0, 0)), ((81, 21), (0, 0)), ((82, 20), (1, 0)), ((0, 0), (-40, -10)), ((79, 59), (-1, 19)),
     ((279, 139), (99, 59))],
)  # fmt: skip
def test_hidpi_clicks_go_to_logical_places(mac: Mac, pixel: tuple[int, int], unit: tuple[int, int]) -> None:
    calls = mac.does(Action.click(Point.from_pixel(*pixel, mac.desktop.size)))
    assert calls == [("moveTo", *unit), ("click", 1, "left")]
    x, y = mac.desktop.pointer()
    assert (x // 2, y // 2) == (pixel[0] // 2, pixel[1] // 2)


@given(
    st.sampled_from([1.0, 1.25, 1.5, 2.0, 3.0]),
    st.integers(-5000, 5000),
    st.integers(-5000, 5000),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_hidpi_round_trips(scale: float, left: int, top: int, across: float, down: float) -> None:
    area = Monitor(left, top, 1920, 1080)
    hidpi = HiDpi(area, Size(int(1920 * scale), int(1080 * scale)))
    x, y = Point(across, down).to_pixel(hidpi.size)
    unit = hidpi.to_units(x, y)
    assert left <= unit[0] < left + 1920
    assert top <= unit[1] < top + 1080
    back = hidpi.to_pixel(*unit)
    assert abs(back[0] - x) <= scale
    assert abs(back[1] - y) <= scale


def test_the_panic_gesture_at_a_negative_corner(mac: Mac) -> None:
    mac.does(Action.move(Point(0.0, 0.0)))
    mac.does(Action.key("a"))  # the agent put it there
    mac.gui.at = (0, 0)  # a corner of the main screen, but the other one goes on to its left
    mac.does(Action.key("a"))
    mac.gui.at = (-40, -10)
    with pytest.raises(PanicStop):
        mac.does(Action.key("a"))
    assert mac.gui.calls == []


def test_a_drag_that_is_stopped_lets_go(mac: Mac, monkeypatch: pytest.MonkeyPatch) -> None:
    def slam_meanwhile(_seconds: float) -> None:
        if sum(call[0] == "dragTo" for call in mac.gui.calls) == 2:
            mac.gui.at = (99, 59)

    monkeypatch.setattr(panic, "time", SimpleNamespace(monotonic=time.monotonic, sleep=slam_meanwhile))
    with pytest.raises(PanicStop):
        mac.does(Action.drag(Point(0.1, 0.9), Point(0.9, 0.5), modifiers=("shift",)))
    assert [call[0] for call in mac.gui.calls] == [
        "keyDown", "moveTo", "mouseDown", "dragTo", "dragTo", "mouseUp", "keyUp",
    ]  # fmt: skip


def test_pyautogui_gets_what_it_understands(mac: Mac) -> None:
    assert (mac.gui.FAILSAFE, mac.gui.PAUSE) == (False, 0)
    size = mac.desktop.size
    assert mac.does(Action.click(clicks=3, button=Button.MIDDLE, modifiers=("cmd", "shift"))) == [
        ("keyDown", "command"), ("keyDown", "shift"), ("click", 3, "middle"),
        ("keyUp", "shift"), ("keyUp", "command"),
    ]  # fmt: skip
    assert mac.does(Action.key("ctrl", "c")) == [
        ("keyDown", "ctrl"),
        ("keyDown", "c"),
        ("keyUp", "c"),
        ("keyUp", "ctrl"),
    ]
    assert mac.does(Action.scroll(dx=1, dy=2)) == [("scroll", -20), ("hscroll", 10)]
    assert mac.does(Action.scroll(dy=-30, unit=ScrollUnit.PIXEL)) == [("scroll", 10)]
    calls = mac.does(
        Action.drag(Point.from_pixel(80, 20, size), Point.from_pixel(180, 120, size), duration=0.1)
    )
    assert calls[:2] == [("moveTo", 0, 0), ("mouseDown", "left")]
    assert calls[-2:] == [("dragTo", 50, 50, "left"), ("mouseUp", "left")]
    text = "The quick brown fox\njumps over"
    calls = mac.does(Action.type(text))
    assert len(calls) > 1
    assert "".join(chunk for _, chunk in calls) == text
    assert mac.does(Action.done()) == mac.does(Action.wait(0.01)) == []
    mac.does(Action(ActionKind.KEY_DOWN, keys=("f1",)))
    mac.does(Action(ActionKind.MOUSE_DOWN))
    mac.gui.calls.clear()
    mac.desktop.close()
    assert mac.gui.calls == [("mouseUp", "left"), ("keyUp", "f1")]
    assert mac.frames.closed


@pytest.mark.parametrize(
    ("platform", "action"),
    [
        ("darwin", Action.type("né")),
        ("darwin", Action.key("f24")),
        ("darwin", Action.click(button=Button.BACK)),
        ("win32", Action.scroll(dx=1)),
        ("win32", Action.click(modifiers=("altgr",))),
    ],
)
def test_what_pyautogui_would_drop_is_refused(platform: str, action: Action) -> None:
    mac = Mac(platform)
    with pytest.raises(InvalidAction, match="PyAutoGUI"):
        mac.does(action)
    assert mac.gui.calls == []


def test_windows_counts_scrolls_and_calls_super_in_its_own_way() -> None:
    windows = Mac("win32", [Monitor(0, 0, 100, 50)] * 2, 1.0)
    assert windows.does(Action.scroll(dy=1)) == [("scroll", -120)]
    assert windows.does(Action.key("super")) == [("keyDown", "win"), ("keyUp", "win")]
    with pytest.raises(LiveScreenRefused):
        windows.desktop.windows()
    with pytest.raises(AccessibilityError):
        windows.desktop.accessibility()


def test_settling_by_looking() -> None:
    mac = Mac(monitors=[Monitor(0, 0, 20, 10)])
    mac.desktop.perform(Action.click())
    assert not mac.desktop.last_step.changed
    assert mac.desktop.last_step.settled
    click = mac.gui.click

    def click_and_draw(**more: Any) -> None:
        click(**more)
        mac.frames.colour = 200

    mac.gui.click = click_and_draw  # type: ignore[method-assign]
    frame = mac.desktop.perform(Action.click())
    assert mac.desktop.last_step.changed
    assert (frame == 200).all()


def test_monitors_that_are_plugged_in_later(mac: Mac) -> None:
    mac.frames.found = [Monitor(0, 0, 50, 40)] * 2
    assert mac.desktop.frame().shape == (80, 100, 3)
    assert mac.desktop.size == Size(100, 80)


def test_without_pyautogui_the_other_platforms_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyautogui", None)
    with pytest.raises(LiveScreenRefused, match="pip install pyautogui"):
        open_live_screen(LocalConfig(), "darwin")


def test_retina_pictures_are_taken_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    darwin = pytest.importorskip("mss.darwin")
    monkeypatch.setattr(darwin, "IMAGE_OPTIONS", darwin.IMAGE_OPTIONS)
    live_frames.use_physical_pixels()
    assert not darwin.IMAGE_OPTIONS & darwin.kCGWindowImageNominalResolution


def test_nothing_of_x11_is_needed_to_import_it() -> None:
    program = (
        "import sys\n"
        "for name in ('xcffib', 'jeepney', 'pyautogui', 'fcntl', 'resource', 'pwd', 'grp', 'termios'):\n"
        "    sys.modules[name] = None\n"
        "import operant.desktop.local, operant.desktop.live_pyautogui"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
