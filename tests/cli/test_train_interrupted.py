"""Ctrl-C in a terminal reaches every process of a command: what was learned is kept, and the way on is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from operant.agents.hierarchical.agent import DEFAULT
from operant.agents.hierarchical.policy import HierarchicalPolicy

INTERRUPTED = 130
TASK = ("--only", "terminal-make-directory")


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("collected") / "demos"
    args = ("demos", "collect", "--out", str(place), *TASK, "--episodes", "1", "--workers", "1")
    subprocess.run([sys.executable, "-m", "operant", *args], check=True, capture_output=True, timeout=100)
    return place


def interrupted(args: list[str], when: str) -> tuple[int, list[str]]:
    """Run it as a terminal does, press Ctrl-C at the line that says this; its code, and the lines that it said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "operant", *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    late = threading.Timer(150.0, process.kill)
    late.start()
    try:
        assert process.stderr is not None
        said: list[str] = []
        for line in process.stderr:
            said.append(line.rstrip())
            if when in line and sum(when in one for one in said) == 1:
                os.killpg(process.pid, signal.SIGINT)
        return process.wait(), said
    finally:
        late.cancel()
        process.kill()
        process.wait()


@pytest.mark.x11
@pytest.mark.parametrize(
    ("verb", "when"),
    [(("clone",), "cloning"), (("dagger", *TASK, "--workers", "1"), "played round 0")],
    ids=["clone", "dagger"],
)
def test_ctrl_c_keeps_what_was_learned(verb: tuple[str, ...], when: str, demos: Path, tmp_path: Path) -> None:
    out = tmp_path / "agent.pt"
    learn = ["train", *verb, "--demos", str(demos), "--out", str(out), "--minutes", "10"]
    code, said = interrupted([*learn, "--init-from", str(DEFAULT)], when)
    assert code == INTERRUPTED, said
    assert said[-2:] == [
        f"stopped; {out} has what was learned: the same command with --init-from {out} goes on from there",
        "interrupted",
    ]
    assert not any("Traceback" in line for line in said)
    assert HierarchicalPolicy.from_checkpoint(out).parameter_count
    assert [one.name for one in tmp_path.iterdir()] == ["agent.pt"]
