"""What all tests share: their order, turns of tests that need the machine alone, and a hard limit on time.

``make test`` runs several workers (pytest-xdist), a file at a time in each. Tests must therefore bear other tests
beside them: they look only at processes, files and ports of their own, and wait for conditions instead of sleeping.
The few that measure time, or load the machine on purpose, are marked ``alone``.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

#: What workers lock: this file and its directory. Their contents do not matter.
GATE, LOCK = Path(__file__), Path(__file__).parent

#: How much longer than its limit a test may take to fail. pytest-timeout interrupts a test once; clean-up that hangs
#: after that would hang the whole run.
GRACE_S = 90.0

#: Roughly how long tests take, so that long files are started first and no worker is left with one at the end.
SECONDS = {"learning": 30.0, "slow": 10.0, "browser": 3.0, "x11": 0.5}

# Shells start background jobs with Ctrl-C ignored, which children would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What commands make lies in the current directory of a test, not in the home of the user who runs the tests.
os.environ["OPERANT_DATA_DIR"] = "."

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the processors: torch (and what tests start) calculates on one thread each.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

_stderr = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    # Here pytest does not capture what is written. While a test runs, it would, and throw it away with the process.
    config.stash[_stderr] = os.dup(sys.stderr.fileno())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Workers take long files first. Tests keep their order inside a file."""
    if not hasattr(config, "workerinput"):
        return
    seconds: defaultdict[Path, float] = defaultdict(float)
    for item in items:
        seconds[item.path] += max(
            (SECONDS.get(marker.name, 0.0) for marker in item.iter_markers()), default=0.0
        )
    items.sort(key=lambda item: (-seconds[item.path], str(item.path)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with _turn(item):
        faulthandler.dump_traceback_later(_limit(item) + GRACE_S, exit=True, file=item.config.stash[_stderr])
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()


def _limit(item: pytest.Item) -> float:
    """Seconds that pytest-timeout gives the test."""
    marker = item.get_closest_marker("timeout")
    if marker is not None:
        return float(marker.args[0] if marker.args else marker.kwargs["timeout"])
    return float(item.config.getoption("timeout") or item.config.getini("timeout"))


@contextlib.contextmanager
def _turn(item: pytest.Item) -> Iterator[None]:
    """Waits until no test of another worker runs that excludes this one.

    Tests share one lock, and a test that is ``alone`` holds it for itself. All pass through a gate first, which a test
    that is alone keeps closed: otherwise the others would take turns and it would never run.
    """
    if not hasattr(item.config, "workerinput"):
        yield
        return
    alone = item.get_closest_marker("alone") is not None
    gate, lock = os.open(GATE, os.O_RDONLY), os.open(LOCK, os.O_RDONLY)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        if not alone:
            fcntl.flock(gate, fcntl.LOCK_UN)
        yield
    finally:
        for held in (lock, gate):
            fcntl.flock(
                held, fcntl.LOCK_UN
            )  # closing is not enough: a child that was forked holds the lock, too
            os.close(held)
