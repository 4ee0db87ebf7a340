"""A package with an application of its own: installed, its tasks checked, trained on and evaluated."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_application"
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the example beside Operant and what Operant needs."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    (site,) = (place / "lib").glob("python*/site-packages")
    (site / "operant_and_what_it_needs.pth").write_text(f"{SOURCE}\n{sysconfig.get_paths()['purelib']}\n")
    program = place / "bin" / "python"
    subprocess.run(
        [program, "-m", "pip", "install", "-q", "--no-deps", str(EXAMPLE)], check=True, timeout=300
    )
    return program


def operant(python: Path, directory: Path, *words: str) -> str:
    done = subprocess.run(
        [python, "-m", "operant", *words], cwd=directory, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_application_is_known_by_its_name(python: Path, tmp_path: Path) -> None:
    assert "plain text editor" in operant(python, tmp_path, "apps", "show", "l3afpad")
    assert "l3afpad" in operant(python, tmp_path, "apps", "list")


@pytest.mark.x11
def test_its_tasks_are_checked_trained_on_and_evaluated(python: Path, tmp_path: Path) -> None:
    found = json.loads(
        operant(python, tmp_path, "tasks", "check", "--suite", "l3afpad", "--seeds", "1", "--json")
    )
    assert found["templates"] == 3
    assert (found["oracle_success"], found["noop_success"], found["random_success"]) == (1, 0, 0)
    operant(python, tmp_path, "demos", "collect", "--suite", "l3afpad", "--out", "demos", "--episodes", "4")
    operant(python, tmp_path, "train", "clone", "--demos", "demos", "--out", "agent.pt", "--minutes", "1")
    played = json.loads(
        operant(
            python, tmp_path, "eval", "--agent", "hierarchical:agent.pt", "--suite", "l3afpad", "--episodes", "1",
            "--result-dir", "results", "--json",
        )
    )  # fmt: skip
    assert played["overall"]["n"] == 3
