"""Programs that calls start: those that stay (applications), and those that are run to their end."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import List, Optional

from refusal import Refused

_started: List["subprocess.Popen[bytes]"] = []


def start(argv: List[str], cwd: Optional[str] = None) -> "subprocess.Popen[bytes]":
    """Start a program that outlives the call."""
    if shutil.which(argv[0]) is None:
        raise Refused("there is no program %r here" % argv[0])
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=cwd or home(),
        start_new_session=True,
    )
    _started.append(process)
    return process


def run(argv: List[str], data: bytes = b"", timeout_s: float = 5.0) -> "subprocess.CompletedProcess[bytes]":
    """Run a program to its end."""
    try:
        return subprocess.run(
            argv, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=home(), timeout=timeout_s
        )
    except FileNotFoundError:
        raise Refused("there is no program %r here" % argv[0]) from None
    except subprocess.TimeoutExpired:
        raise Refused("%s did not end within %g s" % (argv[0], timeout_s)) from None


def reap() -> None:
    """Collect those that have ended."""
    _started[:] = [process for process in _started if process.poll() is None]


def home() -> str:
    return os.environ["HOME"]


def path_of(text: str) -> str:
    """A path as an agent writes it: relative ones start at HOME, and ~ is HOME."""
    if not text.strip():
        raise Refused("an empty path")
    return os.path.normpath(os.path.join(home(), os.path.expanduser(text)))


def shown(path: str) -> str:
    """A path as it is told to an agent."""
    base = home()
    return "~" + path[len(base) :] if path == base or path.startswith(base + "/") else path


def start_with_input(argv: List[str], data: bytes) -> int:
    """Run a program that takes its input and goes on in the background; returns its exit code."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=home(),
        start_new_session=True,
    )
    process.communicate(data)
    return process.returncode
