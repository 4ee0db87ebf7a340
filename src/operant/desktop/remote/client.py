"""A desktop of another machine behind the calls of a sandboxed one, so that tasks and agents need not know.

Each call has a number, and the server remembers the last answer: a call that is sent again because the line
broke is not done again. Frames travel as changes. What goes wrong over there is raised here as it was there.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.actions.json_actions import to_json
from operant.config.desktop import DesktopConfig, Profile
from operant.desktop.programs import FileInfo, split_command
from operant.desktop.protocol import ALL
from operant.desktop.remote.connection import Connection
from operant.desktop.remote.frames import FrameReceiver
from operant.desktop.remote.wire import PROTOCOL, failure_from, plain, read
from operant.errors import DesktopClosed, DesktopError, DesktopStartError, RemoteDesktopError
from operant.types import (
    Action,
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

__all__ = ["RemoteClipboard", "RemoteDesktop", "RemoteFiles"]

GOODBYE_S = 5.0
CALL_S = 30.0
PATIENCE_S = 10.0
SETTLED = StepResult(changed=False, settled=True, waited_ms=0.0)


class RemoteDesktop:
    """One desktop, leased from a server until it is closed. ``config`` says how large it has to be.

    ``timeout_s`` is for each call, beyond what the call itself may take; ``patience_s`` for a line that broke.
    """

    capabilities = ALL

    def __init__(
        self,
        connection: Connection | str,
        config: DesktopConfig | None = None,
        *,
        token: str | None = None,
        timeout_s: float = CALL_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.config = config or DesktopConfig()
        self.actions: ActionMode = self.config.actions
        self.timeout_s = timeout_s
        self.last_step = SETTLED
        self.closed = False
        self._lock = threading.RLock()
        self._number = 0
        self._owned = isinstance(connection, str)
        if isinstance(connection, str):
            connection = Connection(connection, token, patience_s=patience_s)
        self._line = connection
        try:
            # The id is ours, so that a request which is sent again leases no second desktop.
            self.id = secrets.token_urlsafe(16)
            wanted = {"protocol": PROTOCOL, "id": self.id}
            lease = self._line.post("/v1/desktops", wanted, max(timeout_s, self.config.start_timeout_s))
            self.size: Size = read(lease.get("size"), Size)
            self.monitors: tuple[Monitor, ...] = tuple(read(lease.get("monitors"), list[Monitor]))
            shown: Profile = read(lease.get("profile"), Profile)
        except BaseException:
            self._hang_up()
            raise
        self.profile: Profile = shown
        self._frames = FrameReceiver(self.size)
        if tuple(self.size) != tuple(self.config.size):
            self.close()
            raise DesktopStartError(
                f"desktops of {self._line.url} are {self.size}, and {self.config.size} was asked for",
                hint=f"start it with --width {self.config.width} --height {self.config.height}",
            )
        self.use_profile(self.config.profile)

    # Calling.

    def _call(self, name: str, timeout_s: float = 0.0, **arguments: Any) -> Any:
        with self._lock:
            if self.closed:
                raise DesktopClosed("the desktop is closed")
            self._number += 1
            message = {
                "number": self._number,
                "call": name,
                "arguments": arguments,
                "known": self._frames.known,
            }
            answer = self._line.post(f"/v1/desktops/{self.id}/calls", message, self.timeout_s + timeout_s)
            if "failure" in answer:
                raise failure_from(answer["failure"])
            self.last_step = read(answer.get("step"), StepResult)
            if "frame" in answer:
                return self._frames.read(answer["frame"])
            if "result" not in answer:
                raise RemoteDesktopError(f"{self._line.url} gave an answer without a result")
            return answer["result"]

    # Coming and going.

    def reset(self, profile: Profile | None = None) -> None:
        """Back to the start."""
        profile = profile or self.config.profile
        self._call("reset", self.config.start_timeout_s, profile=profile)
        self.profile = profile

    def use_profile(self, profile: Profile) -> None:
        """Make the desktop ``full`` or ``bare``."""
        if profile != self.profile:
            self._call("use_profile", self.config.start_timeout_s, profile=profile)
            self.profile = profile

    def check(self) -> None:
        """Raise a typed error unless every part of the desktop answers."""
        self._call("check")

    def close(self) -> None:
        """Give it back. A server that is gone gives up the lease by itself."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            with contextlib.suppress(DesktopError):
                self._line.delete(f"/v1/desktops/{self.id}", GOODBYE_S)
            self._hang_up()

    def _hang_up(self) -> None:
        if self._owned:
            self._line.close()

    def __enter__(self) -> RemoteDesktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Seeing and doing.

    def frame(self) -> npt.NDArray[np.uint8]:
        """The screen now, RGB, (height, width, 3)."""
        return self._frame("frame")

    def _frame(self, name: str, timeout_s: float = 0.0, **arguments: Any) -> npt.NDArray[np.uint8]:
        found = self._call(name, timeout_s, **arguments)
        if not isinstance(found, np.ndarray):
            raise RemoteDesktopError(f"{self._line.url} sent no frame")
        return found

    def glance(self) -> npt.NDArray[np.uint8]:
        """The screen now, even in the middle of an action: for those who only watch."""
        if self.closed:
            raise DesktopClosed("the desktop is closed")
        answer = self._line.get(f"/v1/desktops/{self.id}/glance", self.timeout_s)
        return FrameReceiver(self.size).read(answer.get("frame"))

    def perform(self, action: Action) -> npt.NDArray[np.uint8]:
        """Do it, wait until the screen has settled, and return the frame; ``last_step`` says how it settled."""
        return self._frame("perform", action.duration, action=to_json(action))

    def settle(self, still_ms: float = 0.0) -> StepResult:
        """Wait until the screen is still and the programs sleep; with ``still_ms``, until it was still for so long."""
        self._call("settle", **({"still_ms": still_ms} if still_ms else {}))
        return self.last_step

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is, in pixels."""
        return read(self._call("pointer"), tuple[int, int])

    def windows(self) -> list[Window]:
        """Top-level windows from the bottom of the stack to the top."""
        return read(self._call("windows"), list[Window])

    def place_window(self, window: Window, x: int, y: int, width: int, height: int) -> None:
        """Put a window's client area there, and wait until it is."""
        self._call("place_window", window=plain(window, Window), x=x, y=y, width=width, height=height)

    def activate_window(self, window: Window) -> None:
        """Raise a window and give it the focus."""
        self._call("activate_window", window=plain(window, Window))

    def close_window(self, window: Window) -> None:
        """Close a window as its close button would."""
        self._call("close_window", window=plain(window, Window))

    def accessibility(
        self,
        scope: str = "focused",
        *,
        app: str | None = None,
        timeout_s: float = 2.0,
        limit: int = 5000,
        lines: bool = False,
    ) -> Node:
        """The tree of widgets that are shown: of the focused window, of one application, or of all."""
        found = self._call(
            "accessibility", timeout_s, scope=scope, app=app, seconds=timeout_s, limit=limit, lines=lines
        )
        return read(found, Node)

    def caret(self) -> Caret | None:
        """Caret and selection of the text that has the focus; None if no text has it or its application does not say."""
        return read(self._call("caret"), Caret | None)

    @property
    def clipboard(self) -> RemoteClipboard:
        """What is copied in the desktop."""
        return RemoteClipboard(self)

    # Programs and files.

    @property
    def files(self) -> RemoteFiles:
        """Files of the desktop, read and written from outside."""
        return RemoteFiles(self)

    def processes(self) -> list[Process]:
        return read(self._call("processes"), list[Process])

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
        """Run a command in the desktop to its end and return what it said, at most ``limit`` bytes each way."""
        found = self._call(
            "run",
            timeout_s,
            command=split_command(command),
            seconds=timeout_s,
            limit=limit,
            stdin=stdin,
            **_surroundings(env, cwd),
        )
        return read(found, RunResult)

    def start(
        self, command: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> int:
        """Start a program and leave it running; returns its pid inside the desktop."""
        return read(self._call("start", command=split_command(command), **_surroundings(env, cwd)), int)

    def launch(
        self,
        command: str | Sequence[str],
        *,
        timeout_s: float = 15.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Window:
        """Start an application and return its window once it is shown and drawn."""
        found = self._call(
            "launch",
            timeout_s,
            command=split_command(command),
            seconds=timeout_s,
            **_surroundings(env, cwd),
        )
        return read(found, Window)


def _surroundings(env: Mapping[str, str] | None, cwd: str | None) -> dict[str, Any]:
    return {"env": None if env is None else dict(env), "cwd": cwd}


class RemoteClipboard:
    """Text on the clipboard, or in the primary selection."""

    def __init__(self, desktop: RemoteDesktop) -> None:
        self._desktop = desktop

    def get(self, selection: str = "clipboard") -> str | None:
        """What would be pasted; None if nothing, or nothing that is text, was copied."""
        return read(self._desktop._call("clipboard_get", selection=selection), str | None)

    def set(self, text: str, selection: str = "clipboard") -> None:
        self._desktop._call("clipboard_set", text=text, selection=selection)


class RemoteFiles:
    """Files of a desktop; what is missing or forbidden raises the usual FileNotFoundError and so on."""

    def __init__(self, desktop: RemoteDesktop) -> None:
        self._desktop = desktop

    def read(self, path: str | PurePosixPath, limit: int = 64 << 20) -> bytes:
        """The bytes of a regular file, at most ``limit`` of them."""
        return read(self._desktop._call("files_read", path=str(path), limit=limit), bytes)

    def read_text(self, path: str | PurePosixPath, limit: int = 64 << 20) -> str:
        return self.read(path, limit).decode("utf-8", "replace")

    def write(self, path: str | PurePosixPath, data: bytes | str, mode: int = 0o644) -> None:
        """Make or replace a file, and the directories that lead to it."""
        written = data.encode() if isinstance(data, str) else bytes(data)
        self._desktop._call("files_write", path=str(path), data=written, mode=mode)

    def list(self, path: str | PurePosixPath = ".", limit: int = 10_000) -> list[FileInfo]:
        """The entries of a directory by name, at most ``limit`` of them."""
        return read(self._desktop._call("files_list", path=str(path), limit=limit), list[FileInfo])

    def exists(self, path: str | PurePosixPath) -> bool:
        return self.info(path) is not None

    def info(self, path: str | PurePosixPath) -> FileInfo | None:
        """What lies at that path, following links; None if nothing does."""
        return read(self._desktop._call("files_info", path=str(path)), FileInfo | None)
