"""Commands of task files, run inside the desktop: never on this machine, and no source of theirs is evaluated here.

``python -c`` with calls of pyautogui is read and played with the desktop's own pointer and keyboard, without pauses.
Programs of OSWorld's image that are not installed have the stand-ins of ``desktop.osworld.machine_image``.
"""

from __future__ import annotations

import posixpath
import shlex
import time
from collections.abc import Mapping, Sequence
from typing import Any

from operant.desktop.osworld.commands import command_words, recognise_pyautogui
from operant.desktop.osworld.machine_image import (
    CHROME_NAMES,
    HOME,
    MACHINE,
    MACHINE_VARIABLES,
    PASSWORD,
    STAND_INS,
    machine_files,
    machine_links,
)
from operant.desktop.protocol import Desktop
from operant.errors import ApplicationError, InvalidAction, SetupFailed, TaskError
from operant.types import Action, ActionKind, RunResult

__all__ = ["fill", "pause", "played", "run", "start", "window_program", "words_of"]

TIMEOUT_S = 120.0
OUTPUT = 8 << 20
LEAST_S = 3.0  # how long busy programs are waited for even where a pause is shorter
STILL_S = 0.5  # a pause in a task file ends when the screen has been still for so long
#: Programs that show a window; a set-up waits for it.
WINDOWED = frozenset(
    {*CHROME_NAMES, *STAND_INS, "chromium", "vlc", "gimp", "libreoffice", "soffice", "localc", "lowriter", "loimpress",
     "thunderbird", "code", "mousepad", "pcmanfm", "xterm", "atril", "ristretto"} - {"python"}
)  # fmt: skip
WINDOWLESS = ("--headless", "--convert-to", "--version", "--list-extensions", "--install-extension")
SHELLS = ("sh", "bash")


def fill(command: Any, desktop: Desktop) -> Any:
    """A command with OSWorld's placeholders filled in."""
    if isinstance(command, (list, tuple)):
        return [fill(word, desktop) for word in command]
    if not isinstance(command, str):
        raise TaskError(f"{command!r:.80} is not a command")
    width, height = desktop.size.width, desktop.size.height
    values = {
        "CLIENT_PASSWORD": PASSWORD,
        "SCREEN_WIDTH_HALF": width // 2,
        "SCREEN_HEIGHT_HALF": height // 2,
        "SCREEN_WIDTH": width,
        "SCREEN_HEIGHT": height,
    }
    for name, value in values.items():
        command = command.replace(f"{{{name}}}", str(value))
    return command


def words_of(command: Any, shell: bool, desktop: Desktop) -> list[str]:
    """The words of a command of a task file, with its placeholders filled in."""
    try:
        return command_words(fill(command, desktop), shell)
    except InvalidAction as error:
        raise TaskError(error.message) from error


def window_program(words: Sequence[str]) -> str | None:
    """The program of a command whose window a set-up waits for; None if it shows none."""
    if posixpath.basename(words[0]) in SHELLS and len(words) > 2 and words[1] == "-c":
        try:
            words = shlex.split(words[2])
        except ValueError:
            return None
    if any(word.startswith(WINDOWLESS) for word in words):
        return None
    program = posixpath.basename(next((word for word in words if "=" not in word), ""))
    return program if program in WINDOWED else None


def played(words: Sequence[str], desktop: Desktop) -> bool:
    """Play ``python -c`` with calls of pyautogui; False if the command is something else."""
    actions = recognise_pyautogui(words, desktop.size)
    for action in actions or ():
        if action.kind is ActionKind.WAIT:
            pause(desktop, action.duration)
        else:
            _perform(desktop, action)
    return actions is not None


def _perform(desktop: Desktop, action: Action) -> None:
    try:
        desktop.perform(action)
    except InvalidAction as error:
        raise SetupFailed(f"the desktop can't do what the task's script asks: {error.message}") from error


def pause(desktop: Desktop, seconds: float) -> None:
    """Wait as long as a pause is for: until the screen is still, and no program is busy with ending or saving."""
    still_ms = 1000 * min(max(seconds, 0.0), STILL_S)
    deadline = time.monotonic() + max(seconds, LEAST_S)
    while not desktop.settle(still_ms).settled and time.monotonic() < deadline:
        pass


def run(desktop: Desktop, command: Any, shell: bool, timeout_s: float = TIMEOUT_S) -> RunResult:
    """Run a command to its end. What is played with pointer and keyboard says nothing."""
    words = words_of(command, shell, desktop)
    if played(words, desktop):
        return RunResult(0, b"", b"")
    words, env = _on_machine(words, desktop)
    return desktop.run(words, timeout_s=timeout_s, limit=OUTPUT, cwd=HOME, env=env)


def start(desktop: Desktop, command: Any, shell: bool) -> str | None:
    """Start a program; returns its name if it will show a window."""
    words = words_of(command, shell, desktop)
    shown = window_program(words)
    words, env = _on_machine(words, desktop)
    try:
        desktop.start(words, cwd=HOME, env=env)
    except ApplicationError as error:
        raise SetupFailed(
            f"{words[0]} can't be started: {error.message}", hint="operant doctor --suite osworld"
        ) from error
    return shown


def _on_machine(words: list[str], desktop: Desktop) -> tuple[list[str], Mapping[str, str] | None]:
    """The command and its variables where the image's programs are shown; a machine of OSWorld's has its own."""
    if not desktop.files.exists(f"{MACHINE}/bin"):
        return words, None
    own = f"bin/{words[0]}"
    if own in machine_files() or own in machine_links():
        words = [f"{MACHINE}/{own}", *words[1:]]
    return words, MACHINE_VARIABLES
