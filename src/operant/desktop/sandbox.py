"""A real desktop in a sandbox: X server, window manager, session bus and programs behind bubblewrap's walls.

``SandboxDesktop`` is what everything above works with. It owns one supervisor process; when it is closed,
forgotten or its owner dies in any way, the kernel ends everything that ran inside.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import shlex
import socket
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from operant.calls.catalog import find_function
from operant.calls.declaration import Function
from operant.calls.inside.devtools import DevTools
from operant.config.desktop import DesktopConfig, Profile
from operant.desktop import launch as launching
from operant.desktop.accessibility import Accessibility, read_caret, read_tree, takes_text
from operant.desktop.call_runner import CallRunner
from operant.desktop.channel import Channel
from operant.desktop.clipboard import Clipboard
from operant.desktop.display import Display
from operant.desktop.program_activity import SupervisedActivity
from operant.desktop.programs import Files, list_processes, run_command, spawn, split_command
from operant.desktop.protocol import ALL
from operant.desktop.screen import Framebuffer
from operant.desktop.seat import Seat
from operant.desktop.shell import check_shell, start_shell, wait_for_icons, wait_for_panel
from operant.desktop.windows import (
    activate_window,
    close_window,
    list_windows,
    place_window,
    window_manager_name,
)
from operant.errors import (
    ApplicationExited,
    CallFailed,
    DesktopClosed,
    DesktopDied,
    DesktopError,
    DesktopStartError,
    DesktopTimeout,
    UnknownApplication,
    WindowTimeout,
)
from operant.types import (
    Action,
    ActionKind,
    ActionMode,
    Caret,
    Monitor,
    Node,
    Process,
    RunResult,
    Size,
    StepResult,
    Window,
)

__all__ = ["SandboxDesktop"]

SHELL_DRAWN_S = 2.0  # how long panel and icons may take to draw after their windows are there
FORGET_WINDOWS_S = 0.25  # how long the window manager may take to forget the last episode's windows


class SandboxDesktop:
    """One desktop. Starting it takes under half a second, resetting it a few milliseconds.

    >>> with SandboxDesktop() as desktop:            # doctest: +SKIP
    ...     window = desktop.launch("mousepad")
    ...     frame = desktop.perform(Action.type("Hello"))
    """

    capabilities = ALL

    def __init__(
        self, config: DesktopConfig | None = None, *, functions: Mapping[str, bytes] | None = None
    ) -> None:
        """``functions`` has files of functions to try, in place of those that were admitted."""
        self.config = config or DesktopConfig()
        self.size: Size = self.config.size
        self.monitors: tuple[Monitor, ...] = self.config.regions
        self.actions: ActionMode = self.config.actions
        self.last_step = StepResult(changed=False, settled=True, waited_ms=0.0)
        self.resets_of_display = 0
        self.profile: Profile = "bare"
        """What the running episode shows: a window manager only (``bare``), or panel, menu and icons too (``full``)."""
        self._lock = threading.RLock()
        self._closing = False
        self._seat: Seat | None = None
        self._episode: Channel | None = None
        self._accessibility: Accessibility | None = None
        self._calls: CallRunner | None = None
        self._shell_starts = False  # the shell has been started and is not drawn yet
        self._supervised = launching.start_supervisor(self.config, functions)
        self._supervisor = Channel(self._supervised.control, "the supervisor")
        self._finalizer = weakref.finalize(self, self._supervised.stop)
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    # Coming up, starting over, going away.

    def _start(self) -> None:
        settings, home = launching.supervisor_settings(self.config)
        try:
            answer = self._supervisor.call(
                "configure", settings=settings, fds=(home,), timeout_s=self.config.start_timeout_s
            )
        except DesktopDied as error:
            self._supervised.process.wait(5.0)
            raise launching.explain_start_failure(self._supervised.said()) from error
        except OSError as error:
            raise DesktopStartError(str(error), hint="operant doctor") from error
        finally:
            os.close(home)
        self._open_seat(answer.fd)
        self._await_episode()
        self._show(self.config.profile)

    def _open_seat(self, framebuffer: int) -> None:
        """Take the seat of a server that has just started, while the first episode gets ready beside it."""
        try:
            screen = Framebuffer(framebuffer)
        finally:
            os.close(framebuffer)
        self._begin_episode()
        self._seat = Seat(
            self._connect_display(), screen, SupervisedActivity(self._supervisor), self._takes_text
        )
        self._seat.prepare(self.monitors, self._supervised.bus_address, self.config.start_timeout_s)

    def _connect_display(self) -> Display:
        return Display.over(socket.socket(fileno=self._supervisor.call("x_connect").fd))

    def _begin_episode(self) -> None:
        """End whatever runs and begin anew; everything of the last episode is gone when this returns."""
        self._leave_episode()
        answer = self._supervisor.call("begin_episode")
        self._episode = Channel(socket.socket(fileno=answer.fd), "the episode")

    def _leave_episode(self) -> None:
        if self._accessibility is not None:
            self._accessibility.close()
            self._accessibility = None
        if self._calls is not None:
            self._calls.forget()
            self._calls = None
        if self._episode is not None:
            self._episode.close()
            self._episode = None

    def _await_episode(self) -> None:
        episode = self._running_episode()
        try:
            ready = episode.wait_event("ready", self.config.start_timeout_s)
        except DesktopDied as error:
            failed = next((e["error"] for e in episode.events if e["event"] == "failed"), "it said nothing")
            raise DesktopStartError(f"the episode did not begin: {failed}") from error
        if ready is None:
            raise DesktopTimeout("the episode did not begin in time")

    def reset(self, profile: Profile | None = None) -> None:
        """Back to the start: no program, no file, no key and no setting of the last episode remains.

        The display is kept when everything that can be asked of it is as it was at the start, pixel for
        pixel, and replaced when anything is not. ``profile`` is that of the configuration unless given.
        """
        with self._lock:
            self._open()
            self.profile, self._shell_starts = "bare", False
            self._begin_episode()
            left: list[str] = ["connection"]
            with contextlib.suppress(DesktopTimeout, DesktopDied):
                left = self._open().restore(FORGET_WINDOWS_S)
            if left:
                self._restart_display()
            self._await_episode()
            self.last_step = StepResult(changed=False, settled=True, waited_ms=0.0)
            self._show(profile or self.config.profile)

    def use_profile(self, profile: Profile) -> None:
        """Make the desktop ``full`` or ``bare``: a shell is added to what is there, and removed by a reset."""
        with self._lock:
            self._open()
            if profile == "bare" and self.profile == "full":
                self.reset("bare")
            elif profile != self.profile:
                self._show(profile)

    def _show(self, profile: Profile) -> None:
        """Begin to show what the profile has; the first look waits until it is drawn."""
        if profile == "full":
            start_shell(self._running_episode())
            self.profile, self._shell_starts = "full", True

    def _await_shell(self) -> None:
        if self._shell_starts:
            self._shell_starts = False
            seat = self._open()
            wait_for_panel(seat.display, self.config.start_timeout_s)
            wait_for_icons(seat.display, self.config.start_timeout_s)
            seat.quiesce(SHELL_DRAWN_S)
            seat.settle(self.config.settle)

    def _restart_display(self) -> None:
        self.resets_of_display += 1
        self._leave_episode()
        seat, self._seat = self._open(), None
        seat.close()
        try:
            answer = self._supervisor.call("restart_display", timeout_s=self.config.start_timeout_s)
        except OSError as error:
            raise DesktopStartError(str(error)) from error
        self._open_seat(answer.fd)

    def close(self) -> None:
        """End everything inside, and return when it is gone. Closing twice does no harm."""
        self._closing = True  # another thread that uses it in a loop would take the lock again and again
        with self._lock:
            with contextlib.suppress(DesktopError):
                self._leave_episode()
            if self._seat is not None:
                self._seat.close()
                self._seat = None
            self._supervisor.close()
            self._finalizer()

    def __enter__(self) -> SandboxDesktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        return not self._finalizer.alive

    def check(self) -> None:
        """Raise a typed error unless every part of the desktop answers."""
        with self._use():
            self._open().programs.busy()
            self._running_episode().call("stat", path=".")
            if window_manager_name(self._open().display) is None:
                raise DesktopDied("the window manager is gone")
            if not self._open().window_manager_answers():
                raise DesktopTimeout("the window manager does not answer")
            if self.profile == "full":
                check_shell(self._running_episode())

    # Seeing and doing.

    def frame(self) -> npt.NDArray[np.uint8]:
        """The screen now, RGB, (height, width, 3)."""
        with self._use():
            return self._open().frame()

    def glance(self) -> npt.NDArray[np.uint8]:
        """The screen now, even in the middle of an action: for those who only watch."""
        try:
            return self._open().frame()
        except AttributeError as error:  # the display is being replaced at this moment
            raise DesktopClosed("the display is being replaced") from error

    def perform(self, action: Action) -> npt.NDArray[np.uint8]:
        """Do it, wait until the screen has settled, and return the frame; ``last_step`` says how it settled."""
        with self._use():
            seat = self._open()
            if action.kind is ActionKind.CALL:
                self.last_step = self._call(seat, action)
            else:
                self.last_step = seat.perform(action, self.config.settle)
            return seat.frame()

    def _call(self, seat: Seat, action: Action) -> StepResult:
        """Have a function called inside the episode; what it does to the screen settles as after a click."""
        function = find_function(action.function)
        return self._carry_out(seat, function, function.bind(action.args, action.kwargs))

    def call(self, function: Function, arguments: Mapping[str, object]) -> str:
        """What a function answers that need not be in the catalog; it runs as any call does."""
        with self._use():
            bound = function.bind((), tuple(arguments.items()))
            self.last_step = self._carry_out(self._open(), function, bound)
            return self.last_step.text

    def _carry_out(self, seat: Seat, function: Function, arguments: Mapping[str, object]) -> StepResult:
        if self._calls is None:
            self._calls = CallRunner(self._running_episode(), launching.call_runner_argv(self.config))
        seat.display.forget_damage()
        try:
            text = self._calls.call(function, arguments)
        except CallFailed:
            self.last_step = seat.settle(self.config.settle)  # it may have come halfway
            raise
        return replace(seat.settle(self.config.settle), text=text)

    def settle(self, still_ms: float = 0.0) -> StepResult:
        """Wait until the screen is still and the programs sleep; with ``still_ms``, until it was still for so long."""
        with self._use():
            seat = self._open()
            seat.quiesce()
            self.last_step = seat.settle(self.config.settle.still(still_ms))
            return self.last_step

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is, in pixels."""
        with self._use():
            return self._open().input.pointer.position()

    def windows(self) -> list[Window]:
        """Top-level windows from the bottom of the stack to the top."""
        with self._use():
            return list_windows(self._open().display)

    def place_window(self, window: Window, x: int, y: int, width: int, height: int) -> None:
        """Put a window's client area there, and wait until it is."""
        with self._use():
            place_window(self._open().display, window.id, x, y, width, height)
            self.settle()

    def activate_window(self, window: Window) -> None:
        """Raise a window and give it the focus."""
        with self._use():
            activate_window(self._open().display, window.id)
            self.settle()

    def close_window(self, window: Window) -> None:
        """Close a window as its close button would."""
        with self._use():
            close_window(self._open().display, window.id)
            self.settle()

    def accessibility(
        self,
        scope: str = "focused",
        *,
        app: str | None = None,
        timeout_s: float = 2.0,
        limit: int = 5000,
        lines: bool = False,
    ) -> Node:
        """The tree of widgets that are shown: of the focused window, of one application, or of all (``desktop``).

        Terminals that no other window lies over are read off the screen. With ``lines``, a text of several lines
        has a child for each line that is in sight; its value is its number.
        """
        with self._use():
            seat = self._open()
            return read_tree(
                self._trees(),
                seat.display,
                seat.frame,
                scope,
                app=app,
                timeout_s=timeout_s,
                limit=limit,
                lines=lines,
            )

    def caret(self) -> Caret | None:
        """Caret and selection of the text that has the focus; None if no text has it or its application does not say."""
        with self._use():
            return read_caret(self._trees(), self._open().display)

    @property
    def clipboard(self) -> Clipboard:
        """What is copied in the desktop."""

        def run(argv: list[str], stdin: bytes | None, timeout_s: float) -> RunResult:
            with self._use():
                return run_command(
                    self._supervisor,
                    argv,
                    stdin=stdin,
                    timeout_s=timeout_s,
                    limit=16 << 20,
                    background=stdin is not None,
                )

        return Clipboard(run)

    def devtools(self) -> DevTools:
        """DevTools of the browser that started last and still runs. Close it after use; calls talk over the same pipe."""
        try:
            return DevTools(socket.socket(fileno=self._running_episode().call("devtools").fd))
        except OSError as error:
            raise CallFailed(f"no browser can be asked: {error.strerror}") from error

    # Programs and files.

    @property
    def files(self) -> Files:
        """Files of the desktop, read and written from outside."""
        return Files(self._running_episode())

    def processes(self) -> list[Process]:
        with self._use():
            return list_processes(self._running_episode())

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
        """Run a command in the desktop to its end and return what it said, at most ``limit`` bytes each way.

        A string is split into words; no shell is involved unless you name one: ``["sh", "-c", ...]``.
        """
        argv = split_command(command)
        return run_command(
            self._running_episode(), argv, stdin=stdin, timeout_s=timeout_s, limit=limit, env=env, cwd=cwd
        )

    def start(
        self, command: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> int:
        """Start a program and leave it running; returns its pid inside the desktop."""
        return self._spawn(split_command(command), (), env, cwd)

    def launch(
        self,
        command: str | Sequence[str],
        *,
        timeout_s: float = 15.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Window:
        """Start an application and return its window once it is shown and drawn."""
        argv = split_command(command)
        with self._lock:
            episode, display = self._running_episode(), self._open().display
            if self._shell_starts:
                # The rest of the shell comes up beside the application.
                wait_for_panel(display, self.config.start_timeout_s)
            before = {window.id for window in list_windows(display)}
            with os.fdopen(episode.call("scratch").fd, "r", errors="replace") as said:
                pid = self._spawn(argv, (said.fileno(),) * 3, env, cwd)
                deadline = time.monotonic() + timeout_s
                while True:
                    new = [window for window in list_windows(display) if window.id not in before]
                    if new:
                        break
                    ended = self._running_episode().wait_event("exit", 0.0, pid=pid)
                    if ended is not None and ended["code"] != 0:
                        raise ApplicationExited(
                            f"{shlex.join(argv)[:120]} ended with code {ended['code']} before it showed a window: "
                            + _last_words(said)
                        )
                    if time.monotonic() >= deadline:
                        raise WindowTimeout(
                            f"{shlex.join(argv)[:120]} showed no window within {timeout_s:g} s",
                            hint="is it a graphical program? use start() or run() for those that are not",
                        )
                    display.wait_events(0.05)
            self._await_shell()
            self.settle()
            return next((w for w in list_windows(display) if w.id == new[-1].id), new[-1])

    def _spawn(
        self, argv: list[str], fds: tuple[int, ...], env: Mapping[str, str] | None, cwd: str | None
    ) -> int:
        try:
            return spawn(self._running_episode(), argv, fds, env=dict(env or {}), cwd=cwd)
        except UnknownApplication as error:
            near = difflib.get_close_matches(argv[0], _programs(), 3)
            hint = (
                f"did you mean {' or '.join(near)}?"
                if near
                else "install it on this machine: desktops show its /usr"
            )
            raise UnknownApplication(error.message, hint=hint) from error

    def dial(self, port: int) -> socket.socket:
        """A connection to a TCP port on the desktop's own loopback; ConnectionRefusedError if nothing listens."""
        return socket.socket(fileno=self._running_episode().call("dial", port=port).fd)

    def memory(self) -> dict[str, float]:
        """Megabytes by program, shared pages divided among those who share them."""
        with self._use():
            found: dict[str, float] = {}
            for name, kilobytes in self._supervisor.call("usage")["pss_kb"]:
                found[name] = found.get(name, 0.0) + kilobytes / 1024
            return found

    # Inside.

    def _takes_text(self) -> bool:
        return takes_text(self._trees(), self._open().display)

    def _trees(self) -> Accessibility:
        if self._accessibility is None:
            self._accessibility = Accessibility(self._running_episode())
        return self._accessibility

    @contextlib.contextmanager
    def _use(self) -> Iterator[None]:
        with self._lock:
            self._open()
            self._await_shell()
            yield

    def _open(self) -> Seat:
        if self._closing or self._seat is None:
            raise DesktopClosed("the desktop is closed")
        return self._seat

    def _running_episode(self) -> Channel:
        if self._closing or self._episode is None:
            raise DesktopClosed("the desktop is closed")
        return self._episode


def _programs() -> list[str]:
    return list(os.listdir("/usr/bin"))


def _last_words(said: object) -> str:
    said.seek(0)  # type: ignore[attr-defined]
    return " ".join(said.read(4000).split())[-300:] or "it said nothing"  # type: ignore[attr-defined]
