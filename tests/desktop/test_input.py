"""Hands: every kind of action arrives at programs as what it is."""

from __future__ import annotations

import re
import threading
import time
from typing import Any

import pytest

from operant.actions.keys import KEYSYM_NAMES
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import InvalidAction
from operant.types import Action, ActionKind, Button, Point, ScrollUnit

pytestmark = pytest.mark.x11


class Listener:
    """``xev``: a window that tells of every event that it gets."""

    def __init__(self, desktop: SandboxDesktop) -> None:
        self.desktop = desktop
        self.window = desktop.launch(["sh", "-c", "exec xev -geometry 400x300+200+200 > heard"])

    def heard(self) -> list[str]:
        """The events so far, told short: ``ButtonPress 1``, ``KeyPress a``, with modifiers' bits if any."""
        found = []
        for event in re.split(r"\n\n", self.desktop.files.read_text("heard")):
            kind = event.split(" ", 1)[0].strip()
            state = re.search(r"state (0x[0-9a-f]+)", event)
            held = f" {state[1]}" if state and int(state[1], 16) else ""
            if kind in ("ButtonPress", "ButtonRelease"):
                found.append(f"{kind} {re.search(r'button ([0-9]+)', event)[1]}{held}")
            elif kind in ("KeyPress", "KeyRelease"):
                found.append(f"{kind} {re.search(r'keysym 0x[0-9a-f]+, ([^)]+)', event)[1]}{held}")
            elif kind == "MotionNotify":
                found.append(f"{kind} {re.search(r'root:[(]([0-9]+,[0-9]+)', event)[1]}")
        return found

    def of(self, *kinds: str) -> list[str]:
        return [event for event in self.heard() if event.startswith(kinds)]

    def middle(self) -> Point:
        window = self.window
        return Point.from_pixel(
            window.x + window.width // 2, window.y + window.height // 2, self.desktop.size
        )


@pytest.fixture
def listener(desktop: SandboxDesktop) -> Listener:
    found = Listener(desktop)
    desktop.perform(Action.move(found.middle()))
    return found


BUTTONS = {Button.LEFT: 1, Button.MIDDLE: 2, Button.RIGHT: 3, Button.BACK: 8, Button.FORWARD: 9}


@pytest.mark.parametrize("button", Button)
def test_each_button_is_itself(listener: Listener, eventually: Any, button: Button) -> None:
    listener.desktop.perform(Action.click(button=button))
    code = BUTTONS[button]
    down = f" {hex(1 << (7 + code))}" if code <= 5 else ""
    eventually(lambda: listener.of("Button") == [f"ButtonPress {code}", f"ButtonRelease {code}{down}"])


@pytest.mark.parametrize("clicks", [1, 2, 3])
def test_clicks_are_counted(listener: Listener, eventually: Any, clicks: int) -> None:
    listener.desktop.perform(Action.click(listener.middle(), clicks=clicks))
    eventually(lambda: len(listener.of("ButtonPress 1")) == clicks)
    assert len(listener.of("ButtonRelease 1")) == clicks


@pytest.mark.parametrize(
    ("modifiers", "state"),
    [(("shift",), 0x1), (("ctrl",), 0x4), (("alt",), 0x8), (("ctrl", "shift"), 0x5), (("super",), 0x40)],
)
def test_modifiers_are_held_while_clicking_and_not_after(
    listener: Listener, eventually: Any, modifiers: tuple[str, ...], state: int
) -> None:
    desktop = listener.desktop
    # Not the left button with Alt, which is the window manager's.
    desktop.perform(Action.click(listener.middle(), button=Button.MIDDLE, modifiers=modifiers))
    eventually(lambda: f"ButtonPress 2 {hex(state)}" in listener.heard())
    desktop.perform(Action.key("x"))
    eventually(lambda: "KeyPress x" in listener.heard())


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ({"dy": 3}, {5: 3}),
        ({"dy": -2}, {4: 2}),
        ({"dx": 2}, {7: 2}),
        ({"dx": -1}, {6: 1}),
        ({"dx": 1, "dy": 1}, {5: 1, 7: 1}),
        ({"dy": 0.2}, {5: 1}),
        ({"dy": 250.0, "unit": ScrollUnit.PIXEL}, {5: 2}),
        ({"dy": -1.0, "unit": ScrollUnit.PIXEL}, {4: 1}),
        ({"dy": 100}, {5: 100}),
    ],
)
def test_wheels_turn_by_notches(
    listener: Listener, eventually: Any, amount: dict[str, Any], expected: dict[int, int]
) -> None:
    listener.desktop.perform(Action.scroll(listener.middle(), **amount))
    turned = lambda: {code: n for code in (4, 5, 6, 7) if (n := len(listener.of(f"ButtonPress {code}")))}  # noqa: E731
    eventually(lambda: turned() == expected)


def test_scrolling_with_a_modifier(listener: Listener, eventually: Any) -> None:
    listener.desktop.perform(Action.scroll(listener.middle(), dy=1, modifiers=("ctrl",)))
    eventually(lambda: "ButtonPress 5 0x4" in listener.heard())


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("a",), ["KeyPress a"]),
        (("A",), ["KeyPress Shift_L", "KeyPress A 0x1"]),
        (("ctrl", "a"), ["KeyPress Control_L", "KeyPress a 0x4"]),
        (("ctrl", "shift", "t"), ["KeyPress Control_L", "KeyPress Shift_L 0x4", "KeyPress T 0x5"]),
        (("f5",), ["KeyPress F5"]),
        (("enter",), ["KeyPress Return"]),
        (("pagedown",), ["KeyPress Next"]),
        (("kp_5",), None),
        (("f24",), ["KeyPress F24"]),
        (("é",), ["KeyPress eacute"]),
        (("漢",), ["KeyPress U6F22"]),
        (("volumeup",), ["KeyPress XF86AudioRaiseVolume"]),
        (("ctrl", "é"), ["KeyPress Control_L", "KeyPress eacute 0x4"]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else None,
)
def test_keys_are_what_they_are_called(
    listener: Listener, eventually: Any, keys: tuple[str, ...], expected: list[str] | None
) -> None:
    listener.desktop.perform(Action.key(*keys))
    if expected is None:
        eventually(lambda: any(event.startswith("KeyPress KP_") for event in listener.heard()))
    else:
        eventually(lambda: listener.of("KeyPress") == expected)
    eventually(lambda: len(listener.of("KeyRelease")) == len(listener.of("KeyPress")))


@pytest.mark.parametrize("layout", ["de", "fr", "ru", "us,ru"])
def test_hotkeys_work_in_every_layout(editor: Any, layout: str) -> None:
    desktop = editor.desktop
    editor.type("keep this")
    desktop.run(["setxkbmap", layout])
    desktop._seat.display.xkb.LatchLockState(0x100, 0, 0, True, layout.count(","), 0, False, 0)
    desktop.perform(Action.key("ctrl", "a"))
    desktop.perform(Action.key("ctrl", "x"))
    editor.expect("")
    assert desktop.clipboard.get() == "keep this"
    desktop.perform(Action.key("ctrl", "v"))
    desktop.perform(Action.key("ctrl", "v"))
    editor.expect("keep thiskeep this")


def test_a_key_goes_down_and_up_when_told(listener: Listener, eventually: Any) -> None:
    desktop = listener.desktop
    desktop.perform(Action(ActionKind.KEY_DOWN, keys=("shift",)))
    desktop.perform(Action.key("b"))
    desktop.perform(Action(ActionKind.KEY_UP, keys=("shift",)))
    desktop.perform(Action.key("c"))
    eventually(lambda: listener.of("KeyPress") == ["KeyPress Shift_L", "KeyPress B 0x1", "KeyPress c"])


def test_a_key_goes_up_even_if_the_layout_has_changed_since(listener: Listener, eventually: Any) -> None:
    desktop = listener.desktop
    desktop.perform(Action(ActionKind.KEY_DOWN, keys=("q",)))
    desktop.run("setxkbmap fr")
    desktop.perform(Action(ActionKind.KEY_UP, keys=("q",)))
    eventually(lambda: len(listener.of("KeyRelease")) >= 1)
    assert not any(desktop._seat.display.core.QueryKeymap().reply().keys)


def test_a_held_key_is_held_so_long(listener: Listener, eventually: Any) -> None:
    began = time.monotonic()
    listener.desktop.perform(Action(ActionKind.HOLD, keys=("ctrl",), duration=0.3))
    assert time.monotonic() - began >= 0.3
    eventually(lambda: listener.of("Key") == ["KeyPress Control_L", "KeyRelease Control_L 0x4"])


def test_buttons_go_down_and_up_when_told(listener: Listener, eventually: Any) -> None:
    desktop = listener.desktop
    desktop.perform(Action(ActionKind.MOUSE_DOWN, point=listener.middle(), button=Button.RIGHT))
    eventually(lambda: listener.of("Button") == ["ButtonPress 3"])
    desktop.perform(Action(ActionKind.MOUSE_UP, button=Button.RIGHT))
    eventually(lambda: listener.of("Button") == ["ButtonPress 3", "ButtonRelease 3 0x400"])


def test_a_drag_goes_along_its_path(listener: Listener, eventually: Any, pixel: Any) -> None:
    desktop, window = listener.desktop, listener.window
    corners = [
        (window.x + 20, window.y + 20),
        (window.x + 220, window.y + 20),
        (window.x + 220, window.y + 220),
    ]
    desktop.perform(Action.drag(*(pixel(desktop, *corner) for corner in corners)))
    eventually(lambda: "ButtonRelease 1 0x100" in listener.heard())
    events = [event for event in listener.heard() if not event.startswith("Key")]
    pressed, released = events.index("ButtonPress 1"), events.index("ButtonRelease 1 0x100")
    path = [
        tuple(map(int, event.split()[1].split(",")))
        for event in events[pressed:released]
        if event.startswith("Motion")
    ]
    assert corners[1] in path
    assert path[-1] == corners[2]
    assert len(path) >= 8  # real movement, not a jump
    assert all(y == corners[0][1] for _, y in path[: path.index(corners[1])])


def test_a_drag_of_one_point_starts_where_the_pointer_is(
    listener: Listener, eventually: Any, pixel: Any
) -> None:
    desktop, window = listener.desktop, listener.window
    desktop.perform(Action.move(pixel(desktop, window.x + 30, window.y + 30)))
    desktop.perform(
        Action.drag(pixel(desktop, window.x + 130, window.y + 60), button=Button.MIDDLE, modifiers=("shift",))
    )
    eventually(lambda: any(event.startswith("ButtonRelease 2") for event in listener.heard()))
    assert "ButtonPress 2 0x1" in listener.heard()
    assert desktop.pointer() == (window.x + 130, window.y + 60)


def test_a_drag_takes_as_long_as_asked_for(listener: Listener) -> None:
    began = time.monotonic()
    listener.desktop.perform(Action.drag(Point(0.2, 0.3), Point(0.4, 0.5), duration=0.3))
    assert 0.3 <= time.monotonic() - began < 1.5


@pytest.mark.parametrize("place", [(0, 0), (1279, 799), (640, 400), (1, 798)])
def test_the_pointer_goes_to_the_very_pixel(
    desktop: SandboxDesktop, pixel: Any, place: tuple[int, int]
) -> None:
    desktop.perform(Action.move(pixel(desktop, *place)))
    assert desktop.pointer() == place


# Real effects in real applications.


def test_text_is_selected_by_clicks(editor: Any) -> None:
    desktop = editor.desktop
    editor.type("first second third\nanother line")
    desktop.perform(Action.click(editor.place(0, 9), clicks=2))
    assert desktop.clipboard.get("primary") == "second"
    desktop.perform(Action.click(editor.place(0, 9), clicks=3))
    assert (desktop.clipboard.get("primary") or "").strip() == "first second third"


def test_two_actions_of_one_click_are_no_double_click(editor: Any) -> None:
    desktop = editor.desktop
    editor.type("first second third")
    desktop.clipboard.set("nothing", "primary")
    desktop.perform(Action.click(editor.place(0, 9)))
    desktop.perform(Action.click(editor.place(0, 9)))
    assert desktop.clipboard.get("primary") == "nothing"


def test_text_is_selected_by_a_drag(editor: Any) -> None:
    desktop = editor.desktop
    editor.type("abcdefghijklmnopqrstuvwxyz")
    box = editor.node().box
    line = editor.place(0, 0)
    desktop.perform(
        Action.drag(Point.from_pixel(box[0] + 1, line.y * 800, desktop.size), editor.place(0, 40))
    )
    assert desktop.clipboard.get("primary") == "abcdefghijklmnopqrstuvwxyz"


def test_text_is_selected_by_a_click_with_shift(editor: Any) -> None:
    desktop = editor.desktop
    editor.type("abcdefghij")
    desktop.perform(Action.key("home"))
    desktop.perform(Action.click(editor.place(0, 40), modifiers=("shift",)))
    assert desktop.clipboard.get("primary") == "abcdefghij"


def test_a_window_is_moved_by_its_title_bar(editor: Any, pixel: Any, eventually: Any) -> None:
    desktop, window = editor.desktop, editor.window
    start = (window.x + 200, window.y - 10)
    desktop.perform(Action.drag(pixel(desktop, *start), pixel(desktop, start[0] + 150, start[1] - 60)))
    moved = eventually(lambda: [w for w in desktop.windows() if w.x != window.x])[0]
    assert (moved.x - window.x, moved.y - window.y) == (150, -60)
    assert (moved.width, moved.height) == (window.width, window.height)


def test_a_view_scrolls(editor: Any) -> None:
    desktop = editor.desktop
    editor.type("\n".join(map(str, range(60))))
    desktop.perform(Action.key("ctrl", "home"))
    top = desktop.frame()
    desktop.perform(Action.scroll(editor.place(5), dy=5))
    assert (desktop.frame() != top).any()
    desktop.perform(Action.scroll(editor.place(5), dy=-5))
    desktop.perform(Action.move(Point(0.985, 0.985)))
    desktop.settle()


def test_a_context_menu_opens_and_closes(editor: Any, eventually: Any) -> None:
    desktop = editor.desktop
    desktop.perform(Action.click(editor.place(1), button=Button.RIGHT))

    def items() -> list[str]:
        nodes = desktop.accessibility(app="mousepad").walk()
        return [node.name.strip() for node in nodes if node.role == "menu item"]

    eventually(lambda: "Select All" in items())
    desktop.perform(Action.key("esc"))
    eventually(lambda: "Select All" not in items())


def test_every_key_that_has_a_name_can_be_pressed(desktop: SandboxDesktop) -> None:
    for name in KEYSYM_NAMES:
        assert desktop._seat.input.keyboard._keycodes([name]), name


def test_what_no_desktop_can_do_is_refused_before_anything_is_done(listener: Listener) -> None:
    before = listener.heard()
    for wrong in (Action.key("no such key"), Action.click(modifiers=("hyperdrive",)),
                  Action(ActionKind.CALL, function="open_file")):  # fmt: skip
        with pytest.raises(InvalidAction):
            listener.desktop.perform(wrong)
    assert listener.heard() == before


@pytest.mark.parametrize(
    "action", [Action.done(), Action.wait(), Action(ActionKind.SCREENSHOT), Action.fail("no")]
)
def test_actions_without_hands_touch_nothing(desktop: SandboxDesktop, action: Action) -> None:
    before, pointer = desktop.frame(), desktop.pointer()
    frame = desktop.perform(action)
    assert (frame == before).all()
    assert desktop.pointer() == pointer


def test_a_thousand_quick_events_arrive_in_order(listener: Listener, eventually: Any) -> None:
    for _ in range(10):
        listener.desktop.perform(Action.scroll(listener.middle(), dy=20))
        listener.desktop.perform(Action.scroll(listener.middle(), dy=-20))
    eventually(lambda: len(listener.of("ButtonPress")) == 400)
    codes = [event.split()[1] for event in listener.of("ButtonPress")]
    assert codes == (["5"] * 20 + ["4"] * 20) * 10


def test_hands_of_several_threads_do_not_mix(editor: Any) -> None:
    words = ["aaaaaaaaaaaaaaaaaaaa", "ßßßßßßßßßßßßßßßßßßßß", "漢漢漢漢漢漢漢漢漢漢", "<<<<<<<<<<<<<<<<<<<<"]
    threads = [threading.Thread(target=editor.type, args=(word,)) for word in words]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = editor.text()
    assert sorted(re.findall(r"((.)\2*)", text)) == sorted((word, word[0]) for word in words)


def test_a_click_into_a_window_behind_brings_it_to_the_front(desktop: SandboxDesktop) -> None:
    below = desktop.launch("mousepad")
    desktop.place_window(below, 100, 100, 500, 400)
    above = desktop.launch("galculator")
    assert desktop.windows()[-1].id == above.id
    desktop.perform(Action.click(Point.from_pixel(150, 450, desktop.size)))
    front = desktop.windows()[-1]
    assert (front.id, front.focused) == (below.id, True)
    desktop.perform(Action.type("into the editor"))
    shown = desktop.accessibility().find("text")
    assert shown is not None
    assert shown.text == "into the editor"
