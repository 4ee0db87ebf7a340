"""A desktop as one of OSWorld's machines: what its guest server does for controllers and set-up steps.

Works on any desktop that runs commands. Knows nothing of HTTP: what can't be done raises, and ``service`` says it in
the protocol's words.
"""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.desktop.osworld.commands import command_words, expand_path, recognise_pyautogui
from operant.desktop.osworld.machine_image import prepare_home
from operant.desktop.osworld.recording import Recording
from operant.desktop.osworld.tree_xml import write_tree
from operant.desktop.osworld.window_names import find_window, window_of_file
from operant.desktop.protocol import Desktop
from operant.errors import ApplicationError, CommandTimeout, OperantError, UnknownApplication, WindowTimeout
from operant.types import Action, ActionKind, RunResult, Window

__all__ = ["GuestMachine"]

EXECUTE_S = 120.0
PYTHON_S = 30.0
BASH_S = 100.0
CHECK_S = 5.0
OPEN_S = 180.0  # upstream waits half an hour for a window that will not come
TREE_S = 10.0
LOOK_S = 0.1  # between two looks for a window
FOCUS_S, FOCUS_LOOK_S = 1.0, 0.02
LARGEST_OUTPUT = 64 << 20
LARGEST_FILE = 512 << 20
MOST_ENTRIES = 20_000  # of a directory tree
DEEPEST = 40
PYTHON = "/usr/bin/python3"
DOWNLOAD = """
import os, sys, urllib.request
url, path = sys.argv[1:]
os.makedirs(os.path.dirname(path), exist_ok=True)
try:
    with urllib.request.urlopen(url, timeout=60) as answer, open(path, "wb") as file:
        while part := answer.read(1 << 20):
            file.write(part)
except BaseException:
    if os.path.exists(path):
        os.remove(path)
    raise
print(os.path.getsize(path))
"""


class GuestMachine:
    """One desktop for one client. Safe for threads as far as the desktop is."""

    def __init__(self, desktop: Desktop, *, open_s: float = OPEN_S) -> None:
        self.desktop = desktop
        self.open_s = open_s
        self._recording: Recording | None = None
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Make the HOME of OSWorld's image."""
        prepare_home(self.desktop)

    def reset(self) -> None:
        """Back to the start, as reverting to a snapshot is."""
        self.drop_recording()
        self.desktop.reset()
        self.prepare()

    # Commands.

    def execute(
        self, command: str | Sequence[str], *, shell: bool = False, timeout_s: float = EXECUTE_S
    ) -> RunResult:
        """Run a command to its end. pyautogui is played through XTEST, without its pauses."""
        words = command_words(command, shell)
        actions = recognise_pyautogui(words, self.desktop.size)
        if actions is None:
            return self._run(words, timeout_s)
        self.play(actions, timeout_s, words)
        return RunResult(0, b"", b"", False)

    def play(self, actions: Iterable[Action], timeout_s: float, words: Sequence[str] = ()) -> None:
        deadline = time.monotonic() + timeout_s
        for action in actions:
            if time.monotonic() + action.duration > deadline:
                raise CommandTimeout(_timed_out(words, timeout_s))
            if (
                action.kind is not ActionKind.WAIT or action.duration
            ):  # one without a duration waits for a change
                self.desktop.perform(action)

    def _run(self, words: Sequence[str], timeout_s: float, **more: Any) -> RunResult:
        try:
            return self.desktop.run(words, timeout_s=timeout_s, limit=LARGEST_OUTPUT, **more)
        except CommandTimeout as error:
            raise CommandTimeout(_timed_out(words, timeout_s)) from error
        except UnknownApplication as error:
            raise UnknownApplication(_not_there(words[0])) from error

    def launch(self, command: str | Sequence[str], *, shell: bool = False) -> None:
        """Start a program and leave it running."""
        words = command_words(command, shell)
        try:
            self.desktop.start(words)
        except UnknownApplication as error:
            raise UnknownApplication(_not_there(words[0])) from error

    def run_python(self, code: str) -> RunResult:
        path = f"/tmp/python_exec_{secrets.token_hex(8)}.py"
        return self._run_file(path, code, [PYTHON, path], PYTHON_S)

    def run_bash(
        self, script: str, *, timeout_s: float = BASH_S, working_dir: str | None = None
    ) -> RunResult:
        """Run a script of several lines; what it says on either output comes back as one."""
        path = f"/tmp/bash_script_{secrets.token_hex(8)}.sh"
        words = ["/bin/bash", "-c", 'exec /bin/bash "$0" 2>&1', path]
        return self._run_file(path, script, words, timeout_s, cwd=working_dir)

    def _run_file(
        self, path: str, text: str, words: Sequence[str], timeout_s: float, **more: Any
    ) -> RunResult:
        self.desktop.files.write(path, text.encode("utf-8", "surrogateescape"), 0o755)
        try:
            return self._run(words, timeout_s, **more)
        finally:
            with contextlib.suppress(ApplicationError, OSError):
                self.desktop.run(["rm", "-f", path], timeout_s=CHECK_S)

    def verify(self, wanted: Mapping[str, Any], wait_s: float, interval_s: float) -> float | None:
        """Wait until a window is there and a command succeeds; the seconds that it took, None if they were too few."""
        began = time.monotonic()
        while (took := time.monotonic() - began) < wait_s:
            if self._holds(wanted):
                return took
            time.sleep(min(interval_s, max(0.0, wait_s - took)))
        return None

    def _holds(self, wanted: Mapping[str, Any]) -> bool:
        if "window_exists" in wanted and not find_window(
            self.desktop.windows(), str(wanted["window_exists"])
        ):
            return False
        if "command_success" in wanted:
            try:
                done = self._run(command_words(wanted["command_success"], shell=True), CHECK_S)
            except ApplicationError:
                return False
            return done.returncode == 0
        return True

    # Windows.

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> Window | None:
        """Raise the window and give it the focus; None if there is none of that name."""
        window = find_window(self.desktop.windows(), name, strict=strict, by_class=by_class)
        if window is not None:
            self._activate(window)
        return window

    def _activate(self, window: Window) -> None:
        """Return when it has the focus, or after a while: some windows never take it."""
        self.desktop.activate_window(window)
        deadline = time.monotonic() + FOCUS_S
        while not any(one.focused for one in self.desktop.windows() if one.id == window.id):
            if time.monotonic() > deadline:
                return
            time.sleep(FOCUS_LOOK_S)

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> Window | None:
        """Close the window as its button would; None if there is none of that name."""
        window = find_window(self.desktop.windows(), name, strict=strict, by_class=by_class)
        if window is not None:
            self.desktop.close_window(window)
        return window

    def window_size(self, class_name: str) -> tuple[int, int] | None:
        wanted = class_name.lower()
        for window in self.desktop.windows():
            if wanted in (window.instance.lower(), window.wm_class.lower()):
                return window.width, window.height
        return None

    def open(self, path: str) -> Window:
        """Open a file, or start the program of that name, and return when its window has the focus."""
        full = expand_path(path)
        if self.desktop.files.exists(full):
            self.desktop.start(["xdg-open", full])
        elif (
            "/" not in path and self._run(["/bin/sh", "-c", 'command -v "$0"', path], CHECK_S).returncode == 0
        ):
            full = path
            self.desktop.start([path])
        else:
            raise FileNotFoundError(path)
        deadline = time.monotonic() + self.open_s
        while (window := window_of_file(self.desktop.windows(), full)) is None:
            if time.monotonic() > deadline:
                raise WindowTimeout(
                    f"Failed to find window for {PurePosixPath(full).name} within {self.open_s:g} seconds."
                )
            time.sleep(LOOK_S)
        self._activate(window)
        return window

    # Files.

    def read_file(self, path: str) -> bytes:
        return self.desktop.files.read(expand_path(path), LARGEST_FILE)

    def write_file(self, path: str, data: bytes) -> str:
        """Write a file and the directories that lead to it; returns its path in full."""
        full = expand_path(path)
        self.desktop.files.write(full, data)
        return full

    def remove_file(self, path: str) -> None:
        """Remove what a write that failed left behind."""
        with contextlib.suppress(OperantError, OSError):
            self.desktop.run(["rm", "-f", expand_path(path)], timeout_s=CHECK_S)

    def download(self, url: str, path: str) -> int:
        """Have the machine itself download a file; returns its size. Without a network it can't."""
        done = self._run([PYTHON, "-I", "-c", DOWNLOAD, url, expand_path(path)], EXECUTE_S)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ApplicationError(said[-1] if said else "it said nothing")
        return int(done.stdout)

    def directory_tree(self, path: str) -> dict[str, Any]:
        """Names of everything below a directory."""
        start = expand_path(path)
        info = self.desktop.files.info(start)
        if info is None or not info.is_dir:
            raise NotADirectoryError(start)
        return self._tree(start, [MOST_ENTRIES], 0)

    def _tree(self, path: str, left: list[int], depth: int) -> dict[str, Any]:
        try:
            entries = self.desktop.files.list(path, max(0, left[0]))
        except OSError as error:
            return {"error": str(error)}
        left[0] -= len(entries)
        children: list[dict[str, Any]] = []
        for entry in entries:
            inside = f"{path.rstrip('/')}/{entry.name}"
            seen = self.desktop.files.info(inside) if entry.is_link else entry
            if seen is not None and seen.is_dir and depth < DEEPEST:
                children.append(self._tree(inside, left, depth + 1))
            else:
                children.append({"type": "file", "name": entry.name})
        return {"type": "directory", "name": PurePosixPath(path).name, "children": children}

    # What is shown.

    def frame(self) -> npt.NDArray[np.uint8]:
        return self.desktop.frame()

    def accessibility_xml(self) -> str:
        return write_tree(self.desktop.accessibility("desktop", timeout_s=TREE_S))

    def terminal_text(self) -> str | None:
        """What the terminal with the focus shows; None if none has it."""
        tree = self.desktop.accessibility("focused", timeout_s=TREE_S)
        terminal = tree.find("terminal")
        return None if terminal is None or terminal.text is None else terminal.text.rstrip()

    def start_recording(self) -> bool:
        """Begin a film; False if one is being taken."""
        with self._lock:
            if self._recording is not None:
                return False
            self._recording = Recording(self.desktop)
            return True

    def end_recording(self) -> bytes | None:
        """The film as mp4; None if none is being taken."""
        with self._lock:
            recording, self._recording = self._recording, None
        return None if recording is None else recording.end()

    def drop_recording(self) -> None:
        with self._lock:
            recording, self._recording = self._recording, None
        if recording is not None:
            recording.discard()


# The words of Python's own errors: clients show them, and some compare them.


def _timed_out(words: Sequence[str], timeout_s: float) -> str:
    return str(subprocess.TimeoutExpired(list(words), int(timeout_s) if timeout_s % 1 == 0 else timeout_s))


def _not_there(program: str) -> str:
    return f"[Errno 2] No such file or directory: {program!r}"
