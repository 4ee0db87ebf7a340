"""The terminal: run commands and read what they print, or open a terminal window that shows them."""

from __future__ import annotations

import os
import re
import subprocess

from opening import open_program
from programs import path_of, shown
from refusal import Refused

WM_CLASS = "XTerm"
TIME_LIMITS = {"run": 65, "open_terminal": 30}
LONGEST_S = 60.0
LONGEST_OUTPUT = 40_000  # characters of each output
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|[\r\x07]")


def run(command: str, folder: str = "~", timeout_s: float = 20.0) -> dict[str, object]:
    """Run a shell command to its end, without a window, and return its exit code and what it printed."""
    if not 0 < timeout_s <= LONGEST_S:
        raise Refused("a command has between 0 and %g seconds" % LONGEST_S)
    place = path_of(folder)
    if not os.path.isdir(place):
        raise Refused("there is no folder %s" % shown(place))
    log = os.path.join(os.environ["XDG_RUNTIME_DIR"], "command-output")
    # Into a file, so that children which stay in the background do not keep us waiting.
    with open(log, "w+b") as output:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=place,
        )
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Refused("the command did not end within %g s" % timeout_s) from None
        finally:
            output.seek(0)
            said = output.read(LONGEST_OUTPUT * 4).decode("utf-8", "replace")
            os.unlink(log)
    form: dict[str, object] = {"exit_code": code, "output": said[:LONGEST_OUTPUT]}
    if len(said) > LONGEST_OUTPUT:
        form["cut"] = True
    return form


def open_terminal(command: str = "") -> str:
    """Open a terminal window, and run a shell command in it if one is given; read_terminal reads what it shows."""
    log = _log()
    if os.path.exists(log):
        os.unlink(log)
    inner = ["script", "-q", "-f", *(["-c", command] if command else []), log]
    return open_program(["xterm", *(["-hold"] if command else []), "-e", *inner])


def read_terminal(lines: int = 50) -> str:
    """Read the last lines of the terminal window that open_terminal opened last."""
    if not 1 <= lines <= 10_000:
        raise Refused("between 1 and 10000 lines")
    try:
        with open(_log(), "rb") as file:
            file.seek(max(0, os.path.getsize(_log()) - (1 << 20)))
            text = file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        raise Refused("open_terminal has opened no terminal") from None
    rows = [
        row
        for row in _CONTROL.sub("", text).split("\n")
        if not row.startswith(("Script started on ", "Script done on "))
    ]
    return "\n".join(rows[-lines:])


def _log() -> str:
    return os.path.join(os.environ["XDG_RUNTIME_DIR"], "terminal-output")
