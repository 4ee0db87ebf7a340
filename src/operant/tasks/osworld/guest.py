"""Commands of task files, run inside the desktop: never on this machine, and no source of theirs is evaluated here.

``python -c`` with calls of pyautogui is read and played with the desktop's own pointer and keyboard, without pauses.
Programs of OSWorld's image that are not Debian's (Chrome, GNOME's) have a stand-in.
"""

from __future__ import annotations

import posixpath
import shlex
import time
from collections.abc import Mapping, Sequence
from typing import Any

from operant.actions import pyautogui_source
from operant.apps import chromium
from operant.desktop.protocol import Desktop
from operant.errors import ActionParseError, ApplicationError, InvalidAction, SetupFailed, TaskError
from operant.types import Action, ActionKind, RunResult

__all__ = ["HOME", "PASSWORD", "argv_of", "fill", "pause", "played", "run", "start", "window_program"]

HOME = "/home/user"
PASSWORD = "osworld-public-evaluation"
TIMEOUT_S = 120.0
OUTPUT = 8 << 20
LEAST_S = 3.0  # how long busy programs are waited for even where a pause is shorter
STILL_S = 0.5  # a pause in a task file ends when the screen has been still for so long
#: Chrome's profile where OSWorld's tasks look for it.
CHROME_PROFILE = f"{HOME}/.config/google-chrome"
CHROME_NAMES = ("google-chrome", "google-chrome-stable", "chrome", "chromium-browser")
#: Programs of OSWorld's image -> what does the same here.
STAND_INS: Mapping[str, tuple[str, ...]] = {
    "python": ("python3",),
    "nautilus": ("pcmanfm",),
    "gnome-terminal": ("xterm",),
    "gedit": ("mousepad",),
    "evince": ("atril",),
    "eog": ("ristretto",),
}
#: Programs that show a window; a set-up waits for it.
WINDOWED = frozenset(
    {*CHROME_NAMES, *STAND_INS, "chromium", "vlc", "gimp", "libreoffice", "soffice", "localc", "lowriter", "loimpress",
     "thunderbird", "code", "mousepad", "pcmanfm", "xterm", "atril", "ristretto"} - {"python"}
)  # fmt: skip
WINDOWLESS = ("--headless", "--convert-to", "--version", "--list-extensions", "--install-extension")


def _chrome(*arguments: str) -> list[str]:
    """Chromium with Chrome's profile; background services are off, since there is no network to reach them."""
    own = [word for word in chromium.APP.argv() if not word.startswith("--user-data-dir")]
    return [*own, f"--user-data-dir={CHROME_PROFILE}", *arguments]


def _prelude() -> str:
    """What shells know of stand-ins. No shell of a desktop has root: the user does what sudo would, with files of its own."""
    functions = {name: " ".join(words) for name, words in STAND_INS.items()}
    functions |= dict.fromkeys(CHROME_NAMES, shlex.join(_chrome()))
    lines = [f'{name}() {{ command {words} "$@"; }}' for name, words in functions.items()]
    lines.append('sudo() { while [ "${1#-}" != "$1" ]; do shift; done; "$@"; }')
    return "\n".join(lines) + "\n"


PRELUDE = _prelude()


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


def argv_of(command: str | Sequence[str], shell: bool) -> list[str]:
    """The words of a command as they are run here."""
    if shell:
        line, more = (command, []) if isinstance(command, str) else (command[0], list(command[1:]))
        return ["/bin/bash", "-c", PRELUDE + line, *(["bash", *more] if more else [])]
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise TaskError(f"{command!r:.80} is not a command: {error}") from error
    if not words:
        raise TaskError("a command is empty")
    words = [HOME + word[1:] if word.startswith("~/") else word for word in words]
    name = posixpath.basename(words[0])
    if name in ("bash", "sh") and len(words) > 2 and words[1] == "-c":
        return ["/bin/bash", "-c", PRELUDE + words[2], *words[3:]]
    if name == "sudo":
        return argv_of(_without_flags(words[1:]), False)
    if name in CHROME_NAMES:
        return _chrome(*words[1:])
    if name == "pkill":
        words = ["chrom(e|ium)" if word in CHROME_NAMES else word for word in words]
    return [*STAND_INS.get(name, (words[0],)), *words[1:]]


def _without_flags(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[1:]
    return words or ["true"]


def window_program(argv: Sequence[str]) -> str | None:
    """The program of a command whose window a set-up waits for; None if it shows none."""
    if any(word.startswith(WINDOWLESS) for word in argv):
        return None
    if posixpath.basename(argv[0]) != "bash" or len(argv) < 3:
        name = posixpath.basename(argv[0])
        return name if name in WINDOWED else None
    try:
        words = shlex.split(argv[2].removeprefix(PRELUDE))
    except ValueError:
        return None
    if any(word.startswith(WINDOWLESS) for word in words):
        return None
    program = next((word for word in words if "=" not in word), "")
    return program if posixpath.basename(program) in WINDOWED else None


def played(argv: Sequence[str], desktop: Desktop) -> bool:
    """Play ``python -c`` with calls of pyautogui; False if the command is something else."""
    is_python = len(argv) == 3 and posixpath.basename(argv[0]) in ("python", "python3") and argv[1] == "-c"
    if not is_python or "pyautogui" not in argv[2]:
        return False
    try:
        actions = pyautogui_source.parse(argv[2], desktop.size)
    except ActionParseError:
        return False
    for action in actions:
        if action.kind is ActionKind.WAIT:
            pause(desktop, action.duration)
        elif not action.kind.terminal:
            _perform(desktop, action)
    return True


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
    argv = argv_of(fill(command, desktop), shell)
    if played(argv, desktop):
        return RunResult(0, b"", b"")
    return desktop.run(argv, timeout_s=timeout_s, limit=OUTPUT, cwd=HOME)


def start(desktop: Desktop, command: Any, shell: bool) -> str | None:
    """Start a program; returns its name if it will show a window."""
    argv = argv_of(fill(command, desktop), shell)
    shown = window_program(argv)
    try:
        desktop.start(argv, cwd=HOME)
    except ApplicationError as error:
        raise SetupFailed(
            f"{argv[0]} can't be started: {error.message}", hint="operant doctor --suite osworld"
        ) from error
    return shown
