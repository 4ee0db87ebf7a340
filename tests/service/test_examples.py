"""Every example runs and says what it should."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.service.conftest import Serve, wait_for
from tests.service.test_training import STAND_IN

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCE = EXAMPLES.parent / "src"


def run(name: str, *args: str) -> str:
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *args],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_there_is_a_test_for_each() -> None:
    source = Path(__file__).read_text()
    assert all(f'"{path.name}"' in source for path in EXAMPLES.glob("*.py"))


def test_the_client(serve: Serve, listening: Callable[[TestClient], str]) -> None:
    url = f"http://{listening(serve(agent='oracle'))}"
    said = run("api_client.py", "--url", url, "--task", "fake/press-button-v1")
    assert "model: oracle" in said
    assert "changed: True" in said
    assert "success: True verified: True" in said


def test_a_task_of_ones_own() -> None:
    assert "mine/greet-v1: solved in 2 steps" in run("custom_task.py")


def test_a_reward_of_ones_own() -> None:
    assert "calm_hands" in run("custom_reward.py")


def test_fine_tuning(serve: Serve, listening: Callable[[TestClient], str], tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoints" / "first" / "final_model.pt"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_bytes(b"weights")
    client = serve(training_command=STAND_IN, count=1)
    url = f"http://{listening(client)}"
    said = run("fine_tune.py", "--url", url, "--checkpoint", "first/final_model.pt", "--steps", "300")
    assert "ended: finished ['final_model.pt']" in said
    wait_for(lambda: not client.get("/api/v1/training/status").json()["running"])


@pytest.mark.x11
@pytest.mark.slow
def test_training_with_several_actors(tmp_path: Path) -> None:
    short = (
        "num_iterations=1",
        "demonstrations=0",
        "group_size=2",
        "groups_per_update=1",
        "algorithm=reinforce",
    )
    changes = [part for change in short for part in ("--set", f"training.{change}")]
    config = EXAMPLES.parent / "config" / "vlm_tiny_cpu.yaml"
    tiny = ("--set", "model.name=tiny:qwen2_vl", "--set", "actor.max_steps_per_episode=1")
    arguments = ("--config", str(config), "--output", str(tmp_path / "run"), "--actors", "2")
    said = run("train_multi_actor.py", *arguments, *tiny, *changes)
    assert f"trained: {tmp_path / 'run' / 'checkpoints' / 'version_000001' / 'model'}" in said
