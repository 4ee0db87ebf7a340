"""The clipboard: what would be pasted."""

from __future__ import annotations

import programs
from display import wait_until
from refusal import Refused

SET_S = 3.0


def get_text() -> str:
    """Read the text on the clipboard."""
    found = _read()
    if found is None:
        raise Refused("there is no text on the clipboard")
    return found


def set_text(text: str) -> str:
    """Put a text on the clipboard; ctrl+v then pastes it."""
    # It goes to the background with the text; what it holds open must not keep us waiting.
    holder = programs.start_with_input(["xclip", "-selection", "clipboard", "-i"], text.encode())
    if holder:
        raise Refused("the clipboard could not be set")
    if not wait_until(lambda: (_read() or "") == text, SET_S):
        raise Refused("the clipboard holds another text")
    return "the clipboard holds %d characters" % len(text)


def _read() -> str | None:
    result = programs.run(["xclip", "-selection", "clipboard", "-o", "-t", "UTF8_STRING"])
    return result.stdout.decode("utf-8", "replace") if result.returncode == 0 else None
