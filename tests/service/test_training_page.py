"""The page of one training run: served beside the training, and gone with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from operant.train.live import LIVE, STATE, WATCHED, picture_name

TILE = {"index": 0, "task": "fake/a-v1", "instruction": "Press Ok.", "step": 1, "max_steps": 9}


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    (tmp_path / LIVE).mkdir()
    (tmp_path / LIVE / STATE).write_text(json.dumps({"status": {}, "desktops": [TILE]}))
    (tmp_path / LIVE / picture_name(0)).write_bytes(b"jpeg")
    return tmp_path


@pytest.fixture
def address(run_directory: Path) -> Iterator[str]:
    command = [
        sys.executable,
        "-m",
        "operant.service.training.page",
        str(run_directory),
        "0",
        str(os.getpid()),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
        try:
            assert page.stdout is not None
            yield page.stdout.readline().strip()
        finally:
            page.terminate()


def test_the_page_shows_desktops_and_counts_as_a_viewer(address: str, run_directory: Path) -> None:
    with urllib.request.urlopen(address, timeout=60) as answer:
        text = answer.read().decode()
    assert "Press Ok." in text
    assert (run_directory / LIVE / WATCHED).exists()
    with urllib.request.urlopen(f"{address}desktops/0", timeout=60) as answer:
        assert (answer.headers["content-type"], answer.read()) == ("image/jpeg", b"jpeg")
    for wrong in ("desktops/7", "desktops/../x"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}{wrong}", timeout=60)


def test_the_page_tells_how_far_the_run_is(address: str, run_directory: Path) -> None:
    now = {
        "phase": "collecting",
        "step": 57,
        "total": 1000,
        "rollout_step": 57,
        "rollout_steps": 128,
        "episodes": 3,
    }
    (run_directory / "status.json").write_text(json.dumps(now))
    with urllib.request.urlopen(address, timeout=60) as answer:
        text = answer.read().decode()
    assert "step 57 of 1,000 · 3 episodes · collecting 57 of 128" in text.replace("\\u00b7", "·")


def test_the_page_ends_with_the_process_that_trains(run_directory: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    command = [sys.executable, "-m", "operant.service.training.page", str(run_directory), "0", str(gone.pid)]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, timeout=60).returncode == 0
