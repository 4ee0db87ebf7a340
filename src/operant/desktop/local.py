"""The user's own screen behind the same protocol as every other desktop.

Nothing happens to it by accident: it has to be asked for (``allow_live``), a dry run only says what it would
do, and the pointer slammed into a corner stops everything. Knows no platform: those are ``live_x11`` and
``live_pyautogui``.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from loguru import logger

from operant.config.desktop import Profile
from operant.config.local import LocalConfig
from operant.desktop.live_commands import run_here
from operant.desktop.live_screen import LiveScreen
from operant.desktop.panic import PanicGesture
from operant.desktop.programs import split_command
from operant.desktop.protocol import Capability, LimitedDesktop
from operant.errors import DesktopClosed, DesktopError, InvalidAction, LiveScreenRefused
from operant.types import Action, ActionKind, Monitor, Node, RunResult, Size, StepResult, Window

__all__ = ["LocalDesktop"]

UNTOUCHED = StepResult(changed=False, settled=True, waited_ms=0.0)


class LocalDesktop(LimitedDesktop):
    """The user's own screen.

    >>> with LocalDesktop(allow_live=True, dry_run=True) as desktop:   # doctest: +SKIP
    ...     frame = desktop.perform(Action.type("Hello"))              # logged, not typed
    """

    live = True  # not a sandbox: what happens here is real

    def __init__(
        self,
        config: LocalConfig | None = None,
        *,
        allow_live: bool = False,
        allow_commands: bool = False,
        dry_run: bool | None = None,
        screen: LiveScreen | None = None,
    ) -> None:
        if not allow_live:
            raise LiveScreenRefused(
                "this would operate your own screen, with everything that is open on it",
                hint="say so with allow_live=True, or use a sandboxed desktop",
            )
        self.config = config or LocalConfig()
        self.dry_run = self.config.dry_run if dry_run is None else dry_run
        self.allow_commands = allow_commands
        self.performed: list[Action] = []  # what a dry run would have done
        self.last_step = UNTOUCHED
        self._lock = threading.RLock()
        self._screen = screen or open_live_screen(self.config)
        # Also when it is forgotten or the program ends: a key that we hold down would stay down.
        self._finalizer = weakref.finalize(self, self._screen.close)
        self._panic = PanicGesture(self._screen, self.config.panic_corner_px)
        self.capabilities = self._screen.capabilities | ({Capability.COMMANDS} if allow_commands else set())
        self.size: Size = self._screen.size
        self.monitors: tuple[Monitor, ...] = self._screen.monitors

    # Seeing and doing.

    def frame(self) -> npt.NDArray[np.uint8]:
        """All monitors now as one picture, RGB, (height, width, 3), in physical pixels."""
        self._check_open()
        # An action under way takes its own pictures; a picture need not wait for its end.
        if self._lock.acquire(blocking=False):
            try:
                self._refresh()
                self._panic.look()
            finally:
                self._lock.release()
        return self._screen.frame()

    def glance(self) -> npt.NDArray[np.uint8]:
        """The same as ``frame``, which never waits for an action."""
        return self.frame()

    def perform(self, action: Action) -> npt.NDArray[np.uint8]:
        """Do it, wait until the screen has settled, and return the frame; ``last_step`` says how it settled.

        Raises PanicStop, with everything released, once the user slams the pointer into a corner.
        """
        with self._use():
            self._panic.check()
            if action.kind is ActionKind.CALL:
                raise InvalidAction(
                    f"{action.function} is an application's API, not something to do to a screen"
                )
            self._screen.check(action)
            if self.dry_run:
                self.performed.append(action)
                self.last_step = UNTOUCHED
                logger.info("dry run, not done: {}", action)
                return self._screen.frame()
            with self._letting_go():
                self._screen.perform(action, self._panic.pause)
                if action.kind is ActionKind.WAIT:
                    self._panic.pause(action.duration)
                self.last_step = self._screen.settle(self.config.settle)
                self._panic.check()
            return self._screen.frame()

    def settle(self, still_ms: float = 0.0) -> StepResult:
        """Wait until the screen is still; with ``still_ms``, until it was still for so long."""
        with self._use():
            self.last_step = self._screen.settle(self.config.settle.still(still_ms))
            return self.last_step

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is, in pixels of the frame."""
        with self._use():
            return self._screen.pointer()

    @property
    def stopped(self) -> bool:
        """Whether the panic gesture was made."""
        return self._panic.stopped

    def resume(self) -> None:
        """Let actions through again after the panic gesture."""
        with self._use():
            self._panic.resume()

    # Looking around.

    def windows(self) -> list[Window]:
        """Top-level windows from the bottom of the stack to the top."""
        with self._use():
            return self._screen.windows()

    def accessibility(
        self,
        scope: str = "focused",
        *,
        app: str | None = None,
        timeout_s: float = 2.0,
        limit: int = 5000,
        lines: bool = False,
    ) -> Node:
        """The tree of widgets shown: of the focused window, of one application, or of all (``desktop``)."""
        with self._use():
            return self._screen.accessibility(scope, app, timeout_s, limit)

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
        """Run a command as you, on your machine, if that was allowed; the panic gesture ends it too."""
        if not self.allow_commands:
            raise LiveScreenRefused(
                "this would run a command as you, without a sandbox", hint="say so with allow_commands=True"
            )
        if self.dry_run:
            raise LiveScreenRefused("a dry run runs no commands")
        argv = split_command(command)
        self._check_panic()
        return run_here(
            argv,
            timeout_s=timeout_s,
            limit=limit,
            stdin=stdin,
            env={**self._screen.environment(), **(env or {})},
            cwd=cwd,
            check=self._check_panic,
        )

    # Starting over, going away.

    def reset(self, profile: Profile | None = None) -> None:
        """Release the keys and buttons that the agent holds. What the user has open is left as it is."""
        if profile is not None:
            self._lacks(Capability.PROFILES)
        with self._use():
            self._screen.let_go()
            self.performed.clear()
            self.last_step = UNTOUCHED

    def close(self) -> None:
        """Release what is held and leave the screen. Closing twice does no harm."""
        with self._lock:
            self._finalizer()

    def check(self) -> None:
        """Raise a typed error if it is closed."""
        self._check_open()

    @property
    def closed(self) -> bool:
        return not self._finalizer.alive

    def __enter__(self) -> LocalDesktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Inside.

    def _check_open(self) -> None:
        if self.closed:
            raise DesktopClosed("the desktop is closed")

    def _check_panic(self) -> None:
        with self._use():
            self._panic.check()

    @contextlib.contextmanager
    def _use(self) -> Iterator[None]:
        with self._lock:
            self._check_open()
            self._refresh()
            yield

    def _refresh(self) -> None:
        self._screen.refresh()
        self.size, self.monitors = self._screen.size, self._screen.monitors

    @contextlib.contextmanager
    def _letting_go(self) -> Iterator[None]:
        """Leave nothing pressed behind an action that did not come to its end, whatever ended it."""
        try:
            yield
        except InvalidAction:
            raise  # nothing was done
        except BaseException:
            with contextlib.suppress(DesktopError):
                self._screen.let_go()
            raise


def open_live_screen(config: LocalConfig, platform: str = sys.platform) -> LiveScreen:
    """The screen of this platform. What the others need is not even imported."""
    if platform in ("darwin", "win32"):
        from operant.desktop.live_pyautogui import PyAutoGuiScreen

        return PyAutoGuiScreen()
    from operant.desktop.live_x11 import X11Screen

    return X11Screen(config.display, cursor=config.cursor)
