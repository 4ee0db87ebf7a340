"""A step ends when the screen has taken it: not before, and not long after."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from operant.agents.hosted import make
from operant.config.desktop import SURE_BUSY_MS, SURE_MS
from operant.config.hosted import HostedSettings
from operant.desktop.sandbox import SandboxDesktop
from operant.rollout.player import environment_for
from operant.tasks.criteria import FileExists
from operant.tasks.task import Task
from operant.types import Action, Difficulty, Node, Point

pytestmark = pytest.mark.x11


def test_a_step_that_changes_nothing_is_cheap(desktop: SandboxDesktop) -> None:
    took = []
    for index in range(40):
        began = time.monotonic()
        desktop.perform(Action.move(Point(0.3 + index / 1000, 0.3)))
        took.append(time.monotonic() - began)
        assert desktop.last_step.settled
    assert statistics.median(took) < 0.06  # 0.01 on a machine that has nothing else to do


@pytest.mark.alone
def test_a_screen_that_never_rests_is_cut_off(fresh: Callable[..., SandboxDesktop], eventually: Any) -> None:
    # A program that gets no processor time for 5 ms rests, so this screen counts as still only after 250 ms.
    desktop = fresh(settle={"cap_ms": 300, "first_change_ms": 250, "quiet_ms": 250})
    script = """
import ctypes, time
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype, x.XDefaultRootWindow.restype = ctypes.c_void_p, ctypes.c_ulong
d = ctypes.c_void_p(x.XOpenDisplay(None)); root = ctypes.c_ulong(x.XDefaultRootWindow(d))
for colour in range(10**9):
    x.XSetWindowBackground(d, root, ctypes.c_ulong(colour % 200 * 256))
    x.XClearWindow(d, root); x.XSync(d, 0)
    if colour == 3: open("drawing", "w").close()
    time.sleep(0.001)"""
    desktop.start(["/usr/bin/python3", "-c", script])
    eventually(lambda: desktop.files.exists("drawing"))
    began = time.monotonic()
    desktop.perform(Action.key("a"))
    assert 0.29 < time.monotonic() - began < 2.0
    assert (desktop.last_step.changed, desktop.last_step.settled) == (True, False)


def test_a_program_that_thinks_before_it_draws_is_waited_for(
    fresh: Callable[..., SandboxDesktop], eventually: Any
) -> None:
    """On every key it works for a while with the screen still, and only then draws."""
    desktop = fresh()
    script = r"""
        stty raw -echo; printf ready > ready
        while :; do
            dd bs=1 count=1 2>/dev/null >/dev/null
            i=0; while [ $i -lt 12000 ]; do i=$((i+1)); done
            printf '\033[2J\033[%d;%dH####' 5 10
        done"""
    desktop.launch(["xterm", "-e", "sh", "-c", script])
    eventually(lambda: desktop.files.exists("ready"))
    desktop.settle()
    for _ in range(3):
        before = desktop.frame()
        after = desktop.perform(Action.key("x"))
        assert desktop.last_step.changed
        time.sleep(0.2)  # whatever comes later came too late, which is the point
        assert np.array_equal(after, desktop.frame())
        if not np.array_equal(before, after):
            return
    pytest.fail("it never drew")


LATE = r"""
    stty raw -echo; printf ready > ready; column=1
    while :; do
        dd bs=1 count=1 2>/dev/null >/dev/null
        sleep 0.15; printf '\033[5;%dH####' $((column += 5))
    done"""


def test_what_a_hosted_model_is_shown_holds_what_an_idle_program_draws_late(
    desktop: SandboxDesktop, eventually: Any
) -> None:
    """It sleeps for 150 ms after a key, so nothing tells that there is more to come."""
    agent = make(HostedSettings(vendor="chat", model="any", base_url="http://127.0.0.1:9/v1"))
    environment = environment_for(desktop, agent)
    task = Task("own/late-v1", "Press keys.", Difficulty.EASY, FileExists(path="ready"))
    environment.begin(task, prepared=True)
    desktop.launch(["xterm", "-e", "sh", "-c", LATE])
    eventually(lambda: desktop.files.exists("ready"))
    for _ in range(3):
        before = environment.look().screen
        began = time.monotonic()
        shown = environment.step(Action.key("x")).observation.screen
        assert time.monotonic() - began > 0.3
        assert not np.array_equal(before, shown)
        time.sleep(0.4)  # whatever comes later came too late, which is the point
        assert np.array_equal(shown, desktop.frame())


def display_of(tree: Node) -> str:
    shown = [
        node.text
        for node in tree.walk()
        if node.role in ("text", "entry") and node.text and node.text.strip()
    ]
    return " ".join(shown)


@pytest.mark.alone
def test_the_frame_after_a_click_shows_its_effect(desktop: SandboxDesktop, eventually: Any) -> None:
    """Each digit that is clicked in a calculator is in the very frame that the step returns."""
    window = desktop.launch("galculator")
    tree = desktop.accessibility(app="galculator", timeout_s=5.0)
    shown = tree.find("text")
    assert shown is not None
    assert shown.box is not None
    _, y, _, height = shown.box
    places = {}
    for digit in "123456789":
        node = tree.find(name=digit)
        assert node is not None
        assert node.box is not None
        places[digit] = Point.from_pixel(
            node.box[0] + node.box[2] // 2, node.box[1] + node.box[3] // 2, desktop.size
        )
    late = []
    last = desktop.frame()
    for index in range(50):
        digit = "123456789"[(index * 4) % 9]
        if index % 10 == 0:
            desktop.perform(Action.key("esc"))
            desktop.settle()
            last = desktop.frame()
        frame = desktop.perform(Action.click(places[digit]))
        desktop.settle()
        # Only the display counts: buttons may go on glowing.
        if not np.array_equal(frame[window.y : y + height], desktop.frame()[window.y : y + height]):
            late.append(index)
        assert not np.array_equal(frame, last)
        assert digit in display_of(desktop.accessibility(app="galculator", timeout_s=5.0))
        last = desktop.frame()
    assert late == []


def test_typing_is_on_the_frame_that_it_returns(editor: Any) -> None:
    desktop = editor.desktop
    for word in ("one ", "two ", "three "):
        before = desktop.frame()
        after = desktop.perform(Action.type(word))
        assert not np.array_equal(before, after)
        assert editor.text().endswith(word)


def test_waiting_waits_as_long_as_asked_for(desktop: SandboxDesktop) -> None:
    began = time.monotonic()
    desktop.perform(Action.wait(0.2))
    assert 0.2 <= time.monotonic() - began < 0.6


def test_the_settings_are_obeyed(fresh: Callable[..., SandboxDesktop]) -> None:
    slow = fresh(settle={"first_change_ms": 200.0})
    began = time.monotonic()
    slow.perform(Action.move(Point(0.4, 0.4)))
    assert time.monotonic() - began >= 0.2
    assert slow.last_step.waited_ms >= 200.0


def test_a_blinking_cursor_does_not_keep_a_step_from_ending(editor: Any) -> None:
    for _ in range(10):
        editor.desktop.perform(Action.key("right"))
        assert editor.desktop.last_step.settled


def _terminal_program(desktop: SandboxDesktop, eventually: Any, body: str) -> None:
    """A program in a terminal that has an event loop of its own; ``body`` is run with ``key()`` and ``sleep(ms)``."""
    script = f"""
import os, select, tty
tty.setraw(0)
loop, keys = select.poll(), select.poll()
keys.register(0, select.POLLIN)
sleep = lambda ms: loop.poll(ms)
key = lambda ms=None: keys.poll(ms) and os.read(0, 1)
draw = lambda: os.write(1, b"\\x1b[5;10H####")
open("ready", "w").close()
{body}"""
    desktop.launch(["xterm", "-e", "/usr/bin/python3", "-c", script])
    eventually(lambda: desktop.files.exists("ready"))


def test_a_timer_that_an_action_sets_is_waited_for_where_it_must_be_sure(
    fresh: Callable[..., SandboxDesktop], eventually: Any
) -> None:
    """Calculators poll for their result every 50 ms: the screen is still and every program sleeps meanwhile."""
    desktop = fresh()
    _terminal_program(
        desktop, eventually, "while True: key(); sleep(400); draw(); key(); os.write(1, b'\\x1b[2J')"
    )
    desktop.settle(SURE_MS)
    before = desktop.frame()
    hasty = desktop.perform(Action.key("x"))
    desktop.settle(SURE_MS)
    after = desktop.frame()
    assert np.array_equal(before, hasty)
    assert not np.array_equal(before, after)


def test_a_program_that_always_wakes_delays_no_step(
    fresh: Callable[..., SandboxDesktop], eventually: Any
) -> None:
    desktop = fresh()
    _terminal_program(desktop, eventually, "while True: key(40)")
    desktop.settle(SURE_MS)  # finds out that it does so at rest
    took = []
    for _ in range(5):
        began = time.monotonic()
        desktop.perform(Action.move(Point(0.3, 0.3)))
        desktop.settle(SURE_MS)
        took.append(time.monotonic() - began)
    assert statistics.median(took) < SURE_BUSY_MS / 1000


def test_a_key_after_typed_text_waits_only_for_a_completion(desktop: SandboxDesktop) -> None:
    """An editor sets no timer when it is typed into, so that Enter need not wait."""
    desktop.launch("mousepad")
    took = []
    for _ in range(7):
        desktop.perform(Action.type("abc"))
        began = time.monotonic()
        desktop.perform(Action.key("enter"))
        took.append(time.monotonic() - began)
    assert min(took) < desktop.config.settle.after_typing_ms / 1000
