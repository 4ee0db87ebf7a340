"""The selections of a desktop, read and set by a helper that lives outside the agent's reach."""

from __future__ import annotations

import time
from collections.abc import Callable

from operant.errors import ApplicationError
from operant.types import RunResult

__all__ = ["Clipboard"]

SELECTION_S = 3.0


class Clipboard:
    """Text on the clipboard, or in the primary selection. Setting it stays until another program copies."""

    def __init__(self, run: Callable[[list[str], bytes | None, float], RunResult]) -> None:
        self._run = run

    def get(self, selection: str = "clipboard") -> str | None:
        """What would be pasted; None if nothing, or nothing that is text, was copied."""
        result = self._run(["xclip", "-selection", selection, "-o", "-t", "UTF8_STRING"], None, SELECTION_S)
        return result.stdout.decode("utf-8", "replace") if result.returncode == 0 else None

    def set(self, text: str, selection: str = "clipboard") -> None:
        result = self._run(["xclip", "-selection", selection, "-i"], text.encode(), SELECTION_S)
        if result.returncode != 0:
            raise ApplicationError(
                f"the clipboard could not be set: {result.stderr.decode('utf-8', 'replace')}"
            )
        # xclip returns before its child has told the X server that it owns the selection.
        deadline = time.monotonic() + SELECTION_S
        while (self.get(selection) or "") != text:
            if time.monotonic() >= deadline:
                raise ApplicationError(f"the clipboard holds another text {SELECTION_S:g} s after it was set")
