"""What owners that crashed left behind is removed, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from operant.desktop.launch import MARK, owner_marks
from operant.desktop.reaper import reap

# Starts a process that bears this namespace's marks, tells so, and waits to be told to go.
OWNER = """
import subprocess, sys
from operant.desktop.launch import owner_marks
child = subprocess.Popen(["sleep", "120"], env=owner_marks())
print("ready", flush=True)
sys.stdin.readline()
print(child.poll(), flush=True)
child.kill()
"""


@contextmanager
def sleeping(marks: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "120"], env=marks)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def gone_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_a_process_whose_owner_lives_stays() -> None:
    with sleeping(owner_marks()) as process:
        reap()
        assert process.poll() is None


@pytest.mark.parametrize(
    "mark", [f"{os.getpid()}.1", "not.a.mark", "GONE.1"], ids=["reused pid", "no mark", "gone"]
)
def test_a_process_whose_owner_is_gone_ends(mark: str) -> None:
    with sleeping({**owner_marks(), MARK: mark.replace("GONE", str(gone_pid()))}) as process:
        reap()
        assert process.wait(timeout=10) == -9


def test_desktops_of_a_container_on_this_machine_stay() -> None:
    """A pool of root's on the host once killed every desktop of every container: pids of a container count only there."""
    try:
        subprocess.run(["unshare", "-Urpf", "--mount-proc", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"this machine does not let tests make a pid namespace: {error}")
    source = Path(__file__).parents[2] / "src"
    with subprocess.Popen(
        ["unshare", "-Urpf", "--mount-proc", sys.executable, "-c", OWNER],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        reap()
        told, _ = owner.communicate("\n", timeout=30)
    assert told == "None\n", "the process of another namespace was killed"
