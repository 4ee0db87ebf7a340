"""Changes of notes that are open in windows of the text editor."""

from __future__ import annotations

from collections.abc import Callable

from operant.apps.mousepad import note_windows
from operant.apps.view import View
from operant.tasks.changes import Change
from operant.types import Action

__all__ = ["pasted", "saved"]


def pasted(name: str, before: str, piece: str, fetch: Callable[[View], Action]) -> Change:
    """A piece of text is carried to the end of a note, over the clipboard; ``saved`` verifies it."""
    return Change(note_windows.pasted(name, before, piece, fetch))


def saved(name: str, text: str) -> Change:
    return Change(note_windows.saved(name, text), effect=lambda disk: disk.write(name, text))
