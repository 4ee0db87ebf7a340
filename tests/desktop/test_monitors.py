"""Screens of any size, split into monitors that applications know of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action, Monitor, Point

pytestmark = pytest.mark.x11


@pytest.mark.parametrize(
    ("width", "height"), [(640, 480), (1920, 1080), (333, 777), (3840, 2160), (65, 64), (1366, 768)]
)
def test_a_screen_has_the_size_asked_for(
    fresh: Callable[..., SandboxDesktop], width: int, height: int
) -> None:
    desktop = fresh(width=width, height=height)
    assert tuple(desktop.size) == (width, height)
    assert desktop.monitors == (Monitor(0, 0, width, height),)
    frame = desktop.frame()
    assert frame.shape == (height, width, 3)
    assert f"dimensions:    {width}x{height} pixels" in desktop.run("xdpyinfo").output
    for place in ((0, 0), (width - 1, height - 1)):
        desktop.perform(Action.move(Point.from_pixel(*place, desktop.size)))
        assert desktop.pointer() == place
    desktop.reset()
    assert (desktop.frame() == frame).all()


def test_colours_are_where_and_what_they_are(fresh: Callable[..., SandboxDesktop]) -> None:
    desktop = fresh(width=333, height=200)
    desktop.run("xsetroot -solid #102030")
    desktop.settle()
    assert tuple(desktop.frame()[3, 5]) == (0x10, 0x20, 0x30)
    assert desktop.frame().flags.writeable


TWO = [{"x": 0, "y": 0, "width": 800, "height": 600}, {"x": 800, "y": 0, "width": 640, "height": 480}]


def test_two_monitors_are_known_to_all(fresh: Callable[..., SandboxDesktop]) -> None:
    desktop = fresh(width=1440, height=600, monitors=TWO)
    expected = (Monitor(0, 0, 800, 600), Monitor(800, 0, 640, 480))
    assert desktop.monitors == expected
    for _ in range(2):
        assert tuple(desktop._seat.display.monitors()) == expected
        listed = desktop.run("xrandr --listmonitors").output
        assert "Monitors: 2" in listed
        assert "800/" in listed
        assert "+800+0" in listed
        desktop.run("setxkbmap de")  # so that the reset brings up a new display
        desktop.reset()
    assert desktop.resets_of_display > 0


def test_a_maximised_window_fills_one_monitor(fresh: Callable[..., SandboxDesktop], eventually: Any) -> None:
    desktop = fresh(width=1440, height=600, monitors=TWO)
    window = desktop.launch("mousepad")
    assert window.x + window.width <= 800  # new windows go to the first
    desktop.perform(Action.key("super", "up"))
    large = eventually(lambda: [w for w in desktop.windows() if w.width > window.width + 50])[0]
    assert (large.x, large.width) == (0, 800) or (large.x <= 2 and 790 <= large.width <= 800)
    assert large.y + large.height <= 600
    desktop.perform(Action.key("super", "up"))
    eventually(lambda: desktop.windows()[0].width == window.width)
    title = Point.from_pixel(window.x + 100, window.y - 10, desktop.size)
    desktop.perform(Action.drag(title, Point.from_pixel(1000, 100, desktop.size)))
    desktop.perform(Action.key("super", "up"))
    other = eventually(lambda: [w for w in desktop.windows() if w.x >= 798])[0]
    assert 630 <= other.width <= 640
    assert other.y + other.height <= 480


def test_a_click_lands_on_the_second_monitor(fresh: Callable[..., SandboxDesktop], eventually: Any) -> None:
    desktop = fresh(width=1440, height=600, monitors=TWO)
    desktop.launch(["sh", "-c", "exec xev -geometry 200x200+900+100 > heard"])
    desktop.perform(Action.click(Point.from_pixel(1000, 200, desktop.size)))
    eventually(lambda: "root:(1000,200)" in desktop.files.read_text("heard"))
    eventually(lambda: "ButtonPress" in desktop.files.read_text("heard"))
