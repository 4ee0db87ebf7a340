"""The commands of ComputerRL's document that need no virtual machine: evaluation in parallel, its results and their table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import av
import pytest
from PIL import Image

pytestmark = [pytest.mark.x11, pytest.mark.slow, pytest.mark.timeout(300)]

TASKS = """
suite: small
tasks:
  - id: write-note
    instruction: The editor shows the empty file {file}. Write '{phrase}' into it and save it.
    difficulty: EASY
    apps: [mousepad]
    parameters:
      file: {file_name: txt}
      phrase: {phrase: 2}
    setup:
      - write_file: {path: "{file}", text: ""}
      - launch: {command: [mousepad, "{file}"]}
    success:
      file_equals: {path: "{file}", text: "{phrase}"}
    oracle:
      - type: "{phrase}"
      - key: ctrl+s
        until: {file_contains: {path: "{file}", text: "{phrase}"}}
"""


def operant(*args: str, cwd: Path, **variables: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "operant", *args],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "140", "NO_COLOR": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """001, "Parallel execution": --num_workers 20 --max_steps 15, here with the oracle on three instances of a task."""
    root = tmp_path_factory.mktemp("played")
    (root / "tasks.yaml").write_text(TASKS)
    operant(
        *("eval", "--agent", "oracle", "--suite", "tasks.yaml", "--episodes", "3"),
        *("--num_workers", "20", "--max_steps", "15", "--video"),
        cwd=root,
    )
    return root


def test_results_hold_screenshots_actions_and_recordings(played: Path) -> None:
    """001, "Running AutoGLM-OS": screenshots, actions and video recordings in ./results."""
    episodes = sorted(path.parent for path in (played / "results").rglob("traj.jsonl"))
    assert len(episodes) == 3
    for episode in episodes:
        steps = [json.loads(line) for line in (episode / "traj.jsonl").read_text().splitlines()]
        assert steps
        assert all(step["action"] for step in steps)
        pictures = sorted(episode.glob("*.png"))
        assert pictures
        with Image.open(pictures[0]) as picture:
            assert picture.size == (1280, 800)
        assert (episode / "result.txt").read_text().strip() == "1.0"
        (recording,) = episode.glob("*.mp4")
        with av.open(str(recording)) as film:
            assert film.streams.video[0].frames >= 1
    settings = json.loads(next((played / "results").rglob("run.json")).read_text())["settings"]
    assert settings["max_steps"] == 15


def test_show_result_is_results_show(played: Path) -> None:
    """001, last line: python show_result.py."""
    shown = operant("results", "show", "results", cwd=played)
    assert "100.0" in shown
    (summary,) = json.loads(operant("results", "show", "results", "--json", "--no-report", cwd=played))
    assert (summary["overall"]["n"], summary["overall"]["success"]) == (3, 1.0)
    assert (played / "results" / "report.html").is_file()


def test_another_directory_a_proxy_and_hosts_without_it(played: Path) -> None:
    """001, "Important Configuration Requirements": result_dir and proxy settings."""
    (played / "eval.yaml").write_text(
        "desktop:\n  network: true\n  proxy: http://127.0.0.1:3128\n  no_proxy: localhost, 127.0.0.1\n"
    )
    operant(
        *(
            "eval",
            "--agent",
            "oracle",
            "--suite",
            "tasks.yaml",
            "--result_dir",
            "elsewhere",
            "--config",
            "eval.yaml",
        ),
        cwd=played,
    )
    (run,) = (played / "elsewhere").rglob("run.json")
    assert json.loads(run.read_text())["settings"]["desktop"] == {"network": True}
