"""Runs a training command to its end and writes down how it ended, whether or not a service is there to see.

A process of its own (``python -m operant.service.training.run_supervisor DIRECTORY COMMAND...``), standard library only.
The end of a run is the file ``exit.json``; a supervisor that is asked to stop asks the training to stop, and ends it
when it does not. A training finishes the update that it is in, which may take minutes; one that is asked twice is
not given that long.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

EXIT, LOG = "exit.json", "log.txt"
PATIENCE_S = 600.0  # how long a training has to come to a good place and write its last checkpoint
GRACE_S = 20.0  # how long it has when it is asked again


def main(directory: Path, command: list[str]) -> int:
    """Returns the command's own code."""
    deadline: float | None = None
    with open(directory / LOG, "ab") as log:
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        except OSError as error:
            log.write(f"{error}\n".encode())
            _write(directory, 127, False)
            return 127

    def stop(*_: object) -> None:
        nonlocal deadline
        deadline = time.monotonic() + (PATIENCE_S if deadline is None else GRACE_S)
        _signal(child.pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    code = child.poll()
    while code is None:
        time.sleep(0.1)
        if deadline is not None and time.monotonic() > deadline:
            _signal(child.pid, signal.SIGKILL)
        code = child.poll()
    _signal(child.pid, signal.SIGKILL)  # whatever it left behind in its group
    _write(directory, code, deadline is not None)
    return code


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _write(directory: Path, code: int, stopped: bool) -> None:
    temporary = directory / (EXIT + ".new")
    temporary.write_text(json.dumps({"code": code, "stopped": stopped, "ended": time.time()}))
    os.replace(temporary, directory / EXIT)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
