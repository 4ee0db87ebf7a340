"""A desktop without X: the protocol of a sandbox's, drawn with numpy, in microseconds to milliseconds.

Windows stack, take the focus and can be moved, resized and closed; applications (``fake_apps``) react to
clicks, keys and text; files, clipboard, processes and a few commands are there. Everything is deterministic:
the same actions give the same pixels. It can also be told to be slow or to fail, as real ones are now and
then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from operant.actions.keys import canonical_key
from operant.calls.catalog import find_function
from operant.config.desktop import DesktopConfig, Profile
from operant.desktop import decorations
from operant.desktop.frame_comparison import same_frame
from operant.desktop.programs import split_command
from operant.desktop.protocol import ALL, Desktop
from operant.errors import (
    AccessibilityError,
    CallFailed,
    DesktopClosed,
    InvalidAction,
    OperantError,
    UnknownApplication,
)
from operant.testing.canvas import Box, Canvas
from operant.testing.fake_apps import FAKE_APPS, FakeApp
from operant.testing.fake_commands import COMMANDS, run_fake
from operant.testing.fake_files import FakeFiles
from operant.types import (
    Action,
    ActionKind,
    ActionMode,
    Button,
    Caret,
    Monitor,
    Node,
    Process,
    RunResult,
    Size,
    StepResult,
    Window,
)

__all__ = ["Delays", "FakeClipboard", "FakeDesktop"]

BACKGROUND = (0x3B, 0x52, 0x66)
TITLE_HEIGHT = decorations.ABOVE  # windows stand where Openbox would put them
CLOSE_WIDTH = 24
MODIFIERS = ("ctrl", "alt", "shift", "super")
REST = 0.985  # where the pointer waits, as a fraction of the screen
SETTLED = StepResult(changed=False, settled=True, waited_ms=0.0)


class FakeClipboard:
    def __init__(self) -> None:
        self._held: dict[str, str] = {}

    def get(self, selection: str = "clipboard") -> str | None:
        return self._held.get(selection)

    def set(self, text: str, selection: str = "clipboard") -> None:
        self._held[selection] = text


@dataclass
class Delays:
    """How long the fake desktop takes, in seconds: for tests of what waits for it."""

    reset_s: float = 0.0
    launch_s: float = 0.0
    step_s: float = 0.0


@dataclass
class _Shown:
    """A window on the screen; the geometry is its client area."""

    id: int
    pid: int
    app: FakeApp
    x: int
    y: int
    picture: Canvas | None = field(default=None)

    def frame(self) -> Box:
        return self.x, self.y - TITLE_HEIGHT, self.app.width, self.app.height + TITLE_HEIGHT

    def holds(self, x: int, y: int) -> bool:
        left, top, width, height = self.frame()
        return left <= x < left + width and top <= y < top + height

    def paint(self, *, focused: bool) -> Canvas:
        app = self.app
        canvas = Canvas(app.width, app.height + TITLE_HEIGHT, (60, 90, 140) if focused else (130, 135, 140))
        canvas.write(6, 2, app.title, (255, 255, 255))
        canvas.fill((app.width - CLOSE_WIDTH, 2, CLOSE_WIDTH - 2, TITLE_HEIGHT - 4), (190, 70, 60))
        client = Canvas(app.width, app.height, (240, 240, 242))
        app.paint(client)
        canvas.paste(client, 0, TITLE_HEIGHT)
        return canvas


class FakeDesktop:
    """One desktop that is not really there.

    >>> desktop = FakeDesktop()
    >>> _ = desktop.launch("galculator")
    >>> _ = desktop.perform(Action.type("12+30="))
    >>> desktop.accessibility().find("text").text
    '42'
    """

    capabilities = ALL

    def __init__(
        self,
        config: DesktopConfig | None = None,
        *,
        apps: Mapping[str, type[FakeApp]] | None = None,
        delays: Delays | None = None,
    ) -> None:
        self.config = config or DesktopConfig()
        self.size: Size = self.config.size
        self.monitors: tuple[Monitor, ...] = self.config.regions
        self.delays = delays or Delays()
        self.apps: dict[str, type[FakeApp]] = {**FAKE_APPS, **(apps or {})}
        self.closed = False
        self.profile: Profile = self.config.profile
        self.actions: ActionMode = self.config.actions
        self.answers: dict[str, str] = {}
        """What calls answer, by the full name of the function. Others can't be called."""
        self.resets = 0
        self._failure: OperantError | None = None
        self._begin()

    @classmethod
    def factory(cls, config: DesktopConfig) -> Desktop:
        """For ``DesktopPool(factory=FakeDesktop.factory)`` and other makers of desktops."""
        return cls(config)

    def _begin(self) -> None:
        self.files = FakeFiles()
        self.clipboard = FakeClipboard()
        self.last_step = SETTLED
        self._shown: list[_Shown] = []
        self._focused: int | None = None
        self._processes: dict[int, Process] = {}
        self._next_id = 1
        self._next_pid = 2
        self._place = (int(REST * self.size.width), int(REST * self.size.height))
        self._held: list[str] = []
        self._pressed_at: tuple[int, int] | None = None
        self._screen: Canvas | None = None
        self._last_screen: Canvas | None = None

    # Coming and going.

    def reset(self, profile: Profile | None = None) -> None:
        self._use()
        if self.delays.reset_s:
            time.sleep(self.delays.reset_s)
        self.resets += 1
        self._begin()
        self.profile = profile or self.config.profile

    def use_profile(self, profile: Profile) -> None:
        """It has no shell to show; it only remembers what was asked for."""
        self._use()
        self.profile = profile

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> FakeDesktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self) -> None:
        self._use()

    def break_with(self, error: OperantError) -> None:
        """From now on every call fails like this, as if the desktop had died."""
        self._failure = error

    def _use(self) -> None:
        if self.closed:
            raise DesktopClosed("the desktop is closed")
        if self._failure is not None:
            raise self._failure

    # Seeing.

    def frame(self) -> npt.NDArray[np.uint8]:
        """The screen now, RGB, (height, width, 3): a view of BGRX pixels, as a sandbox's frames are."""
        self._use()
        return self._draw().pixels.copy()[:, :, 2::-1]

    def glance(self) -> npt.NDArray[np.uint8]:
        return self.frame()

    def _draw(self) -> Canvas:
        screen = self._screen
        if screen is None:
            screen = Canvas(self.size.width, self.size.height, BACKGROUND)
            for shown in self._shown:
                if shown.picture is None:
                    shown.picture = shown.paint(focused=shown.id == self._focused)
                screen.paste(shown.picture, shown.x, shown.y - TITLE_HEIGHT)
            self._screen = screen
        return screen

    def _touch(self, *changed: _Shown) -> None:
        """The pictures of these windows, and so the screen, are out of date."""
        for shown in changed:
            shown.picture = None
        self._screen = None

    def windows(self) -> list[Window]:
        self._use()
        return [self._window(shown) for shown in self._shown]

    def _window(self, shown: _Shown) -> Window:
        app = shown.app
        return Window(
            shown.id,
            app.title,
            app.wm_class,
            shown.pid,
            shown.x,
            shown.y,
            app.width,
            app.height,
            focused=shown.id == self._focused,
        )

    def pointer(self) -> tuple[int, int]:
        self._use()
        return self._place

    def accessibility(
        self,
        scope: str = "focused",
        *,
        app: str | None = None,
        timeout_s: float = 2.0,
        limit: int = 5000,
        lines: bool = False,
    ) -> Node:
        self._use()
        if scope not in ("focused", "desktop"):
            raise InvalidAction(
                f"{scope!r} is not a scope", hint="scopes are focused, desktop; or name an app"
            )
        if app is not None:
            chosen = [shown for shown in self._shown if shown.app.argv[0].lower() == app.lower()]
            if not chosen:
                raise AccessibilityError(f"no application {app!r} is accessible")
            return Node(
                "application",
                chosen[0].app.argv[0],
                frozenset(),
                None,
                children=tuple(map(self._tree, chosen)),
            )
        if scope == "focused":
            focused = self._find(self._focused)
            return Node("desktop frame", "", frozenset(), None) if focused is None else self._tree(focused)
        trees = [
            Node("application", s.app.argv[0], frozenset(), None, children=(self._tree(s),))
            for s in self._shown
        ]
        return Node("desktop frame", "", frozenset(), None, children=tuple(trees))

    def _tree(self, shown: _Shown) -> Node:
        states = {"enabled", "sensitive", "showing", "visible"} | (
            {"active"} if shown.id == self._focused else set()
        )
        children = tuple(widget.node(shown.x, shown.y) for widget in shown.app.widgets if widget.shown)
        return Node("frame", shown.app.title, frozenset(states), shown.frame(), children=children)

    def caret(self) -> Caret | None:
        self._use()
        shown = self._find(self._focused)
        return shown.app.focus.caret_now() if shown is not None and shown.app.focus is not None else None

    # Doing.

    def perform(self, action: Action) -> npt.NDArray[np.uint8]:
        self._use()
        if self.delays.step_s:
            time.sleep(self.delays.step_s)
        before = self._draw()
        handler = _HANDLERS.get(action.kind)
        if handler is not None:
            handler(self, action)
        said = self._call(action) if action.kind is ActionKind.CALL else ""
        after = self._draw()
        changed = after is not before and not same_frame(before.pixels, after.pixels)
        self.last_step = StepResult(changed=changed, settled=True, waited_ms=0.0, text=said)
        return self.frame()

    def _call(self, action: Action) -> str:
        function = find_function(action.function)
        function.bind(action.args, action.kwargs)
        if function.full_name not in self.answers:
            raise CallFailed(f"{function.full_name} can't be called on a fake desktop")
        return self.answers[function.full_name]

    def settle(self, still_ms: float = 0.0) -> StepResult:
        self._use()
        return self.last_step

    def _move(self, action: Action) -> None:
        if action.point is not None:
            self._place = action.point.to_pixel(self.size)

    def _click(self, action: Action) -> None:
        _canonical(action.modifiers)
        self._move(action)
        if action.button is Button.LEFT:
            self._press(action.clicks)
        elif (shown := self._under()) is not None:
            self._raise(shown)

    def _press(self, clicks: int) -> None:
        shown = self._under()
        if shown is None:
            return
        self._raise(shown)
        x, y = self._place[0] - shown.x, self._place[1] - shown.y
        if y >= 0:
            shown.app.click(x, y, clicks)
            self._touch(shown)
        elif x >= shown.app.width - CLOSE_WIDTH:
            self._remove(shown)

    def _button(self, action: Action) -> None:
        self._move(action)
        if action.button is not Button.LEFT:
            return
        if action.kind is ActionKind.MOUSE_DOWN:
            self._pressed_at = self._place
        elif self._pressed_at is not None:
            start, self._pressed_at = self._pressed_at, None
            if start == self._place:
                self._press(1)
            else:
                self._drag_from(start)

    def _drag(self, action: Action) -> None:
        _canonical(action.modifiers)
        path = [point.to_pixel(self.size) for point in action.path]
        start = path[0] if len(path) > 1 else self._place
        self._place = path[-1]
        self._drag_from(start)

    def _drag_from(self, start: tuple[int, int]) -> None:
        """Windows can be dragged by their title bars."""
        end, self._place = self._place, start
        shown = self._under()
        self._place = end
        if shown is not None:
            self._raise(shown)
            if start[1] < shown.y:
                shown.x += end[0] - start[0]
                shown.y = max(TITLE_HEIGHT, shown.y + end[1] - start[1])
                self._touch()

    def _scroll(self, action: Action) -> None:
        self._move(action)
        shown = self._under()
        if shown is not None and action.dy:
            per_notch = 100.0 if action.unit.value == "pixel" else 1.0
            shown.app.scroll(round(action.dy / per_notch) or (1 if action.dy > 0 else -1))
            self._touch(shown)

    def _key(self, action: Action) -> None:
        self._chord(_canonical(action.keys))

    def _key_down(self, action: Action) -> None:
        keys = _canonical(action.keys)
        self._chord(tuple(key for key in keys if key not in MODIFIERS))
        self._held += [key for key in keys if key in MODIFIERS]

    def _key_up(self, action: Action) -> None:
        released = _canonical(action.keys)
        self._held = [key for key in self._held if key not in released]

    def _chord(self, keys: tuple[str, ...]) -> None:
        pressed = {*self._held, *keys}
        modifiers = [key for key in MODIFIERS if key in pressed]
        for key in (key for key in keys if key not in MODIFIERS):
            self._stroke(modifiers, key)

    def _stroke(self, modifiers: list[str], key: str) -> None:
        shown = self._find(self._focused)
        if shown is None:
            return
        if modifiers == ["alt"] and key == "f4":
            self._remove(shown)
            return
        order = ("ctrl", "alt", "super", "shift")
        chord = (
            *(name for name in order if name in modifiers),
            key.lower() if modifiers and len(key) == 1 else key,
        )
        character = " " if key == "space" else key
        if len(character) == 1 and not set(modifiers) - {"shift"}:
            shown.app.type(character.upper() if modifiers else character)
        else:
            shown.app.key(chord)
        self._touch(shown)

    def _type(self, action: Action) -> None:
        controls = {"\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace"}
        for character in action.text:
            if not character.isprintable() and character not in controls:
                raise InvalidAction(f"the character U+{ord(character):04X} can't be typed")
        for character in action.text.replace("\r\n", "\n"):
            self._stroke([], controls.get(character, character))

    # Windows.

    def _find(self, identifier: int | None) -> _Shown | None:
        return next((shown for shown in self._shown if shown.id == identifier), None)

    def _under(self) -> _Shown | None:
        """The topmost window under the pointer."""
        return next((shown for shown in reversed(self._shown) if shown.holds(*self._place)), None)

    def _raise(self, shown: _Shown) -> None:
        if self._focused != shown.id or self._shown[-1] is not shown:
            self._shown.remove(shown)
            self._shown.append(shown)
            self._focused = shown.id
            self._touch(*self._shown)

    def _remove(self, shown: _Shown) -> None:
        self._shown.remove(shown)
        self._processes.pop(shown.pid, None)
        self._focused = self._shown[-1].id if self._shown else None
        self._touch(*self._shown)

    def _known(self, window: Window) -> _Shown:
        self._use()
        shown = self._find(window.id)
        if shown is None:
            raise UnknownApplication(f"the window {window.title!r} is gone")
        return shown

    def place_window(self, window: Window, x: int, y: int, width: int, height: int) -> None:
        shown = self._known(window)
        shown.x, shown.y = x, y
        shown.app.resize(width, height)
        self._touch(shown)

    def activate_window(self, window: Window) -> None:
        self._raise(self._known(window))

    def close_window(self, window: Window) -> None:
        self._remove(self._known(window))

    def quit(self, app: FakeApp) -> None:
        """An application closes its own window."""
        shown = next((shown for shown in self._shown if shown.app is app), None)
        if shown is not None:
            self._remove(shown)

    # Programs.

    def processes(self) -> list[Process]:
        self._use()
        return list(self._processes.values())

    def run(
        self,
        command: str | Sequence[str],
        *,
        timeout_s: float = 30.0,
        limit: int = 1 << 20,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> RunResult:
        self._use()
        return run_fake(split_command(command), self.files, stdin or b"", limit)

    def start(
        self, command: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> int:
        self._use()
        argv = split_command(command)
        if argv[0] in self.apps:
            pid = self.launch(argv).pid
            assert pid is not None
            return pid
        if argv[0] not in COMMANDS:
            raise UnknownApplication(f"no program {argv[0]!r} in the fake desktop")
        return self._new_process(argv)

    def launch(
        self,
        command: str | Sequence[str],
        *,
        timeout_s: float = 15.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Window:
        self._use()
        if self.delays.launch_s:
            time.sleep(self.delays.launch_s)
        argv = split_command(command)
        if argv[0] not in self.apps:
            raise UnknownApplication(
                f"no program {argv[0]!r} in the fake desktop", hint=f"it knows {', '.join(self.apps)}"
            )
        app = self.apps[argv[0]](self, argv)
        x, y = (self.size.width - app.width) // 2, (self.size.height - app.height) // 2
        shown = _Shown(self._next_id, self._new_process(argv), app, x, max(y, TITLE_HEIGHT))
        self._next_id += 1
        self._shown.append(shown)
        self._focused = shown.id
        self._touch(*self._shown)
        return self._window(shown)

    def _new_process(self, argv: list[str]) -> int:
        pid, self._next_pid = self._next_pid, self._next_pid + 1
        self._processes[pid] = Process(pid, 1, argv[0], tuple(argv))
        return pid


def _canonical(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(canonical_key(key) for key in keys)


_HANDLERS: dict[ActionKind, Callable[[FakeDesktop, Action], None]] = {
    ActionKind.MOVE: FakeDesktop._move,
    ActionKind.CLICK: FakeDesktop._click,
    ActionKind.MOUSE_DOWN: FakeDesktop._button,
    ActionKind.MOUSE_UP: FakeDesktop._button,
    ActionKind.DRAG: FakeDesktop._drag,
    ActionKind.SCROLL: FakeDesktop._scroll,
    ActionKind.KEY: FakeDesktop._key,
    ActionKind.HOLD: FakeDesktop._key,
    ActionKind.KEY_DOWN: FakeDesktop._key_down,
    ActionKind.KEY_UP: FakeDesktop._key_up,
    ActionKind.TYPE: FakeDesktop._type,
}
