"""Command lines as OSWorld's clients send them, and the pyautogui among them, which is played and not run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from operant.actions import pyautogui_source
from operant.desktop.osworld.machine_image import HOME
from operant.errors import InvalidAction, InvalidPath
from operant.types import Action, ActionKind, Size

__all__ = ["command_words", "expand_path", "recognise_pyautogui"]

_VARIABLE = re.compile(r"\$(?:\{(HOME|USER)\}|(HOME|USER)\b)")
_VALUES = {"HOME": HOME, "USER": "user"}
_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_NEVER_PLAYED = frozenset({ActionKind.DONE, ActionKind.FAIL})


def expand_path(path: str) -> str:
    """A path of the machine in full: ``~`` and the variables ``$HOME`` and ``$USER`` are known."""
    if not path or "\0" in path:
        raise InvalidPath(f"{path!r} is not a path")
    if path == "~" or path.startswith("~/"):
        path = HOME + path[1:]
    path = _VARIABLE.sub(lambda found: _VALUES[found[1] or found[2]], path)
    return str(PurePosixPath(HOME, path))


def command_words(command: str | Sequence[str], shell: bool = False) -> list[str]:
    """What is started. With ``shell``, a shell reads the command, or the first word of a list as Python does it."""
    if shell:
        return ["/bin/sh", "-c", *([command] if isinstance(command, str) else command)]
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise InvalidAction(f"{command!r:.200} is not a command: {error}") from error
    if not words or not words[0]:
        raise InvalidAction("an empty command")
    return [HOME + word[1:] if word.startswith("~/") else word for word in words]


def recognise_pyautogui(words: Sequence[str], screen: Size) -> list[Action] | None:
    """The actions of ``python -c SOURCE``; None for a source that does anything besides calling pyautogui."""
    if len(words) != 3 or words[1] != "-c" or "pyautogui" not in words[2]:
        return None
    if not _PYTHON.fullmatch(PurePosixPath(words[0]).name):
        return None
    try:
        actions = pyautogui_source.parse(words[2], screen)
    except InvalidAction:
        return None
    return None if any(action.kind in _NEVER_PLAYED for action in actions) else actions
