"""The fake desktop: the sandbox's protocol, applications that react, and the same pixels every time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import ALL
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import (
    AccessibilityError,
    DesktopClosed,
    DesktopDied,
    InvalidAction,
    InvalidPath,
    UnknownApplication,
)
from operant.testing.fake_apps import FakeApp
from operant.testing.fake_desktop import Delays, FakeDesktop
from operant.testing.widgets import ButtonWidget
from operant.types import Action, ActionKind, Button, Caret, Node, Point, Size


@pytest.fixture
def desktop() -> FakeDesktop:
    return FakeDesktop()


def centre(node: Node | None, size: Size) -> Point:
    assert node is not None
    assert node.box is not None
    x, y, width, height = node.box
    return Point.from_pixel(x + width // 2, y + height // 2, size)


def click(desktop: FakeDesktop, name: str, **more: object) -> None:
    desktop.perform(
        Action.click(centre(desktop.accessibility("desktop").find(name=name), desktop.size), **more)
    )


def titles(desktop: FakeDesktop) -> list[str]:
    return [window.title for window in desktop.windows()]


def test_it_lacks_nothing_of_the_protocol(desktop: FakeDesktop) -> None:
    assert desktop.capabilities == ALL


def test_whatever_a_sandbox_offers_is_there(desktop: FakeDesktop) -> None:
    offered = {name for name in dir(SandboxDesktop) if not name.startswith("_")}
    # No process to call into, no port or browser to connect to, nothing to weigh.
    assert offered - set(dir(desktop)) <= {"call", "devtools", "dial", "memory"}


def test_frames_are_rgb_views_of_whole_pixels_as_a_sandboxs_are(desktop: FakeDesktop) -> None:
    frame = desktop.frame()
    assert frame.shape == (800, 1280, 3)
    assert frame.strides == (1280 * 4, 4, -1)
    assert tuple(frame[0, 0]) == (0x3B, 0x52, 0x66)


def test_the_same_actions_give_the_same_pixels() -> None:
    def play() -> np.ndarray:
        desktop = FakeDesktop()
        desktop.launch("mousepad")
        desktop.perform(Action.type("hello\nworld"))
        desktop.launch(["panel", "button:OK", "entry:Name"])
        click(desktop, "OK")
        return desktop.frame()

    assert np.array_equal(play(), play())


def test_a_reset_brings_the_first_frame_back_and_forgets_everything(desktop: FakeDesktop) -> None:
    first = desktop.frame()
    desktop.launch("mousepad")
    desktop.files.write("a.txt", "x")
    desktop.clipboard.set("copied")
    desktop.perform(Action(ActionKind.KEY_DOWN, keys=("ctrl",)))
    desktop.perform(Action.move(Point(0.1, 0.1)))
    desktop.reset()
    assert np.array_equal(desktop.frame(), first)
    assert desktop.windows() == []
    assert desktop.processes() == []
    assert not desktop.files.exists("a.txt")
    assert desktop.clipboard.get() is None
    assert desktop.pointer() == (1260, 788)


class TestCalculator:
    @pytest.mark.parametrize(
        ("typed", "shown"), [("12+30=", "42"), ("7*6=", "42"), ("9/2=", "4.5"), ("1/0=", "0")]
    )
    def test_it_reckons_what_is_typed(self, desktop: FakeDesktop, typed: str, shown: str) -> None:
        desktop.launch("galculator")
        desktop.perform(Action.type(typed))
        display = desktop.accessibility().find("text")
        assert display is not None
        assert display.text == shown

    def test_it_reckons_what_is_clicked(self, desktop: FakeDesktop) -> None:
        desktop.launch("galculator")
        for name in ("4", "+", "5", "="):
            before = desktop.frame()
            click(desktop, name)
            assert desktop.last_step.changed == (not np.array_equal(before, desktop.frame()))
        display = desktop.accessibility().find("text")
        assert display is not None
        assert display.text == "9"


class TestNotepad:
    def test_text_goes_into_the_file_that_was_opened(self, desktop: FakeDesktop) -> None:
        desktop.files.write("notes/todo.txt", "milk")
        desktop.launch(["mousepad", "notes/todo.txt"])
        desktop.perform(Action.type(", Brötchen"))
        assert titles(desktop) == ["*todo.txt - Mousepad"]
        desktop.perform(Action.key("ctrl", "s"))
        assert titles(desktop) == ["todo.txt - Mousepad"]
        assert desktop.files.read_text("notes/todo.txt") == "milk, Brötchen"

    def test_a_text_without_a_file_asks_for_a_name(self, desktop: FakeDesktop) -> None:
        desktop.launch("mousepad")
        desktop.perform(Action.type("hello"))
        click(desktop, "File")
        click(desktop, "Save")
        desktop.perform(Action.type("greeting.txt\n"))
        assert desktop.files.read_text("greeting.txt") == "hello"

    def test_cut_copy_and_paste(self, desktop: FakeDesktop) -> None:
        desktop.launch("mousepad")
        desktop.perform(Action.type("one"))
        for chord in (("ctrl", "a"), ("ctrl", "c"), ("end",), ("ctrl", "v")):
            desktop.perform(Action.key(*chord))
        assert desktop.clipboard.get() == "one"
        area = desktop.accessibility().find("text")
        assert area is not None
        assert area.text == "oneone"


class TestFileList:
    @pytest.fixture
    def listed(self, desktop: FakeDesktop) -> FakeDesktop:
        for name in ("a.txt", "b.txt", "sub/c.txt"):
            desktop.files.write(f"stuff/{name}", name)
        desktop.launch(["pcmanfm", "stuff"])
        return desktop

    def test_a_double_click_opens(self, listed: FakeDesktop) -> None:
        click(listed, "b.txt", clicks=2)
        assert titles(listed)[-1] == "b.txt - Mousepad"

    def test_a_directory_is_entered_and_left(self, listed: FakeDesktop) -> None:
        click(listed, "sub", clicks=2)
        assert titles(listed) == ["sub"]
        listed.perform(Action.key("backspace"))
        assert titles(listed) == ["stuff"]

    def test_renaming(self, listed: FakeDesktop) -> None:
        click(listed, "a.txt")
        listed.perform(Action.key("f2"))
        listed.perform(Action.type("z.txt\n"))
        assert [entry.name for entry in listed.files.list("stuff")] == ["b.txt", "sub", "z.txt"]

    def test_deleting(self, listed: FakeDesktop) -> None:
        click(listed, "sub")
        listed.perform(Action.key("delete"))
        assert not listed.files.exists("stuff/sub/c.txt")

    def test_scrolling_shows_what_does_not_fit(self, desktop: FakeDesktop) -> None:
        for number in range(40):
            desktop.files.write(f"many/{number:02}.txt", "")
        window = desktop.launch(["pcmanfm", "many"])
        assert desktop.accessibility().find(name="39.txt") is None
        middle = Point.from_pixel(window.x + 50, window.y + 50, desktop.size)
        desktop.perform(Action.scroll(middle, dy=20.0))
        assert desktop.accessibility().find(name="39.txt") is not None


class TestWindows:
    def test_a_click_raises_and_focuses(self, desktop: FakeDesktop) -> None:
        first = desktop.launch("galculator")
        desktop.place_window(first, 50, 50, 260, 300)
        desktop.launch("mousepad")
        desktop.perform(Action.click(Point.from_pixel(60, 40, desktop.size)))
        assert titles(desktop)[-1] == "galculator"
        assert desktop.windows()[-1].focused

    def test_a_title_bar_can_be_dragged(self, desktop: FakeDesktop) -> None:
        window = desktop.launch("galculator")
        grip = Point.from_pixel(window.x + 20, window.y - 5, desktop.size)
        desktop.perform(Action.drag(grip, Point.from_pixel(window.x + 120, window.y + 45, desktop.size)))
        moved = desktop.windows()[0]
        assert (moved.x, moved.y) == (window.x + 100, window.y + 50)

    def test_pressing_and_releasing_apart_is_a_drag_and_together_a_click(self, desktop: FakeDesktop) -> None:
        desktop.launch("galculator")
        place = centre(desktop.accessibility().find(name="8"), desktop.size)
        desktop.perform(Action(ActionKind.MOUSE_DOWN, point=place))
        desktop.perform(Action(ActionKind.MOUSE_UP))
        display = desktop.accessibility().find("text")
        assert display is not None
        assert display.text == "8"

    @pytest.mark.parametrize("how", ["button", "key", "call"])
    def test_closing_ends_the_process(self, desktop: FakeDesktop, how: str) -> None:
        window = desktop.launch("galculator")
        if how == "button":
            desktop.perform(
                Action.click(Point.from_pixel(window.x + window.width - 5, window.y - 10, desktop.size))
            )
        elif how == "key":
            desktop.perform(Action.key("alt", "f4"))
        else:
            desktop.close_window(window)
        assert desktop.windows() == []
        assert desktop.processes() == []

    def test_other_buttons_press_nothing(self, desktop: FakeDesktop) -> None:
        desktop.launch(["panel", "button:OK"])
        click(desktop, "OK", button=Button.RIGHT)
        assert not desktop.files.exists("panel.log")


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        "action",
        [Action.type("\x07"), Action.key("nosuchkey"), Action(ActionKind.CALL, function="x.y")],
        ids=["control character", "unknown key", "call"],
    )
    def test_actions_that_no_desktop_can_perform(self, desktop: FakeDesktop, action: Action) -> None:
        with pytest.raises(InvalidAction):
            desktop.perform(action)

    def test_programs_that_are_not_there(self, desktop: FakeDesktop) -> None:
        for use in (desktop.launch, desktop.run, desktop.start):
            with pytest.raises(UnknownApplication):
                use("nosuchprogram")
        with pytest.raises(AccessibilityError):
            desktop.accessibility(app="galculator")

    def test_files_fail_as_real_ones_do(self, desktop: FakeDesktop) -> None:
        desktop.files.write("d/f", b"x")
        for path, error in (("none", FileNotFoundError), ("d", IsADirectoryError), ("", InvalidPath)):
            with pytest.raises(error):
                desktop.files.read(path)
        with pytest.raises(NotADirectoryError):
            desktop.files.list("d/f")
        assert desktop.files.read("../../../home/user/d/f") == b"x"

    def test_a_closed_or_broken_desktop_says_so(self, desktop: FakeDesktop) -> None:
        uses: list[Callable[[], object]] = [desktop.frame, desktop.check, desktop.reset, desktop.windows]
        desktop.break_with(DesktopDied("unplugged"))
        for use in uses:
            with pytest.raises(DesktopDied, match="unplugged"):
                use()
        desktop.close()
        for use in uses:
            with pytest.raises(DesktopClosed):
                use()


def test_it_can_be_told_to_be_slow() -> None:
    desktop = FakeDesktop(delays=Delays(reset_s=0.05, launch_s=0.05, step_s=0.05))
    began = time.monotonic()
    desktop.reset()
    desktop.launch("mousepad")
    desktop.perform(Action.wait())
    assert time.monotonic() - began >= 0.15


def test_commands_for_set_up_and_criteria(desktop: FakeDesktop) -> None:
    assert desktop.run(["mkdir", "-p", "--", "a/b"]).returncode == 0
    desktop.run(["touch", "a/b/x"])
    desktop.run(["cp", "a/b/x", "a/y"])
    desktop.run(["mv", "a/y", "a/b"])
    assert desktop.run("ls a/b").output == "x\ny\n"
    assert desktop.run(["cat"], stdin=b"in").stdout == b"in"
    assert desktop.run("rm a").returncode == 1
    assert desktop.run("rm -r a").returncode == 0
    assert desktop.run("test -e a").returncode == 1
    assert desktop.run("cat nothing").stderr


def test_an_application_of_ones_own() -> None:
    class Counter(FakeApp):
        presses = 0

        def press(self) -> None:
            self.presses += 1

        def layout(self) -> None:
            self.widgets = [ButtonWidget("More", (10, 10, 80, 30), self.press)]

    desktop = FakeDesktop(apps={"counter": Counter})
    desktop.launch("counter")
    click(desktop, "More", clicks=2)
    app = desktop._shown[0].app
    assert isinstance(app, Counter)
    assert app.presses == 2


def test_a_pool_can_be_made_of_them() -> None:
    with DesktopPool(3, factory=FakeDesktop.factory) as pool:
        with pool.lease(timeout_s=5) as desktop:
            desktop.launch("mousepad")
        pool.wait_ready(timeout_s=5)
        with pool.lease(timeout_s=5) as desktop:
            assert desktop.windows() == []


def test_the_caret_and_the_selection_of_the_focused_text(desktop: FakeDesktop) -> None:
    assert desktop.caret() is None
    desktop.launch("mousepad")
    desktop.perform(Action.type("abc"))
    assert desktop.caret() == Caret("abc", 3)
    desktop.perform(Action.key("home"))
    assert desktop.caret() == Caret("abc", 0)
    desktop.perform(Action.key("ctrl", "a"))
    caret = desktop.caret()
    assert caret is not None
    assert caret.selected == "abc"
