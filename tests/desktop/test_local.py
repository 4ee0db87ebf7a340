"""The live screen, tried on X servers that the tests start."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xcffib
import xcffib.xproto as xproto
from loguru import logger

from operant.config.desktop import SettleConfig
from operant.config.local import LocalConfig
from operant.desktop import live_x11
from operant.desktop.display import Display
from operant.desktop.live_screen import outer_corners
from operant.desktop.local import LocalDesktop
from operant.desktop.protocol import Capability
from operant.desktop.windows import window_manager_name
from operant.errors import (
    AccessibilityError,
    CommandTimeout,
    DesktopClosed,
    DesktopDied,
    InvalidAction,
    LiveScreenRefused,
    OperantError,
    PanicStop,
    UnknownApplication,
)
from operant.types import Action, ActionKind, Button, Monitor, Point, Size

SCREEN = Size(1000, 600)
MONITORS = (Monitor(0, 0, 600, 600), Monitor(600, 0, 400, 500))
MIDDLE = (300, 300)
QUICK = SettleConfig(first_change_ms=15.0, quiet_ms=8.0, cap_ms=500.0)
x11 = pytest.mark.x11


# Somebody's screen: a plain X server, its user at a second connection, and a program that listens.


@contextlib.contextmanager
def running(argv: list[str], **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program that ends with the block, and whatever it started with it."""
    silent = subprocess.DEVNULL
    process = subprocess.Popen(argv, stdout=silent, stderr=silent, start_new_session=True, **more)
    try:
        yield process
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(subprocess.TimeoutExpired, ProcessLookupError):
                os.killpg(process.pid, number)
                process.wait(5)


@contextlib.contextmanager
def x_server(size: Size = SCREEN) -> Iterator[str]:
    """A display of our own; its name."""
    reader, writer = os.pipe()
    argv = ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{size}x24", "-noreset", "-nolisten", "tcp"]
    with os.fdopen(reader, "rb") as told, running(argv, pass_fds=(writer,)):
        os.close(writer)
        yield ":" + told.readline().decode().strip()


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with x_server() as name:
        yield name


class User:
    """Whoever sits at the screen: moves the pointer, has a window open, sees what is pressed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.x = Display.named(name)
        self.x.set_monitors(MONITORS)
        if len(self.x.monitors()) > len(MONITORS):
            switch_off_outputs(self.x)  # what stands for the whole screen is one monitor too many
        self.core = self.x.core
        self.window = self.x.connection.generate_id()
        mask = xproto.EventMask
        heard = mask.KeyPress | mask.KeyRelease | mask.ButtonPress | mask.ButtonRelease | mask.PointerMotion
        self.core.CreateWindow(
            24, self.window, self.x.root, 50, 50, 900, 400, 0, xproto.WindowClass.InputOutput, 0,
            xproto.CW.BackPixel | xproto.CW.EventMask, [0x808080, heard],
        )  # fmt: skip
        self.core.MapWindow(self.window)
        self.x.sync()
        self.focus(self.window)
        self.point(*MIDDLE)
        self.events: list[Any] = []

    def point(self, x: int, y: int) -> None:
        """Move the pointer, as a hand would."""
        self.core.WarpPointer(xproto.Window._None, self.x.root, 0, 0, 0, 0, x, y)
        self.x.sync()

    def focus(self, window: int) -> None:
        self.core.SetInputFocus(xproto.InputFocus.PointerRoot, window, xproto.Time.CurrentTime)
        self.x.sync()

    def slam(self) -> None:
        self.point(0, 0)

    def where(self) -> tuple[int, int]:
        reply = self.core.QueryPointer(self.x.root).reply()
        return reply.root_x, reply.root_y

    def hear(self, kind: type) -> list[Any]:
        """The events of that kind that the window has got so far."""
        while True:
            try:
                event = self.x.connection.poll_for_event()
            except xcffib.Error:
                continue
            if event is None:
                return [one for one in self.events if type(one) is kind]
            self.events.append(event)

    def pressed(self) -> bool:
        """Whether any key or button is down."""
        keys = any(self.core.QueryKeymap().reply().keys)
        return keys or bool(self.core.QueryPointer(self.x.root).reply().mask & 0x1F00)

    def fill(self, colour: int) -> None:
        self.core.ChangeWindowAttributes(self.window, xproto.CW.BackPixel, [colour])
        self.core.ClearArea(False, self.window, 0, 0, 0, 0)
        self.x.sync()


@pytest.fixture
def user(display: str) -> Iterator[User]:
    user = User(display)
    yield user
    user.x.close()


def settings(display: str, **more: Any) -> LocalConfig:
    return LocalConfig(display=display, settle=QUICK, **more)


@pytest.fixture
def live(user: User) -> Iterator[LocalDesktop]:
    with LocalDesktop(settings(user.name), allow_live=True) as desktop:
        yield desktop


def at(x: int, y: int, size: Size = SCREEN) -> Point:
    return Point.from_pixel(x, y, size)


# Consent.


def test_the_live_screen_has_to_be_asked_for() -> None:
    with pytest.raises(LiveScreenRefused, match="allow_live=True"):
        LocalDesktop()


@x11
def test_it_is_a_desktop(live: LocalDesktop) -> None:
    assert live.capabilities == {Capability.WINDOWS, Capability.ACCESSIBILITY}
    assert live.profile is None
    live.check()
    assert live.settle().settled
    assert live.size == SCREEN
    assert live.monitors == MONITORS


@x11
def test_pyautogui_is_not_imported_on_x11(live: LocalDesktop) -> None:
    live.perform(Action.move(at(5, 50)))
    assert "pyautogui" not in sys.modules


@x11
def test_a_dry_run_touches_nothing(user: User, capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    sink = logger.add(said.append, format="{message}")
    actions = [
        Action.click(at(700, 100)),
        Action.type("secret"),
        Action.drag(at(100, 100), at(200, 200)),
        Action(ActionKind.KEY_DOWN, keys=("shift",)),
        Action.wait(30.0),
    ]
    with LocalDesktop(settings(user.name), allow_live=True, dry_run=True) as desktop:
        before = desktop.frame()
        for action in actions:
            assert np.array_equal(desktop.perform(action), before)
        assert desktop.performed == actions
        assert not desktop.last_step.changed
        with pytest.raises(InvalidAction):
            desktop.perform(Action.key("no such key"))
        with pytest.raises(InvalidAction):
            desktop.perform(Action.type("a\0b"))
        with pytest.raises(InvalidAction):
            desktop.perform(Action(ActionKind.CALL, function="delete_everything"))
        assert desktop.performed == actions
        user.slam()
        with pytest.raises(PanicStop):
            desktop.perform(actions[0])
        user.point(*MIDDLE)
    logger.remove(sink)
    assert "secret" in "".join(said)
    assert capsys.readouterr().out == ""
    assert not user.hear(xproto.ButtonPressEvent) + user.hear(xproto.KeyPressEvent)
    assert not user.pressed()


# Reaching it.


@x11
def test_a_display_that_is_not_there_is_refused() -> None:
    began = time.monotonic()
    with pytest.raises(LiveScreenRefused, match=r"DISPLAY"):
        LocalDesktop(settings(":987"), allow_live=True)
    assert time.monotonic() - began < 2.0


@pytest.mark.parametrize(
    ("environ", "said"),
    [({"WAYLAND_DISPLAY": "wayland-0"}, "Wayland"), ({}, "DISPLAY is not set"), ({"DISPLAY": ""}, "not set")],
)
def test_a_session_without_x_is_refused(environ: dict[str, str], said: str) -> None:
    with pytest.raises(LiveScreenRefused, match=said) as caught:
        live_x11.display_name(None, environ)
    assert "sandboxed" in str(caught.value.hint)


def test_the_display_of_the_session_is_used() -> None:
    assert live_x11.display_name(None, {"DISPLAY": ":3", "WAYLAND_DISPLAY": "wayland-0"}) == ":3"
    assert live_x11.display_name(":4", {"DISPLAY": ":3"}) == ":4"


@x11
def test_a_server_inside_wayland_is_refused(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_x11, "OF_WAYLAND", "BIG-REQUESTS")  # an extension that ours has
    with pytest.raises(LiveScreenRefused, match="Wayland"):
        LocalDesktop(settings(user.name), allow_live=True)


@x11
def test_a_server_that_can_not_be_operated_is_refused(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_x11, "NEEDED", ("XTEST", "NO-SUCH-THING"))
    with pytest.raises(LiveScreenRefused, match="lacks NO-SUCH-THING"):
        LocalDesktop(settings(user.name), allow_live=True)


@x11
def test_a_display_that_dies_is_a_typed_error() -> None:
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(x_server(Size(320, 200)))
        desktop = LocalDesktop(settings(name), allow_live=True)
        desktop.frame()
        stack.close()
        for use in (desktop.frame, lambda: desktop.perform(Action.click()), desktop.pointer, desktop.windows):
            with pytest.raises(DesktopDied):
                use()
        desktop.close()
        with pytest.raises(DesktopClosed):
            desktop.frame()


# Seeing.


@x11
def test_a_frame_is_what_is_drawn(user: User) -> None:
    environ = {**os.environ, "DISPLAY": user.name}
    subprocess.run(["xsetroot", "-solid", "#123456"], env=environ, check=True)
    user.fill(0xFEDCBA)
    with LocalDesktop(settings(user.name, cursor=False), allow_live=True) as desktop:
        frame = desktop.frame()
        expected = np.full((600, 1000, 3), (0x12, 0x34, 0x56), np.uint8)
        expected[50:450, 50:950] = (0xFE, 0xDC, 0xBA)
        assert frame.dtype == np.uint8
        assert np.array_equal(frame, expected)
        user.fill(0x00FF00)
        assert not np.array_equal(desktop.frame(), expected)
        assert np.array_equal(frame, expected), "a frame is a copy, not the screen"


@x11
def test_frames_show_the_pointer_unless_told_otherwise(user: User) -> None:
    environ = {**os.environ, "DISPLAY": user.name}
    subprocess.run(["xsetroot", "-cursor_name", "left_ptr"], env=environ, check=True)
    user.point(20, 20)
    with (
        LocalDesktop(settings(user.name), allow_live=True) as with_cursor,
        LocalDesktop(settings(user.name, cursor=False), allow_live=True) as without,
    ):
        different = np.argwhere((with_cursor.frame() != without.frame()).any(axis=2))
    assert len(different)
    assert different.min() >= 10
    assert different.max() <= 60


@x11
def test_every_thread_sees_while_another_one_acts(live: LocalDesktop, user: User) -> None:
    began = threading.Event()

    def act() -> None:
        began.set()
        live.perform(Action.wait(0.5))

    actor = threading.Thread(target=act)
    actor.start()
    began.wait()
    frames = 0
    while actor.is_alive():
        assert live.frame().shape == (600, 1000, 3)
        frames += 1
    actor.join()
    assert frames > 5
    live.close()
    with pytest.raises(DesktopClosed):
        live.frame()


@x11
def test_threads_leave_no_connection_behind(live: LocalDesktop, eventually: Callable[..., Any]) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    live.frame()
    before = descriptors()
    for _ in range(5):
        thread = threading.Thread(target=live.frame)
        thread.start()
        thread.join()
    del thread
    eventually(lambda: descriptors() <= before)


@x11
def test_a_screen_that_changes_its_size_is_followed() -> None:
    with x_server(Size(640, 480)) as name, contextlib.ExitStack() as stack:
        other = Display.named(name)
        stack.callback(other.close)
        resize(other, Size(320, 240))
        desktop = stack.enter_context(LocalDesktop(settings(name), allow_live=True))
        desktop.resume()  # a screen that shrinks may push the pointer into its corner
        for size in (Size(320, 240), Size(640, 480), Size(400, 300)):
            desktop.perform(Action.move(Point(0.2, 0.2)))
            resize(other, size)
            assert desktop.frame().shape == (size.height, size.width, 3)
            assert desktop.size == size
            desktop.perform(Action.move(Point(0.5, 0.5)))
            assert desktop.pointer() == (size.width // 2, size.height // 2)


def switch_off_outputs(display: Display) -> None:
    resources = display.randr.GetScreenResources(display.root).reply()
    for crtc in resources.crtcs:
        display.randr.SetCrtcConfig(crtc, 0, resources.config_timestamp, 0, 0, 0, 1, 0, []).reply()


def resize(display: Display, size: Size) -> None:
    switch_off_outputs(display)
    display.randr.SetScreenSize(display.root, *size, size.width // 4, size.height // 4)
    display.sync()


# Doing.


@x11
@pytest.mark.parametrize("place", [(120, 80), (601, 99), (900, 440)])
def test_clicks_arrive_where_they_were_sent(live: LocalDesktop, user: User, place: tuple[int, int]) -> None:
    live.perform(Action.click(at(*place), button=Button.RIGHT, clicks=2))
    presses = user.hear(xproto.ButtonPressEvent)
    assert [(one.detail, one.root_x, one.root_y) for one in presses] == [(3, *place)] * 2
    assert len(user.hear(xproto.ButtonReleaseEvent)) == 2
    assert live.pointer() == place == user.where()


@x11
def test_typing_arrives_in_a_terminal(
    live: LocalDesktop, user: User, tmp_path: Path, eventually: Callable[..., Any]
) -> None:
    text = 'Hello, <world> "É" ß 漢字 😀 #{}|\\~\n' + "0123456789 " * 60 + "\n"
    out, ready = tmp_path / "out", tmp_path / "ready"
    program = f"stty -echo -icanon; touch {ready}; exec cat > {out}"
    environ = {**os.environ, "DISPLAY": user.name, "LC_ALL": "C.UTF-8"}
    with running(["xterm", "-u8", "-geometry", "60x20+50+50", "-e", "sh", "-c", program], env=environ):
        eventually(ready.exists)
        user.focus(xproto.InputFocus.PointerRoot)
        live.perform(Action.click(at(100, 100)))
        step = live.perform(Action.type(text))
        assert step.shape == (600, 1000, 3)
        eventually(lambda: out.read_text() == text)


@x11
def test_a_step_tells_whether_the_screen_changed(live: LocalDesktop, user: User) -> None:
    live.perform(Action.move(at(400, 300)))
    assert not live.last_step.changed
    assert live.last_step.settled
    stop = threading.Event()

    def draw() -> None:
        while not stop.wait(0.002):
            user.fill(time.monotonic_ns() & 0xFFFFFF)

    artist = threading.Thread(target=draw)
    artist.start()
    live.perform(Action.wait(0.05))
    stop.set()
    artist.join()
    assert live.last_step.changed


@x11
def test_what_is_drawn_at_the_start_of_a_drag_counts(live: LocalDesktop, user: User) -> None:
    def draw() -> None:
        while not user.hear(xproto.ButtonPressEvent):
            select.select([user.x.fd], [], [], 0.01)
        user.fill(0x334455)

    artist = threading.Thread(target=draw)
    artist.start()
    live.perform(Action.drag(at(100, 100), at(400, 400), duration=0.2))
    artist.join()
    assert live.last_step.changed


@x11
def test_a_drag_and_a_hold(live: LocalDesktop, user: User) -> None:
    live.perform(Action.drag(at(100, 100), at(300, 100), at(300, 300), modifiers=("ctrl",)))
    press, release = user.hear(xproto.ButtonPressEvent)[0], user.hear(xproto.ButtonReleaseEvent)[0]
    assert (press.root_x, press.root_y) == (100, 100)
    assert press.state & xproto.KeyButMask.Control
    assert (release.root_x, release.root_y) == (300, 300)
    assert len(user.hear(xproto.MotionNotifyEvent)) > 10
    began = time.monotonic()
    live.perform(Action(ActionKind.HOLD, keys=("a",), duration=0.2))
    assert time.monotonic() - began >= 0.2
    assert not user.pressed()


# Panic.


@x11
@pytest.mark.parametrize("corner", [(0, 0), (0, 599), (2, 1), (599, 599), (999, 0), (999, 499)])
def test_a_slammed_pointer_stops_everything(live: LocalDesktop, user: User, corner: tuple[int, int]) -> None:
    live.perform(Action(ActionKind.KEY_DOWN, keys=("shift",)))
    live.perform(Action(ActionKind.MOUSE_DOWN, button=Button.LEFT))
    assert user.pressed()
    user.point(*corner)
    for _ in range(2):
        with pytest.raises(PanicStop, match=r"resume\(\)"):
            live.perform(Action.click(at(200, 200)))
    assert not user.pressed()
    user.point(*MIDDLE)
    with pytest.raises(PanicStop):
        live.perform(Action.click(at(200, 200)))
    assert live.stopped
    assert live.frame().shape == (600, 1000, 3), "looking stays allowed"
    live.resume()
    live.perform(Action.click(at(200, 200)))
    assert user.where() == (200, 200)


@x11
@pytest.mark.parametrize("place", [(598, 0), (601, 0), (600, 499), (300, 0), (0, 300), (5, 5), (999, 599)])
def test_other_places_mean_nothing(live: LocalDesktop, user: User, place: tuple[int, int]) -> None:
    user.point(*place)
    live.perform(Action.click())


@x11
def test_the_agent_may_go_into_a_corner_itself(live: LocalDesktop, user: User) -> None:
    for action in (
        Action.click(at(0, 0)),
        Action.type("still here"),
        Action.drag(at(0, 0), at(999, 0), at(0, 0)),
        Action.click(),
    ):
        live.perform(action)
    assert user.where() == (0, 0)
    user.point(100, 100)
    live.perform(Action.wait())
    user.slam()
    with pytest.raises(PanicStop):
        live.perform(Action.wait())


@x11
def test_resuming_with_the_pointer_in_the_corner(live: LocalDesktop, user: User) -> None:
    user.slam()
    with pytest.raises(PanicStop):
        live.perform(Action.click())
    live.resume()
    live.perform(Action.key("a"))
    user.point(1, 1)
    with pytest.raises(PanicStop):
        live.perform(Action.key("a"))


@x11
def test_a_picture_notices_the_gesture_too(live: LocalDesktop, user: User) -> None:
    live.perform(Action(ActionKind.KEY_DOWN, keys=("ctrl",)))
    user.slam()
    live.frame()
    assert not user.pressed()
    user.point(*MIDDLE)
    with pytest.raises(PanicStop):
        live.perform(Action.click())


LONG = 10.0


@x11
@pytest.mark.parametrize(
    "action",
    [
        Action.type("all work and no play " * 5000),
        Action.scroll(dy=50_000),
        Action(ActionKind.HOLD, keys=("shift", "a"), duration=LONG),
        Action.drag(*[at(100, 100), at(900, 400)] * 4, duration=LONG, modifiers=("alt",)),
        Action.wait(LONG),
    ],
    ids=lambda action: action.kind.value,
)
def test_a_long_action_is_stopped_halfway(
    live: LocalDesktop, user: User, action: Action, eventually: Callable[..., Any]
) -> None:
    stopped: list[OperantError] = []

    def act() -> None:
        try:
            live.perform(action)
        except OperantError as error:
            stopped.append(error)

    actor = threading.Thread(target=act)
    actor.start()
    signs = (xproto.KeyPressEvent, xproto.ButtonPressEvent)
    if action.kind is not ActionKind.WAIT:
        eventually(lambda: any(user.hear(kind) for kind in signs))
    if action.kind is ActionKind.DRAG:
        eventually(lambda: len(user.hear(xproto.MotionNotifyEvent)) > 3)
    began = time.monotonic()
    # A drag goes on putting the pointer elsewhere, so a hand has to keep pushing.
    while actor.is_alive() and time.monotonic() - began < LONG:
        user.slam()
        actor.join(0.005)
    took = time.monotonic() - began
    actor.join()
    assert [type(error) for error in stopped] == [PanicStop]
    assert took < 1.0
    assert not user.pressed()
    count = len(user.hear(xproto.KeyPressEvent)) + len(user.hear(xproto.ButtonPressEvent))
    assert count < 20_000, "not all of it was sent"
    user.point(*MIDDLE)
    with pytest.raises(PanicStop):
        live.perform(Action.click())


def test_corners_in_which_a_pointer_comes_to_rest() -> None:
    single = [Monitor(0, 0, 100, 50)]
    assert sorted(outer_corners(single)) == [(0, 0), (0, 49), (99, 0), (99, 49)]
    assert sorted(outer_corners([*single, Monitor(100, 0, 100, 50)])) == [
        (0, 0),
        (0, 49),
        (199, 0),
        (199, 49),
    ]
    mirrored = [*single, Monitor(0, 0, 80, 40)]
    assert set(outer_corners(mirrored)) == set(outer_corners(single))
    lower = outer_corners(MONITORS)
    assert sorted(lower) == [(0, 0), (0, 599), (599, 599), (999, 0), (999, 499)]


# Leaving no trace.


@x11
def test_a_reset_lets_go_and_closes_nothing(live: LocalDesktop, user: User) -> None:
    live.perform(Action(ActionKind.KEY_DOWN, keys=("ctrl", "é")))
    live.perform(Action(ActionKind.MOUSE_DOWN, button=Button.BACK))
    assert user.pressed()
    live.reset()
    assert not user.pressed()
    assert user.core.GetWindowAttributes(user.window).reply().map_state == xproto.MapState.Viewable


@x11
def test_what_the_user_has_pressed_and_locked_is_left_alone(live: LocalDesktop, user: User) -> None:
    lock, num_lock = 0x02, 0x10
    user.x.xkb.LatchLockState(0x100, 0xFF, lock | num_lock, False, 0, 0, False, 0)
    user.x.xtest.FakeInput(2, 38, 0, 0, 0, 0, 0)
    user.x.sync()
    live.perform(Action(ActionKind.KEY_DOWN, keys=("shift",)))
    live.reset()
    state = user.x.xkb.GetState(0x100).reply()
    assert state.lockedMods == lock | num_lock
    assert user.core.QueryKeymap().reply().keys[38 // 8] & (1 << 38 % 8)
    user.x.xtest.FakeInput(3, 38, 0, 0, 0, 0, 0)
    user.x.xkb.LatchLockState(0x100, 0xFF, 0, False, 0, 0, False, 0)
    user.x.sync()


@x11
@pytest.mark.parametrize("how", ["close", "forget", "exit"])
def test_nothing_stays_pressed_or_bound(user: User, how: str) -> None:
    setup = user.x.connection.get_setup()
    span = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1)
    before = list(user.core.GetKeyboardMapping(*span).reply().keysyms)
    held = Action(ActionKind.KEY_DOWN, keys=("f5",))
    if how == "exit":
        program = (
            "from operant.config.local import *\n"
            "from operant.desktop.local import *\n"
            "from operant.types import *\n"
            f"desktop = LocalDesktop(LocalConfig(display={user.name!r}), allow_live=True)\n"
            "desktop.perform(Action(ActionKind.KEY_DOWN, keys=('shift',)))\n"
            "raise SystemExit('the agent failed')"
        )
        ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
        assert "the agent failed" in ended.stderr
    else:
        desktop = LocalDesktop(settings(user.name), allow_live=True)
        desktop.perform(held)
        desktop.perform(Action.type("⸘ꙮ"))  # no other test binds keys to these
        assert user.pressed()
        if how == "close":
            desktop.close()
            desktop.close()
        else:
            del desktop
    assert not user.pressed()
    after = user.core.GetKeyboardMapping(*span).reply()
    width = after.keysyms_per_keycode
    rows = [tuple(k for k in list(after.keysyms)[i * width : (i + 1) * width] if k) for i in range(span[1])]
    width = len(before) // span[1]
    assert rows == [tuple(k for k in before[i * width : (i + 1) * width] if k) for i in range(span[1])]


# Looking around.


@x11
def test_windows_are_listed(live: LocalDesktop, user: User, eventually: Callable[..., Any]) -> None:
    assert live.windows() == []
    environ = {**os.environ, "DISPLAY": user.name}
    with running(["openbox", "--sm-disable"], env=environ):
        eventually(lambda: window_manager_name(user.x))
        with running(["xterm", "-T", "mine", "-e", "sleep", "60"], env=environ) as xterm:
            found = eventually(lambda: [one for one in live.windows() if one.title == "mine" and one.focused])
            assert (found[0].wm_class, found[0].pid) == ("XTerm", xterm.pid)
            live.reset()
            assert len(live.windows()) >= 1


@x11
def test_accessibility_of_the_session(user: User, tmp_path: Path, eventually: Callable[..., Any]) -> None:
    environ = {
        **os.environ,
        "DISPLAY": user.name,
        "GDK_BACKEND": "x11",
        "NO_AT_BRIDGE": "0",
        "HOME": str(tmp_path),
    }
    environ.pop("AT_SPI_BUS_ADDRESS", None)
    address = tmp_path / "address"
    session = [
        "dbus-run-session",
        "--",
        "sh",
        "-c",
        f"echo $DBUS_SESSION_BUS_ADDRESS > {address}; exec galculator",
    ]
    with running(session, env=environ), contextlib.ExitStack() as stack:
        bus = eventually(lambda: address.exists() and address.read_text().strip(), timeout=10.0)
        screen = live_x11.X11Screen(user.name, cursor=False, environ={"DBUS_SESSION_BUS_ADDRESS": bus})
        desktop = stack.enter_context(LocalDesktop(settings(user.name), allow_live=True, screen=screen))

        def tree() -> Any:
            with contextlib.suppress(AccessibilityError):
                return desktop.accessibility(app="galculator").find("menu", "Calculator")

        menu = eventually(tree, timeout=10.0, pause=0.05)
        assert menu.box is not None


@x11
def test_a_session_without_accessibility_says_so(user: User) -> None:
    user.core.DeleteProperty(user.x.root, user.x.atom("AT_SPI_BUS"))
    user.x.sync()
    screen = live_x11.X11Screen(user.name, cursor=False, environ={})
    with (
        LocalDesktop(allow_live=True, screen=screen) as desktop,
        pytest.raises(AccessibilityError, match="no accessibility bus"),
    ):
        desktop.accessibility()


@x11
def test_commands_have_to_be_allowed(user: User, live: LocalDesktop) -> None:
    with pytest.raises(LiveScreenRefused, match="allow_commands=True"):
        live.run("true")
    with (
        LocalDesktop(settings(user.name), allow_live=True, allow_commands=True, dry_run=True) as dry,
        pytest.raises(LiveScreenRefused, match="dry run"),
    ):
        dry.run("true")


@x11
def test_commands_run_within_limits(user: User) -> None:
    with LocalDesktop(settings(user.name), allow_live=True, allow_commands=True) as desktop:
        result = desktop.run(
            ["sh", "-c", "echo $DISPLAY $MORE; cat; echo no >&2; exit 3"], stdin=b"in", env={"MORE": "x"}
        )
        assert (result.returncode, result.stdout, result.stderr) == (
            3,
            f"{user.name} x\nin".encode(),
            b"no\n",
        )
        flood = desktop.run(["head", "-c", "300000", "/dev/zero"], limit=1000)
        assert (len(flood.stdout), flood.truncated) == (1000, True)
        left = desktop.run(["sh", "-c", "echo out; sleep 5 &"])
        assert left.stdout == b"out\n"
        began = time.monotonic()
        with pytest.raises(CommandTimeout):
            desktop.run(["sh", "-c", "sleep 30; true"], timeout_s=0.2)
        with pytest.raises(UnknownApplication):
            desktop.run("no-such-program-anywhere")
        threading.Timer(0.1, user.slam).start()
        with pytest.raises(PanicStop):
            desktop.run("sleep 30")
        with pytest.raises(PanicStop):
            desktop.run("true")
        assert time.monotonic() - began < 3.0
