"""Starts a browser with a pipe to its DevTools, and hands the other end to process 1 of the episode.

The browser's launcher runs this, so that it holds however the browser was started: ``devtools_launcher.py PROGRAM
ARGUMENT ...``. No port and no socket leads to the browser: only process 1, which no other program can look into, holds
the other end. A browser whose pipe closes ends.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys

TO_BROWSER, FROM_BROWSER = 3, 4  # where a browser expects its pipe
MARK = "OPERANT_DEVTOOLS"  # tells the browser's launcher that the pipe is there
REGISTERED_S = 1.0


def main() -> None:
    program = sys.argv[1]
    environment = {**os.environ, MARK: "none"}
    try:
        ours = hand_over()
    except (OSError, KeyError):
        pass  # a browser without DevTools is better than none
    else:
        for fd in (TO_BROWSER, FROM_BROWSER):
            os.dup2(ours, fd)
            os.set_inheritable(fd, True)
        environment[MARK] = "pipe"
    os.execvpe(program, sys.argv[1:], environment)


def hand_over() -> int:
    """Our end of a new pipe, whose other end process 1 has."""
    ours, theirs = socket.socketpair()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as registry:
        registry.settimeout(REGISTERED_S)
        registry.connect(os.environ["XDG_RUNTIME_DIR"] + "/devtools")
        socket.send_fds(registry, [b"{}"], [theirs.fileno()])
    theirs.close()
    return fcntl.fcntl(ours.detach(), fcntl.F_DUPFD_CLOEXEC, FROM_BROWSER + 1)


if __name__ == "__main__":
    main()
