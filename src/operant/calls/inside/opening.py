"""Starting an application and waiting for its window."""

from __future__ import annotations

from typing import List

import programs
from display import TopWindow, XDisplay, wait_until
from refusal import Refused

OPENED_S = 20.0  # how long an application may take to show its window


def open_program(argv: List[str]) -> str:
    """Start a program, and wait for a window that is new or has another title."""
    with XDisplay() as display:
        before = {window.id: window.title for window in display.windows()}
        process = programs.start(argv)

        def new() -> List[TopWindow]:
            fresh = [one for one in display.windows() if before.get(one.id) != one.title]
            if not fresh and process.poll() not in (None, 0):
                raise Refused("%s ended with code %d and showed no window" % (argv[0], process.returncode))
            return fresh

        found = wait_until(new, OPENED_S)
        if not found:
            raise Refused("%s showed no window within %g s" % (argv[0], OPENED_S))
        return "opened the window %r" % found[-1].title
