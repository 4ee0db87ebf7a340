"""The ``operant`` command: where it starts and how it fails.

Knows how a failure looks to a person (``error:``, ``hint:``, an exit code) and nothing of any verb.
Nothing is imported before it is needed: ``operant --help`` must answer at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from operant.errors import OperantError, Terminated, is_bad_usage

__all__ = ["main"]

FAILED = 1
BAD_USAGE = 2
INTERRUPTED = 130


def main(args: Sequence[str] | None = None) -> None:
    """Run one command line and leave with its exit code."""
    # Read by loguru when something first imports it; its own default is DEBUG.
    os.environ.setdefault("LOGURU_LEVEL", "INFO")
    try:
        from operant.cli.root import command

        with _ended_politely():
            command()(args=None if args is None else list(args), prog_name="operant")
    except OperantError as error:
        sys.exit(_told(error))
    except ImportError as error:
        from operant.extras import missing_package

        missing = missing_package("this command", error)
        if missing is None:
            raise
        sys.exit(_told(missing))
    except OSError as error:
        if error.filename is None:
            from operant.atomic_files import is_full_disk

            if not is_full_disk(error):
                raise
            _give_up_on_stdout()
            print("error: no space left for what is printed", file=sys.stderr)
            sys.exit(FAILED)
        # A file or directory that was named on the command line, or a disk that is full.
        print(f"error: {os.fspath(error.filename)}: {error.strerror or error}", file=sys.stderr)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _give_up_on_stdout() -> None:
    """What is left in its buffer is not tried again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: OperantError) -> int:
    """Say what is wrong, and what to do; returns the exit code."""
    print(f"error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)
    return BAD_USAGE if is_bad_usage(error) else FAILED


@contextmanager
def _ended_politely() -> Iterator[None]:
    """SIGTERM is Ctrl-C: whatever was started is put away, where the default would leave it behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
