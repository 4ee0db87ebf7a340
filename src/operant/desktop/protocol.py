"""The desktop that every layer names: see it, touch it, look around in it, start programs and start over.

``SandboxDesktop`` is the one that agents train on, ``RemoteDesktop`` one of another machine, ``LocalDesktop`` the user's own
screen, ``FakeDesktop`` one without X for tests. A desktop that can't do everything says so by its ``capabilities``; what it
lacks raises ``NotSupported``, and a task that needs it is refused before its set-up begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from operant.config.desktop import Profile
from operant.errors import NotSupported
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

if TYPE_CHECKING:
    from operant.desktop.programs import FileInfo

__all__ = ["ALL", "Capability", "ClipboardAccess", "Desktop", "FileAccess", "LimitedDesktop", "require"]


class Capability(str, Enum):
    """A part of the protocol that some desktops lack. Every desktop has a screen, a pointer and a keyboard."""

    RESET = "going back to the start"
    PROFILES = "menu, panel and icons on request"
    WINDOWS = "a list of windows"
    WINDOW_CONTROL = "placing, raising and closing windows"
    ACCESSIBILITY = "accessibility trees"
    COMMANDS = "running commands"
    PROGRAMS = "starting programs"
    FILES = "files"
    CLIPBOARD = "the clipboard"


ALL: frozenset[Capability] = frozenset(Capability)


class FileAccess(Protocol):
    """Files of a desktop; what is missing or forbidden raises the usual FileNotFoundError and so on."""

    def read(self, path: str | PurePosixPath, limit: int = ...) -> bytes: ...

    def read_text(self, path: str | PurePosixPath, limit: int = ...) -> str: ...

    def write(self, path: str | PurePosixPath, data: bytes | str, mode: int = ...) -> None: ...

    def list(self, path: str | PurePosixPath = ..., limit: int = ...) -> list[FileInfo]: ...

    def exists(self, path: str | PurePosixPath) -> bool: ...

    def info(self, path: str | PurePosixPath) -> FileInfo | None: ...


class ClipboardAccess(Protocol):
    """Text on the clipboard, or in the primary selection."""

    def get(self, selection: str = "clipboard") -> str | None: ...

    def set(self, text: str, selection: str = "clipboard") -> None: ...


class Desktop(Protocol):
    """A desktop to see and to operate."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do beside showing a screen and taking actions."""
        ...

    @property
    def size(self) -> Size: ...

    @property
    def monitors(self) -> tuple[Monitor, ...]: ...

    @property
    def last_step(self) -> StepResult:
        """How the screen settled after the last action."""
        ...

    @property
    def actions(self) -> ActionMode:
        """What agents may do to it: use pointer and keyboard, call functions of applications, or both."""
        ...

    @property
    def profile(self) -> Profile | None:
        """What it shows besides programs; None for a screen that is not ours."""
        ...

    @property
    def closed(self) -> bool: ...

    # Seeing and doing.

    def frame(self) -> npt.NDArray[np.uint8]:
        """The screen now, RGB, (height, width, 3)."""
        ...

    def glance(self) -> npt.NDArray[np.uint8]:
        """The screen now, even in the middle of an action: for viewers."""
        ...

    def perform(self, action: Action) -> npt.NDArray[np.uint8]:
        """Do it, wait until the screen has settled, and return the frame."""
        ...

    def settle(self, still_ms: float = 0.0) -> StepResult:
        """Wait until the screen is still and the programs sleep; with ``still_ms``, until it was still for so long."""
        ...

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is, in pixels."""
        ...

    # Looking around.

    def windows(self) -> list[Window]:
        """Top-level windows from the bottom of the stack to the top."""
        ...

    def place_window(self, window: Window, x: int, y: int, width: int, height: int) -> None:
        """Put a window's client area there, and wait until it is."""
        ...

    def activate_window(self, window: Window) -> None:
        """Raise a window and give it the focus."""
        ...

    def close_window(self, window: Window) -> None:
        """Close a window as its close button would."""
        ...

    def accessibility(
        self, scope: str = "focused", *, app: str | None = None, timeout_s: float = 2.0, lines: bool = False
    ) -> Node:
        """The tree of widgets that are shown; ``lines`` adds the lines of long texts where that is possible."""
        ...

    def caret(self) -> Caret | None:
        """Caret and selection of the focused text; None where no text has the focus."""
        ...

    @property
    def clipboard(self) -> ClipboardAccess: ...

    # Programs and files.

    @property
    def files(self) -> FileAccess: ...

    def processes(self) -> list[Process]: ...

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
        """Run a command in the desktop to its end."""
        ...

    def start(
        self, command: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> int:
        """Start a program and leave it running; returns its pid inside the desktop."""
        ...

    def launch(
        self,
        command: str | Sequence[str],
        *,
        timeout_s: float = 15.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Window:
        """Start an application and return its window once it is shown and drawn."""
        ...

    # Starting over, going away.

    def reset(self, profile: Profile | None = None) -> None:
        """Back to the start, on that profile or on the configured one."""
        ...

    def use_profile(self, profile: Profile) -> None:
        """Make the desktop ``full`` or ``bare``."""
        ...

    def check(self) -> None:
        """Raise a typed error unless every part of the desktop answers."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...

    def __enter__(self) -> Desktop: ...

    def __exit__(self, *_: object) -> None: ...


def require(desktop: Desktop, needs: Iterable[Capability], what: str) -> None:
    """Refuse ``what`` on a desktop that lacks a capability that it needs."""
    missing = [one for one in Capability if one in frozenset(needs) - desktop.capabilities]
    if missing:
        raise NotSupported(
            f"{what} needs {', '.join(one.value for one in missing)}, which a {type(desktop).__name__} lacks",
            hint="use a sandboxed desktop, or a task without that",
        )


class LimitedDesktop:
    """A base for desktops that lack part of the protocol: whatever a subclass does not define raises ``NotSupported``."""

    capabilities: frozenset[Capability] = frozenset()
    actions: ActionMode = "gui"
    lacking_hint = "sandboxed desktops have it"
    profile: Profile | None = None

    def _lacks(self, capability: Capability) -> NoReturn:
        raise NotSupported(f"a {type(self).__name__} lacks {capability.value}", hint=self.lacking_hint)

    def windows(self) -> list[Window]:
        self._lacks(Capability.WINDOWS)

    def place_window(self, window: Window, x: int, y: int, width: int, height: int) -> None:
        self._lacks(Capability.WINDOW_CONTROL)

    def activate_window(self, window: Window) -> None:
        self._lacks(Capability.WINDOW_CONTROL)

    def close_window(self, window: Window) -> None:
        self._lacks(Capability.WINDOW_CONTROL)

    def caret(self) -> Caret | None:
        self._lacks(Capability.ACCESSIBILITY)

    @property
    def clipboard(self) -> ClipboardAccess:
        self._lacks(Capability.CLIPBOARD)

    @property
    def files(self) -> FileAccess:
        self._lacks(Capability.FILES)

    def processes(self) -> list[Process]:
        self._lacks(Capability.PROGRAMS)

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
        self._lacks(Capability.COMMANDS)

    def start(
        self, command: str | Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> int:
        self._lacks(Capability.PROGRAMS)

    def launch(
        self,
        command: str | Sequence[str],
        *,
        timeout_s: float = 15.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Window:
        self._lacks(Capability.PROGRAMS)

    def use_profile(self, profile: Profile) -> None:
        self._lacks(Capability.PROFILES)
