"""One of OSWorld's machines as a desktop of ours: pictures, pyautogui through ``/execute``, widgets, files, programs.

The machine may be an image of OSWorld's, of Linux or Windows, or a desktop that ``operant desktop serve --protocol
osworld`` serves. Only the latter can be reset; the others are replaced by the provider that started them.
"""

from __future__ import annotations

import contextlib
import shlex
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from operant.actions import pyautogui_source
from operant.config.desktop import DesktopConfig, Profile
from operant.desktop.frame_comparison import same_frame
from operant.desktop.osworld.connection import GuestAnswer, GuestConnection
from operant.desktop.osworld.guest_files import GuestClipboard, GuestFiles
from operant.desktop.osworld.guest_windows import WINDOWS_SCRIPT, read_windows
from operant.desktop.osworld.tree_xml import read_tree
from operant.desktop.programs import split_command
from operant.desktop.protocol import Capability, LimitedDesktop
from operant.errors import (
    AccessibilityError,
    ActionNotExpressible,
    ApplicationError,
    CommandTimeout,
    DesktopClosed,
    DesktopStartError,
    NotSupported,
    OperantError,
    RemoteDesktopError,
    UnknownApplication,
    WindowTimeout,
)
from operant.types import (
    Action,
    ActionKind,
    Caret,
    Monitor,
    Node,
    Process,
    RunResult,
    Size,
    StepResult,
    Window,
)

__all__ = ["OsworldDesktop"]

CALL_S = 30.0
CHECK_S = 10.0
GOODBYE_S = 5.0
LOOK_S = 0.1  # between two looks at a screen that may still change
PREFIX = "import pyautogui; import time; pyautogui.FAILSAFE = False; "
SETTLED = StepResult(changed=False, settled=True, waited_ms=0.0)
PROBE = 'echo "$HOME"; for one in xprop xwininfo wmctrl xclip ps find; do command -v $one; done; true'
WITHOUT_ACT = frozenset({ActionKind.SCREENSHOT})

Frame = npt.NDArray[np.uint8]


class OsworldDesktop(LimitedDesktop):
    """The machine at an address. ``config`` says how large its screen has to be; without it, any size will do.

    ``lease`` is the name under which the machine was leased from a server of ours; closing gives it back.

    >>> with OsworldDesktop("http://10.0.0.7:5000") as desktop:  # doctest: +SKIP
    ...     desktop.perform(Action.click(Point(0.5, 0.5)))
    """

    lacking_hint = "OSWorld's protocol has no words for it; sandboxed desktops have it"

    def __init__(
        self,
        url: str,
        config: DesktopConfig | None = None,
        *,
        token: str | None = None,
        timeout_s: float = CALL_S,
        lease: str | None = None,
    ) -> None:
        self.config = config or DesktopConfig()
        self.timeout_s = timeout_s
        self.lease = lease
        self.last_step = SETTLED
        self.closed = False
        self.home = "/home/user"
        self._lock = threading.RLock()
        self._line = GuestConnection(url, token, lease)
        try:
            self.is_ours = self._line.get("/operant/about", timeout_s).status == 200
            """Whether it is a server of ours: it resets, types any text, and answers when the screen is still."""
            self.size = self._ask_size()
            self._last = self._look()
            self.capabilities = self._ask_capabilities()
            if config is not None and tuple(self.size) != tuple(config.size):
                raise DesktopStartError(
                    f"the screen of {self.url} is {self.size}, and {config.size} was asked for",
                    hint=f"--screen {self.size}, or another resolution of the machine",
                )
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        return self._line.url

    def _ask_size(self) -> Size:
        found = self._line.post("/screen_size", self.timeout_s).fields()
        width, height = found.get("width"), found.get("height")
        if not (isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0):
            raise RemoteDesktopError(f"{self.url} says that its screen is {found!r:.100}")
        return Size(width, height)

    def _ask_capabilities(self) -> frozenset[Capability]:
        found = {Capability.ACCESSIBILITY, Capability.FILES, Capability.COMMANDS}
        if self._line.get("/platform", self.timeout_s).text.strip() == "Linux":
            home, *tools = self._shell(PROBE).stdout.decode().splitlines()
            self.home = home or self.home
            names = {path.rpartition("/")[2] for path in tools}
            found |= {Capability.WINDOWS} if {"xprop", "xwininfo"} <= names else set()
            found |= {Capability.WINDOW_CONTROL} if "wmctrl" in names else set()
            found |= {Capability.CLIPBOARD} if "xclip" in names else set()
            found |= {Capability.PROGRAMS} if "ps" in names else set()
        if self.is_ours:
            found |= {Capability.RESET}
        return frozenset(found)

    # Coming and going.

    def check(self) -> None:
        """Raise a typed error unless the machine answers."""
        with self._lock:
            self._open()
            self._look(CHECK_S)
            if self.execute(["true"], CHECK_S).returncode:
                raise RemoteDesktopError(f"{self.url} runs no commands any more")

    def reset(self, profile: Profile | None = None) -> None:
        """Back to the start, where the server can do that."""
        with self._lock:
            self._open()
            if not self.is_ours:
                raise NotSupported(
                    f"{self.url} can't go back to its start by itself",
                    hint="use the provider that starts its machine: docker, aws or vm",
                )
            given = {"lease": self.lease} if self.lease else {}
            answer = self._line.post(
                "/operant/reset", self.timeout_s + self.config.start_timeout_s, json=given
            )
            if answer.status != 200:
                raise RemoteDesktopError(f"{self.url}: {answer.message()}")
            self.last_step, self._last = SETTLED, self._look()

    def close(self) -> None:
        """Give it back and hang up. The machine goes on."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            if self.lease:
                with contextlib.suppress(OperantError):
                    self._line.delete(f"/operant/lease/{self.lease}", self.timeout_s + GOODBYE_S)
            self._line.close()

    def _open(self) -> None:
        if self.closed:
            raise DesktopClosed("the desktop is closed")

    def __enter__(self) -> OsworldDesktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Seeing and doing.

    @property
    def monitors(self) -> tuple[Monitor, ...]:
        return (Monitor(0, 0, *self.size),)

    def _look(self, timeout_s: float | None = None) -> Frame:
        frame = self._line.get("/screenshot", timeout_s or self.timeout_s).frame()
        if frame.shape[:2] != (self.size.height, self.size.width):
            shown = f"{frame.shape[1]}x{frame.shape[0]}"
            raise RemoteDesktopError(f"{self.url} says that its screen is {self.size}, and shows {shown}")
        return frame

    def frame(self) -> Frame:
        """The screen now, RGB, (height, width, 3)."""
        with self._lock:
            self._open()
            self._last = self._look()
            return self._last.copy()

    def glance(self) -> Frame:
        """The screen now, even in the middle of an action."""
        self._open()
        return self._look()

    def perform(self, action: Action) -> Frame:
        """Do it with pyautogui on the machine, and return the frame when the screen is still."""
        with self._lock:
            self._open()
            before, began = self._last, time.monotonic()
            if action.kind is ActionKind.WAIT:
                time.sleep(action.duration)
            elif not (action.kind.terminal or action.kind in WITHOUT_ACT):
                self._act(action)
            step = self.settle()
            took = 1000 * (time.monotonic() - began)
            self.last_step = replace(step, changed=not same_frame(before, self._last), waited_ms=took)
            return self._last.copy()

    def _act(self, action: Action) -> None:
        if action.kind is ActionKind.TYPE and not (self.is_ours or action.text.isascii()):
            raise ActionNotExpressible(
                "pyautogui types ASCII only and leaves out the rest without a word",
                hint="paste other text: the clipboard of the desktop takes it",
            )
        source = PREFIX + pyautogui_source.render(action, self.size)
        done = self.execute(["python", "-c", source], self.timeout_s + action.duration)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise RemoteDesktopError(
                f"{self.url} could not act: {said[-1] if said else 'it did not say why'}",
                hint="its python needs pyautogui",
            )

    def settle(self, still_ms: float = 0.0) -> StepResult:
        """Look until two pictures are the same, within the time that a step may take."""
        with self._lock:
            self._open()
            began, before = time.monotonic(), self._last
            limits = self.config.settle.still(still_ms)
            pause_s = max(LOOK_S, still_ms / 1000)
            self._last, settled = self._look(), self.is_ours and not still_ms
            while not settled and 1000 * (time.monotonic() - began) < limits.cap_ms:
                time.sleep(pause_s)
                seen = self._look()
                settled, self._last = same_frame(self._last, seen), seen
            took = 1000 * (time.monotonic() - began)
            self.last_step = StepResult(not same_frame(before, self._last), settled, took)
            return self.last_step

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is, in pixels."""
        found = self._line.get("/cursor_position", self.timeout_s).json()
        match found:
            case [int(x), int(y)] | {"x": int(x), "y": int(y)}:
                return x, y
        raise RemoteDesktopError(f"{self.url} says that the pointer is at {found!r:.100}")

    # Looking around.

    def windows(self) -> list[Window]:
        """Top-level windows from the bottom of the stack to the top."""
        self._need(Capability.WINDOWS)
        return read_windows(self._shell(WINDOWS_SCRIPT).stdout.decode("utf-8", "replace"))

    def place_window(self, window: Window, x: int, y: int, width: int, height: int) -> None:
        static_gravity = 10  # the place is that of the client area
        self._wmctrl("-i", "-r", hex(window.id), "-b", "remove,maximized_vert,maximized_horz")
        self._wmctrl("-i", "-r", hex(window.id), "-e", f"{static_gravity},{x},{y},{width},{height}")

    def activate_window(self, window: Window) -> None:
        self._wmctrl("-i", "-a", hex(window.id))

    def close_window(self, window: Window) -> None:
        self._wmctrl("-i", "-c", hex(window.id))

    def _wmctrl(self, *words: str) -> None:
        self._need(Capability.WINDOW_CONTROL)
        self.execute(["wmctrl", *words], self.timeout_s)
        self.settle()

    def accessibility(
        self, scope: str = "focused", *, app: str | None = None, timeout_s: float = 2.0, lines: bool = False
    ) -> Node:
        """The tree of widgets that are shown: of the active window, of one application, or of all."""
        answer = self._line.get("/accessibility", self.timeout_s + timeout_s)
        found = answer.fields().get("AT") if answer.status == 200 else None
        if not isinstance(found, str):
            raise AccessibilityError(f"{self.url} tells nothing of widgets: {answer.message()}")
        tree = _shown(read_tree(found, url=self.url))
        if app is not None:
            chosen = next((one for one in tree.children if one.name.lower() == app.lower()), None)
            if chosen is None:
                names = ", ".join(sorted(one.name for one in tree.children)) or "none"
                raise AccessibilityError(f"no application {app!r} is accessible", hint=f"accessible: {names}")
            return chosen
        if scope == "desktop":
            return tree
        for application in tree.children:
            active = tuple(one for one in application.children if "active" in one.states)
            if active:
                return replace(application, children=active)
        return replace(tree, children=())

    def caret(self) -> Caret | None:
        """The protocol does not say."""
        return None

    @property
    def clipboard(self) -> GuestClipboard:
        self._need(Capability.CLIPBOARD)
        return GuestClipboard(self)

    # Programs and files.

    @property
    def files(self) -> GuestFiles:
        return GuestFiles(self._line, self.home, self.timeout_s, self._shell)

    def processes(self) -> list[Process]:
        self._need(Capability.PROGRAMS)
        found = []
        for line in (
            self._shell("ps -eo pid=,ppid=,comm=,args=").stdout.decode("utf-8", "replace").splitlines()
        ):
            pid, parent, name, *command = line.split()
            found.append(Process(int(pid), int(parent), name, tuple(command)))
        return found

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
        """Run a command on the machine to its end."""
        words = split_command(command)
        if env or cwd or stdin is not None:
            words = self._wrapped(words, env or {}, cwd, stdin)
        done = self.execute(words, timeout_s)
        long = len(done.stdout) > limit or len(done.stderr) > limit
        return RunResult(done.returncode, done.stdout[:limit], done.stderr[:limit], long)

    def _wrapped(
        self, words: list[str], env: Mapping[str, str], cwd: str | None, stdin: bytes | None
    ) -> list[str]:
        """The command in a shell that sets the stage for it."""
        self._need(Capability.PROGRAMS)
        line = " ".join(["exec", "env", *(shlex.quote(f"{k}={v}") for k, v in env.items()), '"$0"', '"$@"'])
        if stdin is not None:
            path = f"/tmp/operant-input-{time.monotonic_ns()}"
            self.files.write(path, stdin)
            line = f"exec < {path}; rm -f {path}; {line}"
        line = f"cd {shlex.quote(cwd)} && {line}" if cwd else line
        return ["/bin/sh", "-c", line, *words]

    def start(
        self, command: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> int:
        """Start a program and leave it running; returns its pid on the machine."""
        self._need(Capability.PROGRAMS)
        words = split_command(command)
        if self.execute(["/bin/sh", "-c", 'command -v "$0"', words[0]], self.timeout_s).returncode:
            raise UnknownApplication(f"no program {words[0]!r} on {self.url}")
        given = [shlex.quote(f"{name}={value}") for name, value in (env or {}).items()]
        line = " ".join(["setsid", "env", *given, '"$0"', '"$@"', "</dev/null >/dev/null 2>&1 & echo $!"])
        line = f"cd {shlex.quote(cwd)} && {{ {line}; }}" if cwd else line
        done = self.execute(["/bin/sh", "-c", line, *words], self.timeout_s)
        if done.returncode or not done.stdout.strip().isdigit():
            raise ApplicationError(
                f"{words[0]} did not start: {done.stderr[-300:].decode('utf-8', 'replace')}"
            )
        return int(done.stdout)

    def launch(
        self,
        command: str | Sequence[str],
        *,
        timeout_s: float = 15.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Window:
        """Start an application and return its window once it is shown and drawn."""
        before = {window.id for window in self.windows()}
        self.start(command, env=env, cwd=cwd)
        deadline = time.monotonic() + timeout_s
        while not (new := [window for window in self.windows() if window.id not in before]):
            if time.monotonic() > deadline:
                raise WindowTimeout(f"{command!r:.120} showed no window within {timeout_s:g} s")
            time.sleep(LOOK_S)
        self.settle(still_ms=1000 * LOOK_S)
        return next((one for one in self.windows() if one.id == new[-1].id), new[-1])

    def execute(self, words: Sequence[str], timeout_s: float) -> RunResult:
        """Run words as they are; what the machine refuses is raised by its kind."""
        self._open()
        body = {"command": list(words), "shell": False, "timeout": timeout_s}
        answer = self._line.post("/execute", self.timeout_s + timeout_s, json=body)
        if answer.status != 200:
            self._refused(answer, words)
        said = answer.fields()
        code = said.get("returncode")
        if not isinstance(code, int):
            answer.stranger("without a return code")
        out, err = (str(said.get(name) or "").encode() for name in ("output", "error"))
        return RunResult(code, out, err, False)

    def _refused(self, answer: GuestAnswer, words: Sequence[str]) -> NoReturn:
        message = f"{words[0]} on {self.url}: {answer.message()}"
        if "[Errno 2]" in message:
            raise UnknownApplication(message)
        if "timed out" in message:
            raise CommandTimeout(message)
        if answer.status == 400:
            raise ApplicationError(message)
        raise RemoteDesktopError(message)

    def _shell(self, line: str, *words: str) -> RunResult:
        return self.execute(["/bin/sh", "-c", line, *words], self.timeout_s)

    def _need(self, capability: Capability) -> None:
        self._open()
        if capability not in self.capabilities:
            self._lacks(capability)


def _shown(tree: Node) -> Node:
    """The tree without what is not in sight; applications and the desktop have no states of their own."""
    children = [_shown(child) for child in tree.children]
    kept = tuple(one for one in children if "showing" in one.states or one.role == "application")
    return replace(tree, children=kept)
