"""Set-up steps: how the initial state of a task comes about, from outside and before the agent looks.

Each step is a small model that can be written in YAML under its key (``write_file: {path: ..., text: ...}``) or
built in Python. A step that fails raises ``SetupFailed``: the environment's fault, never the agent's.
"""

from __future__ import annotations

import base64
import time
from abc import ABC, abstractmethod

from pydantic import Field

from operant.apps import chromium
from operant.config.base import Config
from operant.desktop.protocol import Capability, Desktop
from operant.errors import AccessibilityError, ApplicationError, SetupFailed
from operant.types import Action

__all__ = [
    "SETUP_STEPS",
    "Launch",
    "MakeDirectory",
    "OpenPage",
    "Run",
    "Serve",
    "SetClipboard",
    "SetupStep",
    "WriteFile",
]

SITE_PORT = 8000
PROBE = """\
import socket, sys, time
end = time.monotonic() + 20
while time.monotonic() < end:
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)
        sys.exit(0)
    except OSError:
        time.sleep(0.01)
sys.exit("the web site does not answer")
"""


class SetupStep(Config, ABC):
    """One thing to do to a fresh desktop."""

    def needs(self) -> frozenset[Capability]:
        """What the desktop must be able to do for it."""
        return frozenset()

    @abstractmethod
    def apply(self, desktop: Desktop) -> None: ...


class WriteFile(SetupStep):
    """Put a file into the desktop."""

    path: str
    """Where; relative paths start at HOME."""
    text: str = ""
    """What it says."""
    base64: str = ""
    """What it holds, for files that are not text."""

    @classmethod
    def of_bytes(cls, path: str, data: bytes) -> WriteFile:
        return cls(path=path, base64=base64.b64encode(data).decode())

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.FILES})

    def apply(self, desktop: Desktop) -> None:
        desktop.files.write(self.path, base64.b64decode(self.base64) if self.base64 else self.text)


class MakeDirectory(SetupStep):
    """Make a directory and those that lead to it."""

    path: str
    """Where; relative paths start at HOME."""

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.COMMANDS})

    def apply(self, desktop: Desktop) -> None:
        _run(desktop, ["mkdir", "-p", "--", self.path])


class Run(SetupStep):
    """Run a command in the desktop; it must succeed."""

    command: list[str]
    """The command and its arguments; no shell is involved."""
    timeout_s: float = Field(30.0, gt=0)
    """How long it may take."""

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.COMMANDS})

    def apply(self, desktop: Desktop) -> None:
        _run(desktop, self.command, self.timeout_s)


class SetClipboard(SetupStep):
    """Put text on the clipboard."""

    text: str
    """The text."""

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.CLIPBOARD})

    def apply(self, desktop: Desktop) -> None:
        desktop.clipboard.set(self.text)


class Launch(SetupStep):
    """Start an application and wait until its window is drawn."""

    command: list[str]
    """The command and its arguments."""
    place: tuple[int, int, int, int] | None = None
    """Where its window goes: x, y, width, height of the client area."""
    timeout_s: float = Field(20.0, gt=0)
    """How long it may take."""

    def needs(self) -> frozenset[Capability]:
        needs = frozenset({Capability.PROGRAMS})
        return needs if self.place is None else needs | {Capability.WINDOW_CONTROL}

    def apply(self, desktop: Desktop) -> None:
        try:
            window = desktop.launch(self.command, timeout_s=self.timeout_s)
        except ApplicationError as error:
            raise SetupFailed(
                f"{self.command[0]} did not come up: {error.message}", hint=error.hint
            ) from error
        if self.place is not None:
            desktop.place_window(window, *self.place)


class Serve(SetupStep):
    """Serve a directory of the desktop as a web site inside it, at http://127.0.0.1:8000/."""

    directory: str
    """The directory to serve."""

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.PROGRAMS, Capability.COMMANDS})

    def apply(self, desktop: Desktop) -> None:
        argv = [
            "python3",
            "-m",
            "http.server",
            str(SITE_PORT),
            "--bind",
            "127.0.0.1",
            "--directory",
            self.directory,
        ]
        desktop.start(argv)
        # Ready when it answers; the probe retries by itself.
        _run(desktop, ["python3", "-c", PROBE, str(SITE_PORT)])


class OpenPage(SetupStep):
    """Open pages in the web browser, each in a tab, and wait until the first one is loaded."""

    urls: tuple[str, ...] = Field(min_length=1)
    """Their addresses."""
    place: tuple[int, int, int, int] | None = None
    """Where the browser's window goes: x, y, width, height of the client area."""
    timeout_s: float = Field(30.0, gt=0)
    """How long it may take."""

    def needs(self) -> frozenset[Capability]:
        needs = frozenset({Capability.PROGRAMS, Capability.FILES, Capability.ACCESSIBILITY})
        return needs if self.place is None else needs | {Capability.WINDOW_CONTROL}

    def apply(self, desktop: Desktop) -> None:
        for path, content in chromium.APP.home().items():
            desktop.files.write(path, content)
        deadline = time.monotonic() + self.timeout_s
        command = chromium.APP.argv(*self.urls)
        Launch(command=command, place=self.place, timeout_s=self.timeout_s).apply(desktop)
        while not self._loaded(desktop):
            if time.monotonic() > deadline:
                raise SetupFailed(f"{self.urls[0]} was not loaded within {self.timeout_s:g} s")
            desktop.perform(Action.wait())

    def _loaded(self, desktop: Desktop) -> bool:
        try:
            tree = desktop.accessibility(app=chromium.APP.accessible_name, timeout_s=self.timeout_s)
        except AccessibilityError:
            return False
        return chromium.is_loaded(tree, self.urls[0])


def _run(desktop: Desktop, command: list[str], timeout_s: float = 30.0) -> None:
    result = desktop.run(command, timeout_s=timeout_s)
    if result.returncode != 0:
        said = result.stderr.decode("utf-8", "replace").strip()[-200:]
        raise SetupFailed(f"{' '.join(command)[:120]} ended with code {result.returncode}: {said}")


#: The key of a step in a task file -> the step.
SETUP_STEPS: dict[str, type[SetupStep]] = {
    "write_file": WriteFile,
    "make_directory": MakeDirectory,
    "run": Run,
    "clipboard": SetClipboard,
    "launch": Launch,
    "open_page": OpenPage,
    "serve": Serve,
}
