"""Being connected to a cluster changes nothing else about a process."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What the command line does: SIGTERM is an interruption, so that a run saves.
ASKED_TO_END = """
import os, signal, sys, time
from operant.cluster.ray_connection import connected
from operant.config.cluster import ClusterSettings

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, interrupt)
with connected("local", ClusterSettings()):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
    except KeyboardInterrupt:
        print("saved", flush=True)
        sys.exit(130)
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_who_is_asked_to_end_on_a_cluster_can_save() -> None:
    """Ray's own handler of SIGTERM ended the driver at once: Slurm's warning before the time limit cost the last updates."""
    done = subprocess.run([sys.executable, "-c", ASKED_TO_END], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "saved\n"), done.stderr
